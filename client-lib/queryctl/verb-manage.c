/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ls, stats, status, cancel, check and optimize: what the daemon is doing, and telling it what to do.
 */
#include <stdio.h>
#include <string.h>

#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/verbs.h"
#include "client-lib/text/text-value.h"

static int
report(QctlSession *session, GError **error)
{
    return qctl_session_report(session, g_steal_pointer(error), NULL);
}

/* ls ------------------------------------------------------------------------------------------------------------------ */

/* The pattern goes into the text: a parameter would be one of the arguments'. */
int
qctl_list_tables(QctlSession *session, QctlSink *sink, const char *pattern)
{
    g_auto(GStrv) parts = g_strsplit(pattern != NULL ? pattern : "*", "'", -1);
    g_autofree char *quoted = g_strjoinv("''", parts);
    g_autofree char *query = g_strdup_printf(
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' "
        "AND name NOT GLOB 'queryd_*' AND name GLOB '%s' ORDER BY name",
        quoted);

    return qctl_run_sql(session, sink, query);
}

static int
run_ls(QctlSession *session)
{
    GPtrArray *words = qctl_session_get_arguments(session)->words;
    g_autoptr(QctlSink) sink = qctl_session_create_sink(session);

    return qctl_list_tables(session, sink, words->len > 0 ? words->pdata[0] : NULL);
}

const QctlVerb qctl_ls_verb = {
    "ls",
    "[PATTERN]",
    "list tables and views",
    QCTL_OPTIONS(QCTL_PRINT_OPTIONS, &qctl_option_store, &qctl_option_direct),
    .n_words_max = 1,
    .values = QCTL_VALUES_TABLES,
    .run = run_ls,
};

/* prefixes ------------------------------------------------------------------------------------------------------------ */

static int
run_prefixes(QctlSession *session)
{
    g_autoptr(QctlSink) sink = qctl_session_create_sink(session);

    return qctl_run_sql(session, sink, "SELECT prefix, iri FROM queryd_prefix ORDER BY prefix");
}

const QctlVerb qctl_prefixes_verb = {
    "prefixes", "", "list the prefixes of namespaces", QCTL_OPTIONS(QCTL_PRINT_OPTIONS, &qctl_option_store), .run = run_prefixes,
};

/* stats --------------------------------------------------------------------------------------------------------------- */

static int
compare_entries(gconstpointer a, gconstpointer b)
{
    const char *name_a = NULL;
    const char *name_b = NULL;

    g_variant_get_child(*(GVariant *const *) a, 0, "&s", &name_a);
    g_variant_get_child(*(GVariant *const *) b, 0, "&s", &name_b);
    return strcmp(name_a, name_b);
}

/* The entries of an a{sv} in the order of their names. */
static GPtrArray *
sort_entries(GVariant *dictionary)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func((GDestroyNotify) g_variant_unref);

    for (gsize i = 0; i < g_variant_n_children(dictionary); i++)
        g_ptr_array_add(entries, g_variant_get_child_value(dictionary, i));
    g_ptr_array_sort(entries, compare_entries);
    return entries;
}

static bool
print_stats(QctlSession *session, QctlSink *sink, GVariant *stats, GError **error)
{
    static const char *const names[] = { "name", "value" };
    g_autoptr(GPtrArray) entries = sort_entries(stats);
    g_autoptr(QctlOutput) output = qctl_session_create_output(session, sink, names, 2);

    for (guint i = 0; i < entries->len; i++) {
        g_autoptr(GVariant) value = NULL;
        const char *name = NULL;
        QwValue cells[2];

        g_variant_get(entries->pdata[i], "{&sv}", &name, &value);
        qctl_cell_init_text(&cells[0], name);
        if (g_variant_is_of_type(value, G_VARIANT_TYPE_UINT64))
            qctl_cell_init_int64(&cells[1], (gint64) g_variant_get_uint64(value));
        else
            qctl_cell_init_text(&cells[1],
                                g_variant_is_of_type(value, G_VARIANT_TYPE_STRING) ? g_variant_get_string(value, NULL) : NULL);
        if (!qctl_output_put(output, cells, error))
            return false;
    }

    return qctl_output_finish(output, true, error);
}

