/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Backups that cannot be written, there or here, leave no file.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/engine/engine-fixture.h"

static QdCall *
make_backup(const EngineFixture *self)
{
    return engine_fixture_make_call(self, &qd_backup_call, NULL, "what was there");
}

/* A file is emptied first, regardless of its offset. */
static void
test_file(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) call = make_backup(self);
    guint n_files = store_count_files(self->store.dir, ".");
    char start[16] = { 0 };

    g_assert_cmpint(lseek(call->fd, 5, SEEK_SET), ==, 5);
    g_assert_true(engine_fixture_run(self, call));
    g_assert_cmpint(lseek(call->fd, 0, SEEK_END), ==, (off_t) call->result.n_bytes);
    g_assert_cmpint(pread(call->fd, start, sizeof start, 0), ==, sizeof start);
    g_assert_cmpstr(start, ==, "SQLite format 3");
    g_assert_cmpuint(store_count_files(self->store.dir, "."), ==, n_files);
}

static void
test_file_that_cannot_be_emptied(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_backup(self);
    guint n_files = store_count_files(self->store.dir, ".");

    g_assert_cmpint(fcntl(call->fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
    engine_fixture_fail(self, call, QW_ERROR_ACCESS_DENIED, "cannot begin to write the backup: Operation not permitted");
    g_assert_cmpuint(store_count_files(self->store.dir, "."), ==, n_files);
}

static void
test_read_only_descriptor(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_backup(self);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", call->fd);
    g_auto(QdFd) writable G_GNUC_UNUSED = call->fd;

    call->fd = open(path, O_RDONLY | O_CLOEXEC);
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "the descriptor is not open for writing");
}

/* Something else has the names of our copies. */
static void
test_no_copy(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_backup(self);
    char content[32] = { 0 };
    g_auto(QdFd) target = qd_fd_dup(call->fd);

    for (guint i = 0; i < 50; i++) {
        g_autofree char *path = g_strdup_printf("%s/backup-%u.tmp", self->store.dir, i);

        g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    }
    engine_fixture_fail(self, call, QW_ERROR_INTERNAL, "cannot make a copy in '");
    g_assert_cmpint(pread(target, content, sizeof content, 0), ==, 14);
    g_assert_cmpstr(content, ==, "what was there"); /* it was not touched */
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/job/job-backup/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("file", test_file);
    ADD("file-that-cannot-be-emptied", test_file_that_cannot_be_emptied);
    ADD("read-only-descriptor", test_read_only_descriptor);
    ADD("no-copy", test_no_copy);
    return g_test_run();
}
