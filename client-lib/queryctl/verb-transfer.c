/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import, export, backup and restore: the daemon reads or writes a descriptor of ours; we only wait and show progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/queryctl/relay.h"
#include "client-lib/queryctl/verbs.h"

#define SAMPLE_BYTES 65536
#define PROGRESS_USEC (100 * G_TIME_SPAN_MILLISECOND)

typedef struct Progress {
    bool shown;
    gint64 last_usec;
    const char *what;
} Progress;

static void
fail_errno(GError **error, const char *what, const char *name)
{
    int saved = errno;

    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(saved), "%s '%s': %s", what, name, g_strerror(saved));
}

static void
show_progress(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    Progress *progress = user_data;
    gint64 now = g_get_monotonic_time();
    g_autofree char *done = NULL;
    g_autofree char *total = NULL;

    if (now - progress->last_usec < PROGRESS_USEC)
        return;

    progress->last_usec = now;
    progress->shown = true;
    done = g_format_size(bytes_done);
    total = g_format_size(bytes_total);
    if (bytes_total > 0)
        (void) fprintf(stderr, "\r%s: %3u %% of %s\033[K", progress->what,
                       (guint) (100.0 * (double) bytes_done / (double) bytes_total), total);
    else
        (void) fprintf(stderr, "\r%s: %s\033[K", progress->what, done);
    (void) fflush(stderr);
}

static void
clear_progress(const Progress *progress)
{
    if (progress->shown)
        (void) fputs("\r\033[K", stderr);
}

/* What stands at the end of a name, unless the option says it. */
static const char *
guess_format(const QctlArguments *arguments, const char *name)
{
    static const struct {
        const char *suffix;
        const char *format;
    } formats[] = {
        { ".csv", "csv" },    { ".tsv", "tsv" },     { ".jsonl", "jsonl" },  { ".ndjson", "jsonl" },       { ".json", "json" },
        { ".ttl", "turtle" }, { ".trig", "trig" },   { ".nt", "ntriples" },  { ".nq", "nquads" },          { ".rdf", "rdfxml" },
        { ".owl", "rdfxml" }, { ".arrow", "arrow" }, { ".arrows", "arrow" }, { ".feather", "arrow-file" },
    };

    if (arguments->output.format == QCTL_FORMAT_REMOTE)
        return arguments->output.remote_format;
    if (arguments->output.format != QCTL_FORMAT_AUTO)
        return qctl_format_get_name(arguments->output.format);

    for (guint i = 0; name != NULL && i < G_N_ELEMENTS(formats); i++)
        if (g_str_has_suffix(name, formats[i].suffix))
            return formats[i].format;
    return NULL;
}

/* import -------------------------------------------------------------------------------------------------------------- */

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

/* A name that ends like no format would get another one than its reader expects. */
static bool
check_suffix(const char *name)
{
    g_autofree char *base = g_path_get_basename(name);
    const char *suffix = strrchr(base, '.');

    if (suffix == NULL || suffix == base || g_str_equal(suffix, ".txt"))
        return true;
    (void) fprintf(stderr,
                   "queryctl: no format is known for '%s': csv, tsv, json, jsonl, ttl, trig, nt, nq, rdf, arrow and feather are; "
                   "--format NAME says it\n",
                   suffix);
    return false;
}

