/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of Arrow batches as parameters of updates: some thousands in a message; and bulk ingest, which makes its table.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

/* Below the default of the limit batch_statements. With fewer, more of the time is between a message and the next. */
#define ROWS_PER_MESSAGE 8192

/* Sends an update's rows. */
typedef struct Sender {
    QadConnection *connection;
    QueryStatement *statement; /* has the rows that are not sent yet */
    QueryStatement *spare;     /* (nullable): of the same text: its rows are executed while @statement gets more */
    GThread *thread;           /* (nullable): executes those */
    GCancellable *cancellable;
    gboolean wants_rows;      /* of RETURNING */
    gboolean has_transaction; /* its own, until the end */
    guint n_rows;             /* not sent yet */
    guint n_messages;
    gint64 changes;
} Sender;

gboolean
qad_rows_drain(QueryCursor *cursor, GCancellable *cancellable, GError **error)
{
    GError *failure = NULL;

    while (query_cursor_next(cursor, cancellable, &failure))
        ;
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

/* @ret_cursor: (nullable): NULL: the rows of RETURNING are dropped */
static gboolean
send_rows(Sender *self, QueryCursor **ret_cursor, GError **error)
{
    g_autoptr(QueryCursor) cursor = qad_connection_execute(self->connection, self->statement, self->cancellable, error);

    if (cursor == NULL)
        return FALSE;
    self->n_messages++;
    self->n_rows = 0;
    if (self->wants_rows && query_cursor_get_n_columns(cursor) > 0) {
        if (ret_cursor == NULL || self->n_messages > 1)
            return qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                                 "RETURNING gives its rows for at most %d rows of parameters: bind fewer", ROWS_PER_MESSAGE);
        *ret_cursor = g_steal_pointer(&cursor);
        return TRUE;
    }
    if (!qad_rows_drain(cursor, self->cancellable, error))
        return FALSE;
    self->changes += query_cursor_get_changes(cursor);
    return TRUE;
}

/* In a thread, for a Sender of which it uses @spare, @connection, @cancellable and @changes. Returns: (nullable): its error */
static gpointer
execute_spare(gpointer data)
{
    Sender *self = data;
    GError *error = NULL;
    g_autoptr(QueryCursor) cursor = qad_connection_execute(self->connection, self->spare, self->cancellable, &error);

    if (cursor != NULL && qad_rows_drain(cursor, self->cancellable, &error))
        self->changes += query_cursor_get_changes(cursor);
    return error;
}

