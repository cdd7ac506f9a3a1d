/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * payload: contents with an id of their own, to and from files and pipes. The descriptors go to the daemon and come from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/verbs.h"

#define COPY_BYTES (256 * 1024)

static const char
    list_text[] = "SELECT id, size, media_type, datetime(created, 'unixepoch') AS created, nullif(lower(hex(hash)), '') AS sha256,"
                  " CASE typeof(content) WHEN 'null' THEN 'file' ELSE 'row' END AS place FROM queryd_payload ORDER BY id";

static bool
fail_errno(GError **error, const char *what, const char *name)
{
    int saved = errno;

    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(saved), "%s '%s': %s", what, name, g_strerror(saved));
    return false;
}

/* @id: 0 for a new one */
static bool
store(QctlSession *session, QueryConnection *connection, gint64 id, const char *name, GError **error)
{
    const char *media_type = qctl_session_get_arguments(session)->media_type;
    GCancellable *cancellable = qctl_session_get_cancellable(session);
    bool is_input = g_str_equal(name, "-");
    int fd = is_input ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    g_autoptr(GVariantDict) options = g_variant_dict_new(NULL);
    bool ok;

    if (fd < 0)
        return fail_errno(error, "cannot open", name);
    if (media_type != NULL)
        g_variant_dict_insert(options, "media_type", "s", media_type);
    if (id > 0) {
        ok = query_connection_replace_payload_from_fd(connection, id, fd, g_variant_dict_end(options), cancellable, error);
    } else {
        id = query_connection_store_payload_from_fd(connection, fd, g_variant_dict_end(options), cancellable, error);
        ok = id > 0;
        if (ok)
            (void) printf("%" G_GINT64_FORMAT "\n", id);
    }
    if (!is_input)
        (void) close(fd);
    return ok;
}

static bool
write_all(const char *data, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = write(STDOUT_FILENO, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        n_bytes -= (size_t) n;
    }
    return true;
}

static bool
cat(QctlSession *session, QueryConnection *connection, gint64 id, GError **error)
{
    int fd = query_connection_open_payload(connection, id, qctl_session_get_cancellable(session), error);
    g_autofree char *buffer = g_malloc(COPY_BYTES);
    ssize_t n = 1;
    bool ok = fd >= 0;

    while (ok && n > 0) {
        n = read(fd, buffer, COPY_BYTES);
        ok = n >= 0 && (n == 0 || write_all(buffer, (size_t) n));
        if (!ok)
            (void) fail_errno(error, n < 0 ? "cannot read" : "cannot write", n < 0 ? "payload" : "standard output");
    }
    if (fd >= 0)
        (void) close(fd);
    return ok;
}

static bool
run(QctlSession *session, QueryConnection *connection, GError **error)
{
    const GPtrArray *words = qctl_session_get_arguments(session)->words;
    const char *action = words->pdata[0];
    bool ok = true;

    if (g_str_equal(action, "store"))
        return store(session, connection, 0, words->pdata[1], error);
    if (g_str_equal(action, "replace"))
        return store(session, connection, g_ascii_strtoll(words->pdata[1], NULL, 10), words->pdata[2], error);
    if (g_str_equal(action, "cat"))
        return cat(session, connection, g_ascii_strtoll(words->pdata[1], NULL, 10), error);

    for (guint i = 1; ok && i < words->len; i++)
        ok = query_connection_delete_payload(connection, g_ascii_strtoll(words->pdata[i], NULL, 10),
                                             qctl_session_get_cancellable(session), error);
    return ok;
}

static bool
is_id(const char *word)
{
    guint64 id = 0;

    return g_ascii_string_to_unsigned(word, 10, 1, G_MAXINT64, &id, NULL);
}

static bool
check(const QctlArguments *arguments, GError **error)
{
    const char *action = arguments->words->pdata[0];
    guint n = arguments->words->len;
    bool has_id = g_str_equal(action, "cat") || g_str_equal(action, "replace") || g_str_equal(action, "rm");
    bool ok = (g_str_equal(action, "ls") && n == 1) || (g_str_equal(action, "store") && n == 2) ||
              (g_str_equal(action, "cat") && n == 2) || (g_str_equal(action, "replace") && n == 3) ||
              (g_str_equal(action, "rm") && n >= 2);

    for (guint i = 1; ok && has_id && i < (g_str_equal(action, "replace") ? 2 : n); i++) {
        if (is_id(arguments->words->pdata[i]))
            continue;
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'%s' is not the id of a payload; see 'queryctl payload ls'",
                    (const char *) arguments->words->pdata[i]);
        return false;
    }
    return ok || qctl_arguments_refuse(arguments, error);
}

static int
run_payload(QctlSession *session)
{
    const char *action = qctl_session_get_arguments(session)->words->pdata[0];
    g_autoptr(GError) error = NULL;
    QueryConnection *connection;

    if (g_str_equal(action, "ls")) {
        g_autoptr(QctlSink) sink = qctl_session_create_sink(session);

        return qctl_run_statement(session, sink, list_text, QCTL_ACCESS_READ, NULL);
    }
    connection = qctl_session_connect(session, &error);
    if (connection != NULL && run(session, connection, &error))
        return QCTL_EXIT_OK;
    return qctl_session_report(session, g_steal_pointer(&error), NULL);
}

static const QctlOption option_media_type = { "media-type", 0, "TYPE", "what the content is, such as image/png",
                                              .offset = G_STRUCT_OFFSET(QctlArguments, media_type) };
const QctlVerb qctl_payload_verb = {
    "payload",
    "ls|store FILE|cat ID|replace ID FILE|rm ID…",
    "keep contents that have an id: store, read, replace, delete",
    QCTL_OPTIONS(&option_media_type, QCTL_PRINT_OPTIONS, &qctl_option_store),
    .n_words_min = 1,
    .n_words_max = G_MAXUINT,
    .actions = QCTL_ACTIONS("ls", "store", "cat", "replace", "rm"),
    .values = QCTL_VALUES_FILES,
    .check = check,
    .run = run_payload,
};
