/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of libquery-client that are cancelled before, at and after their start: when they return, the daemon has ended them.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define ROUNDS 30
#define STEP_USEC 40 /* each round is cancelled so much later */
#define N_SUBSCRIPTIONS 200
#define LONG_USEC 200000
/* After which what went on in secret would show. */
#define LATER_USEC 300000

static PrivateBus *bus;

static int
make_rows(void)
{
    int fd = memfd_create("rows", MFD_CLOEXEC);

    g_assert_cmpint(dprintf(fd, "a\n"), >, 0);
    for (guint i = 0; i < 1000; i++)
        g_assert_cmpint(dprintf(fd, "%u\n", i), >, 0);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    return fd;
}

static int
make_backup(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    int fd = memfd_create("backup", MFD_CLOEXEC);

    g_assert_true(query_connection_backup(connection, fd, NULL, NULL, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    return fd;
}

static gint64
get_stat(QueryConnection *connection, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) stats = query_connection_get_stats(connection, NULL, &error);
    guint64 n = G_MAXUINT64;

    g_assert_no_error(error);
    g_assert_true(g_variant_lookup(stats, name, "t", &n));
    return (gint64) n;
}

static void
assert_cancelled(gboolean ok, GError **error)
{
    g_assert_false(ok);
    g_assert_error(*error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_clear_error(error);
}

static GVariant *
into_table(void)
{
    return g_variant_new_parsed("{'table': <'t'>}");
}

/* Nothing is sent. */
static void
test_before(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(GCancellable) gone = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    int backup = make_backup(connection);
    int rows = make_rows();
    int out = memfd_create("out", MFD_CLOEXEC);

    client_execute(connection, "INSERT INTO t VALUES('kept')");
    g_cancellable_cancel(gone);
    assert_cancelled(query_connection_import(connection, rows, "csv", into_table(), NULL, NULL, NULL, gone, &error), &error);
    assert_cancelled(query_connection_restore(connection, backup, FALSE, NULL, NULL, gone, &error), &error);
    assert_cancelled(query_connection_backup(connection, out, NULL, NULL, gone, &error), &error);
    assert_cancelled(query_connection_export(connection, SQL, "SELECT 1", "csv", out, NULL, NULL, NULL, gone, &error), &error);
    assert_cancelled(query_connection_store_payload_from_fd(connection, rows, NULL, gone, &error) >= 0, &error);
    assert_cancelled(query_connection_set_full_text(connection, g_variant_new_parsed("{'all': <true>}"), gone, &error), &error);
    assert_cancelled(query_connection_optimize(connection, FALSE, gone, &error), &error);
    assert_cancelled(query_connection_subscribe(connection, SQL, "SELECT 1", gone, &error) != NULL, &error);
    g_usleep(LATER_USEC);
    g_assert_cmpint(get_stat(connection, "subscriptions"), ==, 0);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM queryd_payload"), ==, 0);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM queryd_fulltext"), ==, 0);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 1);
    g_assert_cmpint(lseek(out, 0, SEEK_END), ==, 0);
    (void) close(backup);
    (void) close(rows);
    (void) close(out);
}

/* FALSE: nothing was imported, and nothing will be. */
static void
test_import(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    guint n_cancelled = 0;

    for (guint i = 0; i < ROUNDS; i++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        ClientKiller killer = { cancellable, i * STEP_USEC };
        GThread *thread = g_thread_new("kill", client_kill_later, &killer);
        int rows = make_rows();
        gboolean ok = query_connection_import(connection, rows, "csv", into_table(), NULL, NULL, NULL, cancellable, &error);

        (void) g_thread_join(thread);
        n_cancelled += !ok;
        g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, ok ? 1000 : 0);
        g_usleep(LATER_USEC / 10);
        g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, ok ? 1000 : 0);
        client_execute(connection, "DELETE FROM t");
        (void) close(rows);
    }
    g_assert_cmpuint(n_cancelled, >, 0);
}

/* An update after a cancelled restore is kept. */
static void
test_restore(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    int backup = make_backup(connection);

    for (guint i = 0; i < ROUNDS; i++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        ClientKiller killer = { cancellable, i * STEP_USEC };
        GThread *thread = g_thread_new("kill", client_kill_later, &killer);
        gint64 n_before;

        (void) query_connection_restore(connection, backup, FALSE, NULL, NULL, cancellable, &error);
        (void) g_thread_join(thread);
        n_before = client_query_number(connection, "SELECT count(*) FROM t");
        client_execute(connection, "INSERT INTO t SELECT 1 + coalesce(max(a), 0) FROM t");
        g_usleep(LATER_USEC / 10);
        g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, n_before + 1);
        g_assert_cmpint(lseek(backup, 0, SEEK_SET), ==, 0);
    }
    (void) close(backup);
}

