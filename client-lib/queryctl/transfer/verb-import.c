/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import: the daemon reads a descriptor of ours; we only wait and show progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/queryctl/transfer/encoding.h"
#include "client-lib/queryctl/transfer/relay.h"
#include "client-lib/queryctl/transfer/transfer-private.h"

#define SAMPLE_BYTES 65536

/* "": the comma. The first line of @fd tells, if it is a file: without a comma, it has another one as often as that occurs. */
static void
find_delimiter(const QctlArguments *arguments, int fd, const char *format, char ret_delimiter[2])
{
    static const char others[] = ";\t|";
    char line[SAMPLE_BYTES + 1];
    ssize_t n = 0;
    guint n_best = 0;

    g_strlcpy(ret_delimiter, arguments->transfer.delimiter != NULL ? arguments->transfer.delimiter : "", 2);
    if (arguments->transfer.delimiter == NULL && g_str_equal(format, "csv"))
        n = pread(fd, line, SAMPLE_BYTES, 0);
    line[MAX(n, 0)] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strchr(line, ',') != NULL)
        return;
    for (const char *other = others; *other != '\0'; other++) {
        guint n_times = 0;

        for (const char *p = strchr(line, *other); p != NULL; p = strchr(p + 1, *other))
            n_times++;
        if (n_times > n_best) {
            n_best = n_times;
            ret_delimiter[0] = *other;
            ret_delimiter[1] = '\0';
        }
    }
    if (n_best > 0)
        (void) fprintf(stderr,
                       "queryctl: its first line has no comma: the fields are taken to be separated by '%s'; --delimiter says it\n",
                       ret_delimiter[0] == '\t' ? "tab" : ret_delimiter);
}

static bool
has_types(const QctlArguments *arguments)
{
    return g_strcmp0(arguments->transfer.types, "none") != 0;
}

/* Those that are given; the daemon finds the others. */
static void
add_types(GVariantDict *dict, const QctlArguments *arguments)
{
    g_auto(GStrv) types = arguments->transfer.types != NULL ? g_strsplit(arguments->transfer.types, ",", -1) : NULL;

    g_variant_dict_insert(dict, "detect_types", "b", TRUE);
    if (types != NULL)
        g_variant_dict_insert(dict, "types", "^as", types);
}

/* Into a table. */
static void
add_table_options(GVariantDict *dict, const QctlArguments *arguments, const char *delimiter, bool makes_table)
{
    g_variant_dict_insert(dict, "table", "s", arguments->transfer.table);
    if (arguments->transfer.create)
        g_variant_dict_insert(dict, "create", "b", TRUE);
    if (makes_table && has_types(arguments))
        add_types(dict, arguments);
    if (arguments->output.no_header)
        g_variant_dict_insert(dict, "header", "b", FALSE);
    if (delimiter[0] != '\0')
        g_variant_dict_insert(dict, "delimiter", "s", delimiter);
}

/* Into graphs. A file's own address is the base of its relative IRIs. */
static void
add_rdf_options(GVariantDict *dict, const QctlArguments *arguments)
{
    const char *name = arguments->words->pdata[0];
    g_autofree char *path = arguments->transfer.base == NULL && !g_str_equal(name, "-") ? realpath(name, NULL) : NULL;
    g_autofree char *address = path != NULL ? g_filename_to_uri(path, NULL, NULL) : NULL;

    if (arguments->transfer.base != NULL || address != NULL)
        g_variant_dict_insert(dict, "base", "s", arguments->transfer.base != NULL ? arguments->transfer.base : address);
    if (arguments->transfer.graph != NULL)
        g_variant_dict_insert(dict, "graph", "s", arguments->transfer.graph);
    if (arguments->replace)
        g_variant_dict_insert(dict, "replace", "b", TRUE);
    if (arguments->check_only)
        g_variant_dict_insert(dict, "check_only", "b", TRUE);
}

/* Asks about the columns of the table, if it is there. (transfer full) (nullable): NULL when it cannot be asked */
static QueryCursor *
query_columns(QctlSession *session, GError **error)
{
    const char *table = qctl_session_get_arguments(session)->transfer.table;
    QueryConnection *connection = qctl_session_connect(session, error);
    GVariantDict dict;

    if (connection == NULL)
        return NULL;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "name", "s", table);
    return query_connection_query(connection, QUERY_LANGUAGE_SQL, "SELECT name, type FROM pragma_table_info(:name)",
                                  g_variant_dict_end(&dict), qctl_session_get_cancellable(session), error);
}