static bool
import(QctlSession *session, int fd, const char *format, guint64 *ret_n_rows, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    Progress progress = { .what = "import", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? show_progress : NULL;
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
    clear_progress(&progress);
    return ok;
}

static bool
refuse_format(const QctlVerb *verb, const char *names, GError **error)
{
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: the format is one of %s", verb->name, names);
    return false;
}

static bool
check_import(const QctlArguments *arguments, GError **error)
{
    if (arguments->output.format != QCTL_FORMAT_TABLE && arguments->output.format != QCTL_FORMAT_MARKDOWN)
        return true;
    return refuse_format(arguments->verb, "csv, tsv, json, jsonl", error);
}

static int
run_import(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    const char *name = arguments->words->pdata[0];
    bool is_stdin = g_str_equal(name, "-");
    const char *format = guess_format(arguments, is_stdin ? NULL : name);
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
                       arguments->transfer.table == NULL ? "say --table TABLE: which table to fill"
                                                         : "RDF goes into graphs, not into tables");
        return QCTL_EXIT_USAGE;
    }
    if (!is_stdin)
        fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail_errno(&error, "cannot open", name);
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
    "FILE|- [--table TABLE]",
    "read csv, tsv, json or jsonl into a table, or RDF into a graph",
    QCTL_OPTIONS(&option_table, &option_create, &option_delimiter, &qctl_option_graph, &option_base, &option_replace,
                 &qctl_option_check_only, &qctl_option_format, &qctl_option_no_header, &qctl_option_store),
    .n_words_min = 1,
    .n_words_max = 1,
    .remote_formats = QCTL_REMOTE_RDF,
    .values = QCTL_VALUES_FILES,
    .check = check_import,
    .run = run_import,
};

/* export -------------------------------------------------------------------------------------------------------------- */

/* A single word is a table's name. */
static char *
make_query(const char *word)
{
    g_autofree char *quoted = NULL;
    g_auto(GStrv) parts = NULL;

    if (strpbrk(word, " \t\n(") != NULL)
        return g_strdup(word);

    parts = g_strsplit(word, "\"", -1);
    quoted = g_strjoinv("\"\"", parts);
    return g_strdup_printf("SELECT * FROM \"%s\"", quoted);
}

/* The reader of our output has gone. The daemon, which writes there, can only tell that it could not. */
static bool
is_reader_gone(int fd)
{
    struct pollfd entry = { .fd = fd };

    return poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLHUP)) != 0;
}

/* Takes @failure (nullable), of writing to @fd. A reader that has read enough is no error to report. */
static bool
settle(int fd, GError *failure, GError **error)
{
    if (g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_CLOSED) && is_reader_gone(fd)) {
        g_clear_error(&failure);
        failure = g_error_new(G_FILE_ERROR, G_FILE_ERROR_PIPE, "cannot write the output: %s", g_strerror(EPIPE));
    }
    if (failure == NULL)
        return true;

    g_propagate_error(error, failure);
    return false;
}

bool
qctl_export(QctlSession *session, int fd, const char *query, const char *format, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QctlRelay) relay = connection != NULL ? qctl_relay_new(fd, true, error) : NULL;
    QueryLanguage language = arguments->sparql ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;
    g_autoptr(GVariant) options = NULL;
    GError *failure = NULL;
    GVariantDict dict;
    guint64 n_rows = 0;
    guint64 n_bytes = 0;

    if (relay == NULL)
        return false;

    g_variant_dict_init(&dict, NULL);
    if (arguments->output.no_header)
        g_variant_dict_insert(&dict, "header", "b", FALSE);
    if (arguments->transfer.rdf_terms != NULL)
        g_variant_dict_insert(&dict, "rdf_terms", "s", arguments->transfer.rdf_terms);
    if (arguments->max_rows > 0)
        g_variant_dict_insert(&dict, "max_rows", "u", (guint32) MIN(arguments->max_rows, G_MAXUINT32));
    if (arguments->timeout_msec >= 0)
        g_variant_dict_insert(&dict, "timeout_ms", "u", (guint32) arguments->timeout_msec);
    options = g_variant_ref_sink(g_variant_dict_end(&dict));
    (void) query_connection_export(connection, language, query, format, qctl_relay_get_fd(relay), options, &n_rows, &n_bytes,
                                   qctl_session_get_cancellable(session), &failure);
    if (!qctl_relay_finish(relay, error)) {
        g_clear_error(&failure);
        return false;
    }
    return settle(fd, failure, error);
}

