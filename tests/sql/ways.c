/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By libquery-client, and by D-Bus calls of its own.
 */
#include "tests/sql/ways.h"

#include <gio/gio.h>
#include <string.h>

#include "tests/sql/csv.h"

#define DAEMON_NAME "org.queryd.Query1"
#define DAEMON_PATH "/org/queryd/Query1"

struct Ways {
    QueryConnection *ring;
    QueryConnection *socket;
    QueryConnection *direct;
    QueryConnection *session; /* of a script that asks for counts */
    GDBusConnection *bus;
    char *path;
};

static const char *const query_ways[] = { "ring",  "socket",   "direct", "prepared twice", "prepared twice, direct",
                                          "Query", "QueryText" };
static const char *const update_ways[] = { "update", "prepared", "batch", "transaction", "Update", "socket" };

guint
ways_get_n_query_ways(void)
{
    return G_N_ELEMENTS(query_ways);
}

guint
ways_get_n_update_ways(void)
{
    return G_N_ELEMENTS(update_ways);
}

const char *
ways_get_query_name(guint32 way)
{
    return query_ways[way % G_N_ELEMENTS(query_ways)];
}

const char *
ways_get_update_name(guint32 way)
{
    return update_ways[way % G_N_ELEMENTS(update_ways)];
}

static void
check(const GError *error)
{
    if (error != NULL)
        g_error("lock-step: %s", error->message);
}

static QueryConnection *
connect_by(QueryTransport transport)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = query_connection_new(NULL, &error);

    check(error);
    query_connection_set_transport(connection, transport);
    query_connection_set_durability(connection, QUERY_DURABILITY_RELAXED);
    return connection;
}

static GVariant *
call(Ways *self, const char *method, GVariant *arguments, const char *type, GError **error)
{
    return g_dbus_connection_call_sync(self->bus, DAEMON_NAME, DAEMON_PATH, DAEMON_NAME, method, arguments,
                                       type != NULL ? G_VARIANT_TYPE(type) : NULL, G_DBUS_CALL_FLAGS_NONE, 60000, NULL, error);
}

Ways *
ways_new(void)
{
    Ways *self = g_new0(Ways, 1);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) opened = NULL;

    self->ring = connect_by(QUERY_TRANSPORT_RING);
    self->socket = connect_by(QUERY_TRANSPORT_SOCKETPAIR);
    self->bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    check(error);
    /* now the database is there; statistics are answered while it is still made */
    opened = query_connection_query(self->ring, QUERY_LANGUAGE_SQL, "SELECT 1", NULL, NULL, &error);
    check(error);
    g_clear_object(&opened);
    self->path = g_build_filename(g_getenv("XDG_DATA_HOME"), "queryd", "queryd.db", NULL);
    self->direct = query_connection_new_direct(self->path, NULL, &error);
    check(error);
    ways_renew_channel(self);
    return self;
}

Ways *
ways_free(Ways *self)
{
    g_clear_object(&self->ring);
    g_clear_object(&self->socket);
    g_clear_object(&self->direct);
    g_clear_object(&self->session);
    g_clear_object(&self->bus);
    g_free(self->path);
    g_free(self);
    return NULL;
}

const char *
ways_get_path(const Ways *self)
{
    return self->path;
}

void
ways_renew_channel(Ways *self)
{
    g_clear_object(&self->session);
    self->session = connect_by(QUERY_TRANSPORT_AUTO);
}

/* Queries ----------------------------------------------------------------------------------------------------------------- */

static Outcome *
query_by(QueryConnection *connection, const Step *step)
{
    GError *error = NULL;
    QueryCursor *cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, step->text, step->bound, NULL, &error);

    return outcome_take_cursor(cursor, error);
}