/* Whether there is no table yet, and one is to be made. false with @error set, too */
static bool
find_makes_table(QctlSession *session, const char *format, bool *ret_makes_table, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    g_autoptr(QueryCursor) cursor = NULL;
    GError *failure = NULL;

    *ret_makes_table = false;
    if (!arguments->transfer.create || qctl_format_is_rdf(format))
        return true;
    cursor = query_columns(session, error);
    if (cursor == NULL)
        return false;
    *ret_makes_table = !query_cursor_next(cursor, qctl_session_get_cancellable(session), &failure);
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    if (*ret_makes_table || arguments->transfer.types == NULL || !has_types(arguments))
        return true;
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the table '%s' is there: --types is for one that is made",
                arguments->transfer.table);
    return false;
}

/* What types were found, so that a wrong one is seen. */
static void
show_columns(QctlSession *session)
{
    g_autoptr(QueryCursor) cursor = query_columns(session, NULL);
    g_autoptr(GString) text = g_string_new(NULL);

    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL)) {
        const char *name = query_cursor_get_string(cursor, 0, NULL);
        const char *type = query_cursor_get_string(cursor, 1, NULL);

        g_string_append_printf(text, "%s%s%s%s", text->len > 0 ? ", " : "", name, type != NULL && type[0] != 0 ? " " : "",
                               type != NULL ? type : "");
    }
    if (text->len > 0)
        (void) fprintf(stderr, "queryctl: the table '%s' was made: %s\n", qctl_session_get_arguments(session)->transfer.table,
                       text->str);
}

static bool
import(QctlSession *session, int fd, const char *format, bool makes_table, guint64 *ret_n_rows, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    QctlProgress progress = { .what = "import", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? qctl_progress_show : NULL;
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QctlRelay) relay = connection != NULL ? qctl_relay_new(fd, false, error) : NULL;
    g_autoptr(GVariant) options = NULL;
    GError *failure = NULL;
    char delimiter[2];
    GVariantDict dict;

    if (relay == NULL)
        return false;

    find_delimiter(arguments, fd, format, delimiter);

    g_variant_dict_init(&dict, NULL);
    if (qctl_format_is_rdf(format))
        add_rdf_options(&dict, arguments);
    else
        add_table_options(&dict, arguments, delimiter, makes_table);
    options = g_variant_ref_sink(g_variant_dict_end(&dict));
    (void) query_connection_import(connection, qctl_relay_get_fd(relay), format, options, func, &progress, ret_n_rows,
                                   qctl_session_get_cancellable(session), &failure);
    qctl_progress_clear(&progress);
    if (!qctl_relay_check(relay, error)) { /* the daemon's error is only that the input broke off */
        g_clear_error(&failure);
        return false;
    }
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

/* The second word is the table. */
static void
prepare_import(QctlArguments *arguments)
{
    if (arguments->words->len == 2 && arguments->transfer.table == NULL)
        arguments->transfer.table = g_ptr_array_steal_index(arguments->words, 1);
}

static bool
check_import(const QctlArguments *arguments, GError **error)
{
    if (arguments->words->len > 1)
        return qctl_arguments_refuse(arguments, error);
    if (arguments->transfer.types != NULL && !arguments->transfer.create) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--types is for a table that --create makes");
        return false;
    }
    if (!qctl_format_is_for_eyes(arguments->output.format))
        return true;
    return qctl_transfer_refuse_format(arguments->verb, "csv, tsv, json, jsonl", error);
}

/* What the words and options say together. */
static bool
check_target(const QctlArguments *arguments, const char *format)
{
    const char *problem = NULL;

    if (format == NULL) {
        (void) fprintf(stderr,
                       "queryctl: say --format csv, tsv, json, jsonl, turtle, trig, ntriples, nquads, rdfxml or jsonld: the name "
                       "'%s' does not\n",
                       (const char *) arguments->words->pdata[0]);
        return false;
    }
    if (!qctl_format_is_rdf(format) && arguments->transfer.table == NULL)
        problem = "say which table to fill: import FILE TABLE, or --table";
    else if (qctl_format_is_rdf(format) && arguments->transfer.table != NULL)
        problem = "RDF goes into graphs, not into tables";
    else if (qctl_format_is_rdf(format) && arguments->transfer.encoding != NULL)
        problem = "RDF is UTF-8: --encoding is for tables";
    if (problem != NULL)
        (void) fprintf(stderr, "queryctl: %s\n", problem);
    return problem == NULL;
}

/* Returns: what the daemon reads: @fd, which is consumed, or a file with its text in UTF-8; -1 on error */
static int
decode(const QctlArguments *arguments, int fd, const char *format, GError **error)
{
    const char *encoding = arguments->transfer.encoding;
    int decoded = -1;

    if (encoding == NULL && !qctl_format_is_rdf(format)) {
        encoding = qctl_encoding_find(fd);
        if (encoding != NULL)
            (void) fprintf(stderr, "queryctl: its first bytes are the mark of %s: it is read so; --encoding says it\n", encoding);
    }
    if (encoding == NULL)
        return fd;
    decoded = qctl_encoding_convert(fd, encoding, error);
    (void) close(fd);
    return decoded;
}

