/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of each kind of client.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/call/call-classes.h"
#include "daemon/job/job-classes.h"
#include "tests/crash/workload-private.h"

#define XSD_INTEGER "http://www.w3.org/2001/XMLSchema#integer"

/* A row's text is this word, so many times. */
static guint
make_word(guint client, guint k, char *word, gsize n_word)
{
    (void) snprintf(word, n_word, "client %u unit %u; ", client, k);
    return 1 + (client * 7 + k * 13) % 20 + (k % 41 == 0 ? 500 : 0);
}

char *
workload_make_text(guint client, guint k)
{
    char word[64];
    guint n_words = make_word(client, k, word, sizeof word);
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < n_words; i++)
        g_string_append(text, word);
    return g_string_free(text, FALSE);
}

gboolean
workload_text_is(guint client, guint k, const char *text, gsize n_bytes)
{
    char word[64];
    guint n_words = make_word(client, k, word, sizeof word);
    gsize n_word = strlen(word);

    if (text == NULL || n_bytes != n_words * n_word)
        return FALSE;
    for (guint i = 0; i < n_words; i++)
        if (memcmp(text + i * n_word, word, n_word) != 0)
            return FALSE;
    return TRUE;
}

GBytes *
workload_make_payload(guint client, guint k)
{
    guint32 mixed = ((client * 131 + k) * 2654435761u) >> 8;
    guint content = mixed % WORKLOAD_N_CONTENTS;
    gsize n_bytes = 100 + content * 1700;
    uint8_t *data = g_malloc(n_bytes);

    for (gsize i = 0; i < n_bytes; i++)
        data[i] = (uint8_t) (i * (content + 1) + (i >> 8) + content);
    if (mixed / WORKLOAD_N_CONTENTS % 2 == 0)
        (void) snprintf((char *) data, n_bytes, "unit %u of client %u", k, client);
    return g_bytes_new_take(data, n_bytes);
}

static void
add_int64(QdParameters *parameters, const char *key, gint64 value)
{
    const QwValue integer = { .type = QW_TYPE_INTEGER, .integer = value };

    qd_parameters_add(parameters, key, &integer);
}

static void
add_unit_statement(QdCall *call, const char *sql, guint client, guint k, const char *text)
{
    QdParameters *parameters = qd_parameters_new();
    const QwValue value = { .type = QW_TYPE_TEXT, .data = text, .n_bytes = text != NULL ? (uint32_t) strlen(text) : 0 };

    if (strstr(sql, ":c") != NULL)
        add_int64(parameters, ":c", client);
    if (strstr(sql, ":k") != NULL)
        add_int64(parameters, ":k", k);
    if (text != NULL)
        qd_parameters_add(parameters, ":t", &value);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, sql, parameters);
}

static void
add_row_statements(QdCall *call, guint client, guint k)
{
    g_autofree char *text = workload_make_text(client, k);

    add_unit_statement(call, "INSERT INTO a VALUES(:c, :k, :t)", client, k, text);
    add_unit_statement(call, "UPDATE balance SET n=n+1 WHERE client=:c", client, k, NULL);
    add_unit_statement(call, "INSERT INTO b(k, client) VALUES(:k, :c)", client, k, NULL);
}

static QdCall *
make_rows_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(&qd_batch_call, client->client);

    add_row_statements(call, client->index, k);
    return call;
}

static QdCall *
make_schema_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(&qd_batch_call, client->client);
    g_autofree char *create = g_strdup_printf("CREATE TABLE s_%u(x)", k);
    g_autofree char *alter = g_strdup_printf("ALTER TABLE s_%u ADD COLUMN y DEFAULT 7", k);
    g_autofree char *index = g_strdup_printf("CREATE INDEX s_%u_x ON s_%u(x, y)", k, k);

    qd_call_add_statement(call, QD_LANGUAGE_SQL, create, NULL);
    add_row_statements(call, client->index, k);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, "CREATE TABLE passing(x)", NULL);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, alter, NULL);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, "INSERT INTO passing SELECT t FROM a", NULL);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, index, NULL);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, "DROP TABLE passing", NULL);
    return call;
}

static QdCall *
make_sparql_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(&qd_update_call, client->client);
    g_autofree char *text = g_strdup_printf(
        "DELETE { <urn:s:%u> <urn:p:count> ?n } INSERT { <urn:s:%u> <urn:p:count> ?m . <urn:s:%u:%u> <urn:p:of> <urn:s:%u> ; "
        "<urn:p:label> \"label %u of %u\"@en } WHERE { <urn:s:%u> <urn:p:count> ?n BIND(?n + 1 AS ?m) }",
        client->index, client->index, client->index, k, client->index, k, client->index, client->index);

    qd_call_add_statement(call, QD_LANGUAGE_SPARQL, text, NULL);
    return call;
}

