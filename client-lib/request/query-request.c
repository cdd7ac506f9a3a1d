/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state machine of one execution.
 *
 * Place: internal to libquery-client.
 *
 *     ACQUIRE ─→ CONNECT (D-Bus; only when no channel is idle) ─→ ACQUIRE, or FIRST (a query that runs already)
 *        └─→ SEND ─→ SCHEMA (if a PREPARE went out) ─→ [SEND ─→] FIRST ─→ RESULT (updates) ─→ done
 *
 * Invariant: when it fails, the channel goes back to the pool only with every answer read; otherwise it is closed, which
 * makes the daemon stop.
 */
#include "client-lib/request/query-request-private.h"

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-held.h"
#include "client-lib/direct/query-direct.h"
#include "client-lib/wire/wire-page-reader.h"

/* How long a request waits for a channel, or a snapshot, when others of the process have all that the daemon allows. */
#define MAX_WAIT_USEC (30 * G_USEC_PER_SEC)
#define WAIT_MSEC 50
/* Idle channels that are closed at a time, and how long the daemon may take to notice. */
#define N_IDLE_CLOSED 8u
#define CLOSING_USEC G_USEC_PER_SEC

static gint n_requests; /* (atomic): of the process */

/* No cursor of the process is open, and no other request under way. */
static gboolean
is_alone(void)
{
    return query_held_get_n() == 0 && __atomic_load_n(&n_requests, __ATOMIC_RELAXED) <= 1;
}

/* FALSE: there are none. */
static gboolean
close_idle_channels(QueryRequest *self, gint64 now_usec)
{
    if (now_usec < self->closing_until_usec) {
        query_held_wait(WAIT_MSEC);
        return TRUE;
    }
    if (!query_pool_close_idle(N_IDLE_CLOSED))
        return FALSE;
    self->closing_until_usec = now_usec + CLOSING_USEC;
    return TRUE;
}

gboolean
query_request_make_room(QueryRequest *self, const GError *refusal, GCancellable *cancellable)
{
    guint n_held = query_held_get_n();
    gint64 now_usec = g_get_monotonic_time();

    if (self->room_deadline_usec == 0)
        self->room_deadline_usec = now_usec + MAX_WAIT_USEC;
    if (now_usec >= self->room_deadline_usec || g_cancellable_is_cancelled(cancellable))
        return FALSE;
    if (g_error_matches(refusal, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED) && close_idle_channels(self, now_usec))
        return TRUE;
    if (n_held > 0 && query_held_reduce(MIN(n_held, QUERY_HELD_MAX) - 1, QUERY_HELD_LATE_MSEC))
        return TRUE;
    if (is_alone())
        return FALSE;

    query_held_wait(WAIT_MSEC);
    return TRUE;
}

QueryRequest *
query_request_new(QueryEndpoint endpoint, QueryRequestKind kind, QueryCommand *command, QueryParameters *parameters, GBytes *row,
                  QueryChannel *channel)
{
    QueryRequest *self = g_new(QueryRequest, 1); /* glibc's malloc() takes it without a lock, calloc() does not */

    (void) __atomic_add_fetch(&n_requests, 1, __ATOMIC_RELAXED);
    *self = (QueryRequest){ .endpoint = endpoint,
                            .kind = kind,
                            .command = query_command_ref(command),
                            .parameters = parameters != NULL || row != NULL ? parameters : query_parameters_new(),
                            .row = row != NULL ? g_bytes_ref(row) : NULL,
                            .channel = channel };
    (void) g_object_ref(endpoint.owner);
    if (channel != NULL && !query_channel_is_idle(channel))
        g_clear_pointer(&self->channel, query_channel_free);
    if (self->channel == NULL)
        self->requested_usec = g_get_monotonic_time();
    return self;
}

void
query_request_free(QueryRequest *self)
{
    if (self == NULL)
        return;

    g_clear_pointer(&self->channel, query_channel_free);
    g_clear_pointer(&self->direct_run, query_direct_run_unref);
    g_clear_pointer(&self->schema, query_schema_unref);
    g_clear_pointer(&self->row, g_bytes_unref);
    g_clear_pointer(&self->counts, g_array_unref);
    query_parameters_free(self->parameters);
    query_command_unref(self->command);
    g_clear_error(&self->prepare_error);
    g_clear_error(&self->room_error);
    g_object_unref(self->endpoint.owner);
    g_free(self);
    (void) __atomic_sub_fetch(&n_requests, 1, __ATOMIC_RELAXED);
}

