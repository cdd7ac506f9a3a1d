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

/* Into a table. */
static void
add_table_options(GVariantDict *dict, const QctlArguments *arguments, const char *delimiter)
{
    g_variant_dict_insert(dict, "table", "s", arguments->transfer.table);
    if (arguments->create)
        g_variant_dict_insert(dict, "create", "b", TRUE);
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

static bool
import(QctlSession *session, int fd, const char *format, guint64 *ret_n_rows, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    QctlProgress progress = { .what = "import", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? qctl_progress_show : NULL;
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QctlRelay) relay = connection != NULL ? qctl_relay_new(fd, false, error) : NULL;
    g_autoptr(GVariant) options = NULL;
    char delimiter[2];
    GVariantDict dict;
    gboolean ok = FALSE;

    if (relay == NULL)
        return false;

    find_delimiter(arguments, fd, format, delimiter);

    g_variant_dict_init(&dict, NULL);
    if (qctl_format_is_rdf(format))
        add_rdf_options(&dict, arguments);
    else
        add_table_options(&dict, arguments, delimiter);
    options = g_variant_ref_sink(g_variant_dict_end(&dict));
    ok = query_connection_import(connection, qctl_relay_get_fd(relay), format, options, func, &progress, ret_n_rows,
                                 qctl_session_get_cancellable(session), error);
    qctl_progress_clear(&progress);
    return ok;
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
    if (!qctl_format_is_for_eyes(arguments->output.format))
        return true;
    return qctl_transfer_refuse_format(arguments->verb, "csv, tsv, json, jsonl", error);
}

static int
run_import(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    const char *name = arguments->words->pdata[0];
    bool is_stdin = g_str_equal(name, "-");
    const char *format = qctl_transfer_guess_format(arguments, is_stdin ? NULL : name);
    g_autoptr(GError) error = NULL;
    guint64 n_rows = 0;
    int fd = STDIN_FILENO;
    bool ok = false;

    if (format == NULL) {
        (void) fprintf(
            stderr,
            "queryctl: say --format csv, tsv, json, jsonl, turtle, trig, ntriples, nquads or rdfxml: the name '%s' does not\n",
            name);
        return QCTL_EXIT_USAGE;
    }
    if (qctl_format_is_rdf(format) ? arguments->transfer.table != NULL : arguments->transfer.table == NULL) {
        (void) fprintf(stderr, "queryctl: %s\n",
                       arguments->transfer.table == NULL ? "say which table to fill: import FILE TABLE, or --table"
                                                         : "RDF goes into graphs, not into tables");
        return QCTL_EXIT_USAGE;
    }
    if (!is_stdin)
        fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        qctl_transfer_fail_errno(&error, "cannot open", name);
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    }

    ok = import(session, fd, format, &n_rows, &error);
    if (!is_stdin)
        (void) close(fd);
    if (!ok)
        return qctl_session_report(session, g_steal_pointer(&error), is_stdin ? NULL : name);
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
                                          .offset = G_STRUCT_OFFSET(QctlArguments, create) };
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
static const QctlOption option_base = { "base", 0, "IRI",
                                        "RDF: what relative IRIs are resolved against; default: the file's address",
                                        .offset = G_STRUCT_OFFSET(QctlArguments, transfer.base) };
static const QctlOption option_replace = { "replace", 0, NULL, "RDF: what is there goes first: of the graph; trig, nquads: of all",
                                           .offset = G_STRUCT_OFFSET(QctlArguments, replace) };
const QctlVerb qctl_import_verb = {
    "import",
    "FILE|- [TABLE]",
    "read csv, tsv, json or jsonl into a table, or RDF into a graph",
    QCTL_OPTIONS(&option_table, &option_create, &option_delimiter, &qctl_option_graph, &option_base, &option_replace,
                 &qctl_option_check_only, &qctl_option_format, &qctl_option_no_header, &qctl_option_store),
    .n_words_min = 1,
    .n_words_max = 2,
    .remote_formats = QCTL_REMOTE_RDF,
    .values = QCTL_VALUES_FILES,
    .prepare = prepare_import,
    .check = check_import,
    .run = run_import,
};
