/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Imports and dumps of RDF that cannot be, and the report of one that was.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/engine/engine-fixture.h"

#define COUNT "SELECT count(*) FROM queryd_quad"
#define QUAD "<urn:s> <urn:p> \"o\" .\n"
#define N_MANY 60000

static void
reopen(QdCall *call, int flags)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", call->fd);
    int fd = open(path, flags | O_CLOEXEC);

    g_assert_cmpint(fd, >=, 0);
    (void) close(call->fd);
    call->fd = fd;
}

static void
test_descriptors(EngineFixture *self, gconstpointer data)
{
    QdCall *call = engine_fixture_make_call(self, &qd_import_call, "nquads", QUAD);

    reopen(call, O_WRONLY);
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "source is not a descriptor that is open for reading");
    call = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");
    reopen(call, O_RDONLY);
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "target is not a descriptor that is open for writing");
}

static void
test_requests(EngineFixture *self, gconstpointer data)
{
    QdCall *call = engine_fixture_make_call(self, &qd_dump_call, "csv", "");

    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER,
                        "unknown format 'csv': turtle, trig, ntriples, nquads, rdfxml and jsonld are known");
    call = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");
    call->options.transfer.graph = g_strdup("no iri");
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "option 'graph' is no absolute IRI: 'no iri'");
    call = engine_fixture_make_call(self, &qd_import_call, "nquads", QUAD);
    call->options.transfer.table = g_strdup("t");
    engine_fixture_fail(self, call, QW_ERROR_BAD_PARAMETER, "option 'table' is not for the format 'nquads'");
    engine_fixture_sandbox(self->client);
    call = engine_fixture_make_call(self, &qd_import_call, "nquads", QUAD);
    engine_fixture_fail(self, call, QW_ERROR_ACCESS_DENIED, "application 'org.example.Test' may not write in this store");
    call = engine_fixture_make_call(self, &qd_import_call, "nquads", QUAD);
    call->options.transfer.check_only = TRUE; /* which writes nothing */
    g_assert_true(engine_fixture_run(self, call));
    g_assert_cmpuint(call->result.n_rows, ==, 1);
    qd_call_free(call);
    engine_fixture_assert_query(self, COUNT, "0\n");
}

/* (transfer full): an import that has read some of its document, and waits for the rest to come through *@ret_writer. */
static QdCall *
start_import(EngineFixture *self, const char *text, int *ret_writer)
{
    QdCall *call = engine_fixture_make_call(self, &qd_import_call, "nquads", "");
    int fds[2];

    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    (void) close(call->fd);
    call->fd = fds[0];
    *ret_writer = fds[1];
    g_assert_true(qd_fd_write_all(fds[1], text, strlen(text)));
    engine_fixture_submit(self, call);
    while (__atomic_load_n(&call->progress.bytes_done, __ATOMIC_RELAXED) < strlen(text))
        engine_fixture_iterate(self, 1);
    return call;
}

/* Its terms were looked up in a database that is not there any more. */
static void
test_restored_meanwhile(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdClient) other = qd_client_new("other");
    g_autoptr(QdCall) backup = engine_fixture_make_call(self, &qd_backup_call, NULL, "");
    g_autoptr(QdCall) restore = qd_call_new(&qd_restore_call, other);
    g_autoptr(QdCall) import = NULL;
    g_auto(QdFd) writer = -1;

    g_assert_true(engine_fixture_run(self, backup));
    restore->fd = qd_fd_dup(backup->fd);
    g_assert_cmpint(lseek(restore->fd, 0, SEEK_SET), ==, 0);
    import = start_import(self, QUAD, &writer);
    g_assert_true(engine_fixture_run(self, restore));
    writer = qd_fd_close(writer);
    engine_fixture_await(self, import);
    store_assert_error(import->result.error, QW_ERROR_BUSY,
                       "the database was restored while the document was read: nothing is imported");
    g_assert_cmpuint(import->result.n_rows, ==, 0);
    engine_fixture_assert_query(self, COUNT, "0\n");
}

