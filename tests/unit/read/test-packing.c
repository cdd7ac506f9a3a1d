/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packed results against plain ones: the same rows, in the same order, each once, for each form of statement.
 *
 * Pages are small, so that in each result many rows do not fit and have to wait for the next one.
 */
#include "daemon/read/packing.h"

#include <string.h>

#include "daemon/read/bind.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/read/row-source.h"
#include "daemon/read/run.h"
#include "tests/unit/store/store-fixture.h"

#define PAGE_BYTES 512

typedef struct Fixture {
    StoreFixture store;
    QdPool *pool;
    QdClient *client;
} Fixture;

static const char schema[] = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, c REAL);"
                             "CREATE TABLE u(x, y);"
                             "CREATE INDEX ux ON u(x);"
                             "CREATE INDEX ta ON t(a);"
                             "CREATE VIEW v AS SELECT a, b FROM t WHERE c > 20;"
                             "CREATE VIRTUAL TABLE f USING fts5(q, w);"
                             "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 300)"
                             "  INSERT INTO t SELECT i, i % 7, 'text ' || i, i * 1.5 FROM k;"
                             "INSERT INTO t VALUES(1001, NULL, '', -1e300), (1002, X'00ff', 'a' || char(0) || 'b', 0.1), (1003, "
                             "X'', CAST(X'61ff62' AS TEXT), 2);"
                             "INSERT INTO u SELECT a, b FROM t ORDER BY id DESC LIMIT 40;"
                             "INSERT INTO f SELECT b, b || ' word' FROM t LIMIT 30;";

static void
set_up(Fixture *self, gconstpointer data)
{
    QdConnectionInfo info;

    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, schema);
    info = qd_database_get_info(self->store.database);
    self->pool = qd_pool_new(&info, &self->store.limits);
    self->client = qd_client_new("one");
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    qd_pool_free(self->pool);
    qd_client_unref(self->client);
    store_fixture_tear_down(&self->store, NULL);
}

/* What a run gave: the rows' bytes one after the other, as on the wire. */
typedef struct Result {
    GByteArray *rows;
    guint n_rows;
    GError *error;
    gboolean packed;
    gboolean truncated;
    gboolean new_schema;
} Result;

static void
result_clear(Result *self)
{
    g_byte_array_unref(self->rows);
    g_clear_error(&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static QdRun *
new_run(Fixture *self, const char *text, GError **error)
{
    const QdRunText what = { .text = text, .n_bytes = strlen(text) };

    return qd_run_new(self->pool, self->client, NULL, &what, QD_POLICY_READ, &self->store.limits, error);
}

static QdParameters *
make_numbers(guint n)
{
    QdParameters *parameters = qd_parameters_new();

    for (guint i = 1; i <= n; i++) {
        g_autofree char *name = g_strdup_printf("%u", i);

        qd_parameters_add(parameters, name, &(QwValue){ .type = QW_TYPE_INTEGER, .integer = i });
    }
    return parameters;
}

static QdRunStatus
fill(QdRun *run, gsize capacity, Result *result)
{
    g_autofree uint8_t *data = g_malloc(capacity);
    QwPageWriter page;
    QdRunStatus status;

    qw_page_writer_init(&page, data, capacity, 0);
    status = qd_run_fill(run, &page, SIZE_MAX, G_USEC_PER_SEC, &result->error);
    g_byte_array_append(result->rows, data + QW_HEADER_SIZE, (guint) (page.used - QW_HEADER_SIZE));
    result->n_rows += page.n_rows;
    return status;
}

/* @packed: as if an earlier run had given much. */
static void
read_all(Fixture *self, const char *text, gboolean packed, QdRunOptions options, Result *ret_result)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdParameters) numbers = NULL; /* outlives the run */
    g_autoptr(QdRun) run = new_run(self, text, &error);
    QdRunStatus status;
    size_t size;

    g_assert_no_error(error);
    options.may_pack = packed;
    qd_run_set_options(run, &options);
    qd_run_get_compiled(run)->wrapped.gives_much = packed;
    numbers = make_numbers(qd_run_get_shape(run).n_parameters);
    g_assert_true(qd_run_bind_parameters(run, numbers, NULL));
    *ret_result = (Result){ .rows = g_byte_array_new() };
    do {
        status = fill(run, PAGE_BYTES, ret_result);
        if (status == QD_RUN_LARGE && qd_run_get_row_size(run, PAGE_BYTES, &size, &ret_result->error))
            status = fill(run, size, ret_result);
    } while (status != QD_RUN_DONE && status != QD_RUN_FAILED);
    g_assert_cmpuint(qd_run_get_n_rows(run), ==, ret_result->n_rows);
    g_assert_true((status == QD_RUN_FAILED) == (ret_result->error != NULL));
    ret_result->packed = qd_run_get_compiled(run)->wrapped.stmt != NULL;
    ret_result->truncated = qd_run_is_truncated(run);
    ret_result->new_schema = qd_run_has_new_schema(run);
}

