/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options that several verbs take, and how values are checked and kept.
 */
#include "client-lib/queryctl/option.h"

#include <math.h>
#include <string.h>

#include "client-lib/query-client.h"
#include "client-lib/queryctl/arguments.h"

static const char *const format_names[QCTL_N_FORMATS] = {
    [QCTL_FORMAT_AUTO] = "auto",         [QCTL_FORMAT_TABLE] = "table", [QCTL_FORMAT_TSV] = "tsv",
    [QCTL_FORMAT_CSV] = "csv",           [QCTL_FORMAT_JSON] = "json",   [QCTL_FORMAT_JSONL] = "jsonl",
    [QCTL_FORMAT_MARKDOWN] = "markdown", [QCTL_FORMAT_LINE] = "line",   [QCTL_FORMAT_REMOTE] = NULL,
};

const char *
qctl_format_get_name(QctlFormat format)
{
    g_assert(format < QCTL_N_FORMATS);

    return format_names[format];
}

bool
qctl_format_from_name(const char *name, QctlFormat *ret_format)
{
    for (guint i = QCTL_FORMAT_TABLE; i < QCTL_FORMAT_REMOTE; i++) {
        if (g_str_equal(format_names[i], name)) {
            *ret_format = (QctlFormat) i;
            return true;
        }
    }

    return false;
}

bool
qctl_format_is_for_eyes(QctlFormat format)
{
    return format == QCTL_FORMAT_TABLE || format == QCTL_FORMAT_MARKDOWN || format == QCTL_FORMAT_LINE;
}

const char *
qctl_format_guess(const char *file)
{
    static const struct {
        const char *suffix;
        const char *format;
    } formats[] = {
        { ".csv", "csv" },       { ".tsv", "tsv" },    { ".jsonl", "jsonl" }, { ".ndjson", "jsonl" }, { ".json", "json" },
        { ".ttl", "turtle" },    { ".trig", "trig" },  { ".nt", "ntriples" }, { ".nq", "nquads" },    { ".rdf", "rdfxml" },
        { ".jsonld", "jsonld" }, { ".owl", "rdfxml" }, { ".arrow", "arrow" }, { ".arrows", "arrow" }, { ".feather", "arrow-file" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (g_str_has_suffix(file, formats[i].suffix))
            return formats[i].format;
    return NULL;
}

bool
qctl_format_is_rdf(const char *name)
{
    static const char *const names[] = { "turtle", "trig", "ntriples", "nquads", "rdfxml", "jsonld", NULL };

    return g_strv_contains(names, name);
}

bool
qctl_format_is_binary(const char *name)
{
    static const char *const names[] = { "arrow", "arrow-file", NULL };

    return g_strv_contains(names, name);
}

const char *const *
qctl_format_list(void)
{
    static const char *const names[] = { "table",      "tsv",    "csv",         "json",       "jsonl",
                                         "markdown",   "line",   "sparql-json", "sparql-xml", "sparql-csv",
                                         "sparql-tsv", "turtle", "trig",        "ntriples",   "nquads",
                                         "rdfxml",     "jsonld", "arrow",       "arrow-file", NULL };

    return names;
}

/* Values -------------------------------------------------------------------------------------------------------------- */

bool
qctl_is_store_name(const char *name)
{
    return g_str_equal(name, "default") || query_store_is_name(name);
}

static bool
bad_value(GError **error, const QctlOption *self, const char *value, const char *expected)
{
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s: '%s' is not %s", self->name, value, expected);
    return false;
}

static bool
set_parameter(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error)
{
    const char *equals = strchr(value, '=');
    QctlParameter parameter = { 0 };

    if (equals == NULL || equals == value)
        return bad_value(error, self, value, "of the form NAME=VALUE");

    parameter.name = g_strndup(value, (gsize) (equals - value));
    parameter.text = g_strdup(equals + 1);
    parameter.is_text = self == &qctl_option_param_text;
    g_array_append_val(arguments->parameters, parameter);
    return true;
}

static bool
set_timeout(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error)
{
    char *end = NULL;
    double seconds = g_ascii_strtod(value, &end);

    if (end == value || *end != 0 || !isfinite(seconds) || seconds < 0 || seconds > G_MAXINT32 / 1000)
        return bad_value(error, self, value, "a number of seconds");

    arguments->timeout_msec = seconds > 0 ? MAX(1, (gint64) (seconds * 1000)) : 0;
    return true;
}

static bool
set_max_rows(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error)
{
    return g_ascii_string_to_unsigned(value, 10, 1, G_MAXINT64, &arguments->max_rows, NULL) ||
           bad_value(error, self, value, "a number of rows, from 1");
}

static bool
set_store(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error)
{
    g_free(arguments->store);
    arguments->store = g_strdup(value);
    return qctl_is_store_name(value) || bad_value(error, self, value, "a name of letters, digits and '_'");
}

/* The list of names, for an error. */
static bool
refuse_format(const QctlOption *self, const char *value, GError **error)
{
    const char *const *names = qctl_format_list();
    g_autoptr(GString) text = g_string_new(names[0]);

    for (guint i = 1; names[i] != NULL; i++)
        g_string_append_printf(text, "%s%s", names[i + 1] != NULL ? ", " : " or ", names[i]);
    return bad_value(error, self, value, text->str);
}

static bool
set_format(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error)
{
    const char *const *names = qctl_format_list();

    if (qctl_format_from_name(value, &arguments->output.format))
        return true;
    for (guint i = 0; names[i] != NULL; i++) {
        if (!g_str_equal(names[i], value))
            continue;
        arguments->output.format = QCTL_FORMAT_REMOTE;
        arguments->output.remote_format = names[i];
        return true;
    }
    return refuse_format(self, value, error);
}

bool
qctl_option_set(const QctlOption *self, QctlArguments *arguments, const char *value, GError **error)
{
    gpointer place = G_STRUCT_MEMBER_P(arguments, self->offset);

    if (self->set != NULL)
        return self->set(arguments, self, value, error);
    if (self->argument == NULL) {
        *(bool *) place = true;
        return true;
    }
    g_free(*(char **) place);
    *(char **) place = g_strdup(value);
    return true;
}

/* The table ----------------------------------------------------------------------------------------------------------- */

const QctlOption qctl_option_format = {
    "format",         'F', "FORMAT", "table, tsv, csv, json, jsonl, markdown, line; turtle, …", .values = QCTL_VALUES_FORMATS,
    .set = set_format
};
const QctlOption qctl_option_null = { "null", 0, "TEXT", "print NULL as TEXT in table, markdown, csv and tsv",
                                      .offset = G_STRUCT_OFFSET(QctlArguments, output.null_text) };
const QctlOption qctl_option_no_header = { "no-header", 0, NULL, "csv, tsv: no line with the columns' names",
                                           .offset = G_STRUCT_OFFSET(QctlArguments, output.no_header) };
const QctlOption qctl_option_no_pager = { "no-pager", 0, NULL, "print tables straight to the terminal",
                                          .offset = G_STRUCT_OFFSET(QctlArguments, output.no_pager) };
const QctlOption qctl_option_param = { "param", 'p', "NAME=VALUE", "a parameter: integer, real, NULL, X'hex' or text, by its looks",
                                       .set = set_parameter };
const QctlOption qctl_option_param_text = { "param-text", 'P', "NAME=TEXT", "a parameter that is a text, never a number",
                                            .set = set_parameter };
const QctlOption qctl_option_file = { "file",
                                      'f',
                                      "FILE",
                                      "read the statements from FILE; - is standard input",
                                      .values = QCTL_VALUES_FILES,
                                      .offset = G_STRUCT_OFFSET(QctlArguments, file) };
const QctlOption qctl_option_max_rows = { "max-rows", 'n', "N", "end each result after N rows", .set = set_max_rows };
const QctlOption qctl_option_timeout = { "timeout", 0, "SECONDS", "end each statement after SECONDS; 0: never",
                                         .set = set_timeout };
const QctlOption qctl_option_fresh = { "fresh", 0, NULL, "execute queries whose results the daemon remembers, too",
                                       .offset = G_STRUCT_OFFSET(QctlArguments, fresh) };
const QctlOption qctl_option_timing = { "timing", 0, NULL, "print rows and times to standard error",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, output.timing) };
const QctlOption qctl_option_watch = { "watch", 0, NULL, "as the verb watch", .offset = G_STRUCT_OFFSET(QctlArguments, watch) };
const QctlOption qctl_option_sparql = { "sparql", 0, NULL, "the statement is SPARQL",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, sparql) };
const QctlOption qctl_option_graph = { "graph", 'g', "IRI", "RDF: the graph to fill or to write; without it the default graph",
                                       .offset = G_STRUCT_OFFSET(QctlArguments, transfer.graph) };
