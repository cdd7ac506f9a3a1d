/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids in line: exact forms come back or are declined, never something else; order within a tag is the order of values.
 */
#include "daemon/rdf/term-id.h"

#include <stdio.h>
#include <string.h>

static gboolean
encode(const char *lexical, const char *type, gint64 *ret_id)
{
    g_autofree char *datatype = g_strconcat(QD_XSD_NAMESPACE, type, NULL);
    QdTerm term = { QD_TERM_TYPED, lexical, strlen(lexical), datatype, strlen(datatype) };

    return qd_term_id_from_term(&term, ret_id);
}

static void
check_round_trip(const char *lexical, const char *type)
{
    g_autofree char *datatype = g_strconcat(QD_XSD_NAMESPACE, type, NULL);
    QdTermBuffer buffer;
    QdTerm term;
    gint64 id = 0;

    g_test_message("%s^^%s", lexical, type);
    g_assert_true(encode(lexical, type, &id));
    g_assert_true(qd_term_id_is_inline(id));
    g_assert_true(qd_term_id_is_literal(id));
    g_assert_cmpint(qd_term_id_get_kind(id), ==, QD_TERM_TYPED);
    g_assert_true(qd_term_id_to_term(id, &buffer, &term));
    g_assert_cmpmem(term.lexical, term.n_lexical, lexical, strlen(lexical));
    g_assert_cmpmem(term.qualifier, term.n_qualifier, datatype, strlen(datatype));
}

static void
test_round_trip(void)
{
    static const char *const forms[][2] = {
        { "0", "integer" },
        { "-1", "integer" },
        { "144115188075855871", "integer" },
        { "-144115188075855871", "long" },
        { "2147483647", "int" },
        { "-2147483648", "int" },
        { "-32768", "short" },
        { "0", "nonNegativeInteger" },
        { "1", "positiveInteger" },
        { "0", "decimal" },
        { "1.0", "decimal" },
        { "1.00", "decimal" },
        { "-0.000001", "decimal" },
        { "18014398509.481983", "decimal" },
        { "true", "boolean" },
        { "false", "boolean" },
        { "1400-01-01", "date" },
        { "2000-02-29Z", "date" },
        { "2539-12-31T23:59:59.999999", "dateTime" },
        { "1400-01-01T00:00:00Z", "dateTime" },
        { "1969-12-31T23:59:59.10Z", "dateTime" },
        { "2011-02-01T01:02:03+00:00", "dateTime" },
        { "2011-02-01T01:02:03.123-13:59", "dateTime" },
        { "1400-01-01T00:00:00+14:00", "dateTime" },
        { "2539-12-31T23:59:59.000-14:00", "dateTime" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++)
        check_round_trip(forms[i][0], forms[i][1]);
}

static void
test_declined(void)
{
    static const char *const forms[][2] = {
        { "", "integer" },
        { "+1", "integer" },
        { "01", "integer" },
        { "-0", "integer" },
        { " 1", "integer" },
        { "1.0", "integer" },
        { "144115188075855872", "integer" },
        { "99999999999999999999999999", "integer" },
        { "2147483648", "int" },
        { "32768", "short" },
        { "-1", "nonNegativeInteger" },
        { "0", "positiveInteger" },
        { "1", "byte" },
        { "1", "unsignedInt" },
        { ".5", "decimal" },
        { "5.", "decimal" },
        { "-0.0", "decimal" },
        { "1.0000000", "decimal" },
        { "18014398509.481984", "decimal" },
        { "1e0", "decimal" },
        { "1", "boolean" },
        { "TRUE", "boolean" },
        { "1399-12-31", "date" },
        { "2540-01-01", "date" },
        { "2001-02-29", "date" },
        { "2001-1-01", "date" },
        { "2001-01-01+01:00", "date" },
        { "2001-01-01T24:00:00", "dateTime" },
        { "2001-01-01T00:00:60", "dateTime" },
        { "2001-01-01T00:00:00.", "dateTime" },
        { "2001-01-01T00:00:00.1234567", "dateTime" },
        { "2001-01-01T00:00:00-00:00", "dateTime" },
        { "2001-01-01T00:00:00.1+01:00", "dateTime" },
        { "2001-01-01T00:00:00+14:01", "dateTime" },
        { "2001-01-01T00:00:00z", "dateTime" },
        { "2001-01-01", "dateTime" },
        { "1", "double" },
        { "1", "string" },
    };
    QdTerm iri = { QD_TERM_IRI, "1", 1, NULL, 0 };
    gint64 id = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_test_message("%s^^%s", forms[i][0], forms[i][1]);
        g_assert_false(encode(forms[i][0], forms[i][1], &id));
    }
    g_assert_false(qd_term_id_from_term(&iri, &id));
    g_assert_cmpint(id, ==, 0);
}

