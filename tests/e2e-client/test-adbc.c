/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver for ADBC by its entry point, as a driver manager uses it; the driver is that of the environment's QUERYD_ADBC_DRIVER.
 * tests/e2e/test_adbc.py has what needs a driver manager.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "client-lib/adbc/adbc-abi.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

typedef AdbcStatusCode (*InitFunc)(int version, void *driver, struct AdbcError *error);

static PrivateBus *bus;
static InitFunc init_driver;

/* All that a test needs. */
typedef struct World {
    struct AdbcDriver driver;
    struct AdbcDatabase database;
    struct AdbcConnection connection;
    struct AdbcStatement statement;
    struct AdbcError error;
} World;

static void
clear_error(World *self)
{
    if (self->error.release != NULL)
        self->error.release(&self->error);
    memset(&self->error, 0, sizeof self->error);
    self->error.vendor_code = ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
}

static void
check(World *self, AdbcStatusCode status)
{
    g_assert_cmpstr(self->error.message, ==, NULL);
    g_assert_cmpint(status, ==, ADBC_STATUS_OK);
}

static void
check_fails(World *self, AdbcStatusCode status, AdbcStatusCode expected, const char *part)
{
    g_assert_cmpint(status, ==, expected);
    g_assert_nonnull(strstr(self->error.message, part));
    clear_error(self);
}

static void
open_world(World *self)
{
    memset(self, 0, sizeof *self);
    clear_error(self);
    check(self, init_driver(ADBC_VERSION_1_1_0, &self->driver, &self->error));
    check(self, self->driver.DatabaseNew(&self->database, &self->error));
    check(self, self->driver.DatabaseSetOption(&self->database, "uri", "queryd:///", &self->error));
    check(self, self->driver.DatabaseInit(&self->database, &self->error));
    check(self, self->driver.ConnectionNew(&self->connection, &self->error));
    check(self, self->driver.ConnectionInit(&self->connection, &self->database, &self->error));
    check(self, self->driver.StatementNew(&self->connection, &self->statement, &self->error));
}

static void
close_world(World *self)
{
    if (self->statement.private_data != NULL)
        check(self, self->driver.StatementRelease(&self->statement, &self->error));
    if (self->connection.private_data != NULL)
        check(self, self->driver.ConnectionRelease(&self->connection, &self->error));
    check(self, self->driver.DatabaseRelease(&self->database, &self->error));
    check(self, self->driver.release(&self->driver, &self->error));
}

static AdbcStatusCode
try_to_run(World *self, const char *text, struct ArrowArrayStream *stream, int64_t *ret_rows)
{
    check(self, self->driver.StatementSetSqlQuery(&self->statement, text, &self->error));
    return self->driver.StatementExecuteQuery(&self->statement, stream, ret_rows, &self->error);
}

static void
run(World *self, const char *text, int64_t n_rows)
{
    int64_t found = -2;

    check(self, try_to_run(self, text, NULL, &found));
    g_assert_cmpint(found, ==, n_rows);
}

static gint64
query_number(World *self, const char *text)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    gint64 number;

    check(self, try_to_run(self, text, &stream, NULL));
    g_assert_cmpint(stream.get_schema(&stream, &schema), ==, 0);
    g_assert_cmpstr(schema.children[0]->format, ==, "l");
    g_assert_cmpint(stream.get_next(&stream, &batch), ==, 0);
    number = ((const gint64 *) batch.children[0]->buffers[1])[0];
    schema.release(&schema);
    stream.release(&stream);
    batch.release(&batch);
    return number;
}

static void
test_versions(void)
{
    struct AdbcError error = { .message = NULL };
    struct {
        struct AdbcDriver driver;
    } old;

    memset(&old, 0x55, sizeof old);
    g_assert_cmpint(init_driver(ADBC_VERSION_1_0_0, &old.driver, &error), ==, ADBC_STATUS_OK);
    g_assert_nonnull(old.driver.StatementSetSubstraitPlan);
    g_assert_cmphex(*(guint8 *) &old.driver.ErrorGetDetailCount, ==, 0x55); /* what such a caller has no room for */
    g_assert_cmpint(init_driver(5, &old.driver, &error), ==, ADBC_STATUS_NOT_IMPLEMENTED);
    error.release(&error);
    g_assert_null(error.release);
}