static char *
make_many(void)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < N_MANY; i++)
        g_string_append_printf(text, "<urn:s:%u> <urn:p> \"%u\" <urn:g> .\n", i, i);
    return g_string_free(text, FALSE);
}

/* The writer's time, not that of the document, which is read before. */
static void
test_timeout(EngineFixture *self, gconstpointer data)
{
    g_autofree char *many = make_many();
    QdCall *call = engine_fixture_make_call(self, &qd_import_call, "nquads", many);
    g_autoptr(QdCall) again = engine_fixture_make_call(self, &qd_import_call, "nquads", many);

    call->options.execution.has_timeout = TRUE;
    call->options.execution.timeout_msec = 1;
    engine_fixture_fail(self, call, QW_ERROR_TIMEOUT, "update took longer than its 1 ms");
    engine_fixture_assert_query(self, COUNT, "0\n");
    g_assert_true(engine_fixture_run(self, again));
    g_assert_cmpuint(again->result.n_rows, ==, N_MANY);
    engine_fixture_assert_query(self, COUNT, G_STRINGIFY(N_MANY) "\n");
}

/* Named by a blank node it has no name that others could ask for, but its quads are there. */
static void
test_blank_graph(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) import = engine_fixture_make_call(self, &qd_import_call, "nquads", "<urn:s> <urn:p> <urn:o> _:g .\n");
    g_autoptr(QdCall) dump = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");
    char text[200] = { 0 };

    g_assert_true(engine_fixture_run(self, import));
    g_assert_cmpuint(import->result.generation, >, 0);
    g_assert_true(engine_fixture_run(self, dump));
    g_assert_cmpuint(dump->result.n_rows, ==, 1);
    g_assert_cmpint(pread(dump->fd, text, sizeof text - 1, 0), ==, (gssize) dump->result.n_bytes);
    g_assert_true(g_str_has_prefix(text, "<urn:s> <urn:p> <urn:o> _:"));
}

static void
test_dump_of_an_unknown_graph(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) import = engine_fixture_make_call(self, &qd_import_call, "nquads", QUAD);
    g_autoptr(QdCall) dump = engine_fixture_make_call(self, &qd_dump_call, "nquads", "");

    g_assert_true(engine_fixture_run(self, import));
    dump->options.transfer.graph = g_strdup("urn:absent");
    g_assert_true(engine_fixture_run(self, dump));
    g_assert_cmpuint(dump->result.n_rows, ==, 0);
    g_assert_cmpuint(dump->result.n_bytes, ==, 0);
}

/* A quad whose term is lost: an error that names it, and no document that looks whole. */
static void
test_dump_of_a_damaged_store(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall)
        import = engine_fixture_make_call(self, &qd_import_call, "nquads", "<urn:s> <urn:p> \"a literal of its own\" <urn:g> .\n");

    g_assert_true(engine_fixture_run(self, import));
    engine_fixture_stop(self);
    store_fixture_open(&self->store);
    store_execute(self->store.writer, "DELETE FROM queryd_term WHERE lexical='urn:s'");
    store_fixture_close(&self->store);
    engine_fixture_start(self);
    engine_fixture_fail(self, engine_fixture_make_call(self, &qd_dump_call, "nquads", ""), QW_ERROR_CORRUPT, "term");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) g_test_add("/job/job-rdf/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("descriptors", test_descriptors);
    ADD("requests", test_requests);
    ADD("restored-meanwhile", test_restored_meanwhile);
    ADD("timeout", test_timeout);
    ADD("blank-graph", test_blank_graph);
    ADD("dump/unknown-graph", test_dump_of_an_unknown_graph);
    ADD("dump/damaged-store", test_dump_of_a_damaged_store);
    return g_test_run();
}
