/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes, lists and values as quads. A term without a lexical form stands for what is not well-formed.
 */
#include "daemon/jsonld/ld-emit.h"

#include <math.h>
#include <string.h>

#include "daemon/jsonld/json-canonical.h"
#include "daemon/rdf/code-point.h"

#define I18N_NAMESPACE "https://www.w3.org/ns/i18n#"
#define INTEGER_DIGITS 21 /* from 1e21 on a number is a double */
#define CONSTANT(iri) ((QdTerm){ .kind = QD_TERM_IRI, .lexical = (iri), .n_lexical = sizeof(iri) - 1 })

/* Terms ----------------------------------------------------------------------------------------------------------------- */

static gboolean
put(QdLdEmitter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, GError **error)
{
    if (s->lexical == NULL || p->lexical == NULL || o->lexical == NULL || (g != NULL && g->lexical == NULL))
        return TRUE;
    return self->reading->quad_func(s, p, o, g, self->reading->data, error);
}

static QdTerm
keep(QdLdEmitter *self, QdTermKind kind, const char *text, gsize n)
{
    return (QdTerm){ .kind = kind, .lexical = qd_json_arena_copy(self->ld->record, text, n), .n_lexical = n };
}

static QdTerm
make_anonymous(QdLdEmitter *self)
{
    char label[40];
    int n = g_snprintf(label, sizeof label, QD_RDF_ANONYMOUS_PREFIX "%" G_GUINT64_FORMAT, ++self->n_anonymous);

    return keep(self, QD_TERM_BNODE, label, (gsize) n);
}

/* BLANK_NODE_LABEL of Turtle. */
static gboolean
is_label(const char *text, gsize n)
{
    gsize i = 0;

    while (i < n) {
        gunichar c;
        guint size = qd_code_point_decode(text + i, n - i, &c);

        if (size == 0 || !(i == 0 ? qd_code_point_is_name_start(c) : qd_code_point_is_pn(c) || c == '.'))
            return FALSE;
        i += size;
    }
    return n > 0;
}

static QdTerm
make_resource(QdLdEmitter *self, const char *text)
{
    QdTerm term = { 0 };

    if (text == NULL)
        return term;
    if (qd_ld_is_bnode(text)) {
        if (!is_label(text + 2, strlen(text + 2)))
            return term;
        g_string_truncate(self->scratch, 0);
        qd_rdf_append_label(self->scratch, text + 2, strlen(text + 2));
        return keep(self, QD_TERM_BNODE, self->scratch->str, self->scratch->len);
    }
    if (qd_ld_is_iri(text))
        term = (QdTerm){ .kind = QD_TERM_IRI, .lexical = text, .n_lexical = strlen(text) };
    return term;
}

/* Values ---------------------------------------------------------------------------------------------------------------- */

/* Canonical form of xsd:double. */
static void
append_double(GString *out, double value)
{
    char buffer[40];
    char *exponent;
    gsize n;

    if (isinf(value)) {
        g_string_append(out, value < 0 ? "-INF" : "INF");
        return;
    }
    (void) g_ascii_formatd(buffer, sizeof buffer, "%.15E", value);
    exponent = strchr(buffer, 'E');
    for (n = (gsize) (exponent - buffer); buffer[n - 1] == '0' && buffer[n - 2] != '.'; n--)
        continue;
    g_string_append_len(out, buffer, (gssize) n);
    g_string_append_printf(out, "E%d", (int) g_ascii_strtoll(exponent + 1, NULL, 10));
}

/* @datatype: (inout): given, or chosen by the number */
static void
append_number(GString *out, const QdJson *number, const char **datatype)
{
    double value = g_ascii_strtod(number->text, NULL);
    const char *digits = number->text + (number->text[0] == '-' ? 1 : 0);
    gboolean is_double = *datatype != NULL && g_str_equal(*datatype, QD_XSD_NAMESPACE "double");
    char buffer[40];

    if (is_double || isinf(value) || value != trunc(value) || fabs(value) >= 1e21) {
        append_double(out, value);
        *datatype = *datatype != NULL ? *datatype : QD_XSD_NAMESPACE "double";
        return;
    }
    if (value == 0)
        g_string_append_c(out, '0');
    else if (strspn(digits, "0123456789") == strlen(digits) && strlen(digits) <= INTEGER_DIGITS)
        g_string_append(out, number->text);
    else
        g_string_append(out, g_ascii_formatd(buffer, sizeof buffer, "%.0f", value));
    *datatype = *datatype != NULL ? *datatype : QD_XSD_NAMESPACE "integer";
}

