/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payload files in a real folder: who sees them when, and what is found there that does not belong.
 */
#include "daemon/payload/payload-files.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    char *dir;
    QdPayloadFiles *files;
} Fixture;

static const uint8_t hash[QD_SHA256_BYTES] = { 0xab, 0xcd };

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-files-XXXXXX", NULL);
    self->files = qd_payload_files_new(self->dir);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_payload_files_free(self->files);
    store_remove_folder(self->dir);
    g_free(self->dir);
}

static char *
get_path(const Fixture *self, const uint8_t of[QD_SHA256_BYTES])
{
    char name[2 * QD_SHA256_BYTES + 1];

    qd_sha256_to_hex(of, name);
    return g_build_filename(self->dir, "payload", name, NULL);
}

static QdPayloadTemp
write_temp(const Fixture *self, const char *text)
{
    g_autoptr(GError) error = NULL;
    QdPayloadTemp temp = QD_PAYLOAD_TEMP_NONE;

    (void) qd_payload_files_create(self->files, &temp, &error);
    g_assert_no_error(error);
    (void) qd_payload_files_append(&temp, text, strlen(text), &error);
    g_assert_no_error(error);
    return temp;
}

static void
publish(const Fixture *self, QdPayloadTemp *temp)
{
    g_autoptr(GError) error = NULL;

    (void) qd_payload_files_sync(temp, &error);
    g_assert_no_error(error);
    (void) qd_payload_files_publish(self->files, temp, hash, &error);
    g_assert_no_error(error);
    (void) qd_payload_files_sync_names(self->files, &error);
    g_assert_no_error(error);
}

static void
test_publish(Fixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self, hash);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    gboolean missing = FALSE;
    QdPayloadTemp temp;
    struct stat st;
    g_auto(QdFd) fd = -1;

    g_assert_false(qd_payload_files_exist(self->files));
    temp = write_temp(self, "abc");
    g_assert_true(qd_payload_files_exist(self->files));
    g_assert_cmpint(qd_payload_files_open_content(self->files, hash, 3, &missing, &error), <, 0);
    store_assert_error(error, QW_ERROR_CORRUPT, "missing");
    g_assert_true(missing);
    g_clear_error(&error);

    publish(self, &temp);
    g_assert_cmpint(temp.fd, ==, -1);
    fd = qd_payload_files_open_content(self->files, hash, 3, &missing, &error);
    g_assert_no_error(error);
    g_assert_false(missing);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "abc");
    g_assert_cmpint(fstat(fd, &st), ==, 0);
    g_assert_cmpint(st.st_mode & 0777, ==, 0600);
    g_assert_cmpint(fcntl(fd, F_GETFL) & O_ACCMODE, ==, O_RDONLY);
}

/* Over one of the same content, synced or not. */
static void
test_publish_again(Fixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self, hash);
    g_autoptr(GError) error = NULL;
    struct stat before;
    struct stat after;

    for (guint i = 0; i < 4; i++) {
        QdPayloadTemp temp = write_temp(self, "abc");

        g_assert_cmpint(fstat(temp.fd, &before), ==, 0);
        g_assert_true(i % 2 == 0 || qd_payload_files_sync(&temp, &error));
        g_assert_true(qd_payload_files_publish(self->files, &temp, hash, &error));
        g_assert_no_error(error);
        g_assert_cmpint(temp.fd, ==, -1);
        g_assert_cmpuint(temp.name, ==, 0);
        g_assert_cmpint(stat(path, &after), ==, 0);
        g_assert_cmpuint(before.st_ino, ==, after.st_ino);
        g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 1);
    }
}

static void
test_discard(Fixture *self, gconstpointer data)
{
    QdPayloadTemp temp = write_temp(self, "abc");
    g_autofree char *folder = g_build_filename(self->dir, "payload", NULL);
    int fd = qd_payload_files_open_temp(self->files, &temp);

    g_assert_cmpint(fd, >=, 0);
    (void) close(fd);
    qd_payload_files_discard(self->files, &temp);
    g_assert_cmpint(qd_payload_files_open_temp(self->files, &temp), ==, -1);
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* it was empty */
}

