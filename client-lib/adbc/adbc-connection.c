/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections: their functions of the driver's table, and their options.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

#define AUTOCOMMIT "adbc.connection.autocommit"
#define CATALOG "adbc.connection.catalog"
#define DB_SCHEMA "adbc.connection.db_schema"

static AdbcStatusCode
connection_new(struct AdbcConnection *connection, struct AdbcError *error)
{
    QadConnection *self = g_new0(QadConnection, 1);

    self->ref_count = 1;
    self->autocommit = TRUE;
    g_rec_mutex_init(&self->mutex);
    (void) pthread_mutex_init(&self->statements_mutex, NULL);
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
    (void) pthread_mutex_lock(&self->statements_mutex);
    for (guint i = 0; i < self->statements->len; i++)
        qad_statement_cancel(self->statements->pdata[i]);
    (void) pthread_mutex_unlock(&self->statements_mutex);
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
