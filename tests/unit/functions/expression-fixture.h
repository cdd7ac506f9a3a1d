/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions as text for tests, evaluated by SQLite through the registered functions.
 *
 *     (STRLEN "abc"@en)   (+ 1 2.5)   (IF (= <a> <b>) true _:x)   unbound   "1"^^xsd:byte   "x"^^<type>   $0 (an argument)
 *
 * Each expression is run twice: with its terms as constants of the program, and as arguments that are ids where they can be.
 * (The dictionary is a hash table.) Both must give the same.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "daemon/functions/register.h"

typedef struct Expressions {
    sqlite3 *db;
    QdEvaluationContext context;
    GPtrArray *terms;  /* of GBytes: term blobs; the id of the n-th has the sequence n + 1 */
    GHashTable *found; /* GBytes → its index */
    gboolean fail;     /* the next look-up fails */
} Expressions;

Expressions *expressions_new(void);
/* @max_bytes: of a value */
Expressions *expressions_new_limited(int max_bytes);
Expressions *expressions_free(Expressions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Expressions, expressions_free)

/* The program of @text; terms become constants, or, when @terms is there, arguments whose terms are added to it as blobs. */
GByteArray *expressions_assemble(const char *text, GPtrArray *terms);

/* The id of a term's blob where it has one: in line, or, put there if need be, in the dictionary. FALSE: it stays a blob. */
gboolean expressions_intern(Expressions *self, GBytes *blob, gint64 *ret_id);

/* A term as expressions_assemble() reads it, as a blob. */
GBytes *expressions_parse_term(const char *text);

/* The value of a column: "unbound", a term, "id…" for what is none; SQL's own values as they are. */
char *expressions_describe(Expressions *self, sqlite3_stmt *stmt, int column);

/* The value of an expression, or "error: " and SQLite's message. */
char *expressions_run(Expressions *self, const char *text);

/* Runs each expression and compares; @cases ends with NULL. */
void expressions_check(const char *const (*cases)[2]);

/* The first column of all rows of @sql, one a line; each "{term}" in it becomes an id or a blob. */
char *expressions_query(Expressions *self, const char *sql);
