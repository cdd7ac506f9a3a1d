/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A member prepares its statement and runs it once before it is in position, so the start of others is not measured.
 */
#include "tests/bench/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/machine.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

typedef struct Member {
    guint64 n_rows;
    double p99_msec;
} Member;

/* Each key once, in an order of its own; ends in mid-result at the deadline. Returns the rows read. */
static guint64
execute_once(QueryStatement *statement, gint64 id, guint64 deadline_nsec)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    guint64 n_rows = 0;

    (void) query_statement_bind_int64(statement, "1", id, NULL);
    cursor = query_statement_execute(statement, NULL, &error);
    die_on_error(error, "crew");
    while (query_cursor_next(cursor, NULL, &error)) {
        n_rows++;
        if (n_rows % 256 == 0 && machine_get_now_nsec() > deadline_nsec)
            break;
    }
    die_on_error(error, "crew");
    return n_rows;
}

static Member
work(QueryStatement *statement, guint n_keys, guint msec)
{
    g_auto(Samples) execution_msec = { 0 };
    guint64 deadline_nsec = machine_get_now_nsec() + msec * G_GUINT64_CONSTANT(1000000);
    guint64 key = (guint64) getpid();
    Member member = { 0 };

    samples_init(&execution_msec);
    while (machine_get_now_nsec() < deadline_nsec) {
        double start_msec = get_now_msec();

        key = (key + 7919) % n_keys;
        member.n_rows += execute_once(statement, (gint64) key + 1, deadline_nsec);
        samples_add(&execution_msec, get_now_msec() - start_msec);
    }
    member.p99_msec = samples_get_quantile(&execution_msec, 0.99);
    return member;
}

int
crew_serve(int argc, char **argv)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(GError) error = NULL;
    guint n_keys = argc == 5 ? (guint) atoi(argv[3]) : 1;
    Member member;
    char byte;

    statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, argc == 5 ? argv[2] : "", NULL, &error);
    die_on_error(error, "crew");
    (void) execute_once(statement, 1, 0);
    helper_say_in_position();
    if (read(STDIN_FILENO, &byte, 1) != 1)
        return 0;
    member = work(statement, n_keys, (guint) atoi(argv[4]));
    (void) printf("%" G_GUINT64_FORMAT " %.6f\n", member.n_rows, member.p99_msec);
    return fflush(stdout) == 0 ? 0 : 1;
}

int
crew_serve_writer(int argc, char **argv)
{
    g_autoptr(QueryConnection) connection = open_connection();

    execute(connection, "CREATE TABLE IF NOT EXISTS crew(id INTEGER PRIMARY KEY, text TEXT)");
    helper_end_with_input();
    helper_say_in_position();
    for (;;)
        execute(connection, "INSERT INTO crew(text) VALUES('a text of twenty bytes')");
}

GPtrArray *
crew_start_writer(void)
{
    return helpers_start(1, (const char *[]){ CREW_WRITER_ROLE, NULL });
}

static Member
collect(const Bench *bench, GSubprocess *process)
{
    char line[128] = "";
    gsize n = 0;
    Member member;

    (void) g_input_stream_read_all(g_subprocess_get_stdout_pipe(process), line, sizeof line - 1, &n, NULL, NULL);
    if (sscanf(line, "%" G_GUINT64_FORMAT " %lf", &member.n_rows, &member.p99_msec) != 2)
        bench_fail(bench, "a client has failed");
    return member;
}

CrewResult
crew_run(const Bench *bench, guint n, const char *const *argv, guint msec)
{
    GPtrArray *members = helpers_start(n, argv);
    g_auto(Samples) p99_msec = { 0 };
    guint64 n_rows = 0;
    guint64 least = G_MAXUINT64;
    guint64 most = 0;

    samples_init(&p99_msec);
    for (guint i = 0; i < n; i++)
        (void) g_output_stream_write(g_subprocess_get_stdin_pipe(members->pdata[i]), "\n", 1, NULL, NULL);
    for (guint i = 0; i < n; i++) {
        Member member = collect(bench, members->pdata[i]);

        n_rows += member.n_rows;
        least = MIN(least, member.n_rows);
        most = MAX(most, member.n_rows);
        samples_add(&p99_msec, member.p99_msec);
    }
    helpers_stop(members);
    return (CrewResult){ .per_second = (double) n_rows * 1000 / msec,
                         .fairness = most > 0 ? (double) least / (double) most : 0,
                         .p99_msec = samples_get_quantile(&p99_msec, 0.5),
                         .p99_worst_msec = samples_get_quantile(&p99_msec, 1) };
}

CrewResult
crew_measure(const Bench *bench, guint n, const char *sql, guint msec)
{
    g_autofree char *n_keys = g_strdup_printf("%u", bench->n_rows);
    g_autofree char *duration = g_strdup_printf("%u", msec);

    return crew_run(bench, n, (const char *[]){ CREW_ROLE, sql, n_keys, duration, NULL }, msec);
}
