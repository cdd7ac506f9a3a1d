/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table for eyes: columns as wide as the first rows need.
 *
 * Place: layer B, used by output.c. A result of any size takes bounded memory: the first QCTL_TABLE_MEASURED_ROWS rows fix the
 * widths, and later ones are printed as they come. A row with a wider value shifts only itself. (libsmartcols would hold all
 * rows.)
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "client-lib/queryctl/output.h"

#define QCTL_TABLE_MEASURED_ROWS 1000u
#define QCTL_TABLE_MEASURED_BYTES (1024u * 1024u)
#define QCTL_TABLE_MAX_CHARACTERS 1000u

typedef struct QctlTable QctlTable;

/* As qctl_output_new(). (transfer full) */
QctlTable *qctl_table_new(QctlSink *sink, const QctlStyle *style, const char *const *names, guint n_columns);
QctlTable *qctl_table_free(QctlTable *self);

/* As qctl_output_put() and qctl_output_finish(). */
bool qctl_table_put(QctlTable *self, const QwValue *cells, GError **error);
bool qctl_table_finish(QctlTable *self, bool complete, GError **error);
