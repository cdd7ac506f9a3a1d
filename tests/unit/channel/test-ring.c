/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's side of a ring against a client that does what it can: with the descriptors, and with the index.
 */
#include "daemon/channel/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define N_FLIPS 100000

typedef struct Fixture {
    QdRing *ring;
    int fds[2];
    uint8_t *index; /* the client's mapping */
    gint stop;      /* atomic: for the flipping thread */
    gint n_flips;   /* atomic */
    gint n_pages;   /* atomic: given while it flips */
} Fixture;

static const QwRing shape = { .n_slots = 4, .slot_size = 4096 };

static void
set_up(Fixture *self, gconstpointer data)
{
    self->ring = qd_ring_new(&shape, self->fds);
    g_assert_nonnull(self->ring);
    self->index = mmap(NULL, QW_RING_INDEX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self->fds[1], 0);
    g_assert_true(self->index != MAP_FAILED);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(munmap(self->index, QW_RING_INDEX_BYTES), ==, 0);
    qd_ring_free(self->ring);
    g_assert_cmpint(close(self->fds[0]), ==, 0);
    g_assert_cmpint(close(self->fds[1]), ==, 0);
}

static void
give(Fixture *self, uint8_t content)
{
    uint8_t *slot = NULL;

    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, 0);
    memset(slot, content, shape.slot_size);
    qd_ring_commit(self->ring);
}

/* Slots are given in turn, and again only when they have been taken. */
static void
test_turns(Fixture *self, gconstpointer data)
{
    const uint8_t *slots = mmap(NULL, qw_ring_get_size(&shape), PROT_READ, MAP_SHARED, self->fds[0], 0);
    uint8_t *slot = NULL;

    g_assert_true(slots != MAP_FAILED);
    for (uint8_t i = 0; i < 4; i++)
        give(self, i);
    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, -EAGAIN);
    g_assert_null(slot);
    qw_ring_store_taken(self->index, 1);
    give(self, 100);
    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, -EAGAIN);
    for (uint8_t i = 0; i < 4; i++)
        g_assert_cmpuint(slots[i * shape.slot_size + 7], ==, i == 0 ? 100 : i);

    for (uint64_t i = 5; i < 100; i++) {
        qw_ring_store_taken(self->index, i - 2);
        give(self, (uint8_t) i);
        g_assert_cmpuint(slots[qw_ring_get_offset(&shape, i)], ==, i);
    }
    g_assert_cmpint(munmap((void *) slots, qw_ring_get_size(&shape)), ==, 0);
}

static void
test_index_is_bounded(Fixture *self, gconstpointer data)
{
    static const uint64_t lies[] = { 3, 4, G_MAXUINT64, G_MAXUINT64 - 1, UINT64_C(1) << 63, G_MAXUINT32 };
    uint8_t *slot = NULL;

    give(self, 1);
    give(self, 2);
    for (gsize i = 0; i < G_N_ELEMENTS(lies); i++) {
        qw_ring_store_taken(self->index, lies[i]);
        g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, -EBADMSG);
    }
    g_assert_null(slot);

    /* backwards: as if four were waiting, then five */
    qw_ring_store_taken(self->index, 2);
    give(self, 3);
    give(self, 4);
    qw_ring_store_taken(self->index, 0);
    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, -EAGAIN);
    qw_ring_store_taken(self->index, 1);
    give(self, 5);
    qw_ring_store_taken(self->index, 0);
    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, -EBADMSG);
}

static void *
flip_index(void *data)
{
    Fixture *self = data;
    uint8_t *index = self->index;
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);

    for (guint i = 0; !g_atomic_int_get(&self->stop); i++) {
        g_atomic_int_inc(&self->n_flips);
        if (i % 16 == 0) /* near enough to the truth to be taken for it */
            qw_ring_store_taken(index, (uint64_t) g_atomic_int_get(&self->n_pages) + 1 - g_rand_int(rand) % 8);
        else
            (void) __atomic_xor_fetch(index + g_rand_int(rand) % 8, (uint8_t) (1u << g_rand_int(rand) % 8), __ATOMIC_RELAXED);
    }
    return NULL;
}

