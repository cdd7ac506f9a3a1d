/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kill-clients: eight clients that write and eight that read through the library, while the test kills the daemon.
 *
 * Ends when stdin does; then looks for what was acknowledged and prints one line of JSON. An update after an error is a new one,
 * so each may be there once or not at all, and only whole. A result that ends without an error has to be whole.
 */
#include <query-client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_CLIENTS 8
#define FIXED_N_ROWS 20000
#define SQL QUERY_LANGUAGE_SQL
/* SQL: the content of a payload, from :c and :k */
#define PAYLOAD(what) "CAST(printf('%s %d of %d ', " what ", :k, :c)||hex(zeroblob(5000)) AS BLOB)"

typedef struct Client {
    guint index;
    GThread *thread;
    GByteArray *acknowledged; /* writers: 1 for unit k, from 1, that was */
    guint n_acknowledged;
    guint n_results; /* readers */
    guint n_errors;
    guint n_wrong; /* results that look whole and are not, errors that a dead daemon cannot explain */
} Client;

static gint is_over; /* atomic */

G_GNUC_PRINTF(2, 3)
static void
complain(Client *client, const char *format, ...)
{
    va_list arguments;

    client->n_wrong++;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void
note_error(Client *client, const GError *error, const char *what)
{
    client->n_errors++;
    if (!g_error_matches(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED) &&
        !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE) && !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_CLOSED))
        complain(client, "%s: unexpected error: %s", what, error->message);
}

static QueryConnection *
open_connection(void)
{
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 100; i++) {
        QueryConnection *connection = query_connection_new(NULL, &error);

        if (connection != NULL)
            return connection;
        g_clear_error(&error);
    }
    g_error("no connection in a hundred attempts");
}

/* Writers --------------------------------------------------------------------------------------------------------------- */

static GVariant *
make_parameters(guint index, guint k, gboolean has_text)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, ":c", "u", index);
    g_variant_dict_insert(&dict, ":k", "u", k);
    if (has_text) {
        g_autofree char *text = g_strdup_printf("unit %u of %u: %0*u", k, index, (int) (k * 37 % 2000), k);

        g_variant_dict_insert(&dict, ":t", "s", text);
    }
    return g_variant_dict_end(&dict);
}

static gboolean
write_batch(QueryConnection *connection, guint index, guint k, GError **error)
{
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);

    query_batch_add(batch, SQL, "INSERT INTO a VALUES(:c, :k, :t)", make_parameters(index, k, TRUE));
    query_batch_add(batch, SQL, "INSERT INTO b VALUES(:k, :c)", make_parameters(index, k, FALSE));
    return query_batch_execute(batch, NULL, error);
}

/* A trigger makes the other half. */
static gboolean
write_statement(QueryStatement *statement, guint index, guint k, GError **error)
{
    return query_statement_bind_int64(statement, ":c", index, error) && query_statement_bind_int64(statement, ":k", k, error) &&
           query_statement_update(statement, NULL, error) == 1;
}

/* A payload in a file for each unit, and one that is replaced again and again. */
static gboolean
write_payloads(QueryConnection *connection, guint index, guint k, GError **error)
{
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);

    query_batch_add(batch, SQL, "INSERT INTO item VALUES(:c, :k, queryd_store_payload(" PAYLOAD("'unit'") "))",
                    make_parameters(index, k, FALSE));
    query_batch_add(batch, SQL, "UPDATE latest SET k=:k, p=queryd_replace_payload(p, " PAYLOAD("'latest'") ") WHERE c=:c",
                    make_parameters(index, k, FALSE));
    return query_batch_execute(batch, NULL, error);
}

static gboolean
write_sparql(QueryConnection *connection, guint index, guint k, GError **error)
{
    g_autofree char *text = g_strdup_printf("DELETE { <urn:w:%u> <urn:count> ?n } INSERT { <urn:w:%u> <urn:count> ?m . "
                                            "<urn:w:%u:%u> <urn:of> <urn:w:%u> ; <urn:label> 'unit %u' } "
                                            "WHERE { <urn:w:%u> <urn:count> ?n BIND(?n + 1 AS ?m) }",
                                            index, index, index, k, index, k, index);

    return query_connection_update(connection, QUERY_LANGUAGE_SPARQL, text, NULL, NULL, error) >= 0;
}

