/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A new name goes through three questions to the bus, none of them waited for. They are AddMatch for its end, its credentials,
 * and, after /proc was read under a pidfd, whether the name is still there. Then what was read was about the right process.
 *
 * sd_bus_track is not used: sd_bus_track_add_name() asks the bus for the name and waits for the answer.
 */
#include "daemon/bus/bus-peer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/access.h"
#include "daemon/base/config.h"
#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/bus/bus-process.h"
#include "daemon/call/call.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define CALLER_LEFT "the caller has left the bus before it was known which program it is: it has to wait for the answer"

/* One process or sandbox. Kept while a name of it is on the bus or the engine holds what it was charged for. */
typedef struct Payer {
    QdClient *client;
    char *unit; /* (owned) (nullable): of its application */
    QdSandbox sandbox;
    char *application; /* (owned) (nullable): the id of a sandboxed one that is known */
    char *mystery;     /* (owned) (nullable): why that is not known */
    guint n_names;
} Payer;

typedef struct Waiter {
    QdPeerFunc func;
    void *user_data;
} Waiter;

struct QdPeer {
    QdPeers *peers;
    char *name;
    Payer *payer;          /* NULL until the peer is known; owned by the table */
    QdBusProcess *process; /* between the second and third question */
    GArray *waiters;       /* of Waiter */
    guint signals;         /* QdPeerSignals that it listens to */
    sd_bus_slot *match_slot;
    sd_bus_slot *question_slot;
};

struct QdPeers {
    sd_bus *bus;
    QdEngine *engine;
    QdPeerGoneFunc gone;
    void *user_data;
    const QdConfig *config; /* (nullable) (not owned) */
    char *store;            /* (nullable): its name */
    GHashTable *peers;      /* name → QdPeer, owned */
    GHashTable *payers;     /* key → Payer, owned */
};

static void
payer_free(gpointer data)
{
    Payer *self = data;

    qd_client_unref(self->client);
    g_free(self->unit);
    g_free(self->application);
    g_free(self->mystery);
    g_free(self);
}

static void
peer_free(gpointer data)
{
    QdPeer *self = data;

    sd_bus_slot_unref(self->match_slot);
    sd_bus_slot_unref(self->question_slot);
    (void) qd_bus_process_free(self->process);
    g_array_unref(self->waiters);
    g_free(self->name);
    g_free(self);
}

QdPeers *
qd_peers_new(sd_bus *bus, QdEngine *engine, QdPeerGoneFunc gone, void *user_data)
{
    QdPeers *self = g_new0(QdPeers, 1);

    self->bus = sd_bus_ref(bus);
    self->engine = engine;
    self->gone = gone;
    self->user_data = user_data;
    self->peers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, peer_free);
    self->payers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, payer_free);
    return self;
}

static gboolean
payer_is_unused(gpointer key, gpointer value, gpointer user_data)
{
    const Payer *payer = value;

    return payer->n_names == 0 && !qd_client_is_charged(payer->client);
}

static void
sweep_payers(QdPeers *self)
{
    (void) g_hash_table_foreach_remove(self->payers, payer_is_unused, NULL);
}

/* Answers all that wait; @error NULL: the peer is known. */
static void
peer_answer(QdPeer *self, const GError *error)
{
    g_autoptr(GArray) waiters = g_steal_pointer(&self->waiters);

    self->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
    for (guint i = 0; i < waiters->len; i++) {
        const Waiter *waiter = &g_array_index(waiters, Waiter, i);

        waiter->func(error == NULL ? self : NULL, error, waiter->user_data);
    }
}

/* Of one that is not known: it is forgotten. */
static void
peer_end(QdPeer *self, const GError *error)
{
    (void) g_hash_table_steal(self->peers->peers, self->name);
    peer_answer(self, error);
    peer_free(self);
}

