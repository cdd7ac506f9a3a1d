/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rows commits have inserted, updated or deleted, by the keys of their tables.
 *
 * Place: room notify, a part of QdChanges; filled by row-watch.c while a subscription asks for keys.
 * Invariant: never too little. A table of which not every change is known by its key is one whose rows may all have changed. The
 * limit changed_rows holds for all tables: the table that has the next row is then all.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-value.h"
#include "daemon/base/limits.h"

typedef enum QdRowChange {
    QD_ROW_INSERTED,
    QD_ROW_UPDATED,
    QD_ROW_DELETED,
} QdRowChange;

typedef struct QdRowKey {
    guint n_values;
    QwValue values[]; /* text and blobs lie after them */
} QdRowKey;

/* The same type, and the same bytes. */
gboolean qd_row_value_is_same(const QwValue *a, const QwValue *b);

typedef struct QdTableRows {
    char **columns;   /* (nullable) names of the key's columns; "rowid" */
    GHashTable *keys; /* (nullable) QdRowKey, owned → QdRowChange; NULL: any row may have changed */
} QdTableRows;

typedef struct QdRowChanges QdRowChanges;

/* @limits: outlive it */
QdRowChanges *qd_row_changes_new(const QdLimits *limits);
/* Without changes, with the limits of @other. */
QdRowChanges *qd_row_changes_new_like(const QdRowChanges *other);
/* Takes NULL. Returns: NULL */
QdRowChanges *qd_row_changes_free(QdRowChanges *self);

/* From now on a change of a row of @table is known by these columns, which are copied. Nothing, when the table is there already. */
void qd_row_changes_add_table(QdRowChanges *self, const char *table, const char *const *columns);
/* Any row of @table. */
void qd_row_changes_add_all_of(QdRowChanges *self, const char *table);
/* A row of a table that was added; of another one: any row of it. @values: copied. */
void qd_row_changes_add(QdRowChanges *self, const char *table, const QwValue *values, guint n_values, QdRowChange change);
/* What has come after what is in @self. */
void qd_row_changes_merge(QdRowChanges *self, const QdRowChanges *later);

/* (transfer none) (nullable): NULL: nothing is known of @table, and any row may have changed. */
const QdTableRows *qd_row_changes_get(const QdRowChanges *self, const char *table);
