/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A channel whose daemon passes a ring: pages in their order, and everything that can be wrong with memory, records and
 * descriptors.
 *
 * The other end is played here, on the daemon's own ring where that is a right one.
 */
#include "client-lib/channel/query-ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/channel/query-channel.h"
#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/channel/ring.h"

#define PAGE_SIZE 4096u
#define SERIAL 7u

typedef struct Fixture {
    int fd; /* the daemon's end */
    QueryChannel *channel;
    QdRing *ring;
    int ring_fds[2];
    guint n_open_fds;
} Fixture;

static const QwRing shape = { .n_slots = 2, .slot_size = PAGE_SIZE };

static guint
count_fds(void)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    guint n = 0;

    while (g_dir_read_name(dir) != NULL)
        n++;
    return n;
}

static void
set_up(Fixture *self, gconstpointer data)
{
    int fds[2];

    self->n_open_fds = count_fds();
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
    self->fd = fds[0];
    self->channel = query_channel_new(fds[1], PAGE_SIZE, 0);
    self->ring = qd_ring_new(&shape, self->ring_fds);
    g_assert_nonnull(self->ring);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    query_channel_free(self->channel);
    qd_ring_free(self->ring);
    (void) close(self->ring_fds[0]);
    (void) close(self->ring_fds[1]);
    if (self->fd >= 0)
        (void) close(self->fd);
    g_assert_cmpuint(count_fds(), ==, self->n_open_fds);
}

static void
send_record(Fixture *self, QwKind kind, guint32 count, const void *body, gsize n_bytes, const int *fds, guint n_fds)
{
    guint8 record[256];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control = { 0 };
    struct iovec iov = { .iov_base = record, .iov_len = qw_record_encode(record, kind, count, SERIAL, body, n_bytes) };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (n_fds > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        *CMSG_FIRSTHDR(&message) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                                     .cmsg_type = SCM_RIGHTS,
                                                     .cmsg_len = CMSG_LEN(n_fds * sizeof(int)) };
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), fds, n_fds * sizeof(int));
    }
    g_assert_cmpint(sendmsg(self->fd, &message, MSG_NOSIGNAL), ==, (gssize) iov.iov_len);
}

static void
send_ring(Fixture *self, const QwRing *announced, const int *fds, guint n_fds)
{
    guint8 body[QW_RING_BODY_SIZE];

    qw_ring_encode(announced, body);
    send_record(self, QW_KIND_RING, announced->n_slots, body, sizeof body, fds, n_fds);
}

/* A page of one row with one number; returns its size. */
static guint32
write_page(guint8 *data, gint64 number, guint32 serial)
{
    QwPageWriter writer;

    qw_page_writer_init(&writer, data, PAGE_SIZE, 1);
    g_assert_cmpint(qw_row_begin(&writer), ==, 0);
    g_assert_cmpint(qw_row_put_int64(&writer, number), ==, 0);
    g_assert_cmpint(qw_row_end(&writer), ==, 0);
    return (guint32) qw_page_writer_finish(&writer, QW_KIND_ROWS, serial);
}

static void
send_page(Fixture *self, gint64 number)
{
    guint8 *slot = NULL;
    guint32 size;

    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, 0);
    size = write_page(slot, number, SERIAL);
    qd_ring_commit(self->ring);
    send_record(self, QW_KIND_PAGE, size, NULL, 0, NULL, 0);
}

static void
assert_number(Fixture *self, gint64 number)
{
    g_autoptr(GError) error = NULL;
    QueryRecord record;
    QwPageReader reader;
    QwValue value;

    g_assert_cmpint(query_channel_receive(self->channel, &record, &error), ==, QUERY_IO_DONE);
    g_assert_no_error(error);
    g_assert_cmpint(record.kind, ==, QW_KIND_ROWS);
    g_assert_cmpuint(record.serial, ==, SERIAL);
    g_assert_cmpint(qw_page_reader_init(&reader, record.body, record.n_bytes, record.count, 1), ==, 0);
    g_assert_true(qw_page_reader_next(&reader));
    qw_page_reader_get(&reader, 0, &value);
    g_assert_cmpint(value.integer, ==, number);
}

