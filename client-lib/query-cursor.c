/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryCursor: moves over the rows of a result, page by page.
 *
 * Place: public object; the getters are in query-cursor-value.c.
 * Invariant: the channel leaves the cursor at END or ERROR (idle again) or is closed. A result is whole only when END said so
 * and counted as many rows as came.
 */
#include "client-lib/query-cursor-private.h"

#include "client-lib/channel/query-whole.h"
#include "client-lib/core/query-error.h"
#include "client-lib/direct/query-direct.h"
#include "client-lib/query-connection-private.h"

/* How many records close() reads at most to find the END that may already be there. */
#define CLOSE_MAX_RECORDS 4u

enum { PROP_CONNECTION = 1, PROP_N_COLUMNS, PROP_N_ROWS, PROP_GENERATION, N_PROPS };

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE(QueryCursor, query_cursor, G_TYPE_OBJECT)

static void
query_cursor_finalize(GObject *object)
{
    QueryCursor *self = QUERY_CURSOR(object);

    query_cursor_close(self);
    g_free(self->number_texts);
    g_clear_pointer(&self->schema, query_schema_unref);
    g_clear_error(&self->failure);
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_cursor_parent_class)->finalize(object);
}

static void
query_cursor_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryCursor *self = QUERY_CURSOR(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_N_COLUMNS)
        g_value_set_uint(value, query_cursor_get_n_columns(self));
    else if (id == PROP_N_ROWS)
        g_value_set_uint64(value, query_cursor_get_n_rows(self));
    else if (id == PROP_GENERATION)
        g_value_set_uint64(value, query_cursor_get_generation(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_cursor_class_init(QueryCursorClass *klass)
{
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
    GObjectClass *object_class = G_OBJECT_CLASS(klass);

    object_class->finalize = query_cursor_finalize;
    object_class->get_property = query_cursor_get_property;

    /**
     * QueryCursor:connection:
     *
     * The connection that it belongs to.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION, flags);
    /**
     * QueryCursor:n-columns:
     *
     * The number of columns.
     */
    properties[PROP_N_COLUMNS] = g_param_spec_uint("n-columns", NULL, NULL, 0, G_MAXUINT, 0, flags);
    /**
     * QueryCursor:n-rows:
     *
     * The number of rows of the whole result, 0 before its end. It does not notify: query_cursor_next() says when the end is
     * reached.
     */
    properties[PROP_N_ROWS] = g_param_spec_uint64("n-rows", NULL, NULL, 0, G_MAXUINT64, 0, flags);
    /**
     * QueryCursor:generation:
     *
     * The generation of the database that was read, 0 before the end of the result. It does not notify.
     */
    properties[PROP_GENERATION] = g_param_spec_uint64("generation", NULL, NULL, 0, G_MAXUINT64, 0, flags);
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_cursor_init(QueryCursor *self)
{
    self->state = QUERY_CURSOR_CLOSED; /* one that query_cursor_new() has not made */
    query_held_init(&self->held, self, query_cursor_set_aside);
}

QueryCursor *
query_cursor_new(QueryConnection *connection, QueryRequest *request, const QueryCursorOpener *opener)
{
    QueryCursor *self = g_object_new(QUERY_TYPE_CURSOR, NULL);

    self->state = QUERY_CURSOR_OPEN;
    self->connection = g_object_ref(connection);
    if (opener != NULL) {
        self->opener = *opener;
        (void) g_object_ref(opener->object);
    }
    self->serial = query_request_get_serial(request);
    self->schema = query_schema_ref(query_request_get_schema(request));
    self->n_columns = self->schema->n_columns;
    self->channel = query_request_steal_channel(request);
    self->direct = query_request_steal_direct_run(request);
    if (self->channel != NULL ? !query_request_is_bound(request) : self->direct != NULL && query_direct_run_is_open(self->direct))
        query_held_add(&self->held); /* from here on other threads may set it aside */
    return self;
}

/* The end of a result ---------------------------------------------------------------------------------------------------- */

/* @channel: (transfer full) (nullable): idle. */
static void
give_channel_back(QueryCursor *self, QueryChannel *channel)
{
    g_autoptr(GObject) opener = g_steal_pointer(&self->opener.object);

    query_held_remove(&self->held);
    if (opener != NULL)
        self->opener.take_back(opener, self, channel);
    else if (channel != NULL)
        query_pool_give(query_connection_get_pool(self->connection), channel);
}

/* The page that was the current one, when it is not in the channel any more. */
static void
drop_kept_page(QueryCursor *self)
{
    for (guint i = 0; i < G_N_ELEMENTS(self->kept); i++)
        g_clear_pointer(&self->kept[i], g_free);
    g_clear_pointer(&self->kept_whole, query_whole_unref);
    self->page_in_source = FALSE;
}

static void
leave_rows(QueryCursor *self, QueryCursorState state)
{
    self->n_valid_columns = 0;
    self->reader = (QwPageReader){ 0 };
    self->state = state;
    drop_kept_page(self);
    g_clear_pointer(&self->backlog, query_backlog_free);
    if (self->direct != NULL)
        query_direct_run_cancel(self->direct); /* a thread may be at work */
    g_clear_pointer(&self->direct, query_direct_run_unref);
}

static QueryIo
end_with_failure(QueryCursor *self, gboolean channel_is_idle, GError *failure, GError **error)
{
    leave_rows(self, QUERY_CURSOR_FAILED);
    if (!channel_is_idle)
        g_clear_pointer(&self->channel, query_channel_free);
    give_channel_back(self, g_steal_pointer(&self->channel));

    self->failure = failure;
    if (error != NULL)
        *error = g_error_copy(failure);
    return QUERY_IO_FAILED;
}

static QueryIo
end_with_protocol_error(QueryCursor *self, const char *what, GError **error)
{
    return end_with_failure(self, FALSE, g_error_new(QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent %s", what), error);
}

void
query_cursor_fail(QueryCursor *self, GError *failure, GError **error)
{
    if (self->state == QUERY_CURSOR_OPEN)
        (void) end_with_failure(self, FALSE, failure, error);
    else
        g_propagate_error(error, failure);
}

gboolean
query_cursor_send_cancel(QueryCursor *self)
{
    g_autoptr(GBytes) nothing = g_bytes_new_static("", 0);
    gboolean never_received = FALSE;
    QueryIo io;

    (void) query_channel_queue(self->channel, QW_KIND_CANCEL, self->serial, nothing);
    while ((io = query_channel_flush(self->channel, &never_received, NULL)) == QUERY_IO_WANT_WRITE)
        if (!query_channel_wait(self->channel, io, NULL, NULL))
            return FALSE;
    return io != QUERY_IO_FAILED;
}

/*
 * To close the channel would end the transaction: the rest of the result is read, of which there is little after a CANCEL. That
 * would undo an update: the rows of its RETURNING are read whole.
 */
static void
end_in_transaction(QueryCursor *self)
{
    gboolean has_row;
    QueryIo io = QUERY_IO_DONE;

    query_channel_set_patience(self->channel, QUERY_CHANNEL_END_USEC);
    if (!self->opener.is_update && !query_cursor_send_cancel(self))
        return;
    while (io != QUERY_IO_FAILED && self->state == QUERY_CURSOR_OPEN) {
        self->reader.n_rows_left = 0;
        io = query_cursor_step(self, &has_row, NULL);
        if (io == QUERY_IO_WANT_READ && !query_channel_wait(self->channel, io, NULL, NULL))
            return;
    }
}

/* Of a whole result in shared memory the END is there already. */
static void
end_whole(QueryCursor *self)
{
    QueryRecord record;

    if (query_channel_drop_whole(self->channel) && query_channel_receive(self->channel, &record, NULL) == QUERY_IO_DONE &&
        record.kind == QW_KIND_END)
        give_channel_back(self, g_steal_pointer(&self->channel));
}

void
query_cursor_close(QueryCursor *self)
{
    g_return_if_fail(QUERY_IS_CURSOR(self));

    query_held_pin(&self->held);
    if (self->opener.is_transaction && self->state == QUERY_CURSOR_OPEN)
        end_in_transaction(self);
    g_clear_pointer(&self->backlog, query_backlog_free);
    if (self->state == QUERY_CURSOR_OPEN && self->channel != NULL)
        end_whole(self);
    for (guint i = 0; self->state == QUERY_CURSOR_OPEN && self->channel != NULL && i < CLOSE_MAX_RECORDS; i++) {
        gboolean has_row;

        self->reader.n_rows_left = 0;
        if (query_cursor_step(self, &has_row, NULL) != QUERY_IO_DONE)
            break;
    }
    g_clear_pointer(&self->channel, query_channel_free);
    give_channel_back(self, NULL);
    leave_rows(self, QUERY_CURSOR_CLOSED);
    query_held_unpin(&self->held);
}

int
query_cursor_steal_fd(QueryCursor *self)
{
    int fd;

    g_return_val_if_fail(QUERY_IS_CURSOR(self), -1);

    if (self->state != QUERY_CURSOR_OPEN || self->n_rows_received > 0 || self->opener.is_transaction)
        return -1;
    query_held_pin(&self->held);
    fd = self->channel != NULL && self->backlog == NULL ? query_channel_steal_fd(self->channel) : -1;
    if (fd >= 0)
        query_cursor_close(self);
    query_held_unpin(&self->held);

    return fd;
}

/* Rows ----------------------------------------------------------------------------------------------------------------- */

static QueryIo
take_record(QueryCursor *self, const QueryRecord *record, GError **error)
{
    GError *failure = NULL;
    QwErrorBody body;

    if (record->serial != self->serial)
        return end_with_protocol_error(self, "a record of another request", error);

    switch (record->kind) {
    case QW_KIND_ROWS:
        if (qw_page_reader_init(&self->reader, record->body, record->n_bytes, record->count, self->n_columns) < 0)
            return end_with_protocol_error(self, "a page that is not valid", error);
        self->reader.n_bytes_ahead = record->n_bytes_ahead;
        self->n_rows_received += record->count;
        return QUERY_IO_DONE;
    case QW_KIND_END:
        if (qw_end_decode(record->body, record->n_bytes, &self->end) < 0 || self->end.n_rows != self->n_rows_received)
            return end_with_protocol_error(self, "an END that does not fit its result", error);
        leave_rows(self, QUERY_CURSOR_ENDED);
        give_channel_back(self, g_steal_pointer(&self->channel));
        return QUERY_IO_DONE;
    case QW_KIND_ERROR:
        if (qw_error_decode(record->body, record->n_bytes, &body) < 0)
            return end_with_protocol_error(self, "an ERROR that cannot be read", error);
        query_error_set_from_wire(&failure, &body);
        return end_with_failure(self, TRUE, failure, error);
    case QW_KIND_SCHEMA:
    case QW_KIND_CHUNK:
    case QW_KIND_PREPARE:
    case QW_KIND_FETCH:
    case QW_KIND_CANCEL:
    case QW_KIND_BEGIN:
    case QW_KIND_COMMIT:
    case QW_KIND_ROLLBACK:
    case QW_KIND_BATCH:
    case QW_KIND_RING:
    case QW_KIND_PAGE:
    case QW_KIND_WHOLE:
        break;
    }
    return end_with_protocol_error(self, "a record out of turn", error);
}

static QueryIo
receive(QueryCursor *self, GError **error)
{
    GError *failure = NULL;
    QueryRecord record;
    QueryIo io = query_channel_receive(self->channel, &record, &failure);

    if (io == QUERY_IO_FAILED)
        return end_with_failure(self, FALSE, failure, error);
    if (io != QUERY_IO_DONE)
        return io;
    io = take_record(self, &record, error);
    if (io == QUERY_IO_DONE && self->state == QUERY_CURSOR_OPEN) {
        self->page_in_source = TRUE;
        query_held_touch(&self->held);
    }
    return io;
}

static QueryIo
receive_directly(QueryCursor *self, GError **error)
{
    GError *failure = NULL;

    switch (query_direct_run_take(self->direct, &self->reader, &self->end, &failure)) {
    case QUERY_DIRECT_WORK:
        return QUERY_IO_WANT_READ;
    case QUERY_DIRECT_ROWS:
        self->n_rows_received += self->reader.n_rows_left;
        self->page_in_source = TRUE;
        query_held_touch(&self->held);
        return QUERY_IO_DONE;
    case QUERY_DIRECT_END:
        leave_rows(self, QUERY_CURSOR_ENDED);
        give_channel_back(self, NULL);
        return QUERY_IO_DONE;
    case QUERY_DIRECT_FAILED:
        return end_with_failure(self, FALSE, failure, error);
    }
    g_assert_not_reached();
}

/* The next page, or the end, from the channel, the backlog or the module. The cursor is pinned. */
static QueryIo
receive_next(QueryCursor *self, GError **error)
{
    GError *failure = NULL;
    QueryRecord record;

    drop_kept_page(self);
    if (self->backlog != NULL) {
        switch (query_backlog_take(self->backlog, &record, &failure)) {
        case QUERY_BACKLOG_RECORD:
            return take_record(self, &record, error);
        case QUERY_BACKLOG_FAILED:
            return end_with_failure(self, FALSE, failure, error);
        case QUERY_BACKLOG_EMPTY:
            break;
        }
    }
    return self->direct != NULL ? receive_directly(self, error) : receive(self, error);
}

QueryIo
query_cursor_step(QueryCursor *self, gboolean *ret_has_row, GError **error)
{
    QueryIo io;

    for (;;) {
        *ret_has_row = FALSE;
        switch (self->state) {
        case QUERY_CURSOR_OPEN:
            break;
        case QUERY_CURSOR_ENDED:
            return QUERY_IO_DONE;
        case QUERY_CURSOR_FAILED:
            g_propagate_error(error, g_error_copy(self->failure));
            return QUERY_IO_FAILED;
        case QUERY_CURSOR_CLOSED:
            g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_CLOSED, "the cursor is closed");
            return QUERY_IO_FAILED;
        }

        if (qw_page_reader_next(&self->reader)) {
            self->n_valid_columns = self->n_columns;
            *ret_has_row = TRUE;
            return QUERY_IO_DONE;
        }

        self->n_valid_columns = 0;
        io = receive_next(self, error);
        if (io != QUERY_IO_DONE)
            return io;
    }
}

static gboolean
next_waiting(QueryCursor *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    gboolean has_row = FALSE;

    for (;;) {
        if (g_cancellable_set_error_if_cancelled(cancellable, &local_error)) {
            query_cursor_fail(self, g_steal_pointer(&local_error), error);
            return FALSE;
        }
        if (query_cursor_step(self, &has_row, error) != QUERY_IO_WANT_READ)
            return has_row;
        if (self->direct != NULL) {
            query_direct_run_work(self->direct, cancellable);
            continue;
        }
        if (!query_channel_wait(self->channel, QUERY_IO_WANT_READ, cancellable, &local_error)) {
            (void) end_with_failure(self, FALSE, g_steal_pointer(&local_error), error);
            return FALSE;
        }
    }
}

gboolean
query_cursor_next(QueryCursor *self, GCancellable *cancellable, GError **error)
{
    gboolean has_row;

    /* The hot path: a row of a page that is already validated. */
    if (G_LIKELY(self != NULL && cancellable == NULL && qw_page_reader_next(&self->reader))) {
        self->n_valid_columns = self->n_columns;
        return TRUE;
    }

    g_return_val_if_fail(QUERY_IS_CURSOR(self), FALSE);
    query_held_pin(&self->held);
    has_row = next_waiting(self, query_cursor_get_cancellable(self, cancellable), error);
    query_held_unpin(&self->held);
    return has_row;
}

gboolean
query_cursor_try_next(QueryCursor *self, gboolean *ret_has_row, GError **error)
{
    gboolean has_row;
    QueryIo io;

    if (G_LIKELY(self != NULL && qw_page_reader_next(&self->reader))) {
        self->n_valid_columns = self->n_columns;
        *ret_has_row = TRUE;
        return TRUE;
    }

    g_return_val_if_fail(QUERY_IS_CURSOR(self), FALSE);
    query_held_pin(&self->held);
    io = query_cursor_step(self, &has_row, error);
    query_held_unpin(&self->held);
    if (io != QUERY_IO_DONE)
        return FALSE;

    *ret_has_row = has_row;
    return TRUE;
}

guint
query_cursor_get_n_ready(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->state == QUERY_CURSOR_OPEN ? self->reader.n_rows_left : 0;
}

gboolean
query_cursor_is_stable(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), FALSE);

    return self->schema != NULL && self->schema->is_stable;
}

/* What END said -------------------------------------------------------------------------------------------------------- */

guint64
query_cursor_get_n_rows(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->end.n_rows;
}

guint64
query_cursor_get_generation(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->end.generation;
}

guint64
query_cursor_get_elapsed_usec(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->end.elapsed_usec;
}

gint64
query_cursor_get_changes(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->end.changes;
}

gint64
query_cursor_get_last_insert_rowid(QueryCursor *self)
{
    g_return_val_if_fail(QUERY_IS_CURSOR(self), 0);

    return self->end.last_insert_rowid;
}