static void
peer_fail(QdPeer *self, QwError code, const char *reason)
{
    g_autoptr(GError) error = NULL;

    qd_error_set(&error, code, "%s", reason);
    peer_end(self, error);
}

static void
peer_leave(QdPeer *self)
{
    QdPeers *peers = self->peers;

    if (self->payer == NULL) {
        peer_fail(self, QW_ERROR_CLOSED, CALLER_LEFT);
        return;
    }

    (void) g_hash_table_steal(peers->peers, self->name);
    self->payer->n_names--;
    if (peers->gone != NULL)
        peers->gone(self->name, peers->user_data);
    peer_free(self);
    sweep_payers(peers);
}

QdPeers *
qd_peers_free(QdPeers *self)
{
    GHashTableIter iter;
    gpointer value;

    if (self == NULL)
        return NULL;

    self->gone = NULL;
    while (g_hash_table_iter_init(&iter, self->peers), g_hash_table_iter_next(&iter, NULL, &value))
        peer_leave(value);
    g_hash_table_unref(self->peers);
    g_hash_table_unref(self->payers);
    sd_bus_unref(self->bus);
    g_free(self->store);
    g_free(self);
    return NULL;
}

/* The key that all names of one process, or of one sandbox, have in common. */
static char *
make_payer_key(const QdPeer *peer, const QdBusProcess *process)
{
    if (process == NULL)
        return g_strdup_printf("name %s", peer->name);
    if (process->sandbox == QD_SANDBOX_KNOWN)
        return g_strdup_printf("application %s %s", process->application, process->instance != NULL ? process->instance : "");

    return g_strdup_printf("process %d %" G_GUINT64_FORMAT, (int) process->pid, process->start_ticks);
}

static char *
make_label(const QdPeer *peer, const QdBusProcess *process)
{
    if (process == NULL)
        return g_strdup(peer->name);
    if (process->sandbox == QD_SANDBOX_KNOWN)
        return g_strdup(process->application);

    return g_strdup_printf("%s[%d]", process->comm, (int) process->pid);
}

/* The channels of an application's processes count together. */
static void
payer_join_application(Payer *self, const QdPeers *peers, const char *unit)
{
    QdClient *other = NULL;
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, peers->payers);
    while (other == NULL && g_hash_table_iter_next(&iter, NULL, &value))
        if (g_strcmp0(((Payer *) value)->unit, unit) == 0)
            other = ((Payer *) value)->client;
    self->unit = g_strdup(unit);
    qd_client_join(self->client, other);
}

/* An application has all rights in the store that has its name. */
static QdAccess *
find_access(const QdPeers *self, const Payer *payer)
{
    if (payer->sandbox == QD_SANDBOX_UNKNOWN || self->config == NULL)
        return qd_access_new(payer->application != NULL ? payer->application : "");
    if (g_str_has_prefix(self->store, QD_ACCESS_OWN_STORE_PREFIX) &&
        g_str_equal(self->store + strlen(QD_ACCESS_OWN_STORE_PREFIX), payer->application))
        return NULL;
    return qd_config_get_access(self->config, payer->application, self->store);
}

/* @process: (nullable): NULL: it has exited, and another may have its end of the connection. */
static void
payer_set_sandbox(Payer *self, const QdPeers *peers, const QdBusProcess *process)
{
    self->sandbox = process != NULL ? process->sandbox : QD_SANDBOX_UNKNOWN;
    if (self->sandbox == QD_SANDBOX_NONE)
        return;
    if (self->sandbox == QD_SANDBOX_KNOWN)
        self->application = g_strdup(process->application);
    else
        self->mystery = g_strdup(process != NULL ? process->mystery : "the process that connected is not there any more");
    qd_client_set_access(self->client, find_access(peers, self));
}

void
qd_peers_set_config(QdPeers *self, const QdConfig *config, const char *store)
{
    GHashTableIter iter;
    gpointer value;

    if (self->store == NULL)
        self->store = g_strdup(store);
    self->config = config;
    g_hash_table_iter_init(&iter, self->payers);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (((Payer *) value)->sandbox != QD_SANDBOX_NONE)
            qd_client_set_access(((Payer *) value)->client, find_access(self, value));
}