static void
put_label_value(GString *out, const char *text)
{
    for (; *text != 0; text++) {
        if (*text == '\n')
            g_string_append(out, "\\n");
        else if (*text == '"' || *text == '\\')
            g_string_append_printf(out, "\\%c", *text);
        else
            g_string_append_c(out, *text);
    }
}

static void
put_metric(GString *out, const char *name, guint64 value)
{
    gsize n = strlen(name);
    bool counter = g_str_has_suffix(name, "_total");

    g_string_append_printf(out, "# TYPE queryd_%.*s %s\nqueryd_%s %" G_GUINT64_FORMAT "\n",
                           (int) (counter ? n - strlen("_total") : n), name, counter ? "counter" : "gauge", name, value);
}

/* Figures named …_total only grow; texts are labels of one info metric. */
static void
put_openmetrics(GString *out, GVariant *stats)
{
    g_autoptr(GPtrArray) entries = sort_entries(stats);
    g_autoptr(GString) labels = g_string_new(NULL);

    for (guint i = 0; i < entries->len; i++) {
        g_autoptr(GVariant) value = NULL;
        const char *name = NULL;

        g_variant_get(entries->pdata[i], "{&sv}", &name, &value);
        if (g_variant_is_of_type(value, G_VARIANT_TYPE_UINT64)) {
            put_metric(out, name, g_variant_get_uint64(value));
        } else if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING)) {
            g_string_append_printf(labels, "%s%s=\"", labels->len > 0 ? "," : "", name);
            put_label_value(labels, g_variant_get_string(value, NULL));
            g_string_append_c(labels, '"');
        }
    }
    if (labels->len > 0)
        g_string_append_printf(out, "# TYPE queryd info\nqueryd_info{%s} 1\n", labels->str);
    g_string_append(out, "# EOF\n");
}

static int
run_stats(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    g_autoptr(GVariant) stats = NULL;
    g_autoptr(QctlSink) sink = NULL;
    bool ok = false;

    if (connection != NULL)
        stats = query_connection_get_stats(connection, qctl_session_get_cancellable(session), &error);
    if (stats == NULL)
        return report(session, &error);

    sink = qctl_session_create_sink(session);
    if (qctl_session_get_arguments(session)->output.openmetrics) {
        put_openmetrics(qctl_sink_get_buffer(sink), stats);
        ok = qctl_sink_flush(sink, &error);
    } else {
        ok = print_stats(session, sink, stats, &error);
    }
    return ok ? QCTL_EXIT_OK : report(session, &error);
}

static const QctlOption option_openmetrics = { "openmetrics", 0, NULL, "print in the OpenMetrics text format",
                                               .offset = G_STRUCT_OFFSET(QctlArguments, output.openmetrics) };
const QctlVerb qctl_stats_verb = {
    "stats",          "", "print the daemon's figures", QCTL_OPTIONS(&option_openmetrics, QCTL_PRINT_OPTIONS, &qctl_option_store),
    .run = run_stats,
};

/* status -------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *key; /* in json */
} properties[] = {
    { "Version", "version" },       { "ProtocolVersion", "protocol_version" },
    { "Languages", "languages" },   { "Formats", "formats" },
    { "Features", "features" },     { "ReadOnly", "read_only" },
    { "Generation", "generation" },
};

/* What is shown. */
typedef struct Status {
    GVariant *properties[G_N_ELEMENTS(properties)];
    GVariant *queries;
    GVariant *limits;
    GVariant *stats;
} Status;

