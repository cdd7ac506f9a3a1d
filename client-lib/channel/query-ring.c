/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mapping and reading the ring.
 */
#include "client-lib/channel/query-ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"

/* Without SHRINK a peer could make an access fault; without SEAL it could not be trusted to stay. */
#define SEALS_INDEX (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SEALS_SLOTS (SEALS_INDEX | F_SEAL_FUTURE_WRITE)

struct QueryRing {
    QwRing shape;
    const guint8 *slots; /* mapped */
    guint8 *index;       /* mapped */
    guint8 *page;        /* (owned) a copy, of the slot size */
    guint64 n_taken;
};

static void *
map_sealed(int fd, gsize n_bytes, int protection, int seals, GError **error)
{
    int held = fcntl(fd, F_GET_SEALS);
    struct stat status;
    void *map;

    if (held < 0 || (held & seals) != seals || fstat(fd, &status) < 0 || status.st_size != (off_t) n_bytes) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL,
                            "the daemon sent shared memory that is not sealed as it should be");
        return NULL;
    }

    map = mmap(NULL, n_bytes, protection, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_INTERNAL, "cannot map the daemon's shared memory: %s", g_strerror(errno));
        return NULL;
    }
    return map;
}

QueryRing *
query_ring_new(const QwRing *shape, int fds[2], GError **error)
{
    QueryRing *self = g_new0(QueryRing, 1);

    self->shape = *shape;
    self->slots = map_sealed(fds[0], qw_ring_get_size(shape), PROT_READ, SEALS_SLOTS, error);
    if (self->slots != NULL)
        self->index = map_sealed(fds[1], QW_RING_INDEX_BYTES, PROT_READ | PROT_WRITE, SEALS_INDEX, error);
    (void) close(fds[0]);
    (void) close(fds[1]);
    if (self->index == NULL) {
        query_ring_free(self);
        return NULL;
    }

    self->page = g_malloc(shape->slot_size);
    return self;
}

void
query_ring_free(QueryRing *self)
{
    if (self == NULL)
        return;

    if (self->slots != NULL)
        (void) munmap((void *) self->slots, qw_ring_get_size(&self->shape));
    if (self->index != NULL)
        (void) munmap(self->index, QW_RING_INDEX_BYTES);
    g_free(self->page);
    g_free(self);
}

const QwRing *
query_ring_get_shape(const QueryRing *self)
{
    return &self->shape;
}

const guint8 *
query_ring_take(QueryRing *self, gsize n_bytes)
{
    memcpy(self->page, self->slots + qw_ring_get_offset(&self->shape, self->n_taken), n_bytes);
    self->n_taken++;
    qw_ring_store_taken(self->index, self->n_taken);
    return self->page;
}

gpointer
query_ring_detach_page(QueryRing *self)
{
    gpointer page = self->page;

    self->page = g_malloc(self->shape.slot_size);
    return page;
}
