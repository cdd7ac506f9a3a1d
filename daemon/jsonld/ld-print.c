/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An IRI whose scheme is also a prefix of the context would be read as another IRI. Its node is then written once more, with a
 * context of its own that is null.
 */
#include "daemon/jsonld/ld-print.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/jsonld/json-canonical.h"
#include "daemon/jsonld/json-parser.h"

#define I18N_NAMESPACE "https://www.w3.org/ns/i18n#"
#define EXACT_DIGITS 15 /* an integer of so many is the same in a double */

/* Resources ------------------------------------------------------------------------------------------------------------- */

/* A name that is a term in a context. */
static gboolean
is_usable(const char *prefix)
{
    return prefix[0] != '\0' && prefix[0] != '@' && !g_str_equal(prefix, "_");
}

void
qd_ld_printer_init(QdLdPrinter *self, const QdJsonLdWriting *options, const QdPrefixMap *prefixes)
{
    *self = (QdLdPrinter){ 0 };
    if (options != NULL)
        self->options = *options;
    qd_limits_init(&self->limits);
    if (self->options.is_expanded || prefixes == NULL)
        return;
    self->prefixes = prefixes;
    self->names = g_hash_table_new(g_str_hash, g_str_equal);
}

void
qd_ld_printer_clear(QdLdPrinter *self)
{
    g_clear_pointer(&self->names, g_hash_table_unref);
}

gboolean
qd_ld_print_context(QdLdPrinter *self, GString *out)
{
    gsize start = out->len;

    for (guint i = 0; self->prefixes != NULL && i < qd_prefix_map_get_n(self->prefixes); i++) {
        const char *prefix;
        const char *iri;
        gboolean is_simple;

        qd_prefix_map_get(self->prefixes, i, &prefix, &iri);
        if (!is_usable(prefix))
            continue;
        (void) g_hash_table_add(self->names, (gpointer) prefix);
        is_simple = strchr(":/?#[]@", iri[strlen(iri) - 1]) != NULL;
        g_string_append(out, out->len == start ? "{\n" : ",\n");
        qd_json_append_string(out, prefix, strlen(prefix));
        g_string_append(out, is_simple ? ": " : ": {\"@id\": ");
        qd_json_append_string(out, iri, strlen(iri));
        g_string_append(out, is_simple ? "" : ", \"@prefix\": true}");
    }
    g_string_append(out, out->len == start ? "" : "\n}");
    return out->len > start;
}

static gboolean
print_prefixed(QdLdPrinter *self, GString *out, const QdTerm *term)
{
    guint state = 0;
    gsize n_iri;
    const char *prefix;

    while ((prefix = qd_prefix_map_find(self->prefixes, term->lexical, term->n_lexical, &state, &n_iri)) != NULL) {
        const char *local = term->lexical + n_iri;
        gsize n_local = term->n_lexical - n_iri;
        gsize start = out->len;

        if (!is_usable(prefix) || (n_local >= 2 && local[0] == '/' && local[1] == '/'))
            continue;
        qd_json_append_string(out, prefix, strlen(prefix));
        out->str[out->len - 1] = ':';
        start = out->len;
        qd_json_append_string(out, local, n_local);
        (void) g_string_erase(out, (gssize) start, 1);
        return TRUE;
    }
    return FALSE;
}

/* Whether the context makes another IRI of this one, written in full. */
static gboolean
is_misread(const QdLdPrinter *self, const QdTerm *term)
{
    const char *colon = memchr(term->lexical, ':', term->n_lexical);
    gsize n_rest = colon != NULL ? term->n_lexical - (gsize) (colon - term->lexical) - 1 : 0;
    g_autofree char *scheme = NULL;

    if (colon == NULL || (n_rest >= 2 && colon[1] == '/' && colon[2] == '/'))
        return FALSE;
    scheme = g_strndup(term->lexical, (gsize) (colon - term->lexical));
    return g_hash_table_contains(self->names, scheme);
}