static void
status_clear(Status *self)
{
    for (guint i = 0; i < G_N_ELEMENTS(self->properties); i++)
        g_clear_pointer(&self->properties[i], g_variant_unref);
    g_clear_pointer(&self->queries, g_variant_unref);
    g_clear_pointer(&self->limits, g_variant_unref);
    g_clear_pointer(&self->stats, g_variant_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Status, status_clear)

static bool
status_read(Status *self, QctlSession *session, GError **error)
{
    GCancellable *cancellable = qctl_session_get_cancellable(session);
    QueryConnection *connection = qctl_session_connect(session, error);

    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        if (connection != NULL)
            self->properties[i] = query_connection_get_daemon_property(connection, properties[i].name, cancellable, error);
        if (self->properties[i] == NULL)
            return false;
    }
    self->queries = query_connection_list_queries(connection, cancellable, error);
    if (self->queries != NULL)
        self->limits = query_connection_get_limits(connection, cancellable, error);
    if (self->limits != NULL)
        self->stats = query_connection_get_stats(connection, cancellable, error);
    return self->stats != NULL;
}

/* status for eyes ----------------------------------------------------------------------------------------------------- */

static void
put_properties(GString *out, const Status *status)
{
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        GVariant *value = status->properties[i];
        g_autofree char *text = NULL;

        if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING_ARRAY)) {
            g_autofree const char **words = g_variant_get_strv(value, NULL);

            text = g_strjoinv(" ", (char **) words);
        } else if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING)) {
            text = g_variant_dup_string(value, NULL);
        } else {
            text = g_variant_print(value, FALSE);
        }
        g_string_append_printf(out, "%-16s %s\n", properties[i].name, text);
    }
}

static const struct {
    const char *name;
    const char *label;
} facts[] = { { "state", "State" }, { "health", "Health" }, { "damage", "Damage" }, { "salvage_report", "Salvage report" } };

/* What the daemon knows of the database's file. */
static void
put_health(GString *out, GVariant *stats)
{
    for (guint i = 0; i < G_N_ELEMENTS(facts); i++) {
        const char *text = NULL;

        if (g_variant_lookup(stats, facts[i].name, "&s", &text))
            g_string_append_printf(out, "%-16s %s\n", facts[i].label, text);
    }
}

static void
put_queries(GString *out, GVariant *queries)
{
    gsize n_queries = g_variant_n_children(queries);

    g_string_append_printf(out, "\nQueries: %" G_GSIZE_FORMAT "\n", n_queries);
    for (gsize i = 0; i < n_queries; i++) {
        g_autoptr(GVariant) query = g_variant_get_child_value(queries, i);
        guint64 id = 0;
        guint64 elapsed_usec = 0;
        guint64 rows = 0;
        const char *state = "";
        const char *client = "";
        const char *text = "";
        g_autoptr(GString) line = g_string_new(NULL);
        QwValue cell;

        (void) g_variant_lookup(query, "id", "t", &id);
        (void) g_variant_lookup(query, "elapsed_usec", "t", &elapsed_usec);
        (void) g_variant_lookup(query, "rows", "t", &rows);
        (void) g_variant_lookup(query, "state", "&s", &state);
        (void) g_variant_lookup(query, "client", "&s", &client);
        (void) g_variant_lookup(query, "text", "&s", &text);
        qctl_cell_init_text(&cell, text);
        qctl_cell_put_plain(&cell, 100, line);
        g_string_append_printf(out, "  %" G_GUINT64_FORMAT "  %s  %.1f s  %" G_GUINT64_FORMAT " rows  %s\n      %s\n", id, state,
                               (double) elapsed_usec / 1e6, rows, client, line->str);
    }
}

static void
put_limits(GString *out, GVariant *limits)
{
    g_autoptr(GVariantIter) iter = g_variant_iter_new(limits);
    const char *name = NULL;
    const char *unit = NULL;
    const char *error_name = NULL;
    const char *description = NULL;
    guint64 value = 0;
    guint64 normal = 0;

    g_string_append(out, "\nLimits (in force, default where it differs):\n");
    while (g_variant_iter_next(iter, "(&stt&s&s&s)", &name, &value, &normal, &unit, &error_name, &description)) {
        g_autofree char *other = value != normal ? g_strdup_printf(" (%" G_GUINT64_FORMAT ")", normal) : g_strdup("");

        g_string_append_printf(out, "  %-22s %12" G_GUINT64_FORMAT "%s %-5s  %s\n", name, value, other, unit, description);
    }
}

