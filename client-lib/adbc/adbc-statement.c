/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements: a text or a table to ingest into, what is bound, and its execution.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

#include "client-lib/adbc/adbc-build.h"

#define BIND_BY_NAME "adbc.statement.bind_by_name"
#define TARGET "adbc.ingest.target_table"
#define TARGET_CATALOG "adbc.ingest.target_catalog"
#define TARGET_SCHEMA "adbc.ingest.target_db_schema"
#define TEMPORARY "adbc.ingest.temporary"
#define MODE "adbc.ingest.mode"

static const char *const modes[] = {
    [QAD_INGEST_CREATE] = MODE ".create",
    [QAD_INGEST_APPEND] = MODE ".append",
    [QAD_INGEST_REPLACE] = MODE ".replace",
    [QAD_INGEST_CREATE_APPEND] = MODE ".create_append",
};

void
qad_statement_cancel(QadStatement *self)
{
    qad_cancel_now(&self->cancel);
}

/* Locks the connection; (nullable): NULL with an error. */
static QadStatement *
begin(struct AdbcStatement *statement, GError **error)
{
    QadStatement *self = statement->private_data;

    if (self == NULL) {
        (void) qad_set_error(error, ADBC_STATUS_INVALID_STATE, "the statement is not allocated: call AdbcStatementNew() first");
        return NULL;
    }
    g_rec_mutex_lock(&self->connection->mutex);
    return self;
}

static AdbcStatusCode
end(QadStatement *self, GError *failure, struct AdbcError *error)
{
    g_rec_mutex_unlock(&self->connection->mutex);
    return qad_report(error, failure);
}

static void
drop_bound(QadStatement *self)
{
    if (self->bound.release != NULL)
        self->bound.release(&self->bound);
    self->bound.release = NULL;
}

/* Life and options ------------------------------------------------------------------------------------------------------ */

static AdbcStatusCode
statement_new(struct AdbcConnection *connection, struct AdbcStatement *statement, struct AdbcError *error)
{
    QadConnection *from = connection->private_data;
    GError *failure = NULL;
    QadStatement *self;

    if (!qad_connection_check(from, &failure))
        return qad_report(error, failure);
    self = g_new0(QadStatement, 1);
    self->connection = qad_connection_ref(from);
    self->options = from->options;
    qad_cancel_init(&self->cancel);
    (void) pthread_mutex_lock(&from->statements_mutex);
    g_ptr_array_add(from->statements, self);
    (void) pthread_mutex_unlock(&from->statements_mutex);
    statement->private_data = self;
    return ADBC_STATUS_OK;
}

static AdbcStatusCode
statement_release(struct AdbcStatement *statement, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);

    if (self == NULL)
        return qad_report(error, failure);
    (void) pthread_mutex_lock(&self->connection->statements_mutex);
    (void) g_ptr_array_remove(self->connection->statements, self);
    (void) pthread_mutex_unlock(&self->connection->statements_mutex);
    drop_bound(self);
    g_clear_object(&self->prepared);
    g_rec_mutex_unlock(&self->connection->mutex);
    qad_connection_unref(self->connection);
    qad_cancel_clear(&self->cancel);
    g_free(self->text);
    g_free(self->target);
    g_free(self);
    statement->private_data = NULL;
    return ADBC_STATUS_OK;
}

static void
set_text(QadStatement *self, const char *text)
{
    g_clear_object(&self->prepared);
    g_free(self->text);
    self->text = g_strdup(text);
}

/* Where there is only one possible value. */
static gboolean
check_only(const char *key, const char *value, const char *only, GError **error)
{
    return value == NULL || strcmp(value, only) == 0 ||
           qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED, "option '%s' is '%s', but can only be '%s'", key, value, only);
}

