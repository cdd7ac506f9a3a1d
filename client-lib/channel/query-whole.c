/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mapping the file and going through it.
 */
#include "client-lib/channel/query-whole.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
/* The kernel makes so many pages of the mapping at once: by single faults they took as long as copying their values. */
#define POPULATED_BYTES (1024 * 1024)
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

struct QueryWhole {
    gint ref_count; /* atomic */
    QwWhole shape;
    const guint8 *map;
    guint64 offset;    /* of the next page */
    guint64 populated; /* up to here */
};

static gboolean
is_sealed(int fd, guint64 n_bytes)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat status;

    return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &status) == 0 && (guint64) status.st_size == n_bytes;
}

QueryWhole *
query_whole_new(const QwWhole *shape, int fd, GError **error)
{
    QueryWhole *self = NULL;
    void *map = MAP_FAILED;

    if (!is_sealed(fd, shape->n_bytes)) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL,
                            "the daemon sent a result that is not sealed as it should be");
    } else {
        map = mmap(NULL, shape->n_bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_INTERNAL, "cannot map the daemon's shared memory: %s", g_strerror(errno));
    }
    (void) close(fd);
    if (map == MAP_FAILED)
        return NULL;

    self = g_new0(QueryWhole, 1);
    self->ref_count = 1;
    self->shape = *shape;
    self->map = map;
    return self;
}

QueryWhole *
query_whole_ref(QueryWhole *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

void
query_whole_unref(QueryWhole *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    (void) munmap((void *) self->map, self->shape.n_bytes);
    g_free(self);
}

gboolean
query_whole_has_more(const QueryWhole *self)
{
    return self->offset < self->shape.n_bytes;
}

/* Where the kernel cannot, each page comes at its first access. */
static void
populate(QueryWhole *self)
{
    guint64 n_bytes = MIN(POPULATED_BYTES, self->shape.n_bytes - self->populated);

    (void) madvise((void *) (self->map + self->populated), n_bytes, MADV_POPULATE_READ);
    self->populated += n_bytes;
}

const guint8 *
query_whole_take(QueryWhole *self, gsize page_size, QwHeader *ret_header)
{
    const guint8 *page = self->map + self->offset;

    if (self->offset > 0 && self->offset + 2 * page_size > self->populated && self->populated < self->shape.n_bytes)
        populate(self);
    return qw_whole_take(&self->shape, self->map, &self->offset, page_size, ret_header) < 0 ? NULL : page;
}