static gpointer
run_writer(gpointer data)
{
    Client *client = data;
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(QueryStatement) statement = NULL;

    while (!g_atomic_int_get(&is_over)) {
        g_autoptr(GError) error = NULL;
        guint k = client->acknowledged->len + 1;
        guint8 acknowledged;

        if (client->index % 4 == 1 && statement == NULL) {
            statement = query_connection_prepare_update(connection, SQL, "INSERT INTO single VALUES(:c, :k)", NULL, &error);
            if (statement == NULL) {
                note_error(client, error, "prepare");
                continue;
            }
        }
        acknowledged = client->index % 4 == 0   ? write_batch(connection, client->index, k, &error)
                       : client->index % 4 == 1 ? write_statement(statement, client->index, k, &error)
                       : client->index % 4 == 2 ? write_sparql(connection, client->index, k, &error)
                                                : write_payloads(connection, client->index, k, &error);
        g_byte_array_append(client->acknowledged, &acknowledged, 1);
        client->n_acknowledged += acknowledged;
        if (!acknowledged)
            note_error(client, error, "update");
    }
    return NULL;
}

/* Readers --------------------------------------------------------------------------------------------------------------- */

static void
read_result(Client *client, QueryConnection *connection, const char *text, gint64 n_expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, text, NULL, NULL, &error);
    gint64 n = 0;

    while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
        n += query_cursor_get_int64(cursor, 0);
    if (error != NULL) {
        note_error(client, error, "query");
        return;
    }
    client->n_results++;
    if (n != n_expected)
        complain(client, "a result looks whole and is not: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " by %s", n, n_expected,
                 text);
}

static gpointer
run_reader(gpointer data)
{
    Client *client = data;
    g_autoptr(QueryConnection) connection = open_connection();

    while (!g_atomic_int_get(&is_over)) {
        read_result(client, connection, "SELECT x, t FROM fixed", (gint64) FIXED_N_ROWS * (FIXED_N_ROWS + 1) / 2);
        read_result(client, connection, "SELECT (SELECT count(*) FROM a)-(SELECT count(*) FROM b)", 0);
    }
    return NULL;
}

/* Before and after ------------------------------------------------------------------------------------------------------ */

static void
set_up(QueryConnection *connection)
{
    static const char *const statements[] = {
        "CREATE TABLE a(c INTEGER, k INTEGER, t, UNIQUE(c, k))",
        "CREATE TABLE b(k INTEGER, c INTEGER, UNIQUE(c, k))",
        "CREATE TABLE single(c INTEGER, k INTEGER)",
        "CREATE TRIGGER both AFTER INSERT ON single BEGIN INSERT INTO a VALUES(new.c, new.k, 'single'); "
        "INSERT INTO b VALUES(new.k, new.c); END",
        "CREATE TABLE item(c INTEGER, k INTEGER, p INTEGER)",
        "CREATE TABLE latest(c INTEGER PRIMARY KEY, k INTEGER, p INTEGER)",
        "INSERT INTO latest VALUES(3, 0, queryd_store_payload(zeroblob(9999))), (7, 0, queryd_store_payload(zeroblob(9998)))",
        "CREATE TABLE fixed(x INTEGER, t TEXT)",
    };
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);
    g_autoptr(GError) error = NULL;
    g_autofree char *fill = g_strdup_printf("INSERT INTO fixed WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
                                            "LIMIT %d) SELECT i, 'some text of row '||i FROM n",
                                            FIXED_N_ROWS);

    for (gsize i = 0; i < G_N_ELEMENTS(statements); i++)
        query_batch_add(batch, SQL, statements[i], NULL);
    query_batch_add(batch, SQL, fill, NULL);
    for (guint i = 0; i < N_CLIENTS; i++) {
        g_autofree char *text = g_strdup_printf("INSERT DATA { <urn:w:%u> <urn:count> 0 }", i);

        query_batch_add(batch, QUERY_LANGUAGE_SPARQL, text, NULL);
    }
    if (!query_batch_execute(batch, NULL, &error))
        g_error("cannot set up: %s", error->message);
}

/* Marks with 2 the units that are there. Returns: how many are there that were never sent, or in part */
static guint
find_units(QueryConnection *connection, Client *clients, QueryLanguage language, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, language, text, NULL, NULL, &error);
    guint n_wrong = 0;

    while (cursor != NULL && query_cursor_next(cursor, NULL, &error)) {
        guint index = (guint) query_cursor_get_int64(cursor, 0);
        guint k = (guint) query_cursor_get_int64(cursor, 1);

        if (index >= N_CLIENTS || k < 1 || k > clients[index].acknowledged->len || query_cursor_get_int64(cursor, 2) != 1) {
            fprintf(stderr, "unit %u of client %u is wrong\n", k, index);
            n_wrong++;
        } else {
            clients[index].acknowledged->data[k - 1] |= 2;
        }
    }
    if (error != NULL)
        g_error("%s: %s", text, error->message);
    return n_wrong;
}

