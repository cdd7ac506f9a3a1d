/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_cursor_export_arrow_stream(): the rows of a cursor as Arrow's C stream.
 *
 * Place: part of QueryCursor; the values are made in room arrow.
 * Invariant: the first batch is read before the schema is given, which never changes from then on. What was given to the caller
 * owns itself: it lives without the stream and the cursor.
 */
#include <errno.h>

#include "client-lib/arrow/arrow-table.h"
#include "client-lib/core/query-error.h"
#include "client-lib/query-cursor-private.h"

G_STATIC_ASSERT(QUERY_ARROW_BATCH_BYTES == QW_ARROW_BATCH_BYTES);

typedef struct ArrowSource {
    QueryCursor *cursor;
    GCancellable *cancellable; /* (nullable) */
    QwArrowTable *table;
    guint64 n_rows_given;
    gboolean has_types; /* the first batch was read */
    gboolean is_ended;
    GError *failure;
} ArrowSource;

/* Schemas -------------------------------------------------------------------------------------------------------------- */

static void
release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
        g_free(schema->children[i]);
    }
    g_free(schema->children);
    g_free((char *) schema->name);
    g_free((char *) schema->metadata);
    schema->release = NULL;
}

/* @format: static. */
static void
init_schema(struct ArrowSchema *schema, const char *format, const char *name, size_t n_children)
{
    *schema = (struct ArrowSchema){ .format = format, .name = g_strdup(name), .n_children = (int64_t) n_children };
    schema->release = release_schema;
    schema->children = g_new0(struct ArrowSchema *, n_children + 1);
    for (size_t i = 0; i < n_children; i++)
        schema->children[i] = g_new0(struct ArrowSchema, 1);
}

static void
append_counted(GString *out, const char *text)
{
    gint32 n_bytes = (gint32) strlen(text);

    g_string_append_len(out, (const char *) &n_bytes, sizeof n_bytes);
    g_string_append(out, text);
}

/* The C data interface has key and value as counted strings, in the machine's byte order. */
static char *
extension_metadata(const char *name)
{
    GString *out = g_string_new(NULL);
    gint32 n_pairs = 2;

    g_string_append_len(out, (const char *) &n_pairs, sizeof n_pairs);
    append_counted(out, "ARROW:extension:name");
    append_counted(out, name);
    append_counted(out, "ARROW:extension:metadata");
    append_counted(out, "");
    return g_string_free(out, FALSE);
}

static void
init_column_schema(struct ArrowSchema *schema, QwArrowType type, const char *name)
{
    static const char *const formats[] = {
        [QW_ARROW_NONE] = "n", [QW_ARROW_INT64] = "l", [QW_ARROW_DOUBLE] = "g",
        [QW_ARROW_UTF8] = "u", [QW_ARROW_TERM] = "+s", [QW_ARROW_BINARY] = "z",
    };

    init_schema(schema, formats[type], name, type == QW_ARROW_TERM ? QW_ARROW_N_PARTS : 0);
    schema->flags = ARROW_FLAG_NULLABLE;
    if (type != QW_ARROW_TERM)
        return;
    schema->metadata = extension_metadata(qw_arrow_type_get_name(type));
    for (size_t i = 0; i < QW_ARROW_N_PARTS; i++)
        init_column_schema(schema->children[i], QW_ARROW_UTF8, qw_arrow_part_get_name((QwArrowPart) i));
}

/* Batches -------------------------------------------------------------------------------------------------------------- */

/* What an array of ours owns. */
typedef struct ArrowOwned {
    QwArrowColumn column;
    const void *buffers[3];
} ArrowOwned;

static void
release_array(struct ArrowArray *array)
{
    ArrowOwned *owned = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
        g_free(array->children[i]);
    }
    g_free(array->children);
    qw_arrow_column_clear(&owned->column);
    g_free(owned);
    array->release = NULL;
}

static ArrowOwned *
init_array(struct ArrowArray *array, size_t n_rows, size_t n_nulls, size_t n_buffers, size_t n_children)
{
    ArrowOwned *owned = g_new0(ArrowOwned, 1);

    *array = (struct ArrowArray){ .length = (int64_t) n_rows, .null_count = (int64_t) n_nulls };
    array->n_buffers = (int64_t) n_buffers;
    array->n_children = (int64_t) n_children;
    array->buffers = owned->buffers;
    array->children = g_new0(struct ArrowArray *, n_children + 1);
    array->release = release_array;
    array->private_data = owned;
    for (size_t i = 0; i < n_children; i++)
        array->children[i] = g_new0(struct ArrowArray, 1);
    return owned;
}

