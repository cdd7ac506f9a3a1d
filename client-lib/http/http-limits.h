/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The limits of queryd-http: one table of names, defaults and what a refusal says. Those of the daemon hold besides.
 *
 * Place: room http. docs/http.md has the table as --print-limits writes it; a test compares them.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum QhttpLimit {
    QHTTP_LIMIT_CONNECTIONS,
    QHTTP_LIMIT_HEADER_BYTES,
    QHTTP_LIMIT_BODY_BYTES,
    QHTTP_LIMIT_GRAPH_BYTES,
    QHTTP_LIMIT_IMPORTS,
    QHTTP_LIMIT_WATCHES,
    QHTTP_LIMIT_REQUEST_SECONDS,
    QHTTP_LIMIT_IDLE_SECONDS,
    QHTTP_LIMIT_SESSIONS,
    QHTTP_LIMIT_EXIT_SECONDS,
} QhttpLimit;

#define QHTTP_N_LIMITS (QHTTP_LIMIT_EXIT_SECONDS + 1)

typedef struct QhttpLimits {
    guint64 values[QHTTP_N_LIMITS];
} QhttpLimits;

void qhttp_limits_init(QhttpLimits *self);

/**
 * qhttp_limits_parse:
 * @text: "NAME=VALUE"
 * @error: (nullable): location for an error of G_OPTION_ERROR
 *
 * Returns: false when there is no such limit, or the value is out of its range
 */
bool qhttp_limits_parse(QhttpLimits *self, const char *text, GError **error);

/* Of its name, for messages. */
const char *qhttp_limit_get_name(QhttpLimit limit);

/* (transfer full): the table in Markdown. */
char *qhttp_limits_print(void);