/* @compact: by a prefix, where there is one */
static void
print_resource(QdLdPrinter *self, GString *out, const QdTerm *term)
{
    if (term->kind == QD_TERM_BNODE) {
        g_string_append(out, "\"_:");
        g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
        g_string_append_c(out, '"');
        return;
    }
    if (self->names != NULL && !self->is_plain) {
        if (print_prefixed(self, out, term))
            return;
        self->is_misread = self->is_misread || is_misread(self, term);
    }
    qd_json_append_string(out, term->lexical, term->n_lexical);
}

/* Values ---------------------------------------------------------------------------------------------------------------- */

static gboolean
is_type(const QdTerm *term, const char *iri)
{
    return term->n_qualifier == strlen(iri) && memcmp(term->qualifier, iri, term->n_qualifier) == 0;
}

static gboolean
is_boolean(const QdTerm *term)
{
    return is_type(term, QD_XSD_NAMESPACE "boolean") && ((term->n_lexical == 4 && memcmp(term->lexical, "true", 4) == 0) ||
                                                         (term->n_lexical == 5 && memcmp(term->lexical, "false", 5) == 0));
}

/* In the one form that the reader gives to a number of JSON. */
static gboolean
is_plain_integer(const QdTerm *term)
{
    gsize sign = term->n_lexical > 0 && term->lexical[0] == '-' ? 1 : 0;
    const char *digits = term->lexical + sign;
    gsize n = term->n_lexical - sign;

    if (!is_type(term, QD_XSD_NAMESPACE "integer") || n == 0 || n > EXACT_DIGITS || (digits[0] == '0' && n + sign > 1))
        return FALSE;
    for (gsize i = 0; i < n; i++)
        if (!g_ascii_isdigit(digits[i]))
            return FALSE;
    return TRUE;
}

/* Of useNativeTypes: any integer or double that JSON can hold. */
static gboolean
print_number(GString *out, const QdTerm *term)
{
    g_autofree char *text = g_strndup(term->lexical, term->n_lexical);
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    char *end;
    double value;

    if ((!is_type(term, QD_XSD_NAMESPACE "integer") && !is_type(term, QD_XSD_NAMESPACE "double")) || text[0] == '\0' ||
        strspn(text, "0123456789+-.eE") != strlen(text))
        return FALSE;
    value = g_ascii_strtod(text, &end);
    if (*end != '\0' || !(value - value == 0))
        return FALSE;
    g_string_append(out, g_ascii_dtostr(buffer, sizeof buffer, value));
    return TRUE;
}

/* @ret_done: whether the text was JSON and, unless it is to be strict, its canonical form */
static gboolean
print_json(QdLdPrinter *self, GString *out, const QdTerm *term, gboolean *ret_done, GError **error)
{
    g_autoptr(QdJsonArena) arena = qd_json_arena_new(&self->limits);
    g_autoptr(GString) canonical = g_string_new(NULL);
    g_autoptr(GError) local_error = NULL;
    QdJson *value;

    *ret_done = FALSE;
    if (!qd_json_parse(term->lexical, term->n_lexical, arena, &self->limits, &value, &local_error)) {
        if (self->options.is_expanded)
            qd_error_set(error, QW_ERROR_SYNTAX, "invalid JSON literal: %s", local_error->message);
        return !self->options.is_expanded;
    }
    qd_json_append_canonical(canonical, value);
    if (!self->options.is_expanded &&
        (canonical->len != term->n_lexical || memcmp(canonical->str, term->lexical, term->n_lexical) != 0))
        return TRUE;
    g_string_append_printf(out, "{\"@value\": %s, \"@type\": \"@json\"}", canonical->str);
    *ret_done = TRUE;
    return TRUE;
}

static void
print_pair(GString *out, const char *before, const char *text, gsize n)
{
    g_string_append(out, before);
    qd_json_append_string(out, text, n);
}

