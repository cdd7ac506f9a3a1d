/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of parameters as tokens of SPARQL.
 */
#include <math.h>
#include <string.h>

#include "client-lib/text/text-number.h"
#include "daemon/rdf/iri.h"
#include "daemon/rdf/term.h"
#include "daemon/tracker/tracker-text-private.h"

static void
put_string(GString *out, const char *text, gsize n_bytes)
{
    g_string_append_c(out, '"');
    for (gsize i = 0; i < n_bytes; i++) {
        switch (text[i]) {
        case '"':
        case '\\':
            g_string_append_c(out, '\\');
            g_string_append_c(out, text[i]);
            break;
        case '\n':
            g_string_append(out, "\\n");
            break;
        case '\r':
            g_string_append(out, "\\r");
            break;
        default:
            g_string_append_c(out, text[i]);
            break;
        }
    }
    g_string_append_c(out, '"');
}

static const QwValue *
find_value(const QdTranslator *self, const char *name)
{
    const QdParameters *parameters = self->profile->parameters;

    for (guint i = 0; parameters != NULL && i < qd_parameters_get_n(parameters); i++)
        if (g_str_equal(qd_parameters_get_key(parameters, i), name))
            return qd_parameters_get_value(parameters, i);
    return NULL;
}

static gboolean
is_iri(const QwValue *value)
{
    return qd_iri_is_absolute(value->data, value->n_bytes) && qd_iri_check(value->data, value->n_bytes);
}

static void
put_iri(GString *out, const QwValue *value)
{
    g_string_append_c(out, '<');
    g_string_append_len(out, value->data, value->n_bytes);
    g_string_append_c(out, '>');
}

/* The object of a pattern: the range of the predicate would say which it is. */
static void
put_either(QdTranslator *self, const QwValue *value)
{
    QdTrackerScope *scope = NULL;

    for (guint i = self->scopes->len; i-- > 0 && scope == NULL;) {
        QdTrackerScope *candidate = &g_array_index(self->scopes, QdTrackerScope, i);

        scope = candidate->kind == QD_TRACKER_PATTERN ? candidate : NULL;
    }
    if (scope == NULL || !is_iri(value)) {
        put_string(self->out, value->data, value->n_bytes);
        return;
    }

    if (scope->values == NULL)
        scope->values = g_string_new(NULL);
    g_string_append_printf(self->out, "?queryd_%u", self->n_made);
    g_string_append_printf(scope->values, " VALUES ?queryd_%u {", self->n_made++);
    put_string(scope->values, value->data, value->n_bytes);
    g_string_append_c(scope->values, ' ');
    put_iri(scope->values, value);
    g_string_append(scope->values, "} ");
}

static gboolean
put_text(QdTranslator *self, const char *name, const QwValue *value, QdTrackerPlace place)
{
    if (place == QD_TRACKER_RESOURCE && !is_iri(value))
        return qd_translator_fail(self, QW_ERROR_BAD_PARAMETER, "the value of '~%s' stands for a resource, but is no absolute IRI",
                                  name);
    switch (place) {
    case QD_TRACKER_RESOURCE:
        put_iri(self->out, value);
        break;
    case QD_TRACKER_OBJECT:
        put_either(self, value);
        break;
    case QD_TRACKER_LITERAL:
        put_string(self->out, value->data, value->n_bytes);
        break;
    }
    return TRUE;
}

static void
put_double(GString *out, double value)
{
    char number[QW_TEXT_NUMBER_BYTES];

    g_string_append_c(out, '"');
    if (isfinite(value))
        g_string_append_len(out, number, qw_text_put_double(number, value) - number);
    else
        g_string_append(out, isnan(value) ? "NaN" : value > 0 ? "INF" : "-INF");
    g_string_append(out, "\"^^<" QD_XSD_NAMESPACE "double>");
}

static gboolean
is_tag(const QwValue *value)
{
    for (guint32 i = 0; i < value->n_tag_bytes; i++)
        if (!g_ascii_isalnum(value->tag[i]) && (value->tag[i] != '-' || i == 0 || i + 1 == value->n_tag_bytes))
            return FALSE;
    return value->n_tag_bytes > 0 && g_ascii_isalpha(value->tag[0]);
}

static gboolean
put_value(QdTranslator *self, const char *name, const QwValue *value, QdTrackerPlace place)
{
    char number[QW_TEXT_NUMBER_BYTES];

    switch (value->type) {
    case QW_TYPE_INTEGER:
        g_string_append_len(self->out, number, qw_text_put_int64(number, value->integer) - number);
        return TRUE;
    case QW_TYPE_FLOAT:
        put_double(self->out, value->real);
        return TRUE;
    case QW_TYPE_TEXT:
        return put_text(self, name, value, place);
    case QW_TYPE_LITERAL_LANG:
        put_string(self->out, value->data, value->n_bytes);
        if (!is_tag(value))
            return qd_translator_fail(self, QW_ERROR_BAD_PARAMETER, "the value of '~%s' has no language tag", name);
        g_string_append_c(self->out, '@');
        g_string_append_len(self->out, value->tag, value->n_tag_bytes);
        return TRUE;
    case QW_TYPE_LITERAL_TYPED: /* a boolean */
        g_string_append_len(self->out, value->data, value->n_bytes);
        return TRUE;
    case QW_TYPE_NULL:
    case QW_TYPE_BLOB:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
        break;
    }
    return qd_translator_fail(self, QW_ERROR_BAD_PARAMETER, "the value of '~%s' has a type that no parameter takes", name);
}

gboolean
qd_translator_put_parameter(QdTranslator *self, QdTrackerPlace place)
{
    g_autofree char *name = g_strndup(self->token.text, self->token.n_text);
    const QwValue *value = find_value(self, name);

    if (value == NULL)
        return qd_translator_fail(self, QW_ERROR_BAD_PARAMETER, "the parameter '~%s' has no value", name);
    return put_value(self, name, value, place);
}

void
qd_tracker_set_tagged(QwValue *value, const char *data, gsize n_bytes)
{
    const char *nul = n_bytes > 0 ? memchr(data, '\0', n_bytes) : NULL;

    *value = (QwValue){ .type = QW_TYPE_NULL };
    if (nul == NULL || !g_utf8_validate(data, nul - data, NULL))
        return;
    *value = (QwValue){ .type = QW_TYPE_LITERAL_LANG, .data = data, .n_bytes = (uint32_t) (nul - data), .tag = nul + 1 };
    value->n_tag_bytes = (uint32_t) strnlen(nul + 1, n_bytes - value->n_bytes - 1);
}
