/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * web: the workbench of queryd-http in the browser.
 *
 * queryd-http makes a link that works once, for whom may open its UNIX socket. systemd starts it with the first connection.
 */
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <stdio.h>
#include <string.h>

#include "client-lib/queryctl/verbs.h"

#define SOCKET_UNIT "queryd-http.socket"
#define START_SECONDS 5
#define START_STEP_USEC 20000
#define ANSWER_SECONDS 10
#define ANSWER_BYTES_MAX 65536

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool
fail(GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_propagate_error(error, g_error_new_valist(QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, format, arguments));
    va_end(arguments);
    return false;
}

/* the socket ----------------------------------------------------------------------------------------------------------- */

static GSocketConnection *
connect_to(const char *path, GCancellable *cancellable, GError **error)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);

    g_socket_client_set_timeout(client, ANSWER_SECONDS);
    return g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), cancellable, error);
}

/* As "systemctl --user start": it stays until the session ends, and is not enabled for the next one. */
static bool
start_unit(GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, cancellable, &failure);
    g_autoptr(GVariant) job = NULL;

    if (bus != NULL)
        job = g_dbus_connection_call_sync(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                          "org.freedesktop.systemd1.Manager", "StartUnit",
                                          g_variant_new("(ss)", SOCKET_UNIT, "replace"), G_VARIANT_TYPE("(o)"),
                                          G_DBUS_CALL_FLAGS_NONE, START_SECONDS * 1000, cancellable, &failure);
    if (job != NULL)
        return true;

    (void) g_dbus_error_strip_remote_error(failure);
    return fail(error,
                "queryd-http is not running, and systemd does not start '" SOCKET_UNIT "': %s. Is the package queryd-http "
                "installed? Without systemd, start 'queryd-http --port 8389 --unix PATH', and give --socket PATH",
                failure->message);
}

/* (nullable): @path (nullable): that of the unit, which is started if need be */
static GSocketConnection *
reach(const char *path, GCancellable *cancellable, GError **error)
{
    g_autofree char *own_path = g_build_filename(g_get_user_runtime_dir(), "queryd-http", "socket", NULL);
    gint64 until_usec = g_get_monotonic_time() + START_SECONDS * G_USEC_PER_SEC;
    g_autoptr(GError) failure = NULL;
    GSocketConnection *connection = connect_to(path != NULL ? path : own_path, cancellable, &failure);

    if (connection == NULL && path != NULL) {
        (void) fail(error, "no queryd-http at '%s': %s", path, failure->message);
        return NULL;
    }
    if (connection == NULL && !start_unit(cancellable, error))
        return NULL;
    while (connection == NULL && g_get_monotonic_time() < until_usec && !g_cancellable_is_cancelled(cancellable)) {
        g_usleep(START_STEP_USEC);
        connection = connect_to(own_path, cancellable, NULL);
    }
    if (connection == NULL)
        (void) fail(error, "'" SOCKET_UNIT "' was started, but there is no queryd-http at '%s' within %d s", own_path,
                    START_SECONDS);
    return connection;
}

/* a request ------------------------------------------------------------------------------------------------------------ */

/* (transfer full) (nullable): the body of the answer */
static char *
ask(GSocketConnection *connection, const char *method, const char *path, GCancellable *cancellable, GError **error)
{
    GInputStream *input = g_io_stream_get_input_stream(G_IO_STREAM(connection));
    GOutputStream *output = g_io_stream_get_output_stream(G_IO_STREAM(connection));
    g_autofree char *request = g_strdup_printf(
        "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", method, path);
    g_autofree char *answer = g_malloc0(ANSWER_BYTES_MAX + 1);
    const char *body;

    if (!g_output_stream_write_all(output, request, strlen(request), NULL, cancellable, error) ||
        !g_input_stream_read_all(input, answer, ANSWER_BYTES_MAX, NULL, cancellable, error))
        return NULL;
    body = strstr(answer, "\r\n\r\n");
    if (g_str_has_prefix(answer, "HTTP/1.1 200 ") && body != NULL)
        return g_strdup(body + 4);

    answer[strcspn(answer, "\r\n")] = 0;
    (void) fail(error, "what listens there is no queryd-http of this version: '%.60s'", answer);
    return NULL;
}

