/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A channel whose daemon passes a whole result: its pages, its end, and files that are not as they should be.
 *
 * The other end is played here, with the daemon's own file.
 */
#include "client-lib/channel/query-whole.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/channel/query-channel.h"
#include "client-lib/wire/wire-message.h"
#include "daemon/results/sealed-pages.h"

#define PAGE_SIZE 4096u
#define SERIAL 7u
#define N_PAGES 3

typedef struct Fixture {
    int fd; /* the daemon's end */
    QueryChannel *channel;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    int fds[2];

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
    self->fd = fds[0];
    self->channel = query_channel_new(fds[1], PAGE_SIZE, 0);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    query_channel_free(self->channel);
    (void) close(self->fd);
}

/* Pages of one row without columns. */
static QdSealedPages *
make_pages(void)
{
    QdSealedPages *pages = qd_sealed_pages_new();
    const guint8 row[] = { 8, 0, 0, 0, 0, 0, 0, 0 };
    guint8 record[QW_HEADER_SIZE + sizeof row];

    for (guint i = 0; i < N_PAGES; i++)
        g_assert_true(qd_sealed_pages_append(pages, record, qw_record_encode(record, QW_KIND_ROWS, 1, 1000 + i, row, sizeof row)));
    return pages;
}

/* @fd: -1: none. Then an END, as the daemon sends both. */
static void
send_whole(const Fixture *self, guint64 n_bytes, int fd)
{
    const QwWhole whole = { .n_bytes = n_bytes, .n_rows = N_PAGES };
    const QwEnd end = { .n_rows = N_PAGES };
    guint8 body[QW_WHOLE_BODY_SIZE];
    guint8 end_body[QW_END_BODY_SIZE];
    guint8 records[2 * QW_HEADER_SIZE + QW_WHOLE_BODY_SIZE + QW_END_BODY_SIZE];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct iovec iov = { .iov_base = records, .iov_len = sizeof records };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

    qw_whole_encode(&whole, body);
    qw_end_encode(&end, end_body);
    (void) qw_record_encode(records + qw_record_encode(records, QW_KIND_WHOLE, 0, SERIAL, body, sizeof body), QW_KIND_END, 0,
                            SERIAL, end_body, sizeof end_body);
    if (fd >= 0) {
        struct cmsghdr *cmsg = &control.align;

        *cmsg = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd) };
        memcpy(CMSG_DATA(cmsg), &fd, sizeof fd);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control;
    }
    g_assert_cmpint(sendmsg(self->fd, &message, 0), ==, sizeof records);
}

static void
assert_rows_and_end(const Fixture *self)
{
    QueryRecord record;

    for (guint i = 0; i <= N_PAGES; i++) {
        g_assert_cmpint(query_channel_receive(self->channel, &record, NULL), ==, QUERY_IO_DONE);
        g_assert_cmpint(record.kind, ==, i < N_PAGES ? QW_KIND_ROWS : QW_KIND_END);
        g_assert_cmpuint(record.serial, ==, SERIAL);
        g_assert_cmpuint((gsize) record.body % 8, ==, 0);
    }
}

static void
test_pages(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 2; i++) {
        g_autoptr(QdSealedPages) pages = make_pages();

        g_assert_true(qd_sealed_pages_seal(pages));
        g_assert_cmpint(write(qd_sealed_pages_get_fd(pages), "x", 1), ==, -1);
        send_whole(self, qd_sealed_pages_get_size(pages), qd_sealed_pages_get_fd(pages));
        assert_rows_and_end(self);
        g_assert_true(query_channel_is_idle(self->channel));
    }
}

static void
test_what_is_left_is_dropped(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSealedPages) pages = make_pages();
    QueryRecord record;

    g_assert_true(qd_sealed_pages_seal(pages));
    send_whole(self, qd_sealed_pages_get_size(pages), qd_sealed_pages_get_fd(pages));
    g_assert_cmpint(query_channel_receive(self->channel, &record, NULL), ==, QUERY_IO_DONE);
    g_assert_true(query_channel_drop_whole(self->channel));
    g_assert_cmpint(query_channel_receive(self->channel, &record, NULL), ==, QUERY_IO_DONE);
    g_assert_cmpint(record.kind, ==, QW_KIND_END);
    g_assert_false(query_channel_drop_whole(self->channel));
}

/* The page taken last stays, as for a cursor that is set aside. */
static void
test_a_page_outlives_the_channel(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSealedPages) pages = make_pages();
    gpointer blocks[3];
    QueryRecord record;
    QueryWhole *whole;

    g_assert_true(qd_sealed_pages_seal(pages));
    send_whole(self, qd_sealed_pages_get_size(pages), qd_sealed_pages_get_fd(pages));
    g_assert_cmpint(query_channel_receive(self->channel, &record, NULL), ==, QUERY_IO_DONE);
    query_channel_detach_page(self->channel, blocks, &whole);
    g_clear_pointer(&self->channel, query_channel_free);
    g_assert_cmpuint(record.body[0], ==, 8);
    for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
        g_free(blocks[i]);
    query_whole_unref(whole);
}

static void
assert_refused(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    QueryRecord record;

    g_assert_cmpint(query_channel_receive(self->channel, &record, &error), ==, QUERY_IO_FAILED);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL);
    tear_down(self, NULL);
    set_up(self, NULL);
}

static void
test_files_are_checked(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSealedPages) pages = make_pages();
    guint64 n_bytes = qd_sealed_pages_get_size(pages);
    int fds[2];

    send_whole(self, n_bytes, -1);
    assert_refused(self);
    send_whole(self, n_bytes, qd_sealed_pages_get_fd(pages)); /* not sealed yet */
    assert_refused(self);
    g_assert_true(qd_sealed_pages_seal(pages));
    send_whole(self, n_bytes + 8, qd_sealed_pages_get_fd(pages));
    assert_refused(self);
    send_whole(self, n_bytes - 8, qd_sealed_pages_get_fd(pages));
    assert_refused(self);
    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    send_whole(self, n_bytes, fds[0]);
    assert_refused(self);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

static void
test_pages_are_checked(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSealedPages) pages = make_pages();
    const guint8 nothing[24] = { 0 };
    QueryRecord record;

    g_assert_true(qd_sealed_pages_append(pages, nothing, sizeof nothing) && qd_sealed_pages_seal(pages));
    send_whole(self, qd_sealed_pages_get_size(pages), qd_sealed_pages_get_fd(pages));
    for (guint i = 0; i < N_PAGES; i++)
        g_assert_cmpint(query_channel_receive(self->channel, &record, NULL), ==, QUERY_IO_DONE);
    assert_refused(self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/client/whole/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("pages", test_pages);
    ADD("what-is-left-is-dropped", test_what_is_left_is_dropped);
    ADD("a-page-outlives-the-channel", test_a_page_outlives_the_channel);
    ADD("files-are-checked", test_files_are_checked);
    ADD("pages-are-checked", test_pages_are_checked);
    return g_test_run();
}
