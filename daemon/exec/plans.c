/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cache of plans, and values of parameters as terms.
 */
#include "daemon/exec/plans.h"

#include <math.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/iri.h"
#include "daemon/store/store-catalog.h"

#define N_PLANS_MAX 64
#define CATALOG_USEC 1000000 /* totals of this age do */
#define GROWTH 4             /* so many times more or fewer quads, and join orders are chosen anew */

typedef struct Entry {
    GBytes *key;
    QdSparqlPlan *plan;
    guint64 n_quads; /* when it was made */
    guint64 last_use;
} Entry;

typedef struct Plans {
    GPtrArray *entries; /* of Entry */
    guint64 clock;
    QdCatalog catalog;
    gint64 catalog_usec; /* when its totals were read */
} Plans;

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    g_bytes_unref(entry->key);
    (void) qd_sparql_plan_free(entry->plan);
    g_free(entry);
}

static void
plans_free(gpointer data)
{
    g_ptr_array_unref(((Plans *) data)->entries);
    g_free(data);
}

static Plans *
get_plans(QdConnection *connection)
{
    Plans *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_PLANS);

    if (self == NULL) {
        self = g_new0(Plans, 1);
        self->entries = g_ptr_array_new_with_free_func(entry_free);
        qd_connection_set_attachment(connection, QD_ATTACHMENT_PLANS, self, plans_free);
    }
    return self;
}

/* Kind, base and the names in order, each with a NUL behind it, then the text. */
static GBytes *
make_key(const QdPlanText *what, char **names)
{
    GByteArray *key = g_byte_array_new();

    g_byte_array_append(key, (const guint8 *) (what->is_update ? "u" : "q"), 2);
    g_byte_array_append(key, (const guint8 *) (what->base != NULL ? what->base : ""),
                        (guint) (what->base != NULL ? strlen(what->base) : 0) + 1);
    for (char **name = names; *name != NULL; name++)
        g_byte_array_append(key, (const guint8 *) *name, (guint) strlen(*name) + 1);
    g_byte_array_append(key, (const guint8 *) "", 1);
    g_byte_array_append(key, (const guint8 *) what->text, (guint) what->n_bytes);
    return g_byte_array_free_to_bytes(key);
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* (transfer container): sorted, so that the same set is the same key. */
static char **
list_names(GHashTable *parameters)
{
    guint n = 0;
    char **names = parameters != NULL ? (char **) g_hash_table_get_keys_as_array(parameters, &n) : g_new0(char *, 1);

    qsort(names, n, sizeof(char *), compare_names);
    return names;
}

static void
drop_oldest(Plans *self)
{
    guint oldest = 0;

    if (self->entries->len < N_PLANS_MAX)
        return;
    for (guint i = 1; i < self->entries->len; i++) {
        if (((Entry *) self->entries->pdata[i])->last_use < ((Entry *) self->entries->pdata[oldest])->last_use)
            oldest = i;
    }
    g_ptr_array_remove_index_fast(self->entries, oldest);
}

/* Totals of now, or of a moment ago. */
static gboolean
refresh_catalog(Plans *self, QdConnection *connection, GError **error)
{
    gint64 now = g_get_monotonic_time();

    if (self->catalog_usec != 0 && now - self->catalog_usec < CATALOG_USEC)
        return TRUE;
    self->catalog_usec = now;
    return qd_store_catalog_load(connection, &self->catalog, error);
}

static gboolean
is_stale(const Plans *self, const Entry *entry)
{
    return self->catalog.n_quads / GROWTH > entry->n_quads || entry->n_quads / GROWTH > self->catalog.n_quads;
}

/* The entry of @key that may still be used. */
static Entry *
find_entry(Plans *self, GBytes *key)
{
    for (guint i = 0; i < self->entries->len; i++) {
        Entry *entry = self->entries->pdata[i];

        if (!g_bytes_equal(entry->key, key))
            continue;
        if (!is_stale(self, entry) && qd_sparql_plan_has_prefixes(entry->plan, &self->catalog)) {
            entry->last_use = self->clock;
            return entry;
        }
        g_ptr_array_remove_index_fast(self->entries, i);
        break;
    }
    return NULL;
}

const QdSparqlPlan *
qd_plans_get(QdConnection *connection, const QdPlanText *what, GHashTable *parameters, const QdLimits *limits, GError **error)
{
    Plans *self = get_plans(connection);
    g_autofree char **names = list_names(parameters);
    const QdSparqlOptions options = { .base = what->base, .limits = limits, .parameters = (const char *const *) names };
    g_autoptr(GBytes) key = make_key(what, names);
    Entry *entry;
    QdSparqlPlan *plan;

    if (!refresh_catalog(self, connection, error))
        return NULL;
    self->clock++;
    entry = find_entry(self, key);
    if (entry != NULL)
        return entry->plan;
    if (what->n_bytes > qd_limits_get(limits, QD_LIMIT_STATEMENT_TEXT_BYTES)) {
        qd_limit_set_error(error, limits, QD_LIMIT_STATEMENT_TEXT_BYTES, "text of %zu bytes is too long", what->n_bytes);
        return NULL;
    }
    if (what->base != NULL &&
        (!qd_iri_is_absolute(what->base, strlen(what->base)) || !qd_iri_check(what->base, strlen(what->base)))) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "base '%.200s' is no absolute IRI", what->base);
        return NULL;
    }
    plan = qd_sparql_compile(what->text, what->n_bytes, what->is_update, &options, &self->catalog, error);
    if (plan == NULL)
        return NULL;
    drop_oldest(self);
    entry = g_new0(Entry, 1);
    *entry = (Entry){ g_steal_pointer(&key), plan, self->catalog.n_quads, self->clock };
    g_ptr_array_add(self->entries, entry);
    return plan;
}

