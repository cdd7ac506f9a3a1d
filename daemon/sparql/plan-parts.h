/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a plan is made of beside its SQL: the kinds of queries and updates, the constants, and the counts that it rests on.
 *
 * Place: room sparql, for those who run plans and know no tree.
 */
#pragma once

#include <glib.h>

#include "daemon/rdf/term.h"

/* The tree of a text: ast.h. */
typedef struct QdAst QdAst;
QdAst *qd_ast_free(QdAst *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdAst, qd_ast_free)

typedef enum QdQueryForm {
    QD_FORM_SELECT,
    QD_FORM_CONSTRUCT,
    QD_FORM_DESCRIBE,
    QD_FORM_ASK,
} QdQueryForm;

typedef enum QdUpdateKind {
    QD_UPDATE_INSERT_DATA,
    QD_UPDATE_DELETE_DATA,
    QD_UPDATE_MODIFY, /* DELETE WHERE too */
    QD_UPDATE_LOAD,
    QD_UPDATE_CLEAR,
    QD_UPDATE_DROP,
    QD_UPDATE_CREATE,
    QD_UPDATE_ADD,
    QD_UPDATE_MOVE,
    QD_UPDATE_COPY,
} QdUpdateKind;

typedef enum QdGraphTarget {
    QD_TARGET_GRAPH, /* QdUpdate.graph; NULL: the default graph */
    QD_TARGET_DEFAULT,
    QD_TARGET_NAMED,
    QD_TARGET_ALL,
} QdGraphTarget;

/* A term that belongs into a program at @offset. */
typedef struct QdProgramHole {
    gsize offset;
    const QdTerm *term;
} QdProgramHole;

/* What stands for a numbered parameter; exactly one of them. */
typedef struct QdSqlConstant {
    const QdTerm *term;    /* bind its id, or its blob when nothing stores it */
    const guint8 *program; /* with its holes filled */
    gsize n_program;
    const QdProgramHole *holes;
    guint n_holes;
    const char *parameter; /* a variable's name: the user's value is bound */
} QdSqlConstant;

/* A count of matching quads that a join order was chosen by. */
typedef struct QdPlanProbe {
    const QdTerm *s, *p, *o; /* nullable: any */
    guint64 n_quads;         /* QD_PLAN_PROBE_CAP: that or more */
} QdPlanProbe;