static int
make_source(const void *data, gsize n_bytes)
{
    int fd = memfd_create("source", MFD_CLOEXEC);

    g_assert_cmpint(write(fd, data, n_bytes), ==, (gssize) n_bytes);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    return fd;
}

/* As the library does it: beside the store's files, without a name and without a writer. -1 where that cannot be.
 */
static int
make_own_file(const char *directory, const void *data, gsize n_bytes)
{
    g_autofree char *folder = g_build_filename(directory, "payload", NULL);
    g_auto(QdFd) writer = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char path[64];

    if (writer < 0 || write(writer, data, n_bytes) != (gssize) n_bytes)
        return -1;
    (void) snprintf(path, sizeof path, "/proc/self/fd/%d", writer);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static QdCall *
make_import_call(const WorkloadClient *client, const char *format, const char *document)
{
    QdCall *call = qd_call_new(&qd_import_call, client->client);

    call->format = g_strdup(format);
    call->fd = make_source(document, strlen(document));
    return call;
}

static QdCall *
make_import_rows_call(const WorkloadClient *client, guint k)
{
    g_autoptr(GString) document = g_string_new("k,j,t\n");
    QdCall *call;

    for (guint j = 0; j < WORKLOAD_IMPORT_N_ROWS; j++)
        g_string_append_printf(document, "%u,%u,row %u of import %u\n", k, j, j, k);
    call = make_import_call(client, "csv", document->str);
    call->options.transfer.table = g_strdup("c");
    return call;
}

static QdCall *
make_import_quads_call(const WorkloadClient *client, guint k)
{
    g_autoptr(GString) document = g_string_new(NULL);
    QdCall *call;

    for (guint j = 0; j < client->workload->config.n_import_quads; j++)
        g_string_append_printf(document, "<urn:i:%u> <urn:p:import> \"%u\"^^<" XSD_INTEGER "> .\n", j, k);
    call = make_import_call(client, "ntriples", document->str);
    call->options.transfer.graph = g_strdup("urn:g:import");
    call->options.transfer.replace = TRUE;
    return call;
}

static QdCall *
make_payload_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(&qd_batch_call, client->client);
    g_autoptr(GBytes) content = workload_make_payload(client->index, k);
    const QwValue value = { .type = QW_TYPE_BLOB,
                            .data = g_bytes_get_data(content, NULL),
                            .n_bytes = (uint32_t) g_bytes_get_size(content) };
    QdParameters *parameters = qd_parameters_new();
    g_autofree char *expire = g_strdup_printf("DELETE FROM p WHERE client=:c AND k<=:k-%d AND queryd_delete_payload(id)",
                                              WORKLOAD_N_PAYLOADS);

    add_int64(parameters, ":c", client->index);
    add_int64(parameters, ":k", k);
    qd_parameters_add(parameters, ":d", &value);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, "INSERT INTO p VALUES(:c, :k, queryd_store_payload(:d))", parameters);
    add_unit_statement(call, expire, client->index, k, NULL);
    return call;
}

/* The media type tells the unit. */
static QdCall *
make_replace_payload_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(client->payload_id == 0 ? &qd_store_payload_call : &qd_replace_payload_call, client->client);
    g_autoptr(GBytes) content = workload_make_payload(client->index, k);

    if (k % 4 != 0)
        call->fd = make_own_file(client->workload->config.directory, g_bytes_get_data(content, NULL), g_bytes_get_size(content));
    if (call->fd < 0)
        call->fd = make_source(g_bytes_get_data(content, NULL), g_bytes_get_size(content));
    call->payload_id = client->payload_id;
    call->options.media_type = g_strdup_printf("unit/%u-%u", client->index, k);
    return call;
}

/* Each must fail, and do no harm to the others. */
static QdCall *
make_failure_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(&qd_batch_call, client->client);

    add_row_statements(call, client->index, k);
    switch (k % 4) {
    case 0:
        qd_call_add_statement(call, QD_LANGUAGE_SQL, "INSERT OR ROLLBACK INTO balance VALUES(0, 0)", NULL);
        break;
    case 1:
        qd_call_add_statement(call, QD_LANGUAGE_SQL, "INSERT INTO balance VALUES(0, 0)", NULL);
        break;
    case 2:
        qd_call_add_statement(call, QD_LANGUAGE_SQL, "INSERT INTO abort VALUES(1)", NULL);
        break;
    default:
        qd_call_add_statement(call, QD_LANGUAGE_SQL, "INSERT INTO nowhere VALUES(1)", NULL);
        break;
    }
    return call;
}

