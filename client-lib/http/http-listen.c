/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Accepting, counting, and ending what takes too long.
 */
#include "client-lib/http/http-listen.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_KEY "queryd-peer"
#define CHECK_SECONDS 5

struct QhttpListeners {
    guint n_refs; /* of the server, and of each peer: libsoup may keep one for longer */
    SoupServer *soup;
    const QhttpLimits *limits;
    const QhttpQuickHooks *hooks;
    GPtrArray *sources; /* of GSource */
    GQueue peers;       /* of QhttpPeer */
    guint check_source;
    int pretext_fd;         /* the other end of the listener that libsoup has */
    gint64 idle_since_usec; /* 0: there are connections */
    void (*idle_func)(gpointer);
    gpointer user_data;
};

struct QhttpPeer {
    QhttpListeners *listeners;
    GList link;
    GSocket *socket;
    QhttpQuick *quick; /* (nullable): NULL: libsoup has the connection, and frees the peer with it */
    guint gone_source;
    void (*gone_func)(gpointer); /* (nullable) */
    gpointer gone_data;
    bool is_unix;
    bool is_surplus;
    gint64 reading_since_usec; /* 0: no request is being read */
    gint64 turn_usec;          /* when it was the client's turn */
    bool is_served;            /* it is ours */
};

static void
listeners_unref(QhttpListeners *self)
{
    if (--self->n_refs == 0)
        g_free(self);
}

static void
peer_free(gpointer data)
{
    QhttpPeer *self = data;

    g_queue_unlink(&self->listeners->peers, &self->link);
    if (self->listeners->peers.length == 0)
        self->listeners->idle_since_usec = g_get_monotonic_time();
    if (self->gone_source != 0)
        g_source_remove(self->gone_source);
    (void) qhttp_quick_free(self->quick);
    g_object_unref(self->socket);
    listeners_unref(self->listeners);
    g_free(self);
}

/*
 * libsoup 3.2 never frees a connection that ends between two requests. It frees those that send nonsense: the socket is replaced by
 * an end of a pair that holds some.
 */
