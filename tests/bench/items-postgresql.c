/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PostgreSQL: contents as BYTEA in rows, ITEMS_IN_FLIGHT jobs pipelined, each its own transaction. Values are kept as they are:
 * PostgreSQL would try to compress them, in vain.
 *
 * Built where libpq is there. Its dead rows count as space: its vacuum runs when it will.
 */
#include "tests/bench/items.h"
#include "tests/bench/peers.h"

#ifdef HAVE_LIBPQ

#include <libpq-fe.h>
#include <stdlib.h>

#define TABLE "queryd_items"
/* The servers' script has it listen there. */
#define PORT 5433

static PGconn *
get_db(const ItemsRun *run)
{
    return run->state;
}

/* Consumes @result; its first value, if it has one. */
static gint64
take_result(const ItemsRun *run, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    gint64 value = status == PGRES_TUPLES_OK ? g_ascii_strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;

    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_PIPELINE_SYNC)
        bench_fail(run->bench, "PostgreSQL: %s", PQerrorMessage(get_db(run)));
    PQclear(result);
    return value;
}

static gint64
execute(const ItemsRun *run, const char *sql)
{
    return take_result(run, PQexec(get_db(run), sql));
}

static void
open_table(ItemsRun *run)
{
    g_autofree char *address = NULL;

    peers_begin(run->bench);
    address = g_strdup_printf("host=%s/run port=%d user=postgres dbname=postgres", peers_get_folder(), PORT);
    run->state = PQconnectdb(address);
    if (PQstatus(get_db(run)) != CONNECTION_OK)
        bench_skip(run->bench, "%s", g_strdelimit(PQerrorMessage(get_db(run)), "\t\n", ' '));
    (void) execute(run, "SET client_min_messages=warning");
    (void) execute(run, "DROP TABLE IF EXISTS " TABLE);
    (void) execute(run, "CREATE TABLE " TABLE "(id bigint PRIMARY KEY, size int NOT NULL, created bigint NOT NULL, content bytea)");
    (void) execute(run, "ALTER TABLE " TABLE " ALTER COLUMN content SET STORAGE EXTERNAL");
    (void) execute(run, run->relaxed ? "SET synchronous_commit=off" : "SET synchronous_commit=on");
    (void) take_result(run, PQprepare(get_db(run), "create", "INSERT INTO " TABLE " VALUES($1, $2, 0, $3)", 0, NULL));
    (void) take_result(run, PQprepare(get_db(run), "modify", "UPDATE " TABLE " SET size=$2, content=$3 WHERE id=$1", 0, NULL));
}

static void
close_table(ItemsRun *run)
{
    (void) execute(run, "DROP TABLE " TABLE);
    PQfinish(get_db(run));
}

/* The answer to the oldest job: what it did, the end of that, and the end of its transaction. */
static void
take_answer(ItemsRun *run)
{
    (void) take_result(run, PQgetResult(get_db(run)));
    PQclear(PQgetResult(get_db(run)));
    (void) take_result(run, PQgetResult(get_db(run)));
}

static void
send_job(ItemsRun *run, const char *statement, guint number)
{
    g_autofree char *id = g_strdup_printf("%u", number);
    g_autofree char *size = g_strdup_printf("%" G_GSIZE_FORMAT, run->size);
    const char *const values[] = { id, size, (const char *) run->content };
    const int lengths[] = { 0, 0, (int) run->size };
    const int are_binary[] = { 0, 0, 1 };

    if (!PQsendQueryPrepared(get_db(run), statement, G_N_ELEMENTS(values), values, lengths, are_binary, 0) ||
        !PQpipelineSync(get_db(run)))
        bench_fail(run->bench, "PostgreSQL: %s", PQerrorMessage(get_db(run)));
}

static void
run_jobs(ItemsRun *run, const char *statement, guint version)
{
    guint n_answered = 0;

    if (!PQenterPipelineMode(get_db(run)))
        bench_fail(run->bench, "PostgreSQL: %s", PQerrorMessage(get_db(run)));
    for (guint i = 0; i < run->n; i++) {
        if (i - n_answered == ITEMS_IN_FLIGHT) {
            take_answer(run);
            n_answered++;
        }
        items_fill(run, i, version);
        send_job(run, statement, i);
    }
    for (; n_answered < run->n; n_answered++)
        take_answer(run);
    (void) PQexitPipelineMode(get_db(run));
}

static void
postgresql_create(ItemsRun *run)
{
    run_jobs(run, "create", 1);
}

static void
postgresql_modify(ItemsRun *run)
{
    run_jobs(run, "modify", 2);
}

static void
postgresql_fetch(ItemsRun *run)
{
    PGresult *result;

    if (!PQsendQueryParams(get_db(run), "SELECT id, content FROM " TABLE, 0, NULL, NULL, NULL, NULL, 1) ||
        !PQsetSingleRowMode(get_db(run)))
        bench_fail(run->bench, "PostgreSQL: %s", PQerrorMessage(get_db(run)));
    while ((result = PQgetResult(get_db(run))) != NULL) {
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE)
            items_read(run, PQgetvalue(result, 0, 1), (gsize) PQgetlength(result, 0, 1));
        else if (PQresultStatus(result) != PGRES_TUPLES_OK)
            bench_fail(run->bench, "PostgreSQL: %s", PQerrorMessage(get_db(run)));
        PQclear(result);
    }
}

static void
postgresql_remove(ItemsRun *run)
{
    (void) execute(run, "DELETE FROM " TABLE);
}

static guint64
get_disk_bytes(ItemsRun *run)
{
    return (guint64) execute(run, "SELECT pg_total_relation_size('" TABLE "')");
}

static GPid
get_server(const ItemsRun *run)
{
    return PQbackendPID(get_db(run));
}

#else

#define get_disk_bytes NULL
#define get_server NULL

static void
open_table(ItemsRun *run)
{
    bench_skip(run->bench, "built without libpq");
}

#define close_table NULL
#define postgresql_create NULL
#define postgresql_modify NULL
#define postgresql_fetch NULL
#define postgresql_remove NULL

#endif

const ItemsWay items_postgresql = {
    open_table, postgresql_create, postgresql_modify, postgresql_fetch, postgresql_remove, get_disk_bytes, close_table, get_server,
};