/* @ret_known: FALSE for another option, without an error */
static gboolean
set_ingest_option(QadStatement *self, const char *key, const char *value, gboolean *ret_known, GError **error)
{
    *ret_known = TRUE;
    if (strcmp(key, TARGET) == 0) {
        set_text(self, NULL);
        g_free(self->target);
        self->target = g_strdup(value);
        return TRUE;
    }
    if (strcmp(key, MODE) == 0) {
        for (guint i = 0; i < G_N_ELEMENTS(modes); i++)
            if (g_strcmp0(value, modes[i]) == 0) {
                self->ingest_mode = (QadIngestMode) i;
                return TRUE;
            }
        return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "there is no '%s' '%s'", key, value != NULL ? value : "NULL");
    }
    if (strcmp(key, TARGET_CATALOG) == 0)
        return check_only(key, value, "main", error);
    if (strcmp(key, TARGET_SCHEMA) == 0)
        return check_only(key, value, "", error);
    if (strcmp(key, TEMPORARY) == 0)
        return check_only(key, value, "false", error);
    *ret_known = FALSE;
    return TRUE;
}

static gboolean
set_option(QadStatement *self, const char *key, const char *value, GError **error)
{
    QueryLanguage language = self->options.language;
    gboolean known;

    if (strcmp(key, BIND_BY_NAME) == 0)
        return qad_parse_boolean(key, value, &self->by_name, error);
    if (!set_ingest_option(self, key, value, &known, error))
        return FALSE;
    if (known)
        return TRUE;
    if (strcmp(key, "queryd.timeout_ms") != 0 && !qad_options_set(&self->options, key, value, &known, error))
        return FALSE;
    if (!known)
        return qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED, "a statement has no option '%s'", key);
    if (language != self->options.language)
        g_clear_object(&self->prepared);
    return TRUE;
}

static AdbcStatusCode
statement_set_option(struct AdbcStatement *statement, const char *key, const char *value, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);

    if (self == NULL)
        return qad_report(error, failure);
    (void) set_option(self, key, value, &failure);
    return end(self, failure, error);
}

static char *
get_option(const QadStatement *self, const char *key)
{
    if (strcmp(key, BIND_BY_NAME) == 0)
        return g_strdup(self->by_name ? "true" : "false");
    if (strcmp(key, TARGET) == 0)
        return g_strdup(self->target);
    if (strcmp(key, MODE) == 0)
        return g_strdup(modes[self->ingest_mode]);
    return qad_options_get(&self->options, key);
}

static AdbcStatusCode
statement_get_option(struct AdbcStatement *statement, const char *key, char *value, size_t *n_bytes, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);
    char *found;

    if (self == NULL)
        return qad_report(error, failure);
    found = get_option(self, key);
    (void) end(self, NULL, NULL);
    return qad_give_option(key, found, value, n_bytes, error);
}

static AdbcStatusCode
statement_set_sql_query(struct AdbcStatement *statement, const char *text, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);

    if (self == NULL)
        return qad_report(error, failure);
    set_text(self, text);
    g_clear_pointer(&self->target, g_free);
    return end(self, NULL, error);
}

static AdbcStatusCode
statement_bind(struct AdbcStatement *statement, struct ArrowArray *batch, struct ArrowSchema *schema, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);

    if (self == NULL)
        return qad_report(error, failure);
    drop_bound(self);
    qad_stream_init_once(&self->bound, schema, batch);
    return end(self, NULL, error);
}

static AdbcStatusCode
statement_bind_stream(struct AdbcStatement *statement, struct ArrowArrayStream *stream, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);

    if (self == NULL)
        return qad_report(error, failure);
    drop_bound(self);
    self->bound = *stream;
    stream->release = NULL;
    return end(self, NULL, error);
}

static AdbcStatusCode
statement_cancel(struct AdbcStatement *statement, struct AdbcError *error)
{
    GError *failure = NULL;

    if (statement->private_data != NULL)
        qad_statement_cancel(statement->private_data);
    else
        (void) qad_set_error(&failure, ADBC_STATUS_INVALID_STATE, "the statement is not allocated");
    return qad_report(error, failure);
}

/* Execution ------------------------------------------------------------------------------------------------------------- */

