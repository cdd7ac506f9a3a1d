/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verbs, options, and the parser that reads them.
 *
 * GOptionContext cannot say which options belong to which verb; a table of twenty rows can.
 */
#include "client-lib/queryctl/arguments.h"

#include <math.h>
#include <string.h>

typedef struct VerbInfo {
    const char *name;
    const char *arguments;
    const char *help;
} VerbInfo;

static const VerbInfo verb_table[QCTL_N_VERBS] = {
    [QCTL_VERB_SQL] = { "sql", "[STATEMENT|-]", "run queries and print their rows" },
    [QCTL_VERB_SPARQL] = { "sparql", "[QUERY|-]", "run a SPARQL query and print its rows or triples" },
    [QCTL_VERB_WATCH] = { "watch", "[sql|sparql] [QUERY|-]", "print the result of a query again after each change of it" },
    [QCTL_VERB_UPDATE] = { "update", "[STATEMENT|-]", "run statements that write" },
    [QCTL_VERB_IMPORT] = { "import", "FILE|- [--table TABLE]", "read csv, tsv or jsonl into a table, or RDF into a graph" },
    [QCTL_VERB_EXPORT] = { "export", "[TABLE|QUERY]", "write a table or result, or all RDF data, in a format" },
    [QCTL_VERB_EXPLAIN] = { "explain", "[STATEMENT|-]", "show how a statement would be run" },
    [QCTL_VERB_SHELL] = { "shell", "", "type statements and see their results" },
    [QCTL_VERB_LS] = { "ls", "[PATTERN]", "list tables and views" },
    [QCTL_VERB_PREFIXES] = { "prefixes", "", "list the prefixes of namespaces" },
    [QCTL_VERB_STATS] = { "stats", "", "print the daemon's figures" },
    [QCTL_VERB_STATUS] = { "status", "", "show the daemon, its running queries and its limits" },
    [QCTL_VERB_CANCEL] = { "cancel", "ID…", "end running queries" },
    [QCTL_VERB_BACKUP] = { "backup", "FILE", "write a consistent copy of the database to a new file" },
    [QCTL_VERB_RESTORE] = { "restore", "FILE|-", "put a backup in the place of the database" },
    [QCTL_VERB_CHECK] = { "check", "", "check the database" },
    [QCTL_VERB_OPTIMIZE] = { "optimize", "", "refresh the planner's statistics and shorten the log" },
    [QCTL_VERB_FULLTEXT] = { "fulltext", "add|remove PREDICATE…|--all, ls, rebuild, check", "what full-text search finds" },
    [QCTL_VERB_PAYLOAD] = { "payload", "ls|store FILE|cat ID|replace ID FILE|rm ID…",
                            "keep contents that have an id: store, read, replace, delete" },
    [QCTL_VERB_STORE] = { "store", "list|create NAME|import FILE NAME", "manage further databases" },
};

static const char *const format_names[QCTL_N_FORMATS] = {
    [QCTL_FORMAT_AUTO] = "auto", [QCTL_FORMAT_TABLE] = "table", [QCTL_FORMAT_TSV] = "tsv",           [QCTL_FORMAT_CSV] = "csv",
    [QCTL_FORMAT_JSON] = "json", [QCTL_FORMAT_JSONL] = "jsonl", [QCTL_FORMAT_MARKDOWN] = "markdown", [QCTL_FORMAT_REMOTE] = NULL,
};

typedef enum OptionKind {
    OPTION_FORMAT,
    OPTION_PARAM,
    OPTION_PARAM_TEXT,
    OPTION_FILE,
    OPTION_OUTPUT,
    OPTION_TABLE,
    OPTION_CREATE,
    OPTION_GRAPH,
    OPTION_BASE,
    OPTION_REPLACE,
    OPTION_CHECK_ONLY,
    OPTION_MEDIA_TYPE,
    OPTION_NULL,
    OPTION_NO_HEADER,
    OPTION_MAX_ROWS,
    OPTION_TIMEOUT,
    OPTION_TIMING,
    OPTION_WATCH,
    OPTION_SPARQL,
    OPTION_TRANSACTION,
    OPTION_FULL,
    OPTION_OPENMETRICS,
    OPTION_NO_PAGER,
    OPTION_WARM,
    OPTION_ALL,
    OPTION_TOKENIZER,
    OPTION_STORE,
    OPTION_DIRECT,
    OPTION_HELP,
    OPTION_VERSION,
} OptionKind;

