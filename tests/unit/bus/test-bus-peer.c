/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Peers against a bus that the test plays itself: names that come, are asked for, leave at the worst moment, and pay.
 */
#include "daemon/bus/bus-peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/read/client.h"
#include "tests/unit/bus/bus-fixture.h"
#include "tests/unit/valgrind.h"

#define PATIENCE_USEC (10 * UINT64_C(1000000))

typedef struct Answer {
    const QdPeer *peer;
    QdClient *client;
    QwError code; /* 0: none */
    guint order;
} Answer;

typedef struct Fixture {
    sd_event *event;
    sd_bus *bus;     /* queryd's connection */
    sd_bus *far_end; /* the bus */
    QdPeers *peers;
    GPtrArray *asked; /* of char*: "Member argument" */
    uint32_t pid;
    uint32_t uid;
    const char *match_error; /* (nullable) */
    gboolean refuse_second_look;
    gboolean hold_credentials;
    sd_bus_message *held;
    GPtrArray *gone; /* of char* */
} Fixture;

static guint answer_counter;

static int
reply_credentials(Fixture *self, sd_bus_message *message)
{
    if (self->pid == 0)
        return sd_bus_reply_method_errorf(message, "org.freedesktop.DBus.Error.NameHasNoOwner", "no such name");

    return sd_bus_reply_method_return(message, "a{sv}", 3, "UnixUserID", "u", self->uid, "LinuxSecurityLabel", "ay", 1, 0,
                                      "ProcessID", "u", self->pid);
}

/* The bus: everything that queryd sends comes here. */
static int
on_bus_message(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    Fixture *self = user_data;
    const char *member = sd_bus_message_get_member(message);
    const char *argument = "";

    if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
        return 0;
    if (sd_bus_message_has_signature(message, "s") > 0)
        (void) sd_bus_message_read(message, "s", &argument);
    g_ptr_array_add(self->asked, g_strdup_printf("%s %s", member, argument));

    if (g_str_equal(member, "Hello"))
        return sd_bus_reply_method_return(message, "s", ":1.99");
    if (g_str_equal(member, "AddMatch") && self->match_error != NULL)
        return sd_bus_reply_method_errorf(message, self->match_error, "no");
    if (g_str_equal(member, "GetConnectionCredentials")) {
        if (!self->hold_credentials)
            return reply_credentials(self, message);
        self->held = sd_bus_message_ref(message);
        return 1;
    }
    if (g_str_equal(member, "GetConnectionUnixProcessID")) {
        if (self->refuse_second_look)
            return sd_bus_reply_method_errorf(message, "org.freedesktop.DBus.Error.NameHasNoOwner", "no such name");
        return sd_bus_reply_method_return(message, "u", self->pid);
    }
    return sd_bus_reply_method_return(message, NULL);
}

static void
on_gone(const char *name, void *user_data)
{
    Fixture *self = user_data;

    g_ptr_array_add(self->gone, g_strdup(name));
}

static void
run(Fixture *self)
{
    g_assert_cmpint(sd_event_run(self->event, PATIENCE_USEC), >, 0);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    int fds[2];
    sd_id128_t id;

    self->pid = (uint32_t) getpid();
    self->uid = geteuid();
    self->asked = g_ptr_array_new_with_free_func(g_free);
    self->gone = g_ptr_array_new_with_free_func(g_free);
    g_assert_cmpint(sd_event_new(&self->event), >=, 0);
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
    g_assert_cmpint(sd_id128_randomize(&id), >=, 0);

    g_assert_cmpint(sd_bus_new(&self->far_end), >=, 0);
    g_assert_cmpint(sd_bus_set_fd(self->far_end, fds[0], fds[0]), >=, 0);
    g_assert_cmpint(sd_bus_set_server(self->far_end, TRUE, id), >=, 0);
    g_assert_cmpint(sd_bus_add_filter(self->far_end, NULL, on_bus_message, self), >=, 0);
    g_assert_cmpint(sd_bus_start(self->far_end), >=, 0);
    g_assert_cmpint(sd_bus_attach_event(self->far_end, self->event, 0), >=, 0);

    g_assert_cmpint(sd_bus_new(&self->bus), >=, 0);
    g_assert_cmpint(sd_bus_set_fd(self->bus, fds[1], fds[1]), >=, 0);
    g_assert_cmpint(sd_bus_set_bus_client(self->bus, TRUE), >=, 0);
    g_assert_cmpint(sd_bus_start(self->bus), >=, 0);
    g_assert_cmpint(sd_bus_attach_event(self->bus, self->event, 0), >=, 0);
    while (sd_bus_is_ready(self->bus) <= 0)
        run(self);

    self->peers = qd_peers_new(self->bus, NULL, on_gone, self);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    self->peers = qd_peers_free(self->peers);
    sd_bus_message_unref(self->held);
    sd_bus_close_unref(self->bus);
    sd_bus_close_unref(self->far_end);
    sd_event_unref(self->event);
    g_ptr_array_unref(self->asked);
    g_ptr_array_unref(self->gone);
}

