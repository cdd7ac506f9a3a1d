/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * export, dump, backup and restore: the daemon reads or writes a descriptor of ours; we only wait and show progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/queryctl/transfer/dump.h"
#include "client-lib/queryctl/transfer/new-file.h"
#include "client-lib/queryctl/transfer/relay.h"
#include "client-lib/queryctl/transfer/transfer-private.h"

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
    QueryLanguage language = qctl_session_get_language(session);
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
    QctlProgress progress = { .what = "export", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) && !isatty(fd) ? qctl_progress_show : NULL;
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
    qctl_progress_clear(&progress);
    if (!qctl_relay_finish(relay, error)) {
        g_clear_error(&failure);
        return false;
    }
    return settle(fd, failure, error);
}

static bool export(QctlSession *session, int fd, const char *format, bool *ret_is_whole, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    g_autofree char *query = NULL;

    if (arguments->words->len == 0)
        return dump(session, fd, format, error);

    query = arguments->sparql ? g_strdup(arguments->words->pdata[0]) : make_query(arguments->words->pdata[0]);

    return qctl_export(session, fd, query, format, error);
}

/* To files ------------------------------------------------------------------------------------------------------------ */

/* Writes all of it to @fd, or, with false in @ret_is_whole, which is true before, what can be read of it. */
typedef bool (*WriteFunc)(QctlSession *session, int fd, const char *format, bool *ret_is_whole, GError **error);

/* A device, a FIFO: what is there is written to, never replaced. */
static bool
write_to_device(QctlSession *session, const char *name, WriteFunc func, const char *format, bool *ret_is_whole, GError **error)
{
    int fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    bool ok = false;

    if (fd < 0) {
        qctl_transfer_fail_errno(error, "cannot open", name);
        return false;
    }

    ok = func(session, fd, format, ret_is_whole, error);
    (void) close(fd);
    return ok;
}

static bool
write_to_file(QctlSession *session, const char *name, WriteFunc func, const char *format, bool *ret_is_whole, GError **error)
{
    g_auto(QctlNewFile) file = QCTL_NEW_FILE_INIT;

    return qctl_new_file_open(&file, name, true, error) && func(session, file.fd, format, ret_is_whole, error) &&
           qctl_new_file_publish(&file, error);
}

/* A name that ends like no format would get another one than its reader expects. */
static bool
check_suffix(const char *name)
{
    g_autofree char *base = g_path_get_basename(name);
    const char *suffix = strrchr(base, '.');

    if (suffix == NULL || suffix == base || g_str_equal(suffix, ".txt"))
        return true;
    (void) fprintf(
        stderr,
        "queryctl: no format is known for '%s': csv, tsv, json, jsonl, ttl, trig, nt, nq, rdf, jsonld, arrow and feather are; "
        "--format NAME says it\n",
        suffix);
    return false;
}

static bool
check_export(const QctlArguments *arguments, GError **error)
{
    if (!qctl_format_is_for_eyes(arguments->output.format))
        return true;
    return qctl_transfer_refuse_format(arguments->verb, "csv, tsv, json, jsonl", error);
}

/* To --output, or else standard output. Returns: the exit code */
static int
write_output(QctlSession *session, WriteFunc func, const char *format)
{
    const char *file = qctl_session_get_arguments(session)->output.file;
    /* through a symbolic link: the file is replaced, the link stays */
    g_autofree char *target = file != NULL ? realpath(file, NULL) : NULL;
    const char *name = target != NULL ? target : file;
    g_autoptr(GError) error = NULL;
    struct stat st;
    bool is_whole = true;
    bool ok = false;

    if (name == NULL)
        ok = func(session, qctl_session_get_output(session), format, &is_whole, &error);
    else if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        ok = write_to_device(session, name, func, format, &is_whole, &error);
    else
        ok = write_to_file(session, name, func, format, &is_whole, &error);
    if (!ok)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    return is_whole ? QCTL_EXIT_OK : QCTL_EXIT_QUERY;
}

