/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a file cannot be written: the cause, the file and the class of each.
 */
#include "daemon/sqlite/file-trouble.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

#define EXIT_SKIPPED 77
#define NOBODY 65534

static void
test_advice(void)
{
    static const struct {
        int number;
        QwError code;
        gboolean is_of_disk;
        const char *words;
    } cases[] = {
        { EROFS, QW_ERROR_READ_ONLY, TRUE, "Read-only file system; mount the disk for writing" },
        { EIO, QW_ERROR_INTERNAL, TRUE, "Input/output error; the disk reports an error, see the kernel's log" },
        { ENOSPC, QW_ERROR_DISK_FULL, FALSE, "No space left on device; make room" },
        { EDQUOT, QW_ERROR_DISK_FULL, FALSE, "Disk quota exceeded; make room" },
        { EMFILE, QW_ERROR_LIMIT_EXCEEDED, FALSE, "Too many open files; the next try opens it again" },
        { ENOMEM, QW_ERROR_NO_MEMORY, FALSE, "Cannot allocate memory; the next try opens it again" },
        { EINVAL, QW_ERROR_INTERNAL, FALSE, "cannot open 'x': Invalid argument" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        qd_file_trouble_set(&error, cases[i].number, "cannot open '%s'", "x");
        store_assert_error(error, cases[i].code, cases[i].words);
        g_assert_cmpint(qd_file_trouble_is_of_disk(cases[i].number), ==, cases[i].is_of_disk);
    }
}

/* What a user without rights gets: @words, or no explanation if NULL. */
static void
assert_explained(const char *path, const char *words)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        g_autoptr(GError) error = NULL;

        if (geteuid() == 0 && (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0))
            _exit(EXIT_SKIPPED);
        if (access(path, R_OK) < 0) /* a folder for temporary files that is root's alone */
            _exit(EXIT_SKIPPED);
        g_assert_cmpint(qd_file_trouble_explain_read_only(path, &error), ==, words != NULL);
        if (words != NULL)
            store_assert_error(error, QW_ERROR_READ_ONLY, words);
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
        g_test_skip("another user cannot be used here, or cannot reach the folder for temporary files");
    else
        g_assert_cmpint(status, ==, 0);
}

static char *
make_file(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    g_assert_true(g_file_set_contents(path, "x", -1, NULL));
    g_assert_cmpint(g_chmod(path, 0666), ==, 0);
    return g_steal_pointer(&path);
}

static void
test_permissions(void)
{
    g_autofree char *folder = g_dir_make_tmp("queryd-file-trouble-XXXXXX", NULL);
    g_autofree char *path = make_file(folder, "queryd.db");
    g_autofree char *log = make_file(folder, "queryd.db-wal");
    g_autofree char *of_path = g_strdup_printf("cannot open '%s' for writing: Permission denied; the user of this process", path);
    g_autofree char *of_log = g_strdup_printf("cannot open '%s' for writing: Permission denied", log);
    g_autofree char *of_folder = g_strdup_printf("cannot make a file in '%s': Permission denied", folder);

    g_assert_cmpint(g_chmod(folder, 0777), ==, 0);
    assert_explained(path, NULL);
    g_assert_cmpint(g_chmod(path, 0444), ==, 0);
    assert_explained(path, of_path);
    g_assert_cmpint(g_chmod(path, 0666), ==, 0);
    g_assert_cmpint(g_chmod(log, 0444), ==, 0);
    assert_explained(path, of_log);
    g_assert_cmpint(g_chmod(log, 0666), ==, 0);
    g_assert_cmpint(g_chmod(folder, 0555), ==, 0);
    assert_explained(path, of_folder);
    g_assert_cmpint(g_chmod(folder, 0700), ==, 0);
    g_assert_cmpint(g_remove(path), ==, 0);
    g_assert_cmpint(g_remove(log), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/sqlite/file-trouble/advice", test_advice);
    g_test_add_func("/sqlite/file-trouble/permissions", test_permissions);
    return g_test_run();
}