static gboolean
prepare(QadStatement *self, GCancellable *cancellable, GError **error)
{
    if (self->prepared != NULL)
        return TRUE;
    if (self->text == NULL)
        return qad_set_error(error, ADBC_STATUS_INVALID_STATE, "the statement has no text: call AdbcStatementSetSqlQuery() first");
    self->prepared = qad_connection_prepare(self->connection, self->options.language, self->text, &self->writes, cancellable,
                                            error);
    return self->prepared != NULL;
}

static AdbcStatusCode
statement_prepare(struct AdbcStatement *statement, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);
    g_autoptr(GCancellable) cancellable = NULL;

    if (self == NULL)
        return qad_report(error, failure);
    cancellable = qad_cancel_get(&self->cancel);
    (void) prepare(self, cancellable, &failure);
    return end(self, failure, error);
}

/* @ret_cursor: (out) (nullable): NULL when there are no rows */
static gboolean
run_update(QadStatement *self, GCancellable *cancellable, QueryCursor **ret_cursor, gint64 *ret_changes, GError **error)
{
    g_autoptr(QueryCursor) cursor = NULL;

    if (!self->connection->autocommit && !qad_connection_begin(self->connection, cancellable, error))
        return FALSE;
    if (self->bound.release != NULL)
        return qad_rows_update(self->connection, self->prepared, &self->bound, self->by_name, cancellable, ret_cursor, ret_changes,
                               error);
    cursor = qad_connection_execute(self->connection, self->prepared, cancellable, error);
    if (cursor == NULL)
        return FALSE;
    if (ret_cursor != NULL && query_cursor_get_n_columns(cursor) > 0) {
        *ret_cursor = g_steal_pointer(&cursor);
        return TRUE;
    }
    if (!qad_rows_drain(cursor, cancellable, error))
        return FALSE;
    *ret_changes = query_cursor_get_changes(cursor);
    return TRUE;
}

static QueryCursor *
run_query(QadStatement *self, GCancellable *cancellable, GError **error)
{
    QueryCursor *cursor = NULL;

    if (self->bound.release == NULL || qad_rows_bind_one(self->prepared, &self->bound, self->by_name, error))
        cursor = qad_connection_execute(self->connection, self->prepared, cancellable, error);
    query_statement_clear_bindings(self->prepared);
    return cursor;
}

static void
give_nothing(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;

    qad_schema_init(&schema, "+s", "", 0);
    qad_stream_init_once(stream, &schema, NULL);
}

static gboolean
execute(QadStatement *self, struct ArrowArrayStream *stream, gint64 *ret_rows, GError **error)
{
    g_autoptr(GCancellable) cancellable = qad_cancel_get(&self->cancel);
    QueryCursor *cursor = NULL;
    gboolean ok;

    if (self->target != NULL) {
        ok = qad_rows_ingest(self, cancellable, ret_rows, error);
    } else if (!prepare(self, cancellable, error)) {
        ok = FALSE;
    } else if (self->writes) {
        *ret_rows = 0;
        ok = run_update(self, cancellable, stream != NULL ? &cursor : NULL, ret_rows, error);
        if (cursor != NULL)
            *ret_rows = -1;
        if (!ok) /* it may keep rows that were not sent */
            g_clear_object(&self->prepared);
    } else {
        cursor = run_query(self, cancellable, error);
        ok = cursor != NULL;
    }
    drop_bound(self);
    if (ok && stream != NULL && cursor != NULL)
        return qad_stream_init(stream, self->connection, cursor, self->options.form, cancellable, NULL, error);
    g_clear_object(&cursor);
    if (ok && stream != NULL)
        give_nothing(stream);
    return ok;
}

static AdbcStatusCode
statement_execute_query(struct AdbcStatement *statement, struct ArrowArrayStream *stream, int64_t *ret_rows,
                        struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);
    gint64 n_rows = -1;

    if (self == NULL)
        return qad_report(error, failure);
    if (execute(self, stream, &n_rows, &failure) && ret_rows != NULL)
        *ret_rows = n_rows;
    return end(self, failure, error);
}

