/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads of queryd by its library: ITEMS_IN_FLIGHT jobs under way, each its own transaction.
 */
#include <string.h>

#include "tests/bench/items.h"
#include "tests/bench/reference-database.h"
#include "tests/demo/store-control.h"

/* Larger ones go by descriptors; up to here they are parameters of a statement on one channel, and kept in rows. */
#define CHANNEL_BYTES 65536
/* A sweep of the whole folder takes its time, and then has a pause of ten times that. */
#define SWEEP_MSEC 10000
#define SQL QUERY_LANGUAGE_SQL

typedef struct Store {
    QueryConnection *connection;
    QueryConnection *reader; /* for fetching */
    GArray *ids;             /* of gint64 */
    gboolean is_under_way[ITEMS_IN_FLIGHT];
} Store;

static void
open_store(ItemsRun *run)
{
    Store *self = g_new0(Store, 1);
    g_autoptr(GError) error = NULL;

    run->state = self;
    self->connection = open_connection();
    query_connection_set_durability(self->connection, run->relaxed ? QUERY_DURABILITY_RELAXED : QUERY_DURABILITY_FULL);
    if (run->way == &items_queryd_direct)
        self->reader = query_connection_new_direct(NULL, NULL, &error);
    else
        self->reader = g_object_ref(self->connection);
    die_on_error(error, "direct connection");
    self->ids = g_array_new(FALSE, FALSE, sizeof(gint64));
    execute(self->connection, "DELETE FROM queryd_payload");
}

static void
close_store(ItemsRun *run)
{
    Store *self = run->state;

    g_object_unref(self->connection);
    g_object_unref(self->reader);
    g_array_unref(self->ids);
    g_free(self);
}

/* Jobs ------------------------------------------------------------------------------------------------------------------ */

static void
on_job_done(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;

    (void) query_statement_update_finish(QUERY_STATEMENT(object), result, &error);
    die_on_error(error, "job");
    *(gboolean *) user_data = FALSE;
}

static void
on_stored(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_store_payload_finish(QUERY_CONNECTION(object), result, &error);
    die_on_error(error, "job");
    *(gboolean *) user_data = FALSE;
}

static void
on_replaced(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_replace_payload_finish(QUERY_CONNECTION(object), result, &error);
    die_on_error(error, "job");
    *(gboolean *) user_data = FALSE;
}

static void
wait_for(const gboolean *is_under_way)
{
    while (*is_under_way)
        g_main_context_iteration(NULL, TRUE);
}

/* @text: parameter 1 is the content, 2 the id */
static void
run_jobs(ItemsRun *run, const char *text, guint version)
{
    Store *self = run->state;
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare_update(self->connection, SQL, text, NULL, &error);

    die_on_error(error, text);
    for (guint i = 0; i < run->n; i++) {
        g_autoptr(GBytes) content = NULL;
        gboolean *is_under_way = &self->is_under_way[i % ITEMS_IN_FLIGHT];

        wait_for(is_under_way); /* jobs end in any order, and that one reads the same memory */
        items_fill(run, i, version);
        content = g_bytes_new_static(run->content, run->size);
        *is_under_way = TRUE;
        if (run->size > CHANNEL_BYTES) {
            if (version == 1)
                query_connection_store_payload_async(self->connection, content, NULL, NULL, on_stored, is_under_way);
            else
                query_connection_replace_payload_async(self->connection, g_array_index(self->ids, gint64, i), content, NULL, NULL,
                                                       on_replaced, is_under_way);
            continue;
        }
        (void) query_statement_bind_bytes(statement, "1", content, &error);
        if (version > 1)
            (void) query_statement_bind_int64(statement, "2", g_array_index(self->ids, gint64, i), &error);
        die_on_error(error, "bind");
        query_statement_update_async(statement, NULL, on_job_done, is_under_way);
    }
    for (guint i = 0; i < ITEMS_IN_FLIGHT; i++)
        wait_for(&self->is_under_way[i]);
}

static void
read_ids(ItemsRun *run)
{
    Store *self = run->state;
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor)
        cursor = query_connection_query(self->connection, SQL, "SELECT id FROM queryd_payload ORDER BY id", NULL, NULL, &error);

    die_on_error(error, "ids");
    while (query_cursor_next(cursor, NULL, &error)) {
        gint64 id = query_cursor_get_int64(cursor, 0);

        g_array_append_val(self->ids, id);
    }
    die_on_error(error, "ids");
    if (self->ids->len != run->n)
        bench_fail(run->bench, "%u items instead of %u", self->ids->len, run->n);
}

static void
store_create(ItemsRun *run)
{
    run_jobs(run, "SELECT queryd_store_payload(?1)", 1);
}

static void
store_modify(ItemsRun *run)
{
    read_ids(run);
    run_jobs(run, "SELECT queryd_replace_payload(?2, ?1)", 2);
}

static void
store_fetch(ItemsRun *run)
{
    Store *self = run->state;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) contents = NULL;
    g_autoptr(GArray) absent = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(QueryCursor)
        cursor = query_connection_query(self->reader, SQL, "SELECT id, content FROM queryd_payload", NULL, NULL, &error);

    die_on_error(error, "fetch");
    while (query_cursor_next(cursor, NULL, &error)) {
        gsize n_bytes;
        const guint8 *content = query_cursor_get_data(cursor, 1, &n_bytes);
        gint64 id = query_cursor_get_int64(cursor, 0);

        if (content == NULL)
            g_array_append_val(absent, id);
        else
            items_read(run, content, n_bytes);
    }
    die_on_error(error, "fetch");
    contents = query_connection_load_payloads(self->reader, (const gint64 *) (void *) absent->data, absent->len, NULL, &error);
    die_on_error(error, "fetch");
    for (guint i = 0; i < contents->len; i++)
        items_read(run, g_bytes_get_data(contents->pdata[i], NULL), g_bytes_get_size(contents->pdata[i]));
}

static void
store_remove(ItemsRun *run)
{
    execute(((Store *) run->state)->connection, "DELETE FROM queryd_payload");
}

static guint
count_files(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;

    while (dir != NULL && g_dir_read_name(dir) != NULL)
        n++;
    return n;
}

/* What was replaced is deleted a moment later. */
static void
wait_for_sweep(ItemsRun *run, const char *files)
{
    guint n_expected = run->size > CHANNEL_BYTES ? run->n : 0;

    for (guint i = 0; count_files(files) > n_expected; i++) {
        if (i == SWEEP_MSEC)
            bench_fail(run->bench, "more than %u files after %d ms", n_expected, SWEEP_MSEC);
        g_usleep(1000);
    }
}

static guint64
get_disk_bytes(ItemsRun *run)
{
    g_autofree char *path = get_database_path();
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *files = g_build_filename(folder, "payload", NULL);
    sqlite3 *db = NULL;
    guint64 n_bytes;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        bench_fail(run->bench, "cannot open '%s'", path);
    (void) sqlite3_busy_timeout(db, REFERENCE_BUSY_MSEC);
    wait_for_sweep(run, files);
    n_bytes = items_get_folder_bytes(files) + items_get_table_bytes(run, db, "queryd_payload");
    (void) sqlite3_close(db);
    return n_bytes;
}

static GPid
get_server(const ItemsRun *run)
{
    return run->bench->daemon;
}

const ItemsWay items_queryd = {
    open_store, store_create, store_modify, store_fetch, store_remove, get_disk_bytes, close_store, get_server,
};
const ItemsWay items_queryd_direct = {
    open_store, store_create, store_modify, store_fetch, store_remove, get_disk_bytes, close_store, get_server,
};
