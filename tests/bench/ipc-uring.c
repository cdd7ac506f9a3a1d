/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring with one entry: one request, one completion, one system call for both.
 */
#include "tests/bench/ipc-uring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_ENTRIES 1
/* Newer than some headers: IORING_OP_FUTEX_WAIT, FUTEX2_SIZE_U32, FUTEX_BITSET_MATCH_ANY. */
#define OPCODE_FUTEX_WAIT 51
#define FUTEX_FLAGS_U32 0x02
#define FUTEX_ANY 0xffffffffu

typedef struct Uring {
    int fd;
    guint32 *submit_tail;
    guint32 *submit_array;
    guint32 submit_mask;
    struct io_uring_sqe *entries;
    guint32 *complete_head;
    guint32 *complete_tail;
    guint32 complete_mask;
    struct io_uring_cqe *completions;
} Uring;

static guint8 *
map(IpcEnd *end, int fd, gsize n_bytes, gint64 offset)
{
    guint8 *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

    if (memory == MAP_FAILED)
        bench_fail(end->bench, "io_uring: %s", g_strerror(errno));
    return memory;
}

static void
map_rings(IpcEnd *end, Uring *self, const struct io_uring_params *parameters)
{
    gsize submit_bytes = parameters->sq_off.array + parameters->sq_entries * sizeof(guint32);
    gsize complete_bytes = parameters->cq_off.cqes + parameters->cq_entries * sizeof(struct io_uring_cqe);
    guint8 *submit = map(end, self->fd, submit_bytes, IORING_OFF_SQ_RING);
    guint8 *complete = map(end, self->fd, complete_bytes, IORING_OFF_CQ_RING);

    self->submit_tail = (guint32 *) (submit + parameters->sq_off.tail);
    self->submit_array = (guint32 *) (submit + parameters->sq_off.array);
    self->submit_mask = *(guint32 *) (submit + parameters->sq_off.ring_mask);
    self->entries = (struct io_uring_sqe *) map(end, self->fd, parameters->sq_entries * sizeof *self->entries, IORING_OFF_SQES);
    self->complete_head = (guint32 *) (complete + parameters->cq_off.head);
    self->complete_tail = (guint32 *) (complete + parameters->cq_off.tail);
    self->complete_mask = *(guint32 *) (complete + parameters->cq_off.ring_mask);
    self->completions = (struct io_uring_cqe *) (complete + parameters->cq_off.cqes);
}

/* Returns the result of the wait: 0, or negative errno. */
static gint32
wait_for_futex(IpcEnd *end, guint32 *futex, guint32 value)
{
    Uring *self = end->loop;
    guint32 tail = *self->submit_tail;
    guint32 index = tail & self->submit_mask;
    guint32 head = *self->complete_head;
    gint32 result;

    self->entries[index] = (struct io_uring_sqe){
        .opcode = OPCODE_FUTEX_WAIT, .fd = FUTEX_FLAGS_U32, .addr = (guint64) (guintptr) futex, .addr2 = value, .addr3 = FUTEX_ANY
    };
    self->submit_array[index] = index;
    __atomic_store_n(self->submit_tail, tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, self->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
        bench_fail(end->bench, "io_uring: %s", g_strerror(errno));
    if (__atomic_load_n(self->complete_tail, __ATOMIC_ACQUIRE) == head)
        return -EINTR; /* its completion will be the next one's */
    result = self->completions[head & self->complete_mask].res;
    __atomic_store_n(self->complete_head, head + 1, __ATOMIC_RELEASE);
    return result;
}

void
ipc_uring_wait(IpcEnd *end, guint32 *futex, guint32 value)
{
    (void) wait_for_futex(end, futex, value);
}

void
ipc_uring_open(IpcEnd *end)
{
    struct io_uring_params parameters = { 0 };
    Uring *self = g_new0(Uring, 1);
    guint32 word = 1;
    gint32 r;

    self->fd = (int) syscall(SYS_io_uring_setup, N_ENTRIES, &parameters);
    if (self->fd < 0)
        bench_skip(end->bench, "io_uring: %s", g_strerror(errno));
    map_rings(end, self, &parameters);
    end->loop = self;
    r = wait_for_futex(end, &word, 0); /* it is not 0 */
    if (r != -EAGAIN)
        bench_skip(end->bench, "io_uring has no futex here: %s", g_strerror(-r));
}
