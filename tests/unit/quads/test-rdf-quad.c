/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdf_quad: with any conditions the rows are those of a scan of everything with the same conditions.
 */
#include "daemon/quads/rdf-quad.h"

#include <string.h>

#include "daemon/quads/quads.h"
#include "daemon/rdf/term-id.h"
#include "tests/unit/store/store-fixture.h"

#define EX "http://example.org/"

static gint64
intern(QdDictionary *dictionary, QdTermKind kind, const char *text, const char *qualifier)
{
    QdTerm term = { kind, text, strlen(text), qualifier, qualifier != NULL ? strlen(qualifier) : 0 };
    g_autoptr(GError) error = NULL;
    gint64 id = 0;

    (void) qd_dictionary_intern(dictionary, &term, &id, &error);
    g_assert_no_error(error);
    return id;
}

static void
set_up(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdDictionary *dictionary;
    gint64 resources[3];
    gint64 objects[9];
    QdQuads *quads;

    store_fixture_set_up(fixture, data);
    quads = qd_quads_get(fixture->writer, &error);
    dictionary = qd_quads_get_dictionary(quads);
    store_execute(fixture->writer, "BEGIN");
    (void) qd_quads_begin(quads, &error);
    resources[0] = objects[0] = intern(dictionary, QD_TERM_IRI, EX "a", NULL);
    resources[1] = objects[1] = intern(dictionary, QD_TERM_IRI, EX "b", NULL);
    resources[2] = objects[2] = qd_dictionary_make_bnode(dictionary);
    objects[3] = intern(dictionary, QD_TERM_STRING, "5", NULL);
    objects[4] = intern(dictionary, QD_TERM_LANG_STRING, "5", "en");
    objects[5] = intern(dictionary, QD_TERM_LANG_STRING, "5", "fr");
    objects[6] = intern(dictionary, QD_TERM_TYPED, "5", QD_XSD_NAMESPACE "integer");
    objects[7] = intern(dictionary, QD_TERM_TYPED, "5", EX "a");
    objects[8] = intern(dictionary, QD_TERM_STRING, EX "a", NULL);
    for (guint i = 0; i < 200; i++) {
        gint64 p = resources[i / 3 % 2];

        (void) qd_quads_insert(quads, resources[i % 3], p, objects[i % 9], i % 4 == 0 ? 0 : resources[i / 4 % 2], NULL, &error);
        g_assert_no_error(error);
    }
    (void) qd_quads_finish(quads, &error);
    store_execute(fixture->writer, "COMMIT");
    (void) qd_rdf_quad_register(fixture->writer, &error);
    g_assert_no_error(error);
    /* the same as an ordinary table */
    store_execute(fixture->writer, "CREATE TEMP TABLE copy AS SELECT graph, subject, predicate, object, datatype, language,"
                                   " graph_id, subject_id, predicate_id, object_id FROM rdf_quad");
}

static void
assert_same(StoreFixture *fixture, const char *where)
{
    static const char
        rows[] = "SELECT json_array(count(*), total(subject_id % 1001), total(object_id % 1003), group_concat(language)) FROM"
                 " (SELECT subject_id, object_id, language FROM ";
    static const char order[] = " ORDER BY subject_id, predicate_id, object_id, graph_id)";
    g_autofree char *sql = g_strconcat("SELECT (", rows, "rdf_quad WHERE ", where, order, ")=(", rows, "copy WHERE ", where, order,
                                       ")", NULL);

    g_test_message("%s", where);
    g_assert_cmpint(store_get_int64(fixture->writer, sql), ==, 1);
}

/* Each set of up to three conditions. */
static void
test_conditions(StoreFixture *fixture, gconstpointer data)
{
    static const char *const conditions[] = {
        "1",
        "subject='" EX "a'",
        "subject LIKE '\\_:b%' ESCAPE '\\'",
        "subject='_:b1'",
        "predicate='" EX "b'",
        "graph='" EX "a'",
        "graph IS NULL",
        "graph_id=0",
        "graph_id=(SELECT max(graph_id) FROM copy)",
        "object='5'",
        "object='" EX "a'",
        "object IN ('5', '_:b1', 'none')",
        "datatype IS NULL",
        "datatype='" QD_XSD_NAMESPACE "integer'",
        "datatype='" QD_XSD_NAMESPACE "string'",
        "datatype='" QD_RDF_NAMESPACE "langString'",
        "datatype='" EX "a'",
        "language='en'",
        "language='EN'",
        "language IS NULL",
        "subject='none'",
        "subject=5",
        "subject=NULL",
        "object_id=(SELECT min(object_id) FROM copy)",
        "subject='HTTP://EXAMPLE.ORG/A' COLLATE NOCASE",
    };

    for (guint i = 0; i < G_N_ELEMENTS(conditions); i++)
        for (guint j = i; j < G_N_ELEMENTS(conditions); j++)
            for (guint k = j; k < G_N_ELEMENTS(conditions); k++) {
                g_autofree char *where = g_strdup_printf("%s AND %s AND %s", conditions[i], conditions[j], conditions[k]);

                assert_same(fixture, where);
            }
}

static void
test_joins(StoreFixture *fixture, gconstpointer data)
{
    static const char *const joins[] = {
        "AS a JOIN X AS b ON b.subject_id=a.object_id AND b.predicate=a.predicate",
        "AS a JOIN X AS b ON b.object=a.object AND b.language=a.language WHERE a.graph IS NULL",
        "AS a LEFT JOIN X AS b ON b.graph=a.subject AND b.object='5' WHERE b.datatype IS NULL",
    };

    for (guint i = 0; i < G_N_ELEMENTS(joins); i++) {
        g_auto(GStrv) parts = g_strsplit(joins[i], "X", 2);
        g_autofree char *ours = g_strconcat("SELECT count(*) FROM rdf_quad ", parts[0], "rdf_quad", parts[1], NULL);
        g_autofree char *copied = g_strconcat("SELECT count(*) FROM copy ", parts[0], "copy", parts[1], NULL);

        g_assert_cmpint(store_get_int64(fixture->writer, ours), ==, store_get_int64(fixture->writer, copied));
        g_assert_cmpint(store_get_int64(fixture->writer, ours), >, 0);
    }
}

/* A client may read it and make views on it, and cannot write it. */
static void
test_client(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled = store_compile(fixture, fixture->writer, "SELECT * FROM rdf_quad", QD_POLICY_READ, &error);

    g_assert_no_error(error);
    g_assert_false(compiled->writes);
    g_assert_cmpint(compiled->n_columns, ==, 6);
    compiled = store_compile(fixture, fixture->writer, "CREATE VIEW v AS SELECT subject FROM rdf_quad", QD_POLICY_WRITE, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_DONE);
    (void) sqlite3_reset(compiled->stmt);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM v"), ==,
                    store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"));
    g_assert_null(store_compile(fixture, fixture->writer, "DELETE FROM rdf_quad", QD_POLICY_WRITE, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "table rdf_quad may not be modified");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/quads/rdf-quad/conditions", StoreFixture, NULL, set_up, test_conditions, store_fixture_tear_down);
    g_test_add("/quads/rdf-quad/joins", StoreFixture, NULL, set_up, test_joins, store_fixture_tear_down);
    g_test_add("/quads/rdf-quad/client", StoreFixture, NULL, set_up, test_client, store_fixture_tear_down);
    return g_test_run();
}