static int
run_export(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    const char *format = qctl_transfer_guess_format(arguments, arguments->output.file);

    if (format == NULL && arguments->output.file != NULL && !check_suffix(arguments->output.file))
        return QCTL_EXIT_USAGE;
    if (format == NULL)
        format = arguments->words->len > 0 ? "tsv" : "trig";
    if (arguments->words->len == 0 && !qctl_format_is_rdf(format)) {
        (void) fprintf(stderr, "queryctl: say what to export: a table or a query; without one it is RDF, which '%s' cannot hold\n",
                       format);
        return QCTL_EXIT_USAGE;
    }
    if (arguments->output.file == NULL && qctl_format_is_binary(format) && isatty(qctl_session_get_output(session))) {
        (void) fprintf(stderr, "queryctl: '%s' is not for a terminal: write to a file with --output FILE\n", format);
        return QCTL_EXIT_USAGE;
    }
    return write_output(session, export, format);
}

static const QctlOption option_output = { "output",
                                          'o',
                                          "FILE",
                                          "write to FILE, which appears only when it is whole",
                                          .values = QCTL_VALUES_FILES,
                                          .offset = G_STRUCT_OFFSET(QctlArguments, output.file) };
static const QctlOption option_rdf_terms = { "rdf-terms", 0, "FORM", "arrow: RDF terms are text (default) or struct",
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

/* dump ---------------------------------------------------------------------------------------------------------------- */

static bool
write_dump(QctlSession *session, int fd, const char *format, bool *ret_is_whole, GError **error)
{
    GPtrArray *words = qctl_session_get_arguments(session)->words;
    g_autoptr(QctlSink) sink = qctl_sink_new(fd, false);

    return qctl_dump(session, sink, words->len > 0 ? words->pdata[0] : NULL, ret_is_whole, error);
}

static int
run_dump(QctlSession *session)
{
    return write_output(session, write_dump, NULL);
}

const QctlVerb qctl_dump_verb = {
    "dump",
    "[PATTERN]",
    "write tables as SQL that makes them again, for sqlite3, too",
    QCTL_OPTIONS(&option_output, &qctl_option_timeout, &qctl_option_store, &qctl_option_direct),
    .n_words_max = 1,
    .values = QCTL_VALUES_TABLES,
    .run = run_dump,
};

/* backup and restore -------------------------------------------------------------------------------------------------- */

static bool
backup(QctlSession *session, QueryConnection *connection, int fd, GError **error)
{
    QctlProgress progress = { .what = "backup", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? qctl_progress_show : NULL;
    bool ok = query_connection_backup(connection, fd, func, &progress, qctl_session_get_cancellable(session), error);

    qctl_progress_clear(&progress);
    return ok;
}

static bool
backup_to_file(QctlSession *session, QueryConnection *connection, const char *name, GError **error)
{
    g_auto(QctlNewFile) file = QCTL_NEW_FILE_INIT;
    struct stat st;

    if (lstat(name, &st) == 0 && !g_file_test(name, G_FILE_TEST_IS_REGULAR)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "'%s' is no file: a backup makes a new one, and '-' is standard output", name);
        return false;
    }
    return qctl_new_file_open(&file, name, false, error) && backup(session, connection, file.fd, error) &&
           qctl_new_file_publish(&file, error);
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
    QctlProgress progress = { .what = "restore", .last_usec = g_get_monotonic_time() };
    QueryProgressFunc func = isatty(STDERR_FILENO) ? qctl_progress_show : NULL;
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
        qctl_transfer_fail_errno(&error, "cannot open", name);
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    }
    ok = query_connection_restore_full(connection, fd, arguments->check_only, func, &progress, &messages,
                                       qctl_session_get_cancellable(session), &error);
    qctl_progress_clear(&progress);
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
