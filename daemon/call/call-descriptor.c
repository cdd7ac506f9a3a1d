/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Careful I/O on what a caller passed: a wait ends when the call is cancelled, or when the other side does nothing.
 */
#include "daemon/call/call-descriptor.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/call/call-private.h"
#include "daemon/runtime/context.h"
#include "daemon/store/database.h"

#define POLL_MSEC 100
/* A caller that waits for longer delays no other. */
#define PATIENCE_USEC 1000000
/* A write of so much to a pipe that poll() calls writable does not wait. */
#define PIPE_PIECE_BYTES 4096

gboolean
qd_call_is_cancelled(QdCall *call, GError **error)
{
    if (!g_atomic_int_get(&call->cancelled) && !g_atomic_int_get(&call->private->entry.cancelled))
        return FALSE;

    qd_error_set(error, QW_ERROR_CANCELLED, "job was cancelled");
    return TRUE;
}

gboolean
qd_call_check_descriptor(QdCall *call, GError **error)
{
    const QdContext *context = call->private->context;
    g_autofree char *own = NULL;
    struct stat st;

    if (fstat(call->fd, &st) < 0) {
        qd_error_set_errno(error, errno, "cannot look at the descriptor");
        return FALSE;
    }
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the descriptor is neither file, pipe, socket nor character device");
        return FALSE;
    }
    own = context->database != NULL ? qd_database_find_own_file(context->database, &st) : NULL;
    if (own != NULL)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the descriptor is of the store's own file '%s'", own);
    return own == NULL;
}

/* Waits until @fd is ready; false with @error when the job is cancelled, or the other side does nothing for too long. */
static gboolean
poll_descriptor(QdCall *call, short events, GError **error)
{
    const QdLimits *limits = &call->private->context->limits;
    gint64 start = g_get_monotonic_time();
    gboolean is_told = call->private->on_wait == NULL;

    for (;;) {
        struct pollfd pfd = { .fd = call->fd, .events = events };
        int r;

        if (qd_call_is_cancelled(call, error))
            return FALSE;
        if ((uint64_t) (g_get_monotonic_time() - start) > 1000 * qd_limits_get(limits, QD_LIMIT_READER_IDLE_MSEC)) {
            qd_limit_set_error(error, limits, QD_LIMIT_READER_IDLE_MSEC, "the other side of the descriptor does nothing");
            return FALSE;
        }
        r = poll(&pfd, 1, POLL_MSEC);
        if (r > 0 || (r < 0 && errno != EINTR))
            return TRUE;
        if (!is_told && g_get_monotonic_time() - start > PATIENCE_USEC) {
            call->private->on_wait(call, TRUE);
            is_told = TRUE;
        }
    }
}

static gboolean
wait_for(QdCall *call, short events, GError **error)
{
    uint64_t start = (uint64_t) g_get_monotonic_time();
    gboolean is_ready = poll_descriptor(call, events, error);

    call->private->waited_usec += (uint64_t) g_get_monotonic_time() - start;
    if (call->private->on_wait != NULL)
        call->private->on_wait(call, FALSE);
    return is_ready;
}

gboolean
qd_call_write_descriptor(QdCall *call, const void *data, gsize n_bytes, GError **error)
{
    const char *p = data;
    struct stat st;

    if (fstat(call->fd, &st) < 0) {
        qd_error_set_errno(error, errno, "cannot look at the descriptor");
        return FALSE;
    }
    while (n_bytes > 0) {
        ssize_t n;

        if (!wait_for(call, POLLOUT, error))
            return FALSE;
        if (S_ISSOCK(st.st_mode))
            n = send(call->fd, p, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        else
            n = write(call->fd, p, S_ISREG(st.st_mode) ? n_bytes : MIN(n_bytes, PIPE_PIECE_BYTES));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0) {
            qd_error_set_errno(error, errno, "cannot write to the descriptor");
            return FALSE;
        }
        p += n;
        n_bytes -= (gsize) n;
        __atomic_add_fetch(&call->progress.bytes_done, (uint64_t) n, __ATOMIC_RELAXED);
    }
    return TRUE;
}

gssize
qd_call_read_descriptor(QdCall *call, void *data, gsize n_bytes, GError **error)
{
    for (;;) {
        ssize_t n;

        if (!wait_for(call, POLLIN, error))
            return -1;
        n = read(call->fd, data, n_bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            qd_error_set_errno(error, errno, "cannot read from the descriptor");
        return n;
    }
}
