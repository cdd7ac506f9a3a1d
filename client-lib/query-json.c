/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_cursor_read_json(): many rows in one call, for languages where per-value calls are expensive.
 *
 * Place: part of QueryCursor. An array of objects, keys are the column names in order. INTEGER and FLOAT are numbers
 * (infinities ±9e999, as SQLite writes them), TEXT and RDF terms strings, BLOB a string of base64, NULL null.
 * Invariant: the text is valid JSON in valid UTF-8, regardless of the values.
 */
#include <math.h>
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/text/text-utf8.h"
#include "client-lib/text/text-value.h"

typedef struct JsonBuilder {
    GString *text;
    char **keys; /* of n_columns: `"name":`, escaped once */
    guint n_columns;
    guint64 max_rows; /* 0: no limit */
    guint64 n_rows;
} JsonBuilder;

static void
append_string(GString *text, const char *data, gsize n_bytes)
{
    g_autoptr(GString) valid = NULL;

    if (G_LIKELY(qw_text_span_utf8(data, n_bytes) == n_bytes)) {
        qw_text_put_json_text(text, data, n_bytes);
        return;
    }

    valid = g_string_new(NULL);
    (void) qw_text_append_lossy(valid, data, n_bytes);
    qw_text_put_json_text(text, valid->str, valid->len);
}

static void
append_value(GString *text, const QwValue *value)
{
    g_autofree char *base64 = NULL;

    switch (value->type) {
    case QW_TYPE_NULL:
    case QW_TYPE_INTEGER:
        qw_text_put_json(text, value);
        break;
    case QW_TYPE_FLOAT:
        qw_text_put_json(text, isnan(value->real) ? &(QwValue){ .type = QW_TYPE_NULL } : value);
        break;
    case QW_TYPE_BLOB:
        base64 = g_base64_encode((const guchar *) value->data, value->n_bytes);
        qw_text_put_json_text(text, base64, strlen(base64));
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        append_string(text, value->data, value->n_bytes);
        break;
    }
}

static JsonBuilder *
builder_new(QueryCursor *cursor, guint64 max_rows)
{
    JsonBuilder *self = g_new0(JsonBuilder, 1);

    self->text = g_string_new("[");
    self->n_columns = cursor->n_columns;
    self->max_rows = max_rows;
    self->keys = g_new0(char *, self->n_columns + 1);
    for (guint i = 0; i < self->n_columns; i++) {
        const char *name = cursor->schema->columns[i].name;
        g_autoptr(GString) key = g_string_new(i > 0 ? "," : NULL);

        append_string(key, name, strlen(name));
        g_string_append_c(key, ':');
        self->keys[i] = g_string_free(g_steal_pointer(&key), FALSE);
    }
    return self;
}

static void
builder_free(gpointer data)
{
    JsonBuilder *self = data;

    if (self == NULL)
        return;

    if (self->text != NULL)
        g_string_free(self->text, TRUE);
    g_strfreev(self->keys);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonBuilder, builder_free)

static void
builder_append_row(JsonBuilder *self, QueryCursor *cursor)
{
    g_string_append(self->text, self->n_rows > 0 ? ",\n{" : "{");
    for (guint i = 0; i < self->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(&cursor->reader, i, &value);
        g_string_append(self->text, self->keys[i]);
        append_value(self->text, &value);
    }
    g_string_append_c(self->text, '}');
    self->n_rows++;
}

/* NULL when there was no row, but for the first call on a result without rows. */
static GBytes *
builder_finish(JsonBuilder *self, QueryCursor *cursor)
{
    gboolean is_first = !cursor->was_read_as_json && query_cursor_get_n_rows(cursor) == 0;

    cursor->was_read_as_json = TRUE;
    if (self->n_rows == 0 && !is_first)
        return NULL;

    g_string_append(self->text, "]\n");
    return g_string_free_to_bytes(g_steal_pointer(&self->text));
}

static gboolean
builder_is_full(const JsonBuilder *self)
{
    return self->max_rows > 0 && self->n_rows == self->max_rows;
}

GBytes *
query_cursor_read_json(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GError **error)
{
    g_autoptr(JsonBuilder) builder = NULL;
    g_autoptr(GError) local_error = NULL;

    g_return_val_if_fail(QUERY_IS_CURSOR(self), NULL);

    builder = builder_new(self, max_rows);
    while (!builder_is_full(builder) && query_cursor_next(self, cancellable, &local_error))
        builder_append_row(builder, self);
    if (local_error != NULL) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
    }

    return builder_finish(builder, self);
}

static gboolean
step_read(GTask *task, QueryCursor *self)
{
    JsonBuilder *builder = g_task_get_task_data(task);
    GError *error = NULL;
    gboolean has_row = TRUE;

    while (has_row && !builder_is_full(builder)) {
        QueryIo io = query_cursor_step(self, &has_row, &error);

        if (io == QUERY_IO_WANT_READ)
            return FALSE;
        if (io == QUERY_IO_FAILED) {
            g_task_return_error(task, error);
            return TRUE;
        }
        if (has_row)
            builder_append_row(builder, self);
    }

    g_task_return_pointer(task, builder_finish(builder, self), (GDestroyNotify) g_bytes_unref);
    return TRUE;
}

void
query_cursor_read_json_async(QueryCursor *self, guint64 max_rows, GCancellable *cancellable, GAsyncReadyCallback callback,
                             gpointer user_data)
{
    g_autoptr(GTask) task = NULL;

    g_return_if_fail(QUERY_IS_CURSOR(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_cursor_read_json_async);
    g_task_set_task_data(task, builder_new(self, max_rows), builder_free);
    query_cursor_run_async(self, task, step_read);
}

GBytes *
query_cursor_read_json_finish(QueryCursor *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}