static void
assert_equal(const Result *a, const Result *b)
{
    g_assert_cmpmem(a->rows->data, a->rows->len, b->rows->data, b->rows->len);
    g_assert_cmpuint(a->n_rows, ==, b->n_rows);
    g_assert_cmpint(a->truncated, ==, b->truncated);
    g_assert_cmpstr(a->error != NULL ? a->error->message : "", ==, b->error != NULL ? b->error->message : "");
}

/* Returns: whether the second run was packed. */
static gboolean
compare(Fixture *self, const char *text, QdRunOptions options)
{
    g_auto(Result) plain = { 0 };
    g_auto(Result) packed = { 0 };

    read_all(self, text, FALSE, options, &plain);
    read_all(self, text, TRUE, options, &packed);
    assert_equal(&plain, &packed);
    return packed.packed;
}

/* Those which SQLite runs as a scan with a result at its innermost: for them packing is made. */
static void
test_packed_shapes(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t",
        "SELECT * FROM t;  ",
        "SELECT * FROM t -- and a comment",
        "SELECT b, a AS b, id AS b, b FROM t",
        "SELECT id, b FROM t WHERE a = 3",
        "SELECT b FROM t WHERE id BETWEEN 10 AND 200",
        "SELECT * FROM t LIMIT 50",
        "SELECT t.*, u.* FROM t JOIN u ON t.a = u.x",
        "SELECT * FROM t LEFT JOIN u ON t.a = u.x AND u.y > 'text 29'",
        "SELECT * FROM u NATURAL JOIN t",
        "SELECT * FROM v",
        "SELECT a FROM t UNION ALL SELECT x FROM u",
        "SELECT (SELECT count(*) FROM u WHERE x = t.a), b FROM t",
        "SELECT b FROM t WHERE a IN (SELECT x FROM u)",
        "SELECT a || b, upper(b), length(b), NULL, 1, 'x', 2.5, X'00' FROM t",
        "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500) SELECT i, i * i FROM k",
        "SELECT ?1, b, ?3 FROM t WHERE id > ?2",
        "SELECT * FROM t WHERE 0",
        "SELECT q, w FROM f WHERE f MATCH 'word'",
        "SELECT key, value FROM json_each('[1,2,\"three\",null]')",
        "SELECT id, hex(zeroblob(id)) FROM t",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (!compare(self, texts[i], (QdRunOptions){ 0 }))
            g_error("'%s' is not packed", texts[i]);
}

/* However SQLite runs these. */
static void
test_other_shapes(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t LIMIT 50 OFFSET 20",
        "SELECT json_extract('{\"a\":[1,{\"b\":2}]}', '$.a'), b FROM t",
        "SELECT * FROM t ORDER BY c DESC",
        "SELECT * FROM t ORDER BY a, b LIMIT 30 OFFSET 5",
        "SELECT * FROM t ORDER BY id DESC",
        "SELECT * FROM (SELECT a, b FROM t ORDER BY b) LIMIT 40",
        "SELECT DISTINCT a FROM t",
        "SELECT DISTINCT a, b FROM t ORDER BY b",
        "SELECT a, count(*), max(b), b FROM t GROUP BY a",
        "SELECT a, sum(c) FROM t GROUP BY a HAVING sum(c) > 100 ORDER BY 2",
        "SELECT a FROM t UNION SELECT x FROM u",
        "SELECT a FROM t EXCEPT SELECT x FROM u",
        "SELECT a FROM t INTERSECT SELECT x FROM u",
        "SELECT a, b FROM t UNION ALL SELECT x, y FROM u ORDER BY 2, 1",
        "SELECT row_number() OVER (ORDER BY c DESC), b FROM t",
        "SELECT sum(c) OVER (PARTITION BY a ORDER BY id), a FROM t",
        "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k LIMIT 300) SELECT i FROM k",
        "WITH m AS MATERIALIZED (SELECT b FROM t) SELECT * FROM m, u",
        "VALUES(1, 'a'), (2, NULL), (3, X'00')",
        "SELECT 1, 'one'",
        "SELECT count(*), sum(a), group_concat(b) FROM t",
        "SELECT sum(a) FROM t WHERE 0",
        "SELECT max(c), b FROM t",
        "SELECT rowid, highlight(f, 0, '<', '>'), bm25(f) FROM f WHERE f MATCH 'text' ORDER BY rank",
        "SELECT 1 /* a comment without an end",
        "EXPLAIN SELECT * FROM t",
        "EXPLAIN QUERY PLAN SELECT * FROM t",
        "PRAGMA table_info(t)",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        (void) compare(self, texts[i], (QdRunOptions){ 0 });
}