static void
test_states(void)
{
    World world;

    memset(&world, 0, sizeof world);
    clear_error(&world);
    check(&world, init_driver(ADBC_VERSION_1_1_0, &world.driver, &world.error));
    check_fails(&world, world.driver.DatabaseInit(&world.database, &world.error), ADBC_STATUS_INVALID_STATE, "not allocated");
    check_fails(&world, world.driver.ConnectionCommit(&world.connection, &world.error), ADBC_STATUS_INVALID_STATE, "not open");
    check_fails(&world, world.driver.StatementNew(&world.connection, &world.statement, &world.error), ADBC_STATUS_INVALID_STATE,
                "not open");
    check_fails(&world, world.driver.StatementPrepare(&world.statement, &world.error), ADBC_STATUS_INVALID_STATE, "not allocated");
    check(&world, world.driver.DatabaseNew(&world.database, &world.error));
    check_fails(&world, world.driver.DatabaseSetOption(&world.database, "uri", "file:///x", &world.error),
                ADBC_STATUS_INVALID_ARGUMENT, "queryd:///STORE");
    check_fails(&world, world.driver.DatabaseSetOption(&world.database, "uri", NULL, &world.error), ADBC_STATUS_INVALID_ARGUMENT,
                "NULL");
    check_fails(&world, world.driver.DatabaseSetOption(&world.database, "x", "y", &world.error), ADBC_STATUS_NOT_IMPLEMENTED,
                "'x'");
    close_world(&world);
    open_world(&world);
    check_fails(&world, world.driver.StatementExecuteQuery(&world.statement, NULL, NULL, &world.error), ADBC_STATUS_INVALID_STATE,
                "no text");
    check_fails(&world, world.driver.ConnectionCommit(&world.connection, &world.error), ADBC_STATUS_INVALID_STATE, "autocommit");
    close_world(&world);
}

static void
test_updates(void)
{
    World world;

    open_world(&world);
    run(&world, "CREATE TABLE number(a INTEGER PRIMARY KEY)", 0);
    run(&world, "INSERT INTO number VALUES(1), (2), (3)", 3);
    g_assert_cmpint(query_number(&world, "SELECT sum(a) FROM number"), ==, 6);
    check(&world, world.driver.ConnectionSetOption(&world.connection, "adbc.connection.autocommit", "false", &world.error));
    run(&world, "DELETE FROM number", 3);
    g_assert_cmpint(query_number(&world, "SELECT count(*) FROM number"), ==, 0);
    check(&world, world.driver.ConnectionRollback(&world.connection, &world.error));
    g_assert_cmpint(query_number(&world, "SELECT count(*) FROM number"), ==, 3);
    run(&world, "DELETE FROM number WHERE a = 1", 1);
    check(&world, world.driver.ConnectionCommit(&world.connection, &world.error));
    g_assert_cmpint(query_number(&world, "SELECT count(*) FROM number"), ==, 2);
    close_world(&world);
}

static const char *
get_detail(World *self, const char *key)
{
    for (int i = 0; i < self->driver.ErrorGetDetailCount(&self->error); i++) {
        struct AdbcErrorDetail detail = self->driver.ErrorGetDetail(&self->error, i);

        if (strcmp(detail.key, key) == 0)
            return (const char *) detail.value;
    }
    return NULL;
}

static void
test_errors(void)
{
    struct AdbcError old = { .message = NULL };
    World world;

    open_world(&world);
    run(&world, "CREATE TABLE single(a NOT NULL)", 0);
    g_assert_cmpint(try_to_run(&world, "INSERT INTO single VALUES(NULL)", NULL, NULL), ==, ADBC_STATUS_INTEGRITY);
    g_assert_cmpmem(world.error.sqlstate, 5, "23502", 5);
    g_assert_cmpstr(get_detail(&world, "queryd.constraint"), ==, "NOT_NULL");
    g_assert_cmpstr(get_detail(&world, "queryd.constraint.column"), ==, "a");
    g_assert_null(world.driver.ErrorGetDetail(&world.error, 100).key);
    clear_error(&world);
    check(&world, world.driver.StatementSetOption(&world.statement, "queryd.language", "sparql", &world.error));
    g_assert_cmpint(try_to_run(&world, "SELECT *\nWHERE { ?s ?p }", NULL, NULL), ==, ADBC_STATUS_INVALID_ARGUMENT);
    g_assert_cmpstr(get_detail(&world, "queryd.line"), ==, "2");
    clear_error(&world);
    /* a caller of 1.0.0, whose struct ends before private_data */
    g_assert_cmpint(world.driver.StatementSetOption(&world.statement, "x", "y", &old), ==, ADBC_STATUS_NOT_IMPLEMENTED);
    g_assert_null(old.private_data);
    g_assert_cmpint(world.driver.StatementSetOption(&world.statement, "x", "y", &old), ==, ADBC_STATUS_NOT_IMPLEMENTED);
    old.release(&old);
    g_assert_cmpint(world.driver.StatementSetOption(&world.statement, "x", "y", NULL), ==, ADBC_STATUS_NOT_IMPLEMENTED);
    close_world(&world);
}