static void
assert_fails(Fixture *self, int code, const char *words)
{
    g_autoptr(GError) error = NULL;
    QueryRecord record;
    QueryIo io;

    do
        io = query_channel_receive(self->channel, &record, &error);
    while (io == QUERY_IO_DONE);
    g_assert_cmpint(io, ==, QUERY_IO_FAILED);
    g_assert_error(error, QUERY_ERROR, code);
    g_assert_nonnull(strstr(error->message, words));
}

/* By the ring and by the socket in turn, many times round: each page in its place, slots given back at once. */
static void
test_pages(Fixture *self, gconstpointer data)
{
    guint8 page[PAGE_SIZE];
    QwEnd end = { .n_rows = 300 };
    guint8 end_body[QW_END_BODY_SIZE];
    g_autoptr(GError) error = NULL;
    QueryRecord record;
    guint8 *slot = NULL;

    send_ring(self, &shape, self->ring_fds, 2);
    for (gint64 i = 0; i < 300; i += 3) {
        send_page(self, i);
        send_page(self, i + 1);
        g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, -EAGAIN);
        g_assert_cmpint(write(self->fd, page, write_page(page, i + 2, SERIAL)), ==, 32);
        for (gint64 k = i; k < i + 3; k++)
            assert_number(self, k);
    }
    qw_end_encode(&end, end_body);
    send_record(self, QW_KIND_END, 0, end_body, sizeof end_body, NULL, 0);
    g_assert_cmpint(query_channel_receive(self->channel, &record, &error), ==, QUERY_IO_DONE);
    g_assert_cmpint(record.kind, ==, QW_KIND_END);

    /* a ring is one result's */
    send_record(self, QW_KIND_PAGE, 40, NULL, 0, NULL, 0);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "PAGE");
}

static void
test_another_ring(Fixture *self, gconstpointer data)
{
    send_ring(self, &shape, self->ring_fds, 2);
    send_page(self, 1);
    assert_number(self, 1);
    qd_ring_free(self->ring);
    (void) close(self->ring_fds[0]);
    (void) close(self->ring_fds[1]);
    self->ring = qd_ring_new(&shape, self->ring_fds);
    send_ring(self, &shape, self->ring_fds, 2);
    send_page(self, 2);
    assert_number(self, 2);
}

/* A page that was handed out does not change any more when its slot is written. */
static void
test_page_is_a_copy(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    guint8 *slot = NULL;
    QueryRecord record;

    send_ring(self, &shape, self->ring_fds, 2);
    g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, 0);
    send_page(self, 5);
    g_assert_cmpint(query_channel_receive(self->channel, &record, &error), ==, QUERY_IO_DONE);
    memset(slot, 0xff, PAGE_SIZE);
    g_assert_cmpuint(record.n_bytes, ==, 16);
    g_assert_cmpuint(record.body[8], ==, 5);
}

static int
create_file(gsize size, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(ftruncate(fd, (off_t) size), ==, 0);
    g_assert_cmpint(fcntl(fd, F_ADD_SEALS, seals), ==, 0);
    return fd;
}