static void
show_encoding(const QctlArguments *arguments, int fd, const char *format)
{
    if (arguments->transfer.encoding == NULL && !qctl_format_is_rdf(format) && !qctl_encoding_is_utf8(fd, SAMPLE_BYTES))
        (void) fputs("The file is not UTF-8: --encoding latin1, windows-1252, … says what it is\n", stderr);
}

static int
run_import(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    const char *name = arguments->words->pdata[0];
    bool is_stdin = g_str_equal(name, "-");
    const char *format = qctl_transfer_guess_format(arguments, is_stdin ? NULL : name);
    g_autoptr(GError) error = NULL;
    bool makes_table = false;
    guint64 n_rows = 0;
    int fd;
    int code = QCTL_EXIT_OK;

    if (!check_target(arguments, format))
        return QCTL_EXIT_USAGE;
    fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        qctl_transfer_fail_errno(&error, "cannot open", name);
    else
        fd = decode(arguments, fd, format, &error);
    if (fd < 0)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    if (!find_makes_table(session, format, &makes_table, &error) || !import(session, fd, format, makes_table, &n_rows, &error)) {
        code = qctl_session_report(session, g_steal_pointer(&error), is_stdin ? NULL : name);
        if (code != QCTL_EXIT_INTERRUPTED)
            show_encoding(arguments, fd, format);
    }
    (void) close(fd);
    if (code != QCTL_EXIT_OK)
        return code;
    if (makes_table && has_types(arguments))
        show_columns(session);
    (void) fprintf(stderr, "%" G_GUINT64_FORMAT " %s%s %s\n", n_rows, qctl_format_is_rdf(format) ? "statement" : "row",
                   n_rows == 1 ? "" : "s", arguments->check_only ? "read" : "imported");
    return QCTL_EXIT_OK;
}

static const QctlOption option_table = { "table",
                                         't',
                                         "TABLE",
                                         "the table to fill",
                                         .values = QCTL_VALUES_TABLES,
                                         .offset = G_STRUCT_OFFSET(QctlArguments, transfer.table) };
static const QctlOption option_create = { "create", 0, NULL, "create the table from the header when it does not exist",
                                          .offset = G_STRUCT_OFFSET(QctlArguments, transfer.create) };
static bool
set_delimiter(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error)
{
    bool is_tab = g_str_equal(value, "tab") || g_str_equal(value, "\\t");

    if (!is_tab && strlen(value) != 1) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--delimiter takes one character, or 'tab', not '%s'", value);
        return false;
    }
    g_free(arguments->transfer.delimiter);
    arguments->transfer.delimiter = g_strdup(is_tab ? "\t" : value);
    return true;
}

static const QctlOption option_delimiter = { "delimiter", 0, "CHAR",
                                             "csv: what separates fields: one character, or tab; default: a comma",
                                             .set = set_delimiter };
static const QctlOption option_encoding = { "encoding", 0, "NAME", "tables: of the file, such as latin1 or UTF-16; default: UTF-8",
                                            .offset = G_STRUCT_OFFSET(QctlArguments, transfer.encoding) };
static const QctlOption option_types = { "types", 0, "TYPES", "with --create: NAME=TYPE,… instead of what is found; or none",
                                         .offset = G_STRUCT_OFFSET(QctlArguments, transfer.types) };
static const QctlOption option_base = { "base", 0, "IRI",
                                        "RDF: what relative IRIs are resolved against; default: the file's address",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, transfer.base) };
static const QctlOption option_replace = { "replace", 0, NULL,
                                           "RDF: what is there goes first: of the graph; trig, nquads, jsonld: of all",
                                           .offset = G_STRUCT_OFFSET(QctlArguments, replace) };
const QctlVerb qctl_import_verb = {
    "import",
    "FILE|- [TABLE]",
    "read csv, tsv, json or jsonl into a table, or RDF into a graph",
    QCTL_OPTIONS(&option_table, &option_create, &option_types, &option_delimiter, &option_encoding, &qctl_option_graph,
                 &option_base, &option_replace, &qctl_option_check_only, &qctl_option_format, &qctl_option_no_header,
                 &qctl_option_store),
    .n_words_min = 1,
    .n_words_max = 2,
    .remote_formats = QCTL_REMOTE_RDF,
    .values = QCTL_VALUES_FILES,
    .prepare = prepare_import,
    .check = check_import,
    .run = run_import,
};