static gboolean
bind_value(QueryStatement *statement, const char *key, GVariant *value, GError **error)
{
    g_autoptr(GBytes) bytes = NULL;

    switch (g_variant_classify(value)) {
    case G_VARIANT_CLASS_BOOLEAN:
        return query_statement_bind_int64(statement, key, g_variant_get_boolean(value) ? 1 : 0, error);
    case G_VARIANT_CLASS_BYTE:
        return query_statement_bind_int64(statement, key, g_variant_get_byte(value), error);
    case G_VARIANT_CLASS_INT32:
        return query_statement_bind_int64(statement, key, g_variant_get_int32(value), error);
    case G_VARIANT_CLASS_INT64:
        return query_statement_bind_int64(statement, key, g_variant_get_int64(value), error);
    case G_VARIANT_CLASS_UINT64:
        return query_statement_bind_int64(statement, key, (gint64) g_variant_get_uint64(value), error);
    case G_VARIANT_CLASS_DOUBLE:
        return query_statement_bind_double(statement, key, g_variant_get_double(value), error);
    case G_VARIANT_CLASS_STRING:
        return query_statement_bind_string(statement, key, g_variant_get_string(value, NULL), -1, error);
    case G_VARIANT_CLASS_ARRAY:
        bytes = g_variant_get_data_as_bytes(value);
        return query_statement_bind_bytes(statement, key, bytes, error);
    default: /* GLib's enum: a signature is NULL */
        return query_statement_bind_null(statement, key, error);
    }
}

static gboolean
bind_all(QueryStatement *statement, GVariant *bound, GError **error)
{
    GVariantIter iter;
    const char *key;
    GVariant *value;
    gboolean ok = TRUE;

    if (bound == NULL)
        return TRUE;
    g_variant_iter_init(&iter, bound);
    while (ok && g_variant_iter_next(&iter, "{&sv}", &key, &value)) {
        ok = bind_value(statement, key, value, error);
        g_variant_unref(value);
    }
    return ok;
}

static Outcome *
execute_bound(QueryStatement *statement, const Step *step)
{
    GError *error = NULL;
    QueryCursor *cursor = NULL;

    if (bind_all(statement, step->bound, &error))
        cursor = query_statement_execute(statement, NULL, &error);
    return outcome_take_cursor(cursor, error);
}

/* Columns as they were reported before the first execution count, too. */
static Outcome *
query_twice(QueryConnection *connection, const Step *step)
{
    GError *error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, step->text, NULL, &error);
    g_autoptr(Outcome) first = NULL;
    g_autofree char *difference = NULL;
    Outcome *second;

    if (statement == NULL)
        return outcome_take_cursor(NULL, error);
    first = execute_bound(statement, step);
    second = execute_bound(statement, step);
    difference = outcome_compare(first, second);
    if (difference != NULL) {
        g_autofree char *message = g_strdup_printf("the second execution is not as the first: %s", difference);

        outcome_set_error(second, "", message);
    }
    return second;
}

static Outcome *
take_remote_error(GError *error)
{
    g_autoptr(GError) failure = error;
    Outcome *outcome = outcome_new();

    (void) g_dbus_error_strip_remote_error(failure);
    outcome_set_error(outcome, NULL, failure->message);
    return outcome;
}

/* (transfer none) or floating */
static GVariant *
get_parameters(const Step *step)
{
    return step->bound != NULL ? step->bound : g_variant_new("a{sv}", NULL);
}

static void
put_variant(GString *row, GVariant *value)
{
    gsize n_bytes;

    if (g_variant_is_of_type(value, G_VARIANT_TYPE_INT64))
        outcome_put_int64(row, g_variant_get_int64(value));
    else if (g_variant_is_of_type(value, G_VARIANT_TYPE_DOUBLE))
        outcome_put_double(row, g_variant_get_double(value));
    else if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
        outcome_put_text(row, g_variant_get_string(value, &n_bytes), strlen(g_variant_get_string(value, NULL)));
    else if (g_variant_is_of_type(value, G_VARIANT_TYPE_BYTESTRING)) {
        const guint8 *data = g_variant_get_fixed_array(value, &n_bytes, 1);

        outcome_put_blob(row, data, n_bytes);
    } else
        outcome_put_null(row);
}