/* status as JSON ------------------------------------------------------------------------------------------------------ */

static void
put_key(GString *out, const char *key)
{
    qw_text_put_json_text(out, key, strlen(key));
    qw_text_put_char(out, ':');
}

/* Texts, numbers, truth values, and arrays and dictionaries of them. */
static void
put_json(GString *out, GVariant *value)
{
    bool is_dictionary = g_variant_is_of_type(value, G_VARIANT_TYPE_VARDICT);

    if (g_variant_is_of_type(value, G_VARIANT_TYPE_VARIANT)) {
        g_autoptr(GVariant) inner = g_variant_get_variant(value);

        put_json(out, inner);
    } else if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING)) {
        gsize n = 0;
        const char *text = g_variant_get_string(value, &n);

        qw_text_put_json_text(out, text, n);
    } else if (g_variant_is_container(value)) {
        qw_text_put_char(out, is_dictionary ? '{' : '[');
        for (gsize i = 0; i < g_variant_n_children(value); i++) {
            g_autoptr(GVariant) child = g_variant_get_child_value(value, i);
            g_autoptr(GVariant) key = is_dictionary ? g_variant_get_child_value(child, 0) : NULL;
            g_autoptr(GVariant) inner = is_dictionary ? g_variant_get_child_value(child, 1) : g_variant_ref(child);

            if (i > 0)
                qw_text_put_char(out, ',');
            if (key != NULL)
                put_key(out, g_variant_get_string(key, NULL));
            put_json(out, inner);
        }
        qw_text_put_char(out, is_dictionary ? '}' : ']');
    } else { /* numbers and truth values are written alike */
        g_autofree char *text = g_variant_print(value, FALSE);

        qw_text_put_bytes(out, text, strlen(text));
    }
}

static void
put_json_limits(GString *out, GVariant *limits)
{
    static const char *const keys[] = { "name", "value", "default", "unit", "error", "description" };

    for (gsize i = 0; i < g_variant_n_children(limits); i++) {
        g_autoptr(GVariant) limit = g_variant_get_child_value(limits, i);

        g_string_append(out, i > 0 ? ",{" : "{");
        for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
            g_autoptr(GVariant) value = g_variant_get_child_value(limit, k);

            if (k > 0)
                qw_text_put_char(out, ',');
            put_key(out, keys[k]);
            put_json(out, value);
        }
        qw_text_put_char(out, '}');
    }
}

/* @separator: between members: with a line's end, or without one */
static void
put_json_status(GString *out, const Status *status, const char *separator)
{
    g_string_append_c(out, '{');
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        put_key(out, properties[i].key);
        put_json(out, status->properties[i]);
        g_string_append(out, separator);
    }
    for (guint i = 0; i < G_N_ELEMENTS(facts); i++) {
        g_autoptr(GVariant) value = g_variant_lookup_value(status->stats, facts[i].name, G_VARIANT_TYPE_STRING);

        if (value == NULL)
            continue;
        put_key(out, facts[i].name);
        put_json(out, value);
        g_string_append(out, separator);
    }
    put_key(out, "queries");
    put_json(out, status->queries);
    g_string_append(out, separator);
    put_key(out, "limits");
    g_string_append_c(out, '[');
    put_json_limits(out, status->limits);
    g_string_append(out, "]}\n");
}

static int
run_status(QctlSession *session)
{
    QctlFormat format = qctl_session_get_arguments(session)->output.format;
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlSink) sink = qctl_session_create_sink(session);
    GString *out = qctl_sink_get_buffer(sink);
    g_auto(Status) status = { 0 };

    if (!status_read(&status, session, &error))
        return report(session, &error);
    if (format != QCTL_FORMAT_AUTO) {
        put_json_status(out, &status, format == QCTL_FORMAT_JSON ? ",\n" : ",");
    } else {
        put_properties(out, &status);
        put_health(out, status.stats);
        put_queries(out, status.queries);
        put_limits(out, status.limits);
    }
    return qctl_sink_flush(sink, &error) ? QCTL_EXIT_OK : report(session, &error);
}

