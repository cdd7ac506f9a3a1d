/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sql, sparql, update and explain: statements from the command line, a file or standard input.
 */
#include <unistd.h>

#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/verbs.h"

static void
on_changed(QueryConnection *connection, guint64 generation, const char *const *tables, gpointer user_data)
{
    *(bool *) user_data = true;
}

static gboolean
on_interrupt(GCancellable *cancellable, gpointer user_data)
{
    return G_SOURCE_CONTINUE;
}

/* Sleeps until the database was changed. Returns: false when interrupted. */
static bool
wait_for_change(QctlSession *session, const bool *changed)
{
    g_autoptr(GSource) source = g_cancellable_source_new(qctl_session_get_cancellable(session));

    g_source_set_callback(source, G_SOURCE_FUNC(on_interrupt), NULL, NULL);
    (void) g_source_attach(source, NULL);
    while (!*changed && !qctl_session_is_interrupted(session))
        (void) g_main_context_iteration(NULL, TRUE);
    g_source_destroy(source);
    return !qctl_session_is_interrupted(session);
}

/* A change that comes while the statements run makes them run once more. */
static int
watch(QctlSession *session, const char *text)
{
    QctlFormat format = qctl_session_get_format(session);
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    bool changed = false;
    int code;

    if (connection == NULL || !query_connection_watch_changes(connection, qctl_session_get_cancellable(session), &error))
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    (void) g_signal_connect(connection, "changed", G_CALLBACK(on_changed), &changed);
    for (bool first = true;; first = false) {
        g_autoptr(QctlSink) sink = qctl_sink_new(STDOUT_FILENO, false);

        changed = false;
        if (!first && (format == QCTL_FORMAT_TABLE || format == QCTL_FORMAT_MARKDOWN))
            g_string_append_c(qctl_sink_get_buffer(sink), '\n');
        code = qctl_run_script(session, sink, text, QCTL_ACCESS_READ);
        if (code != QCTL_EXIT_OK || !wait_for_change(session, &changed))
            break;
    }
    (void) g_signal_handlers_disconnect_by_data(connection, &changed);
    return code != QCTL_EXIT_OK ? code : QCTL_EXIT_INTERRUPTED;
}

static int
run_verb(QctlSession *session, QctlAccess access)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = qctl_read_statements(qctl_session_get_arguments(session), &error);
    g_autoptr(QctlSink) sink = NULL;

    if (text == NULL)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    if (qctl_session_get_arguments(session)->watch)
        return watch(session, text);

    sink = qctl_session_create_sink(session);
    return qctl_run_script(session, sink, text, access);
}

int
qctl_verb_sql(QctlSession *session)
{
    return run_verb(session, QCTL_ACCESS_READ);
}

static int
run_remote(QctlSession *session, const char *text)
{
    g_autoptr(GError) error = NULL;

    if (!qctl_export(session, STDOUT_FILENO, text, qctl_session_get_arguments(session)->remote_format, &error))
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    return QCTL_EXIT_OK;
}

int
qctl_verb_sparql(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    if (qctl_session_get_format(session) != QCTL_FORMAT_REMOTE)
        return run_verb(session, QCTL_ACCESS_READ);

    text = qctl_read_statements(qctl_session_get_arguments(session), &error);
    return text != NULL ? run_remote(session, text) : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

int
qctl_verb_update(QctlSession *session)
{
    return run_verb(session, QCTL_ACCESS_WRITE);
}

int
qctl_verb_explain(QctlSession *session)
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
