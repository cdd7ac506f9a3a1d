/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: requests on a channel, against the engine with a real database and its workers.
 *
 * The first byte chooses the statement that the channel begins with; the rest is sent as it is. To any input the daemon answers
 * with well-formed records, each with the serial of a request, and closes: a hang is a finding, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib-unix.h>

#include "client-lib/wire/wire-message.h"
#include "daemon/base/fd.h"
#include "daemon/call/call-classes.h"
#include "daemon/engine/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE_SIZE_SMALL QW_PAGE_SIZE_MIN
/* Fits into a socket's buffer, so that it is sent before the first answer is read. */
#define INPUT_BYTES_MAX (64u * 1024u)
#define PATIENCE_MSEC 20000

typedef struct World {
    char *directory;
    QdMailbox *mailbox;
    QdEngine *engine;
    QdClient *client;
} World;

static World world;

static void
on_changed(uint64_t generation, const QdChanges *changes, void *user_data)
{
}

static void
on_activity(void *user_data)
{
}

static void
on_done(QdCall *call, void *user_data)
{
    *(gboolean *) user_data = TRUE;
}

/* A signal of the fuzzer's own timer is no end of waiting. */
static void
wait_for_input(int fd)
{
    struct pollfd entry = { .fd = fd, .events = POLLIN };
    int r;

    do
        r = poll(&entry, 1, PATIENCE_MSEC);
    while (r < 0 && errno == EINTR);
    g_assert_cmpint(r, ==, 1);
}

/* Runs @call to its end. */
static void
run_call(QdCall *call)
{
    gboolean done = FALSE;

    call->done = on_done;
    call->user_data = &done;
    qd_engine_submit(world.engine, call);
    while (!done) {
        wait_for_input(qd_mailbox_get_fd(world.mailbox));
        qd_mailbox_dispatch(world.mailbox);
    }
}

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return remove(path);
}

static void
end_world(void)
{
    qd_client_unref(world.client);
    qd_engine_free(world.engine);
    qd_mailbox_free(world.mailbox);
    (void) nftw(world.directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    g_free(world.directory);
}

/* One engine for all inputs. What an input writes stays, but the table is small. */
static void
begin_world(void)
{
    QdEngineConfig config = { .changed = on_changed, .activity = on_activity };
    g_autoptr(QdCall) call = NULL;

    if (world.engine != NULL)
        return;

    qd_limits_init(&config.limits);
    config.limits.values[QD_LIMIT_QUERY_TIMEOUT_MSEC] = 200;
    config.limits.values[QD_LIMIT_UPDATE_TIMEOUT_MSEC] = 200;
    config.limits.values[QD_LIMIT_VALUE_BYTES] = 1024 * 1024;
    config.limits.values[QD_LIMIT_FREE_DISK_BYTES] = 0;
    world.directory = g_dir_make_tmp("queryd-fuzz-XXXXXX", NULL);
    world.mailbox = qd_mailbox_new(NULL);
    config.directory = world.directory;
    world.engine = qd_engine_new(&config, world.mailbox, NULL);
    g_assert_nonnull(world.engine);
    world.client = qd_client_new("fuzz");
    call = qd_call_new(&qd_update_call, world.client);
    qd_call_add_statement(call, QD_LANGUAGE_SQL, "CREATE TABLE t (x, y)", NULL);
    run_call(call);
    g_assert_no_error(call->result.error);
    (void) atexit(end_world);
}

static int
open_channel(uint8_t choice)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_prepare_call, world.client);

    call->options.execution.access_write = (choice & 1) != 0;
    call->options.channel.page_size = (choice & 2) != 0 ? PAGE_SIZE_SMALL : QW_PAGE_SIZE_DEFAULT;
    if ((choice & 1) != 0)
        qd_call_add_statement(call, QD_LANGUAGE_SQL, "DELETE FROM t", NULL);
    else
        qd_call_add_statement(call, QD_LANGUAGE_SQL, (choice & 4) != 0 ? "SELECT ?1, :b" : "SELECT 1", NULL);
    run_call(call);
    g_assert_no_error(call->result.error);
    return g_steal_fd(&call->result.channel_fd);
}

static void
send_all(int fd, const uint8_t *data, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = send(fd, data, n_bytes, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) /* what came before was nonsense, and the daemon has closed */
            break;
        data += n;
        n_bytes -= (size_t) n;
    }
    (void) shutdown(fd, SHUT_WR);
}

/* Checks the records at the beginning of @in and takes them out. */
static void
check_answers(GByteArray *in, size_t page_size)
{
    guint offset = 0;
    QwHeader header;

    while (in->len - offset >= QW_HEADER_SIZE) {
        g_assert_cmpint(qw_header_decode(in->data + offset, page_size, QW_TO_CLIENT, &header), ==, 0);
        if (in->len - offset < header.size)
            break;
        offset += header.size;
    }
    if (offset > 0)
        g_byte_array_remove_range(in, 0, offset);
}

static void
read_to_end(int fd, size_t page_size)
{
    g_autoptr(GByteArray) in = g_byte_array_new();
    uint8_t buffer[16384];

    for (;;) {
        ssize_t n;

        wait_for_input(fd);
        n = recv(fd, buffer, sizeof buffer, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        g_byte_array_append(in, buffer, (guint) n);
        check_answers(in, page_size);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t choice = size > 0 ? data[0] : 0;
    g_auto(QdFd) fd = -1;

    begin_world();
    fd = open_channel(choice);
    if (size > 1)
        send_all(fd, data + 1, MIN(size - 1, INPUT_BYTES_MAX));
    else
        (void) shutdown(fd, SHUT_WR);
    read_to_end(fd, (choice & 2) != 0 ? PAGE_SIZE_SMALL : QW_PAGE_SIZE_DEFAULT);
    qd_mailbox_dispatch(world.mailbox);
    return 0;
}
