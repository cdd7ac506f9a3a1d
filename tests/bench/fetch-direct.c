/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite in the reading process: as most programs use it, and what is nearer to its floor.
 *
 * Opening counts, but for the database in memory, which is filled before.
 */
#include <sqlite3.h>

#include "tests/bench/fetch.h"
#include "tests/bench/reference-database.h"

static sqlite3 *
open_database(FetchRun *run, const char *path, int flags)
{
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
        bench_fail(run->bench, "cannot open '%s': %s", path, db != NULL ? sqlite3_errmsg(db) : "no memory");
    (void) sqlite3_busy_timeout(db, REFERENCE_BUSY_MSEC);
    return db;
}

static sqlite3 *
copy_into_memory(FetchRun *run)
{
    sqlite3 *from = open_database(run, run->path, SQLITE_OPEN_READONLY);
    sqlite3 *to = open_database(run, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (backup == NULL || sqlite3_backup_step(backup, -1) != SQLITE_DONE)
        bench_fail(run->bench, "cannot copy the database: %s", sqlite3_errmsg(to));
    (void) sqlite3_backup_finish(backup);
    (void) sqlite3_close(from);
    return to;
}

void
fetch_direct_open(FetchRun *run)
{
    if (g_str_equal(run->reader->variant, "memory"))
        run->state = copy_into_memory(run);
}

static sqlite3 *
begin(FetchRun *run)
{
    int flags = SQLITE_OPEN_READONLY;

    if (run->state != NULL)
        return run->state;
    if (g_str_equal(run->reader->variant, "nomutex"))
        flags |= SQLITE_OPEN_NOMUTEX;
    return open_database(run, run->path, flags);
}

static sqlite3_stmt *
prepare(FetchRun *run, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        bench_fail(run->bench, "%s: %s", sql, sqlite3_errmsg(db));
    return stmt;
}

static void
end(FetchRun *run, sqlite3 *db, sqlite3_stmt *stmt, int r)
{
    if (r != SQLITE_DONE)
        bench_fail(run->bench, "%s", sqlite3_errmsg(db));
    (void) sqlite3_finalize(stmt);
    if (db != run->state)
        (void) sqlite3_close(db);
}

void
fetch_direct_read(FetchRun *run, const char *sql, CellSink *sink)
{
    sqlite3 *db = begin(run);
    sqlite3_stmt *stmt = prepare(run, db, sql);
    int r;

    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        cell_sink_put_int64(sink, sqlite3_column_int64(stmt, 0));
        for (int i = 1; i < FETCH_COLUMNS; i++) {
            const unsigned char *text = sqlite3_column_text(stmt, i);

            cell_sink_put(sink, text, (gsize) sqlite3_column_bytes(stmt, i));
        }
        cell_sink_end_row(sink);
    }
    end(run, db, stmt, r);
}

static void
pack(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    CellSink *sink = sqlite3_user_data(context);

    cell_sink_put_int64(sink, sqlite3_value_int64(values[0]));
    for (int i = 1; i < n_values; i++) {
        const unsigned char *text = sqlite3_value_text(values[i]);

        cell_sink_put(sink, text, (gsize) sqlite3_value_bytes(values[i]));
    }
    cell_sink_end_row(sink);
}

/* The row's values as arguments of a function: SQLite hands them over without the column functions. */
void
fetch_packed_read(FetchRun *run, const char *sql, CellSink *sink)
{
    g_autoptr(GString) names = g_string_new("c0");
    g_autofree char *wrapper = NULL;
    sqlite3 *db = begin(run);
    sqlite3_stmt *stmt;
    int r;

    for (guint i = 1; i < FETCH_COLUMNS; i++)
        g_string_append_printf(names, ", c%u", i);
    wrapper = g_strdup_printf("WITH q(%s) AS (%s) SELECT pack(%s) FROM q", names->str, sql, names->str);
    (void) sqlite3_create_function(db, "pack", -1, SQLITE_UTF8, sink, pack, NULL, NULL);
    stmt = prepare(run, db, wrapper);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
        ;
    end(run, db, stmt, r);
}

/* The floor of all that SQLite reads: rows without looking at a value. */
void
fetch_steps_read(FetchRun *run, const char *sql, CellSink *sink)
{
    sqlite3 *db = begin(run);
    sqlite3_stmt *stmt = prepare(run, db, sql);
    int r;

    while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
        cell_sink_end_row(sink);
    end(run, db, stmt, r);
}