#define V(name) (1u << QCTL_VERB_##name)
#define ANY_VERB ((1u << QCTL_N_VERBS) - 1)
#define STATEMENTS (V(SQL) | V(SPARQL) | V(UPDATE) | V(WATCH))
#define PRINTS (STATEMENTS | V(LS) | V(PREFIXES) | V(STATS) | V(SHELL) | V(FULLTEXT) | V(PAYLOAD) | V(STORE))

typedef struct OptionInfo {
    OptionKind kind;
    const char *name;
    char letter;
    const char *argument; /* NULL: a switch */
    guint verbs;
    const char *help;
} OptionInfo;

static const OptionInfo option_table[] = {
    { OPTION_FORMAT, "format", 'F', "FORMAT", PRINTS | V(IMPORT) | V(EXPORT),
      "table, tsv, csv, json, jsonl, markdown; sparql-json, turtle, …" },
    { OPTION_PARAM, "param", 'p', "NAME=VALUE", STATEMENTS, "a parameter: integer, real, NULL, X'hex' or text, by its looks" },
    { OPTION_PARAM_TEXT, "param-text", 'P', "NAME=TEXT", STATEMENTS, "a parameter that is a text, whatever it looks like" },
    { OPTION_FILE, "file", 'f', "FILE", STATEMENTS | V(EXPLAIN), "read the statements from FILE; - is standard input" },
    { OPTION_OUTPUT, "output", 'o', "FILE", V(EXPORT), "write to FILE, which appears only when it is whole" },
    { OPTION_TABLE, "table", 't', "TABLE", V(IMPORT), "the table to fill" },
    { OPTION_CREATE, "create", 0, NULL, V(IMPORT), "create the table from the header when it does not exist" },
    { OPTION_GRAPH, "graph", 'g', "IRI", V(IMPORT) | V(EXPORT),
      "RDF: the graph to fill or to write; without it the default graph" },
    { OPTION_BASE, "base", 0, "IRI", V(IMPORT), "RDF: what relative IRIs are resolved against; default: the file's address" },
    { OPTION_REPLACE, "replace", 0, NULL, V(IMPORT), "RDF: what is there goes first: of the graph; trig, nquads: of all" },
    { OPTION_CHECK_ONLY, "check-only", 0, NULL, V(IMPORT) | V(RESTORE), "read the file and change nothing" },
    { OPTION_MEDIA_TYPE, "media-type", 0, "TYPE", V(PAYLOAD), "what the content is, such as image/png" },
    { OPTION_NULL, "null", 0, "TEXT", PRINTS, "print NULL as TEXT in table, markdown, csv and tsv" },
    { OPTION_NO_HEADER, "no-header", 0, NULL, PRINTS | V(IMPORT) | V(EXPORT), "csv, tsv: no line with the columns' names" },
    { OPTION_MAX_ROWS, "max-rows", 'n', "N", STATEMENTS | V(EXPORT) | V(SHELL), "end each result after N rows" },
    { OPTION_TIMEOUT, "timeout", 0, "SECONDS", STATEMENTS | V(EXPORT) | V(SHELL), "end each statement after SECONDS; 0: never" },
    { OPTION_TIMING, "timing", 0, NULL, STATEMENTS | V(SHELL), "print rows and times to standard error" },
    { OPTION_WATCH, "watch", 0, NULL, V(SQL) | V(SPARQL), "as the verb watch" },
    { OPTION_SPARQL, "sparql", 0, NULL, V(UPDATE) | V(EXPLAIN) | V(EXPORT) | V(WATCH), "the statement is SPARQL" },
    { OPTION_TRANSACTION, "transaction", 0, NULL, V(UPDATE), "all statements as one: all or nothing" },
    { OPTION_FULL, "full", 0, NULL, V(CHECK), "check indexes too, which takes longer" },
    { OPTION_OPENMETRICS, "openmetrics", 0, NULL, V(STATS), "print in the OpenMetrics text format" },
    { OPTION_WARM, "warm", 0, NULL, V(OPTIMIZE), "instead read the database into the system's memory" },
    { OPTION_ALL, "all", 0, NULL, V(FULLTEXT), "the literals of every predicate" },
    { OPTION_TOKENIZER, "tokenizer", 0, "NAME", V(FULLTEXT), "how texts are cut into words: unicode61, porter, trigram" },
    { OPTION_NO_PAGER, "no-pager", 0, NULL, PRINTS, "print tables straight to the terminal" },
    { OPTION_STORE, "store", 's', "NAME", ANY_VERB & ~V(STORE), "use the database NAME instead of the default one" },
    { OPTION_DIRECT, "direct", 0, "FILE", V(SQL) | V(LS) | V(SHELL), "read the database FILE itself, without the daemon" },
    { OPTION_HELP, "help", 'h', NULL, ANY_VERB, "print this help" },
    { OPTION_VERSION, "version", 0, NULL, ANY_VERB, "print the version" },
};

