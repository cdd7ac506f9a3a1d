/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms that are sent, from ids and blobs; and terms that come, from values of a page.
 */
#include "daemon/service/service-term.h"

#include <string.h>

#include "daemon/rdf/term-blob.h"

gboolean
qd_service_key_get_term(const QdServiceKey *key, const QdResolver *resolver, QdTermBuffer *buffer, QdTerm *ret_term, GError **error)
{
    if (key->type == SQLITE_BLOB)
        return qd_term_blob_parse(key->blob, key->n_bytes, ret_term);
    if (key->type != SQLITE_INTEGER)
        return FALSE;
    if (key->id < 0)
        return qd_term_id_to_term(key->id, buffer, ret_term);
    return key->id > 0 && resolver->get_term(resolver->data, key->id, ret_term, error);
}

static gboolean
append_iri(GString *out, const char *iri, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++) {
        if ((guchar) iri[i] <= ' ' || strchr("<>\"{}|^`\\", iri[i]) != NULL)
            return FALSE;
    }
    g_string_append_c(out, '<');
    g_string_append_len(out, iri, (gssize) n_bytes);
    g_string_append_c(out, '>');
    return TRUE;
}

static void
append_string(GString *out, const QdTerm *term)
{
    g_string_append_c(out, '"');
    for (gsize i = 0; i < term->n_lexical; i++) {
        char c = term->lexical[i];

        if (c == '\n' || c == '\r')
            g_string_append(out, c == '\n' ? "\\n" : "\\r");
        else if (c == '\0')
            g_string_append(out, "\\u0000");
        else if (c == '"' || c == '\\')
            g_string_append_printf(out, "\\%c", c);
        else
            g_string_append_c(out, c);
    }
    g_string_append_c(out, '"');
}

static gboolean
is_language(const char *tag, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++) {
        if (!g_ascii_isalnum(tag[i]) && tag[i] != '-')
            return FALSE;
    }
    return TRUE;
}

static gboolean
append_language(GString *out, const QdTerm *term)
{
    if (!is_language(term->qualifier, term->n_qualifier))
        return FALSE;
    g_string_append_c(out, '@');
    g_string_append_len(out, term->qualifier, (gssize) term->n_qualifier);
    return TRUE;
}

gboolean
qd_service_append_term(GString *out, const QdTerm *term)
{
    gsize before = out->len;
    gboolean ok = FALSE;

    switch (term->kind) {
    case QD_TERM_IRI:
        return append_iri(out, term->lexical, term->n_lexical);
    case QD_TERM_STRING:
        append_string(out, term);
        return TRUE;
    case QD_TERM_LANG_STRING:
        append_string(out, term);
        ok = append_language(out, term);
        break;
    case QD_TERM_TYPED:
        append_string(out, term);
        g_string_append(out, "^^");
        ok = append_iri(out, term->qualifier, term->n_qualifier);
        break;
    case QD_TERM_BNODE:
        break;
    }
    if (!ok)
        g_string_truncate(out, before);
    return ok;
}

/* A label that no other request has, nor the store. */
static char *
make_label(guint serial, const QwValue *value)
{
    GString *label = g_string_new(NULL);

    g_string_append_printf(label, "s%ux", serial);
    for (guint32 i = 0; i < value->n_bytes; i++) {
        if (g_ascii_isalnum(value->data[i]))
            g_string_append_c(label, value->data[i]);
        else
            g_string_append_printf(label, "_%02x", (guint8) value->data[i]);
    }
    return g_string_free(label, FALSE);
}

gboolean
qd_service_make_term(const QwValue *value, guint serial, QdTerm *ret_term, char **ret_owned)
{
    static const char integer[] = QD_XSD_NAMESPACE "integer";
    static const char real[] = QD_XSD_NAMESPACE "double";

    *ret_term = (QdTerm){ .lexical = value->data };
    if (!qw_type_is_word(value->type))
        ret_term->n_lexical = value->n_bytes;
    switch (value->type) {
    case QW_TYPE_NULL:
    case QW_TYPE_BLOB:
        return FALSE;
    case QW_TYPE_INTEGER:
        *ret_owned = g_strdup_printf("%" G_GINT64_FORMAT, value->integer);
        qd_term_init_literal(ret_term, *ret_owned, strlen(*ret_owned), integer, sizeof integer - 1);
        return TRUE;
    case QW_TYPE_FLOAT:
        *ret_owned = g_malloc(G_ASCII_DTOSTR_BUF_SIZE);
        (void) g_ascii_dtostr(*ret_owned, G_ASCII_DTOSTR_BUF_SIZE, value->real);
        qd_term_init_literal(ret_term, *ret_owned, strlen(*ret_owned), real, sizeof real - 1);
        return TRUE;
    case QW_TYPE_TEXT:
        ret_term->kind = QD_TERM_STRING;
        return TRUE;
    case QW_TYPE_IRI:
        ret_term->kind = QD_TERM_IRI;
        return TRUE;
    case QW_TYPE_BNODE:
        *ret_owned = make_label(serial, value);
        *ret_term = (QdTerm){ QD_TERM_BNODE, *ret_owned, strlen(*ret_owned), NULL, 0 };
        return TRUE;
    case QW_TYPE_LITERAL_LANG:
        if (!is_language(value->tag, value->n_tag_bytes)) /* queryd-service has refused it */
            return FALSE;
        *ret_term = (QdTerm){ QD_TERM_LANG_STRING, value->data, value->n_bytes, value->tag, value->n_tag_bytes };
        return TRUE;
    case QW_TYPE_LITERAL_TYPED:
        qd_term_init_literal(ret_term, value->data, value->n_bytes, value->tag, value->n_tag_bytes);
        return TRUE;
    }
    return FALSE;
}
