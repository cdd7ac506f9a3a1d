/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What SQL and SPARQL queries read, by a real connection and its schema.
 */
#include "daemon/notify/read-set.h"

#include "daemon/read/evaluation.h"
#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    StoreFixture store;
    QdConnection *reader;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE Item(a, b); CREATE TABLE other(a); CREATE VIEW v AS SELECT a FROM other;"
                                      "CREATE VIRTUAL TABLE f USING fts5(x)");
    self->reader = store_fixture_open_reader(&self->store);
    g_assert_true(qd_evaluation_register(self->reader, &self->store.limits, NULL));
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_connection_free(self->reader);
    store_fixture_tear_down(&self->store, NULL);
}

static void
check(Fixture *self, const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdReadSet) reads = qd_read_set_new_for_sql(self->reader, text, &self->store.limits, &error);
    g_autoptr(GPtrArray) names = NULL;
    g_autofree char *told = NULL;

    g_assert_no_error(error);
    names = qd_name_set_list(reads->tables);
    g_ptr_array_add(names, NULL);
    told = g_strjoinv(" ", (char **) names->pdata);
    g_assert_cmpstr(qd_name_set_is_all(reads->tables) ? "all" : told, ==, expected);
}

static void
test_sql(Fixture *self, gconstpointer data)
{
    check(self, "SELECT a FROM item", "item");
    check(self, "SELECT count(*) FROM item", "item");
    check(self, "SELECT 1 FROM item, other WHERE item.a IN (SELECT a FROM v)", "item other v");
    check(self, "WITH c AS (SELECT a FROM other) SELECT * FROM c", "other");
    check(self, "SELECT 1", "");
    check(self, "SELECT s FROM queryd_quad", "queryd_ queryd_quad");
    check(self, "SELECT object FROM rdf_quad WHERE subject = 'x:a'", "queryd_ rdf_quad");
    check(self, "SELECT queryd_payload(1)", "queryd_payload");
    check(self, "SELECT queryd_str_text(a) FROM item", "item queryd_ queryd_str_text");
    check(self, "SELECT name FROM sqlite_schema", "all");
    check(self, "SELECT name FROM pragma_table_info('item')", "all");
    check(self, "PRAGMA table_info(item)", "all");
}

/* Names that virtual tables give to tables they read or keep; columns are taken for names, too. */
static void
test_virtual_tables(Fixture *self, gconstpointer data)
{
    store_execute(self->store.writer,
                  "CREATE TABLE \"Not e\"(id INTEGER PRIMARY KEY, body); CREATE VIEW shown AS SELECT id, body FROM [Not e];"
                  "CREATE VIRTUAL TABLE note_fts USING fts5(body, content='Not e', content_rowid=\"id\" /* it's */);"
                  "CREATE VIRTUAL TABLE of_view USING fts5(body, content=[shown]); CREATE VIRTUAL TABLE r USING rtree(k, x0, x1);"
                  "CREATE VIRTUAL TABLE later USING fts5(body, -- not yet\n content=`it``s`);"
                  "CREATE VIRTUAL TABLE words USING fts5vocab(f, 'row')");
    check(self, "SELECT * FROM f WHERE f MATCH 'x'", "f x");
    check(self, "SELECT * FROM note_fts('x')", "body content content_rowid id not e note_fts");
    check(self, "SELECT * FROM of_view", "as body content from id not e of_view select shown");
    check(self, "SELECT * FROM later", "body content it`s later");
    check(self, "SELECT * FROM words", "f row words x");
    check(self, "SELECT k FROM r", "k r x0 x1");
    check(self, "SELECT * FROM f_content, r_node", "f f_content k r r_node x x0 x1");
}

/* The reader's own copy of the schema is older than the file. */
static void
test_new_schema(Fixture *self, gconstpointer data)
{
    check(self, "SELECT a FROM v", "other v");
    store_execute(self->store.writer, "DROP VIEW v; CREATE VIEW v AS SELECT a FROM item");
    check(self, "SELECT a FROM v", "item v");
}

static void
test_errors(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(qd_read_set_new_for_sql(self->reader, "SELECT * FROM nosuch", &self->store.limits, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "nosuch");
    g_clear_error(&error);
    g_assert_null(qd_read_set_new_for_sql(self->reader, "DELETE FROM item", &self->store.limits, &error));
    store_assert_error(error, QW_ERROR_READ_ONLY, "Item");
    g_clear_error(&error);
    g_assert_null(qd_read_set_new_for_sparql(self->reader, "SELECT", NULL, NULL, &self->store.limits, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "1:");
}

static void
test_sparql(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdReadSet)
        reads = qd_read_set_new_for_sparql(self->reader, "SELECT * { ?s <p> ?o }", "http://x/", NULL, &self->store.limits, &error);

    g_assert_no_error(error);
    g_assert_true(reads->is_sparql);
    g_assert_true(qd_name_set_has(reads->predicates, "http://x/p") && !qd_name_set_is_all(reads->predicates));
    (void) qd_read_set_free(g_steal_pointer(&reads));
    reads = qd_read_set_new_for_sparql(self->reader, "ASK { ?s rdfs:label ?o }", NULL, NULL, &self->store.limits, &error);
    g_assert_no_error(error);
    g_assert_true(qd_name_set_has(reads->predicates, "http://www.w3.org/2000/01/rdf-schema#label"));
    g_assert_true(qd_name_set_has(reads->graphs, "") && !qd_name_set_is_all(reads->graphs));
}

#define ADD(path, func) g_test_add("/notify/read-set/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("sql", test_sql);
    ADD("virtual-tables", test_virtual_tables);
    ADD("new-schema", test_new_schema);
    ADD("errors", test_errors);
    ADD("sparql", test_sparql);
    return g_test_run();
}
