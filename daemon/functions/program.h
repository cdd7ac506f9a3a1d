/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A checked program, ready to run: the nodes of daemon/rdf/expression-code.h in one array, in the order of the bytes.
 *
 * Place: room functions, internal to functions.
 */
#pragma once

#include "daemon/functions/value.h"
#include "daemon/rdf/expression-code.h"

typedef struct QdProgramNode {
    QdExpressionOp op;
    guint n_children;
    guint end;     /* the node after it and its children */
    guint arg;     /* ARG */
    gint64 id;     /* ID */
    QdValue value; /* CONST */
} QdProgramNode;

typedef struct QdProgram {
    guint8 *bytes; /* constants point into it */
    GArray *nodes; /* of QdProgramNode; the first is the root, its children follow */
    guint n_args;  /* one more than the greatest index */
} QdProgram;

/**
 * qd_program_new:
 * @bytes: also hostile ones; copied
 *
 * Errors: BAD_PARAMETER when they are no program, TOO_COMPLEX when it is too deep or has too many nodes
 */
QdProgram *qd_program_new(const guint8 *bytes, gsize n_bytes, GError **error);
QdProgram *qd_program_free(QdProgram *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdProgram, qd_program_free)

/* qd_program_run: the expression's value for @args, of which there are @self->n_args or more. */
QdValue qd_program_run(const QdProgram *self, QdEvaluation *ev, sqlite3_value **args, guint n_args);
