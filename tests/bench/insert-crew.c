/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A member has inserted a row before it is in position.
 */
#include "tests/bench/insert-crew.h"

#include <query-client.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/machine.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define NSEC_PER_MSEC G_GUINT64_CONSTANT(1000000)
#define BUSY_TIMEOUT_MSEC 60000

typedef struct Run {
    QueryStatement *statement;
    guint64 end_nsec;
    guint64 n_rows;
    Samples latency_msec;
    GQueue starts; /* of guint64 *: when those in flight were started */
    guint n_in_flight;
} Run;

static void
wait_for_start(Run *self, guint msec)
{
    char byte;

    samples_init(&self->latency_msec);
    helper_say_in_position();
    if (read(STDIN_FILENO, &byte, 1) != 1)
        exit(0);
    self->end_nsec = machine_get_now_nsec() + msec * NSEC_PER_MSEC;
}

static int
say_result(Run *self)
{
    (void) printf("%" G_GUINT64_FORMAT " %.6f\n", self->n_rows, samples_get_quantile(&self->latency_msec, 0.99));
    samples_clear(&self->latency_msec);
    return fflush(stdout) == 0 ? 0 : 1;
}

static void
count(Run *self, guint64 start_nsec, guint64 now_nsec)
{
    self->n_rows++;
    samples_add(&self->latency_msec, (double) (now_nsec - start_nsec) / (double) NSEC_PER_MSEC);
}

/* Through queryd ----------------------------------------------------------------------------------------------------------- */

static void
insert_one_by_one(Run *self)
{
    guint64 now_nsec = machine_get_now_nsec();

    while (now_nsec < self->end_nsec) {
        guint64 start_nsec = now_nsec;
        g_autoptr(GError) error = NULL;

        (void) query_statement_update(self->statement, NULL, &error);
        die_on_error(error, INSERT_SQL);
        now_nsec = machine_get_now_nsec();
        count(self, start_nsec, now_nsec);
    }
}

static void on_inserted(GObject *object, GAsyncResult *result, gpointer user_data);

static void
start_insert(Run *self, guint64 now_nsec)
{
    guint64 *start_nsec = g_new(guint64, 1);

    *start_nsec = now_nsec;
    g_queue_push_tail(&self->starts, start_nsec);
    query_statement_update_async(self->statement, NULL, on_inserted, self);
}

static void
on_inserted(GObject *object, GAsyncResult *result, gpointer user_data)
{
    Run *self = user_data;
    g_autofree guint64 *start_nsec = g_queue_pop_head(&self->starts);
    guint64 now_nsec = machine_get_now_nsec();
    g_autoptr(GError) error = NULL;

    (void) query_statement_update_finish(QUERY_STATEMENT(object), result, &error);
    die_on_error(error, INSERT_SQL);
    count(self, *start_nsec, now_nsec);
    if (now_nsec < self->end_nsec)
        start_insert(self, now_nsec);
}

static void
insert_pipelined(Run *self)
{
    for (guint i = 0; i < self->n_in_flight; i++)
        start_insert(self, machine_get_now_nsec());
    while (!g_queue_is_empty(&self->starts))
        (void) g_main_context_iteration(NULL, TRUE);
}

int
insert_crew_serve(int argc, char **argv)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(GError) error = NULL;
    Run self = { .n_in_flight = argc == 4 ? (guint) atoi(argv[3]) : 0 };

    statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, INSERT_SQL, NULL, &error);
    die_on_error(error, INSERT_SQL);
    (void) query_statement_bind_string(statement, "1", INSERT_TEXT, -1, NULL);
    (void) query_statement_update(statement, NULL, &error);
    die_on_error(error, INSERT_SQL);
    self.statement = statement;
    g_queue_init(&self.starts);
    wait_for_start(&self, (guint) atoi(argv[2]));
    if (self.n_in_flight > 0)
        insert_pipelined(&self);
    else
        insert_one_by_one(&self);
    return say_result(&self);
}

/* SQLite by itself --------------------------------------------------------------------------------------------------------- */

static void
step(sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE) {
        (void) fprintf(stderr, "insert: %s\n", sqlite3_errmsg(sqlite3_db_handle(stmt)));
        exit(1);
    }
    (void) sqlite3_reset(stmt);
}

int
insert_crew_serve_sqlite(int argc, char **argv)
{
    Run self = { 0 };
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    guint64 now_nsec;

    if (argc != 4 || sqlite3_open(argv[3], &db) != SQLITE_OK)
        return 1;
    (void) sqlite3_busy_timeout(db, BUSY_TIMEOUT_MSEC);
    (void) sqlite3_exec(db, "PRAGMA synchronous=FULL", NULL, NULL, NULL);
    if (sqlite3_prepare_v2(db, INSERT_SQL, -1, &stmt, NULL) != SQLITE_OK)
        return 1;
    (void) sqlite3_bind_text(stmt, 1, INSERT_TEXT, -1, SQLITE_STATIC);
    step(stmt);
    wait_for_start(&self, (guint) atoi(argv[2]));
    now_nsec = machine_get_now_nsec();
    while (now_nsec < self.end_nsec) {
        guint64 start_nsec = now_nsec;

        step(stmt);
        now_nsec = machine_get_now_nsec();
        count(&self, start_nsec, now_nsec);
    }
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    return say_result(&self);
}