static void
on_peer(const QdPeer *peer, const GError *error, void *user_data)
{
    Answer *answer = user_data;

    g_assert_cmpuint(answer->order, ==, 0);
    answer->order = ++answer_counter;
    answer->peer = peer;
    answer->client = peer != NULL ? qd_peer_get_client(peer) : NULL;
    answer->code = error != NULL ? qd_error_get_code(error) : 0;
}

static void
resolve(Fixture *self, const char *name, Answer *answer)
{
    qd_peers_resolve(self->peers, name, on_peer, answer);
}

static void
resolve_and_wait(Fixture *self, const char *name, Answer *answer)
{
    resolve(self, name, answer);
    while (answer->order == 0)
        run(self);
}

static void
say_gone(Fixture *self, const char *name)
{
    sd_bus_message *signal = NULL;
    guint n_gone = self->gone->len;

    g_assert_cmpint(
        sd_bus_message_new_signal(self->far_end, &signal, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged"), >=,
        0);
    g_assert_cmpint(sd_bus_message_set_sender(signal, "org.freedesktop.DBus"), >=, 0);
    g_assert_cmpint(sd_bus_message_append(signal, "sss", name, name, ""), >=, 0);
    g_assert_cmpint(sd_bus_send(self->far_end, signal, NULL), >=, 0);
    sd_bus_message_unref(signal);
    while (self->held == NULL && self->gone->len == n_gone)
        run(self);
}

static guint
count_asked(const Fixture *self, const char *start)
{
    guint n = 0;

    for (guint i = 0; i < self->asked->len; i++)
        n += g_str_has_prefix(self->asked->pdata[i], start) ? 1 : 0;
    return n;
}

static void
test_known_later(Fixture *self, gconstpointer data)
{
    Answer answers[3] = { 0 };

    resolve(self, ":1.5", &answers[0]);
    resolve(self, ":1.5", &answers[1]);
    g_assert_cmpuint(answers[0].order, ==, 0); /* nothing was waited for */
    while (answers[1].order == 0)
        run(self);
    g_assert_cmpuint(answers[0].order, <, answers[1].order);
    g_assert_nonnull(answers[0].peer);
    g_assert_true(answers[0].peer == answers[1].peer);
    g_assert_false(qd_peer_is_sandboxed(answers[0].peer));

    resolve(self, ":1.5", &answers[2]);
    g_assert_cmpuint(answers[2].order, !=, 0); /* at once */
    g_assert_cmpuint(count_asked(self, "GetConnectionCredentials :1.5"), ==, 1);
    g_assert_nonnull(strstr(qd_client_get_label(answers[0].client), "test-bus-peer["));
}

static void
test_names_share(Fixture *self, gconstpointer data)
{
    Answer answers[2] = { 0 };

    resolve_and_wait(self, ":1.5", &answers[0]);
    resolve_and_wait(self, ":1.6", &answers[1]);
    g_assert_true(answers[0].peer != answers[1].peer);
    g_assert_true(answers[0].client == answers[1].client);
    g_assert_cmpuint(qd_peers_get_n_clients(self->peers), ==, 1);

    say_gone(self, ":1.5");
    g_assert_cmpuint(qd_peers_get_n_clients(self->peers), ==, 1);
    say_gone(self, ":1.6");
    g_assert_cmpuint(qd_peers_get_n_clients(self->peers), ==, 0);
    g_assert_cmpstr(self->gone->pdata[0], ==, ":1.5");
    g_assert_cmpstr(self->gone->pdata[1], ==, ":1.6");
}

/* Something of the engine still holds the client: the next name of the process pays from the same purse. */
static void
test_reconnecting_evades_nothing(Fixture *self, gconstpointer data)
{
    Answer answers[3] = { 0 };
    QdClient *charged;

    resolve_and_wait(self, ":1.5", &answers[0]);
    charged = qd_client_ref(answers[0].client);
    say_gone(self, ":1.5");
    g_assert_cmpuint(qd_peers_get_n_clients(self->peers), ==, 1);

    resolve_and_wait(self, ":1.7", &answers[1]);
    g_assert_true(answers[1].client == charged);
    say_gone(self, ":1.7");
    qd_client_unref(charged);

    self->pid = 1;
    resolve_and_wait(self, ":1.8", &answers[2]);
    g_assert_cmpuint(qd_peers_get_n_clients(self->peers), ==, 1); /* the first one was swept away */
}

static void
test_unknown_name(Fixture *self, gconstpointer data)
{
    Answer answer = { 0 };

    self->pid = 0;
    resolve_and_wait(self, ":1.5", &answer);
    g_assert_null(answer.peer);
    g_assert_cmpint(answer.code, ==, QW_ERROR_CLOSED);

    self->pid = (uint32_t) getpid();
    answer = (Answer){ 0 };
    resolve_and_wait(self, ":1.5", &answer);
    g_assert_nonnull(answer.peer);
}

static void
test_leaves_before_known(Fixture *self, gconstpointer data)
{
    Answer answer = { 0 };

    self->hold_credentials = TRUE;
    resolve(self, ":1.5", &answer);
    while (self->held == NULL)
        run(self);
    say_gone(self, ":1.5");
    while (answer.order == 0)
        run(self);
    g_assert_cmpint(answer.code, ==, QW_ERROR_CLOSED);
    g_assert_cmpuint(self->gone->len, ==, 0);
    /* The late answer finds no request. */
    g_assert_cmpint(reply_credentials(self, self->held), >=, 0);
}

static void
test_leaves_before_second_look(Fixture *self, gconstpointer data)
{
    Answer answer = { 0 };

    self->refuse_second_look = TRUE;
    resolve_and_wait(self, ":1.5", &answer);
    g_assert_cmpint(answer.code, ==, QW_ERROR_CLOSED);
    g_assert_cmpuint(qd_peers_get_n_clients(self->peers), ==, 0);
}

/* What the bus does not do is no fault of the daemon, and often passes. */
static void
test_no_match(Fixture *self, gconstpointer data)
{
    static const struct {
        const char *said;
        QwError code;
    } cases[] = {
        { SD_BUS_ERROR_LIMITS_EXCEEDED, QW_ERROR_LIMIT_EXCEEDED },
        { SD_BUS_ERROR_NO_REPLY, QW_ERROR_BUSY }, /* sd-bus says so itself when its time is over */
        { SD_BUS_ERROR_TIMEOUT, QW_ERROR_BUSY },
        { SD_BUS_ERROR_FAILED, QW_ERROR_INTERNAL },
    };

    self->hold_credentials = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Answer answer = { 0 };

        self->match_error = cases[i].said;
        resolve_and_wait(self, ":1.5", &answer);
        g_assert_cmpint(answer.code, ==, cases[i].code);
        g_assert_cmpint(sd_bus_is_ready(self->bus), >, 0);
        self->held = sd_bus_message_unref(self->held);
    }
}