const char *
qctl_verb_get_name(QctlVerb verb)
{
    g_assert(verb < QCTL_N_VERBS);

    return verb_table[verb].name;
}

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
qctl_format_is_rdf(const char *name)
{
    static const char *const names[] = { "turtle", "trig", "ntriples", "nquads", "rdfxml" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(names[i], name))
            return true;
    return false;
}

static void
parameter_clear(gpointer data)
{
    QctlParameter *parameter = data;

    g_free(parameter->name);
    g_free(parameter->text);
}

static QctlArguments *
arguments_new(void)
{
    QctlArguments *self = g_new0(QctlArguments, 1);

    self->words = g_ptr_array_new_with_free_func(g_free);
    self->parameters = g_array_new(FALSE, TRUE, sizeof(QctlParameter));
    g_array_set_clear_func(self->parameters, parameter_clear);
    self->timeout_msec = -1;
    return self;
}

QctlArguments *
qctl_arguments_free(QctlArguments *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->words);
    g_array_unref(self->parameters);
    g_free(self->file);
    g_free(self->output);
    g_free(self->null_text);
    g_free(self->store);
    g_free(self->tokenizer);
    g_free(self->direct);
    g_free(self->table);
    g_free(self->graph);
    g_free(self->base);
    g_free(self->media_type);
    g_free(self);
    return NULL;
}

/* Options ------------------------------------------------------------------------------------------------------------- */

static bool
bad_value(GError **error, const OptionInfo *info, const char *value, const char *expected)
{
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s: '%s' is not %s", info->name, value, expected);
    return false;
}

static bool
set_parameter(QctlArguments *self, const OptionInfo *info, const char *value, GError **error)
{
    const char *equals = strchr(value, '=');
    QctlParameter parameter = { 0 };

    if (equals == NULL || equals == value)
        return bad_value(error, info, value, "of the form NAME=VALUE");

    parameter.name = g_strndup(value, (gsize) (equals - value));
    parameter.text = g_strdup(equals + 1);
    parameter.is_text = info->kind == OPTION_PARAM_TEXT;
    g_array_append_val(self->parameters, parameter);
    return true;
}

static bool
set_timeout(QctlArguments *self, const OptionInfo *info, const char *value, GError **error)
{
    char *end = NULL;
    double seconds = g_ascii_strtod(value, &end);

    if (end == value || *end != 0 || !isfinite(seconds) || seconds < 0 || seconds > G_MAXINT32 / 1000)
        return bad_value(error, info, value, "a number of seconds");

    self->timeout_msec = seconds > 0 ? MAX(1, (gint64) (seconds * 1000)) : 0;
    return true;
}