/* Any bits: no term, or a term whose id has these bits. */
static void
test_any_id(void)
{
    static const guint tags[] = { 0, 1, 4, 8, 9, 10, 11, 12, 13, 16, 20, 21, 22, 23, 24, 25, 31 };
    guint n_terms = 0;

    for (guint i = 0; i < 1000000; i++) {
        gint64 id = (gint64) ((guint64) g_test_rand_int() << 32 | (guint32) g_test_rand_int());
        QdTermBuffer buffer;
        QdTerm term;
        gint64 again = 0;

        if (i % 2 == 0)
            id = qd_term_id_make((QdTermTag) tags[i % G_N_ELEMENTS(tags)], (id % (1 << 30)) * (i % 3 == 0 ? 8000000 : 1));
        if (!qd_term_id_to_term(id, &buffer, &term))
            continue;
        n_terms++;
        if (term.kind == QD_TERM_BNODE)
            continue;
        g_assert_true(qd_term_id_from_term(&term, &again));
        g_assert_cmphex((guint64) again, ==, (guint64) id);
    }
    g_assert_cmpuint(n_terms, >, 100000);
}

/* Random forms near the borders of the grammars: declined or the same again. */
static void
test_random_forms(void)
{
    static const char alphabet[] = "0123456789+-.:TZ";
    static const char *const types[] = { "integer", "decimal", "date", "dateTime", "int", "nonNegativeInteger" };
    static const char *const seeds[] = { "120", "-1.50", "2000-02-29", "2000-02-29T12:34:56.789-01:30", "-7", "0" };
    guint n_accepted = 0;

    for (guint i = 0; i < 300000; i++) {
        gsize type = i % G_N_ELEMENTS(types);
        g_autofree char *form = g_strdup(seeds[type]);
        gint64 id = 0;

        for (gint n = g_test_rand_int_range(0, 3); n > 0; n--)
            form[g_test_rand_int_range(0, (gint32) strlen(form))] = alphabet[g_test_rand_int_range(0, sizeof alphabet - 1)];
        if (encode(form, types[type], &id)) {
            n_accepted++;
            check_round_trip(form, types[type]);
        }
    }
    g_assert_cmpuint(n_accepted, >, 10000);
}

static void
test_order(void)
{
    static const char *const pairs[][3] = {
        { "-5", "3", "integer" },
        { "-1.5", "-1.4", "decimal" },
        { "1.5", "1.50", "decimal" },
        { "1960-01-01", "1970-01-01", "date" },
        { "1969-12-31T23:59:59.9", "1970-01-01T00:00:00", "dateTime" },
        { "2000-01-01T00:00:00+01:00", "2000-01-01T00:00:00-01:00", "dateTime" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
        gint64 a = 0;
        gint64 b = 0;

        g_assert_true(encode(pairs[i][0], pairs[i][2], &a));
        g_assert_true(encode(pairs[i][1], pairs[i][2], &b));
        g_assert_cmpint(a, <, b);
        g_assert_cmpint(a, >=, qd_term_id_get_tag_min((QdTermTag) qd_term_id_get_tag(a)));
        g_assert_cmpint(b, <=, qd_term_id_get_tag_max((QdTermTag) qd_term_id_get_tag(b)));
    }
}

static void
test_dictionary_and_bnodes(void)
{
    gint64 id = qd_term_id_from_sequence(7, QD_TERM_LANG_STRING);
    QdTermBuffer buffer;
    QdTerm term;

    g_assert_cmpint(id, ==, 30);
    g_assert_cmpuint(qd_term_id_get_sequence(id), ==, 7);
    g_assert_cmpint(qd_term_id_get_kind(id), ==, QD_TERM_LANG_STRING);
    g_assert_false(qd_term_id_to_term(id, &buffer, &term));
    g_assert_false(qd_term_id_to_term(0, &buffer, &term));

    id = qd_term_id_from_bnode(42);
    g_assert_cmpint(qd_term_id_get_kind(id), ==, QD_TERM_BNODE);
    g_assert_false(qd_term_id_is_literal(id));
    g_assert_true(qd_term_id_to_term(id, &buffer, &term));
    g_assert_cmpmem(term.lexical, term.n_lexical, "b42", 3);
    g_assert_cmpint(term.kind, ==, QD_TERM_BNODE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/term-id/round-trip", test_round_trip);
    g_test_add_func("/rdf/term-id/declined", test_declined);
    g_test_add_func("/rdf/term-id/any-id", test_any_id);
    g_test_add_func("/rdf/term-id/random-forms", test_random_forms);
    g_test_add_func("/rdf/term-id/order", test_order);
    g_test_add_func("/rdf/term-id/dictionary-and-bnodes", test_dictionary_and_bnodes);
    return g_test_run();
}