/* BCP 47, as far as letters, digits and hyphens go. */
static gboolean
is_language(const char *text)
{
    gsize n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

    while (n >= 1 && n <= 8) {
        text += n;
        if (*text == '\0')
            return TRUE;
        if (*text++ != '-')
            return FALSE;
        n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    }
    return FALSE;
}

static gboolean
make_compound(QdLdEmitter *self, const QdLdItem *item, const QdTerm *graph, QdTerm *ret, GError **error)
{
    const QdTerm value = CONSTANT(QD_RDF_NAMESPACE "value");
    const QdTerm language = CONSTANT(QD_RDF_NAMESPACE "language");
    const QdTerm direction = CONSTANT(QD_RDF_NAMESPACE "direction");
    QdTerm text = { .kind = QD_TERM_STRING, .lexical = item->value->text, .n_lexical = item->value->n_text };
    QdTerm node = make_anonymous(self);

    *ret = node;
    if (!put(self, &node, &value, &text, graph, error))
        return FALSE;
    if (item->language != NULL) {
        g_autofree char *lower = g_ascii_strdown(item->language, -1);

        text = keep(self, QD_TERM_STRING, lower, strlen(lower));
        if (!put(self, &node, &language, &text, graph, error))
            return FALSE;
    }
    text = keep(self, QD_TERM_STRING, item->direction, strlen(item->direction));
    return put(self, &node, &direction, &text, graph, error);
}

static const char *
make_i18n(QdLdEmitter *self, const QdLdItem *item)
{
    g_autofree char *lower = g_ascii_strdown(item->language != NULL ? item->language : "", -1);
    g_autofree char *iri = g_strconcat(I18N_NAMESPACE, lower, "_", item->direction, NULL);

    return qd_json_arena_copy(self->ld->record, iri, strlen(iri));
}

/* Object to RDF Conversion (§8.2). */
static gboolean
make_literal(QdLdEmitter *self, const QdLdItem *item, const QdTerm *graph, QdTerm *ret, GError **error)
{
    const char *datatype = item->types != NULL ? item->types->iri : NULL;
    const QdJson *value = item->value;
    QdLdDirection mode = self->ld->options->direction;

    *ret = (QdTerm){ 0 };
    g_string_truncate(self->scratch, 0);
    if (g_strcmp0(datatype, "@json") == 0) {
        qd_json_append_canonical(self->scratch, value);
        datatype = QD_RDF_NAMESPACE "JSON";
    } else if (value->kind == QD_JSON_TRUE || value->kind == QD_JSON_FALSE) {
        g_string_append(self->scratch, value->kind == QD_JSON_TRUE ? "true" : "false");
        datatype = datatype != NULL ? datatype : QD_XSD_NAMESPACE "boolean";
    } else if (value->kind == QD_JSON_NUMBER) {
        append_number(self->scratch, value, &datatype);
    } else if (item->direction != NULL && mode == QD_LD_DIRECTION_COMPOUND) {
        return make_compound(self, item, graph, ret, error);
    } else {
        if (item->language != NULL && !is_language(item->language))
            return TRUE;
        if (item->direction != NULL && mode == QD_LD_DIRECTION_I18N)
            datatype = make_i18n(self, item);
        *ret = (QdTerm){ .lexical = value->text, .n_lexical = value->n_text };
    }
    if (ret->lexical == NULL)
        *ret = keep(self, QD_TERM_TYPED, self->scratch->str, self->scratch->len);
    if (datatype != NULL) {
        qd_term_init_literal(ret, ret->lexical, ret->n_lexical, datatype, strlen(datatype));
    } else {
        ret->kind = item->language != NULL ? QD_TERM_LANG_STRING : QD_TERM_STRING;
        ret->qualifier = item->language;
        ret->n_qualifier = item->language != NULL ? strlen(item->language) : 0;
    }
    return TRUE;
}