static void
test_subscriptions(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    guint n_cancelled = 0;

    for (guint i = 0; i < N_SUBSCRIPTIONS; i++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        ClientKiller killer = { cancellable, i * 3 };
        GThread *thread = g_thread_new("kill", client_kill_later, &killer);
        g_autoptr(QuerySubscription) made = query_connection_subscribe(connection, SQL, "SELECT * FROM t", cancellable, &error);

        (void) g_thread_join(thread);
        n_cancelled += made == NULL;
    }
    g_assert_cmpuint(n_cancelled, >, 0);
    for (guint i = 0; i < 100 && get_stat(connection, "subscriptions") > 0; i++)
        g_usleep(LATER_USEC / 100);
    g_assert_cmpint(get_stat(connection, "subscriptions"), ==, 0);
}

/* Of a daemon that does not answer: it ends what it begins later, since the connection to the bus is gone. */
static void
test_stuck(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    ClientKiller killer = { cancellable, LONG_USEC };
    int backup = make_backup(connection);
    pid_t pid = private_bus_get_owner_pid(bus, "org.queryd.Query1");
    GThread *thread;

    client_execute(connection, "INSERT INTO t VALUES('kept')");
    private_bus_stop(pid);
    thread = g_thread_new("kill", client_kill_later, &killer);
    assert_cancelled(query_connection_restore(connection, backup, FALSE, NULL, NULL, cancellable, &error), &error);
    (void) g_thread_join(thread);
    g_assert_cmpint(kill(pid, SIGCONT), ==, 0);
    g_usleep(LATER_USEC);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 1);
    (void) close(backup);
}

/* The daemon writes no byte more when the call has returned, and its place is free. */
static void
test_export(void)
{
    const char *text = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(randomblob(100)) FROM n";
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    ClientKiller killer = { cancellable, LONG_USEC };
    GThread *thread = g_thread_new("kill", client_kill_later, &killer);
    int out = memfd_create("out", MFD_CLOEXEC);
    struct stat before, after;

    assert_cancelled(query_connection_export(connection, SQL, text, "csv", out, NULL, NULL, NULL, cancellable, &error), &error);
    g_assert_cmpint(fstat(out, &before), ==, 0);
    (void) g_thread_join(thread);
    g_assert_true(query_connection_export(connection, SQL, "SELECT 1", "csv", STDERR_FILENO, NULL, NULL, NULL, NULL, &error));
    g_assert_no_error(error);
    g_usleep(LATER_USEC);
    g_assert_cmpint(fstat(out, &after), ==, 0);
    g_assert_cmpint(before.st_size, >, 0);
    g_assert_cmpint(after.st_size, ==, before.st_size);
    (void) close(out);
}

/* From a pipe that gives nothing: it is not read any more, and the next payload is stored. */
static void
test_store(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    char byte = 'a';
    int fds[2];

    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    for (guint i = 0; i < 4; i++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        ClientKiller killer = { cancellable, LONG_USEC / 4 };
        GThread *thread = g_thread_new("kill", client_kill_later, &killer);

        assert_cancelled(query_connection_store_payload_from_fd(connection, fds[0], NULL, cancellable, &error) >= 0, &error);
        (void) g_thread_join(thread);
    }
    g_assert_cmpint(write(fds[1], &byte, 1), ==, 1);
    g_usleep(LATER_USEC);
    g_assert_cmpint(read(fds[0], &byte, 1), ==, 1);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM queryd_payload"), ==, 0);
    (void) close(fds[0]);
    (void) close(fds[1]);
}

int
main(int argc, char **argv)
{
    int status;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-e2e/cancelled/before", test_before);
    g_test_add_func("/client-e2e/cancelled/import", test_import);
    g_test_add_func("/client-e2e/cancelled/restore", test_restore);
    g_test_add_func("/client-e2e/cancelled/subscriptions", test_subscriptions);
    g_test_add_func("/client-e2e/cancelled/stuck", test_stuck);
    g_test_add_func("/client-e2e/cancelled/export", test_export);
    g_test_add_func("/client-e2e/cancelled/store", test_store);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