/* Each file is wrong in one way. */
static void
test_files_are_checked(Fixture *self, gconstpointer data)
{
    const int index_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    const struct {
        gsize slots_size;
        int slots_seals;
        gsize index_size;
        int index_seals;
    } cases[] = {
        { 2 * PAGE_SIZE, F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE, QW_RING_INDEX_BYTES, index_seals },
        { 2 * PAGE_SIZE, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE, QW_RING_INDEX_BYTES, index_seals },
        { 2 * PAGE_SIZE, index_seals, QW_RING_INDEX_BYTES, index_seals },
        { 2 * PAGE_SIZE, 0, QW_RING_INDEX_BYTES, index_seals },
        { PAGE_SIZE, index_seals | F_SEAL_FUTURE_WRITE, QW_RING_INDEX_BYTES, index_seals },
        { 0, index_seals | F_SEAL_FUTURE_WRITE, QW_RING_INDEX_BYTES, index_seals },
        { 3 * PAGE_SIZE, index_seals | F_SEAL_FUTURE_WRITE, QW_RING_INDEX_BYTES, index_seals },
        { 2 * PAGE_SIZE, index_seals | F_SEAL_FUTURE_WRITE, QW_RING_INDEX_BYTES, F_SEAL_GROW | F_SEAL_SEAL },
        { 2 * PAGE_SIZE, index_seals | F_SEAL_FUTURE_WRITE, 0, index_seals },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        int fds[2] = { create_file(cases[i].slots_size, cases[i].slots_seals),
                       create_file(cases[i].index_size, cases[i].index_seals) };

        send_ring(self, &shape, fds, 2);
        (void) close(fds[0]);
        (void) close(fds[1]);
        assert_fails(self, QUERY_ERROR_PROTOCOL, "sealed");
    }
}

/* Nothing that could be truncated later is mapped. */
static void
test_other_descriptors(Fixture *self, gconstpointer data)
{
    int fds[2];

    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    send_ring(self, &shape, fds, 2);
    (void) close(fds[0]);
    (void) close(fds[1]);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "sealed");

    fds[0] = fds[1] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    send_ring(self, &shape, fds, 2);
    (void) close(fds[0]);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "sealed");
}

static void
test_number_of_descriptors(Fixture *self, gconstpointer data)
{
    const int many[] = { self->ring_fds[0], self->ring_fds[1], self->fd, self->fd, self->fd };

    /* those beyond two are closed by the kernel */
    send_ring(self, &shape, many, 5);
    send_page(self, 3);
    assert_number(self, 3);

    send_ring(self, &shape, NULL, 0);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "RING");
    send_ring(self, &shape, self->ring_fds, 1);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "RING");
}

/* They came with another record, unasked: they go with the channel. */
static void
test_descriptors_unasked(Fixture *self, gconstpointer data)
{
    guint8 page[PAGE_SIZE];

    send_record(self, QW_KIND_END, 0, NULL, 0, self->ring_fds, 2);
    send_record(self, QW_KIND_END, 0, NULL, 0, self->ring_fds, 1);
    g_assert_cmpint(write(self->fd, page, write_page(page, 1, SERIAL)), ==, 32);
    for (guint i = 0; i < 3; i++) {
        QueryRecord record;

        g_assert_cmpint(query_channel_receive(self->channel, &record, NULL), ==, QUERY_IO_DONE);
    }
}

static void
test_shape_is_checked(Fixture *self, gconstpointer data)
{
    static const QwRing shapes[] = {
        { 0, PAGE_SIZE }, { 17, PAGE_SIZE },    { G_MAXUINT32, PAGE_SIZE }, { 2, 2 * PAGE_SIZE },
        { 2, 0 },         { 2, PAGE_SIZE - 8 }, { 2, G_MAXUINT32 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++) {
        send_ring(self, &shapes[i], self->ring_fds, 2);
        assert_fails(self, QUERY_ERROR_PROTOCOL, "RING");
    }
}

static void
test_page_record_is_checked(Fixture *self, gconstpointer data)
{
    static const guint32 sizes[] = { 0, 8, 20, PAGE_SIZE + 8, G_MAXUINT32, 0x80000000u };

    send_record(self, QW_KIND_PAGE, 40, NULL, 0, NULL, 0);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "PAGE");
    send_ring(self, &shape, self->ring_fds, 2);
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        send_record(self, QW_KIND_PAGE, sizes[i], NULL, 0, NULL, 0);
        assert_fails(self, QUERY_ERROR_PROTOCOL, "PAGE");
    }
    send_record(self, QW_KIND_PAGE, 40, "12345678", 8, NULL, 0);
    assert_fails(self, QUERY_ERROR_PROTOCOL, "PAGE");
}

