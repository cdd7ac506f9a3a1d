/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows that have arrived are read at once; only for others the main loop is waited for.
 */
#include "client-lib/list/query-list-fetch.h"

typedef struct Fetch {
    QueryListResult result;
    QueryCursor *cursor; /* (nullable) */
    GCancellable *cancellable;
    guint n_extra;
    QueryListDone done;
    gpointer user_data;
} Fetch;

static void
finish(Fetch *self)
{
    if (self->result.error == NULL)
        self->result.generation = query_cursor_get_generation(self->cursor);
    self->done(&self->result, self->user_data);
    g_clear_pointer(&self->result.rows, g_ptr_array_unref);
    g_clear_error(&self->result.error);
    g_clear_object(&self->cursor);
    g_clear_object(&self->cancellable);
    g_free(self);
}

static void
keep_row(Fetch *self)
{
    g_ptr_array_add(self->result.rows, query_list_row_new(self->cursor, self->n_extra));
}

static void on_next(GObject *object, GAsyncResult *result, gpointer user_data);

static void
read_rows(Fetch *self)
{
    while (query_cursor_get_n_ready(self->cursor) > 0) {
        if (!query_cursor_next(self->cursor, NULL, &self->result.error)) {
            finish(self);
            return;
        }
        keep_row(self);
    }
    query_cursor_next_async(self->cursor, self->cancellable, on_next, self);
}

static void
on_next(GObject *object, GAsyncResult *result, gpointer user_data)
{
    Fetch *self = user_data;

    if (!query_cursor_next_finish(self->cursor, result, &self->result.error)) {
        finish(self);
        return;
    }
    keep_row(self);
    read_rows(self);
}

static void
on_query(GObject *object, GAsyncResult *result, gpointer user_data)
{
    Fetch *self = user_data;

    self->cursor = query_connection_query_finish(QUERY_CONNECTION(object), result, &self->result.error);
    if (self->cursor == NULL)
        finish(self);
    else
        read_rows(self);
}

void
query_list_fetch(QueryConnection *connection, QueryListStatement *statement, GCancellable *cancellable, QueryListDone done,
                 gpointer user_data)
{
    Fetch *self = g_new0(Fetch, 1);

    self->result.rows = g_ptr_array_new_with_free_func(query_list_row_unref);
    self->cancellable = g_object_ref(cancellable);
    self->n_extra = statement->n_extra;
    self->done = done;
    self->user_data = user_data;
    query_connection_query_async(connection, statement->language, statement->text, statement->parameters, cancellable, on_query,
                                 self);
    query_list_statement_clear(statement);
}