/* The rows of @column move to @array. */
static void
init_column_array(struct ArrowArray *array, QwArrowColumn *column)
{
    static const size_t n_buffers[] = {
        [QW_ARROW_NONE] = 0, [QW_ARROW_INT64] = 2, [QW_ARROW_DOUBLE] = 2,
        [QW_ARROW_UTF8] = 3, [QW_ARROW_TERM] = 1,  [QW_ARROW_BINARY] = 3,
    };
    size_t n_children = column->type == QW_ARROW_TERM ? QW_ARROW_N_PARTS : 0;
    ArrowOwned *owned = init_array(array, column->n_rows, column->n_nulls, n_buffers[column->type], n_children);

    qw_arrow_column_take(column, &owned->column);
    owned->buffers[0] = owned->column.n_nulls > 0 ? owned->column.validity : NULL;
    owned->buffers[1] = owned->column.values;
    owned->buffers[2] = owned->column.data;
    for (size_t i = 0; i < n_children; i++)
        init_column_array(array->children[i], &owned->column.parts[i]);
}

static void
give_batch(ArrowSource *self, struct ArrowArray *array)
{
    QwArrowTable *table = self->table;

    (void) init_array(array, table->n_rows, 0, 1, table->n_columns);
    for (size_t i = 0; i < table->n_columns; i++)
        init_column_array(array->children[i], &table->columns[i]);
    self->n_rows_given += table->n_rows;
    table->n_rows = table->n_bytes = 0;
}

/* Reading -------------------------------------------------------------------------------------------------------------- */

static void
set_problem(ArrowSource *self, const QwArrowProblem *problem)
{
    const char *name = self->cursor->schema->columns[problem->column].name;
    g_autofree char *text = qw_arrow_problem_describe(problem, self->table, name, self->n_rows_given);

    g_set_error_literal(&self->failure, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED, text);
}

/* Fills the table; `failure` is set when that fails. */
static void
read_batch(ArrowSource *self)
{
    QwArrowProblem problem;

    while (!self->is_ended && !qw_arrow_table_is_full(self->table)) {
        if (!query_cursor_next(self->cursor, self->cancellable, &self->failure)) {
            if (self->failure != NULL)
                return;
            self->is_ended = TRUE;
        } else if (!qw_arrow_table_append(self->table, &self->cursor->reader, &problem)) {
            set_problem(self, &problem);
            return;
        }
    }
    if (!qw_arrow_table_finish(self->table, &problem))
        set_problem(self, &problem);
    self->has_types = TRUE;
}

static int
errno_of_failure(const GError *failure)
{
    if (failure->domain != QUERY_ERROR)
        return g_error_matches(failure, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? ECANCELED : EIO;
    switch ((QueryError) failure->code) {
    case QUERY_ERROR_UNSUPPORTED:
        return EINVAL;
    case QUERY_ERROR_TIMEOUT:
        return ETIMEDOUT;
    case QUERY_ERROR_CANCELLED:
        return ECANCELED;
    case QUERY_ERROR_NO_MEMORY:
        return ENOMEM;
    case QUERY_ERROR_DISCONNECTED:
    case QUERY_ERROR_UNAVAILABLE:
        return ECONNRESET;
    default:
        return EIO;
    }
}

static int
read_first_batch(ArrowSource *self)
{
    if (self->failure == NULL && !self->has_types)
        read_batch(self);
    return self->failure != NULL ? errno_of_failure(self->failure) : 0;
}

/* The stream ----------------------------------------------------------------------------------------------------------- */

static int
get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    ArrowSource *self = stream->private_data;
    int r = read_first_batch(self);

    if (r != 0)
        return r;
    init_schema(out, "+s", "", self->table->n_columns);
    for (size_t i = 0; i < self->table->n_columns; i++)
        init_column_schema(out->children[i], self->table->columns[i].type, self->cursor->schema->columns[i].name);
    return 0;
}

static int
get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    ArrowSource *self = stream->private_data;
    int r = read_first_batch(self);

    if (r == 0 && self->table->n_rows == 0 && !self->is_ended) {
        read_batch(self);
        r = self->failure != NULL ? errno_of_failure(self->failure) : 0;
    }
    if (r != 0)
        return r;
    if (self->table->n_rows > 0)
        give_batch(self, out);
    else
        out->release = NULL;
    return 0;
}

static const char *
get_last_error(struct ArrowArrayStream *stream)
{
    ArrowSource *self = stream->private_data;

    return self->failure != NULL ? self->failure->message : NULL;
}

static void
release_stream(struct ArrowArrayStream *stream)
{
    ArrowSource *self = stream->private_data;

    query_cursor_close(self->cursor);
    g_object_unref(self->cursor);
    g_clear_object(&self->cancellable);
    qw_arrow_table_free(self->table);
    g_clear_error(&self->failure);
    g_free(self);
    stream->release = NULL;
}

void
query_cursor_export_arrow_stream(QueryCursor *self, QueryArrowForm form, GCancellable *cancellable, struct ArrowArrayStream *stream)
{
    ArrowSource *source;

    g_return_if_fail(QUERY_IS_CURSOR(self));
    g_return_if_fail(stream != NULL);

    source = g_new0(ArrowSource, 1);
    source->cursor = g_object_ref(self);
    source->cancellable = cancellable != NULL ? g_object_ref(cancellable) : NULL;
    source->table = qw_arrow_table_new(self->n_columns);
    for (guint i = 0; i < self->n_columns; i++)
        qw_arrow_column_init(&source->table->columns[i], self->schema->columns[i].type, form == QUERY_ARROW_TERMS);
    *stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release_stream, source };
}
