/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the generator share: the source of choices, the model of the schema, expressions.
 */
#pragma once

#include "tests/sql/generator.h"

#define GENERATOR_MAX_COLUMNS 6

typedef enum RelationKind {
    RELATION_TABLE,
    RELATION_VIEW,
    RELATION_FULL_TEXT,
    RELATION_RTREE,
} RelationKind;

typedef struct Relation {
    RelationKind kind;
    char name[16];
    char columns[GENERATOR_MAX_COLUMNS][16];
    guint n_columns;
    guint n_written; /* the first of them; the others are generated */
    gboolean has_rowid;
    gboolean has_key; /* the first column is unique */
} Relation;

typedef struct Generator {
    guint64 state;
    GPtrArray *relations; /* of Relation */
    Script *script;
    GString *text; /* of the statement that is written */
    guint n_names;
    gboolean counts;
    /* what an expression may name: relations by their alias */
    const Relation *scope[4];
    char aliases[4][8];
    guint n_scope;
    guint depth;
    /* of the statement that is written */
    GVariantDict *bound; /* (nullable): it may have parameters, these are its values so far */
    guint style;         /* how they are named */
    guint n_bound;
} Generator;

/* From 0 to @n - 1. */
guint generator_pick(Generator *self, guint n);
/* Once in @n. */
gboolean generator_chance(Generator *self, guint n);
void generator_put(Generator *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* (nullable): any relation that can be read. */
Relation *generator_any_relation(Generator *self);
Relation *generator_any_table(Generator *self);

/* The statement that begins may have parameters, or not; afterwards the values that it got: (nullable) (transfer full) a{sv}. */
void generator_begin_parameters(Generator *self);
GVariant *generator_end_parameters(Generator *self);
void generator_parameter(Generator *self);
/* A literal, or a parameter. */
void generator_literal(Generator *self);
void generator_expression(Generator *self, guint depth);
void generator_select(Generator *self, guint depth, guint n_columns);
void generator_change(Generator *self);
void generator_define(Generator *self);
/* In place of changes(), total_changes() or last_insert_rowid(), when the script has them. */
void generator_count(Generator *self);
