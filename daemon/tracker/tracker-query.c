/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Query and Serialize: a channel writes into the pipe that the caller has brought, and the call is answered when it has begun.
 */

#include "client-lib/wire/wire-record.h"
#include "daemon/base/error.h"
#include "daemon/call/call-private.h"
#include "daemon/channel/channel.h"
#include "daemon/plan/compile.h"
#include "daemon/rdf/rdf-format.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/tracker/tracker-classes.h"
#include "daemon/tracker/tracker-text.h"

#define LIST_PREFIXES "SELECT iri, prefix FROM queryd_prefix ORDER BY prefix"

static void
put_quoted(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *text);
    }
    g_string_append_c(out, '"');
}

static gboolean
list_prefixes(GString *out, void *data, GError **error)
{
    QdCall *call = data;
    QdContext *context = call->private->context;
    QdReader *reader = qd_pool_lease(context->pool, call->client, NULL, error);
    sqlite3_stmt *stmt = NULL;
    int r;

    if (reader == NULL)
        return FALSE;
    r = sqlite3_prepare_v2(qd_connection_get_db(reader->connection), LIST_PREFIXES, -1, &stmt, NULL);
    while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        g_string_append(out, " (");
        put_quoted(out, (const char *) sqlite3_column_text(stmt, 0));
        g_string_append_c(out, ' ');
        put_quoted(out, (const char *) sqlite3_column_text(stmt, 1));
        g_string_append_c(out, ')');
    }
    (void) sqlite3_finalize(stmt);
    qd_pool_release(context->pool, reader);
    return TRUE;
}

/* By the thread that has the channel: the call is over, the result has begun. */
static void
on_started(const GError *error, void *data)
{
    QdCall *call = data;

    if (error != NULL)
        call->result.error = g_error_copy(error);
    qd_call_finish(call);
}

static gboolean
check_form(const QdCall *call, const QdShape *shape, GError **error)
{
    gboolean is_graph = shape->plan->form == QD_FORM_CONSTRUCT || shape->plan->form == QD_FORM_DESCRIBE;

    if (call->format == NULL || is_graph)
        return TRUE;

    qd_error_set(error, QW_ERROR_UNSUPPORTED, "only CONSTRUCT and DESCRIBE have triples to serialize");
    return FALSE;
}

static gboolean
find_format(const QdCall *call, int *ret_format, GError **error)
{
    QdRdfFormat format;

    if (call->format == NULL)
        return TRUE;
    if (qd_rdf_format_from_name(call->format, &format)) {
        *ret_format = (int) format;
        return TRUE;
    }

    qd_error_set(error, QW_ERROR_UNSUPPORTED, "the format '%s' is not supported", call->format);
    return FALSE;
}

/* After success another thread may have ended the call. */
static gboolean
open_channel(QdCall *call, const QdTrackerText *text, GError **error)
{
    QdContext *context = call->private->context;
    const QdRunText what = {
        .language = QD_LANGUAGE_SPARQL, .text = text->text->str, .n_bytes = text->text->len, .dataset = text->dataset
    };
    QdCursorSetup cursor = { .fd = call->fd, .rdf_format = -1, .started = on_started, .data = call };
    QdShape shape;
    QdChannelSetup setup = { .channel = { .transport = QD_TRANSPORT_CURSOR, .page_size = QW_PAGE_SIZE_DEFAULT },
                             .spent_usec = qd_call_get_spent_usec(call),
                             .dataset = text->dataset,
                             .text = text->text->str,
                             .n_text_bytes = text->text->len,
                             .language = QD_LANGUAGE_SPARQL,
                             .shape = &shape,
                             .cursor = &cursor };
    g_autoptr(QdRun) run = qd_run_new(context->pool, call->client, NULL, &what, QD_POLICY_READ, &context->limits, error);
    int no_fd;

    if (run == NULL)
        return FALSE;
    shape = qd_run_get_shape(run);
    if (!check_form(call, &shape, error) || !find_format(call, &cursor.rdf_format, error))
        return FALSE;
    qd_call_describe_columns(call, &shape);
    shape.n_parameters = 0;
    return qd_channels_open(context->channels, call->client, &setup, &no_fd, error);
}

static void
write_query(QdCall *call)
{
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    const QdTrackerProfile profile = { .parameters = statement->parameters,
                                       .union_default_graph = call->options.union_default_graph,
                                       .list_prefixes = list_prefixes,
                                       .data = call };
    g_auto(QdTrackerText) text = { 0 };
    g_autoptr(GError) error = NULL;

    if (qd_tracker_text_init(&text, statement->text, &profile, &error) && open_channel(call, &text, &error))
        return;

    call->result.error = g_steal_pointer(&error);
    qd_call_finish(call);
}

const QdCallClass qd_tracker_query_call = { .name = "Tracker3.Query", .reads = TRUE, .write = write_query };
const QdCallClass qd_tracker_serialize_call = { .name = "Tracker3.Serialize", .reads = TRUE, .write = write_query };