QueryChannel *
query_request_steal_channel(QueryRequest *self)
{
    return g_steal_pointer(&self->channel);
}

void
query_request_bind_to_channel(QueryRequest *self)
{
    self->is_bound = TRUE;
    self->was_resent = TRUE; /* another channel would not do */
}

QueryChannel *
query_request_steal_idle_channel(QueryRequest *self)
{
    return self->state == QUERY_STATE_DONE || self->channel_is_idle ? g_steal_pointer(&self->channel) : NULL;
}

gboolean
query_request_is_bound(const QueryRequest *self)
{
    return self->is_bound;
}

QueryRequestKind
query_request_get_kind(const QueryRequest *self)
{
    return self->kind;
}

QueryCommand *
query_request_get_command(const QueryRequest *self)
{
    return self->command;
}

QueryDirectRun *
query_request_steal_direct_run(QueryRequest *self)
{
    return g_steal_pointer(&self->direct_run);
}

QuerySchema *
query_request_get_schema(const QueryRequest *self)
{
    return self->schema;
}

guint32
query_request_get_serial(const QueryRequest *self)
{
    return self->fetch_serial;
}

const QwEnd *
query_request_get_end(const QueryRequest *self)
{
    return &self->end;
}

GArray *
query_request_get_counts(const QueryRequest *self)
{
    return self->counts;
}

void
query_request_set_n_rows(QueryRequest *self, guint n_rows)
{
    self->n_rows = n_rows;
}

void
query_request_set_schema(QueryRequest *self, QuerySchema *schema)
{
    g_autoptr(QuerySchema) old G_GNUC_UNUSED = self->schema;

    self->schema = query_schema_ref(schema);
}

void
query_request_learn_schema(QueryRequest *self, QuerySchema *schema)
{
    schema->is_sparql = g_str_equal(self->command->language, "sparql");
    query_request_set_schema(self, schema);
    query_channel_set_prepared(self->channel, self->command->key, schema);
    if (!self->is_bound) /* in a transaction the schema may be one that only it sees */
        query_pool_remember(self->endpoint.pool, self->command->key, schema);
}

/* A failure after which the channel is as good as before. */
static QueryStep
fail_and_keep_channel(QueryRequest *self)
{
    self->channel_is_idle = self->is_bound;
    if (!self->is_bound)
        query_pool_give(self->endpoint.pool, g_steal_pointer(&self->channel));
    return QUERY_STEP_FAILED;
}

/*
 * The daemon has refused the request, with every answer read and nothing executed. When that may be for the open cursors and
 * requests of this process it goes again, after some of them have given theirs up.
 */
static QueryStep
fail_refused(QueryRequest *self, GError *failure, GError **error)
{
    gboolean may_go_again = !self->is_bound && !is_alone() &&
                            (g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_BUSY) ||
                             g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED));

    if (!may_go_again) {
        g_propagate_error(error, failure);
        return fail_and_keep_channel(self);
    }
    g_clear_error(&self->prepare_error);
    g_clear_error(&self->room_error);
    self->room_error = failure;
    query_pool_give(self->endpoint.pool, g_steal_pointer(&self->channel));
    self->state = QUERY_STATE_CONNECT;
    return QUERY_STEP_CONNECT;
}

static GBytes *
get_row(QueryRequest *self, GError **error)
{
    return self->row != NULL ? g_bytes_ref(self->row) : query_parameters_encode(self->parameters, self->schema, error);
}

/* Named values need the statement's shape; no values, or encoded ones, do not. */
static gboolean
has_row(const QueryRequest *self)
{
    return self->row != NULL || self->schema != NULL || query_parameters_get_n(self->parameters) == 0;
}

static void
queue_fetch(QueryRequest *self, GBytes *body)
{
    guint n_rows = self->n_rows > 0 ? self->n_rows : (g_bytes_get_size(body) > 0 ? 1 : 0);

    self->fetch_serial = query_channel_queue(self->channel, QW_KIND_FETCH, n_rows, body);
}

