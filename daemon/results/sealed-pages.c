/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file is written by write(): a mapping for writing would forbid the seal, and a fault for each of its pages costs more.
 */
#include "daemon/results/sealed-pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* Linux 6.3 */
#endif

struct QdSealedPages {
    gint ref_count; /* atomic */
    int fd;
    guint64 n_bytes;
};

QdSealedPages *
qd_sealed_pages_new(void)
{
    int fd = memfd_create("queryd-result", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    QdSealedPages *self;

    if (fd < 0 && errno == EINVAL) /* an older kernel */
        fd = memfd_create("queryd-result", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return NULL;
    self = g_new0(QdSealedPages, 1);
    self->ref_count = 1;
    self->fd = fd;
    return self;
}

QdSealedPages *
qd_sealed_pages_ref(QdSealedPages *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

void
qd_sealed_pages_unref(QdSealedPages *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    (void) close(self->fd);
    g_free(self);
}

gboolean
qd_sealed_pages_append(QdSealedPages *self, const guint8 *data, gsize n_bytes)
{
    guint64 n_before = self->n_bytes;

    while (n_bytes > 0) {
        ssize_t n = write(self->fd, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            self->n_bytes = n_before;
            return FALSE;
        }
        data += n;
        n_bytes -= (gsize) n;
        self->n_bytes += (guint64) n;
    }
    return TRUE;
}

gboolean
qd_sealed_pages_seal(QdSealedPages *self)
{
    return fcntl(self->fd, F_ADD_SEALS, SEALS) == 0;
}

guint64
qd_sealed_pages_get_size(const QdSealedPages *self)
{
    return self->n_bytes;
}

int
qd_sealed_pages_get_fd(const QdSealedPages *self)
{
    return self->fd;
}