static void
replace_by_nonsense(QhttpPeer *self)
{
    static const char nonsense[] = "x\r\n\r\n";
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return;
    (void) send(fds[1], nonsense, sizeof nonsense - 1, MSG_NOSIGNAL);
    (void) dup3(fds[0], g_socket_get_fd(self->socket), O_CLOEXEC);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

/* libsoup would wait for the client where it gives up a message: the socket is shut down before. @self may be gone then. */
static void
end_connection(QhttpPeer *self)
{
    qhttp_peer_shut_down(self);
    if (self->gone_source != 0)
        g_source_remove(self->gone_source);
    self->gone_source = 0;
    self->turn_usec = G_MAXINT64;
    self->reading_since_usec = 0;
    if (self->gone_func != NULL) {
        bool is_quick = self->quick != NULL;

        self->gone_func(self->gone_data);
        if (is_quick)
            peer_free(self);
    } else if (self->quick != NULL) {
        peer_free(self);
    } else {
        replace_by_nonsense(self);
    }
}

/*
 * libsoup looks neither at the socket of a paused message nor, in 3.2, does it close a kept connection that the client has closed.
 * A client that has only shut down its sending side is taken for gone, too.
 */
static gboolean
on_gone(int fd, GIOCondition condition, gpointer user_data)
{
    QhttpPeer *self = user_data;

    self->gone_source = 0;
    end_connection(self);
    return G_SOURCE_REMOVE;
}

static QhttpPeer *
peer_new(QhttpListeners *listeners, GSocket *socket)
{
    QhttpPeer *self = g_new0(QhttpPeer, 1);

    self->listeners = listeners;
    listeners->n_refs++;
    self->socket = g_object_ref(socket);
    /* before libsoup reads the end */
    self->gone_source = g_unix_fd_add_full(G_PRIORITY_HIGH, g_socket_get_fd(socket), (GIOCondition) (POLLRDHUP | POLLHUP | POLLERR),
                                           on_gone, self, NULL);
    self->is_unix = g_socket_get_family(socket) == G_SOCKET_FAMILY_UNIX;
    self->is_surplus = listeners->peers.length >= listeners->limits->values[QHTTP_LIMIT_CONNECTIONS];
    self->link.data = self;
    self->turn_usec = g_get_monotonic_time();
    g_queue_push_tail_link(&listeners->peers, &self->link);
    listeners->idle_since_usec = 0;
    return self;
}

QhttpPeer *
qhttp_peer_find(SoupServerMessage *message)
{
    GSocketAddress *address = soup_server_message_get_remote_address(message);

    return address != NULL ? g_object_get_data(G_OBJECT(address), PEER_KEY) : NULL;
}

bool
qhttp_peer_is_unix(const QhttpPeer *self)
{
    return self->is_unix;
}

bool
qhttp_peer_is_surplus(const QhttpPeer *self)
{
    return self->is_surplus;
}

void
qhttp_peer_note_turn(QhttpPeer *self, bool is_served)
{
    self->is_served = is_served;
    self->turn_usec = g_get_monotonic_time();
}

void
qhttp_peer_hold_output(const QhttpPeer *self, bool holds)
{
    if (!self->is_unix)
        (void) g_socket_set_option(self->socket, IPPROTO_TCP, TCP_CORK, holds ? 1 : 0, NULL);
}

void
qhttp_peer_shut_down(const QhttpPeer *self)
{
    (void) g_socket_shutdown(self->socket, TRUE, TRUE, NULL);
}

void
qhttp_peer_watch(QhttpPeer *self, void (*gone_func)(gpointer), gpointer data)
{
    self->gone_func = gone_func;
    self->gone_data = data;
}

void
qhttp_peer_note_request(QhttpPeer *self, bool begins)
{
    self->turn_usec = g_get_monotonic_time();
    self->reading_since_usec = begins ? self->turn_usec : 0;
}

/* Connections of a UNIX socket have no address of their own; libsoup wants one of the internet for requests without a name. */
void
qhttp_peer_hand_over(QhttpPeer *self)
{
    g_autoptr(GSocketConnection) connection = g_socket_connection_factory_create_connection(self->socket);
    g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
    g_autoptr(GSocketAddress) local = g_inet_socket_address_new(loopback, 80);
    g_autoptr(GSocketAddress) remote = g_inet_socket_address_new(loopback, 0);

    self->quick = qhttp_quick_free(self->quick);
    g_object_set_data_full(G_OBJECT(remote), PEER_KEY, self, peer_free);
    (void) soup_server_accept_iostream(self->listeners->soup, G_IO_STREAM(connection), local, remote, NULL);
}

static void
begin_peer(QhttpListeners *self, GSocket *socket)
{
    QhttpPeer *peer = peer_new(self, socket);

    g_socket_set_blocking(socket, FALSE);
    if (!peer->is_unix)
        (void) g_socket_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
    if (peer->is_surplus)
        qhttp_peer_hand_over(peer);
    else
        peer->quick = qhttp_quick_new(peer, socket, self->hooks);
}

static gboolean
on_connection(GSocket *listener, GIOCondition condition, gpointer user_data)
{
    QhttpListeners *self = user_data;
    g_autoptr(GSocket) socket = g_socket_accept(listener, NULL, NULL);

    /* As many again get an error that names the limit; further ones are closed. */
    if (socket != NULL && self->peers.length < 2 * self->limits->values[QHTTP_LIMIT_CONNECTIONS])
        begin_peer(self, socket);
    return G_SOURCE_CONTINUE;
}

bool
qhttp_listeners_add(QhttpListeners *self, int fd, GError **error)
{
    g_autoptr(GSocket) socket = g_socket_new_from_fd(fd, error);
    GSource *source;

    if (socket == NULL) {
        (void) close(fd);
        return false;
    }

    g_socket_set_blocking(socket, FALSE);
    source = g_socket_create_source(socket, G_IO_IN, NULL);
    g_source_set_callback(source, G_SOURCE_FUNC(on_connection), self, NULL);
    g_source_attach(source, NULL);
    g_ptr_array_add(self->sources, source);
    return true;
}

static gboolean
check_peers(gpointer user_data)
{
    QhttpListeners *self = user_data;
    gint64 now = g_get_monotonic_time();
    gint64 idle_usec = (gint64) self->limits->values[QHTTP_LIMIT_IDLE_SECONDS] * G_USEC_PER_SEC;
    gint64 request_usec = (gint64) self->limits->values[QHTTP_LIMIT_REQUEST_SECONDS] * G_USEC_PER_SEC;
    gint64 exit_usec = (gint64) self->limits->values[QHTTP_LIMIT_EXIT_SECONDS] * G_USEC_PER_SEC;

    for (GList *link = self->peers.head, *next; link != NULL; link = next) {
        QhttpPeer *peer = link->data;

        next = link->next;
        if ((peer->reading_since_usec != 0 && now - peer->reading_since_usec > request_usec) ||
            (!peer->is_served && now - peer->turn_usec > idle_usec))
            end_connection(peer);
    }
    if (exit_usec > 0 && self->idle_since_usec != 0 && now - self->idle_since_usec > exit_usec)
        self->idle_func(self->user_data);
    return G_SOURCE_CONTINUE;
}

/* libsoup keeps connections only while it has a listener of its own: it gets an end of a pair, by which nothing can come. */
static void
add_pretext(QhttpListeners *self)
{
    g_autoptr(GSocket) socket = NULL;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return;
    self->pretext_fd = fds[1];
    socket = g_socket_new_from_fd(fds[0], NULL);
    if (socket == NULL)
        (void) close(fds[0]);
    else
        (void) soup_server_listen_socket(self->soup, socket, 0, NULL);
}

QhttpListeners *
qhttp_listeners_new(SoupServer *soup, const QhttpLimits *limits, const QhttpQuickHooks *hooks, void (*idle_func)(gpointer),
                    gpointer user_data)
{
    QhttpListeners *self = g_new0(QhttpListeners, 1);

    self->n_refs = 1;
    self->soup = soup;
    self->limits = limits;
    self->hooks = hooks;
    self->sources = g_ptr_array_new();
    self->idle_func = idle_func;
    self->user_data = user_data;
    self->idle_since_usec = g_get_monotonic_time();
    self->pretext_fd = -1;
    add_pretext(self);
    self->check_source = g_timeout_add_seconds(CHECK_SECONDS, check_peers, self);
    return self;
}

QhttpListeners *
qhttp_listeners_free(QhttpListeners *self)
{
    if (self == NULL)
        return NULL;

    g_source_remove(self->check_source);
    for (guint i = 0; i < self->sources->len; i++) {
        g_source_destroy(self->sources->pdata[i]);
        g_source_unref(self->sources->pdata[i]);
    }
    g_ptr_array_unref(self->sources);
    for (GList *link = self->peers.head, *next; link != NULL; link = next) {
        QhttpPeer *peer = link->data;

        next = link->next;
        if (peer->quick != NULL)
            end_connection(peer);
    }
    if (self->pretext_fd >= 0)
        (void) close(self->pretext_fd);
    listeners_unref(self);
    return NULL;
}