static char *
list_columns(guint n)
{
    GString *text = g_string_new("SELECT id");

    for (guint i = 1; i < n; i++)
        g_string_append_printf(text, i % 3 != 0 ? ", b" : ", id + %u", i);
    g_string_append(text, " FROM t");
    return g_string_free(text, FALSE);
}

/* SQLite's functions have at most 127 arguments. */
static void
test_many_columns(Fixture *self, gconstpointer data)
{
    g_autofree char *most = list_columns(127);
    g_autofree char *too_many = list_columns(128);

    g_assert_true(compare(self, most, (QdRunOptions){ 0 }));
    g_assert_false(compare(self, too_many, (QdRunOptions){ 0 }));
}

/* The rows before the error are the same, and so is what it says. */
static void
test_error_in_mid_result(Fixture *self, gconstpointer data)
{
    g_assert_true(
        compare(self, "SELECT id, abs(CASE WHEN id = 200 THEN -9223372036854775808 ELSE id END) FROM t", (QdRunOptions){ 0 }));
    (void) compare(self, "SELECT id, abs(-9223372036854775808) FROM t", (QdRunOptions){ 0 });
    (void) compare(self, "SELECT json_extract(b, '$') FROM t", (QdRunOptions){ 0 });
}

static void
test_limits(Fixture *self, gconstpointer data)
{
    for (guint64 n = 1; n < 400; n += 13) {
        g_assert_true(compare(self, "SELECT * FROM t", (QdRunOptions){ .max_rows = n }));
        g_assert_true(compare(self, "SELECT * FROM t", (QdRunOptions){ .max_bytes = n * 64 }));
    }
}

/* Many times larger than the page: kept by the function until there is a page for it. */
static void
test_large_rows(Fixture *self, gconstpointer data)
{
    g_assert_true(
        compare(self, "SELECT id, zeroblob(CASE WHEN id % 50 = 0 THEN 100000 + id ELSE 10 END), b FROM t", (QdRunOptions){ 0 }));
}

/* A row above the limit is not kept, but its size is reported. */
static void
test_row_above_limit(Fixture *self, gconstpointer data)
{
    static const char text[] = "SELECT id, zeroblob(id + 40000000), zeroblob(id + 40000000) FROM t";
    g_autoptr(QdRun) run = new_run(self, text, NULL);
    QdRunOptions options = { .may_pack = TRUE };
    g_auto(Result) result = { .rows = g_byte_array_new() };
    size_t size;

    qd_run_set_options(run, &options);
    qd_run_get_compiled(run)->wrapped.gives_much = TRUE;
    g_assert_cmpint(fill(run, PAGE_BYTES, &result), ==, QD_RUN_LARGE);
    g_assert_nonnull(qd_run_get_compiled(run)->wrapped.stmt);
    g_assert_false(qd_run_get_row_size(run, PAGE_BYTES, &size, &result.error));
    g_assert_error(result.error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_cmpint(fill(run, PAGE_BYTES, &result), ==, QD_RUN_LARGE);
}

/* A scan is packed by itself when its first page is full, and starts again. */
static void
test_starts_by_itself(Fixture *self, gconstpointer data)
{
    g_autoptr(QdRun) run = new_run(self, "SELECT * FROM t", NULL);
    QdRunOptions options = { .may_pack = TRUE };
    uint64_t buffer[512];
    QwPageWriter page;
    QwPageReader reader;
    QwValue value;

    qd_run_set_options(run, &options);
    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 0);
    g_assert_cmpint(qd_run_fill(run, &page, 1024, G_USEC_PER_SEC, NULL), ==, QD_RUN_PAGE);
    g_assert_nonnull(qd_run_get_compiled(run)->wrapped.stmt);
    g_assert_cmpuint(page.n_rows, ==, qd_run_get_n_rows(run));
    g_assert_cmpint(qw_page_reader_init(&reader, page.data + QW_HEADER_SIZE, page.used - QW_HEADER_SIZE, page.n_rows, 4), ==, 0);
    for (int i = 1; qw_page_reader_next(&reader); i++) {
        qw_page_reader_get(&reader, 0, &value);
        g_assert_cmpint(value.integer, ==, i);
    }
}

