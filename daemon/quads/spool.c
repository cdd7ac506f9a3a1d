/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One buffer, which the file empties while writing and fills while reading.
 */
#include "daemon/quads/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define BUFFER_BYTES (1024 * 1024)

struct QdSpool {
    char *directory;
    int fd; /* -1: all is in the buffer */
    off_t written;
    off_t read;
    GByteArray *buffer;
    gsize pos; /* reading: in the buffer */
};

QdSpool *
qd_spool_new(const char *directory)
{
    QdSpool *self = g_new0(QdSpool, 1);

    self->directory = g_strdup(directory);
    self->fd = -1;
    self->buffer = g_byte_array_new();
    return self;
}

QdSpool *
qd_spool_free(QdSpool *self)
{
    if (self == NULL)
        return NULL;

    self->fd = qd_fd_close(self->fd);
    g_byte_array_unref(self->buffer);
    g_free(self->directory);
    g_free(self);
    return NULL;
}

static gboolean
flush(QdSpool *self, GError **error)
{
    gsize done = 0;

    if (self->fd < 0)
        self->fd = open(self->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (self->fd < 0) {
        qd_error_set_errno(error, errno, "cannot make a temporary file in '%s'", self->directory);
        return FALSE;
    }
    while (done < self->buffer->len) {
        ssize_t n = pwrite(self->fd, self->buffer->data + done, self->buffer->len - done, self->written);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            qd_error_set_errno(error, n < 0 ? errno : ENOSPC, "cannot write a temporary file in '%s'", self->directory);
            return FALSE;
        }
        done += (gsize) n;
        self->written += n;
    }
    g_byte_array_set_size(self->buffer, 0);
    return TRUE;
}

gboolean
qd_spool_write(QdSpool *self, const void *data, gsize n_bytes, GError **error)
{
    if (self->buffer->len + n_bytes > BUFFER_BYTES && self->buffer->len > 0 && !flush(self, error))
        return FALSE;

    g_byte_array_append(self->buffer, data, (guint) n_bytes);
    return TRUE;
}

guint64
qd_spool_get_n_bytes(const QdSpool *self)
{
    return (guint64) self->written + self->buffer->len;
}

gboolean
qd_spool_finish(QdSpool *self, GError **error)
{
    return self->fd < 0 || flush(self, error);
}

/* At least @n_bytes into the buffer, after the bytes that are left there. */
static gboolean
fill(QdSpool *self, gsize n_bytes, GError **error)
{
    gsize left = self->buffer->len - self->pos;
    gsize wanted = MAX(n_bytes, BUFFER_BYTES);

    memmove(self->buffer->data, self->buffer->data + self->pos, left);
    self->pos = 0;
    g_byte_array_set_size(self->buffer, (guint) wanted);
    while (left < n_bytes) {
        ssize_t n = self->fd < 0 ? 0 : pread(self->fd, self->buffer->data + left, wanted - left, self->read);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            qd_error_set(error, QW_ERROR_INTERNAL, "a temporary file in '%s' ends too early", self->directory);
            g_byte_array_set_size(self->buffer, (guint) left);
            return FALSE;
        }
        left += (gsize) n;
        self->read += n;
    }
    g_byte_array_set_size(self->buffer, (guint) left);
    return TRUE;
}

const void *
qd_spool_read(QdSpool *self, gsize n_bytes, GError **error)
{
    const void *data;

    if (self->buffer->len - self->pos < n_bytes && !fill(self, n_bytes, error))
        return NULL;

    data = self->buffer->data + self->pos;
    self->pos += n_bytes;
    return data;
}
