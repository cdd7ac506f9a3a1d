/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Responses that say what is wrong: application/problem+json (RFC 9457), or text for a client that prefers it.
 */
#include <query-client.h>
#include <string.h>

#include "client-lib/http/http-exchange.h"
#include "client-lib/text/text-value.h"

/* Seconds after which a client may try again what was refused because of others. */
#define RETRY_AFTER "1"

typedef struct Problem {
    guint status;
    const char *name; /* (nullable): of the library's error */
    const char *detail;
    guint line, column; /* 0: not known */
} Problem;

static const struct {
    QueryError code;
    guint status;
    const char *name;
} statuses[] = {
    { QUERY_ERROR_SYNTAX, 400, "syntax" },
    { QUERY_ERROR_UNSUPPORTED, 400, "unsupported" },
    { QUERY_ERROR_BAD_PARAMETER, 400, "bad-parameter" },
    { QUERY_ERROR_CONSTRAINT, 409, "constraint" },
    { QUERY_ERROR_READ_ONLY, 403, "read-only" },
    { QUERY_ERROR_BUSY, 503, "busy" },
    { QUERY_ERROR_TOO_BIG, 413, "too-big" },
    { QUERY_ERROR_TOO_COMPLEX, 400, "too-complex" },
    { QUERY_ERROR_TIMEOUT, 504, "timeout" },
    { QUERY_ERROR_CANCELLED, 503, "cancelled" },
    { QUERY_ERROR_DISK_FULL, 507, "disk-full" },
    { QUERY_ERROR_NO_MEMORY, 503, "no-memory" },
    { QUERY_ERROR_CORRUPT, 500, "corrupt" },
    { QUERY_ERROR_RECOVERING, 503, "recovering" },
    { QUERY_ERROR_ACCESS_DENIED, 403, "access-denied" },
    { QUERY_ERROR_LIMIT_EXCEEDED, 429, "limit-exceeded" },
    { QUERY_ERROR_CLOSED, 503, "closed" },
    { QUERY_ERROR_INTERNAL, 500, "internal" },
    { QUERY_ERROR_UNAVAILABLE, 503, "unavailable" },
    { QUERY_ERROR_DISCONNECTED, 503, "disconnected" },
    { QUERY_ERROR_PROTOCOL, 502, "protocol" },
};

static void
put_member(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, ",\"%s\":", name);
    qw_text_put_json_text(out, value, strlen(value));
}

static GString *
print_json(const Problem *problem)
{
    GString *out = g_string_new(NULL);

    g_string_append_printf(out, "{\"type\":\"about:blank\",\"status\":%u", problem->status);
    put_member(out, "title", soup_status_get_phrase(problem->status));
    put_member(out, "detail", problem->detail);
    if (problem->name != NULL)
        put_member(out, "error", problem->name);
    if (problem->line > 0)
        g_string_append_printf(out, ",\"line\":%u,\"column\":%u", problem->line, problem->column);
    return g_string_append(out, "}\n");
}

static void
respond(QhttpExchange *self, const Problem *problem)
{
    const QhttpFormat *format = qhttp_accept_choose(qhttp_exchange_get_header(self, "Accept"), QHTTP_KIND_PROBLEM);
    bool is_text = format != NULL && g_str_equal(format->media_type, "text/plain");
    GString *body;

    if (qhttp_exchange_is_gone(self))
        return;
    if (problem->status == 503 || problem->status == 429)
        qhttp_exchange_set_header(self, "Retry-After", RETRY_AFTER);
    if (is_text) {
        body = g_string_new(problem->detail);
        g_string_append_c(body, '\n');
    } else {
        body = print_json(problem);
    }
    qhttp_exchange_respond(self, problem->status, is_text ? "text/plain; charset=utf-8" : "application/problem+json", body);
}

void
qhttp_exchange_fail(QhttpExchange *self, guint status, const char *format, ...)
{
    g_autofree char *detail = NULL;
    va_list arguments;

    va_start(arguments, format);
    detail = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    respond(self, &(Problem){ .status = status, .detail = detail });
}

void
qhttp_exchange_fail_with(QhttpExchange *self, const GError *error)
{
    Problem problem = { .status = 500, .detail = error->message };

    for (guint i = 0; error->domain == QUERY_ERROR && i < G_N_ELEMENTS(statuses); i++) {
        if ((int) statuses[i].code == error->code) {
            problem.status = statuses[i].status;
            problem.name = statuses[i].name;
        }
    }
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) { /* by the server: a client that has gone needs no answer */
        problem.status = 503;
        problem.name = "cancelled";
    }
    if (self->updates != NULL && g_error_matches(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED))
        problem.status = 502; /* it may have been executed: the client is not to send it again by itself */
    if (!query_error_get_place(error, &problem.line, &problem.column))
        problem.line = problem.column = 0;
    respond(self, &problem);
}

void
qhttp_exchange_fail_method(QhttpExchange *self)
{
    qhttp_exchange_set_header(self, "Allow", self->route->methods);
    qhttp_exchange_fail(self, 405, "%s is not possible here: %s are", qhttp_exchange_get_method(self), self->route->methods);
}