static void
test_foreign_user(Fixture *self, gconstpointer data)
{
    Answer answer = { 0 };

    self->uid = geteuid() + 1;
    resolve_and_wait(self, ":1.5", &answer);
    g_assert_cmpint(answer.code, ==, QW_ERROR_ACCESS_DENIED);
}

/* A process that exited while its name lives: anything may have its connection now, so it may do nothing. */
static void
test_process_gone(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Answer answer = { 0 };
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    self->pid = (uint32_t) pid;
    resolve_and_wait(self, ":1.5", &answer);
    g_assert_nonnull(answer.peer);
    g_assert_cmpstr(qd_client_get_label(answer.client), ==, ":1.5");
    g_assert_true(qd_peer_is_sandboxed(answer.peer));
    g_assert_nonnull(qd_client_get_access(answer.client));
    g_assert_false(qd_access_has_any(qd_client_get_access(answer.client), QD_ACCESS_READ));
    g_assert_false(qd_peer_deny(answer.peer, &error));
    g_assert_nonnull(strstr(error->message, "not there any more"));
}

/* The next call asks again: a caller is not denied for what was missing once. */
static void
test_no_descriptors(Fixture *self, gconstpointer data)
{
    for (guint n_left = 0; n_left < 3; n_left++) {
        Answer answers[2] = { 0 };
        rlim_t before = bus_fixture_leave_descriptors(n_left);

        resolve_and_wait(self, ":1.5", &answers[0]);
        bus_fixture_free_descriptors(before);
        g_assert_null(answers[0].peer);
        g_assert_cmpint(answers[0].code, ==, QW_ERROR_LIMIT_EXCEEDED);

        resolve_and_wait(self, ":1.5", &answers[1]);
        g_assert_nonnull(answers[1].peer);
        g_assert_false(qd_peer_is_sandboxed(answers[1].peer));
        say_gone(self, ":1.5");
    }
}

static void
test_free_while_waiting(Fixture *self, gconstpointer data)
{
    Answer answer = { 0 };

    resolve(self, ":1.5", &answer);
    self->peers = qd_peers_free(self->peers);
    g_assert_cmpint(answer.code, ==, QW_ERROR_CLOSED);
}

#define ADD(path, func) g_test_add("/bus/peer/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    if (is_under_valgrind()) {
        g_print("1..0 # SKIP valgrind knows no pidfd_open()\n");
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    ADD("known-later", test_known_later);
    ADD("names-share", test_names_share);
    ADD("reconnecting-evades-nothing", test_reconnecting_evades_nothing);
    ADD("unknown-name", test_unknown_name);
    ADD("leaves-before-known", test_leaves_before_known);
    ADD("leaves-before-second-look", test_leaves_before_second_look);
    ADD("no-match", test_no_match);
    ADD("foreign-user", test_foreign_user);
    ADD("process-gone", test_process_gone);
    ADD("no-descriptors", test_no_descriptors);
    ADD("free-while-waiting", test_free_while_waiting);
    return g_test_run();
}
