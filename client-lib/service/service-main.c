/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd-service: asks SPARQL endpoints for the daemon, which has no network. Takes the socket, and a thread for each connection.
 *
 * Place: room service. It knows no store; what it may ask is in queryd.conf, which it reads itself.
 */
#include <errno.h>
#include <glib-unix.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "client-lib/service/service-request.h"
#include "client-lib/wire/wire-environment.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define CONNECTIONS_MAX 64
#define IDLE_EXIT_SECONDS 60

typedef struct Service {
    GMainLoop *loop;
    const char *config_path; /* (nullable) */
    gint n_connections;      /* atomic */
    gint64 idle_since_usec;  /* of the main thread */
    gboolean is_activated;
} Service;

typedef struct Connection {
    Service *service;
    int fd;
    GCancellable *cancellable;
    GSource *gone_source;
} Connection;

/* In the main thread, while the connection's own waits for the endpoint. */
static gboolean
on_gone(int fd, GIOCondition condition, gpointer user_data)
{
    g_cancellable_cancel(user_data);
    return G_SOURCE_REMOVE;
}

static gpointer
serve_connection(gpointer data)
{
    Connection *self = data;

    service_serve(self->fd, self->service->config_path, self->cancellable);
    g_source_destroy(self->gone_source);
    g_source_unref(self->gone_source);
    (void) close(self->fd);
    g_object_unref(self->cancellable);
    (void) g_atomic_int_add(&self->service->n_connections, -1);
    g_free(self);
    return NULL;
}

/* A socket of another user's process is none of ours. */
static gboolean
is_own(int fd)
{
    struct ucred peer;
    socklen_t n_bytes = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n_bytes) == 0 && peer.uid == getuid();
}

static void
start_connection(Service *service, int fd)
{
    Connection *self = g_new0(Connection, 1);
    GThread *thread;

    self->service = service;
    self->fd = fd;
    self->cancellable = g_cancellable_new();
    self->gone_source = g_unix_fd_source_new(fd, (GIOCondition) (POLLRDHUP | POLLHUP | POLLERR));
    g_source_set_callback(self->gone_source, G_SOURCE_FUNC(on_gone), g_object_ref(self->cancellable), g_object_unref);
    g_source_attach(self->gone_source, NULL);
    g_atomic_int_inc(&service->n_connections);
    thread = g_thread_try_new("service", serve_connection, self, NULL);
    if (thread != NULL) {
        g_thread_unref(thread);
        return;
    }
    g_warning("cannot start a thread: the request is refused");
    g_source_destroy(self->gone_source);
    g_source_unref(self->gone_source);
    (void) close(fd);
    g_object_unref(self->cancellable);
    (void) g_atomic_int_add(&service->n_connections, -1);
    g_free(self);
}

static gboolean
on_connection(int listener, GIOCondition condition, gpointer user_data)
{
    Service *self = user_data;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return G_SOURCE_CONTINUE;
    self->idle_since_usec = g_get_monotonic_time();
    if (g_atomic_int_get(&self->n_connections) < CONNECTIONS_MAX && is_own(fd))
        start_connection(self, fd);
    else
        (void) close(fd);
    return G_SOURCE_CONTINUE;
}

/* systemd keeps the socket, and starts another one. */
static gboolean
on_timer(gpointer user_data)
{
    Service *self = user_data;
    gint64 now = g_get_monotonic_time();

    if (g_atomic_int_get(&self->n_connections) > 0)
        self->idle_since_usec = now;
    if (now - self->idle_since_usec > IDLE_EXIT_SECONDS * G_USEC_PER_SEC)
        g_main_loop_quit(self->loop);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_signal(gpointer user_data)
{
    g_main_loop_quit(((Service *) user_data)->loop);
    return G_SOURCE_CONTINUE;
}

static int
listen_on_path(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    g_autofree char *directory = g_path_get_dirname(path);
    mode_t mask;
    int fd, r;

    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void) g_mkdir_with_parents(directory, 0700);
    (void) strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *) &address, sizeof address) < 0 && errno == ECONNREFUSED)
        (void) unlink(path); /* of a process that was killed */
    mask = umask(0177);
    r = bind(fd, (struct sockaddr *) &address, sizeof address);
    (void) umask(mask);
    if (r == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    r = errno;
    (void) close(fd);
    errno = r;
    return -1;
}

static int
serve(Service *self, const char *path)
{
    int fd = sd_listen_fds(1) == 1 ? SD_LISTEN_FDS_START : -1;

    self->is_activated = fd >= 0;
    if (fd < 0 && path == NULL) {
        (void) fprintf(stderr, "queryd-service: no socket: give --socket, or enable queryd-service.socket\n");
        return EXIT_USAGE;
    }
    if (fd < 0)
        fd = listen_on_path(path);
    if (fd < 0) {
        (void) fprintf(stderr, "queryd-service: cannot listen on %s: %s\n", path, g_strerror(errno));
        return EXIT_FAILED;
    }
    self->loop = g_main_loop_new(NULL, FALSE);
    self->idle_since_usec = g_get_monotonic_time();
    (void) g_unix_set_fd_nonblocking(fd, TRUE, NULL);
    (void) g_unix_fd_add(fd, G_IO_IN, on_connection, self);
    (void) g_unix_signal_add(SIGTERM, on_signal, self);
    (void) g_unix_signal_add(SIGINT, on_signal, self);
    if (self->is_activated)
        (void) g_timeout_add_seconds(IDLE_EXIT_SECONDS / 4, on_timer, self);
    (void) sd_notify(0, "READY=1");
    g_main_loop_run(self->loop);
    (void) sd_notify(0, "STOPPING=1");
    if (!self->is_activated)
        (void) unlink(path);
    (void) fflush(NULL);
    _exit(EXIT_OK); /* threads of requests end with the process */
}

int
main(int argc, char **argv)
{
    static Service service;
    g_autofree char *config_path = NULL;
    g_autofree char *socket_path = NULL;
    gboolean version = FALSE;
    const GOptionEntry entries[] = {
        { "config", 0, 0, G_OPTION_ARG_FILENAME, &config_path, "read FILE and the directory FILE.d", "FILE" },
        { "socket", 0, 0, G_OPTION_ARG_FILENAME, &socket_path, "listen on this UNIX socket", "PATH" },
        { "version", 0, 0, G_OPTION_ARG_NONE, &version, "print the version and leave", NULL },
        { NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new("- asks SPARQL endpoints for queryd");
    g_autoptr(GError) error = NULL;

    qw_environment_fill_streams();
    (void) setlocale(LC_ALL, "");
    qw_environment_forget_relative_folders();
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
        (void) fprintf(stderr, "queryd-service: %s\n", error != NULL ? error->message : "it takes no arguments but options");
        return EXIT_USAGE;
    }
    if (version) {
        (void) printf("queryd-service %s\n", QUERYD_VERSION);
        return EXIT_OK;
    }
    (void) signal(SIGPIPE, SIG_IGN);
    service.config_path = config_path;
    return serve(&service, socket_path);
}