/* A look-up, and a result of one page, are not worth the compiling. */
static void
test_small_results_stay_plain(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = { "SELECT * FROM t WHERE id = 5", "SELECT * FROM t LIMIT 3", "SELECT * FROM t WHERE a = 3" };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(QdRun) run = new_run(self, texts[i], NULL);
        QdRunOptions options = { .may_pack = TRUE };
        uint64_t buffer[128];
        QwPageWriter page;

        qd_run_set_options(run, &options);
        qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 0);
        (void) qd_run_fill(run, &page, 512, G_USEC_PER_SEC, NULL);
        g_assert_null(qd_run_get_compiled(run)->wrapped.stmt);
    }
}

/* The rows of a whole table after the first one come from its pages. */
static void
test_table_is_scanned(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = { "SELECT * FROM t", "SELECT b FROM t WHERE id > 3" };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        QdReader *reader = qd_pool_lease(self->pool, self->client, NULL, NULL);
        QdRowSource rows = { .reader = reader, .limits = &self->store.limits, .may_pack = TRUE };
        uint64_t buffer[512];
        QwPageWriter page;

        g_assert_true(
            qd_row_source_set_compiled(&rows, store_compile(&self->store, reader->connection, texts[i], QD_POLICY_READ, NULL)));
        rows.compiled->wrapped.gives_much = TRUE;
        g_assert_true(qd_row_source_bind_row(&rows, NULL, NULL));
        qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 0);
        qd_row_source_begin_fill(&rows, &page);
        qd_row_source_begin_scan(&rows, qd_row_source_step(&rows));
        g_assert_false(rows.scans);
        g_assert_cmpint(qd_row_source_put_row(&rows, &page, NULL), ==, 0);
        g_assert_cmpint(qd_row_source_step(&rows), ==, SQLITE_ROW);
        g_assert_cmpint(rows.scans, ==, i == 0);
        qd_row_source_end(&rows, 0, 0, 0);
        g_assert_null(rows.scan);
        qd_pool_release(self->pool, reader);
    }
}

/* SQLite recompiles the wrapper, or cannot any more: the plain statement takes over, with its columns. */
static void
test_schema_changes(Fixture *self, gconstpointer data)
{
    g_auto(Result) before = { 0 };
    g_auto(Result) after = { 0 };
    g_auto(Result) again = { 0 };

    read_all(self, "SELECT * FROM u", TRUE, (QdRunOptions){ 0 }, &before);
    g_assert_true(before.packed);
    store_execute(self->store.writer, "ALTER TABLE u ADD COLUMN z DEFAULT 'new'");
    read_all(self, "SELECT * FROM u", TRUE, (QdRunOptions){ 0 }, &after);
    g_assert_no_error(after.error);
    g_assert_true(after.new_schema);
    g_assert_false(after.packed);
    g_assert_cmpuint(after.n_rows, ==, 40);
    g_assert_cmpuint(after.rows->len, >, before.rows->len);

    store_execute(self->store.writer, "DROP TABLE u");
    read_all(self, "SELECT * FROM u", TRUE, (QdRunOptions){ 0 }, &again);
    store_assert_error(again.error, QW_ERROR_SYNTAX, "no such table: u");
}

static void
test_function_is_not_for_statements(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = { "SELECT queryd_pack(1)", "SELECT QUERYD_PACK(a, b) FROM t" };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(new_run(self, texts[i], &error));
        store_assert_error(error, QW_ERROR_ACCESS_DENIED, "is not allowed");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/read/packing/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("packed-shapes", test_packed_shapes);
    ADD("other-shapes", test_other_shapes);
    ADD("many-columns", test_many_columns);
    ADD("error-in-mid-result", test_error_in_mid_result);
    ADD("limits", test_limits);
    ADD("large-rows", test_large_rows);
    ADD("row-above-limit", test_row_above_limit);
    ADD("starts-by-itself", test_starts_by_itself);
    ADD("small-results-stay-plain", test_small_results_stay_plain);
    ADD("table-is-scanned", test_table_is_scanned);
    ADD("schema-changes", test_schema_changes);
    ADD("function-is-not-for-statements", test_function_is_not_for_statements);
    return g_test_run();
}
