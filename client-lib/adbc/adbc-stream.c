/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that the driver gives: of a cursor, and of one batch that is there already.
 */
#include <errno.h>

#include "client-lib/adbc/adbc-build.h"
#include "client-lib/adbc/adbc-driver.h"

/* Of a cursor ----------------------------------------------------------------------------------------------------------- */

typedef struct Result {
    QadConnection *connection;
    QueryCursor *cursor;
    struct ArrowArrayStream inner;
    struct AdbcError error; /* of the call that failed */
    AdbcStatusCode status;
} Result;

/* EINVAL: the stream's own judgement of a value, not the cursor's. */
static GError *
find_failure(Result *self, int r)
{
    GError *failure = NULL;

    if (r != EINVAL)
        (void) query_cursor_next(self->cursor, NULL, &failure);
    if (failure == NULL)
        (void) qad_set_error(&failure, ADBC_STATUS_INVALID_DATA, "%s", self->inner.get_last_error(&self->inner));
    return failure;
}

static void
keep_error(Result *self, int r)
{
    if (self->error.release != NULL)
        return;
    self->error.vendor_code = ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
    self->status = qad_report(&self->error, find_failure(self, r));
}

static int
result_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    Result *self = stream->private_data;
    int r;

    g_rec_mutex_lock(&self->connection->mutex);
    r = self->inner.get_schema(&self->inner, out);
    if (r != 0)
        keep_error(self, r);
    g_rec_mutex_unlock(&self->connection->mutex);
    return r;
}

static int
result_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    Result *self = stream->private_data;
    int r;

    g_rec_mutex_lock(&self->connection->mutex);
    r = self->inner.get_next(&self->inner, out);
    if (r != 0)
        keep_error(self, r);
    g_rec_mutex_unlock(&self->connection->mutex);
    return r;
}

static const char *
result_get_last_error(struct ArrowArrayStream *stream)
{
    Result *self = stream->private_data;

    return self->error.message;
}

static void
result_release(struct ArrowArrayStream *stream)
{
    Result *self = stream->private_data;

    g_rec_mutex_lock(&self->connection->mutex);
    self->inner.release(&self->inner);
    g_object_unref(self->cursor);
    g_rec_mutex_unlock(&self->connection->mutex);
    if (self->error.release != NULL)
        self->error.release(&self->error);
    qad_connection_unref(self->connection);
    g_free(self);
    stream->release = NULL;
}

gboolean
qad_stream_init(struct ArrowArrayStream *stream, QadConnection *connection, QueryCursor *cursor, QueryArrowForm form,
                GCancellable *cancellable, struct ArrowSchema *ret_schema, GError **error)
{
    Result *self = g_new0(Result, 1);
    struct ArrowSchema schema;
    int r;

    self->connection = qad_connection_ref(connection);
    self->cursor = cursor;
    query_cursor_export_arrow_stream(cursor, form, cancellable, &self->inner);
    *stream = (struct ArrowArrayStream){ result_get_schema, result_get_next, result_get_last_error, result_release, self };
    r = self->inner.get_schema(&self->inner, ret_schema != NULL ? ret_schema : &schema);
    if (r != 0) {
        g_propagate_error(error, find_failure(self, r));
        stream->release(stream);
        return FALSE;
    }
    if (ret_schema == NULL)
        schema.release(&schema);
    return TRUE;
}

const struct AdbcError *
qad_stream_get_error(struct ArrowArrayStream *stream, AdbcStatusCode *status)
{
    Result *self = stream->private_data;

    if (stream->get_schema != result_get_schema || self->error.release == NULL)
        return NULL;
    if (status != NULL)
        *status = self->status;
    return &self->error;
}

/* Of one batch ---------------------------------------------------------------------------------------------------------- */

typedef struct Once {
    struct ArrowSchema schema;
    struct ArrowArray batch;
} Once;

static int
once_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    Once *self = stream->private_data;

    qad_schema_copy(&self->schema, out);
    return 0;
}

static int
once_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    Once *self = stream->private_data;

    *out = self->batch;
    self->batch.release = NULL;
    return 0;
}

static const char *
once_get_last_error(struct ArrowArrayStream *stream)
{
    return NULL;
}

static void
once_release(struct ArrowArrayStream *stream)
{
    Once *self = stream->private_data;

    self->schema.release(&self->schema);
    if (self->batch.release != NULL)
        self->batch.release(&self->batch);
    g_free(self);
    stream->release = NULL;
}

void
qad_stream_init_once(struct ArrowArrayStream *stream, struct ArrowSchema *schema, struct ArrowArray *batch)
{
    Once *self = g_new0(Once, 1);

    self->schema = *schema;
    schema->release = NULL;
    if (batch != NULL) {
        self->batch = *batch;
        batch->release = NULL;
    }
    *stream = (struct ArrowArrayStream){ once_get_schema, once_get_next, once_get_last_error, once_release, self };
}
