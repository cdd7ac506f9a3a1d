/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equality and hash of terms.
 */
#include "daemon/rdf/term.h"

#include <string.h>

static QdTerm
make(QdTermKind kind, const char *lexical, const char *qualifier)
{
    return (QdTerm){ .kind = kind,
                     .lexical = lexical,
                     .n_lexical = strlen(lexical),
                     .qualifier = qualifier,
                     .n_qualifier = qualifier != NULL ? strlen(qualifier) : 0 };
}

static void
test_equal(void)
{
    QdTerm iri = make(QD_TERM_IRI, "a", NULL);
    QdTerm text = make(QD_TERM_STRING, "a", NULL);
    QdTerm english = make(QD_TERM_LANG_STRING, "a", "en-GB");
    QdTerm lower = make(QD_TERM_LANG_STRING, "a", "en-gb");
    QdTerm typed = make(QD_TERM_TYPED, "a", "http://t/1");
    QdTerm other = make(QD_TERM_TYPED, "a", "http://T/1");

    g_assert_false(qd_term_equal(&iri, &text));
    g_assert_true(qd_term_equal(&english, &lower));
    g_assert_false(qd_term_equal(&typed, &other));
    g_assert_true(qd_term_equal(&typed, &typed));
    g_assert_false(qd_term_equal(&text, &english));
}

static void
test_hash(void)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    QdTerm english = make(QD_TERM_LANG_STRING, "colour", "en-GB");
    QdTerm lower = make(QD_TERM_LANG_STRING, "colour", "en-gb");

    g_assert_cmpuint(qd_term_hash(&english), ==, qd_term_hash(&lower));
    for (guint i = 0; i < 100000; i++) {
        g_autofree char *lexical = g_strdup_printf("http://example.org/thing%u", i / 2);
        QdTerm term = make(i % 2 ? QD_TERM_IRI : QD_TERM_STRING, lexical, NULL);
        guint64 hash = qd_term_hash(&term);

        g_assert_true(g_hash_table_add(seen, g_memdup2(&hash, sizeof hash)));
    }
}

/* Files hold hashes: they are what they were. */
static void
test_hash_is_fixed(void)
{
    QdTerm iri = make(QD_TERM_IRI, "http://example.org/a", NULL);
    QdTerm typed = make(QD_TERM_TYPED, "12", "http://example.org/type");

    g_assert_cmphex(qd_term_hash(&iri), ==, G_GUINT64_CONSTANT(0xb7c81233aa434627));
    g_assert_cmphex(qd_term_hash(&typed), ==, G_GUINT64_CONSTANT(0x205aa52a1ecdaf5d));
}

static void
test_literal(void)
{
    static const char string[] = QD_XSD_NAMESPACE "string";
    static const char integer[] = QD_XSD_NAMESPACE "integer";
    QdTerm term;

    qd_term_init_literal(&term, "x", 1, string, strlen(string));
    g_assert_cmpint(term.kind, ==, QD_TERM_STRING);
    g_assert_null(term.qualifier);
    qd_term_init_literal(&term, "x", 1, integer, strlen(integer));
    g_assert_cmpint(term.kind, ==, QD_TERM_TYPED);
    g_assert_cmpstr(term.qualifier, ==, integer);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/term/equal", test_equal);
    g_test_add_func("/rdf/term/hash", test_hash);
    g_test_add_func("/rdf/term/hash-is-fixed", test_hash_is_fixed);
    g_test_add_func("/rdf/term/literal", test_literal);
    return g_test_run();
}
