/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes rows in one of the formats of queryctl.
 *
 * Place: layer B. Invariant: a result that was not finished as complete never looks whole: json has no closing bracket.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "client-lib/queryctl/arguments.h"
#include "client-lib/queryctl/cell.h"
#include "client-lib/queryctl/sink.h"

typedef struct QctlOutput QctlOutput;

typedef struct QctlStyle {
    QctlFormat format;     /* not AUTO */
    const char *null_text; /* (nullable): instead of the format's own NULL; not in json and jsonl */
    bool header;
    bool colour;
} QctlStyle;

/**
 * qctl_output_new:
 * @sink: where rows go; outlives the output
 * @style: copied, @null_text borrowed
 * @names: the columns' names; copied
 *
 * Returns: (transfer full): an output of one result; nothing is written yet
 */
QctlOutput *qctl_output_new(QctlSink *sink, const QctlStyle *style, const char *const *names, guint n_columns);
QctlOutput *qctl_output_free(QctlOutput *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlOutput, qctl_output_free)

/* qctl_output_put: one row of as many cells as there are columns. False after an error of the sink. */
bool qctl_output_put(QctlOutput *self, const QwValue *cells, GError **error);

/**
 * qctl_output_finish:
 * @complete: the result came to its end
 *
 * Writes what is left, and flushes.
 */
bool qctl_output_finish(QctlOutput *self, bool complete, GError **error);
