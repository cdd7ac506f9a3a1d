/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of limits.
 */
#include "client-lib/http/http-limits.h"

#include <string.h>

static const struct {
    const char *name;
    const char *unit;
    guint64 value, min, max;
    const char *status; /* of the response that names the limit */
    const char *description;
} table[QHTTP_N_LIMITS] = {
    [QHTTP_LIMIT_CONNECTIONS] = { "connections", "", 64, 1, 4096, "503", "connections at once, of all clients" },
    [QHTTP_LIMIT_HEADER_BYTES] = { "header_bytes", "bytes", 64 * 1024, 1024, 90 * 1024, "431",
                                   "the request line and the headers of a request; beyond 100 KiB the connection is closed" },
    [QHTTP_LIMIT_BODY_BYTES] = { "body_bytes", "bytes", 16 * 1024 * 1024, 1024, G_MAXINT32, "413",
                                 "the body of a query, an update or a form, which is held in memory" },
    [QHTTP_LIMIT_GRAPH_BYTES] = { "graph_bytes", "bytes", G_GUINT64_CONSTANT(1) << 30, 1024, G_MAXINT64, "413",
                                  "the body of a document for the graph store, which is held in an unnamed file" },
    [QHTTP_LIMIT_IMPORTS] = { "imports", "", 8, 1, 64, "503", "documents that wait to be imported; one is imported at a time" },
    [QHTTP_LIMIT_WATCHES] = { "watches", "", 16, 1, 1024, "503", "results whose changes are awaited" },
    [QHTTP_LIMIT_REQUEST_SECONDS] = { "request_seconds", "s", 300, 1, 86400, "", "from the first byte of a request to its last" },
    [QHTTP_LIMIT_IDLE_SECONDS] = { "idle_seconds", "s", 60, 1, 86400, "",
                                   "a connection that sends nothing, or takes nothing of a result, is closed after it" },
    [QHTTP_LIMIT_SESSIONS] = { "sessions", "", 16, 1, 1024, "", "cookies at once; a further one ends the oldest" },
    [QHTTP_LIMIT_EXIT_SECONDS] = { "exit_seconds", "s", 60, 0, 86400, "",
                                   "without a connection, until a process that systemd has started leaves; 0: never" },
};

void
qhttp_limits_init(QhttpLimits *self)
{
    for (guint i = 0; i < QHTTP_N_LIMITS; i++)
        self->values[i] = table[i].value;
}

bool
qhttp_limits_parse(QhttpLimits *self, const char *text, GError **error)
{
    const char *sign = strchr(text, '=');
    guint64 value = 0;

    for (guint i = 0; sign != NULL && i < QHTTP_N_LIMITS; i++) {
        if (strlen(table[i].name) != (gsize) (sign - text) || strncmp(table[i].name, text, (gsize) (sign - text)) != 0)
            continue;
        if (!g_ascii_string_to_unsigned(sign + 1, 10, table[i].min, table[i].max, &value, NULL)) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                        "limit '%s' cannot be '%s', expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, table[i].name, sign + 1,
                        table[i].min, table[i].max);
            return false;
        }
        self->values[i] = value;
        return true;
    }

    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "'%s' is no limit, expected NAME=VALUE of --print-limits", text);
    return false;
}

const char *
qhttp_limit_get_name(QhttpLimit limit)
{
    return table[limit].name;
}

char *
qhttp_limits_print(void)
{
    GString *text = g_string_new("| limit | default | from | to | status | what it bounds |\n|---|---|---|---|---|---|\n");

    for (guint i = 0; i < QHTTP_N_LIMITS; i++) {
        const char *space = table[i].unit[0] != '\0' ? " " : "";

        g_string_append_printf(text, "| `%s` | %" G_GUINT64_FORMAT "%s%s", table[i].name, table[i].value, space, table[i].unit);
        g_string_append_printf(text, " | %" G_GUINT64_FORMAT " | %" G_GUINT64_FORMAT, table[i].min, table[i].max);
        g_string_append_printf(text, " | %s | %s |\n", table[i].status, table[i].description);
    }
    return g_string_free(text, FALSE);
}
