/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three sums in SQL, and SQLite's own measure of its memory. docs/sql.md says what the sizes are of.
 */
#include "daemon/sqlite/schema-size.h"

#define SIZE_OF(column) "coalesce(length(CAST(" column " AS BLOB)), 0)"
/* A row that SQLite looks at costs time, also an empty one. */
#define ROW_BYTES "64"

static const char text_size[] = "SELECT coalesce(sum(" SIZE_OF("sql") "), 0) FROM sqlite_schema";
static const char index_size[] = "SELECT coalesce(sum(n*n/4), 0) FROM (SELECT count(*) AS n FROM sqlite_schema WHERE type='index'"
                                 " GROUP BY tbl_name)";
static const struct {
    const char *table;
    const char *size;
} statistics[] = {
    { "sqlite_stat1", "SELECT coalesce(sum(" ROW_BYTES "+" SIZE_OF("tbl") "+" SIZE_OF("idx") "+" SIZE_OF("stat") "), 0) FROM"
                                                                                                                 " sqlite_stat1" },
    { "sqlite_stat4", "SELECT coalesce(sum(" ROW_BYTES
                      "+" SIZE_OF("neq") "+" SIZE_OF("nlt") "+" SIZE_OF("ndlt") "+" SIZE_OF("sample") "), 0) FROM sqlite_stat4" },
};

static gboolean
add(QdConnection *connection, const char *sql, uint64_t *size)
{
    gint64 n = 0;

    if (!qd_connection_get_int64(connection, sql, &n, NULL))
        return FALSE;
    *size += (uint64_t) n;
    return TRUE;
}

/* The statements have SQLite read the schema, if it has not. */
uint64_t
qd_schema_size_measure(QdConnection *connection)
{
    sqlite3 *db = qd_connection_get_db(connection);
    uint64_t size = 0;
    int memory = 0;
    int high;

    if (!add(connection, text_size, &size) || !add(connection, index_size, &size))
        return 0;
    for (guint i = 0; i < G_N_ELEMENTS(statistics); i++)
        if (sqlite3_table_column_metadata(db, "main", statistics[i].table, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK &&
            !add(connection, statistics[i].size, &size))
            return 0;
    (void) sqlite3_db_status(db, SQLITE_DBSTATUS_SCHEMA_USED, &memory, &high, 0);
    return size + (uint64_t) MAX(memory, 0);
}

gboolean
qd_schema_size_check(QdConnection *connection, const QdLimits *limits, GError **error)
{
    uint64_t size = qd_schema_size_measure(connection);

    if (size > 0 && size <= qd_limits_get(limits, QD_LIMIT_SCHEMA_BYTES))
        return TRUE;
    if (size == 0)
        qd_limit_set_error(error, limits, QD_LIMIT_HEAP_HARD_BYTES, "no memory to measure the schema: try again");
    else
        qd_limit_set_error(error, limits, QD_LIMIT_SCHEMA_BYTES,
                           "the schema would have %" G_GUINT64_FORMAT " bytes, which every connection would have to read: drop what"
                           " is not used, or put long lists and texts into a table",
                           size);
    return FALSE;
}