/* For the rows that were sent ahead. */
static gboolean
wait_for_thread(Sender *self, GError **error)
{
    GError *failure = self->thread != NULL ? g_thread_join(g_steal_pointer(&self->thread)) : NULL;

    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

/* The daemon executes them while the next ones are bound. */
static gboolean
send_ahead(Sender *self, GError **error)
{
    QueryStatement *full = self->statement;
    GError *failure = NULL;

    if (!wait_for_thread(self, error))
        return FALSE;
    self->statement = self->spare;
    self->spare = full;
    self->n_rows = 0;
    self->thread = g_thread_try_new("adbc-ingest", execute_spare, self, NULL);
    if (self->thread == NULL)
        failure = execute_spare(self);
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

/* More than one message: only a transaction makes them one. */
static gboolean
send_some(Sender *self, GError **error)
{
    if (self->spare != NULL)
        return send_ahead(self, error);
    if (self->connection->transaction == NULL) {
        if (!qad_connection_begin(self->connection, self->cancellable, error))
            return FALSE;
        self->has_transaction = TRUE;
    }
    return send_rows(self, NULL, error);
}

static gboolean
add_row(Sender *self, const QadInput *input, gint64 row, char **names, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (self->n_rows == ROWS_PER_MESSAGE && !send_some(self, error))
        return FALSE;
    if (!qad_input_bind(input, row, self->statement, names, error))
        return FALSE;
    if (!query_statement_add_row(self->statement, &failure)) {
        if (self->n_rows == 0 || !g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_TOO_BIG)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return FALSE;
        }
        if (!send_some(self, error) || !qad_input_bind(input, row, self->statement, names, error) ||
            !query_statement_add_row(self->statement, error))
            return FALSE;
    }
    self->n_rows++;
    return TRUE;
}

/* Streams -------------------------------------------------------------------------------------------------------------- */

static gboolean
stream_failed(struct ArrowArrayStream *stream, GError **error)
{
    const char *message = stream->get_last_error(stream);

    return qad_set_error(error, ADBC_STATUS_IO, "the stream that is bound fails: %s",
                         message != NULL ? message : "it does not say why");
}

/* (transfer full): one for each column */
static char **
get_names(QueryStatement *statement, const QadInput *input, gboolean by_name, GError **error)
{
    guint n = qad_input_get_n_columns(input);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    if (n != query_statement_get_n_parameters(statement)) {
        (void) qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "the statement has %u parameters, but %u columns are bound",
                             query_statement_get_n_parameters(statement), n);
        return NULL;
    }
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(names, by_name ? g_strdup(qad_input_get_name(input, i)) : g_strdup_printf("%u", i + 1));
    g_ptr_array_add(names, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

static gboolean
add_batch(Sender *self, QadInput *input, const struct ArrowArray *batch, char **names, GError **error)
{
    if (!qad_input_set_batch(input, batch, error))
        return FALSE;
    for (gint64 row = 0; row < batch->length; row++)
        if (!add_row(self, input, row, names, error))
            return FALSE;
    return TRUE;
}

static gboolean
add_batches(Sender *self, QadInput *input, struct ArrowArrayStream *stream, gboolean by_name, GError **error)
{
    g_auto(GStrv) names = get_names(self->statement, input, by_name, error);

    while (names != NULL) {
        struct ArrowArray batch = { .release = NULL };
        gboolean ok;

        if (stream->get_next(stream, &batch) != 0)
            return stream_failed(stream, error);
        if (batch.release == NULL)
            return TRUE;
        ok = add_batch(self, input, &batch, names, error);
        batch.release(&batch);
        if (!ok)
            return FALSE;
    }
    return FALSE;
}

/* Ends what the sender has begun. */
static gboolean
finish(Sender *self, gboolean ok, QueryCursor **ret_cursor, GError **error)
{
    ok = wait_for_thread(self, ok ? error : NULL) && ok;
    if (ok && self->n_rows > 0)
        ok = send_rows(self, ret_cursor, error);
    query_statement_clear_bindings(self->statement);
    if (self->spare != NULL)
        query_statement_clear_bindings(self->spare);
    if (!self->has_transaction)
        return ok;
    return qad_connection_end(self->connection, ok, ok ? error : NULL) && ok;
}

gboolean
qad_rows_update(QadConnection *self, QueryStatement *statement, struct ArrowArrayStream *stream, gboolean by_name,
                GCancellable *cancellable, QueryCursor **ret_cursor, gint64 *ret_changes, GError **error)
{
    Sender sender = { .connection = self, .statement = statement, .cancellable = cancellable, .wants_rows = ret_cursor != NULL };
    struct ArrowSchema schema;
    g_autoptr(QadInput) input = NULL;
    gboolean ok;

    if (stream->get_schema(stream, &schema) != 0)
        return stream_failed(stream, error);
    input = qad_input_new(&schema, error);
    ok = input != NULL && add_batches(&sender, input, stream, by_name, error);
    ok = finish(&sender, ok, ret_cursor, error);
    schema.release(&schema);
    *ret_changes = sender.changes;
    return ok;
}

/* FALSE without an error when there is none. */
static gboolean
bind_first(QueryStatement *statement, QadInput *input, const struct ArrowArray *batch, gboolean by_name, GError **error)
{
    g_auto(GStrv) names = get_names(statement, input, by_name, error);

    return names != NULL && qad_input_set_batch(input, batch, error) && qad_input_bind(input, 0, statement, names, error);
}

gboolean
qad_rows_bind_one(QueryStatement *statement, struct ArrowArrayStream *stream, gboolean by_name, GError **error)
{
    struct ArrowSchema schema;
    g_autoptr(QadInput) input = NULL;
    gint64 n_rows = 0;
    gboolean ok;

    if (stream->get_schema(stream, &schema) != 0)
        return stream_failed(stream, error);
    input = qad_input_new(&schema, error);
    ok = input != NULL;
    while (ok) {
        struct ArrowArray batch = { .release = NULL };

        if (stream->get_next(stream, &batch) != 0)
            ok = stream_failed(stream, error);
        if (batch.release == NULL)
            break;
        if (n_rows == 0 && batch.length > 0)
            ok = bind_first(statement, input, &batch, by_name, error);
        n_rows += batch.length;
        batch.release(&batch);
    }
    schema.release(&schema);
    if (ok && n_rows != 1)
        return qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                             "a query runs with one row of parameters, but %" G_GINT64_FORMAT " are bound", n_rows);
    return ok;
}

/* Ingest --------------------------------------------------------------------------------------------------------------- */

static gboolean
create_table(QadConnection *self, const QadInput *input, const char *quoted, GCancellable *cancellable, GError **error)
{
    g_autoptr(GString) text = g_string_new("CREATE TABLE ");

    g_string_append(text, quoted);
    for (guint i = 0; i < qad_input_get_n_columns(input); i++) {
        g_autofree char *name = qad_quote(qad_input_get_name(input, i));

        g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "(", name, qad_input_get_declaration(input, i));
    }
    g_string_append_c(text, ')');
    return qad_connection_run(self, text->str, cancellable, error);
}