static void
test_damage(Fixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self, hash);
    QdPayloadTemp temp = write_temp(self, "abc");
    g_autoptr(GError) error = NULL;

    publish(self, &temp);
    g_assert_cmpint(qd_payload_files_open_content(self->files, hash, 4, NULL, &error), <, 0);
    store_assert_error(error, QW_ERROR_CORRUPT, "damaged: it should have 4 bytes");
    g_clear_error(&error);

    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(symlink("/etc/passwd", path), ==, 0);
    g_assert_cmpint(qd_payload_files_open_content(self->files, hash, 3, NULL, &error), <, 0);
    store_assert_error(error, QW_ERROR_INTERNAL, "cannot open the payload file");
}

static void
test_list(Fixture *self, gconstpointer data)
{
    g_autofree char *old = g_build_filename(self->dir, "payload", "tmp-1-1", NULL);
    g_autofree char *foreign = g_build_filename(self->dir, "payload", "README", NULL);
    QdPayloadTemp published = write_temp(self, "abc");
    QdPayloadTemp under_way = write_temp(self, "def");
    g_autoptr(GPtrArray) found = NULL;
    gboolean is_complete = FALSE;
    int fd;

    publish(self, &published);
    g_assert_true(g_file_set_contents(old, "x", 1, NULL));
    g_assert_true(g_file_set_contents(foreign, "x", 1, NULL));
    found = qd_payload_files_list(self->files, &is_complete);
    g_assert_true(is_complete);
    g_assert_cmpuint(found->len, ==, 1);
    g_assert_cmpmem(g_bytes_get_data(found->pdata[0], NULL), g_bytes_get_size(found->pdata[0]), hash, sizeof hash);
    g_assert_false(g_file_test(old, G_FILE_TEST_EXISTS));    /* of an earlier process */
    g_assert_true(g_file_test(foreign, G_FILE_TEST_EXISTS)); /* not ours */
    fd = qd_payload_files_open_temp(self->files, &under_way);
    g_assert_cmpint(fd, >=, 0); /* ours, and not finished */
    (void) close(fd);
    qd_payload_files_discard(self->files, &under_way);
}

/* What was opened before it went stays readable. */
static void
test_remove(Fixture *self, gconstpointer data)
{
    QdPayloadTemp temp = write_temp(self, "abc");
    g_autofree char *path = get_path(self, hash);
    g_auto(QdFd) held = -1;
    g_auto(QdFd) fd = -1;
    char text[4] = "";

    g_assert_cmpint(qd_payload_files_hold(self->files, hash), ==, -1);
    publish(self, &temp);
    fd = qd_payload_files_open_content(self->files, hash, 3, NULL, NULL);
    held = qd_payload_files_hold(self->files, hash);
    g_assert_cmpint(held, >=, 0);
    qd_payload_files_remove(self->files, hash);
    qd_payload_files_remove(self->files, hash); /* as well */
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_cmpint(read(fd, text, sizeof text), ==, 3);
    g_assert_cmpstr(text, ==, "abc");
}

/* Adopting ---------------------------------------------------------------------------------------------------------------- */

#define ADOPTED_BYTES 8192u