/* All RDF data, or one graph. */
static bool
dump(QctlSession *session, int fd, const char *format, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    Progress progress = { .what = "export", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) && !isatty(fd) ? show_progress : NULL;
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QctlRelay) relay = connection != NULL ? qctl_relay_new(fd, true, error) : NULL;
    g_autoptr(GVariant) options = NULL;
    GError *failure = NULL;
    GVariantDict dict;

    if (relay == NULL)
        return false;

    g_variant_dict_init(&dict, NULL);
    if (arguments->transfer.graph != NULL)
        g_variant_dict_insert(&dict, "graph", "s", arguments->transfer.graph);
    options = g_variant_ref_sink(g_variant_dict_end(&dict));
    (void) query_connection_dump(connection, qctl_relay_get_fd(relay), format, options, func, &progress, NULL,
                                 qctl_session_get_cancellable(session), &failure);
    clear_progress(&progress);
    if (!qctl_relay_finish(relay, error)) {
        g_clear_error(&failure);
        return false;
    }
    return settle(fd, failure, error);
}

static bool export(QctlSession *session, int fd, const char *format, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    g_autofree char *query = NULL;

    if (arguments->words->len == 0)
        return dump(session, fd, format, error);

    query = arguments->sparql ? g_strdup(arguments->words->pdata[0]) : make_query(arguments->words->pdata[0]);

    return qctl_export(session, fd, query, format, error);
}

/* A device, a FIFO: what is there is written to, never replaced. */
static bool
export_to_device(QctlSession *session, const char *name, const char *format, GError **error)
{
    int fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    bool ok = false;

    if (fd < 0) {
        fail_errno(error, "cannot open", name);
        return false;
    }

    ok = export(session, fd, format, error);
    (void) close(fd);
    return ok;
}

/* The file appears under its name only when it is whole and on the disk. */
static bool
export_to_file(QctlSession *session, const char *name, const char *format, GError **error)
{
    g_autofree char *unfinished = g_strdup_printf("%s.part-XXXXXX", name);
    int fd = g_mkstemp_full(unfinished, O_WRONLY | O_CLOEXEC, 0600);
    bool ok = false;

    if (fd < 0) {
        fail_errno(error, "cannot create", name);
        return false;
    }

    ok = export(session, fd, format, error);
    if (ok && fsync(fd) < 0) {
        fail_errno(error, "cannot write", name);
        ok = false;
    }
    (void) close(fd);
    if (ok && rename(unfinished, name) < 0) {
        fail_errno(error, "cannot create", name);
        ok = false;
    }
    if (!ok)
        (void) unlink(unfinished);
    return ok;
}

static bool
check_export(const QctlArguments *arguments, GError **error)
{
    if (arguments->output.format != QCTL_FORMAT_TABLE && arguments->output.format != QCTL_FORMAT_MARKDOWN)
        return true;
    return refuse_format(arguments->verb, "csv, tsv, json, jsonl", error);
}

