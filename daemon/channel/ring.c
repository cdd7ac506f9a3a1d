/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two memory files: made, mapped, then sealed.
 */
#include "daemon/channel/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define SEALS_INDEX (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SEALS_SLOTS (SEALS_INDEX | F_SEAL_FUTURE_WRITE)
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* Linux 6.3 */
#endif

struct QdRing {
    QwRing shape;
    uint8_t *slots;       /* mapped */
    const uint8_t *index; /* mapped for reading; the client writes it at any time */
    uint64_t n_given;     /* pages since the beginning */
};

static int
create_file(const char *name, size_t size)
{
    g_auto(QdFd) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL) /* an older kernel */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t) size) < 0)
        return -1;
    return g_steal_fd(&fd);
}

/* The mapping comes before the seals: FUTURE_WRITE leaves writable what is mapped already. */
static void *
map_and_seal(int fd, size_t size, int protection, int seals)
{
    void *map = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        return NULL;
    if (fcntl(fd, F_ADD_SEALS, seals) < 0) {
        (void) munmap(map, size);
        return NULL;
    }
    return map;
}

QdRing *
qd_ring_new(const QwRing *shape, int ret_fds[2])
{
    g_autoptr(QdRing) self = g_new0(QdRing, 1);
    g_auto(QdFd) slots_fd = create_file("queryd-slots", qw_ring_get_size(shape));
    g_auto(QdFd) index_fd = create_file("queryd-index", QW_RING_INDEX_BYTES);

    self->shape = *shape;
    if (slots_fd < 0 || index_fd < 0)
        return NULL;

    self->slots = map_and_seal(slots_fd, qw_ring_get_size(shape), PROT_READ | PROT_WRITE, SEALS_SLOTS);
    self->index = map_and_seal(index_fd, QW_RING_INDEX_BYTES, PROT_READ, SEALS_INDEX);
    if (self->slots == NULL || self->index == NULL)
        return NULL;

    ret_fds[0] = g_steal_fd(&slots_fd);
    ret_fds[1] = g_steal_fd(&index_fd);
    return g_steal_pointer(&self);
}

QdRing *
qd_ring_free(QdRing *self)
{
    if (self == NULL)
        return NULL;

    if (self->slots != NULL)
        (void) munmap(self->slots, qw_ring_get_size(&self->shape));
    if (self->index != NULL)
        (void) munmap((void *) self->index, QW_RING_INDEX_BYTES);
    g_free(self);
    return NULL;
}

const QwRing *
qd_ring_get_shape(const QdRing *self)
{
    return &self->shape;
}

int
qd_ring_get_slot(const QdRing *self, uint8_t **ret_slot)
{
    uint64_t n_taken = qw_ring_load_taken(self->index);

    if (n_taken > self->n_given || self->n_given - n_taken > self->shape.n_slots)
        return -EBADMSG;
    if (self->n_given - n_taken == self->shape.n_slots)
        return -EAGAIN;

    *ret_slot = self->slots + qw_ring_get_offset(&self->shape, self->n_given);
    return 0;
}

void
qd_ring_commit(QdRing *self)
{
    self->n_given++;
}
