/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sealed file has what was written, and no process can change it, by its descriptor or by a mapping.
 */
#include "daemon/results/sealed-pages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static void
test_written(void)
{
    g_autoptr(QdSealedPages) pages = qd_sealed_pages_new();
    char read_back[8] = "";

    g_assert_nonnull(pages);
    g_assert_cmpuint(qd_sealed_pages_get_size(pages), ==, 0);
    g_assert_true(qd_sealed_pages_append(pages, (const guint8 *) "abc", 3));
    g_assert_true(qd_sealed_pages_append(pages, (const guint8 *) "", 0));
    g_assert_true(qd_sealed_pages_append(pages, (const guint8 *) "de", 2));
    g_assert_cmpuint(qd_sealed_pages_get_size(pages), ==, 5);
    g_assert_true(qd_sealed_pages_seal(pages));
    g_assert_cmpint(pread(qd_sealed_pages_get_fd(pages), read_back, sizeof read_back, 0), ==, 5);
    g_assert_cmpstr(read_back, ==, "abcde");
}

static void
test_sealed(void)
{
    g_autoptr(QdSealedPages) pages = qd_sealed_pages_new();
    int fd = qd_sealed_pages_get_fd(pages);

    g_assert_true(qd_sealed_pages_append(pages, (const guint8 *) "abc", 3));
    g_assert_true(qd_sealed_pages_seal(pages));
    g_assert_cmpint(fcntl(fd, F_GET_SEALS) & SEALS, ==, SEALS);
    g_assert_false(qd_sealed_pages_append(pages, (const guint8 *) "d", 1));
    g_assert_cmpuint(qd_sealed_pages_get_size(pages), ==, 3);
    g_assert_cmpint(ftruncate(fd, 0), <, 0);
    g_assert_cmpint(errno, ==, EPERM);
    g_assert_true(mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
}

/* While someone can write by a mapping, nothing is sealed. */
static void
test_mapped(void)
{
    g_autoptr(QdSealedPages) pages = qd_sealed_pages_new();
    void *map;

    g_assert_true(qd_sealed_pages_append(pages, (const guint8 *) "abc", 3));
    map = mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, qd_sealed_pages_get_fd(pages), 0);
    g_assert_true(map != MAP_FAILED);
    g_assert_false(qd_sealed_pages_seal(pages));
    g_assert_cmpint(munmap(map, 3), ==, 0);
    g_assert_true(qd_sealed_pages_seal(pages));
}

static void
test_references(void)
{
    QdSealedPages *pages = qd_sealed_pages_new();
    int fd = qd_sealed_pages_get_fd(pages);

    g_assert_true(qd_sealed_pages_ref(pages) == pages);
    qd_sealed_pages_unref(pages);
    g_assert_cmpint(fcntl(fd, F_GETFD), >=, 0);
    qd_sealed_pages_unref(pages);
    g_assert_cmpint(fcntl(fd, F_GETFD), <, 0);
    qd_sealed_pages_unref(NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/results/sealed-pages/written", test_written);
    g_test_add_func("/results/sealed-pages/sealed", test_sealed);
    g_test_add_func("/results/sealed-pages/mapped", test_mapped);
    g_test_add_func("/results/sealed-pages/references", test_references);
    return g_test_run();
}