/* (transfer full) (nullable): a text of a JSON object of queryd-http: none of those that are asked for has escapes */
static char *
find_text(const char *json, const char *name)
{
    g_autofree char *start = g_strdup_printf("\"%s\":\"", name);
    const char *text = strstr(json, start);

    return text != NULL ? g_strndup(text + strlen(start), strcspn(text + strlen(start), "\"")) : NULL;
}

static bool
check_store(const QctlArguments *arguments, const char *status, GError **error)
{
    g_autofree char *store = find_text(status, "store");

    if (arguments->store == NULL || g_strcmp0(arguments->store, store) == 0)
        return true;
    return fail(
        error,
        "queryd-http serves the store '%s', not '%s': start 'queryd-http --store %s --port 0 --unix PATH', and give --socket "
        "PATH; or change the command of queryd-http.service by 'systemctl --user edit queryd-http.service'",
        store != NULL ? store : "", arguments->store, arguments->store);
}

/* (transfer full) (nullable): the address that works once */
static char *
make_link(QctlSession *session, GError **error)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    GCancellable *cancellable = qctl_session_get_cancellable(session);
    g_autoptr(GSocketConnection) first = reach(arguments->place.socket, cancellable, error);
    g_autofree char *status = first != NULL ? ask(first, "GET", "/status", cancellable, error) : NULL;
    g_autoptr(GSocketConnection) second = NULL;
    g_autofree char *ticket = NULL;
    char *link;

    if (status == NULL || !check_store(arguments, status, error))
        return NULL;
    second = reach(arguments->place.socket, cancellable, error);
    ticket = second != NULL ? ask(second, "POST", "/ticket", cancellable, error) : NULL;
    if (ticket == NULL)
        return NULL;
    link = find_text(ticket, "url");
    if (link == NULL)
        (void) fail(error, "queryd-http listens on no port, only on a UNIX socket, which browsers cannot open");
    return link;
}

/* the browser ---------------------------------------------------------------------------------------------------------- */

static bool
open_browser(const char *link)
{
    static const char *const variables[] = { "DISPLAY", "WAYLAND_DISPLAY", "BROWSER" };
    const char *argv[] = { "xdg-open", link, NULL };
    bool has_display = false;

    for (guint i = 0; i < G_N_ELEMENTS(variables); i++)
        has_display = has_display || g_getenv(variables[i]) != NULL;
    return has_display &&
           g_spawn_async(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                         NULL, NULL, NULL, NULL);
}

static int
run_web(QctlSession *session)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *link = make_link(session, &error);

    if (link == NULL)
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    if (!qctl_session_get_arguments(session)->output.no_browser && open_browser(link))
        (void) fprintf(stderr, "queryctl: a browser opens the workbench; if none does, run: queryctl web --no-browser\n");
    else
        (void) printf("%s\n", link);
    return QCTL_EXIT_OK;
}

static const QctlOption option_no_browser = { "no-browser", 0, NULL, "print the link instead of opening it",
                                              .offset = G_STRUCT_OFFSET(QctlArguments, output.no_browser) };
static const QctlOption option_socket = { "socket",
                                          0,
                                          "PATH",
                                          "the UNIX socket of queryd-http, if it is not that of its unit",
                                          .values = QCTL_VALUES_FILES,
                                          .offset = G_STRUCT_OFFSET(QctlArguments, place.socket) };
const QctlVerb qctl_web_verb = {
    "web",          "", "open the workbench in the browser", QCTL_OPTIONS(&option_no_browser, &option_socket, &qctl_option_store),
    .run = run_web,
};