static Outcome *
query_by_bus(Ways *self, const Step *step)
{
    GError *error = NULL;
    g_autoptr(GVariant) reply = call(self, "Query", g_variant_new("(ss@a{sv}a{sv})", "sql", step->text, get_parameters(step), NULL),
                                     "(asaavb)", &error);
    g_autoptr(GVariant) columns = NULL;
    g_autoptr(GVariant) rows = NULL;
    Outcome *outcome;

    if (reply == NULL)
        return take_remote_error(error);
    outcome = outcome_new();
    outcome->has_types = FALSE;
    columns = g_variant_get_child_value(reply, 0);
    rows = g_variant_get_child_value(reply, 1);
    g_variant_get_child(reply, 2, "b", &outcome->is_cut);
    for (gsize i = 0; i < g_variant_n_children(columns); i++) {
        g_autoptr(GVariant) name = g_variant_get_child_value(columns, i);

        outcome_add_column(outcome, g_variant_get_string(name, NULL), NULL);
    }
    for (gsize i = 0; i < g_variant_n_children(rows); i++) {
        g_autoptr(GVariant) values = g_variant_get_child_value(rows, i);
        GString *row = g_string_new(NULL);

        for (gsize k = 0; k < g_variant_n_children(values); k++) {
            g_autoptr(GVariant) boxed = g_variant_get_child_value(values, k);
            g_autoptr(GVariant) value = g_variant_get_variant(boxed);

            put_variant(row, value);
        }
        outcome_add_row(outcome, row);
    }
    return outcome;
}

/* QueryText takes no parameters: a statement that has some comes by Query. */
static Outcome *
query_as_text(Ways *self, const Step *step)
{
    GError *error = NULL;
    g_autoptr(GVariant) reply = NULL;
    const char *text;
    Outcome *outcome;

    if (step->bound != NULL)
        return query_by_bus(self, step);
    reply = call(self, "QueryText", g_variant_new("(sssa{sv})", "sql", step->text, "csv", NULL), "(ssb)", &error);
    if (reply == NULL)
        return take_remote_error(error);
    outcome = outcome_new();
    outcome->has_types = FALSE;
    g_variant_get_child(reply, 1, "&s", &text);
    g_variant_get_child(reply, 2, "b", &outcome->is_cut);
    csv_take(outcome, text);
    return outcome;
}

Outcome *
ways_query(Ways *self, guint32 way, gboolean counts, const Step *step)
{
    if (counts)
        return query_by(self->session, step);

    switch (way % G_N_ELEMENTS(query_ways)) {
    case 0:
        return query_by(self->ring, step);
    case 1:
        return query_by(self->socket, step);
    case 2:
        return query_by(self->direct, step);
    case 3:
        return query_twice(self->ring, step);
    case 4:
        return query_twice(self->direct, step);
    case 5:
        return query_by_bus(self, step);
    default: /* the last one of query_ways */
        return query_as_text(self, step);
    }
}

/* Updates ----------------------------------------------------------------------------------------------------------------- */

static Outcome *
update_by(QueryConnection *connection, const Step *step)
{
    GError *error = NULL;
    gint64 n = query_connection_update(connection, QUERY_LANGUAGE_SQL, step->text, step->bound, NULL, &error);

    return outcome_take_changes(n, error);
}

/* Rows, and how many have changed. */
static Outcome *
take_updated(QueryCursor *cursor, GError *error)
{
    Outcome *outcome = outcome_take_cursor(cursor != NULL ? g_object_ref(cursor) : NULL, error);

    if (outcome->error != NULL)
        return outcome;
    outcome->has_counts = TRUE;
    outcome->n_changes = query_cursor_get_changes(cursor);
    return outcome;
}

/* With what RETURNING gives. */
static Outcome *
update_prepared(QueryConnection *connection, const Step *step)
{
    GError *error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, step->text, NULL, &error);
    g_autoptr(QueryCursor) cursor = NULL;

    if (statement == NULL)
        return outcome_take_changes(0, error);
    if (bind_all(statement, step->bound, &error))
        cursor = query_statement_execute(statement, NULL, &error);
    return take_updated(cursor, error);
}

static Outcome *
update_by_bus(Ways *self, const Step *step)
{
    GError *error = NULL;
    g_autoptr(GVariantDict) options = g_variant_dict_new(NULL);
    g_autoptr(GVariant) reply = NULL;
    guint64 n_changes = 0;

    g_variant_dict_insert(options, "durability", "s", "relaxed");
    reply = call(self, "Update",
                 g_variant_new("(ss@a{sv}@a{sv})", "sql", step->text, get_parameters(step), g_variant_dict_end(options)), "(txt)",
                 &error);
    if (reply == NULL)
        return take_remote_error(error);
    g_variant_get_child(reply, 0, "t", &n_changes);
    return outcome_take_changes((gint64) n_changes, NULL);
}