static bool
set_format(QctlArguments *self, const OptionInfo *info, const char *value, GError **error)
{
    static const char *const remote[] = { "sparql-json", "sparql-xml", "sparql-csv", "sparql-tsv", "turtle",
                                          "trig",        "ntriples",   "nquads",     "rdfxml" };

    for (guint i = 0; i < G_N_ELEMENTS(remote); i++)
        if (g_str_equal(remote[i], value)) {
            self->format = QCTL_FORMAT_REMOTE;
            self->remote_format = remote[i];
            return true;
        }
    return qctl_format_from_name(value, &self->format) ||
           bad_value(
               error, info, value,
               "table, tsv, csv, json, jsonl, markdown, sparql-json, sparql-xml, sparql-csv, sparql-tsv, turtle, trig, ntriples, "
               "nquads or rdfxml");
}

/* A name that can be the last element of a bus name and an instance of a unit. */
static bool
is_store_name(const char *name)
{
    for (const char *p = name; *p != 0; p++) {
        if (!g_ascii_isalnum(*p) && *p != '_')
            return false;
    }

    return name[0] != 0 && !g_ascii_isdigit(name[0]) && strlen(name) <= 64;
}

static void
replace(char **place, const char *value)
{
    g_free(*place);
    *place = g_strdup(value);
}

/* The field of an option that is just a text; NULL: it is none. */
static char **
find_text(QctlArguments *self, OptionKind kind)
{
    char **const fields[OPTION_VERSION + 1] = {
        [OPTION_FILE] = &self->file,           [OPTION_OUTPUT] = &self->output,
        [OPTION_TABLE] = &self->table,         [OPTION_GRAPH] = &self->graph,
        [OPTION_BASE] = &self->base,           [OPTION_NULL] = &self->null_text,
        [OPTION_TOKENIZER] = &self->tokenizer, [OPTION_DIRECT] = &self->direct,
        [OPTION_STORE] = &self->store,         [OPTION_MEDIA_TYPE] = &self->media_type,
    };

    return fields[kind];
}

static bool *
find_switch(QctlArguments *self, OptionKind kind)
{
    bool *const fields[OPTION_VERSION + 1] = {
        [OPTION_REPLACE] = &self->replace,         [OPTION_CHECK_ONLY] = &self->check_only,
        [OPTION_CREATE] = &self->create,           [OPTION_NO_HEADER] = &self->no_header,
        [OPTION_TIMING] = &self->timing,           [OPTION_WATCH] = &self->watch,
        [OPTION_SPARQL] = &self->sparql,           [OPTION_FULL] = &self->full,
        [OPTION_OPENMETRICS] = &self->openmetrics, [OPTION_WARM] = &self->warm,
        [OPTION_TRANSACTION] = &self->transaction, [OPTION_ALL] = &self->all,
        [OPTION_NO_PAGER] = &self->no_pager,       [OPTION_HELP] = &self->help,
        [OPTION_VERSION] = &self->version,
    };

    return fields[kind];
}

static bool
set_option(QctlArguments *self, const OptionInfo *info, const char *value, GError **error)
{
    char **text = find_text(self, info->kind);
    bool *is_on = find_switch(self, info->kind);

    if (is_on != NULL) {
        *is_on = true;
        return true;
    }
    if (text != NULL) {
        replace(text, value);
        return info->kind != OPTION_STORE || is_store_name(value) ||
               bad_value(error, info, value, "a name of letters, digits and '_'");
    }
    if (info->kind == OPTION_FORMAT)
        return set_format(self, info, value, error);
    if (info->kind == OPTION_TIMEOUT)
        return set_timeout(self, info, value, error);
    if (info->kind == OPTION_MAX_ROWS)
        return g_ascii_string_to_unsigned(value, 10, 1, G_MAXINT64, &self->max_rows, NULL) ||
               bad_value(error, info, value, "a number of rows, from 1");
    return set_parameter(self, info, value, error);
}

static const OptionInfo *
find_option(const char *name, size_t n_bytes)
{
    for (guint i = 0; i < G_N_ELEMENTS(option_table); i++) {
        if (strncmp(option_table[i].name, name, n_bytes) == 0 && option_table[i].name[n_bytes] == 0)
            return &option_table[i];
    }

    return NULL;
}

static const OptionInfo *
find_letter(char letter)
{
    for (guint i = 0; i < G_N_ELEMENTS(option_table); i++) {
        if (option_table[i].letter != 0 && option_table[i].letter == letter)
            return &option_table[i];
    }

    return NULL;
}

