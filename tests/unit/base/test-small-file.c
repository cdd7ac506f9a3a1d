/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files: replaced as a whole, for their owner only; a failure leaves the old one and nothing else. Read as a whole within
 * a bound.
 */
#include "daemon/base/small-file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
assert_content(const char *path, const char *expected)
{
    g_autofree char *content = NULL;

    g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
    g_assert_cmpstr(content, ==, expected);
}

static void
test_replace(void)
{
    g_autofree char *dir = g_dir_make_tmp("queryd-small-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "file", NULL);
    g_autofree char *temp = g_strconcat(path, ".tmp", NULL);
    struct stat st;

    g_assert_true(qd_small_file_replace(path, "one", strlen("one")));
    assert_content(path, "one");
    g_assert_cmpint(stat(path, &st), ==, 0);
    g_assert_cmpuint(st.st_mode & 0777, ==, 0600);
    g_assert_true(g_file_set_contents(temp, "left over", -1, NULL));
    g_assert_true(qd_small_file_replace(path, "two", strlen("two")));
    assert_content(path, "two");
    g_assert_false(g_file_test(temp, G_FILE_TEST_EXISTS));

    g_assert_cmpint(symlink("/dev/null", temp), ==, 0); /* not followed */
    g_assert_false(qd_small_file_replace(path, "three", strlen("three")));
    assert_content(path, "two");
    g_assert_cmpint(g_unlink(temp), ==, 0);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0); /* cannot be replaced by a file */
    g_assert_false(qd_small_file_replace(path, "three", strlen("three")));
    g_assert_false(g_file_test(temp, G_FILE_TEST_EXISTS));
    g_assert_cmpint(g_rmdir(path), ==, 0);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
    g_assert_false(qd_small_file_replace(path, "four", strlen("four")));
}

static void
assert_not_read(const char *path, gsize max_bytes, int expected)
{
    errno = 0;
    g_assert_null(qd_small_file_read(path, max_bytes, NULL));
    g_assert_cmpint(errno, ==, expected);
}

/* As large as it may be, one byte more, without a size as in /proc, and what is no file. */
static void
test_read(void)
{
    g_autofree char *dir = g_dir_make_tmp("queryd-small-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "file", NULL);
    g_autofree char *fifo = g_build_filename(dir, "fifo", NULL);
    g_autofree char *long_text = g_strnfill(5000, 'x');
    g_autofree char *read_back = NULL;
    g_autofree char *of_proc = NULL;
    g_autofree char *of_fifo = NULL;
    gsize n_bytes = 0;

    assert_not_read(path, 10, ENOENT);
    assert_not_read(dir, 10, EISDIR);
    g_assert_true(qd_small_file_replace(path, long_text, 5000));
    assert_not_read(path, 4999, EFBIG);
    assert_not_read(path, 0, EFBIG);
    read_back = qd_small_file_read(path, 5000, &n_bytes);
    g_assert_cmpstr(read_back, ==, long_text);
    g_assert_cmpuint(n_bytes, ==, 5000);

    of_proc = qd_small_file_read("/proc/self/stat", 64 << 10, &n_bytes);
    g_assert_nonnull(of_proc);
    g_assert_cmpuint(n_bytes, ==, strlen(of_proc));
    g_assert_cmpuint(n_bytes, >, 0);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    of_fifo = qd_small_file_read(fifo, 10, &n_bytes);
    g_assert_cmpstr(of_fifo, ==, "");

    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_unlink(fifo), ==, 0);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/small-file/replace", test_replace);
    g_test_add_func("/base/small-file/read", test_read);
    return g_test_run();
}
