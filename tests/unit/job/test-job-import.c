/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Imports of rows that fail leave nothing; names are quoted; the errors say what and where.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/engine/engine-fixture.h"

static QdCall *
make_import(const EngineFixture *self, const char *table, const char *text)
{
    QdCall *call = engine_fixture_make_call(self, &qd_import_call, "csv", text);

    call->options.transfer.table = g_strdup(table);
    return call;
}

static void
test_names(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) call = make_import(self, "of \"all\"; DROP TABLE t", "x\"\"y,\"a \"\"b\"\"\"\n1,\"a\"\"b\"\n,é\n");

    call->options.transfer.create = TRUE;
    (void) engine_fixture_run(self, call);
    g_assert_no_error(call->result.error);
    g_assert_cmpuint(call->result.n_rows, ==, 2);
    g_assert_cmpuint(call->result.generation, >, 0);
    engine_fixture_assert_query(self, "SELECT count(*), max(\"a \"\"b\"\"\") FROM \"of \"\"all\"\"; DROP TABLE t\"", "2,é\n");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

static void
test_requests(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdClient) sandboxed = qd_client_new("sandboxed");
    QdCall *call = make_import(self, "t", "a,b\n1,2\n");

    g_free(call->format);
    call->format = g_strdup("yaml");
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "unknown format 'yaml': csv, tsv");
    engine_fixture_fail(self, make_import(self, NULL, "a,b\n1,2\n"), QW_ERROR_BAD_PARAMETER, "option 'table' is missing");
    engine_fixture_fail(self, make_import(self, "", "a,b\n1,2\n"), QW_ERROR_BAD_PARAMETER, "option 'table' is missing");
    engine_fixture_sandbox(sandboxed);
    call = make_import(self, "t", "a,b\n1,2\n");
    qd_client_unref(call->client);
    call->client = qd_client_ref(sandboxed);
    engine_fixture_fail(self, call, QW_ERROR_ACCESS_DENIED, "application 'org.example.Test' may not write in this store");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

static void
test_tables(EngineFixture *self, gconstpointer data)
{
    QdCall *call;

    engine_fixture_fail(self, make_import(self, "none", "a,b\n1,2\n"), QW_ERROR_BAD_PARAMETER,
                        "no table 'none' (option 'create' makes it)");
    call = make_import(self, "none", "1,2\n");
    call->options.transfer.create = TRUE;
    call->options.transfer.header = FALSE;
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "no table 'none', and no column names to make it from");
    call = make_import(self, "queryd_own", "a,b\n1,2\n");
    call->options.transfer.create = TRUE;
    engine_fixture_fail(self, call, QW_ERROR_ACCESS_DENIED, "queryd_own");
    engine_fixture_fail(self, make_import(self, "queryd_meta", "key,value\nx,1\n"), QW_ERROR_ACCESS_DENIED, "queryd_meta");
    engine_fixture_fail(self, make_import(self, "t", "a,c\n1,2\n"), QW_ERROR_SYNTAX, "no column named c");
    engine_fixture_execute(self, "CREATE UNIQUE INDEX one ON t(a)");
    engine_fixture_fail(self, make_import(self, "t", "a,b\n1,2\n2,3\n1,4\n"), QW_ERROR_CONSTRAINT, "4:1: ");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
    engine_fixture_assert_query(self, "SELECT count(*) FROM sqlite_schema WHERE name IN ('none', 'queryd_own')", "0\n");
}

static void
test_source(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_import(self, "t", "a,b\n1,2\n");
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", call->fd);
    g_auto(QdFd) readable G_GNUC_UNUSED = call->fd;

    call->fd = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(call->fd, >=, 0);
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "source is not a descriptor that is open for reading");
}

/* What comes through a pipe is kept in a file first: no more than that may hold. */
static void
test_too_big(EngineFixture *self, gconstpointer data)
{
    static const char line[] = "1,2\n";
    g_autoptr(QdCall) call = NULL;
    gsize n_sent = 0;
    int fds[2];

    self->store.limits.values[QD_LIMIT_TEMP_FILE_BYTES] = 100000;
    engine_fixture_restart(self);
    call = make_import(self, "t", "");
    (void) close(call->fd);
    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    call->fd = fds[0];
    engine_fixture_submit(self, call);
    while (n_sent <= 100000) {
        g_assert_cmpint(write(fds[1], line, 4), ==, 4);
        n_sent += 4;
    }
    engine_fixture_await(self, call);
    (void) close(fds[1]);
    store_assert_error(call->result.error, QW_ERROR_DISK_FULL, "import is too big: the limit 'temp_file_bytes' is 100000 bytes");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

static void
test_cancelled(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_import(self, "t", "a,b\n1,2\n");

    g_atomic_int_set(&call->cancelled, TRUE); /* by qd_engine_cancel(), before its first byte */
    engine_fixture_fail(self, call, QW_ERROR_CANCELLED, "job was cancelled");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

static void
test_timeout(EngineFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("a,b\n");
    QdCall *call;

    for (guint i = 0; i < 200000; i++)
        g_string_append(text, "1,2\n");
    call = make_import(self, "t", text->str);
    call->options.execution.has_timeout = TRUE;
    call->options.execution.timeout_msec = 1;
    engine_fixture_fail(self, call, QW_ERROR_TIMEOUT, "update took longer than its 1 ms");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/job/job-import/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("names", test_names);
    ADD("requests", test_requests);
    ADD("tables", test_tables);
    ADD("source", test_source);
    ADD("too-big", test_too_big);
    ADD("cancelled", test_cancelled);
    ADD("timeout", test_timeout);
    return g_test_run();
}
