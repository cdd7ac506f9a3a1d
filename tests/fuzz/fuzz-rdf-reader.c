/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hostile documents in each RDF format. Each quad that is read is written as N-Quads, and has to be read again as the same.
 *
 * Input: a byte for the format, a byte for the size of the pieces, the document.
 */
#include <stdint.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/code-point.h"
#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdf-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A document that makes more of itself than this is not written. */
#define MAX_OUT_BYTES (4 * 1024 * 1024)

typedef struct Input {
    const char *text;
    gsize n;
    gsize pos;
    gsize piece;
} Input;

static gssize
read_input(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Input *input = data;
    gsize n = MIN(MIN(n_bytes, input->piece), input->n - input->pos);

    if (n > 0)
        memcpy(buffer, input->text + input->pos, n);
    input->pos += n;
    return (gssize) n;
}

static void
check_term(const QdTerm *term, guint allowed_kinds)
{
    g_assert_true((allowed_kinds & 1u << term->kind) != 0);
    g_assert_true(qd_code_point_check(term->lexical, term->n_lexical, NULL));
    g_assert_true(qd_code_point_check(term->qualifier, term->n_qualifier, NULL));
    g_assert_cmpint(term->n_qualifier > 0, ==, term->kind == QD_TERM_LANG_STRING || term->kind == QD_TERM_TYPED);
}

typedef struct Output {
    GString *text;
    QdRdfWriter *writer;
} Output;

static gboolean
take_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    Output *output = data;
    const guint iri = 1u << QD_TERM_IRI;
    const guint resource = iri | 1u << QD_TERM_BNODE;

    check_term(s, resource);
    check_term(p, iri);
    check_term(o, resource | 1u << QD_TERM_STRING | 1u << QD_TERM_LANG_STRING | 1u << QD_TERM_TYPED);
    if (g != NULL)
        check_term(g, resource);
    if (output->text->len > MAX_OUT_BYTES) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "enough");
        return FALSE;
    }
    return qd_rdf_writer_put(output->writer, s, p, o, g, error);
}

/* @text as N-Quads, NULL with @error. */
static GString *
read_document(QdRdfFormat format, const char *text, gsize n, gsize piece, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRdfWriter) writer = qd_rdf_writer_new(QD_RDF_NQUADS, NULL, out);
    Output output = { out, writer };
    Input input = { .text = text, .n = n, .piece = piece };
    QdLimits limits;
    QdRdfReading reading = {
        .format = format,
        .base = "http://example.org/dir/doc",
        .read_func = read_input,
        .read_data = &input,
        .quad_func = take_quad,
        .data = &output,
        .limits = &limits,
    };

    qd_limits_init(&limits);
    limits.values[QD_LIMIT_VALUE_BYTES] = 1024 * 1024;
    return qd_rdf_read(&reading, error) ? g_steal_pointer(&out) : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) quads = NULL;
    g_autoptr(GString) again = NULL;

    if (size < 2)
        return 0;
    quads = read_document((QdRdfFormat) (data[0] % QD_N_RDF_FORMATS), (const char *) data + 2, size - 2, (gsize) data[1] * 16 + 1,
                          &error);
    g_assert_cmpint(quads != NULL, ==, error == NULL);
    if (quads == NULL) {
        guint line;
        guint column;

        qd_error_get_place(error, &line, &column);
        g_assert_true(line > 0 || qd_error_get_code(error) != QW_ERROR_SYNTAX);
        return 0;
    }
    again = read_document(QD_RDF_NQUADS, quads->str, quads->len, 4096, &error);
    if (again == NULL)
        g_error("%s in: %s", error->message, quads->str);
    g_assert_cmpstr(again->str, ==, quads->str);
    return 0;
}