/* A datatype LANGUAGE_DIRECTION of the namespace i18n. */
static gboolean
print_i18n(QdLdPrinter *self, GString *out, const QdTerm *term)
{
    const gsize n_namespace = strlen(I18N_NAMESPACE);
    const char *name = term->qualifier + n_namespace;
    const char *bar;

    if (self->options.direction != QD_LD_DIRECTION_I18N || term->n_qualifier <= n_namespace ||
        memcmp(term->qualifier, I18N_NAMESPACE, n_namespace) != 0)
        return FALSE;
    bar = memchr(name, '_', term->n_qualifier - n_namespace);
    if (bar == NULL)
        return FALSE;
    print_pair(out, "{\"@value\": ", term->lexical, term->n_lexical);
    if (bar > name)
        print_pair(out, ", \"@language\": ", name, (gsize) (bar - name));
    print_pair(out, ", \"@direction\": ", bar + 1, term->n_qualifier - n_namespace - (gsize) (bar + 1 - name));
    g_string_append_c(out, '}');
    return TRUE;
}

static gboolean
print_typed(QdLdPrinter *self, GString *out, const QdTerm *term, GError **error)
{
    const QdTerm datatype = { .kind = QD_TERM_IRI, .lexical = term->qualifier, .n_lexical = term->n_qualifier };
    gboolean done = FALSE;
    gsize start = out->len;

    if (is_type(term, QD_RDF_NAMESPACE "JSON") && !print_json(self, out, term, &done, error))
        return FALSE;
    if (done || print_i18n(self, out, term))
        return TRUE;
    if (!self->options.is_expanded && (is_boolean(term) || is_plain_integer(term))) {
        g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
        return TRUE;
    }
    g_string_append(out, "{\"@value\": ");
    if (self->options.is_expanded && self->options.native_types) {
        gsize before = out->len;

        if (is_boolean(term))
            g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
        else if (is_type(term, QD_XSD_NAMESPACE "boolean") && term->n_lexical == 1 && strchr("01", term->lexical[0]) != NULL)
            g_string_append(out, term->lexical[0] == '1' ? "true" : "false");
        else
            (void) print_number(out, term);
        if (out->len > before) {
            g_string_append_c(out, '}');
            return TRUE;
        }
        g_string_truncate(out, start);
        g_string_append(out, "{\"@value\": ");
    }
    qd_json_append_string(out, term->lexical, term->n_lexical);
    g_string_append(out, ", \"@type\": ");
    print_resource(self, out, &datatype);
    g_string_append_c(out, '}');
    return TRUE;
}

static gboolean print_entry(QdLdPrinter *self, GString *out, const QdLdEntry *entry, GError **error);

static gboolean
print_list(QdLdPrinter *self, GString *out, const GPtrArray *list, GError **error)
{
    g_string_append(out, "{\"@list\": [");
    for (guint i = 0; i < list->len; i++) {
        g_string_append(out, i > 0 ? ", " : "");
        if (!print_entry(self, out, list->pdata[i], error))
            return FALSE;
    }
    g_string_append(out, "]}");
    return TRUE;
}

static gboolean
print_term(QdLdPrinter *self, GString *out, const QdTerm *term, GError **error)
{
    switch (term->kind) {
    case QD_TERM_IRI:
    case QD_TERM_BNODE:
        g_string_append(out, "{\"@id\": ");
        print_resource(self, out, term);
        g_string_append_c(out, '}');
        return TRUE;
    case QD_TERM_STRING:
        g_string_append(out, self->options.is_expanded ? "{\"@value\": " : "");
        qd_json_append_string(out, term->lexical, term->n_lexical);
        g_string_append(out, self->options.is_expanded ? "}" : "");
        return TRUE;
    case QD_TERM_LANG_STRING:
        print_pair(out, "{\"@value\": ", term->lexical, term->n_lexical);
        print_pair(out, ", \"@language\": ", term->qualifier, term->n_qualifier);
        g_string_append_c(out, '}');
        return TRUE;
    case QD_TERM_TYPED:
        return print_typed(self, out, term, error);
    }
    g_assert_not_reached();
}

static gboolean
print_entry(QdLdPrinter *self, GString *out, const QdLdEntry *entry, GError **error)
{
    if (entry->list != NULL)
        return print_list(self, out, entry->list, error);
    if (entry->text == NULL)
        return print_term(self, out, &entry->o, error);
    print_pair(out, "{\"@value\": ", entry->text->o.lexical, entry->text->o.n_lexical);
    if (entry->language != NULL)
        print_pair(out, ", \"@language\": ", entry->language->o.lexical, entry->language->o.n_lexical);
    print_pair(out, ", \"@direction\": ", entry->direction->o.lexical, entry->direction->o.n_lexical);
    g_string_append_c(out, '}');
    return TRUE;
}

