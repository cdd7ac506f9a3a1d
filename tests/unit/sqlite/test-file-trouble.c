/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a file cannot be written: the cause, the file and the class of each.
 */
#include "daemon/sqlite/file-trouble.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

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

typedef struct Expected {
    const char *path;
    const char *words; /* NULL: no explanation */
} Expected;

static void
check_explained(gpointer data)
{
    const Expected *expected = data;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(qd_file_trouble_explain_read_only(expected->path, &error), ==, expected->words != NULL);
    if (expected->words != NULL)
        store_assert_error(error, QW_ERROR_READ_ONLY, expected->words);
}

/* For a user without rights. */
static void
assert_explained(const char *path, const char *words)
{
    Expected expected = { path, words };

    store_run_as_other_user(path, check_explained, &expected);
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
