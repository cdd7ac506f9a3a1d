/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections: options, transactions, and what statements and metadata run.
 *
 * A query begins no transaction, also without autocommit: while one is open no other client can write, and the daemon ends one that
 * waits. The first statement that writes begins it.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

#define AUTOCOMMIT "adbc.connection.autocommit"
#define CATALOG "adbc.connection.catalog"
#define DB_SCHEMA "adbc.connection.db_schema"

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
    g_mutex_clear(&self->statements_mutex);
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

/* Functions of the driver's table -------------------------------------------------------------------------------------- */

static AdbcStatusCode
connection_new(struct AdbcConnection *connection, struct AdbcError *error)
{
    QadConnection *self = g_new0(QadConnection, 1);

    self->ref_count = 1;
    self->autocommit = TRUE;
    g_rec_mutex_init(&self->mutex);
    g_mutex_init(&self->statements_mutex);
    self->statements = g_ptr_array_new();
    qad_cancel_init(&self->cancel);
    connection->private_data = self;
    return ADBC_STATUS_OK;
}

static gboolean
check_new(struct AdbcConnection *connection, GError **error)
{
    return connection->private_data != NULL ||
           qad_set_error(error, ADBC_STATUS_INVALID_STATE, "the connection is not allocated: call AdbcConnectionNew() first");
}

static gboolean
set_autocommit(QadConnection *self, const char *value, GError **error)
{
    gboolean autocommit;

    if (!qad_parse_boolean(AUTOCOMMIT, value, &autocommit, error))
        return FALSE;
    if (autocommit && !qad_connection_end(self, TRUE, error))
        return FALSE;
    self->autocommit = autocommit;
    return TRUE;
}

static void
set_option(QadConnection *self, const char *key, const char *value, GError **error)
{
    guint timeout_msec = self->options.timeout_msec;
    gboolean known;

    if (strcmp(key, AUTOCOMMIT) == 0) {
        (void) set_autocommit(self, value, error);
        return;
    }
    if (!qad_options_set(&self->options, key, value, &known, error))
        return;
    if (!known)
        (void) qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED, "a connection has no option '%s'", key);
    else if (timeout_msec != self->options.timeout_msec && self->connection != NULL)
        query_connection_set_timeout_msec(self->connection, self->options.timeout_msec);
}

static AdbcStatusCode
connection_set_option(struct AdbcConnection *connection, const char *key, const char *value, struct AdbcError *error)
{
    QadConnection *self = connection->private_data;
    GError *failure = NULL;

    if (!check_new(connection, &failure))
        return qad_report(error, failure);
    g_rec_mutex_lock(&self->mutex);
    set_option(self, key, value, &failure);
    g_rec_mutex_unlock(&self->mutex);
    return qad_report(error, failure);
}

static char *
get_option(QadConnection *self, const char *key)
{
    if (strcmp(key, AUTOCOMMIT) == 0)
        return g_strdup(self->autocommit ? "true" : "false");
    if (strcmp(key, CATALOG) == 0)
        return g_strdup("main");
    if (strcmp(key, DB_SCHEMA) == 0)
        return g_strdup("");
    return qad_options_get(&self->options, key);
}

static AdbcStatusCode
connection_get_option(struct AdbcConnection *connection, const char *key, char *value, size_t *n_bytes, struct AdbcError *error)
{
    GError *failure = NULL;

    if (!check_new(connection, &failure))
        return qad_report(error, failure);
    return qad_give_option(key, get_option(connection->private_data, key), value, n_bytes, error);
}

/* What was set for the connection before it is opened prevails over the database. */
static void
inherit(QadConnection *self, const QadOptions *options)
{
    if (self->options.language == QUERY_LANGUAGE_SQL)
        self->options.language = options->language;
    if (self->options.form == QUERY_ARROW_TEXT)
        self->options.form = options->form;
    if (self->options.timeout_msec == 0)
        self->options.timeout_msec = options->timeout_msec;
}