/* @process: (nullable): NULL when it is unknown: then it may be anything. */
static void
peer_become_known(QdPeer *self, const QdBusProcess *process)
{
    QdPeers *peers = self->peers;
    g_autofree char *key = make_payer_key(self, process);
    g_autofree char *label = make_label(self, process);
    Payer *payer;

    sweep_payers(peers);
    payer = g_hash_table_lookup(peers->payers, key);
    if (payer == NULL) {
        payer = g_new0(Payer, 1);
        payer->client = qd_client_new(label);
        payer_set_sandbox(payer, peers, process);
        if (payer->sandbox == QD_SANDBOX_NONE && process->unit != NULL)
            payer_join_application(payer, peers, process->unit);
        g_hash_table_insert(peers->payers, g_steal_pointer(&key), payer);
    }
    payer->n_names++;
    self->payer = payer;
    peer_answer(self, NULL);
}

/* What could not be looked at for want of something is not kept: the next call looks again. */
static void
peer_judge(QdPeer *self, QdBusProcess *process)
{
    gboolean is_alive = qd_bus_process_is_alive(process);
    g_autoptr(GError) error = NULL;

    if (process->error == 0) {
        peer_become_known(self, is_alive ? process : NULL);
        return;
    }
    qd_error_set_errno(&error, process->error, "which application the caller belongs to cannot be found out now, try again");
    peer_end(self, error);
}

/* @what: the bus was asked to do. It, or this daemon, is busy when it has not answered in the time that sd-bus gives it. */
static void
peer_fail_by_reply(QdPeer *self, sd_bus_message *reply, const char *what)
{
    static const char *const late[] = { SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_TIMEOUT, "org.freedesktop.DBus.Error.TimedOut" };
    const sd_bus_error *said = sd_bus_message_get_error(reply);
    g_autofree char *reason = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(late); i++)
        if (sd_bus_error_has_name(said, late[i])) {
            reason = g_strdup_printf("the bus did not %s in time: it, or the daemon, has too much to do; try again", what);
            peer_fail(self, QW_ERROR_BUSY, reason);
            return;
        }
    if (sd_bus_error_has_name(said, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
        sd_bus_error_has_name(said, SD_BUS_ERROR_UNIX_PROCESS_ID_UNKNOWN)) {
        peer_fail(self, QW_ERROR_CLOSED, CALLER_LEFT);
        return;
    }
    reason = g_strdup_printf("the bus did not %s: %s (%s)", what, said->message != NULL ? said->message : "", said->name);
    peer_fail(self, sd_bus_error_has_name(said, SD_BUS_ERROR_LIMITS_EXCEEDED) ? QW_ERROR_LIMIT_EXCEEDED : QW_ERROR_INTERNAL,
              reason);
}

static int
on_name_owner_changed(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdPeer *self = user_data;
    const char *name;
    const char *old_owner;
    const char *new_owner;

    if (sd_bus_message_read(message, "sss", &name, &old_owner, &new_owner) > 0 && new_owner[0] == '\0')
        peer_leave(self);

    return 0;
}

static int
on_match_installed(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdPeer *self = user_data;

    /* Without the match its end would go unnoticed and its client would be kept for ever. */
    if (sd_bus_message_is_method_error(message, NULL)) {
        if (self->payer != NULL)
            peer_leave(self);
        else
            peer_fail_by_reply(self, message, "watch the caller's name");
    }
    return 1;
}

static int
on_second_look(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdPeer *self = user_data;
    g_autoptr(QdBusProcess) process = g_steal_pointer(&self->process);

    self->question_slot = sd_bus_slot_unref(self->question_slot);
    if (sd_bus_message_is_method_error(message, NULL))
        peer_fail_by_reply(self, message, "say which process the caller is");
    else
        peer_judge(self, process);
    return 1;
}

