/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store's dictionary as the resolver of SQL functions.
 */
#include "daemon/read/evaluation.h"

#include "daemon/base/error.h"
#include "daemon/base/interrupt.h"
#include "daemon/functions/linear.h"
#include "daemon/functions/register.h"
#include "daemon/plan/compile.h"
#include "daemon/quads/dictionary.h"
#include "daemon/quads/rdf-quad.h"
#include "daemon/rdf/expression-code.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/read/client.h"
#include "daemon/read/counting.h"
#include "daemon/read/payload-functions.h"
#include "daemon/service/service-access.h"
#include "daemon/sqlite/builtin/fts-calls.h"
#include "daemon/sqlite/builtin/pattern-calls.h"
#include "daemon/sqlite/builtin/strftime.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/tally/tally-check.h"
#include "daemon/tally/tally.h"

/* Operations of SQLite between two questions. With a thread that watches they cost one load each; else they read the clock. */
#define WATCHED_OPS 100
#define ALONE_OPS 1000

static gboolean
get_term(gpointer data, gint64 id, QdTerm *ret_term, GError **error)
{
    QdTallyTerms *terms = qd_connection_get_attachment(data, QD_ATTACHMENT_TALLY_TERMS);
    QdDictionary *dictionary;
    gint64 missing;

    if (terms != NULL && qd_tally_terms_find(terms, id, ret_term))
        return TRUE;
    dictionary = qd_dictionary_get(data, error);
    if (dictionary == NULL)
        return FALSE;
    while (terms != NULL && qd_tally_terms_get_missing(terms, &missing)) {
        if (!qd_dictionary_get_given_term(dictionary, missing, ret_term, error))
            return FALSE;
        qd_tally_terms_record_missing(terms, ret_term);
    }
    if (!qd_dictionary_get_given_term(dictionary, id, ret_term, error))
        return FALSE;
    if (terms != NULL)
        qd_tally_terms_record(terms, id, ret_term);
    return TRUE;
}

static gboolean
find_id(gpointer data, const QdTerm *term, gint64 *ret_id, GError **error)
{
    QdDictionary *dictionary = qd_dictionary_get(data, error);

    return dictionary != NULL && qd_dictionary_find_id(dictionary, term, ret_id, error);
}

static void
note_id(gpointer data, const QdTerm *term, gint64 id)
{
    QdDictionary *dictionary = qd_dictionary_get(data, NULL);

    if (dictionary != NULL)
        qd_dictionary_note_id(dictionary, term, id);
}

static void
release(gpointer data)
{
    QdDictionary *dictionary = qd_dictionary_get(data, NULL);

    if (dictionary != NULL)
        qd_dictionary_release(dictionary);
}

QdResolver
qd_evaluation_get_resolver(QdConnection *connection)
{
    return (QdResolver){ get_term, find_id, connection, note_id, release };
}

static gboolean
take_service(gpointer client, const QdLimits *limits, GError **error)
{
    if (!qd_client_check_service(client, error))
        return FALSE;
    if (qd_client_charge(client, QD_CHARGE_SERVICE, qd_limits_get(limits, QD_LIMIT_SERVICE_REQUESTS)))
        return TRUE;
    qd_limit_set_error(error, limits, QD_LIMIT_SERVICE_REQUESTS, "too many SERVICEs of this client ask endpoints now");
    return FALSE;
}

static void
give_service(gpointer client)
{
    qd_client_discharge(client, QD_CHARGE_SERVICE);
}

static void
free_service(gpointer data)
{
    QdServiceAccess *access = data;

    g_clear_error(&access->failure);
    g_free(access);
}

void
qd_evaluation_set_client(QdConnection *connection, QdClient *client)
{
    QdServiceAccess *access = qd_connection_get_attachment(connection, QD_ATTACHMENT_SERVICE);

    qd_connection_set_compile_owner(connection, client);
    if (access == NULL)
        return;
    access->client = client;
    access->has_asked = FALSE;
    g_clear_error(&access->failure);
}