static void
queue_control(QueryRequest *self)
{
    static const QwKind kinds[] = {
        [QUERY_REQUEST_BEGIN] = QW_KIND_BEGIN,
        [QUERY_REQUEST_COMMIT] = QW_KIND_COMMIT,
        [QUERY_REQUEST_ROLLBACK] = QW_KIND_ROLLBACK,
        [QUERY_REQUEST_BATCH] = QW_KIND_BATCH,
    };
    g_autoptr(GBytes) body = self->row != NULL ? g_bytes_ref(self->row) : g_bytes_new_static("", 0);

    self->fetch_serial = query_channel_queue(self->channel, kinds[self->kind], self->n_rows, body);
}

static void
queue_prepare(QueryRequest *self)
{
    query_channel_set_prepared(self->channel, NULL, NULL);
    self->prepare_serial = query_channel_queue(self->channel, QW_KIND_PREPARE, self->command->n_options, self->command->key);
}

/* BEGIN has the deadline of the statement before it on the channel. */
static gboolean
lacks_deadline(const QueryRequest *self)
{
    return self->kind == QUERY_REQUEST_BEGIN && self->command->timeout_msec >= 0 &&
           !query_channel_is_prepared(self->channel, self->command->key);
}

void
query_request_set_patience(QueryRequest *self)
{
    query_channel_set_patience(self->channel, 1000 * query_command_get_patience_msec(self->command));
}

/* Decides what goes out together: FETCH alone, PREPARE and FETCH, or PREPARE alone when the parameters are not known yet. */
static QueryStep
step_acquire(QueryRequest *self, GError **error)
{
    g_autoptr(GBytes) body = NULL;
    gboolean is_prepared;

    if (self->channel == NULL && self->is_bound) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "the channel of the transaction is of no more use");
        return QUERY_STEP_FAILED;
    }
    if (self->channel == NULL && !self->was_resent)
        self->channel = query_pool_take(self->endpoint.pool, self->command->key);
    if (self->channel == NULL) {
        self->state = QUERY_STATE_CONNECT;
        return QUERY_STEP_CONNECT;
    }

    query_request_set_patience(self);
    self->prepare_serial = 0;
    self->fetch_serial = 0;
    if (self->kind >= QUERY_REQUEST_BEGIN) {
        if (lacks_deadline(self))
            queue_prepare(self);
        queue_control(self);
        self->state = QUERY_STATE_SEND;
        return QUERY_STEP_AGAIN;
    }
    is_prepared = query_channel_is_prepared(self->channel, self->command->key);
    if (is_prepared)
        query_request_set_schema(self, query_channel_get_schema(self->channel));
    else if (self->schema == NULL && self->parameters != NULL && query_parameters_get_n(self->parameters) > 0)
        self->schema = query_pool_recall(self->endpoint.pool, self->command->key);
    if (is_prepared && self->kind == QUERY_REQUEST_PREPARE) {
        self->state = QUERY_STATE_DONE;
        return QUERY_STEP_DONE;
    }

    if (self->kind != QUERY_REQUEST_PREPARE && has_row(self)) {
        body = get_row(self, error);
        if (body == NULL)
            return fail_and_keep_channel(self);
    }
    if (!is_prepared)
        queue_prepare(self);
    if (body != NULL)
        queue_fetch(self, body);

    self->state = QUERY_STATE_SEND;
    return QUERY_STEP_AGAIN;
}

static QueryStep
step_from_io(QueryIo io)
{
    switch (io) {
    case QUERY_IO_DONE:
        return QUERY_STEP_AGAIN;
    case QUERY_IO_WANT_READ:
        return QUERY_STEP_WANT_READ;
    case QUERY_IO_WANT_WRITE:
        return QUERY_STEP_WANT_WRITE;
    case QUERY_IO_FAILED:
        return QUERY_STEP_FAILED;
    }
    g_assert_not_reached();
}

