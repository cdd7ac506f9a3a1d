/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms as bytes: what comes back is what went in, and nothing else is believed.
 */
#include "daemon/rdf/term-blob.h"

#include <string.h>

static const QdTerm terms[] = {
    { QD_TERM_IRI, "http://example.org/", 19, NULL, 0 },
    { QD_TERM_STRING, "", 0, NULL, 0 },
    { QD_TERM_STRING, "a\0b", 3, NULL, 0 },
    { QD_TERM_LANG_STRING, "h\xc3\xa9", 3, "fr-ca", 5 },
    { QD_TERM_TYPED, "12", 2, "http://t/", 9 },
    { QD_TERM_BNODE, "x1", 2, NULL, 0 },
};

static void
test_round_trip(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(terms); i++) {
        g_autoptr(GByteArray) blob = g_byte_array_new();
        QdTerm term;

        qd_term_blob_append(blob, &terms[i]);
        g_assert_true(qd_term_blob_parse(blob->data, blob->len, &term));
        g_assert_cmpint(term.kind, ==, terms[i].kind);
        g_assert_cmpmem(term.lexical, term.n_lexical, terms[i].lexical, terms[i].n_lexical);
        g_assert_cmpmem(term.qualifier, term.n_qualifier, terms[i].qualifier, terms[i].n_qualifier);
    }
}

static void
test_language_case(void)
{
    QdTerm upper = { QD_TERM_LANG_STRING, "A", 1, "EN-gb", 5 };
    QdTerm lower = { QD_TERM_LANG_STRING, "A", 1, "en-GB", 5 };
    g_autoptr(GByteArray) a = g_byte_array_new();
    g_autoptr(GByteArray) b = g_byte_array_new();

    qd_term_blob_append(a, &upper);
    qd_term_blob_append(b, &lower);
    g_assert_cmpmem(a->data, a->len, b->data, b->len);
}

static void
test_hostile(void)
{
    static const struct {
        const char *bytes;
        gsize n;
    } blobs[] = {
        { "", 0 },
        { "\0\0\0\0", 4 },
        { "\5\0\0\0\0a", 6 }, /* no kind */
        { "\377\0\0\0\0a", 6 },
        { "\3\0\0\0\0a", 6 },          /* a datatype is missing */
        { "\1\1\0\0\0ta", 7 },         /* and one too many */
        { "\3\377\377\377\377ta", 7 }, /* longer than the blob */
        { "\0\0\0\0\0\xff", 6 },       /* no UTF-8 */
        { "\3\1\0\0\0\xc3\xa9", 7 },   /* cut within a character */
    };
    QdTerm term;

    g_assert_false(qd_term_blob_parse(NULL, 0, &term));
    for (gsize i = 0; i < G_N_ELEMENTS(blobs); i++)
        g_assert_false(qd_term_blob_parse(blobs[i].bytes, blobs[i].n, &term));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/term-blob/round-trip", test_round_trip);
    g_test_add_func("/rdf/term-blob/language-case", test_language_case);
    g_test_add_func("/rdf/term-blob/hostile", test_hostile);
    return g_test_run();
}