/* A failure amid a stream has its details, too. */
static void
test_stream_fails(void)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    AdbcStatusCode status = ADBC_STATUS_OK;
    const struct AdbcError *error;
    World world;
    int r;

    open_world(&world);
    check(&world, try_to_run(&world,
                             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) "
                             "SELECT i, 'text ' || i FROM n",
                             &stream, NULL));
    g_assert_cmpint(stream.get_next(&stream, &batch), ==, 0);
    batch.release(&batch);
    check(&world, world.driver.StatementCancel(&world.statement, &world.error));
    while ((r = stream.get_next(&stream, &batch)) == 0)
        batch.release(&batch);
    g_assert_cmpint(r, ==, ECANCELED);
    error = world.driver.ErrorFromArrayStream(&stream, &status);
    g_assert_cmpint(status, ==, ADBC_STATUS_CANCELLED);
    g_assert_cmpstr(error->message, ==, stream.get_last_error(&stream));
    stream.release(&stream);
    g_assert_cmpint(query_number(&world, "SELECT 42"), ==, 42);
    close_world(&world);
}

/* In a transaction a stream goes on while others run. */
static void
test_stream_in_a_transaction(void)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t n_rows = 0;
    World world;

    open_world(&world);
    run(&world, "CREATE TABLE beside(a)", 0);
    check(&world, world.driver.ConnectionSetOption(&world.connection, "adbc.connection.autocommit", "false", &world.error));
    run(&world, "INSERT INTO beside VALUES(1)", 1);
    check(&world, try_to_run(&world, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) SELECT i FROM n",
                             &stream, NULL));
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        n_rows += batch.length;
        batch.release(&batch);
        run(&world, "UPDATE beside SET a = a + 1", 1);
    }
    g_assert_cmpint(n_rows, ==, 300000);
    stream.release(&stream);
    check(&world, world.driver.ConnectionCommit(&world.connection, &world.error));
    close_world(&world);
}

/* Streams outlive the statement, connection and database that they are from. */
static void
test_release_order(void)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    World world;

    open_world(&world);
    check(&world, try_to_run(&world, "SELECT 1 UNION ALL SELECT 2", &stream, NULL));
    close_world(&world);
    g_assert_cmpint(stream.get_next(&stream, &batch), ==, 0);
    g_assert_cmpint(batch.length, ==, 2);
    stream.release(&stream);
    batch.release(&batch);
}

static void
release_nothing(struct ArrowArray *array)
{
    array->release = NULL;
}

static void
release_no_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* A batch that begins amid its buffers, with a column of 16-bit numbers and one of texts. */
static void
test_bind(void)
{
    gint16 numbers[] = { -1, 7, -300, 9 };
    gint32 offsets[] = { 0, 1, 3, 3, 5 };
    guint8 valid[] = { 0x0b };
    const void *number_buffers[] = { NULL, numbers }, *text_buffers[] = { valid, offsets, "abcde" }, *no_buffers[] = { NULL };
    struct ArrowSchema fields[] = { { .format = "s", .name = "n", .release = release_no_schema },
                                    { .format = "u", .name = "t", .release = release_no_schema } };
    struct ArrowSchema *field_list[] = { &fields[0], &fields[1] };
    struct ArrowSchema schema = { .format = "+s", .n_children = 2, .children = field_list, .release = release_no_schema };
    struct ArrowArray columns[] = {
        { .length = 3, .offset = 1, .n_buffers = 2, .buffers = number_buffers, .release = release_nothing },
        { .length = 3, .null_count = -1, .offset = 1, .n_buffers = 3, .buffers = text_buffers, .release = release_nothing },
    };
    struct ArrowArray *column_list[] = { &columns[0], &columns[1] };
    struct ArrowArray batch = { .length = 2, .offset = 1, .n_buffers = 1, .n_children = 2, .buffers = no_buffers };
    int64_t n_rows;
    World world;

    batch.children = column_list;
    batch.release = release_nothing;
    open_world(&world);
    check(&world, world.driver.StatementSetOption(&world.statement, "adbc.ingest.target_table", "bound", &world.error));
    check(&world, world.driver.StatementBind(&world.statement, &batch, &schema, &world.error));
    check(&world, world.driver.StatementExecuteQuery(&world.statement, NULL, &n_rows, &world.error));
    g_assert_cmpint(n_rows, ==, 2);
    g_assert_cmpint(query_number(&world, "SELECT count(*) FROM bound WHERE (n, t) IN ((9, 'de')) OR (n = -300 AND t IS NULL)"), ==,
                    2);
    close_world(&world);
}

int
main(int argc, char **argv)
{
    void *module;
    int r;

    g_test_init(&argc, &argv, NULL);
    module = dlopen(g_getenv("QUERYD_ADBC_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    g_assert_nonnull(module);
    init_driver = (InitFunc) dlsym(module, "AdbcDriverQuerydInit");
    g_assert_nonnull(init_driver);
    bus = private_bus_new();
    g_test_add_func("/adbc/versions", test_versions);
    g_test_add_func("/adbc/states", test_states);
    g_test_add_func("/adbc/updates", test_updates);
    g_test_add_func("/adbc/errors", test_errors);
    g_test_add_func("/adbc/stream-fails", test_stream_fails);
    g_test_add_func("/adbc/stream-in-a-transaction", test_stream_in_a_transaction);
    g_test_add_func("/adbc/release-order", test_release_order);
    g_test_add_func("/adbc/bind", test_bind);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