static Outcome *
update_in_transaction(QueryConnection *connection, const Step *step)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryTransaction) transaction = query_connection_begin(connection, NULL, &error);
    Outcome *outcome;
    g_autoptr(Outcome) end = NULL;

    check(error);
    outcome = ways_update_in(transaction, step);
    end = ways_end(transaction, outcome->error == NULL);
    if (outcome->error == NULL && end->error != NULL)
        outcome_set_error(outcome, end->code, end->error);
    return outcome;
}

static Outcome *
batch_by(QueryConnection *connection, const GPtrArray *steps)
{
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);
    GError *error = NULL;
    Outcome *outcome;

    for (guint i = 0; i < steps->len; i++)
        query_batch_add(batch, QUERY_LANGUAGE_SQL, ((const Step *) steps->pdata[i])->text, ((const Step *) steps->pdata[i])->bound);
    outcome = outcome_take_changes(0, query_batch_execute(batch, NULL, &error) ? NULL : error);
    if (outcome->error != NULL)
        return outcome;
    outcome->n_changes = (gint64) query_batch_get_changes(batch, steps->len - 1);
    for (guint i = 0; i < steps->len; i++) {
        GString *row = g_string_new(NULL);

        outcome_put_int64(row, (gint64) query_batch_get_changes(batch, i));
        outcome_add_row(outcome, row);
    }
    return outcome;
}

Outcome *
ways_batch(Ways *self, const GPtrArray *steps)
{
    return batch_by(self->session, steps);
}

static Outcome *
update_by_batch(QueryConnection *connection, const Step *step)
{
    g_autoptr(GPtrArray) steps = g_ptr_array_new();
    Outcome *outcome;

    g_ptr_array_add(steps, (gpointer) step);
    outcome = batch_by(connection, steps);
    g_ptr_array_set_size(outcome->rows, 0);
    return outcome;
}

#define TRANSACTION_WAY 3

gboolean
ways_is_transaction(guint32 way, gboolean counts)
{
    return way % (counts ? 4 : G_N_ELEMENTS(update_ways)) == TRANSACTION_WAY;
}

Outcome *
ways_update(Ways *self, guint32 way, gboolean counts, const Step *step)
{
    QueryConnection *connection = counts ? self->session : self->ring;

    switch (way % (counts ? 4 : G_N_ELEMENTS(update_ways))) {
    case 0:
        return update_by(connection, step);
    case 1:
        return counts ? update_by(connection, step) : update_prepared(connection, step);
    case 2:
        return update_by_batch(connection, step);
    case TRANSACTION_WAY:
        return update_in_transaction(connection, step);
    case 4:
        return update_by_bus(self, step);
    default: /* the last one of update_ways */
        return update_prepared(self->socket, step);
    }
}

/* Transactions ------------------------------------------------------------------------------------------------------------ */

QueryTransaction *
ways_begin(Ways *self)
{
    g_autoptr(GError) error = NULL;
    QueryTransaction *transaction = query_connection_begin(self->session, NULL, &error);

    check(error);
    return transaction;
}

Outcome *
ways_query_in(QueryTransaction *transaction, const Step *step)
{
    GError *error = NULL;
    QueryCursor *cursor = query_transaction_query(transaction, QUERY_LANGUAGE_SQL, step->text, step->bound, NULL, &error);

    return outcome_take_cursor(cursor, error);
}

/* Every other step is executed for its rows, which RETURNING gives. */
Outcome *
ways_update_in(QueryTransaction *transaction, const Step *step)
{
    GError *error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;

    if (step->way % 2 == 0) {
        gint64 n = query_transaction_update(transaction, QUERY_LANGUAGE_SQL, step->text, step->bound, NULL, &error);

        return outcome_take_changes(n, error);
    }
    cursor = query_transaction_update_returning(transaction, QUERY_LANGUAGE_SQL, step->text, step->bound, NULL, &error);
    return take_updated(cursor, error);
}

Outcome *
ways_end(QueryTransaction *transaction, gboolean commit)
{
    GError *error = NULL;

    (void) (commit ? query_transaction_commit : query_transaction_rollback)(transaction, NULL, &error);
    return outcome_take_changes(0, error);
}
