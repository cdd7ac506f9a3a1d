/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that look at a statement without running it: what it reads (Subscribe); and at the stored prefixes.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/call/call-classes.h"
#include "daemon/call/call-private.h"
#include "daemon/notify/key-source.h"
#include "daemon/notify/read-set.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/sqlite-error.h"

/* The generation is read first: a later change of the schema is reported later. */
static void
run_subscribe(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    const QdRunText what = { statement->language, statement->text, strlen(statement->text), call->options.base };
    g_autoptr(QdRun) probe = NULL;
    QdConnection *connection;

    call->result.generation = qd_writer_get_generation(context->writer);
    if (call->options.keys && statement->language == QD_LANGUAGE_SPARQL) {
        qd_error_set(error, QW_ERROR_UNSUPPORTED, "option 'keys' is for SQL: RDF data has no rows; Changed names its graphs");
        return;
    }
    probe = qd_run_new(context->pool, call->client, NULL, &what, QD_POLICY_READ, &context->limits, error);
    if (probe == NULL)
        return;
    connection = qd_run_get_reader(probe)->connection;
    if (statement->language == QD_LANGUAGE_SPARQL)
        call->result.reads = qd_read_set_new_for_sparql(connection, statement->text, call->options.base,
                                                        qd_client_get_access(call->client), &context->limits, error);
    else
        call->result.reads = qd_read_set_new_for_sql(connection, statement->text, &context->limits, error);
    if (call->options.keys && call->result.reads != NULL && statement->language == QD_LANGUAGE_SQL)
        call->result.source = qd_key_source_find(connection, statement->text, &context->limits);
}

static void
run_prefixes(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    g_autoptr(QdConnection) connection = qd_pool_open_connection(context->pool, QD_CONNECTION_READER, error);
    sqlite3 *db = connection != NULL ? qd_connection_get_db(connection) : NULL;
    sqlite3_stmt *stmt = NULL;
    int r;

    if (connection == NULL)
        return;
    r = sqlite3_prepare_v2(db, "SELECT prefix, iri FROM queryd_prefix ORDER BY prefix", -1, &stmt, NULL);
    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
            for (int i = 0; i < 2; i++)
                g_ptr_array_add(call->result.messages, g_strdup((const char *) sqlite3_column_text(stmt, i)));
    (void) sqlite3_finalize(stmt);
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
}

const QdCallClass qd_subscribe_call = {
    .name = "Subscribe", .options = QD_TAKES(BASE) | QD_TAKES(KEYS), .reads = TRUE, .obeys_access = TRUE, .run = run_subscribe
};
const QdCallClass qd_prefixes_call = { .name = "Prefixes", .reads = TRUE, .is_internal = TRUE, .run = run_prefixes };