/* The table as the mode wants it. */
static gboolean
prepare_table(QadStatement *self, const QadInput *input, const char *quoted, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autofree char *type = qad_connection_find_table(self->connection, self->target, &failure);
    g_autofree char *drop = g_strdup_printf("DROP TABLE %s", quoted);

    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    switch (self->ingest_mode) {
    case QAD_INGEST_APPEND:
        return type != NULL || qad_set_error(error, ADBC_STATUS_NOT_FOUND, "there is no table '%s' to append to", self->target);
    case QAD_INGEST_CREATE:
        if (type != NULL)
            return qad_set_error(error, ADBC_STATUS_ALREADY_EXISTS, "there is a %s '%s' already", type, self->target);
        break;
    case QAD_INGEST_REPLACE:
        if (type != NULL && !qad_connection_run(self->connection, drop, cancellable, error))
            return FALSE;
        break;
    case QAD_INGEST_CREATE_APPEND:
        if (type != NULL)
            return TRUE;
        break;
    }
    return create_table(self->connection, input, quoted, cancellable, error);
}

static QueryStatement *
prepare_insert(QadConnection *self, const QadInput *input, const char *quoted, GCancellable *cancellable, GError **error)
{
    g_autoptr(GString) text = g_string_new("INSERT INTO ");
    guint n = qad_input_get_n_columns(input);

    g_string_append(text, quoted);
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = qad_quote(qad_input_get_name(input, i));

        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "(", name);
    }
    g_string_append(text, ") VALUES");
    for (guint i = 0; i < n; i++)
        g_string_append(text, i > 0 ? ", ?" : "(?");
    g_string_append_c(text, ')');
    return query_transaction_prepare_update(self->transaction, QUERY_LANGUAGE_SQL, text->str, cancellable, error);
}

/* Within a transaction. @is_own: no stream that is read belongs to it, so that a thread may use it meanwhile. */
static gboolean
ingest_into(QadStatement *self, QadInput *input, gboolean is_own, GCancellable *cancellable, gint64 *ret_rows, GError **error)
{
    g_autofree char *quoted = qad_quote(self->target);
    g_autoptr(QueryStatement) statement = NULL, spare = NULL;
    Sender sender = { .connection = self->connection, .cancellable = cancellable };

    if (qad_input_get_n_columns(input) == 0)
        return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "what is to be ingested has no columns");
    if (!prepare_table(self, input, quoted, cancellable, error))
        return FALSE;
    statement = prepare_insert(self->connection, input, quoted, cancellable, error);
    if (statement == NULL)
        return FALSE;
    spare = is_own ? prepare_insert(self->connection, input, quoted, cancellable, error) : NULL;
    if (is_own && spare == NULL)
        return FALSE;
    sender.statement = statement;
    sender.spare = spare;
    if (!finish(&sender, add_batches(&sender, input, &self->bound, FALSE, error), NULL, error))
        return FALSE;
    *ret_rows = sender.changes;
    return TRUE;
}

gboolean
qad_rows_ingest(QadStatement *self, GCancellable *cancellable, gint64 *ret_rows, GError **error)
{
    gboolean is_own = self->connection->transaction == NULL && self->connection->autocommit;
    struct ArrowSchema schema;
    g_autoptr(QadInput) input = NULL;
    gboolean ok;

    if (self->bound.release == NULL)
        return qad_set_error(error, ADBC_STATUS_INVALID_STATE, "nothing is bound that could be ingested");
    if (self->bound.get_schema(&self->bound, &schema) != 0)
        return stream_failed(&self->bound, error);
    input = qad_input_new(&schema, error);
    ok = input != NULL && qad_connection_begin(self->connection, cancellable, error) &&
         ingest_into(self, input, is_own, cancellable, ret_rows, error);
    if (is_own)
        ok = qad_connection_end(self->connection, ok, ok ? error : NULL) && ok;
    schema.release(&schema);
    return ok;
}