static int
run_export(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    const char *format = guess_format(arguments, arguments->output.file);
    /* through a symbolic link: the file is replaced, the link stays */
    g_autofree char *target = arguments->output.file != NULL ? realpath(arguments->output.file, NULL) : NULL;
    const char *name = target != NULL ? target : arguments->output.file;
    g_autoptr(GError) error = NULL;
    struct stat st;
    bool ok = false;

    if (format == NULL && name != NULL && !check_suffix(arguments->output.file))
        return QCTL_EXIT_USAGE;
    if (format == NULL)
        format = arguments->words->len > 0 ? "tsv" : "trig";
    if (arguments->words->len == 0 && !qctl_format_is_rdf(format)) {
        (void) fprintf(stderr, "queryctl: say what to export: a table or a query; without one it is RDF, which '%s' cannot hold\n",
                       format);
        return QCTL_EXIT_USAGE;
    }
    if (name == NULL && g_str_has_prefix(format, "arrow") && isatty(STDOUT_FILENO)) {
        (void) fprintf(stderr, "queryctl: '%s' is not for a terminal: write to a file with --output FILE\n", format);
        return QCTL_EXIT_USAGE;
    }
    if (name == NULL)
        ok = export(session, STDOUT_FILENO, format, &error);
    else if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        ok = export_to_device(session, name, format, &error);
    else
        ok = export_to_file(session, name, format, &error);

    return ok ? QCTL_EXIT_OK : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

static const QctlOption option_output = { "output",
                                          'o',
                                          "FILE",
                                          "write to FILE, which appears only when it is whole",
                                          .values = QCTL_VALUES_FILES,
                                          .offset = G_STRUCT_OFFSET(QctlArguments, output.file) };
static const QctlOption option_rdf_terms = { "rdf-terms", 0, "text|struct", "arrow: what RDF terms are; default: text",
                                             .offset = G_STRUCT_OFFSET(QctlArguments, transfer.rdf_terms) };
const QctlVerb qctl_export_verb = {
    "export",
    "[TABLE|QUERY]",
    "write a table or result, or all RDF data, in a format",
    QCTL_OPTIONS(&option_output, &qctl_option_graph, &qctl_option_sparql, &qctl_option_format, &qctl_option_no_header,
                 &option_rdf_terms, QCTL_BOUND_OPTIONS, &qctl_option_store),
    .n_words_max = 1,
    .remote_formats = QCTL_REMOTE_ALL,
    .values = QCTL_VALUES_TABLES,
    .check = check_export,
    .run = run_export,
};

/* backup and restore -------------------------------------------------------------------------------------------------- */

static bool
backup(QctlSession *session, QueryConnection *connection, int fd, GError **error)
{
    Progress progress = { .what = "backup", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? show_progress : NULL;
    bool ok = query_connection_backup(connection, fd, func, &progress, qctl_session_get_cancellable(session), error);

    clear_progress(&progress);
    return ok;
}

static bool
backup_to_file(QctlSession *session, QueryConnection *connection, const char *name, GError **error)
{
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = false;

    if (fd < 0) {
        fail_errno(error, "cannot create", name);
        return false;
    }
    ok = backup(session, connection, fd, error);
    if (ok && fsync(fd) < 0) {
        fail_errno(error, "cannot write", name);
        ok = false;
    }
    (void) close(fd);
    if (!ok)
        (void) unlink(name);
    return ok;
}

static int
run_backup(QctlSession *session)
{
    const char *name = qctl_session_get_arguments(session)->words->pdata[0];
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    bool ok = connection != NULL && (g_str_equal(name, "-") ? backup(session, connection, STDOUT_FILENO, &error)
                                                            : backup_to_file(session, connection, name, &error));

    return ok ? QCTL_EXIT_OK : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

const QctlVerb qctl_backup_verb = {
    "backup",
    "FILE",
    "write a consistent copy of the database to a new file",
    QCTL_OPTIONS(&qctl_option_store),
    .n_words_min = 1,
    .n_words_max = 1,
    .values = QCTL_VALUES_FILES,
    .run = run_backup,
};

static int
run_restore(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    const char *name = arguments->words->pdata[0];
    Progress progress = { .what = "restore", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? show_progress : NULL;
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qctl_session_connect(session, &error);
    bool is_stdin = g_str_equal(name, "-");
    g_auto(GStrv) messages = NULL;
    bool ok = false;
    int fd = -1;

    if (connection == NULL)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);

    fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail_errno(&error, "cannot open", name);
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    }
    ok = query_connection_restore_full(connection, fd, arguments->check_only, func, &progress, &messages,
                                       qctl_session_get_cancellable(session), &error);
    clear_progress(&progress);
    for (guint i = 0; messages != NULL && messages[i] != NULL; i++)
        (void) fprintf(stderr, "queryctl: %s\n", messages[i]);
    if (!is_stdin)
        (void) close(fd);
    return ok ? QCTL_EXIT_OK : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

const QctlVerb qctl_restore_verb = {
    "restore",
    "FILE|-",
    "put a backup in the place of the database",
    QCTL_OPTIONS(&qctl_option_check_only, &qctl_option_store),
    .n_words_min = 1,
    .n_words_max = 1,
    .values = QCTL_VALUES_FILES,
    .run = run_restore,
};
