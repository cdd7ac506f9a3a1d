/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an execution gave, in a form that can be compared and printed: rows as text with the type of each value, or an error.
 *
 * Place: tests/sql, for the lock-step test. Both sides fill one of these.
 */
#pragma once

#include "client-lib/query-client.h"

typedef struct Outcome {
    char *error; /* (owned) (nullable): the message */
    char *code;  /* (owned) (nullable): its class */
    GString *columns;
    gboolean has_types; /* declared types of the columns are among them */
    GPtrArray *rows;    /* of char* */
    gboolean is_cut;    /* there are more rows than these */
    gboolean has_counts;
    gint64 n_changes;
    gboolean has_rowid;
    gint64 rowid;
} Outcome;

Outcome *outcome_new(void);
Outcome *outcome_free(Outcome *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Outcome, outcome_free)

void outcome_add_column(Outcome *self, const char *name, const char *type);
/* A row is begun, gets its values, and is added: (transfer full). */
void outcome_put_null(GString *row);
void outcome_put_int64(GString *row, gint64 value);
void outcome_put_double(GString *row, double value);
void outcome_put_text(GString *row, const char *text, gsize n_bytes);
void outcome_put_blob(GString *row, const void *data, gsize n_bytes);
void outcome_add_row(Outcome *self, GString *row);
void outcome_set_error(Outcome *self, const char *code, const char *message);

/* What the library gave. @cursor: (transfer full) (nullable): with @error (transfer full) */
Outcome *outcome_take_cursor(QueryCursor *cursor, GError *error);
Outcome *outcome_take_changes(gint64 n_changes, GError *error); /* @error: (transfer full) (nullable) */
void outcome_take_error(Outcome *self, const GError *error);

/* (transfer full) (nullable): how @actual differs from @expected, SQLite's; NULL: not at all */
char *outcome_compare(const Outcome *expected, const Outcome *actual);
