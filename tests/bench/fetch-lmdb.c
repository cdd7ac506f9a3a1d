/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A key-value store in the reading process: one record per row, its texts one after the other, read in the order of keys.
 *
 * It has no types, no columns and no language: the floor for each program that maps a file and copies from it. Built where LMDB
 * is there.
 */
#include "tests/bench/fetch.h"

#ifdef HAVE_LMDB

#include <glib/gstdio.h>
#include <lmdb.h>
#include <sqlite3.h>

#include "tests/bench/reference-database.h"

#define MAP_BYTES ((gsize) 4 << 30)

static void
check(FetchRun *run, int r)
{
    if (r != MDB_SUCCESS)
        bench_fail(run->bench, "LMDB: %s", mdb_strerror(r));
}

static MDB_env *
open_environment(FetchRun *run, guint flags)
{
    g_autofree char *path = g_strdup_printf("%s.lmdb", run->path);
    MDB_env *env = NULL;

    check(run, mdb_env_create(&env));
    check(run, mdb_env_set_mapsize(env, MAP_BYTES));
    check(run, mdb_env_open(env, path, MDB_NOSUBDIR | flags, 0600));
    return env;
}

static void
put_row(FetchRun *run, MDB_txn *txn, MDB_dbi dbi, sqlite3_stmt *stmt)
{
    gsize id = (gsize) sqlite3_column_int64(stmt, 0);
    g_autoptr(GByteArray) row = g_byte_array_new();
    MDB_val key = { sizeof id, &id };
    MDB_val value;

    for (int i = 1; i < FETCH_COLUMNS; i++) {
        guint32 n_bytes = (guint32) sqlite3_column_bytes(stmt, i);

        g_byte_array_append(row, (const guint8 *) &n_bytes, sizeof n_bytes);
        g_byte_array_append(row, sqlite3_column_text(stmt, i), n_bytes);
    }
    value = (MDB_val){ row->len, row->data };
    check(run, mdb_put(txn, dbi, &key, &value, MDB_APPEND));
}

static void
fill(FetchRun *run)
{
    MDB_env *env = open_environment(run, MDB_NOSYNC);
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    check(run, mdb_txn_begin(env, NULL, 0, &txn));
    check(run, mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi));
    if (sqlite3_open_v2(run->path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(db, REFERENCE_BUSY_MSEC) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT * FROM " BENCH_TABLE " ORDER BY id", -1, &stmt, NULL) != SQLITE_OK)
        bench_fail(run->bench, "%s", sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW)
        put_row(run, txn, dbi, stmt);
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    check(run, mdb_txn_commit(txn));
    mdb_env_close(env);
}

void
fetch_lmdb_open(FetchRun *run)
{
    g_autofree char *path = g_strdup_printf("%s.lmdb", run->path);

    if (g_access(path, F_OK) != 0)
        fill(run);
}

static void
copy_row(const MDB_val *key, const MDB_val *value, CellSink *sink)
{
    const guint8 *place = value->mv_data;
    gsize id;

    memcpy(&id, key->mv_data, sizeof id);
    cell_sink_put_int64(sink, (gint64) id);
    for (guint i = 1; i < FETCH_COLUMNS; i++) {
        guint32 n_bytes;

        memcpy(&n_bytes, place, sizeof n_bytes);
        cell_sink_put(sink, place + sizeof n_bytes, n_bytes);
        place += sizeof n_bytes + n_bytes;
    }
    cell_sink_end_row(sink);
}

void
fetch_lmdb_read(FetchRun *run, const char *sql, CellSink *sink)
{
    MDB_env *env = open_environment(run, MDB_RDONLY);
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    MDB_dbi dbi = 0;
    MDB_val key;
    MDB_val value;

    check(run, mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    check(run, mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi));
    check(run, mdb_cursor_open(txn, dbi, &cursor));
    while (sink->result.n_rows < run->n_rows && mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS)
        copy_row(&key, &value, sink);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
}

#else

void
fetch_lmdb_open(FetchRun *run)
{
    bench_skip(run->bench, "built without LMDB");
}

void
fetch_lmdb_read(FetchRun *run, const char *sql, CellSink *sink)
{
    g_assert_not_reached();
}

#endif