static guint
count_wrong_counters(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(
        connection, QUERY_LANGUAGE_SPARQL,
        "SELECT ?w ?n (COUNT(?u) AS ?m) { ?w <urn:count> ?n OPTIONAL { ?u <urn:of> ?w } } GROUP BY ?w ?n", NULL, NULL, &error);
    guint n_rows = 0;
    guint n_wrong = 0;

    while (cursor != NULL && query_cursor_next(cursor, NULL, &error)) {
        n_rows++;
        n_wrong += query_cursor_get_int64(cursor, 1) != query_cursor_get_int64(cursor, 2) ? 1 : 0;
    }
    if (error != NULL)
        g_error("%s", error->message);
    return n_wrong + (n_rows != N_CLIENTS ? 1 : 0);
}

static void
report(QueryConnection *connection, Client *writers, Client *readers)
{
    guint n_acknowledged = 0, n_lost = 0, n_unknown = 0, n_results = 0, n_errors = 0, n_wrong = 0;
    guint n_half = find_units(connection, writers, SQL,
                              "SELECT a.c, a.k, count(b.k) FROM a LEFT JOIN b USING(c, k) GROUP BY a.c, a.k");

    n_half += find_units(connection, writers, SQL, "SELECT c, k, 0 FROM b WHERE (c, k) NOT IN (SELECT c, k FROM a)");
    n_half += find_units(connection, writers, QUERY_LANGUAGE_SPARQL,
                         "SELECT (SUBSTR(STR(?w), 7) AS ?c) (STRAFTER(STR(?u), CONCAT(STR(?w), ':')) AS ?k) "
                         "(COUNT(?l) AS ?n) { ?u <urn:of> ?w OPTIONAL { ?u <urn:label> ?l } } GROUP BY ?u ?w");
    n_half += find_units(
        connection, writers, SQL,
        "WITH u(c, k, p) AS (SELECT * FROM item) SELECT c, k, queryd_payload(p)=CAST(printf('unit %d of %d ', k, c)||"
        "hex(zeroblob(5000)) AS BLOB) FROM u");
    n_half += find_units(connection, writers, SQL,
                         "SELECT c, k, queryd_payload(p)=CAST(printf('latest %d of %d ', k, c)||hex(zeroblob(5000)) AS BLOB) "
                         "FROM latest WHERE k=(SELECT max(k) FROM item WHERE item.c=latest.c)");
    n_half += count_wrong_counters(connection);
    for (guint i = 0; i < N_CLIENTS; i++) {
        n_acknowledged += writers[i].n_acknowledged;
        for (guint k = 0; k < writers[i].acknowledged->len; k++) {
            n_lost += writers[i].acknowledged->data[k] == 1 ? 1 : 0;
            n_unknown += writers[i].acknowledged->data[k] == 2 ? 1 : 0;
        }
        n_results += readers[i].n_results;
        n_errors += writers[i].n_errors + readers[i].n_errors;
        n_wrong += writers[i].n_wrong + readers[i].n_wrong;
    }
    printf("{\"acknowledged\": %u, \"lost\": %u, \"in_part\": %u, \"there_after_an_error\": %u, \"whole_results\": %u, "
           "\"errors\": %u, \"wrong\": %u}\n",
           n_acknowledged, n_lost, n_half, n_unknown, n_results, n_errors, n_wrong);
}

int
main(void)
{
    g_autoptr(QueryConnection) connection = open_connection();
    Client writers[N_CLIENTS] = { 0 };
    Client readers[N_CLIENTS] = { 0 };

    set_up(connection);
    for (guint i = 0; i < N_CLIENTS; i++) {
        writers[i] = (Client){ .index = i, .acknowledged = g_byte_array_new() };
        readers[i] = (Client){ .index = i };
        writers[i].thread = g_thread_new("writer", run_writer, &writers[i]);
        readers[i].thread = g_thread_new("reader", run_reader, &readers[i]);
    }
    puts("ready");
    (void) fflush(stdout);
    while (getchar() != EOF)
        continue;

    g_atomic_int_set(&is_over, 1);
    for (guint i = 0; i < N_CLIENTS; i++) {
        g_thread_join(writers[i].thread);
        g_thread_join(readers[i].thread);
    }
    report(connection, writers, readers);
    for (guint i = 0; i < N_CLIENTS; i++)
        g_byte_array_unref(writers[i].acknowledged);
    return EXIT_SUCCESS;
}