/* Types come from values: a query is run until they are known. */
static gboolean
find_schema(QadStatement *self, struct ArrowSchema *ret_schema, GError **error)
{
    g_autoptr(GCancellable) cancellable = qad_cancel_get(&self->cancel);
    struct ArrowArrayStream stream;
    QueryCursor *cursor;

    if (!prepare(self, cancellable, error))
        return FALSE;
    if (self->writes)
        return qad_set_error(error, ADBC_STATUS_NOT_IMPLEMENTED, "the schema of a statement that writes is known when it has run");
    for (guint i = 0; self->bound.release == NULL && i < query_statement_get_n_parameters(self->prepared); i++) {
        g_autofree char *name = g_strdup_printf("%u", i + 1);

        (void) query_statement_bind_null(self->prepared, name, NULL);
    }
    cursor = run_query(self, cancellable, error);
    drop_bound(self);
    if (cursor == NULL || !qad_stream_init(&stream, self->connection, cursor, self->options.form, cancellable, ret_schema, error))
        return FALSE;
    stream.release(&stream);
    return TRUE;
}

static AdbcStatusCode
statement_execute_schema(struct AdbcStatement *statement, struct ArrowSchema *ret_schema, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);

    if (self == NULL)
        return qad_report(error, failure);
    (void) find_schema(self, ret_schema, &failure);
    return end(self, failure, error);
}

/* SQLite's parameters have no types. */
static AdbcStatusCode
statement_get_parameter_schema(struct AdbcStatement *statement, struct ArrowSchema *ret_schema, struct AdbcError *error)
{
    GError *failure = NULL;
    QadStatement *self = begin(statement, &failure);
    guint n;

    if (self == NULL)
        return qad_report(error, failure);
    if (self->prepared == NULL) {
        (void) qad_set_error(&failure, ADBC_STATUS_INVALID_STATE, "the statement is not prepared");
        return end(self, failure, error);
    }
    n = query_statement_get_n_parameters(self->prepared);
    qad_schema_init(ret_schema, "+s", "", n);
    for (guint i = 0; i < n; i++) {
        const char *name = query_statement_get_parameter_name(self->prepared, i);

        qad_schema_init(ret_schema->children[i], "n", name != NULL ? name : "?", 0);
    }
    return end(self, NULL, error);
}

static AdbcStatusCode
statement_set_substrait_plan(struct AdbcStatement *statement, const uint8_t *plan, size_t n_bytes, struct AdbcError *error)
{
    GError *failure = NULL;

    (void) qad_set_error(&failure, ADBC_STATUS_NOT_IMPLEMENTED, "statements are texts of SQL or SPARQL, not plans of Substrait");
    return qad_report(error, failure);
}

static AdbcStatusCode
statement_execute_partitions(struct AdbcStatement *statement, struct ArrowSchema *schema, struct AdbcPartitions *partitions,
                             int64_t *ret_rows, struct AdbcError *error)
{
    GError *failure = NULL;

    (void) qad_set_error(&failure, ADBC_STATUS_NOT_IMPLEMENTED, "results have no partitions");
    return qad_report(error, failure);
}

void
qad_statement_fill(struct AdbcDriver *driver, gboolean is_newer)
{
    driver->StatementNew = statement_new;
    driver->StatementRelease = statement_release;
    driver->StatementSetOption = statement_set_option;
    driver->StatementSetSqlQuery = statement_set_sql_query;
    driver->StatementSetSubstraitPlan = statement_set_substrait_plan;
    driver->StatementPrepare = statement_prepare;
    driver->StatementBind = statement_bind;
    driver->StatementBindStream = statement_bind_stream;
    driver->StatementGetParameterSchema = statement_get_parameter_schema;
    driver->StatementExecuteQuery = statement_execute_query;
    driver->StatementExecutePartitions = statement_execute_partitions;
    if (!is_newer)
        return;
    driver->StatementGetOption = statement_get_option;
    driver->StatementCancel = statement_cancel;
    driver->StatementExecuteSchema = statement_execute_schema;
}