static QueryStep
step_send(QueryRequest *self, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    gboolean never_received = FALSE;
    QueryIo io = query_channel_flush(self->channel, &never_received, &local_error);

    if (io == QUERY_IO_FAILED) {
        gboolean is_refused = query_channel_take_refusal(self->channel, error);

        g_clear_pointer(&self->channel, query_channel_free);
        if (is_refused)
            return QUERY_STEP_FAILED;
        if (never_received && !self->was_resent) {
            self->was_resent = TRUE;
            self->state = QUERY_STATE_ACQUIRE;
            return QUERY_STEP_AGAIN;
        }
        g_propagate_error(error, g_steal_pointer(&local_error));
    }
    if (io == QUERY_IO_DONE)
        self->state = self->prepare_serial != 0 ? QUERY_STATE_SCHEMA : QUERY_STATE_FIRST;

    return step_from_io(io);
}

/* Decodes an ERROR record into @error. FALSE: the record itself is nonsense; @error says so. */
static gboolean
take_error_record(const QueryRecord *record, GError **error)
{
    QwErrorBody body;

    if (qw_error_decode(record->body, record->n_bytes, &body) < 0) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent an ERROR that cannot be read");
        return FALSE;
    }
    query_error_set_from_wire(error, &body);
    return TRUE;
}

static QueryStep
fail_unexpected(const QueryRecord *record, GError **error)
{
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent record '%c' of request %u out of turn", record->kind,
                record->serial);
    return QUERY_STEP_FAILED;
}

static QueryIo
receive(QueryRequest *self, QueryRecord *ret_record, GError **error)
{
    return self->reads_ahead ? query_channel_receive(self->channel, ret_record, error)
                             : query_channel_receive_exactly(self->channel, ret_record, error);
}

static QueryStep
step_schema(QueryRequest *self, GError **error)
{
    g_autoptr(QuerySchema) schema = NULL;
    QueryRecord record;
    QueryIo io = receive(self, &record, error);

    if (io != QUERY_IO_DONE)
        return step_from_io(io);
    if (record.serial != self->prepare_serial)
        return fail_unexpected(&record, error);

    self->prepare_serial = 0;
    if (record.kind == QW_KIND_ERROR) {
        GError *failure = NULL;

        if (!take_error_record(&record, &failure)) {
            g_propagate_error(error, failure);
            return QUERY_STEP_FAILED;
        }
        if (self->fetch_serial == 0)
            return fail_refused(self, failure, error);
        self->prepare_error = failure;
        self->state = QUERY_STATE_FIRST; /* where FETCH is answered by ERROR(Closed) */
        return QUERY_STEP_AGAIN;
    }
    if (record.kind != QW_KIND_SCHEMA)
        return fail_unexpected(&record, error);

    schema = query_schema_new_from_wire(record.body, record.n_bytes, record.count, error);
    if (schema == NULL)
        return QUERY_STEP_FAILED;
    query_request_learn_schema(self, schema);

    if (self->kind == QUERY_REQUEST_PREPARE) {
        self->state = QUERY_STATE_DONE;
        return QUERY_STEP_DONE;
    }
    self->state = QUERY_STATE_FIRST;
    if (self->fetch_serial == 0) {
        g_autoptr(GBytes) body = get_row(self, error);

        if (body == NULL)
            return fail_and_keep_channel(self);
        queue_fetch(self, body);
        self->state = QUERY_STATE_SEND;
    }
    return QUERY_STEP_AGAIN;
}

