/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look-up through queryd: by a statement prepared once, by text, by a new descriptor each time, and by value over the bus.
 */
#include <errno.h>

#include "tests/bench/latency.h"
#include "tests/bench/reference-sd-bus.h"
#include "tests/bench/wire-client.h"
#include "tests/demo/store-control.h"

static void
prepare(LatencyRun *run, QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;

    run->state = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, LATENCY_SQL, NULL, &error);
    die_on_error(error, LATENCY_SQL);
}

void
latency_prepared_open(LatencyRun *run)
{
    QueryConnection *connection = open_connection();

    if (run->probe->uses_ring)
        query_connection_set_transport(connection, QUERY_TRANSPORT_RING);
    prepare(run, connection);
}

void
latency_direct_mode_open(LatencyRun *run)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = query_connection_new_direct(run->path, NULL, &error);

    die_on_error(error, run->path);
    prepare(run, connection);
}

static void
copy_only_row(LatencyRun *run, QueryCursor *cursor)
{
    guint64 before = run->sink.result.n_rows;

    founding_table_drain(cursor, &run->sink);
    if (run->sink.result.n_rows != before + 1)
        bench_fail(run->bench, "the row is not there");
}

void
latency_prepared_call(LatencyRun *run, gint64 id)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;

    (void) query_statement_bind_int64(run->state, "1", id, NULL);
    cursor = query_statement_execute(run->state, NULL, &error);
    die_on_error(error, LATENCY_SQL);
    copy_only_row(run, cursor);
}

void
latency_ad_hoc_open(LatencyRun *run)
{
    run->state = open_connection();
    (void) query_number(run->state, "SELECT 1");
}

void
latency_ad_hoc_call(LatencyRun *run, gint64 id)
{
    GVariant *parameters = g_variant_new_parsed("{'1': <%x>}", id);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;

    cursor = query_connection_query(run->state, QUERY_LANGUAGE_SQL, LATENCY_SQL, parameters, NULL, &error);
    die_on_error(error, LATENCY_SQL);
    copy_only_row(run, cursor);
}

void
latency_anew_open(LatencyRun *run)
{
    g_autoptr(GError) error = NULL;

    run->state = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    die_on_error(error, "session bus");
}

/* The whole handshake for one row. Where nothing else holds a connection to the bus, it is made for this call alone. */
static void
read_anew(LatencyRun *run, gint64 id, gboolean fetches)
{
    g_autofree char *sql = g_strdup_printf("SELECT * FROM " BENCH_TABLE " WHERE id = %" G_GINT64_FORMAT, id);
    WireClient client;

    if (fetches)
        wire_client_open_running(&client, run->bench, sql);
    else
        wire_client_open(&client, run->bench, "socketpair", 0, sql);
    wire_client_read(&client, FOUNDING_TEXTS + 1, &run->sink);
    wire_client_close(&client);
}

/* As the library's first query does it. */
void
latency_anew_call(LatencyRun *run, gint64 id)
{
    read_anew(run, id, TRUE);
}

void
latency_two_steps_call(LatencyRun *run, gint64 id)
{
    read_anew(run, id, FALSE);
}

void
latency_value_open(LatencyRun *run)
{
    sd_bus *bus = NULL;
    int r = sd_bus_open_user(&bus);

    if (r < 0)
        bench_fail(run->bench, "session bus: %s", g_strerror(-r));
    run->state = bus;
}

/* Of queryd, or of the reference service, which answers with a row of its own. */
static int
call_query(LatencyRun *run, gint64 id, sd_bus_message **ret_reply, sd_bus_error *error)
{
    sd_bus_message *call = NULL;
    gboolean is_reference = run->probe->has_no_row;
    int r = sd_bus_message_new_method_call(run->state, &call, is_reference ? REFERENCE_SD_BUS_NAME : "org.queryd.Query1",
                                           is_reference ? REFERENCE_PATH : "/org/queryd/Query1",
                                           is_reference ? REFERENCE_INTERFACE : "org.queryd.Query1", "Query");

    if (r >= 0)
        r = sd_bus_message_append(call, "ssa{sv}a{sv}", "sql", LATENCY_SQL, 1, "1", "x", id, 0);
    if (r >= 0)
        r = sd_bus_call(run->state, call, 0, error, ret_reply);
    sd_bus_message_unref(call);
    return r;
}

/* One row of variants: an integer, then texts. */
static int
copy_variants(LatencyRun *run, sd_bus_message *reply)
{
    gint64 id;
    const char *text;
    int r = sd_bus_message_skip(reply, "as");

    if (r >= 0)
        r = sd_bus_message_enter_container(reply, 'a', "av");
    if (r > 0)
        r = sd_bus_message_enter_container(reply, 'a', "v");
    if (r > 0)
        r = sd_bus_message_read(reply, "v", "x", &id);
    if (r <= 0)
        return r < 0 ? r : -ENOENT;

    cell_sink_put_int64(&run->sink, id);
    for (guint i = 0; i < FOUNDING_TEXTS && (r = sd_bus_message_read(reply, "v", "s", &text)) > 0; i++)
        cell_sink_put(&run->sink, text, strlen(text));
    cell_sink_end_row(&run->sink);
    return r > 0 ? 0 : -EBADMSG;
}

void
latency_value_call(LatencyRun *run, gint64 id)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r = call_query(run, id, &reply, &error);

    if (r >= 0)
        r = copy_variants(run, reply);
    if (r < 0)
        bench_fail(run->bench, "Query: %s", error.message != NULL ? error.message : g_strerror(-r));
    sd_bus_message_unref(reply);
}
