/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms as bytes, and back.
 */
#include "daemon/rdf/term-blob.h"

#include <string.h>

#include "daemon/rdf/code-point.h"

#define HEAD_BYTES 5

gsize
qd_term_blob_get_size(const QdTerm *term)
{
    return HEAD_BYTES + term->n_qualifier + term->n_lexical;
}

void
qd_term_blob_write(const QdTerm *term, guint8 *out)
{
    guint32 n_qualifier = GUINT32_TO_LE((guint32) term->n_qualifier);

    g_assert(term->n_qualifier <= G_MAXUINT32);
    *out = (guint8) term->kind;
    memcpy(out + 1, &n_qualifier, sizeof n_qualifier);
    out += HEAD_BYTES;
    if (term->n_qualifier > 0)
        memcpy(out, term->qualifier, term->n_qualifier);
    if (term->kind == QD_TERM_LANG_STRING)
        for (gsize i = 0; i < term->n_qualifier; i++)
            out[i] = (guint8) g_ascii_tolower((char) out[i]);
    if (term->n_lexical > 0 && term->lexical != (const char *) out + term->n_qualifier)
        memcpy(out + term->n_qualifier, term->lexical, term->n_lexical);
}

void
qd_term_blob_append(GByteArray *out, const QdTerm *term)
{
    guint start = out->len;

    g_byte_array_set_size(out, start + (guint) qd_term_blob_get_size(term));
    qd_term_blob_write(term, out->data + start);
}

gboolean
qd_term_blob_parse(const void *blob, gsize n_bytes, QdTerm *ret_term)
{
    const char *p = blob;
    guint32 n_qualifier;
    gboolean has_qualifier;

    if (p == NULL || n_bytes < HEAD_BYTES || (guint8) p[0] > QD_TERM_BNODE)
        return FALSE;

    memcpy(&n_qualifier, p + 1, sizeof n_qualifier);
    n_qualifier = GUINT32_FROM_LE(n_qualifier);
    has_qualifier = p[0] == QD_TERM_LANG_STRING || p[0] == QD_TERM_TYPED;
    if (n_qualifier > n_bytes - HEAD_BYTES || has_qualifier != (n_qualifier > 0))
        return FALSE;
    if (!qd_code_point_check(p + HEAD_BYTES, n_qualifier, NULL) ||
        !qd_code_point_check(p + HEAD_BYTES + n_qualifier, n_bytes - HEAD_BYTES - n_qualifier, NULL))
        return FALSE;

    *ret_term = (QdTerm){ .kind = (QdTermKind) p[0],
                          .lexical = p + HEAD_BYTES + n_qualifier,
                          .n_lexical = n_bytes - HEAD_BYTES - n_qualifier,
                          .qualifier = has_qualifier ? p + HEAD_BYTES : NULL,
                          .n_qualifier = n_qualifier };
    return TRUE;
}
