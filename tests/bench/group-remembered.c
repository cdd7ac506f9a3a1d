/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results that are asked for again: given from memory, executed each time, and read from the file. And what remembering costs
 * others: a write that touches 1,000 remembered results, and look-ups beside large results that are being kept.
 *
 * The daemon of the laboratory remembers nothing. A case of this group has its limits changed while it runs.
 */
#include <query-client.h>

#include "tests/bench/bench.h"
#include "tests/bench/machine.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define N_ASKED 3 /* the third time it is given from memory */
#define N_FIRST_ROWS 200
#define N_PAUSED 20
#define PAUSE_USEC 100000
#define N_SMALL 2000
#define N_TOUCHED 1000
#define N_WRITES 40
#define N_SMOKE 3
#define N_LOOK_UPS 4000

#define WHOLE "SELECT * FROM " BENCH_TABLE
#define TEN_ROWS "SELECT ?s ?n { ?s <remembered:kind> ?k ; <remembered:number> ?n } ORDER BY DESC(?n) LIMIT 10"

static guint
shorten(const Bench *bench, guint n)
{
    return bench_is_smoke(bench) ? N_SMOKE : n;
}

/* As demo.sh writes it, or with results that are remembered regardless of their cost. */
static void
set_limits(QueryConnection *connection, gboolean remembers)
{
    g_autofree char *path = g_build_filename(g_get_user_config_dir(), "queryd", "queryd.conf", NULL);
    const char *text = remembers ? "[Limits]\nidle_exit_ms=0\nresult_memory_cost_us=0\n"
                                 : "[Limits]\nidle_exit_ms=0\nresult_memory_bytes=0\nresult_shared_bytes=0\n";
    g_autoptr(GError) error = NULL;

    if (g_file_set_contents(path, text, -1, &error))
        (void) query_connection_reload(connection, NULL, &error);
    die_on_error(error, path);
}

static double
get_usec_since(guint64 start_nsec)
{
    return (double) (machine_get_now_nsec() - start_nsec) / 1e3;
}

/* Large results ------------------------------------------------------------------------------------------------------------ */

static void
record_whole(const Bench *bench, ReadResult result)
{
    bench_check(bench, "rows", result.n_rows);
    bench_record(bench, "whole", "ms", result.msec);
}

/* To the first row of the whole table; the rest is not read. */
static double
ask_first_row(QueryConnection *connection)
{
    guint64 start_nsec = machine_get_now_nsec();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, WHOLE, NULL, NULL, &error);
    double usec;

    die_on_error(error, WHOLE);
    (void) query_cursor_next(cursor, NULL, &error);
    die_on_error(error, WHOLE);
    usec = get_usec_since(start_nsec);
    query_cursor_close(cursor);
    return usec / 1e3;
}

static void
measure_first_rows(const Bench *bench, QueryConnection *connection, const char *name, guint n, gulong pause_usec)
{
    g_autofree char *p50 = g_strconcat(name, ".p50", NULL);
    g_auto(Samples) msec = { 0 };

    samples_init(&msec);
    for (guint i = 0; i < shorten(bench, n); i++) {
        if (pause_usec > 0)
            g_usleep(pause_usec);
        samples_add(&msec, ask_first_row(connection));
    }
    bench_record(bench, p50, "ms", samples_get_quantile(&msec, 0.5));
}

static void
measure_large(const Bench *bench, QueryConnection *connection)
{
    (void) founding_table_read(connection, BENCH_TABLE, READ_COPY);
    bench_record(bench, "kept", "ms", founding_table_read(connection, BENCH_TABLE, READ_COPY).msec); /* the second time */
    record_whole(bench, founding_table_read(connection, BENCH_TABLE, READ_COPY));
    measure_first_rows(bench, connection, "first-row", N_FIRST_ROWS, 0);
    measure_first_rows(bench, connection, "first-row-paused", N_PAUSED, PAUSE_USEC);
}

/* Small ones --------------------------------------------------------------------------------------------------------------- */

static void
ask(QueryStatement *statement)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_statement_execute(statement, NULL, &error);

    while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
        ;
    die_on_error(error, "ask");
}

static QueryStatement *
prepare(QueryConnection *connection, QueryLanguage language, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryStatement *statement = query_connection_prepare(connection, language, text, NULL, &error);

    die_on_error(error, text);
    return statement;
}

/* Client and daemon on one processor. */
static void
measure_ten_rows(const Bench *bench, QueryConnection *connection)
{
    g_autoptr(QueryStatement) statement = prepare(connection, QUERY_LANGUAGE_SPARQL, TEN_ROWS);
    int last = (int) machine_get_n_cpus() - 1;
    g_auto(Samples) usec = { 0 };

    machine_pin(bench->daemon, last);
    machine_pin(0, last);
    samples_init(&usec);
    for (guint i = 0; i < N_ASKED; i++)
        ask(statement);
    for (guint i = 0; i < shorten(bench, N_SMALL); i++) {
        guint64 start_nsec = machine_get_now_nsec();

        ask(statement);
        samples_add(&usec, get_usec_since(start_nsec));
    }
    machine_pin(bench->daemon, -1);
    machine_pin(0, -1);
    bench_record(bench, "ten-rows.p50", "us", samples_get_quantile(&usec, 0.5));
    bench_record(bench, "ten-rows.p99", "us", samples_get_quantile(&usec, 0.99));
}

