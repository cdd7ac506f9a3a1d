/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Both passes with quads that follow from their number.
 */
#include "tests/unit/quads/bulk-fixture.h"

#include <string.h>

#include "daemon/quads/quads.h"

#define STATISTICS "id, n_quads, n_subjects, n_objects, tags"

QdTerm
bulk_make_iri(const char *iri)
{
    return (QdTerm){ .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = strlen(iri) };
}

void
bulk_add_quad(QdBulkLoad *load, guint i)
{
    g_autofree char *subject = g_strdup_printf(BULK_EX "s%u", i / 3);
    g_autofree char *predicate = g_strdup_printf(BULK_EX "p%u", i % 7);
    g_autofree char *text = g_strdup_printf("%u", i % 1000);
    QdTerm s = i % 11 == 0 ? (QdTerm){ .kind = QD_TERM_BNODE, .lexical = text, .n_lexical = strlen(text) } : bulk_make_iri(subject);
    QdTerm p = bulk_make_iri(predicate);
    QdTerm o = { .kind = (QdTermKind) (i % 5 < 4 ? i % 5 : 1), .lexical = text, .n_lexical = strlen(text) };
    QdTerm g = bulk_make_iri(BULK_EX "g");
    g_autoptr(GError) error = NULL;

    if (o.kind == QD_TERM_IRI)
        o = bulk_make_iri(subject);
    if (o.kind == QD_TERM_LANG_STRING)
        o.qualifier = i % 2 == 0 ? "en" : "EN";
    if (o.kind == QD_TERM_TYPED)
        o.qualifier = i % 4 == 0 ? QD_XSD_NAMESPACE "integer" : QD_XSD_NAMESPACE "double";
    o.n_qualifier = o.qualifier != NULL ? strlen(o.qualifier) : 0;
    (void) qd_bulk_load_add(&s, &p, &o, i % 13 == 0 ? &g : NULL, load, &error);
    g_assert_no_error(error);
}

QdBulkLoad *
bulk_new_load(StoreFixture *fixture, QdConnection *reader, const char *graph)
{
    g_autoptr(GError) error = NULL;
    QdBulkLoad *load = qd_bulk_load_new(reader, fixture->dir, graph, &fixture->limits, &error);

    g_assert_no_error(error);
    return load;
}

gboolean
bulk_try_commit(StoreFixture *fixture, QdBulkLoad *load, QdBulkReplace replace, guint64 *ret_n_inserted, GError **error)
{
    gboolean ok;

    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    ok = qd_bulk_load_commit(load, fixture->writer, replace, ret_n_inserted, error);
    store_execute(fixture->writer, ok ? "COMMIT" : "ROLLBACK");
    return ok;
}

guint64
bulk_commit(StoreFixture *fixture, QdBulkLoad *load, QdBulkReplace replace)
{
    g_autoptr(GError) error = NULL;
    guint64 n_inserted = 0;

    (void) bulk_try_commit(fixture, load, replace, &n_inserted, &error);
    g_assert_no_error(error);
    return n_inserted;
}

guint64
bulk_load_range(StoreFixture *fixture, guint start, guint end)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);

    for (guint i = start; i < end; i++)
        bulk_add_quad(load, i);
    return bulk_commit(fixture, load, QD_BULK_REPLACE_NOTHING);
}

#define NOT_STORED(column) column ">0 AND " column " NOT IN (SELECT id FROM queryd_term)"

void
bulk_assert_sound(StoreFixture *fixture)
{
    g_autoptr(GError) error = NULL;
    QdQuads *quads = qd_quads_get(fixture->writer, &error);
    static const char *const none[] = {
        "SELECT count(*) FROM queryd_quad WHERE " NOT_STORED("s") " OR " NOT_STORED("p") " OR " NOT_STORED("o") " OR " NOT_STORED(
            "g"),
        "SELECT count(*) FROM queryd_term WHERE id NOT IN (SELECT id FROM queryd_term_hash)",
        "SELECT count(*)-count(DISTINCT id) FROM queryd_term_hash",
        "SELECT count(*) FROM (SELECT 1 FROM queryd_term GROUP BY id&3, lexical, lower(datatype) HAVING count(*)>1)",
        "SELECT max(id>>2)>(SELECT value FROM queryd_meta WHERE key='term_sequence') FROM queryd_term",
        "SELECT 3-count(*) FROM sqlite_schema WHERE type='index' AND name GLOB 'queryd_quad_*'",
    };

    for (guint i = 0; i < G_N_ELEMENTS(none); i++)
        g_assert_cmpint(store_get_int64(fixture->writer, none[i]), ==, 0);
    store_execute(fixture->writer, "CREATE TEMP TABLE IF NOT EXISTS before AS SELECT " STATISTICS " FROM queryd_predicate LIMIT 0;"
                                   "DELETE FROM before; INSERT INTO before SELECT " STATISTICS " FROM queryd_predicate; BEGIN");
    (void) qd_quads_begin(quads, &error);
    (void) qd_quads_recount(quads, &error);
    (void) qd_quads_finish(quads, &error);
    g_assert_no_error(error);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM (SELECT * FROM before EXCEPT SELECT " STATISTICS
                                                     " FROM queryd_predicate)"),
                    ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*)-(SELECT count(*) FROM before) FROM queryd_predicate"), ==, 0);
    store_execute(fixture->writer, "ROLLBACK");
}