gboolean
qd_evaluation_has_asked(QdConnection *connection)
{
    const QdServiceAccess *access = qd_connection_get_attachment(connection, QD_ATTACHMENT_SERVICE);

    return access != NULL && access->has_asked;
}

gboolean
qd_evaluation_take_failure(QdConnection *connection, GError **error)
{
    return qd_service_take_failure(qd_connection_get_attachment(connection, QD_ATTACHMENT_SERVICE), error);
}

gboolean
qd_evaluation_register(QdConnection *connection, const QdLimits *limits, GError **error)
{
    const QdResolver resolver = qd_evaluation_get_resolver(connection);
    sqlite3 *db = qd_connection_get_db(connection);
    QdEvaluationContext *context;
    QdServiceAccess *service;
    QdTallyTerms *terms;

    if (qd_connection_get_attachment(connection, QD_ATTACHMENT_EVALUATION) != NULL)
        return TRUE;
    if (!qd_tally_register(db, qd_limits_get(limits, QD_LIMIT_TALLY_CACHE_BYTES), &terms, error))
        return FALSE;
    qd_connection_set_attachment(connection, QD_ATTACHMENT_TALLY_TERMS, terms, NULL);
    context = g_new0(QdEvaluationContext, 1);
    context->limits = limits;
    service = g_new0(QdServiceAccess, 1);
    *service = (QdServiceAccess){ .resolver = resolver, .limits = limits, .take_func = take_service, .give_func = give_service };
    qd_connection_set_attachment(connection, QD_ATTACHMENT_SERVICE, service, free_service);
    qd_connection_set_attachment(connection, QD_ATTACHMENT_EVALUATION, context, g_free);
    return qd_payload_functions_register(connection, limits, error) && qd_counting_register(connection, error) &&
           qd_pattern_calls_register(db, error) && qd_strftime_register(db, limits, error) && qd_fts_calls_register(db, error) &&
           qd_functions_register_linear(db, error) && qd_service_register(db, service, error) &&
           qd_functions_register(db, &resolver, context, error) && qd_rdf_quad_register(connection, error);
}

void
qd_evaluation_watch(QdConnection *connection, int n_ops, int (*func)(void *), void *data)
{
    QdEvaluationContext *context = qd_connection_get_attachment(connection, QD_ATTACHMENT_EVALUATION);

    sqlite3_progress_handler(qd_connection_get_db(connection), n_ops, func, data);
    if (context != NULL) {
        context->interrupted = func;
        context->data = data;
    }
}

void
qd_evaluation_set_interrupter(QdConnection *connection, QdInterrupter *interrupter)
{
    qd_connection_set_attachment(connection, QD_ATTACHMENT_INTERRUPTER, interrupter, NULL);
}

static int
on_progress(void *data)
{
    return qd_interrupt_poll();
}

static gboolean
look_at_nothing(void *data)
{
    return FALSE;
}

void
qd_evaluation_begin_watch(QdConnection *connection, QdWatch *watch)
{
    QdInterrupter *interrupter = qd_connection_get_attachment(connection, QD_ATTACHMENT_INTERRUPTER);

    if (watch->interrupt.look == NULL)
        watch->interrupt.look = look_at_nothing;
    watch->db = qd_connection_get_db(connection);
    qd_interrupter_begin(interrupter, watch);
    qd_evaluation_watch(connection, interrupter != NULL ? WATCHED_OPS : ALONE_OPS,
                        watch->progress != NULL ? watch->progress : on_progress, watch->interrupt.data);
}

void
qd_evaluation_end_watch(QdConnection *connection, QdWatch *watch)
{
    qd_evaluation_watch(connection, 0, NULL, NULL);
    qd_interrupter_end(qd_connection_get_attachment(connection, QD_ATTACHMENT_INTERRUPTER), watch);
    if (watch->interrupt.was_forced)
        qd_connection_spoil(connection, watch->interrupt.has_lost, watch->balance);
}

