/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Databases whose tables are scanned, and programs of scans, for their tests.
 */
#pragma once

#include "daemon/read/table-scan.h"
#include "daemon/sqlite/vfs/log-file.h"

#define SCAN_FUNCTION "pack_row"

static inline void
scan_fixture_pack_row(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    sqlite3_result_null(context);
}

/* The caller closes it. */
static inline sqlite3 *
scan_fixture_open(const char *path)
{
    g_autofree char *uri = g_strdup_printf("file:%s?" QD_LOG_FILE_MAP_BYTES "=1000000", path);
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                                    qd_log_file_get_vfs()),
                    ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_create_function(db, SCAN_FUNCTION, -1, SQLITE_UTF8, NULL, scan_fixture_pack_row, NULL, NULL), ==,
                    SQLITE_OK);
    (void) sqlite3_busy_timeout(db, 10000);
    return db;
}

static inline void
scan_fixture_execute(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    (void) sqlite3_exec(db, sql, NULL, NULL, &message);
    g_assert_cmpstr(message, ==, NULL);
}

/* (nullable): NULL where the schema is damaged */
static inline sqlite3_stmt *
scan_fixture_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    (void) sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    return stmt;
}

/* (nullable): NULL: it is no scan. @ret_wrapped: (nullable): the packed statement */
static inline QdScanProgram *
scan_fixture_read_program(sqlite3 *db, const char *sql, sqlite3_stmt **ret_wrapped)
{
    sqlite3_stmt *plain = scan_fixture_prepare(db, sql);
    int n = sqlite3_column_count(plain);
    g_autoptr(GString) columns = g_string_new("c0");
    g_autofree char *wrapped = NULL;
    g_autofree char *text = NULL;
    sqlite3_stmt *explain;
    QdScanProgram *program;

    for (int i = 1; i < n; i++)
        g_string_append_printf(columns, ",c%d", i);
    wrapped = g_strdup_printf("WITH r(%s) AS (%s) SELECT " SCAN_FUNCTION "(%s) FROM r", columns->str, sql, columns->str);
    text = g_strconcat("EXPLAIN ", wrapped, NULL);
    explain = scan_fixture_prepare(db, text);
    program = explain != NULL ? qd_scan_program_read(explain, SCAN_FUNCTION, (guint) n) : NULL;
    if (ret_wrapped != NULL)
        *ret_wrapped = scan_fixture_prepare(db, wrapped);
    (void) sqlite3_finalize(explain);
    (void) sqlite3_finalize(plain);
    return program;
}