const QctlOption qctl_option_check_only = { "check-only", 0, NULL, "read the file and change nothing",
                                            .offset = G_STRUCT_OFFSET(QctlArguments, check_only) };
const QctlOption qctl_option_store = {
    "store", 's', "NAME", "use the database NAME instead of the default one", .values = QCTL_VALUES_STORES, .set = set_store
};
const QctlOption qctl_option_direct = { "direct",
                                        0,
                                        "FILE",
                                        "read the database FILE itself, without the daemon",
                                        .values = QCTL_VALUES_FILES,
                                        .offset = G_STRUCT_OFFSET(QctlArguments, place.direct) };
const QctlOption qctl_option_remote = { "remote", 0, "URL", "ask the SPARQL endpoint URL instead of the daemon",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, place.remote) };
const QctlOption qctl_option_update_url = { "update-url", 0, "URL", "with --remote: where updates go, if not there",
                                            .offset = G_STRUCT_OFFSET(QctlArguments, place.update_url) };
const QctlOption qctl_option_token_file = { "token-file",
                                            0,
                                            "FILE",
                                            "with --remote: a file (mode 0600) with a token",
                                            .values = QCTL_VALUES_FILES,
                                            .offset = G_STRUCT_OFFSET(QctlArguments, place.token_file) };
const QctlOption qctl_option_netrc = { "netrc",
                                       0,
                                       "FILE",
                                       "with --remote: a file (mode 0600) with names and passwords",
                                       .values = QCTL_VALUES_FILES,
                                       .offset = G_STRUCT_OFFSET(QctlArguments, place.netrc) };
const QctlOption qctl_option_help = { "help", 'h', NULL, "print this help", .offset = G_STRUCT_OFFSET(QctlArguments, help) };
const QctlOption qctl_option_version = { "version", 0, NULL, "print the version",
                                         .offset = G_STRUCT_OFFSET(QctlArguments, version) };
