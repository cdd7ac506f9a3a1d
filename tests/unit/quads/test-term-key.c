/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys: equal for equal terms, different for all others, and another for another secret.
 */
#include "daemon/quads/term-key.h"

#include <string.h>

static QdTermKey
compute(const char *secret, QdTermKind kind, const char *lexical, const char *qualifier)
{
    QdTerm term = { .kind = kind, .lexical = lexical, .n_lexical = strlen(lexical), .qualifier = qualifier };
    QdTermKey key;

    term.n_qualifier = qualifier != NULL ? strlen(qualifier) : 0;
    memcpy(&key, secret, sizeof key);
    return qd_term_key_compute(&key, &term);
}

static gboolean
keys_equal(QdTermKey a, QdTermKey b)
{
    g_assert_true((a.low == b.low) == (a.high == b.high));
    return a.low == b.low;
}

#define SECRET "0123456789abcdef"

static void
test_equal(void)
{
    const char *long_tag = "en-aaaaaaaa-bbbbbbbb-cccccccc-dddddddd-eeeeeeee-ffffffff-gggggggg-hhhhhhhh";
    g_autofree char *upper = g_ascii_strup(long_tag, -1);

    g_assert_true(keys_equal(compute(SECRET, QD_TERM_IRI, "a:b", NULL), compute(SECRET, QD_TERM_IRI, "a:b", NULL)));
    g_assert_true(
        keys_equal(compute(SECRET, QD_TERM_LANG_STRING, "x", long_tag), compute(SECRET, QD_TERM_LANG_STRING, "x", upper)));
}

static void
test_different(void)
{
    static const struct {
        QdTermKind kind;
        const char *lexical;
        const char *qualifier;
    } terms[] = {
        { QD_TERM_IRI, "", NULL },
        { QD_TERM_IRI, "a", NULL },
        { QD_TERM_STRING, "a", NULL },
        { QD_TERM_LANG_STRING, "a", "b" },
        { QD_TERM_LANG_STRING, "a", "bb" },
        { QD_TERM_LANG_STRING, "ab", "b" },
        { QD_TERM_TYPED, "a", "b" },
        { QD_TERM_TYPED, "a", "B" },
        { QD_TERM_TYPED, "b", "a" },
        { QD_TERM_STRING, "12345678", NULL },
        { QD_TERM_STRING, "123456789", NULL },
    };

    for (guint i = 0; i < G_N_ELEMENTS(terms); i++)
        for (guint k = 0; k < i; k++)
            g_assert_false(keys_equal(compute(SECRET, terms[i].kind, terms[i].lexical, terms[i].qualifier),
                                      compute(SECRET, terms[k].kind, terms[k].lexical, terms[k].qualifier)));
    g_assert_false(keys_equal(compute(SECRET, QD_TERM_IRI, "a", NULL), compute("0123456789abcdeX", QD_TERM_IRI, "a", NULL)));
}

/* Stores keep the low half: it must never change. */
static void
test_fixed(void)
{
    g_assert_cmphex(compute(SECRET, QD_TERM_TYPED, "1.50", "http://example.org/money").low, ==,
                    G_GUINT64_CONSTANT(0xbc444856a0e6af04));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quads/term-key/equal", test_equal);
    g_test_add_func("/quads/term-key/different", test_different);
    g_test_add_func("/quads/term-key/fixed", test_fixed);
    return g_test_run();
}