static bool
check_status(const QctlArguments *arguments, GError **error)
{
    QctlFormat format = arguments->output.format;

    if (format == QCTL_FORMAT_AUTO || format == QCTL_FORMAT_JSON || format == QCTL_FORMAT_JSONL)
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "status: the format is one of json, jsonl");
    return false;
}

const QctlVerb qctl_status_verb = {
    "status",
    "",
    "show the daemon, its running queries and its limits",
    QCTL_OPTIONS(&qctl_option_format, &qctl_option_store),
    .check = check_status,
    .run = run_status,
};

/* cancel, check, optimize -------------------------------------------------------------------------------------------------------
 */

static bool
check_ids(const QctlArguments *arguments, GError **error)
{
    for (guint i = 0; i < arguments->words->len; i++) {
        guint64 id = 0;

        if (!g_ascii_string_to_unsigned(arguments->words->pdata[i], 10, 0, G_MAXUINT64, &id, NULL)) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'%s' is not the id of a query; see 'queryctl status'",
                        (const char *) arguments->words->pdata[i]);
            return false;
        }
    }
    return true;
}

static int
run_cancel(QctlSession *session)
{
    GPtrArray *words = qctl_session_get_arguments(session)->words;
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    int code = QCTL_EXIT_OK;

    if (connection == NULL)
        return report(session, &error);

    for (guint i = 0; i < words->len; i++) {
        guint64 id = g_ascii_strtoull(words->pdata[i], NULL, 10);

        if (!query_connection_cancel_query(connection, id, qctl_session_get_cancellable(session), &error))
            code = qctl_session_report(session, g_steal_pointer(&error), words->pdata[i]);
    }
    return code;
}

const QctlVerb qctl_cancel_verb = {
    "cancel",
    "ID…",
    "end running queries",
    QCTL_OPTIONS(&qctl_option_store),
    .n_words_min = 1,
    .n_words_max = G_MAXUINT,
    .check = check_ids,
    .run = run_cancel,
};

static int
run_check(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    gboolean quick = !qctl_session_get_arguments(session)->full;
    g_auto(GStrv) messages = NULL;
    g_autoptr(QctlSink) sink = NULL;
    gboolean ok = FALSE;

    if (connection == NULL)
        return report(session, &error);
    ok = query_connection_check(connection, quick, &messages, qctl_session_get_cancellable(session), &error);
    if (ok) {
        (void) fprintf(stderr, "the database is in order\n");
        return QCTL_EXIT_OK;
    }

    sink = qctl_session_create_sink(session);
    for (guint i = 0; messages != NULL && messages[i] != NULL; i++)
        g_string_append_printf(qctl_sink_get_buffer(sink), "%s\n", messages[i]);
    (void) qctl_sink_flush(sink, NULL);
    return report(session, &error);
}

static const QctlOption option_full = { "full", 0, NULL, "check indexes too, which takes longer",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, full) };
const QctlVerb qctl_check_verb = {
    "check", "", "check the database", QCTL_OPTIONS(&option_full, &qctl_option_store), .run = run_check,
};

static int
run_optimize(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);

    if (connection == NULL || !query_connection_optimize(connection, qctl_session_get_arguments(session)->warm,
                                                         qctl_session_get_cancellable(session), &error))
        return report(session, &error);
    return QCTL_EXIT_OK;
}

static const QctlOption option_warm = { "warm", 0, NULL, "instead read the database into the system's memory",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, warm) };
const QctlVerb qctl_optimize_verb = {
    "optimize",          "", "refresh the planner's statistics and shorten the log", QCTL_OPTIONS(&option_warm, &qctl_option_store),
    .run = run_optimize,
};
