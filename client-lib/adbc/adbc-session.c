/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions with the daemon: transactions, and what statements and metadata run.
 *
 * A query begins no transaction, also without autocommit: while one is open no other client can write, and the daemon ends one that
 * waits. The first statement that writes begins it.
 */
#include "client-lib/adbc/adbc-driver.h"

QadConnection *
qad_connection_ref(QadConnection *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

void
qad_connection_unref(QadConnection *self)
{
    if (!g_atomic_int_dec_and_test(&self->ref_count))
        return;
    g_clear_object(&self->transaction);
    g_clear_object(&self->connection);
    qad_cancel_clear(&self->cancel);
    g_ptr_array_unref(self->statements);
    (void) pthread_mutex_destroy(&self->statements_mutex);
    g_rec_mutex_clear(&self->mutex);
    g_free(self);
}

gboolean
qad_connection_check(QadConnection *self, GError **error)
{
    return (self != NULL && self->connection != NULL) ||
           qad_set_error(error, ADBC_STATUS_INVALID_STATE, "the connection is not open: call AdbcConnectionInit() first");
}

gboolean
qad_connection_begin(QadConnection *self, GCancellable *cancellable, GError **error)
{
    if (self->transaction == NULL)
        self->transaction = query_connection_begin(self->connection, cancellable, error);
    if (self->transaction != NULL)
        query_transaction_set_keeps_cursors(self->transaction, TRUE);
    return self->transaction != NULL;
}

gboolean
qad_connection_end(QadConnection *self, gboolean commit, GError **error)
{
    g_autoptr(QueryTransaction) transaction = g_steal_pointer(&self->transaction);

    if (transaction == NULL)
        return TRUE;
    if (commit)
        return query_transaction_commit(transaction, NULL, error);
    (void) query_transaction_rollback(transaction, NULL, NULL); /* one that has ended is rolled back */
    return TRUE;
}

static QueryStatement *
prepare_as(QadConnection *self, QueryLanguage language, const char *text, gboolean writes, GCancellable *cancellable,
           GError **error)
{
    if (self->transaction != NULL)
        return writes ? query_transaction_prepare_update(self->transaction, language, text, cancellable, error)
                      : query_transaction_prepare(self->transaction, language, text, cancellable, error);
    return writes ? query_connection_prepare_update(self->connection, language, text, cancellable, error)
                  : query_connection_prepare(self->connection, language, text, cancellable, error);
}

QueryStatement *
qad_connection_prepare(QadConnection *self, QueryLanguage language, const char *text, gboolean *ret_writes,
                       GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;
    QueryStatement *statement = prepare_as(self, language, text, FALSE, cancellable, &failure);

    *ret_writes = statement == NULL && qad_error_is_write(failure);
    if (*ret_writes)
        return prepare_as(self, language, text, TRUE, cancellable, error);
    if (failure != NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    return statement;
}

QueryCursor *
qad_connection_execute(QadConnection *self, QueryStatement *statement, GCancellable *cancellable, GError **error)
{
    if (self->transaction != NULL)
        return query_transaction_execute(self->transaction, statement, cancellable, error);
    return query_statement_execute(statement, cancellable, error);
}

gboolean
qad_connection_run(QadConnection *self, const char *text, GCancellable *cancellable, GError **error)
{
    if (self->transaction != NULL)
        return query_transaction_update(self->transaction, QUERY_LANGUAGE_SQL, text, NULL, cancellable, error) >= 0;
    return query_connection_update(self->connection, QUERY_LANGUAGE_SQL, text, NULL, cancellable, error) >= 0;
}

QueryCursor *
qad_connection_query(QadConnection *self, const char *text, const char *value, GError **error)
{
    g_autoptr(GCancellable) cancellable = qad_cancel_get(&self->cancel);
    GVariantDict parameters;
    GVariant *values;

    g_variant_dict_init(&parameters, NULL);
    if (value != NULL)
        g_variant_dict_insert(&parameters, "1", "s", value);
    values = g_variant_dict_end(&parameters);
    if (self->transaction != NULL)
        return query_transaction_query(self->transaction, QUERY_LANGUAGE_SQL, text, values, cancellable, error);
    return query_connection_query(self->connection, QUERY_LANGUAGE_SQL, text, values, cancellable, error);
}

char *
qad_connection_find_table(QadConnection *self, const char *table, GError **error)
{
    g_autoptr(QueryCursor) cursor = qad_connection_query(
        self, "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')", table, error);

    if (cursor == NULL || !query_cursor_next(cursor, NULL, error))
        return NULL;
    return g_strdup(query_cursor_get_string(cursor, 0, NULL));
}

char *
qad_quote(const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, "\"", -1);
    g_autofree char *doubled = g_strjoinv("\"\"", parts);

    return g_strdup_printf("\"%s\"", doubled);
}
