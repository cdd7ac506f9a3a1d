/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store of the tests.
 */
#include "tests/unit/store/store-fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define EXIT_SKIPPED 77
#define OTHER_USER 65534

void
store_run_as_other_user(const char *path, void (*func)(gpointer data), gpointer data)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (geteuid() == 0 &&
            (setresgid(OTHER_USER, OTHER_USER, OTHER_USER) < 0 || setresuid(OTHER_USER, OTHER_USER, OTHER_USER) < 0))
            _exit(EXIT_SKIPPED);
        if (access(path, F_OK) < 0) /* a folder for temporary files that is root's alone */
            _exit(EXIT_SKIPPED);
        func(data);
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
        g_test_skip("another user cannot be used here, or cannot reach the folder for temporary files");
    else
        g_assert_cmpint(status, ==, 0);
}

void
store_assert_error(const GError *error, QwError code, const char *words)
{
    g_assert_error(error, QD_ERROR, (gint) code);
    if (strstr(error->message, words) == NULL)
        g_error("'%s' does not say '%s'", error->message, words);
}

void
store_fixture_open(StoreFixture *self)
{
    g_autoptr(GError) error = NULL;

    self->database = qd_database_open(self->dir, &self->limits, &error);
    g_assert_no_error(error);
    self->writer = qd_database_steal_writer(self->database);
}

void
store_fixture_close(StoreFixture *self)
{
    g_clear_pointer(&self->writer, qd_connection_free);
    g_clear_pointer(&self->database, qd_database_free);
}

void
store_fixture_set_up(StoreFixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-store-XXXXXX", NULL);
    qd_limits_init(&self->limits);
    self->limits.values[QD_LIMIT_FREE_DISK_BYTES] = 0;
    store_fixture_open(self);
}

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return remove(path);
}

guint
store_count_files(const char *dir, const char *folder)
{
    g_autofree char *path = g_build_filename(dir, folder, NULL);
    g_autoptr(GDir) entries = g_dir_open(path, 0, NULL);
    guint n = 0;

    while (entries != NULL && g_dir_read_name(entries) != NULL)
        n++;
    return n;
}

gboolean
store_can_adopt(const char *dir)
{
    g_auto(QdFd) writer = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    g_auto(QdFd) reader = -1;
    char path[64];

    (void) snprintf(path, sizeof path, "/proc/self/fd/%d", writer);
    reader = writer >= 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    writer = qd_fd_close(writer);
    return reader >= 0 && fcntl(reader, F_SETLEASE, F_RDLCK) == 0;
}

void
store_remove_folder(const char *dir)
{
    g_assert_cmpint(nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), ==, 0);
}

void
store_fixture_tear_down(StoreFixture *self, gconstpointer data)
{
    store_fixture_close(self);
    store_remove_folder(self->dir);
    g_free(self->dir);
}

QdConnection *
store_fixture_open_reader(StoreFixture *self)
{
    g_autoptr(GError) error = NULL;
    QdConnectionInfo info = qd_database_get_info(self->database);
    QdConnection *reader = qd_connection_open(&info, QD_CONNECTION_READER, &self->limits, &error);

    g_assert_no_error(error);
    return reader;
}

void
store_execute(QdConnection *connection, const char *sql)
{
    g_autoptr(GError) error = NULL;

    (void) qd_connection_execute(connection, sql, &error);
    g_assert_no_error(error);
}

gint64
store_get_int64(QdConnection *connection, const char *sql)
{
    g_autoptr(GError) error = NULL;
    gint64 value = -1;

    (void) qd_connection_get_int64(connection, sql, &value, &error);
    g_assert_no_error(error);
    return value;
}

QdCompiled *
store_compile(StoreFixture *self, QdConnection *connection, const char *text, QdPolicy policy, GError **error)
{
    return qd_connection_compile(connection, text, strlen(text), policy, &self->limits, error);
}