static void
ask_each(QueryConnection *connection, guint n)
{
    for (guint i = 0; i < n; i++) {
        g_autofree char *text = g_strdup_printf("SELECT count(*), %u FROM remembered", i);
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);

        while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
            ;
        die_on_error(error, text);
    }
}

static double
time_update(QueryStatement *update)
{
    guint64 start_nsec = machine_get_now_nsec();
    g_autoptr(GError) error = NULL;

    (void) query_statement_update(update, NULL, &error);
    die_on_error(error, "update");
    return get_usec_since(start_nsec);
}

/* In turns: a write that finds all of the results remembered, and one after as many queries of which none is. */
static void
measure_writes(const Bench *bench, QueryConnection *connection)
{
    guint n = shorten(bench, N_TOUCHED);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement)
        update = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, "UPDATE remembered SET a = a + 1", NULL, &error);
    g_auto(Samples) touching_usec = { 0 };
    g_auto(Samples) usec = { 0 };

    die_on_error(error, "prepare");
    samples_init(&touching_usec);
    samples_init(&usec);
    ask_each(connection, n);
    for (guint i = 0; i < 2 * shorten(bench, N_WRITES); i++) {
        gboolean remembers = i % 2 == 0;

        query_connection_set_fresh(connection, !remembers);
        for (guint k = 0; k < N_ASKED - 1; k++)
            ask_each(connection, n);
        samples_add(remembers ? &touching_usec : &usec, time_update(update));
    }
    query_connection_set_fresh(connection, FALSE);
    bench_record(bench, "write-1000.p50", "us", samples_get_quantile(&touching_usec, 0.5));
    bench_record(bench, "write-none.p50", "us", samples_get_quantile(&usec, 0.5));
}

/* Others ------------------------------------------------------------------------------------------------------------------- */

typedef struct Reader {
    gboolean fresh;
    gint is_over; /* atomic */
    guint n_rows;
} Reader;

/* Each text is asked for twice: the second time its result is kept, if it may be. */
static gpointer
reader_main(gpointer data)
{
    Reader *self = data;
    g_autoptr(QueryConnection) connection = open_connection();

    query_connection_set_fresh(connection, self->fresh);
    for (guint i = 0; !g_atomic_int_get(&self->is_over); i++) {
        g_autofree char *text = g_strdup_printf(WHOLE " WHERE id > -%u", i / 2);
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, text, NULL, NULL, &error);

        while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
            ;
        die_on_error(error, text);
    }
    return NULL;
}

static void
measure_look_ups(const Bench *bench, gboolean fresh)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(QueryStatement) statement = prepare(connection, QUERY_LANGUAGE_SQL, WHOLE " WHERE id = ?");
    Reader reader = { .fresh = fresh };
    GThread *thread = g_thread_new("reader", reader_main, &reader);
    g_auto(Samples) usec = { 0 };

    samples_init(&usec);
    for (guint i = 0; i < shorten(bench, N_LOOK_UPS); i++) {
        guint64 start_nsec = machine_get_now_nsec();

        (void) query_statement_bind_int64(statement, "1", 1 + i % bench->n_rows, NULL);
        ask(statement);
        samples_add(&usec, get_usec_since(start_nsec));
    }
    g_atomic_int_set(&reader.is_over, 1);
    (void) g_thread_join(thread);
    bench_record(bench, "look-up.p50", "us", samples_get_quantile(&usec, 0.5));
    bench_record(bench, "look-up.p99", "us", samples_get_quantile(&usec, 0.99));
}

/* Cases -------------------------------------------------------------------------------------------------------------------- */

static void
run_direct(Bench *bench, gconstpointer argument)
{
    g_autofree char *path = get_database_path();

    (void) founding_table_read_directly(path, BENCH_TABLE, READ_COPY);
    record_whole(bench, founding_table_read_directly(path, BENCH_TABLE, READ_COPY));
}

static void
create_data(QueryConnection *connection)
{
    g_autoptr(GString) text = g_string_new("INSERT DATA {");
    g_autoptr(GError) error = NULL;

    execute(connection, "CREATE TABLE IF NOT EXISTS remembered(a)");
    execute(connection, "INSERT INTO remembered SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM remembered)");
    for (guint i = 0; i < 500; i++)
        g_string_append_printf(text, " <remembered:%u> <remembered:kind> <remembered:kind%u> ; <remembered:number> %u .", i, i % 7,
                               i);
    g_string_append(text, " }");
    (void) query_connection_update(connection, QUERY_LANGUAGE_SPARQL, text->str, NULL, NULL, &error);
    die_on_error(error, "INSERT DATA");
}

static void
run_queryd(Bench *bench, gconstpointer argument)
{
    gboolean remembers = GPOINTER_TO_INT(argument);
    g_autoptr(QueryConnection) connection = open_connection();

    if (bench_is_warm_up(bench))
        create_data(connection);
    query_connection_set_fresh(connection, !remembers);
    query_connection_set_durability(connection, QUERY_DURABILITY_RELAXED);
    set_limits(connection, remembers);
    measure_large(bench, connection);
    measure_ten_rows(bench, connection);
    if (remembers)
        measure_writes(bench, connection);
    measure_look_ups(bench, !remembers);
    set_limits(connection, FALSE);
}

static const BenchCase cases[] = {
    { "direct", run_direct },
    { "executed", run_queryd, GINT_TO_POINTER(FALSE) },
    { "remembered", run_queryd, GINT_TO_POINTER(TRUE) },
};

const BenchGroup bench_remembered = {
    .name = "remembered",
    .title = "results that are asked for again: from memory, executed, and what remembering costs others",
    .reference = "executed",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