/* Takes argv[*i], an option, and its value, which may be the next one. @ret_info is the row of the table. */
static bool
parse_option(QctlArguments *self, int argc, const char *const *argv, int *i, const OptionInfo **ret_info, GError **error)
{
    const char *word = argv[*i];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const OptionInfo *info = NULL;
    const char *value = NULL;

    if (is_long)
        info = find_option(word + 2, equals != NULL ? (size_t) (equals - word - 2) : strlen(word + 2));
    else
        info = find_letter(word[1]);
    if (info == NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "unknown option '%s'", word);
        return false;
    }

    if (equals != NULL)
        value = equals + 1;
    else if (!is_long && word[2] != 0)
        value = word + 2;
    if (info->argument == NULL && value != NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "option '--%s' takes no value", info->name);
        return false;
    }
    if (info->argument != NULL && value == NULL) {
        if (*i + 1 >= argc) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "option '--%s' needs %s", info->name, info->argument);
            return false;
        }
        value = argv[++*i];
    }

    *ret_info = info;
    return set_option(self, info, value, error);
}

/* Verbs --------------------------------------------------------------------------------------------------------------- */

static bool
parse_verb(QctlArguments *self, const char *word, GError **error)
{
    for (guint i = 0; i < QCTL_N_VERBS; i++) {
        if (g_str_equal(verb_table[i].name, word)) {
            self->verb = (QctlVerb) i;
            return true;
        }
    }

    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "unknown verb '%s'", word);
    return false;
}

/* How many words a verb takes. */
static void
get_word_range(const QctlArguments *self, guint *ret_min, guint *ret_max)
{
    *ret_min = 0;
    *ret_max = 0;

    switch (self->verb) {
    case QCTL_VERB_SQL:
    case QCTL_VERB_SPARQL:
    case QCTL_VERB_UPDATE:
    case QCTL_VERB_EXPLAIN:
    case QCTL_VERB_WATCH:
        *ret_max = self->file != NULL ? 0 : 1;
        break;
    case QCTL_VERB_EXPORT:
        *ret_max = 1;
        break;
    case QCTL_VERB_IMPORT:
    case QCTL_VERB_BACKUP:
    case QCTL_VERB_RESTORE:
        *ret_min = *ret_max = 1;
        break;
    case QCTL_VERB_LS:
        *ret_max = 1;
        break;
    case QCTL_VERB_PAYLOAD:
    case QCTL_VERB_CANCEL:
        *ret_min = 1;
        *ret_max = G_MAXUINT;
        break;
    case QCTL_VERB_STORE:
        *ret_min = 1;
        *ret_max = 3;
        break;
    case QCTL_VERB_FULLTEXT:
        *ret_min = 1;
        *ret_max = G_MAXUINT;
        break;
    case QCTL_VERB_SHELL:
    case QCTL_VERB_PREFIXES:
    case QCTL_VERB_STATS:
    case QCTL_VERB_STATUS:
    case QCTL_VERB_CHECK:
    case QCTL_VERB_OPTIMIZE:
        break;
    }
}

static bool
is_payload_id(const char *word)
{
    guint64 id = 0;

    return g_ascii_string_to_unsigned(word, 10, 1, G_MAXINT64, &id, NULL);
}

static bool
check_payload(const QctlArguments *self, GError **error)
{
    const char *action = self->words->pdata[0];
    guint n = self->words->len;
    bool has_id = g_str_equal(action, "cat") || g_str_equal(action, "replace") || g_str_equal(action, "rm");
    bool ok = (g_str_equal(action, "ls") && n == 1) || (g_str_equal(action, "store") && n == 2) ||
              (g_str_equal(action, "cat") && n == 2) || (g_str_equal(action, "replace") && n == 3) ||
              (g_str_equal(action, "rm") && n >= 2);

    for (guint i = 1; ok && has_id && i < (g_str_equal(action, "replace") ? 2 : n); i++) {
        if (is_payload_id(self->words->pdata[i]))
            continue;
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'%s' is not the id of a payload; see 'queryctl payload ls'",
                    (const char *) self->words->pdata[i]);
        return false;
    }
    if (!ok)
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "usage: queryctl payload %s",
                    verb_table[QCTL_VERB_PAYLOAD].arguments);
    return ok;
}