/* The slot holds something else than the record said. */
static void
test_slot_is_checked(Fixture *self, gconstpointer data)
{
    QwHeader header = { .size = 40, .kind = QW_KIND_ROWS, .count = 1, .serial = SERIAL };
    const QwHeader lies[] = {
        { .size = 48, .kind = QW_KIND_ROWS, .serial = SERIAL },  { .size = 32, .kind = QW_KIND_ROWS, .serial = SERIAL },
        { .size = 40, .kind = QW_KIND_END, .serial = SERIAL },   { .size = 40, .kind = QW_KIND_PAGE, .serial = SERIAL },
        { .size = 40, .kind = QW_KIND_CHUNK, .serial = SERIAL }, { .size = 40, .kind = QW_KIND_ROWS, .serial = SERIAL + 1 },
    };

    send_ring(self, &shape, self->ring_fds, 2);
    for (gsize i = 0; i < G_N_ELEMENTS(lies); i++) {
        guint8 *slot = NULL;

        g_assert_cmpint(qd_ring_get_slot(self->ring, &slot), ==, 0);
        header = lies[i];
        qw_header_encode(&header, slot);
        qd_ring_commit(self->ring);
        send_record(self, QW_KIND_PAGE, 40, NULL, 0, NULL, 0);
        assert_fails(self, QUERY_ERROR_PROTOCOL, "ring");
    }
}

/* Cut off after each byte: always an error, never an end. */
static void
test_hang_up_anywhere(void)
{
    for (guint n_cut = 0; n_cut < 24 + 16 + 16; n_cut++) {
        Fixture fixture = { 0 };
        g_autoptr(GError) error = NULL;
        QueryRecord record;
        QueryIo io;
        int fds[2];
        guint8 bytes[64];

        set_up(&fixture, NULL);
        send_ring(&fixture, &shape, fixture.ring_fds, 2);
        send_page(&fixture, 1);
        send_page(&fixture, 2);
        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);

        /* passed on byte for byte to another channel, which then ends */
        {
            union {
                struct cmsghdr align;
                char bytes[CMSG_SPACE(2 * sizeof(int))];
            } control = { 0 };
            struct iovec iov = { .iov_base = bytes, .iov_len = sizeof bytes };
            struct msghdr message = {
                .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control
            };
            gssize n = recvmsg(query_channel_get_fd(fixture.channel), &message, MSG_CMSG_CLOEXEC);

            g_assert_cmpint(n, ==, 24);
            g_assert_cmpint(recv(query_channel_get_fd(fixture.channel), bytes + 24, sizeof bytes - 24, 0), ==, 32);
            iov.iov_len = n_cut;
            message.msg_controllen = CMSG_SPACE(2 * sizeof(int));
            if (n_cut > 0)
                g_assert_cmpint(sendmsg(fds[0], &message, MSG_NOSIGNAL), ==, (gssize) n_cut);
            for (guint i = 0; i < 2; i++) {
                int passed;

                memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)) + i * sizeof passed, sizeof passed);
                (void) close(passed);
            }
        }
        (void) close(fds[0]);
        query_channel_free(fixture.channel);
        fixture.channel = query_channel_new(fds[1], PAGE_SIZE, 0);
        do
            io = query_channel_receive(fixture.channel, &record, &error);
        while (io == QUERY_IO_DONE);
        g_assert_cmpint(io, ==, QUERY_IO_FAILED);
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
        tear_down(&fixture, NULL);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/client/ring/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("pages", test_pages);
    ADD("another-ring", test_another_ring);
    ADD("page-is-a-copy", test_page_is_a_copy);
    ADD("files-are-checked", test_files_are_checked);
    ADD("other-descriptors", test_other_descriptors);
    ADD("number-of-descriptors", test_number_of_descriptors);
    ADD("descriptors-unasked", test_descriptors_unasked);
    ADD("shape-is-checked", test_shape_is_checked);
    ADD("page-record-is-checked", test_page_record_is_checked);
    ADD("slot-is-checked", test_slot_is_checked);
    g_test_add_func("/client/ring/hang-up-anywhere", test_hang_up_anywhere);
    return g_test_run();
}
