/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Through queryd: by the library with a transport of its choice or of ours, and by hand, as another language would.
 *
 * A connection and one kept channel are there before, as in a program that runs.
 */

#include "tests/bench/fetch.h"
#include "tests/bench/machine.h"
#include "tests/bench/wire-client.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

void
fetch_queryd_open(FetchRun *run)
{
    QueryConnection *connection = open_connection();
    double start_msec = get_now_msec();

    run->server = run->bench->daemon;
    run->state = connection;
    query_connection_set_transport(connection, run->reader->transport);
    (void) query_number(connection, "SELECT 1");
    bench_record(run->bench, "first_query", "ms", get_now_msec() - start_msec);
}

/* The scheduler has no choice: the daemon keeps the last processor, the client the first one or, as variant "shared", the same. */
void
fetch_queryd_open_pinned(FetchRun *run)
{
    int last = (int) machine_get_n_cpus() - 1;

    machine_pin(run->bench->daemon, last);
    machine_pin(0, g_strcmp0(run->reader->variant, "shared") == 0 ? last : 0);
    fetch_queryd_open(run);
}

/* The library reads the file itself, in this process. */
void
fetch_direct_mode_open(FetchRun *run)
{
    g_autoptr(GError) error = NULL;

    run->state = query_connection_new_direct(run->path, NULL, &error);
    die_on_error(error, run->path);
}

void
fetch_queryd_read(FetchRun *run, const char *sql, CellSink *sink)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(run->state, QUERY_LANGUAGE_SQL, sql, NULL, NULL, &error);

    die_on_error(error, sql);
    founding_table_drain(cursor, sink);
}

void
fetch_raw_read(FetchRun *run, const char *sql, CellSink *sink)
{
    WireClient client;

    wire_client_open(&client, run->bench, run->reader->variant, 0, sql);
    wire_client_read(&client, FETCH_COLUMNS, sink);
    wire_client_close(&client);
}
