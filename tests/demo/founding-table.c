/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The direct way is the ordinary one with SQLite's defaults: sqlite3_column_text() and sqlite3_column_bytes() per value.
 */
#include "tests/demo/founding-table.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define LETTERS 20
#define BUSY_MSEC 5000

/* xorshift64*: the same table each time, without a library's state. */
static guint64
next_random(guint64 *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * G_GUINT64_CONSTANT(0x2545f4914f6cdd1d);
}

static void
put_letters(char *text, guint64 *state)
{
    for (guint i = 0; i < LETTERS; i += LETTERS / 2) {
        guint64 bits = next_random(state) >> 8;

        for (guint k = 0; k < LETTERS / 2; k++, bits /= 26)
            text[i + k] = (char) ('a' + bits % 26);
    }
}

/* The rows as CSV in an unlinked file; never in memory, which would count as the client's. */
static int
write_csv(guint n_rows)
{
    int fd = open(g_get_user_data_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    guint64 state = 88172645463325252u;
    char text[LETTERS + 1] = "";

    if (file == NULL) {
        perror("temporary file");
        exit(2);
    }
    for (guint row = 1; row <= n_rows; row++) {
        (void) fprintf(file, "%u", row);
        for (guint i = 0; i < FOUNDING_TEXTS; i++) {
            put_letters(text, &state);
            (void) fputc(',', file);
            (void) fwrite(text, 1, LETTERS, file);
        }
        (void) fputc('\n', file);
    }
    if (fclose(file) != 0) {
        perror("temporary file");
        exit(2);
    }
    (void) lseek(fd, 0, SEEK_SET);
    return fd;
}

double
founding_table_create(QueryConnection *connection, const char *table, guint n_rows)
{
    g_autoptr(GString) sql = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    int fd = write_csv(n_rows);
    GVariantDict options;
    double start_msec;

    g_string_printf(sql, "CREATE TABLE %s(id INTEGER PRIMARY KEY", table);
    for (guint i = 1; i <= FOUNDING_TEXTS; i++)
        g_string_append_printf(sql, ", t%u TEXT", i);
    g_string_append(sql, ")");

    g_variant_dict_init(&options, NULL);
    g_variant_dict_insert(&options, "table", "s", table);
    g_variant_dict_insert(&options, "header", "b", FALSE);
    start_msec = get_now_msec();
    execute(connection, sql->str);
    (void) query_connection_import(connection, fd, "csv", g_variant_dict_end(&options), NULL, NULL, NULL, NULL, &error);
    die_on_error(error, "import");
    (void) close(fd);
    return get_now_msec() - start_msec;
}

/* Readers ---------------------------------------------------------------------------------------------------------------- */

ReadResult
founding_table_read(QueryConnection *connection, const char *table, ReadStyle style)
{
    g_autofree char *sql = g_strdup_printf("SELECT * FROM %s", table);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    double return_msec;
    CellSink sink;

    cell_sink_init(&sink, style);
    cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, sql, NULL, NULL, &error);
    die_on_error(error, sql);
    return_msec = get_now_msec() - sink.start_msec;
    founding_table_drain(cursor, &sink);
    sink.result.first_row_after_msec = sink.result.first_row_msec - return_msec;
    return cell_sink_finish(&sink);
}

void
founding_table_drain(QueryCursor *cursor, CellSink *sink)
{
    g_autoptr(GError) error = NULL;

    while (query_cursor_next(cursor, NULL, &error)) {
        cell_sink_put_int64(sink, query_cursor_get_int64(cursor, 0));
        for (guint i = 1; i <= FOUNDING_TEXTS; i++) {
            gsize n_bytes;
            const char *text = query_cursor_get_string(cursor, i, &n_bytes);

            cell_sink_put(sink, text, n_bytes);
        }
        cell_sink_end_row(sink);
    }
    die_on_error(error, "reading the founding table");
}

static void
die_on_sqlite(int r, sqlite3 *db)
{
    if (r == SQLITE_OK || r == SQLITE_DONE)
        return;

    (void) fprintf(stderr, "direct read: %s\n", sqlite3_errmsg(db));
    exit(2);
}

ReadResult
founding_table_read_directly(const char *path, const char *table, ReadStyle style)
{
    g_autofree char *sql = g_strdup_printf("SELECT * FROM %s", table);
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    ReadResult result;
    CellSink sink;
    int r;

    cell_sink_init(&sink, style);
    die_on_sqlite(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), db);
    (void) sqlite3_busy_timeout(db, BUSY_MSEC); /* SQLite locks the file for a moment where a connection is closed */
    die_on_sqlite(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), db);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        cell_sink_put_int64(&sink, sqlite3_column_int64(stmt, 0));
        for (int i = 1; i <= FOUNDING_TEXTS; i++) {
            const unsigned char *text = sqlite3_column_text(stmt, i);

            cell_sink_put(&sink, text, (gsize) sqlite3_column_bytes(stmt, i));
        }
        cell_sink_end_row(&sink);
    }
    die_on_sqlite(r, db);
    (void) sqlite3_finalize(stmt);
    result = cell_sink_finish(&sink);
    (void) sqlite3_close(db);
    return result;
}