/* SCHEMA (the tables changed), ERROR, or the beginning of the result, which is left for the cursor. */
static QueryStep
step_first(QueryRequest *self, GError **error)
{
    g_autoptr(QuerySchema) schema = NULL;
    QueryRecord record;
    QwKind kind;
    QueryIo io = query_channel_peek(self->channel, &kind, error);

    if (io != QUERY_IO_DONE)
        return step_from_io(io);
    if (kind != QW_KIND_SCHEMA && kind != QW_KIND_ERROR && self->prepare_error == NULL) {
        self->state = self->kind >= QUERY_REQUEST_UPDATE ? QUERY_STATE_RESULT : QUERY_STATE_DONE;
        return self->state == QUERY_STATE_DONE ? QUERY_STEP_DONE : QUERY_STEP_AGAIN;
    }

    io = receive(self, &record, error);
    if (io != QUERY_IO_DONE)
        return step_from_io(io);
    if (record.serial != self->fetch_serial)
        return fail_unexpected(&record, error);

    if (record.kind == QW_KIND_ERROR) {
        g_autoptr(GError) fetch_error = NULL;

        if (!take_error_record(&record, &fetch_error)) {
            g_propagate_error(error, g_steal_pointer(&fetch_error));
            return QUERY_STEP_FAILED;
        }
        return fail_refused(
            self, self->prepare_error != NULL ? g_steal_pointer(&self->prepare_error) : g_steal_pointer(&fetch_error), error);
    }
    if (record.kind != QW_KIND_SCHEMA || self->prepare_error != NULL)
        return fail_unexpected(&record, error);

    schema = query_schema_new_from_wire(record.body, record.n_bytes, record.count, error);
    if (schema == NULL)
        return QUERY_STEP_FAILED;
    query_request_learn_schema(self, schema);
    return QUERY_STEP_AGAIN;
}

/* FALSE: they are no counts, or not as many as there are statements. */
static gboolean
take_counts(QueryRequest *self, const QueryRecord *record)
{
    QwPageReader reader;

    if (self->counts == NULL)
        self->counts = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (record->kind == QW_KIND_END)
        return self->counts->len == self->n_rows;
    if (qw_page_reader_init(&reader, record->body, record->n_bytes, record->count, 1) < 0)
        return FALSE;
    while (self->counts->len < self->n_rows && qw_page_reader_next(&reader)) {
        QwValue value;

        qw_page_reader_get(&reader, 0, &value);
        if (value.type != QW_TYPE_INTEGER)
            return FALSE;
        g_array_append_val(self->counts, value.integer);
    }
    return !qw_page_reader_next(&reader);
}

static QueryStep
step_result(QueryRequest *self, GError **error)
{
    QueryRecord record;
    QueryIo io = query_channel_receive(self->channel, &record, error);

    if (io != QUERY_IO_DONE)
        return step_from_io(io);
    if (record.serial != self->fetch_serial)
        return fail_unexpected(&record, error);

    if (self->kind == QUERY_REQUEST_BATCH && record.kind != QW_KIND_ERROR && !take_counts(self, &record))
        return fail_unexpected(&record, error);
    if (record.kind == QW_KIND_ROWS)
        return QUERY_STEP_AGAIN;
    if (record.kind == QW_KIND_ERROR)
        return take_error_record(&record, error) ? fail_and_keep_channel(self) : QUERY_STEP_FAILED;
    if (record.kind != QW_KIND_END || qw_end_decode(record.body, record.n_bytes, &self->end) < 0)
        return fail_unexpected(&record, error);

    self->state = QUERY_STATE_DONE;
    return QUERY_STEP_DONE;
}

/* The CANCEL goes before the answer is looked for. */
static QueryStep
step_cancelled(QueryRequest *self, GError **error)
{
    gboolean never_received = FALSE;

    return self->is_cancelled ? step_from_io(query_channel_flush(self->channel, &never_received, error)) : QUERY_STEP_AGAIN;
}

QueryStep
query_request_step(QueryRequest *self, GError **error)
{
    QueryStep result = step_cancelled(self, error);

    while (result == QUERY_STEP_AGAIN) {
        switch (self->state) {
        case QUERY_STATE_ACQUIRE:
            result = step_acquire(self, error);
            break;
        case QUERY_STATE_CONNECT:
            result = QUERY_STEP_CONNECT;
            break;
        case QUERY_STATE_SEND:
            result = step_send(self, error);
            break;
        case QUERY_STATE_SCHEMA:
            result = step_schema(self, error);
            break;
        case QUERY_STATE_FIRST:
            result = step_first(self, error);
            break;
        case QUERY_STATE_RESULT:
            result = step_result(self, error);
            break;
        case QUERY_STATE_DONE:
            result = QUERY_STEP_DONE;
            break;
        }
    }
    if (result == QUERY_STEP_FAILED)
        query_request_explain_failure(self, error);
    if (result == QUERY_STEP_FAILED && !self->channel_is_idle)
        g_clear_pointer(&self->channel, query_channel_free);
    return result;
}