static QdCall *
make_maintenance_call(const WorkloadClient *client, guint k)
{
    static const char *const texts[] = { "VACUUM", "ANALYZE", "REINDEX b_client" };
    QdCall *call;

    if (k % 4 == 0)
        return qd_call_new(&qd_optimize_call, client->client);
    call = qd_call_new(&qd_update_call, client->client);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, texts[k % 4 - 1], NULL);
    return call;
}

static QdCall *
make_query_call(const WorkloadClient *client, guint k)
{
    QdCall *call = qd_call_new(&qd_query_text_call, client->client);
    gboolean is_sql = client->kind == WORKLOAD_QUERY;

    call->format = g_strdup("csv");
    qd_call_add_statement(call, is_sql ? QD_LANGUAGE_SQL : QD_LANGUAGE_SPARQL,
                          is_sql ? "SELECT x FROM fixed ORDER BY x DESC" : "SELECT ?x { <urn:fixed> <urn:p:fixed> ?x } ORDER BY ?x",
                          NULL);
    return call;
}

gboolean
workload_is_relaxed(const WorkloadClient *client, guint k)
{
    switch (client->workload->config.durability) {
    case WORKLOAD_DURABLE:
        return FALSE;
    case WORKLOAD_RELAXED:
        return TRUE;
    case WORKLOAD_MIXED:
        return k % 3 != 0;
    }
    return FALSE;
}

QdCall *
workload_make_call(const WorkloadClient *client, guint k)
{
    static QdCall *(*const makers[])(const WorkloadClient *client, guint k) = {
        [WORKLOAD_ROWS] = make_rows_call,
        [WORKLOAD_SPARQL] = make_sparql_call,
        [WORKLOAD_SCHEMA] = make_schema_call,
        [WORKLOAD_IMPORT_ROWS] = make_import_rows_call,
        [WORKLOAD_IMPORT_QUADS] = make_import_quads_call,
        [WORKLOAD_PAYLOAD] = make_payload_call,
        [WORKLOAD_REPLACE_PAYLOAD] = make_replace_payload_call,
        [WORKLOAD_FAILURE] = make_failure_call,
        [WORKLOAD_MAINTENANCE] = make_maintenance_call,
        [WORKLOAD_QUERY] = make_query_call,
        [WORKLOAD_SPARQL_QUERY] = make_query_call,
    };
    QdCall *call = makers[client->kind](client, k);

    call->options.execution.relaxed_durability = workload_is_relaxed(client, k);
    return call;
}

QdCall *
workload_make_set_up_call(const Workload *self, QdClient *client)
{
    static const char *const statements[] = {
        "CREATE TABLE a(client INTEGER, k INTEGER, t TEXT NOT NULL, PRIMARY KEY(client, k))",
        "CREATE TABLE b(k INTEGER, client INTEGER, UNIQUE(client, k))",
        "CREATE INDEX b_client ON b(client)",
        "CREATE TABLE c(k INTEGER, j INTEGER, t TEXT)",
        "CREATE TABLE balance(client INTEGER PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE p(client INTEGER, k INTEGER, id INTEGER, PRIMARY KEY(client, k)) WITHOUT ROWID",
        "CREATE TABLE abort(x)",
        "CREATE TRIGGER abort_all BEFORE INSERT ON abort BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END",
        "CREATE TABLE fixed(x INTEGER)",
        "INSERT INTO fixed WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 100) SELECT i FROM n",
    };
    QdCall *call = qd_call_new(&qd_batch_call, client);
    g_autoptr(GString) update = g_string_new("INSERT DATA { <urn:fixed> <urn:p:fixed> 1, 2, 3, 4, 5 .");

    for (gsize i = 0; i < G_N_ELEMENTS(statements); i++)
        qd_call_add_statement(call, QD_LANGUAGE_SQL, statements[i], NULL);
    for (guint i = 0; i < self->clients->len; i++) {
        add_unit_statement(call, "INSERT INTO balance VALUES(:c, 0)", i, 0, NULL);
        g_string_append_printf(update, " <urn:s:%u> <urn:p:count> 0 .", i);
    }
    g_string_append(update, " }");
    qd_call_add_statement(call, QD_LANGUAGE_SPARQL, update->str, NULL);
    return call;
}