static bool
check_store(const QctlArguments *self, GError **error)
{
    const char *action = self->words->pdata[0];
    guint n_words = self->words->len;
    guint n_wanted = g_str_equal(action, "list") ? 1 : g_str_equal(action, "create") ? 2 : g_str_equal(action, "import") ? 3 : 0;

    if (n_words != n_wanted) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "usage: queryctl store %s",
                    verb_table[QCTL_VERB_STORE].arguments);
        return false;
    }
    if (n_words > 1 &&
        (!is_store_name(self->words->pdata[n_words - 1]) || g_str_equal(self->words->pdata[n_words - 1], "default"))) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                    "'%s' is not a store's name: letters, digits and '_', at most 64, not a digit first, not 'default'",
                    (const char *) self->words->pdata[n_words - 1]);
        return false;
    }

    return true;
}

static bool
check_fulltext(const QctlArguments *self, GError **error)
{
    static const char *const plain[] = { "ls", "rebuild", "check", NULL };
    const char *action = self->words->pdata[0];
    bool chooses = g_str_equal(action, "add") || g_str_equal(action, "remove");

    if (chooses ? self->words->len > 1 || self->all
                : g_strv_contains(plain, action) && self->words->len == 1 && !self->all &&
                      (self->tokenizer == NULL || g_str_equal(action, "rebuild")))
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "usage: queryctl fulltext %s",
                verb_table[QCTL_VERB_FULLTEXT].arguments);
    return false;
}

static bool
check_format(const QctlArguments *self, GError **error)
{
    bool import = self->verb == QCTL_VERB_IMPORT;

    if (self->format == QCTL_FORMAT_REMOTE) {
        if (self->verb == QCTL_VERB_EXPORT || (import && qctl_format_is_rdf(self->remote_format)) ||
            (self->verb == QCTL_VERB_SPARQL && self->parameters->len == 0 && !self->watch))
            return true;
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "the format '%s' is for 'sparql' without parameters, for 'export', and of RDF for 'import'",
                    self->remote_format);
        return false;
    }
    if (!import && self->verb != QCTL_VERB_EXPORT)
        return true;
    if (self->format != QCTL_FORMAT_TABLE && self->format != QCTL_FORMAT_MARKDOWN && !(import && self->format == QCTL_FORMAT_JSON))
        return true;

    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: the format is one of csv, tsv%s, jsonl",
                verb_table[self->verb].name, import ? "" : ", json");
    return false;
}

static bool
check_n_words(const QctlArguments *self, GError **error)
{
    const VerbInfo *info = &verb_table[self->verb];
    g_autofree char *surplus = NULL;
    guint n_min = 0;
    guint n_max = 0;

    get_word_range(self, &n_min, &n_max);
    if (self->words->len >= n_min && self->words->len <= n_max)
        return true;

    if (self->words->len > n_max)
        surplus = g_strdup_printf("'%s' is too much%s%s%s; ", (const char *) self->words->pdata[n_max],
                                  self->file != NULL ? " behind --file '" : "", self->file != NULL ? self->file : "",
                                  self->file != NULL ? "'" : "");
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "%susage: queryctl %s%s%s", surplus != NULL ? surplus : "",
                info->name, info->arguments[0] != 0 ? " " : "", info->arguments);
    return false;
}

static bool
check_words(const QctlArguments *self, GError **error)
{
    if (!check_n_words(self, error))
        return false;
    for (guint i = 0; self->verb == QCTL_VERB_CANCEL && i < self->words->len; i++) {
        guint64 id = 0;

        if (!g_ascii_string_to_unsigned(self->words->pdata[i], 10, 0, G_MAXUINT64, &id, NULL)) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'%s' is not the id of a query; see 'queryctl status'",
                        (const char *) self->words->pdata[i]);
            return false;
        }
    }

    if (self->direct != NULL && (self->store != NULL || self->watch)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'--direct' reads a file without the daemon, '--%s' needs it",
                    self->watch ? "watch" : "store");
        return false;
    }

    return check_format(self, error) && (self->verb != QCTL_VERB_STORE || check_store(self, error)) &&
           (self->verb != QCTL_VERB_FULLTEXT || check_fulltext(self, error)) &&
           (self->verb != QCTL_VERB_PAYLOAD || check_payload(self, error));
}

