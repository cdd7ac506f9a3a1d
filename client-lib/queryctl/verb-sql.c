/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sql, sparql, update and explain: statements from the command line, a file or standard input.
 */
#include <stdio.h>
#include <unistd.h>

#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/transaction.h"
#include "client-lib/queryctl/verbs.h"

static int
run_verb(QctlSession *session, QctlAccess access)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = qctl_read_statements(qctl_session_get_arguments(session), &error);
    g_autoptr(QctlSink) sink = NULL;

    if (text == NULL)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    if (qctl_session_get_arguments(session)->watch)
        return qctl_watch(session, text);

    sink = qctl_session_create_sink(session);
    return qctl_run_script(session, sink, text, access);
}

static int
run_sql(QctlSession *session)
{
    return run_verb(session, QCTL_ACCESS_READ);
}

const QctlVerb qctl_sql_verb = {
    "sql",
    "[STATEMENT|-]",
    "run queries and print their rows",
    QCTL_OPTIONS(QCTL_STATEMENT_OPTIONS, &qctl_option_watch, &qctl_option_store, &qctl_option_direct),
    .n_words_max = 1,
    .reads_statements = true,
    .read_only_hint = "Statements that write: queryctl update",
    .run = run_sql,
};

static int
run_remote(QctlSession *session, const char *text)
{
    g_autoptr(GError) error = NULL;

    if (!qctl_export(session, STDOUT_FILENO, text, qctl_session_get_arguments(session)->output.remote_format, &error))
        return qctl_report_statement(session, error, NULL, text);
    return QCTL_EXIT_OK;
}

/* The daemon's warnings about @text, to standard error. They are the first lines of its plan; a text without a plan fails later. */
static void
print_warnings(QctlSession *session, const char *text)
{
    static const char prefix[] = "warning: ";
    QueryConnection *connection = qctl_session_connect(session, NULL);
    g_autofree char *sql = NULL;
    g_autofree char *plan = NULL;
    g_auto(GStrv) lines = NULL;

    if (connection == NULL || !query_connection_explain(connection, QUERY_LANGUAGE_SPARQL, text, &sql, &plan,
                                                        qctl_session_get_cancellable(session), NULL))
        return;
    lines = g_strsplit(plan, "\n", -1);
    for (guint i = 0; lines[i] != NULL && g_str_has_prefix(lines[i], prefix); i++)
        (void) fprintf(stderr, "queryctl: %s\n", lines[i]);
}

/* Only the daemon knows which queries give triples: it refuses to write others as Turtle before they run. In a transaction, and
 * without the daemon, they are rows. */
bool
qctl_print_triples(QctlSession *session, const char *text, int *ret_code)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    g_autoptr(GError) error = NULL;

    if (arguments->place.direct != NULL || arguments->place.remote != NULL || qctl_session_get_transaction(session) != NULL)
        return false;
    print_warnings(session, text);
    if (qctl_session_is_format_chosen(session) || arguments->parameters->len > 0)
        return false;
    if (qctl_export(session, qctl_session_get_output(session), text, "turtle", &error)) {
        *ret_code = QCTL_EXIT_OK;
        return true;
    }
    if (g_error_matches(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER) ||
        g_error_matches(error, QUERY_ERROR, QUERY_ERROR_READ_ONLY))
        return false;
    *ret_code = qctl_report_statement(session, error, NULL, text);
    return true;
}

static void
prepare_sparql(QctlArguments *arguments)
{
    arguments->sparql = true;
}

static int
run_sparql(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = qctl_read_statements(arguments, &error);
    g_autoptr(QctlSink) sink = NULL;
    int code = QCTL_EXIT_OK;

    if (text == NULL)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    if (arguments->watch)
        return qctl_watch(session, text);
    if (qctl_print_triples(session, text, &code))
        return code;
    if (qctl_session_get_format(session) == QCTL_FORMAT_REMOTE)
        return run_remote(session, text);
    sink = qctl_session_create_sink(session);
    return qctl_run_script(session, sink, text, QCTL_ACCESS_READ);
}

const QctlVerb qctl_sparql_verb = {
    "sparql",
    "[QUERY|-]",
    "run a SPARQL query and print its rows or triples",
    QCTL_OPTIONS(QCTL_STATEMENT_OPTIONS, &qctl_option_watch, &qctl_option_store, QCTL_REMOTE_OPTIONS),
    .n_words_max = 1,
    .reads_statements = true,
    .remote_formats = QCTL_REMOTE_PLAIN,
    .prepare = prepare_sparql,
    .read_only_hint = "Statements that write: queryctl update --sparql",
    .run = run_sparql,
};

static int
run_as_one(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    int code;

    if (!qctl_transaction_begin(session, &error))
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    code = run_verb(session, QCTL_ACCESS_WRITE);
    if (code == QCTL_EXIT_OK && !qctl_transaction_commit(session, &error))
        return qctl_session_report(session, g_steal_pointer(&error), "COMMIT");
    return qctl_transaction_leave(session, code);
}

static int
run_update(QctlSession *session)
{
    if (qctl_session_get_arguments(session)->transaction)
        return run_as_one(session);
    return qctl_transaction_leave(session, run_verb(session, QCTL_ACCESS_WRITE));
}

static const QctlOption option_transaction = { "transaction", 0, NULL, "all statements as one: all or nothing",
                                               .offset = G_STRUCT_OFFSET(QctlArguments, transaction) };
const QctlVerb qctl_update_verb = {
    "update",
    "[STATEMENT|-]",
    "run statements that write",
    QCTL_OPTIONS(QCTL_STATEMENT_OPTIONS, &qctl_option_sparql, &option_transaction, &qctl_option_store, QCTL_REMOTE_OPTIONS),
    .n_words_max = 1,
    .reads_statements = true,
    .run = run_update,
};

static int
run_explain(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = qctl_read_statements(qctl_session_get_arguments(session), &error);
    g_autofree char *sql = NULL;
    g_autofree char *plan = NULL;
    g_autoptr(QctlSink) sink = NULL;
    QueryConnection *connection = NULL;
    QueryLanguage language = qctl_session_get_arguments(session)->sparql ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;

    if (text != NULL)
        connection = qctl_session_connect(session, &error);
    if (connection == NULL ||
        !query_connection_explain(connection, language, text, &sql, &plan, qctl_session_get_cancellable(session), &error))
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    sink = qctl_session_create_sink(session);
    g_string_append(qctl_sink_get_buffer(sink), plan);
    if (!g_str_has_suffix(plan, "\n"))
        g_string_append_c(qctl_sink_get_buffer(sink), '\n');
    if (!qctl_sink_flush(sink, &error))
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    return QCTL_EXIT_OK;
}

const QctlVerb qctl_explain_verb = {
    "explain",
    "[STATEMENT|-]",
    "show how a statement would be run",
    QCTL_OPTIONS(&qctl_option_file, &qctl_option_sparql, &qctl_option_store),
    .n_words_max = 1,
    .reads_statements = true,
    .run = run_explain,
};
