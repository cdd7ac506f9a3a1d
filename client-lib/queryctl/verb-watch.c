/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch: the result of a query, again after each change of it.
 *
 * On a terminal a table is redrawn; jsonl gives rows that came (+) and went (-), other formats the whole result again.
 * Subscribing comes before the first run, so that no change is missed; one that comes during a run makes another run follow.
 */
#include <string.h>
#include <unistd.h>

#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/verbs.h"

#define CLEAR_SCREEN "\033[H\033[2J"
#define LOST_MAX 3 /* so often in a row a daemon may end amid a run */

typedef struct Watch {
    QctlSession *session;
    const char *text;
    QuerySubscription *subscription;
    char *last;       /* (nullable) what was shown last */
    GHashTable *rows; /* of it: as JSON → how often it is there: uint */
    bool differences;
    bool redraws;
} Watch;

static void
on_stale(QuerySubscription *subscription, guint64 generation, gpointer user_data)
{
    *(bool *) user_data = true;
}

static gboolean
on_wake(gpointer user_data)
{
    return G_SOURCE_CONTINUE;
}

/* Sleeps until the result may have changed. Returns: false when interrupted. */
static bool
wait_for_change(QctlSession *session, const bool *stale)
{
    g_autoptr(GSource) source = g_cancellable_source_new(qctl_session_get_cancellable(session));

    g_source_set_callback(source, on_wake, NULL, NULL);
    (void) g_source_attach(source, NULL);
    while (!*stale && !qctl_session_is_interrupted(session))
        (void) g_main_context_iteration(NULL, TRUE);
    g_source_destroy(source);
    return !qctl_session_is_interrupted(session);
}

/* Differences ---------------------------------------------------------------------------------------------------------- */

static void
append_difference(GString *out, char sign, const char *row, guint n)
{
    for (guint i = 0; i < n; i++)
        g_string_append_printf(out, "{\"op\":\"%c\",\"row\":%s}\n", sign, row);
}

/* What went, then what came, each as often as it did. */
static void
append_differences(GString *out, GHashTable *before, GHashTable *after, const GPtrArray *order)
{
    GHashTableIter iter;
    gpointer row;
    gpointer value;

    g_hash_table_iter_init(&iter, before);
    while (g_hash_table_iter_next(&iter, &row, &value)) {
        guint n_before = GPOINTER_TO_UINT(value);
        guint n_after = GPOINTER_TO_UINT(g_hash_table_lookup(after, row));

        append_difference(out, '-', row, n_before > n_after ? n_before - n_after : 0);
    }
    for (guint i = 0; i < order->len; i++) {
        guint n_after = GPOINTER_TO_UINT(g_hash_table_lookup(after, order->pdata[i]));
        guint n_before = GPOINTER_TO_UINT(g_hash_table_lookup(before, order->pdata[i]));

        append_difference(out, '+', order->pdata[i], n_after > n_before ? n_after - n_before : 0);
    }
}

/* @lines: one row each. @ret_order: the distinct ones as they came */
static GHashTable *
count_rows(const char *lines, GPtrArray *order)
{
    GHashTable *rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (const char *end; (end = strchr(lines, '\n')) != NULL; lines = end + 1) {
        g_autofree char *row = g_strndup(lines, (gsize) (end - lines));
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(rows, row));

        if (n == 0) {
            g_ptr_array_add(order, row);
            g_hash_table_insert(rows, g_steal_pointer(&row), GUINT_TO_POINTER(1));
        } else {
            g_hash_table_insert(rows, g_steal_pointer(&row), GUINT_TO_POINTER(n + 1)); /* the first key stays */
        }
    }
    return rows;
}

static void
append_changes(Watch *self, GString *out, const char *lines)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    GHashTable *rows = count_rows(lines, order);

    append_differences(out, self->rows, rows, order);
    g_hash_table_unref(self->rows);
    self->rows = rows;
}

/* Runs ----------------------------------------------------------------------------------------------------------------- */