/* Nodes ----------------------------------------------------------------------------------------------------------------- */

static gboolean emit_item(QdLdEmitter *self, const QdLdItem *item, const QdTerm *graph, QdTerm *ret, GError **error);

/* List Conversion (§8.3). */
static gboolean
emit_list(QdLdEmitter *self, const QdLdList *list, const QdTerm *graph, QdTerm *ret, GError **error)
{
    const QdTerm first = CONSTANT(QD_RDF_NAMESPACE "first");
    const QdTerm rest = CONSTANT(QD_RDF_NAMESPACE "rest");
    const QdTerm nil = CONSTANT(QD_RDF_NAMESPACE "nil");
    QdTerm cell = list->first != NULL ? make_anonymous(self) : nil;

    *ret = cell;
    for (const QdLdItem *item = list->first; item != NULL; item = item->next) {
        QdTerm next = item->next != NULL ? make_anonymous(self) : nil;
        QdTerm value;

        if (!emit_item(self, item, graph, &value, error) || !put(self, &cell, &first, &value, graph, error) ||
            !put(self, &cell, &rest, &next, graph, error))
            return FALSE;
        cell = next;
    }
    return TRUE;
}

static gboolean
emit_properties(QdLdEmitter *self, const QdLdItem *item, const QdTerm *subject, const QdTerm *graph, GError **error)
{
    for (const QdLdProperty *property = item->properties; property != NULL; property = property->next) {
        QdTerm predicate = make_resource(self, property->iri);

        if (predicate.kind == QD_TERM_BNODE)
            predicate.lexical = NULL;
        for (const QdLdItem *value = property->values.first; value != NULL; value = value->next) {
            QdTerm object;

            if (!emit_item(self, value, graph, &object, error) || !put(self, subject, &predicate, &object, graph, error))
                return FALSE;
        }
    }
    for (const QdLdProperty *property = item->reverse; property != NULL; property = property->next) {
        QdTerm predicate = make_resource(self, property->iri);
        QdTerm object;

        if (predicate.kind == QD_TERM_BNODE)
            predicate.lexical = NULL;
        if (!emit_item(self, property->values.first, graph, &object, error) ||
            !put(self, &object, &predicate, subject, graph, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
emit_all(QdLdEmitter *self, const QdLdList *items, const QdTerm *graph, GError **error)
{
    QdTerm unused;

    for (const QdLdItem *item = items->first; item != NULL; item = item->next)
        if (!emit_item(self, item, graph, &unused, error))
            return FALSE;
    return TRUE;
}

static gboolean
emit_node(QdLdEmitter *self, const QdLdItem *item, const QdTerm *graph, QdTerm *ret, GError **error)
{
    const QdTerm type = CONSTANT(QD_RDF_NAMESPACE "type");
    QdTerm subject = (item->has & QD_LD_HAS_ID) != 0 ? make_resource(self, item->id) : make_anonymous(self);

    *ret = subject;
    for (const QdLdType *name = item->types; name != NULL; name = name->next) {
        QdTerm object = make_resource(self, name->iri);

        if (!put(self, &subject, &type, &object, graph, error))
            return FALSE;
    }
    return emit_properties(self, item, &subject, graph, error) && emit_all(self, &item->included, graph, error) &&
           emit_all(self, &item->graph, &subject, error);
}

/* @ret: the term that stands for @item as a value; without a lexical form when there is none */
static gboolean
emit_item(QdLdEmitter *self, const QdLdItem *item, const QdTerm *graph, QdTerm *ret, GError **error)
{
    if (!qd_json_arena_check(self->ld->record, error))
        return FALSE;
    if ((item->has & QD_LD_HAS_VALUE) != 0)
        return make_literal(self, item, graph, ret, error);
    if ((item->has & QD_LD_HAS_LIST) != 0)
        return emit_list(self, &item->content, graph, ret, error);
    return emit_node(self, item, graph, ret, error);
}

gboolean
qd_ld_emit(QdLdEmitter *self, const QdLdList *items, GError **error)
{
    return emit_all(self, items, NULL, error);
}
