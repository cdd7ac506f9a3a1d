/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MariaDB: contents as LONGBLOB in rows of InnoDB, one job after the other, each its own transaction. Its client library waits
 * for the answer to each prepared statement.
 *
 * Built where libmariadb is there. Durability is a setting of the whole server, which is asked back at the end.
 */
#include "tests/bench/items.h"
#include "tests/bench/machine.h"
#include "tests/bench/peers.h"

#ifdef HAVE_LIBMARIADB

#include <mysql.h>
#include <stdlib.h>
#include <string.h>

#define DATABASE "queryd_bench"

typedef struct Server {
    MYSQL *db;
    MYSQL_STMT *insert;
    MYSQL_STMT *update;
} Server;

static MYSQL *
get_db(const ItemsRun *run)
{
    return ((Server *) run->state)->db;
}

static void
execute(const ItemsRun *run, const char *sql)
{
    if (mysql_query(get_db(run), sql) != 0)
        bench_fail(run->bench, "MariaDB: %s: %s", sql, mysql_error(get_db(run)));
}

static MYSQL_STMT *
prepare(const ItemsRun *run, const char *sql)
{
    MYSQL_STMT *stmt = mysql_stmt_init(get_db(run));

    if (mysql_stmt_prepare(stmt, sql, strlen(sql)) != 0)
        bench_fail(run->bench, "MariaDB: %s: %s", sql, mysql_stmt_error(stmt));
    return stmt;
}

static void
open_table(ItemsRun *run)
{
    Server *self;
    g_autofree char *address = NULL;

    peers_begin(run->bench);
    self = g_new0(Server, 1);
    address = g_strdup_printf("%s/run/my.sock", peers_get_folder());
    run->state = self;
    self->db = mysql_init(NULL);
    if (mysql_real_connect(self->db, NULL, "root", "", NULL, 0, address, 0) == NULL)
        bench_skip(run->bench, "%s", mysql_error(self->db));
    execute(run, "CREATE DATABASE IF NOT EXISTS " DATABASE);
    execute(run, "USE " DATABASE);
    execute(run, "DROP TABLE IF EXISTS item");
    execute(run,
            "CREATE TABLE item(id BIGINT PRIMARY KEY, size INT NOT NULL, created BIGINT NOT NULL, content LONGBLOB) ENGINE=InnoDB");
    execute(run, run->relaxed ? "SET GLOBAL innodb_flush_log_at_trx_commit=2" : "SET GLOBAL innodb_flush_log_at_trx_commit=1");
    self->insert = prepare(run, "INSERT INTO item(size, content, created, id) VALUES(?, ?, 0, ?)");
    self->update = prepare(run, "UPDATE item SET size=?, content=? WHERE id=?");
}

static void
close_table(ItemsRun *run)
{
    Server *self = run->state;

    (void) mysql_stmt_close(self->insert);
    (void) mysql_stmt_close(self->update);
    execute(run, "SET GLOBAL innodb_flush_log_at_trx_commit=1");
    execute(run, "DROP DATABASE " DATABASE);
    mysql_close(self->db);
    g_free(self);
}

static void
run_jobs(ItemsRun *run, MYSQL_STMT *stmt, guint version)
{
    unsigned long n_bytes = run->size;
    long long size = (long long) run->size;
    long long id = 0;
    MYSQL_BIND values[] = {
        { .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &size },
        { .buffer_type = MYSQL_TYPE_LONG_BLOB, .buffer_length = n_bytes, .length = &n_bytes },
        { .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &id },
    };

    for (guint i = 0; i < run->n; i++) {
        items_fill(run, i, version);
        values[1].buffer = run->content;
        id = i;
        if (mysql_stmt_bind_param(stmt, values) != 0 || mysql_stmt_execute(stmt) != 0)
            bench_fail(run->bench, "MariaDB: %s", mysql_stmt_error(stmt));
    }
}

static void
mariadb_create(ItemsRun *run)
{
    run_jobs(run, ((Server *) run->state)->insert, 1);
}

static void
mariadb_modify(ItemsRun *run)
{
    run_jobs(run, ((Server *) run->state)->update, 2);
}

static void
mariadb_fetch(ItemsRun *run)
{
    MYSQL_RES *result;
    MYSQL_ROW row;

    execute(run, "SELECT id, content FROM item");
    result = mysql_use_result(get_db(run));
    while (result != NULL && (row = mysql_fetch_row(result)) != NULL)
        items_read(run, row[1], mysql_fetch_lengths(result)[1]);
    if (mysql_errno(get_db(run)) != 0)
        bench_fail(run->bench, "MariaDB: %s", mysql_error(get_db(run)));
    mysql_free_result(result);
}

static void
mariadb_remove(ItemsRun *run)
{
    execute(run, "DELETE FROM item");
}

static guint64
get_disk_bytes(ItemsRun *run)
{
    MYSQL_RES *result;
    MYSQL_ROW row;
    guint64 n_bytes;

    execute(run, "SELECT allocated_size FROM information_schema.innodb_sys_tablespaces WHERE name='" DATABASE "/item'");
    result = mysql_store_result(get_db(run));
    row = result != NULL ? mysql_fetch_row(result) : NULL;
    if (row == NULL || row[0] == NULL)
        bench_fail(run->bench, "MariaDB does not know the size of its table");
    n_bytes = g_ascii_strtoull(row[0], NULL, 10);
    mysql_free_result(result);
    return n_bytes;
}

static GPid
get_server(const ItemsRun *run)
{
    return peers_get_server("my.pid");
}

#else

#define get_disk_bytes NULL
#define get_server NULL

static void
open_table(ItemsRun *run)
{
    bench_skip(run->bench, "built without libmariadb");
}

#define close_table NULL
#define mariadb_create NULL
#define mariadb_modify NULL
#define mariadb_fetch NULL
#define mariadb_remove NULL

#endif

const ItemsWay items_mariadb = {
    open_table, mariadb_create, mariadb_modify, mariadb_fetch, mariadb_remove, get_disk_bytes, close_table, get_server,
};