/* The same text again is nothing new: a change may have missed the result. */
static bool
print_result(Watch *self, const GString *text, GError **error)
{
    QctlFormat format = qctl_session_get_format(self->session);
    g_autoptr(QctlSink) sink = qctl_sink_new(STDOUT_FILENO, false);
    GString *out = qctl_sink_get_buffer(sink);

    if (g_strcmp0(self->last, text->str) == 0)
        return true;

    if (self->differences)
        append_changes(self, out, text->str);
    else if (self->redraws)
        g_string_append(out, CLEAR_SCREEN);
    else if (self->last != NULL && (format == QCTL_FORMAT_TABLE || format == QCTL_FORMAT_MARKDOWN))
        g_string_append_c(out, '\n');
    if (!self->differences)
        g_string_append_len(out, text->str, (gssize) text->len);
    g_free(self->last);
    self->last = g_strdup(text->str);
    return qctl_sink_flush(sink, error);
}

/* The whole result is there before anything is shown. */
static bool
run_once(Watch *self, GError **error)
{
    g_autoptr(QctlSink) sink = qctl_sink_new(-1, false);
    guint64 generation = 0;

    if (!qctl_run_query(self->session, sink, self->text, &generation, error))
        return false;

    query_subscription_set_generation(self->subscription, generation);
    return print_result(self, qctl_sink_get_buffer(sink), error);
}

static bool
watch(Watch *self, GError **error)
{
    bool stale = false;
    guint n_lost = 0;

    (void) g_signal_connect(self->subscription, "stale", G_CALLBACK(on_stale), &stale);
    do {
        g_autoptr(GError) failure = NULL;

        stale = false;
        if (run_once(self, &failure)) {
            n_lost = 0;
        } else if (g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_DISCONNECTED) && ++n_lost <= LOST_MAX) {
            stale = true; /* the daemon went away amid the run */
        } else {
            g_propagate_error(error, g_steal_pointer(&failure));
            break;
        }
    } while (stale || query_subscription_is_stale(self->subscription) || wait_for_change(self->session, &stale));
    (void) g_signal_handlers_disconnect_by_data(self->subscription, &stale);
    return *error == NULL;
}

int
qctl_watch(QctlSession *session, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    QueryLanguage language = qctl_session_get_arguments(session)->sparql ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;
    g_autoptr(QuerySubscription) subscription = NULL;
    Watch self = { .session = session, .text = text };

    if (connection != NULL)
        subscription = query_connection_subscribe(connection, language, text, qctl_session_get_cancellable(session), &error);
    if (subscription == NULL)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    self.subscription = subscription;
    self.differences = qctl_session_get_format(session) == QCTL_FORMAT_JSONL;
    self.redraws = qctl_session_get_format(session) == QCTL_FORMAT_TABLE && isatty(STDOUT_FILENO) != 0;
    self.rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    (void) watch(&self, &error);
    g_hash_table_unref(self.rows);
    g_free(self.last);
    return error != NULL ? qctl_session_report(session, g_steal_pointer(&error), NULL) : QCTL_EXIT_INTERRUPTED;
}

/* A first word may name the language. */
static void
prepare(QctlArguments *arguments)
{
    const char *word = arguments->words->len > 0 ? arguments->words->pdata[0] : "";
    bool is_sparql = g_str_equal(word, "sparql");

    arguments->watch = true;
    if (!is_sparql && !g_str_equal(word, "sql"))
        return;

    arguments->sparql = arguments->sparql || is_sparql;
    g_ptr_array_remove_index(arguments->words, 0);
}

static int
run_watch(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = qctl_read_statements(qctl_session_get_arguments(session), &error);

    return text != NULL ? qctl_watch(session, text) : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

const QctlVerb qctl_watch_verb = {
    "watch",
    "[sql|sparql] [QUERY|-]",
    "print the result of a query again after each change of it",
    QCTL_OPTIONS(QCTL_STATEMENT_OPTIONS, &qctl_option_sparql, &qctl_option_store),
    .n_words_max = 1,
    .reads_statements = true,
    .actions = QCTL_ACTIONS("sql", "sparql"),
    .prepare = prepare,
    .run = run_watch,
};