gboolean
qd_evaluation_check_columns(QdConnection *connection, GPtrArray *messages, GArray *wrong, GError **error)
{
    QdTallyTerms *terms = qd_connection_get_attachment(connection, QD_ATTACHMENT_TALLY_TERMS);
    sqlite3 *db = qd_connection_get_db(connection);
    QdTallyReader *reader;
    QdPolicy policy;
    int r;

    if (!qd_connection_begin(connection, error))
        return FALSE;
    policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    reader = qd_tally_terms_make_reader(terms, db);
    r = qd_tally_check(reader, db, messages, wrong);
    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    reader = qd_tally_reader_free(reader);
    (void) qd_connection_set_policy(connection, policy);
    return qd_connection_end(connection, r == SQLITE_OK ? error : NULL) && r == SQLITE_OK;
}

guint64
qd_evaluation_get_n_columns(gboolean stored)
{
    return stored ? qd_tally_reader_get_n_stored() : qd_tally_reader_get_n_indexed();
}

void
qd_evaluation_start(QdConnection *connection)
{
    qd_evaluation_context_start(qd_connection_get_attachment(connection, QD_ATTACHMENT_EVALUATION));
}

static gboolean
bind_term(QdConnection *connection, sqlite3_stmt *stmt, int number, const QdTerm *term, GError **error)
{
    QdDictionary *dictionary = qd_dictionary_get(connection, error);
    g_autoptr(GError) failure = NULL;
    g_autoptr(GByteArray) blob = NULL;
    gint64 id;
    int r;

    if (dictionary == NULL)
        return FALSE;
    if (number > sqlite3_bind_parameter_count(stmt)) /* of a part that needs no SQL, such as MINUS without a shared variable */
        return TRUE;
    if (qd_dictionary_find_id(dictionary, term, &id, &failure)) {
        r = sqlite3_bind_int64(stmt, number, id);
    } else if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    } else {
        blob = g_byte_array_new();
        qd_term_blob_append(blob, term);
        r = sqlite3_bind_blob64(stmt, number, blob->data, blob->len, SQLITE_TRANSIENT);
    }
    if (r != SQLITE_OK)
        qd_sqlite_set_call_error(error, qd_connection_get_db(connection), r, "cannot bind constant %d", number);
    return r == SQLITE_OK;
}

static void
bind_program(sqlite3_stmt *stmt, int number, const QdSqlConstant *constant)
{
    g_autoptr(GByteArray) program = NULL;
    gsize done = 0;

    if (constant->n_holes == 0) {
        (void) sqlite3_bind_blob64(stmt, number, constant->program, constant->n_program, SQLITE_STATIC);
        return;
    }
    program = g_byte_array_new();
    for (guint i = 0; i < constant->n_holes; i++) {
        g_byte_array_append(program, constant->program + done, (guint) (constant->holes[i].offset - done));
        done = constant->holes[i].offset;
        qd_expression_put_term(program, constant->holes[i].term);
    }
    g_byte_array_append(program, constant->program + done, (guint) (constant->n_program - done));
    (void) sqlite3_bind_blob64(stmt, number, program->data, program->len, SQLITE_TRANSIENT);
}

gboolean
qd_evaluation_bind(QdConnection *connection, sqlite3_stmt *stmt, const QdSparqlStatement *statement, GHashTable *parameters,
                   GError **error)
{
    for (guint i = 0; i < statement->n_constants; i++) {
        const QdSqlConstant *constant = &statement->constants[i];
        const QdTerm *term = constant->term;

        if (constant->program != NULL) {
            bind_program(stmt, (int) i + 1, constant);
            continue;
        }
        if (term == NULL && parameters != NULL)
            term = g_hash_table_lookup(parameters, constant->parameter);
        if (term == NULL) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '$%s' has no value", constant->parameter);
            return FALSE;
        }
        if (!bind_term(connection, stmt, (int) i + 1, term, error))
            return FALSE;
    }
    return TRUE;
}