/* watch: a first word may name the language. */
static void
take_language(QctlArguments *self)
{
    const char *word = self->words->len > 0 ? self->words->pdata[0] : "";
    bool is_sparql = g_str_equal(word, "sparql");

    self->watch = true;
    if (!is_sparql && !g_str_equal(word, "sql"))
        return;

    self->sparql = self->sparql || is_sparql;
    g_ptr_array_remove_index(self->words, 0);
}

/* A statement may begin with a comment: "-- " is no option. */
static bool
is_option(const char *word)
{
    return word[0] == '-' && word[1] != 0 && (word[1] != '-' || !g_ascii_isspace(word[2]));
}

QctlArguments *
qctl_arguments_parse(int argc, const char *const *argv, GError **error)
{
    g_autoptr(QctlArguments) self = arguments_new();
    g_autoptr(GPtrArray) used = g_ptr_array_new();
    bool have_verb = false;
    bool only_words = false;

    for (int i = 1; i < argc; i++) {
        const OptionInfo *info = NULL;

        if (!only_words && g_str_equal(argv[i], "--")) {
            only_words = true;
        } else if (!only_words && is_option(argv[i])) {
            if (!parse_option(self, argc, argv, &i, &info, error))
                return NULL;
            g_ptr_array_add(used, (gpointer) info);
        } else if (!have_verb) {
            if (!parse_verb(self, argv[i], error))
                return NULL;
            have_verb = true;
        } else {
            g_ptr_array_add(self->words, g_strdup(argv[i]));
        }
    }
    if (self->help || self->version)
        return g_steal_pointer(&self);
    if (!have_verb) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "a verb is missing");
        return NULL;
    }

    for (guint i = 0; i < used->len; i++) {
        const OptionInfo *info = used->pdata[i];

        if ((info->verbs & (1u << self->verb)) == 0) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "'%s' has no option '--%s'",
                        verb_table[self->verb].name, info->name);
            return NULL;
        }
    }
    if (self->verb == QCTL_VERB_SPARQL)
        self->sparql = true;
    if (self->verb == QCTL_VERB_WATCH)
        take_language(self);
    return check_words(self, error) ? g_steal_pointer(&self) : NULL;
}

char *
qctl_arguments_get_help(void)
{
    GString *out = g_string_new(
        "Usage: queryctl [OPTION…] VERB [ARGUMENT…]\n\nSQL and SPARQL for the queryd of this session.\n\nVerbs:\n");

    for (guint i = 0; i < QCTL_N_VERBS; i++) {
        g_string_append_printf(out, "  %-8s %s\n", verb_table[i].name, verb_table[i].help);
        if (verb_table[i].arguments[0] != 0)
            g_string_append_printf(out, "             %s\n", verb_table[i].arguments);
    }
    g_string_append(out, "\nOptions:\n");
    for (guint i = 0; i < G_N_ELEMENTS(option_table); i++) {
        const OptionInfo *info = &option_table[i];
        g_autofree char *left = g_strdup_printf("%s%s%s", info->name, info->argument != NULL ? " " : "",
                                                info->argument != NULL ? info->argument : "");

        if (info->letter != 0)
            g_string_append_printf(out, "  -%c, --%-22s %s\n", info->letter, left, info->help);
        else
            g_string_append_printf(out, "      --%-22s %s\n", left, info->help);
    }
    g_string_append(out,
                    "\nData goes to standard output, all else to standard error. Exit status: 0 done, 1 query error, 2 usage,\n"
                    "3 no daemon, 4 timeout, 5 read-only or denied, 130 interrupted. More in queryctl(1).\n");
    return g_string_free(out, FALSE);
}