static int
read_credentials(sd_bus_message *message, pid_t *ret_pid, uid_t *ret_uid, int *ret_pid_fd)
{
    int pid_fd = -1; /* the message's */
    uint32_t pid = 0;
    uint32_t uid = UINT32_MAX;
    int r;

    r = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        const char *key;

        r = sd_bus_message_read_basic(message, 's', &key);
        if (r < 0)
            return r;
        if (g_str_equal(key, "UnixUserID"))
            r = sd_bus_message_read(message, "v", "u", &uid);
        else if (g_str_equal(key, "ProcessID"))
            r = sd_bus_message_read(message, "v", "u", &pid);
        else if (g_str_equal(key, "ProcessFD"))
            r = sd_bus_message_read(message, "v", "h", &pid_fd);
        else
            r = sd_bus_message_skip(message, "v");
        if (r >= 0)
            r = sd_bus_message_exit_container(message);
    }
    if (r < 0)
        return r;

    *ret_pid = (pid_t) pid;
    *ret_uid = (uid_t) uid;
    *ret_pid_fd = pid_fd >= 0 ? fcntl(pid_fd, F_DUPFD_CLOEXEC, 3) : -1;
    return 0;
}

static gboolean
is_foreign_user(uid_t uid)
{
    return uid != geteuid() && uid != 0;
}

static int
on_credentials(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdPeer *self = user_data;
    g_auto(QdFd) pid_fd = -1;
    pid_t pid;
    uid_t uid;

    self->question_slot = sd_bus_slot_unref(self->question_slot);
    if (sd_bus_message_is_method_error(message, NULL)) {
        peer_fail_by_reply(self, message, "say which program the caller is");
    } else if (read_credentials(message, &pid, &uid, &pid_fd) < 0) {
        peer_fail(self, QW_ERROR_INTERNAL, "cannot read the caller's credentials");
    } else if (is_foreign_user(uid)) {
        peer_fail(self, QW_ERROR_ACCESS_DENIED, "this daemon serves one user only");
    } else if (pid == 0) {
        peer_become_known(self, NULL);
    } else {
        self->process = qd_bus_process_new(pid, g_steal_fd(&pid_fd));
        if (sd_bus_call_method_async(self->peers->bus, &self->question_slot, BUS_NAME, BUS_PATH, BUS_NAME,
                                     "GetConnectionUnixProcessID", on_second_look, self, "s", self->name) < 0)
            peer_fail(self, QW_ERROR_INTERNAL, "cannot ask the bus for the caller");
    }
    return 1;
}

/* A connection without a bus has one peer, and the kernel knows it. */
static void
peer_ask_kernel(QdPeer *self)
{
    g_autoptr(QdBusProcess) process = NULL;
    struct ucred credentials;
    socklen_t n_bytes = sizeof credentials;

    if (getsockopt(sd_bus_get_fd(self->peers->bus), SOL_SOCKET, SO_PEERCRED, &credentials, &n_bytes) < 0) {
        peer_fail(self, QW_ERROR_INTERNAL, "cannot read the caller's credentials");
        return;
    }
    if (is_foreign_user(credentials.uid)) {
        peer_fail(self, QW_ERROR_ACCESS_DENIED, "this daemon serves one user only");
        return;
    }

    process = qd_bus_process_new(credentials.pid, -1);
    peer_judge(self, process);
}

static void
peer_ask_bus(QdPeer *self)
{
    g_autofree char *match = g_strdup_printf("type='signal',sender='" BUS_NAME "',path='" BUS_PATH "',interface='" BUS_NAME
                                             "',member='NameOwnerChanged',arg0='%s'",
                                             self->name);

    if (sd_bus_add_match_async(self->peers->bus, &self->match_slot, match, on_name_owner_changed, on_match_installed, self) < 0 ||
        sd_bus_call_method_async(self->peers->bus, &self->question_slot, BUS_NAME, BUS_PATH, BUS_NAME, "GetConnectionCredentials",
                                 on_credentials, self, "s", self->name) < 0)
        peer_fail(self, QW_ERROR_INTERNAL, "cannot ask the bus for the caller");
}

