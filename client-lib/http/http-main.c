/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd-http: a store of queryd by HTTP. Reads the arguments, takes or makes the sockets, and serves.
 *
 * Place: room http. A client program of the library, so that the daemon itself stays without network.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <glib-unix.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "client-lib/http/http-server.h"
#include "client-lib/wire/wire-environment.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct Arguments {
    char *store;
    int port; /* -1: none; 0: any */
    char *unix_path;
    char *token_file;
    char **origins;
    char **hosts;
    char **limits;
    gboolean read_write;
    gboolean no_token;
    gboolean print_limits;
    gboolean version;
} Arguments;

static void
arguments_clear(Arguments *self)
{
    g_free(self->store);
    g_free(self->unix_path);
    g_free(self->token_file);
    g_strfreev(self->origins);
    g_strfreev(self->hosts);
    g_strfreev(self->limits);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static bool
parse(Arguments *self, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        { "store", 's', 0, G_OPTION_ARG_STRING, &self->store, "serve the store NAME instead of the default one", "NAME" },
        { "port", 'p', 0, G_OPTION_ARG_INT, &self->port, "listen on this port of 127.0.0.1; 0: any", "PORT" },
        { "unix", 'u', 0, G_OPTION_ARG_FILENAME, &self->unix_path, "listen on this UNIX socket", "PATH" },
        { "read-write", 'w', 0, G_OPTION_ARG_NONE, &self->read_write, "take updates, too", NULL },
        { "token-file", 0, 0, G_OPTION_ARG_FILENAME, &self->token_file, "the token, made when it is not there", "FILE" },
        { "no-token", 0, 0, G_OPTION_ARG_NONE, &self->no_token, "serve every program of every user of this machine", NULL },
        { "allow-origin", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->origins, "serve pages of this origin, too", "URL" },
        { "host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->hosts, "a further name of this server", "NAME" },
        { "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->limits, "change a limit", "NAME=VALUE" },
        { "print-limits", 0, 0, G_OPTION_ARG_NONE, &self->print_limits, "print the limits and leave", NULL },
        { "version", 0, 0, G_OPTION_ARG_NONE, &self->version, "print the version and leave", NULL },
        { NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new("- a store of queryd by HTTP");

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, argc, argv, error))
        return false;
    if (*argc == 1 && self->port <= G_MAXUINT16)
        return true;

    if (*argc > 1)
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "unexpected argument '%s'", (*argv)[1]);
    else
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "port %d is above 65535", self->port);
    return false;
}

static bool
fail_listen(const char *what, int fd, GError **error)
{
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno), "cannot listen on %s: %s", what, g_strerror(errno));
    if (fd >= 0)
        (void) close(fd);
    return false;
}

static bool
listen_on_port(QhttpServer *server, int port, GError **error)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t) port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n_bytes = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *) &address, sizeof address) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *) &address, &n_bytes) < 0)
        return fail_listen("127.0.0.1", fd, error);

    (void) printf("http://127.0.0.1:%u/\n", (unsigned) ntohs(address.sin_port));
    return qhttp_server_listen(server, fd, error);
}

static bool
listen_on_path(QhttpServer *server, const char *path, GError **error)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    mode_t mask;
    int fd;
    int r;

    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return fail_listen(path, -1, error);
    }
    (void) strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_listen(path, fd, error);
    if (connect(fd, (struct sockaddr *) &address, sizeof address) < 0 && errno == ECONNREFUSED)
        (void) unlink(path); /* of a process that was killed */
    mask = umask(0177);
    r = bind(fd, (struct sockaddr *) &address, sizeof address);
    (void) umask(mask);
    if (r < 0 || listen(fd, SOMAXCONN) < 0)
        return fail_listen(path, fd, error);

    (void) printf("unix:%s\n", path);
    return qhttp_server_listen(server, fd, error);
}

static bool
listen_all(QhttpServer *server, const Arguments *arguments, int n_fds, GError **error)
{
    for (int i = 0; i < n_fds; i++)
        if (!qhttp_server_listen(server, SD_LISTEN_FDS_START + i, error))
            return false;
    if (arguments->port >= 0 && !listen_on_port(server, arguments->port, error))
        return false;
    if (arguments->unix_path != NULL && !listen_on_path(server, arguments->unix_path, error))
        return false;
    if (n_fds > 0 || arguments->port >= 0 || arguments->unix_path != NULL)
        return true;

    g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                        "no socket: give --port or --unix, or enable queryd-http.socket");
    return false;
}

static int
fail(int status, const GError *error)
{
    (void) fprintf(stderr, "queryd-http: %s\n", error->message);
    return status;
}

static int
serve(const Arguments *arguments)
{
    QhttpServiceOptions options = {
        .store = g_strcmp0(arguments->store, "default") != 0 ? arguments->store : NULL,
        .may_write = arguments->read_write,
        .access = { .token_file = arguments->token_file,
                    .no_token = arguments->no_token,
                    .allowed_origins = (const char *const *) arguments->origins,
                    .allowed_hosts = (const char *const *) arguments->hosts },
    };
    int n_fds = sd_listen_fds(1);
    g_autoptr(QhttpServer) server = NULL;
    g_autoptr(GError) error = NULL;

    qhttp_limits_init(&options.limits);
    for (char **limit = arguments->limits; limit != NULL && *limit != NULL; limit++)
        if (!qhttp_limits_parse(&options.limits, *limit, &error))
            return fail(EXIT_USAGE, error);
    options.access.n_sessions_max = (guint) options.limits.values[QHTTP_LIMIT_SESSIONS];
    options.is_activated = n_fds > 0;
    server = qhttp_server_new(&options, &error);
    if (server == NULL || !listen_all(server, arguments, n_fds, &error))
        return fail(EXIT_FAILED, error);

    (void) fflush(stdout);
    (void) sd_notify(0, "READY=1");
    qhttp_server_run(server);
    (void) sd_notify(0, "STOPPING=1");
    if (arguments->unix_path != NULL)
        (void) unlink(arguments->unix_path);
    return EXIT_OK;
}

int
main(int argc, char **argv)
{
    g_auto(Arguments) arguments = { .port = -1 };
    g_autoptr(GError) error = NULL;

    qw_environment_fill_streams();
    (void) setlocale(LC_ALL, "");
    qw_environment_forget_relative_folders();
    (void) signal(SIGPIPE, SIG_IGN);
    if (!parse(&arguments, &argc, &argv, &error))
        return fail(EXIT_USAGE, error);
    if (arguments.version) {
        (void) puts("queryd-http " QUERYD_VERSION);
        return EXIT_OK;
    }
    if (arguments.print_limits) {
        g_autofree char *limits = qhttp_limits_print();

        (void) fputs(limits, stdout);
        return EXIT_OK;
    }
    return serve(&arguments);
}