/* Returns: a descriptor for reading of the same file */
static int
reopen(int fd)
{
    char path[64];

    (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void
fill(int fd)
{
    char content[ADOPTED_BYTES];

    memset(content, 'x', sizeof content);
    g_assert_cmpint(write(fd, content, sizeof content), ==, sizeof content);
}

/* A file without a name, as who stores a payload makes it. -1: this file system has none. */
static int
make_nameless(const Fixture *self, int flags)
{
    return open(self->dir, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
}

static gboolean
adopt(const Fixture *self, int fd, uint64_t size)
{
    QdPayloadTemp temp = QD_PAYLOAD_TEMP_NONE;
    gboolean adopted = qd_payload_files_adopt(self->files, fd, size, &temp);

    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, adopted ? 1 : 0);
    qd_payload_files_discard(self->files, &temp);
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 0);
    return adopted;
}

static void
test_adopt(Fixture *self, gconstpointer data)
{
    g_auto(QdFd) writer = make_nameless(self, 0);
    g_autofree char *path = get_path(self, hash);
    QdPayloadTemp temp = QD_PAYLOAD_TEMP_NONE;
    g_autoptr(GError) error = NULL;
    g_auto(QdFd) reader = -1;
    struct stat before;
    struct stat after;

    if (!store_can_adopt(self->dir)) {
        g_test_skip("no nameless files or no leases here");
        return;
    }
    fill(writer);
    reader = reopen(writer);
    g_assert_false(adopt(self, reader, ADOPTED_BYTES)); /* it can still be written to */
    writer = qd_fd_close(writer);
    g_assert_true(qd_payload_files_adopt(self->files, reader, ADOPTED_BYTES, &temp));
    g_assert_cmpint(fstat(reader, &before), ==, 0);
    g_assert_true(qd_payload_files_sync(&temp, &error));
    g_assert_true(qd_payload_files_publish(self->files, &temp, hash, &error));
    g_assert_cmpint(stat(path, &after), ==, 0);
    g_assert_cmpuint(before.st_ino, ==, after.st_ino);
    g_assert_cmpuint(after.st_nlink, ==, 1);
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 1);
}

/* Their content could change later, or they cannot get a name. */
static void
test_adopt_not(Fixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->dir, "named", NULL);
    g_auto(QdFd) named = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    g_auto(QdFd) named_reader = reopen(named);
    g_auto(QdFd) writer = make_nameless(self, 0);
    g_auto(QdFd) unlinkable = make_nameless(self, O_EXCL);
    g_auto(QdFd) memory = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    g_auto(QdFd) reader = -1;
    void *mapping;

    fill(named);
    named = qd_fd_close(named);
    g_assert_false(adopt(self, named_reader, ADOPTED_BYTES));
    g_assert_cmpint(unlink(path), ==, 0);
    g_assert_false(adopt(self, named_reader, ADOPTED_BYTES));

    fill(memory);
    g_assert_cmpint(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), ==, 0);
    g_assert_false(adopt(self, memory, ADOPTED_BYTES));
    if (!store_can_adopt(self->dir))
        return;

    fill(unlinkable);
    reader = reopen(unlinkable);
    unlinkable = qd_fd_close(unlinkable);
    g_assert_false(adopt(self, reader, ADOPTED_BYTES));
    reader = qd_fd_close(reader);

    fill(writer);
    reader = reopen(writer);
    mapping = mmap(NULL, ADOPTED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0);
    g_assert_true(mapping != MAP_FAILED);
    g_assert_cmpint(ftruncate(writer, 2 * (off_t) ADOPTED_BYTES), ==, 0);
    writer = qd_fd_close(writer);
    g_assert_false(adopt(self, reader, 2 * ADOPTED_BYTES)); /* by the mapping; and it has a hole */
    g_assert_cmpint(munmap(mapping, ADOPTED_BYTES), ==, 0);
    g_assert_false(adopt(self, reader, 2 * ADOPTED_BYTES)); /* a hole */
    g_assert_false(adopt(self, reader, ADOPTED_BYTES));     /* another size */
    g_assert_cmpint(fchmod(reader, 0644), ==, 0);
    g_assert_false(adopt(self, reader, 2 * ADOPTED_BYTES));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/payload/payload-files/publish", Fixture, NULL, set_up, test_publish, tear_down);
    g_test_add("/payload/payload-files/publish-again", Fixture, NULL, set_up, test_publish_again, tear_down);
    g_test_add("/payload/payload-files/discard", Fixture, NULL, set_up, test_discard, tear_down);
    g_test_add("/payload/payload-files/damage", Fixture, NULL, set_up, test_damage, tear_down);
    g_test_add("/payload/payload-files/list", Fixture, NULL, set_up, test_list, tear_down);
    g_test_add("/payload/payload-files/adopt", Fixture, NULL, set_up, test_adopt, tear_down);
    g_test_add("/payload/payload-files/adopt-not", Fixture, NULL, set_up, test_adopt_not, tear_down);
    g_test_add("/payload/payload-files/remove", Fixture, NULL, set_up, test_remove, tear_down);
    return g_test_run();
}