void
qd_peers_resolve(QdPeers *self, const char *name, QdPeerFunc func, void *user_data)
{
    const char *key = name != NULL ? name : "";
    QdPeer *peer = g_hash_table_lookup(self->peers, key);
    gboolean is_new = peer == NULL;

    if (peer != NULL && peer->payer != NULL) {
        func(peer, NULL, user_data);
        return;
    }

    if (is_new) {
        peer = g_new0(QdPeer, 1);
        peer->peers = self;
        peer->name = g_strdup(key);
        peer->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
        g_hash_table_insert(self->peers, peer->name, peer);
    }
    g_array_append_val(peer->waiters, ((Waiter){ .func = func, .user_data = user_data }));
    if (!is_new)
        return;

    if (sd_bus_is_bus_client(self->bus) > 0)
        peer_ask_bus(peer);
    else
        peer_ask_kernel(peer);
}

const QdPeer *
qd_peers_find(const QdPeers *self, const char *name)
{
    const QdPeer *peer = g_hash_table_lookup(self->peers, name != NULL ? name : "");

    return peer != NULL && peer->payer != NULL ? peer : NULL;
}

gboolean
qd_peers_has(const QdPeers *self, const char *name)
{
    return qd_peers_find(self, name) != NULL;
}

static void
ignore_peer(const QdPeer *peer, const GError *error, void *user_data)
{
}

void
qd_peers_listen(QdPeers *self, const char *name, QdPeerSignals signals)
{
    QdPeer *peer;

    if (!g_hash_table_contains(self->peers, name != NULL ? name : ""))
        qd_peers_resolve(self, name, ignore_peer, NULL);
    peer = g_hash_table_lookup(self->peers, name != NULL ? name : "");
    if (peer != NULL)
        peer->signals |= signals;
}

void
qd_peers_tell(QdPeers *self, QdPeerSignals signals, QdPeerListenerFunc func, void *user_data)
{
    GHashTableIter iter;
    gpointer value;

    if (sd_bus_is_bus_client(self->bus) <= 0)
        qd_peers_listen(self, NULL, signals);
    g_hash_table_iter_init(&iter, self->peers);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const QdPeer *peer = value;

        if (peer->payer != NULL && (peer->signals & signals) != 0)
            func(peer->name[0] != '\0' ? peer->name : NULL, qd_client_get_access(peer->payer->client), user_data);
    }
}

guint
qd_peers_get_n_clients(const QdPeers *self)
{
    return g_hash_table_size(self->payers);
}

QdClient *
qd_peer_get_client(const QdPeer *self)
{
    return self->payer->client;
}

gboolean
qd_peer_is_sandboxed(const QdPeer *self)
{
    return self->payer->sandbox != QD_SANDBOX_NONE;
}

const char *
qd_peer_get_application(const QdPeer *self)
{
    return self->payer->application;
}

gboolean
qd_peer_deny(const QdPeer *self, GError **error)
{
    const Payer *payer = self->payer;

    if (payer->sandbox == QD_SANDBOX_UNKNOWN)
        qd_error_set(error, QW_ERROR_ACCESS_DENIED,
                     "which application the caller belongs to cannot be found out, so it may do nothing here: %s", payer->mystery);
    else
        qd_error_set(error, QW_ERROR_ACCESS_DENIED,
                     "application '%s' may not do that in the store '%s': its own store is '" QD_ACCESS_OWN_STORE_PREFIX
                     "%s', and [Access %s] in queryd.conf may grant more",
                     payer->application, self->peers->store != NULL ? self->peers->store : "", payer->application,
                     payer->application);
    return FALSE;
}
