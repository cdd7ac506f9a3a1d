/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs of libquery-client with the real daemon: import, export, backup and restore, their ends and their traces.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL

static PrivateBus *bus;

static void
count_progress(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    (*(guint *) user_data)++;
}

static int
make_file(const char *text)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, text, strlen(text)), ==, (gssize) strlen(text));
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    return fd;
}

static void
test_import_export(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GError) error = NULL;
    int good = make_file("a,b\n1,x\n2,y\n");
    int bad = make_file("a,b\n1,x,surplus\n");
    int out = memfd_create("test", MFD_CLOEXEC);
    guint64 n_rows = 0;
    guint64 n_bytes = 0;
    guint n_reports = 0;
    char text[64] = "";

    g_assert_true(query_connection_import(connection, good, "csv", g_variant_new_parsed("{'table': <'filled'>, 'create': <true>}"),
                                          count_progress, &n_reports, &n_rows, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(n_rows, ==, 2);
    g_assert_cmpuint(n_reports, >, 0);
    g_assert_false(query_connection_import(connection, bad, "csv", g_variant_new_parsed("{'table': <'filled'>}"), NULL, NULL, NULL,
                                           NULL, &error));
    g_assert_nonnull(error);
    g_clear_error(&error);

    g_assert_true(query_connection_export(connection, SQL, "SELECT * FROM filled ORDER BY b DESC", "csv", out, NULL, &n_rows,
                                          &n_bytes, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(n_rows, ==, 2);
    g_assert_cmpint(pread(out, text, sizeof text - 1, 0), ==, (gssize) n_bytes);
    g_assert_nonnull(strstr(text, "2,y"));
    (void) close(good);
    (void) close(bad);
    (void) close(out);
}

/* An import from a pipe that never ends is cancelled, and has ended when the call returns. */
static void
test_import_cancel(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    guint64 n_rows;
    int fds[2];

    client_execute(connection, "CREATE TABLE endless(a)");
    g_assert_cmpint(pipe(fds), ==, 0);
    g_assert_cmpint(write(fds[1], "a\n1\n", 4), ==, 4);
    g_cancellable_cancel(cancellable);
    g_assert_false(query_connection_import(connection, fds[0], "csv", g_variant_new_parsed("{'table': <'endless'>}"), NULL, NULL,
                                           &n_rows, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM endless"), ==, 0);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

static void
cancel_from_progress(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    g_cancellable_cancel(user_data);
}

static void
test_import_cancel_running(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    int fds[2];

    client_execute(connection, "CREATE TABLE open_ended(a)");
    g_assert_cmpint(pipe(fds), ==, 0);
    g_assert_cmpint(write(fds[1], "a\n1\n", 4), ==, 4);
    g_assert_false(query_connection_import(connection, fds[0], "csv", g_variant_new_parsed("{'table': <'open_ended'>}"),
                                           cancel_from_progress, cancellable, NULL, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM open_ended"), ==, 0);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

static void
kill_from_progress(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    guint *n_reports = user_data;

    if ((*n_reports)++ == 0)
        private_bus_kill_daemon(bus, SIGKILL);
}

static void
test_import_killed(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GError) error = NULL;
    guint n_reports = 0;
    int fds[2];

    client_execute(connection, "CREATE TABLE orphaned(a)");
    g_assert_cmpint(pipe(fds), ==, 0);
    g_assert_false(query_connection_import(connection, fds[0], "csv", g_variant_new_parsed("{'table': <'orphaned'>}"),
                                           kill_from_progress, &n_reports, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

static void
test_backup(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autofree char *path = g_build_filename(private_bus_get_folder(bus), "backup.db", NULL);
    g_autoptr(GError) error = NULL;
    char head[16];
    guint n_reports = 0;
    int fd = g_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    g_assert_true(query_connection_backup(connection, fd, count_progress, &n_reports, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(pread(fd, head, sizeof head, 0), ==, sizeof head);
    g_assert_cmpmem(head, 15, "SQLite format 3", 15);
    (void) close(fd);
}

static void
keep_bytes(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    ((guint64 *) user_data)[0] = bytes_done;
    ((guint64 *) user_data)[1] = bytes_total;
}

static void
remove_payload_files(void)
{
    g_autofree char *folder = g_build_filename(g_get_user_data_dir(), "queryd", "payload", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
    const char *name;

    g_assert_no_error(error);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        g_assert_cmpint(g_unlink(path), ==, 0);
    }
}

/* What a restore reports: the payloads that lack their files, and its last figures. */
static void
test_restore_messages(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autofree guint8 *data = g_malloc0(200000);
    g_autoptr(GBytes) content = g_bytes_new_static(data, 200000);
    g_auto(GStrv) none = NULL;
    g_auto(GStrv) missing = NULL;
    g_autofree char *name = NULL;
    g_autoptr(GError) error = NULL;
    int junk = make_file("no database");
    int fd = memfd_create("backup", MFD_CLOEXEC);
    guint64 n_bytes[2] = { 0 };
    gint64 id = query_connection_store_payload(connection, content, NULL, NULL, &error);

    g_assert_no_error(error);
    g_assert_true(query_connection_backup(connection, fd, keep_bytes, n_bytes, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(n_bytes[0], ==, n_bytes[1]);
    g_assert_cmpuint(n_bytes[0], ==, 2 * (guint64) lseek(fd, 0, SEEK_END));

    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    g_assert_true(query_connection_restore_full(connection, fd, TRUE, NULL, NULL, &none, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(g_strv_length(none), ==, 0);
    remove_payload_files();
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    g_assert_true(query_connection_restore_full(connection, fd, FALSE, keep_bytes, n_bytes, &missing, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(g_strv_length(missing), ==, 1);
    name = g_strdup_printf("payload %" G_GINT64_FORMAT ": ", id);
    g_assert_true(g_str_has_prefix(missing[0], name));
    g_assert_cmpuint(n_bytes[0], ==, n_bytes[1]);

    g_clear_pointer(&missing, g_strfreev);
    g_assert_false(query_connection_restore_full(connection, junk, FALSE, NULL, NULL, &missing, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CORRUPT);
    g_assert_null(missing);
    (void) close(junk);
    (void) close(fd);
}

int
main(int argc, char **argv)
{
    int status;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-e2e/jobs/import-export", test_import_export);
    g_test_add_func("/client-e2e/jobs/import-cancel", test_import_cancel);
    g_test_add_func("/client-e2e/jobs/import-cancel-running", test_import_cancel_running);
    g_test_add_func("/client-e2e/jobs/import-killed", test_import_killed);
    g_test_add_func("/client-e2e/jobs/backup", test_backup);
    g_test_add_func("/client-e2e/jobs/restore-messages", test_restore_messages);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