/* The index changes while pages are written: each slot that comes out lies in the ring. */
static void
test_flips_while_streaming(Fixture *self, gconstpointer data)
{
    uint8_t *first = NULL;
    guint n_refused = 0;
    pthread_t thread;

    g_assert_cmpint(qd_ring_get_slot(self->ring, &first), ==, 0);
    g_assert_cmpint(pthread_create(&thread, NULL, flip_index, self), ==, 0);
    while (g_atomic_int_get(&self->n_flips) < N_FLIPS || n_refused == 0 || g_atomic_int_get(&self->n_pages) == 0) {
        uint8_t *slot = NULL;
        int r = qd_ring_get_slot(self->ring, &slot);

        g_assert_true(r == 0 || r == -EAGAIN || r == -EBADMSG);
        n_refused += r == -EBADMSG ? 1 : 0;
        if (r < 0)
            continue;
        g_assert_cmpuint((gsize) (slot - first), <=, qw_ring_get_size(&shape) - shape.slot_size);
        g_assert_cmpuint((gsize) (slot - first) % shape.slot_size, ==, 0);
        memset(slot, 0xaa, shape.slot_size);
        qd_ring_commit(self->ring);
        g_atomic_int_inc(&self->n_pages);
    }
    g_atomic_int_set(&self->stop, TRUE);
    g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
}

/* What the client may do with the descriptors: read the slots, write the index, nothing else. */
static void
test_seals(Fixture *self, gconstpointer data)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", self->fds[0]);
    g_auto(QdFd) again = open(path, O_RDWR | O_CLOEXEC);
    const int files[] = { self->fds[0], self->fds[1], again };

    g_assert_cmpint(again, >=, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_assert_cmpint(fcntl(files[i], F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
        g_assert_cmpint(ftruncate(files[i], 0), ==, -1);
        g_assert_cmpint(errno, ==, EPERM);
        g_assert_cmpint(ftruncate(files[i], 1 << 20), ==, -1);
        g_assert_cmpint(errno, ==, EPERM);
        g_assert_cmpint(fcntl(files[i], F_ADD_SEALS, F_SEAL_WRITE), ==, -1);
        g_assert_cmpint(errno, ==, EPERM);
    }
    g_assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fds[0], 0) == MAP_FAILED);
    g_assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0) == MAP_FAILED);
    g_assert_cmpint(pwrite(self->fds[0], "x", 1, 0), ==, -1);
    g_assert_cmpint(fallocate(self->fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), ==, -1);
    g_assert_cmpint(pwrite(self->fds[1], "x", 1, 100), ==, 1);

    /* a hole in the index reads as zero */
    give(self, 1);
    g_assert_cmpint(fallocate(self->fds[1], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), ==, 0);
    give(self, 2);
}

/* The client's mapping keeps the pages of a result that the daemon has ended. */
static void
test_client_outlives_daemon(Fixture *self, gconstpointer data)
{
    const uint8_t *slots = mmap(NULL, qw_ring_get_size(&shape), PROT_READ, MAP_SHARED, self->fds[0], 0);

    g_assert_true(slots != MAP_FAILED);
    give(self, 9);
    g_clear_pointer(&self->ring, qd_ring_free);
    g_assert_cmpuint(slots[100], ==, 9);
    g_assert_cmpint(munmap((void *) slots, qw_ring_get_size(&shape)), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/channel/ring/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("turns", test_turns);
    ADD("index-is-bounded", test_index_is_bounded);
    ADD("flips-while-streaming", test_flips_while_streaming);
    ADD("seals", test_seals);
    ADD("client-outlives-daemon", test_client_outlives_daemon);
    return g_test_run();
}