static AdbcStatusCode
connection_init(struct AdbcConnection *connection, struct AdbcDatabase *database, struct AdbcError *error)
{
    QadConnection *self = connection->private_data;
    const QadDatabase *from = database->private_data;
    GError *failure = NULL;

    if (!check_new(connection, &failure))
        return qad_report(error, failure);
    g_rec_mutex_lock(&self->mutex);
    if (from == NULL || self->connection != NULL)
        (void) qad_set_error(&failure, ADBC_STATUS_INVALID_STATE,
                             from == NULL ? "the database is not initialised" : "the connection is open already");
    else if (from->path != NULL)
        self->connection = query_connection_new_direct(*from->path != '\0' ? from->path : NULL, NULL, &failure);
    else
        self->connection = query_connection_new_for_store(from->store, NULL, &failure);
    if (failure == NULL) {
        inherit(self, &from->options);
        query_connection_set_timeout_msec(self->connection, self->options.timeout_msec);
    }
    g_rec_mutex_unlock(&self->mutex);
    return qad_report(error, failure);
}

static AdbcStatusCode
end(struct AdbcConnection *connection, gboolean commit, struct AdbcError *error)
{
    QadConnection *self = connection->private_data;
    GError *failure = NULL;

    if (!qad_connection_check(self, &failure))
        return qad_report(error, failure);
    g_rec_mutex_lock(&self->mutex);
    if (self->autocommit)
        (void) qad_set_error(&failure, ADBC_STATUS_INVALID_STATE, "in autocommit mode there is no transaction to end");
    else
        (void) qad_connection_end(self, commit, &failure);
    g_rec_mutex_unlock(&self->mutex);
    return qad_report(error, failure);
}

static AdbcStatusCode
connection_commit(struct AdbcConnection *connection, struct AdbcError *error)
{
    return end(connection, TRUE, error);
}

static AdbcStatusCode
connection_rollback(struct AdbcConnection *connection, struct AdbcError *error)
{
    return end(connection, FALSE, error);
}

static AdbcStatusCode
connection_cancel(struct AdbcConnection *connection, struct AdbcError *error)
{
    QadConnection *self = connection->private_data;
    GError *failure = NULL;

    if (!check_new(connection, &failure))
        return qad_report(error, failure);
    qad_cancel_now(&self->cancel);
    g_mutex_lock(&self->statements_mutex);
    for (guint i = 0; i < self->statements->len; i++)
        qad_statement_cancel(self->statements->pdata[i]);
    g_mutex_unlock(&self->statements_mutex);
    return ADBC_STATUS_OK;
}

/* An open transaction is rolled back. Streams that are read still go on outside of one. */
static AdbcStatusCode
connection_release(struct AdbcConnection *connection, struct AdbcError *error)
{
    QadConnection *self = connection->private_data;
    GError *failure = NULL;

    if (!check_new(connection, &failure))
        return qad_report(error, failure);
    g_rec_mutex_lock(&self->mutex);
    (void) qad_connection_end(self, FALSE, NULL);
    g_rec_mutex_unlock(&self->mutex);
    connection->private_data = NULL;
    qad_connection_unref(self);
    return ADBC_STATUS_OK;
}

static AdbcStatusCode
connection_read_partition(struct AdbcConnection *connection, const uint8_t *partition, size_t n_bytes,
                          struct ArrowArrayStream *stream, struct AdbcError *error)
{
    GError *failure = NULL;

    (void) qad_set_error(&failure, ADBC_STATUS_NOT_IMPLEMENTED, "results have no partitions");
    return qad_report(error, failure);
}

void
qad_connection_fill(struct AdbcDriver *driver, gboolean is_newer)
{
    driver->ConnectionNew = connection_new;
    driver->ConnectionInit = connection_init;
    driver->ConnectionSetOption = connection_set_option;
    driver->ConnectionCommit = connection_commit;
    driver->ConnectionRollback = connection_rollback;
    driver->ConnectionRelease = connection_release;
    driver->ConnectionReadPartition = connection_read_partition;
    driver->ConnectionGetInfo = qad_get_info;
    driver->ConnectionGetObjects = qad_get_objects;
    driver->ConnectionGetTableSchema = qad_get_table_schema;
    driver->ConnectionGetTableTypes = qad_get_table_types;
    if (!is_newer)
        return;
    driver->ConnectionGetOption = connection_get_option;
    driver->ConnectionCancel = connection_cancel;
}