/* --- values of parameters --------------------------------------------------------------------------------------------- */

GHashTable *
qd_plans_new_parameters(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* A term with its texts behind it, in one piece of memory. */
static QdTerm *
make_term(QdTermKind kind, const char *lexical, gsize n_lexical, const char *qualifier, gsize n_qualifier)
{
    QdTerm *term = g_malloc0(sizeof(QdTerm) + n_lexical + n_qualifier);
    char *texts = (char *) (term + 1);

    if (n_lexical > 0)
        memcpy(texts, lexical, n_lexical);
    if (n_qualifier > 0)
        memcpy(texts + n_lexical, qualifier, n_qualifier);
    *term = (QdTerm){ kind, texts, n_lexical, qualifier != NULL ? texts + n_lexical : NULL, n_qualifier };
    if (kind == QD_TERM_TYPED)
        qd_term_init_literal(term, texts, n_lexical, texts + n_lexical, n_qualifier);
    return term;
}

static QdTerm *
make_number(const char *text, const char *type)
{
    g_autofree char *datatype = g_strconcat(QD_XSD_NAMESPACE, type, NULL);

    return make_term(QD_TERM_TYPED, text, strlen(text), datatype, strlen(datatype));
}

static QdTerm *
make_double(double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    if (isnan(value))
        return make_number("NaN", "double");
    if (isinf(value))
        return make_number(value > 0 ? "INF" : "-INF", "double");
    return make_number(g_ascii_dtostr(text, sizeof text, value), "double");
}

gboolean
qd_plans_add_parameter(GHashTable *parameters, const char *name, const QwValue *value, GError **error)
{
    g_autofree char *number = NULL;
    QdTerm *term = NULL;

    switch (value->type) {
    case QW_TYPE_NULL:
        return TRUE;
    case QW_TYPE_INTEGER:
        number = g_strdup_printf("%" G_GINT64_FORMAT, value->integer);
        term = make_number(number, "integer");
        break;
    case QW_TYPE_FLOAT:
        term = make_double(value->real);
        break;
    case QW_TYPE_TEXT:
        term = make_term(QD_TERM_STRING, value->data, value->n_bytes, NULL, 0);
        break;
    case QW_TYPE_IRI:
        term = make_term(QD_TERM_IRI, value->data, value->n_bytes, NULL, 0);
        break;
    case QW_TYPE_BNODE:
        term = make_term(QD_TERM_BNODE, value->data, value->n_bytes, NULL, 0);
        break;
    case QW_TYPE_LITERAL_LANG:
        term = make_term(QD_TERM_LANG_STRING, value->data, value->n_bytes, value->tag, value->n_tag_bytes);
        break;
    case QW_TYPE_LITERAL_TYPED:
        term = make_term(QD_TERM_TYPED, value->data, value->n_bytes, value->tag, value->n_tag_bytes);
        break;
    case QW_TYPE_BLOB:
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s' is a blob, which is no RDF term", name);
        return FALSE;
    }
    g_hash_table_insert(parameters, g_strdup(name + 1), term);
    return TRUE;
}
