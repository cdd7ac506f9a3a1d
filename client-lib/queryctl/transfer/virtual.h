/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the definition of a virtual table says about where its rows are.
 *
 * Place: layer B; for dump.c. It knows the modules of SQLite that keep rows; of any other it knows nothing.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum QctlVirtualRows {
    QCTL_VIRTUAL_ROWS_NONE,  /* of a module that keeps none, or is not known */
    QCTL_VIRTUAL_ROWS_OWN,   /* as in any table */
    QCTL_VIRTUAL_ROWS_OTHER, /* in another table or view, of which it is an index */
    QCTL_VIRTUAL_ROWS_LOST,  /* an index of texts that are not kept */
} QctlVirtualRows;

typedef struct QctlVirtual QctlVirtual;

/**
 * qctl_virtual_new:
 * @sql: the definition, as SQLite keeps it
 *
 * Returns: (transfer full) (nullable): NULL: @sql makes no virtual table
 */
QctlVirtual *qctl_virtual_new(const char *sql);
void qctl_virtual_free(QctlVirtual *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlVirtual, qctl_virtual_free)

QctlVirtualRows qctl_virtual_get_rows(const QctlVirtual *self);
/* (nullable): the table or view that has the rows; NULL unless they are in another one */
const char *qctl_virtual_get_content(const QctlVirtual *self);
/* (nullable): a hidden column with a part of the row: FTS4's language */
const char *qctl_virtual_get_hidden(const QctlVirtual *self);
/* Whether the number of a row is in no column. */
bool qctl_virtual_has_rowid(const QctlVirtual *self);
/* (nullable): what the name of a shadow table ends with: of that with settings, which a command sets again */
const char *qctl_virtual_get_settings(const QctlVirtual *self);
/* (nullable): the same of one that has rows when the index has entries */
const char *qctl_virtual_get_index(const QctlVirtual *self);

/* Whether @table is a shadow table of this one, whose name is @name: it is made with it. */
bool qctl_virtual_owns(const QctlVirtual *self, const char *name, const char *table);
