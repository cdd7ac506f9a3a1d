/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of a store that tallies read, in memory, for their tests.
 */
#pragma once

#include <string.h>

#include "daemon/tally/tally.h"

/* The caller closes it. */
static inline sqlite3 *
tally_store_open(guint64 cache_bytes, QdTallyTerms **ret_terms)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_true(qd_tally_register(db, cache_bytes, ret_terms, NULL));
    g_assert_cmpint(sqlite3_exec(db,
                                 "CREATE TABLE queryd_quad(s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, "
                                 "g INTEGER NOT NULL, PRIMARY KEY(s,p,o,g)) WITHOUT ROWID;"
                                 "CREATE INDEX queryd_quad_posg ON queryd_quad(p,o,s,g);"
                                 "CREATE TABLE queryd_graph(id INTEGER PRIMARY KEY, n_quads INTEGER);"
                                 "CREATE TABLE queryd_predicate(id INTEGER PRIMARY KEY, n_quads INTEGER, n_subjects INTEGER, "
                                 "n_objects INTEGER, tags INTEGER, stamp INTEGER)",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    return db;
}

/* As the writer does. */
static inline void
tally_store_change(sqlite3 *db, const char *sql)
{
    g_autofree char *whole = g_strconcat(
        sql,
        ";DELETE FROM queryd_predicate; INSERT INTO queryd_predicate SELECT p, count(*), count(DISTINCT s), count(DISTINCT o), -1, "
        "random() FROM queryd_quad GROUP BY p; DELETE FROM queryd_graph; INSERT INTO queryd_graph SELECT g, count(*) FROM "
        "queryd_quad "
        "WHERE g<>0 GROUP BY g",
        NULL);

    g_assert_cmpint(sqlite3_exec(db, whole, NULL, NULL, NULL), ==, SQLITE_OK);
}

/* The first column of the first row. */
static inline gint64
tally_store_get_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    gint64 number;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    number = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return number;
}

static inline int
tally_store_compare_rows(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full): the first column of all rows of @sql, whose parameter is @program, sorted as text. */
static inline char *
tally_store_read_rows(sqlite3 *db, const char *sql, const char *program)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
    sqlite3_stmt *stmt = NULL;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    (void) sqlite3_bind_text(stmt, 1, program, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        g_ptr_array_add(rows, g_strdup((const char *) sqlite3_column_text(stmt, 0)));
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    g_ptr_array_sort(rows, tally_store_compare_rows);
    g_ptr_array_add(rows, NULL);
    return g_strjoinv(" ", (char **) rows->pdata);
}