/* Nodes ----------------------------------------------------------------------------------------------------------------- */

static gboolean
is_type_entry(const QdLdPrinter *self, const QdLdEntry *entry)
{
    return !self->options.rdf_type && (entry->o.kind == QD_TERM_IRI || entry->o.kind == QD_TERM_BNODE) &&
           qd_ld_term_is(&entry->p, QD_RDF_NAMESPACE "type");
}

static int
compare_predicates(const QdLdEntry *a, const QdLdEntry *b)
{
    int order = memcmp(a->p.lexical, b->p.lexical, MIN(a->p.n_lexical, b->p.n_lexical));

    return order != 0 ? order : (a->p.n_lexical > b->p.n_lexical) - (a->p.n_lexical < b->p.n_lexical);
}

static int
compare_entries(gconstpointer a, gconstpointer b, gpointer unused)
{
    return compare_predicates(*(const QdLdEntry *const *) a, *(const QdLdEntry *const *) b);
}

static void
print_types(QdLdPrinter *self, GString *out, const GPtrArray *types)
{
    gboolean is_array = types->len > 1 || self->options.is_expanded;

    if (types->len == 0)
        return;
    g_string_append(out, is_array ? ", \"@type\": [" : ", \"@type\": ");
    for (guint i = 0; i < types->len; i++) {
        g_string_append(out, i > 0 ? ", " : "");
        print_resource(self, out, &((const QdLdEntry *) types->pdata[i])->o);
    }
    g_string_append(out, is_array ? "]" : "");
}

/* The values from @start on that have one predicate. */
static gboolean
print_property(QdLdPrinter *self, GString *out, const GPtrArray *entries, guint *start, GError **error)
{
    const QdLdEntry *entry = entries->pdata[*start];
    guint end = *start + 1;
    gboolean is_array;

    while (end < entries->len && compare_predicates(entry, entries->pdata[end]) == 0)
        end++;
    is_array = end - *start > 1 || self->options.is_expanded;
    g_string_append(out, ", ");
    print_resource(self, out, &entry->p);
    g_string_append(out, is_array ? ": [" : ": ");
    for (guint i = *start; i < end; i++) {
        g_string_append(out, i > *start ? ", " : "");
        if (!print_entry(self, out, entries->pdata[i], error))
            return FALSE;
    }
    g_string_append(out, is_array ? "]" : "");
    *start = end;
    return TRUE;
}

static gboolean
print_graph(QdLdPrinter *self, GString *out, const QdLdGraph *graph, GError **error)
{
    gboolean is_first = TRUE;

    g_string_append(out, ", \"@graph\": [");
    for (guint i = 0; i < graph->order->len; i++) {
        const QdLdNode *node = graph->order->pdata[i];

        if (node->is_folded || node->first == NULL)
            continue;
        g_string_append(out, is_first ? "" : ", ");
        is_first = FALSE;
        if (!qd_ld_print_node(self, out, node, NULL, error))
            return FALSE;
    }
    g_string_append_c(out, ']');
    return TRUE;
}

gboolean
qd_ld_print_node(QdLdPrinter *self, GString *out, const QdLdNode *node, const QdLdGraph *graph, GError **error)
{
    g_autoptr(GPtrArray) types = g_ptr_array_new();
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    guint i = 0;

    for (QdLdEntry *entry = node->first; entry != NULL; entry = entry->next)
        g_ptr_array_add(is_type_entry(self, entry) ? types : entries, entry);
    g_ptr_array_sort_with_data(entries, compare_entries, NULL); /* stable */
    g_string_append(out, self->is_plain && self->names != NULL ? "{\"@context\": null, \"@id\": " : "{\"@id\": ");
    print_resource(self, out, &node->id);
    print_types(self, out, types);
    while (i < entries->len)
        if (!print_property(self, out, entries, &i, error))
            return FALSE;
    if (graph != NULL && !print_graph(self, out, graph, error))
        return FALSE;
    g_string_append_c(out, '}');
    return TRUE;
}
