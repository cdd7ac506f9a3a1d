/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a channel: awake for a moment where that pays, then asleep, or by a source of a main loop.
 *
 * Place: internal to libquery-client.
 */
#include "client-lib/channel/query-channel-private.h"

#include <errno.h>
#include <glib-unix.h>
#include <poll.h>
#include <sched.h>

#include "client-lib/core/query-cancel-source.h"
#include "client-lib/core/query-error.h"

/* Calls that wait by a main loop, of the process: it has something else to do while there are any. */
static gint n_in_loops; /* atomic */

static gboolean
has_lost_core(const QueryChannel *self, gint64 now_usec)
{
    return self->tried_usec != 0 && qw_spin_has_lost_core((guint64) self->tried_usec, (guint64) now_usec);
}

static void
end_try(QueryChannel *self, gint64 now_usec, gboolean is_caught)
{
    self->awake_until_usec = 0;
    if (has_lost_core(self, now_usec))
        qw_spin_note_lost(&self->spin);
    else
        qw_spin_note_awake(&self->spin, is_caught);
}

/*
 * Waiting awake: the caller tries again and again, until the answer is there, the time is over, or others have had the core. Its
 * own try costs no more than another look at the socket would.
 */
static gboolean
may_try_again(QueryChannel *self)
{
    gint64 now_usec = g_get_monotonic_time();

    if (self->awake_until_usec == 0) {
        if (!qw_spin_pays(&self->spin))
            return FALSE;
        self->awake_until_usec = now_usec + (gint64) qw_spin_get_usec(&self->spin);
    } else if (now_usec >= self->awake_until_usec || has_lost_core(self, now_usec)) {
        end_try(self, now_usec, FALSE);
        return FALSE;
    }
    self->tried_usec = now_usec;
    return TRUE;
}

void
query_channel_note_awake(QueryChannel *self)
{
    gint64 now_usec;

    if (self->awake_until_usec == 0)
        return;
    now_usec = g_get_monotonic_time();
    end_try(self, now_usec, qw_spin_is_caught((guint64) self->awake_until_usec, (guint64) now_usec));
}

void
query_channel_set_patience(QueryChannel *self, gint64 patience_usec)
{
    self->patience_usec = patience_usec;
    self->waiting_since_usec = 0;
}

gboolean
query_channel_check_patience(const QueryChannel *self, GError **error)
{
    gint64 waited_usec = self->waiting_since_usec != 0 ? g_get_monotonic_time() - self->waiting_since_usec : 0;

    if (self->patience_usec == 0 || waited_usec < self->patience_usec)
        return TRUE;
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED,
                "the daemon has sent nothing for %.1f s: it may be stopped, or hang at its disk",
                (double) waited_usec / G_USEC_PER_SEC);
    return FALSE;
}

int
query_channel_begin_wait(QueryChannel *self)
{
    gint64 now_usec;

    if (self->patience_usec == 0)
        return -1;
    now_usec = g_get_monotonic_time();
    if (self->waiting_since_usec == 0)
        self->waiting_since_usec = now_usec;
    return (int) CLAMP((self->waiting_since_usec + self->patience_usec - now_usec) / 1000 + 1, 1, G_MAXINT);
}

/* Returns: false with errno set. */
static gboolean
wait_asleep(QueryChannel *self, struct pollfd *fds, nfds_t n_fds, GCancellable *cancellable)
{
    gint64 start_usec = g_get_monotonic_time();
    int r;

    do
        r = poll(fds, n_fds, query_channel_begin_wait(self));
    while (r < 0 && errno == EINTR && !g_cancellable_is_cancelled(cancellable));

    qw_spin_note_asleep(&self->spin, (guint64) (g_get_monotonic_time() - start_usec));
    return r >= 0;
}

gboolean
query_channel_wait(QueryChannel *self, QueryIo want, GCancellable *cancellable, GError **error)
{
    struct pollfd fds[2] = { { .fd = self->fd, .events = want == QUERY_IO_WANT_READ ? POLLIN : POLLOUT } };
    GPollFD cancel_fd;
    nfds_t n_fds = 1;
    gboolean ok;
    int saved_errno;

    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;
    if (want == QUERY_IO_WANT_READ && may_try_again(self))
        return TRUE;
    if (g_cancellable_make_pollfd(cancellable, &cancel_fd))
        fds[n_fds++] = (struct pollfd){ .fd = cancel_fd.fd, .events = POLLIN };

    ok = wait_asleep(self, fds, n_fds, cancellable);
    saved_errno = errno;
    if (n_fds == 2)
        g_cancellable_release_fd(cancellable);
    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;
    if (!ok) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_INTERNAL, "cannot wait for the daemon: %s", g_strerror(saved_errno));
        return FALSE;
    }
    return fds[0].revents != 0 || query_channel_check_patience(self, error);
}

gboolean
query_channel_stay_awake(QueryChannel *self)
{
    if (g_atomic_int_get(&n_in_loops) > 0 || !may_try_again(self))
        return FALSE;

    (void) sched_yield(); /* a server waits for two others, and one of them may wait for this very core */
    self->tried_usec = 0;
    return TRUE;
}

void
query_channel_note_loop(QueryChannel *self, gboolean begins)
{
    if (begins) {
        (void) g_atomic_int_add(&n_in_loops, 1);
        self->loop_since_usec = g_get_monotonic_time();
    } else {
        (void) g_atomic_int_add(&n_in_loops, -1);
        qw_spin_note_asleep(&self->spin, (guint64) (g_get_monotonic_time() - self->loop_since_usec));
    }
}

GSource *
query_channel_create_source(QueryChannel *self, QueryIo want, GCancellable *cancellable)
{
    GSource *source = g_unix_fd_source_new(self->fd, want == QUERY_IO_WANT_READ ? G_IO_IN | G_IO_HUP : G_IO_OUT | G_IO_HUP);
    int msec = query_channel_begin_wait(self);

    if (cancellable != NULL) {
        g_autoptr(GSource) child = query_cancel_source_new(cancellable);

        g_source_add_child_source(source, child);
    }
    if (msec >= 0) {
        g_autoptr(GSource) child = g_timeout_source_new((guint) msec);

        g_source_set_dummy_callback(child);
        g_source_add_child_source(source, child);
    }
    return source;
}

gboolean
query_channel_take_refusal(QueryChannel *self, GError **error)
{
    QueryRecord record;
    QwErrorBody body;

    while (query_channel_receive(self, &record, NULL) == QUERY_IO_DONE) {
        if (record.kind != QW_KIND_ERROR || qw_error_decode(record.body, record.n_bytes, &body) < 0 ||
            body.code != QW_ERROR_TOO_BIG)
            continue;
        query_error_set_from_wire(error, &body);
        return TRUE;
    }
    return FALSE;
}
