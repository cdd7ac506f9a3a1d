/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header of the index lies at its beginning twice (WalIndexHdr of SQLite's wal.c). A commit writes the second copy, then the
 * first, and is seen by readers when both are equal. So a reader that has seen it finds its number in the first copy, which is read
 * here.
 */
#include "daemon/results/log-view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the file format: places of u32, in the order of the machine. */
#define AT_N_COMMITS 2
#define AT_STATE 3 /* its first byte: whether the header is there */
#define AT_N_FRAMES 4
#define AT_SALT 8
#define MAPPED_BYTES 4096

struct QdLogView {
    char *path;
    int fd;             /* -1: not open */
    const guint32 *map; /* (nullable) */
};

QdLogView *
qd_log_view_new(const char *database_path)
{
    QdLogView *self = g_new0(QdLogView, 1);

    self->path = g_strconcat(database_path, "-shm", NULL);
    self->fd = -1;
    return self;
}

void
qd_log_view_close(QdLogView *self)
{
    if (self->map != NULL)
        (void) munmap((void *) self->map, MAPPED_BYTES);
    self->map = NULL;
    if (self->fd >= 0)
        (void) close(self->fd); /* the locks of the index are of SQLite's open file description: index-locks.h */
    self->fd = -1;
}

QdLogView *
qd_log_view_free(QdLogView *self)
{
    if (self == NULL)
        return NULL;

    qd_log_view_close(self);
    g_free(self->path);
    g_free(self);
    return NULL;
}

/* SQLite cuts an index to a few bytes at most: its first page can always be read. */
static gboolean
ensure_map(QdLogView *self)
{
    struct stat status;
    void *map;

    if (self->map != NULL)
        return TRUE;
    self->fd = open(self->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (self->fd < 0 || fstat(self->fd, &status) < 0 || status.st_size == 0)
        return FALSE;
    map = mmap(NULL, MAPPED_BYTES, PROT_READ, MAP_SHARED, self->fd, 0);
    if (map == MAP_FAILED)
        return FALSE;
    self->map = map;
    return TRUE;
}

static guint32
load(const QdLogView *self, guint at)
{
    return __atomic_load_n(&self->map[at], __ATOMIC_ACQUIRE);
}

/* The number of commits first: while it is the old one, no reader has seen the next commit. */
gboolean
qd_log_view_read(QdLogView *self, QdLogPosition *ret_position)
{
    struct stat status;

    if (!ensure_map(self)) {
        qd_log_view_close(self);
        return FALSE;
    }
    ret_position->n_commits = load(self, AT_N_COMMITS);
    ret_position->n_frames = load(self, AT_N_FRAMES);
    ret_position->salt[0] = load(self, AT_SALT);
    ret_position->salt[1] = load(self, AT_SALT + 1);
    if (*(const guint8 *) &self->map[AT_STATE] != 0 && fstat(self->fd, &status) == 0 && status.st_nlink > 0)
        return TRUE;

    qd_log_view_close(self);
    return FALSE;
}
