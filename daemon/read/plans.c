/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cache of plans, and values of parameters as terms.
 */
#include "daemon/read/plans.h"

#include <math.h>
#include <string.h>

#include "client-lib/wire/wire-recent.h"
#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/plan/compile.h"
#include "daemon/quads/store-catalog.h"
#include "daemon/rdf/iri.h"
#include "daemon/sparql/fingerprint.h"
#include "daemon/sqlite/guard/compile-seat.h"
#include "daemon/sqlite/memory.h"

#define N_PLANS_MAX 64
#define PLANS_BYTES ((gsize) 4 << 20) /* of all, beside the one that was made last */
#define TEXT_COPIES 2                 /* what has no fingerprint is kept; a fingerprint has the text, and that without constants */
#define N_VARIANTS_MAX 4              /* plans of one fingerprint, for constants that differ in how much they match */
#define FRESH_USEC 1000000            /* totals and counts of this age do */
#define GROWTH 4                      /* so many times more or fewer quads, and join orders are chosen again */

/*
 * A plan, and the last text that it was used for: the values of that text are in it.
 */
typedef struct Entry {
    GBytes *head;               /* what beside the text makes the plan */
    GBytes *long_text;          /* of what has no fingerprint */
    QdFingerprint *fingerprint; /* (nullable) */
    QdSparqlPlan *plan;
    gsize n_bytes;       /* that count as memory */
    guint64 n_quads;     /* when it was made */
    gint64 checked_usec; /* when its counts were last looked at */
} Entry;

typedef struct Plans {
    QwRecent recent; /* of Entry */
    void *entries[N_PLANS_MAX];
    QdCatalog catalog;
    gint64 catalog_usec;      /* when its totals were read */
    QdPlanCounters *counters; /* (nullable) */
} Plans;

static void
entry_free(Entry *entry)
{
    if (entry == NULL)
        return;

    g_bytes_unref(entry->head);
    g_clear_pointer(&entry->long_text, g_bytes_unref);
    (void) qd_fingerprint_free(entry->fingerprint);
    (void) qd_sparql_plan_free(entry->plan);
    qd_memory_give_other((int64_t) entry->n_bytes);
    g_free(entry);
}

static void
plans_free(gpointer data)
{
    Plans *self = data;

    while (self->recent.n > 0)
        entry_free(qw_recent_pop(&self->recent));
    g_free(self);
}

static Plans *
get_plans(QdConnection *connection)
{
    Plans *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_PLANS);

    if (self == NULL) {
        self = g_new0(Plans, 1);
        self->recent = (QwRecent){ .items = self->entries, .max = N_PLANS_MAX };
        qd_connection_set_attachment(connection, QD_ATTACHMENT_PLANS, self, plans_free);
    }
    return self;
}

gsize
qd_plans_get_size(QdConnection *connection)
{
    const Plans *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_PLANS);
    gsize n_bytes = 0;

    for (guint i = 0; self != NULL && i < self->recent.n; i++)
        n_bytes += ((const Entry *) self->entries[i])->n_bytes;
    return n_bytes;
}

void
qd_plans_trim(QdConnection *connection)
{
    Plans *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_PLANS);

    while (self != NULL && self->recent.n > 0)
        entry_free(qw_recent_pop(&self->recent));
}

void
qd_plans_set_counters(QdConnection *connection, QdPlanCounters *counters)
{
    get_plans(connection)->counters = counters;
}

static void
put_text(GByteArray *head, const char *text)
{
    g_byte_array_append(head, (const guint8 *) text, (guint) strlen(text) + 1);
}

static void
put_number(GByteArray *head, guint64 number)
{
    g_byte_array_append(head, (const guint8 *) &number, sizeof number);
}

/* Kind, base, dataset and the names in order, each followed by a NUL; then whose grants they are. */
static GBytes *
make_head(const QdPlanText *what, char **names)
{
    GByteArray *head = g_byte_array_new();

    put_text(head, what->is_update ? "u" : what->is_second ? "q2" : "q");
    put_text(head, what->base != NULL ? what->base : "");
    put_text(head, what->dataset != NULL ? what->dataset : "");
    for (char **name = names; *name != NULL; name++)
        put_text(head, *name);
    if (what->access != NULL)
        put_number(head, qd_access_get_id(what->access));
    return g_byte_array_free_to_bytes(head);
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

/* Totals of now, or of a moment ago. */
static gboolean
refresh_catalog(Plans *self, QdConnection *connection, gint64 now, GError **error)
{
    if (self->catalog_usec != 0 && now - self->catalog_usec < FRESH_USEC)
        return TRUE;
    self->catalog_usec = now;
    return qd_store_catalog_load(connection, &self->catalog, error);
}

static gboolean
is_stale(const Plans *self, const Entry *entry)
{
    return self->catalog.n_quads / GROWTH > entry->n_quads || entry->n_quads / GROWTH > self->catalog.n_quads;
}

/* --- finding a plan --------------------------------------------------------------------------------------------------- */

static gboolean
has_text(const Entry *entry, const QdPlanText *what)
{
    gsize n_bytes;
    const char *text = entry->fingerprint != NULL ? qd_fingerprint_get_text(entry->fingerprint, &n_bytes)
                                                  : g_bytes_get_data(entry->long_text, &n_bytes);

    return n_bytes == what->n_bytes && memcmp(text, what->text, n_bytes) == 0;
}

/* Whether the plan serves the text, too, as far as rows are concerned. */
static gboolean
has_fingerprint(const Entry *entry, const QdFingerprint *fingerprint)
{
    gsize n_own, n_other;
    const guint8 *own, *other;

    if (entry->fingerprint == NULL)
        return FALSE;
    own = qd_fingerprint_get_skeleton(entry->fingerprint, &n_own);
    other = qd_fingerprint_get_skeleton(fingerprint, &n_other);
    if (n_own != n_other || memcmp(own, other, n_own) != 0)
        return FALSE;
    for (guint i = 0; i < qd_fingerprint_get_n_values(fingerprint); i++) {
        if (!qd_fingerprint_value_is_equal(entry->fingerprint, fingerprint, i) &&
            !qd_sparql_plan_takes_value(entry->plan, entry->fingerprint, i))
            return FALSE;
    }
    return TRUE;
}

/* Looks at the counts again, if that was a while ago. */
static gboolean
still_fits(const Plans *self, Entry *entry, gint64 now)
{
    if (now - entry->checked_usec < FRESH_USEC)
        return TRUE;
    entry->checked_usec = now;
    return !is_stale(self, entry) && qd_sparql_plan_fits(entry->plan, &self->catalog);
}

static Entry *
find_text(Plans *self, GBytes *head, const QdPlanText *what, gint64 now)
{
    for (guint i = self->recent.n; i-- > 0;) {
        Entry *entry = self->entries[i];

        if (!g_bytes_equal(entry->head, head) || !has_text(entry, what))
            continue;
        if (still_fits(self, entry, now) && qd_sparql_plan_has_prefixes(entry->plan, &self->catalog)) {
            qw_recent_use(&self->recent, i);
            return entry;
        }
        entry_free(qw_recent_remove(&self->recent, i));
        break;
    }
    return NULL;
}

/* A plan whose join orders suit the values of @*fingerprint, which is taken then. */
static Entry *
find_fingerprint(Plans *self, GBytes *head, QdFingerprint **fingerprint, gint64 now)
{
    guint oldest = 0;
    guint n_variants = 0;

    for (guint i = self->recent.n; i-- > 0;) {
        Entry *entry = self->entries[i];

        if (!g_bytes_equal(entry->head, head) || !has_fingerprint(entry, *fingerprint) ||
            !qd_sparql_plan_has_prefixes(entry->plan, &self->catalog))
            continue;
        n_variants++;
        oldest = i;
        if (!qd_sparql_plan_fill(entry->plan, *fingerprint)) {
            entry_free(qw_recent_remove(&self->recent, i)); /* its terms are neither the old ones nor the new */
            return NULL;
        }
        if (!is_stale(self, entry) && qd_sparql_plan_fits(entry->plan, &self->catalog)) {
            (void) qd_fingerprint_free(entry->fingerprint);
            entry->fingerprint = g_steal_pointer(fingerprint);
            entry->checked_usec = now;
            qw_recent_use(&self->recent, i);
            return entry;
        }
        (void) qd_sparql_plan_fill(entry->plan, entry->fingerprint);
    }
    if (n_variants >= N_VARIANTS_MAX)
        entry_free(qw_recent_remove(&self->recent, oldest));
    return NULL;
}

/* --- making a plan ---------------------------------------------------------------------------------------------------- */

static gboolean
check_text(const QdPlanText *what, const QdLimits *limits, GError **error)
{
    if (what->n_bytes > qd_limits_get(limits, QD_LIMIT_STATEMENT_TEXT_BYTES)) {
        qd_limit_set_error(error, limits, QD_LIMIT_STATEMENT_TEXT_BYTES, "text of %zu bytes is too long", what->n_bytes);
        return FALSE;
    }
    if (what->dataset != NULL && strlen(what->dataset) > qd_limits_get(limits, QD_LIMIT_STATEMENT_TEXT_BYTES)) {
        qd_limit_set_error(error, limits, QD_LIMIT_STATEMENT_TEXT_BYTES, "dataset of %zu bytes is too long", strlen(what->dataset));
        return FALSE;
    }
    if (what->base != NULL &&
        (!qd_iri_is_absolute(what->base, strlen(what->base)) || !qd_iri_check(what->base, strlen(what->base)))) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "base '%.200s' is no absolute IRI", what->base);
        return FALSE;
    }
    return TRUE;
}

/* Others leave until what is kept is small: @added may be used without them. */
static void
make_room(Plans *self, const Entry *added)
{
    gsize n_bytes = 0;

    for (guint i = self->recent.n; i-- > 0;) {
        Entry *entry = self->entries[i];

        if (entry == added)
            continue;
        n_bytes += entry->n_bytes;
        if (n_bytes > PLANS_BYTES)
            entry_free(qw_recent_remove(&self->recent, i));
    }
}

static Entry *
add_entry(Plans *self, GBytes *head, const QdPlanText *what, QdFingerprint *fingerprint, QdSparqlPlan *plan, gsize n_bytes,
          gint64 now)
{
    Entry *entry = g_new0(Entry, 1);

    *entry = (Entry){
        .head = g_bytes_ref(head),
        .long_text = fingerprint == NULL ? g_bytes_new(what->text, what->n_bytes) : NULL,
        .fingerprint = fingerprint,
        .plan = plan,
        .n_bytes = n_bytes,
        .n_quads = self->catalog.n_quads,
        .checked_usec = now,
    };
    entry_free(qw_recent_add(&self->recent, entry));
    make_room(self, entry);
    return entry;
}

static void
count(const Plans *self, gboolean found, gint64 since_usec)
{
    if (self->counters == NULL)
        return;
    __atomic_add_fetch(found ? &self->counters->n_found : &self->counters->n_made, 1, __ATOMIC_RELAXED);
    if (!found)
        __atomic_add_fetch(&self->counters->made_usec, (guint64) (g_get_monotonic_time() - since_usec), __ATOMIC_RELAXED);
}

static gboolean
take_memory(gsize n_bytes, const QdLimits *limits, GError **error)
{
    if (qd_memory_take_other((int64_t) n_bytes))
        return TRUE;
    qd_limit_set_error(error, limits, QD_LIMIT_HEAP_HARD_BYTES, "no memory for a plan of %zu bytes", n_bytes);
    return FALSE;
}

static Entry *
find_or_make(Plans *self, QdConnection *connection, const QdPlanText *what, GHashTable *parameters, const QdLimits *limits,
             GError **error)
{
    g_autofree char **names = list_names(parameters);
    QdSparqlOptions options = {
        .base = what->base,
        .dataset = what->dataset,
        .limits = limits,
        .parameters = (const char *const *) names,
        .is_second = what->is_second,
        .access = what->access,
    };
    g_autoptr(GBytes) head = make_head(what, names);
    g_autoptr(QdFingerprint) fingerprint = NULL;
    gint64 now = g_get_monotonic_time();
    QdCompileSeat seat;
    QdSparqlPlan *plan;
    gsize n_bytes;
    Entry *entry;

    if (!refresh_catalog(self, connection, now, error))
        return NULL;
    entry = find_text(self, head, what, now);
    /* the graphs that a text names are looked at when it is compiled: another text of the fingerprint has others */
    if (entry == NULL && what->access == NULL && what->n_bytes <= QD_FINGERPRINT_TEXT_MAX)
        fingerprint = qd_fingerprint_new(what->text, what->n_bytes);
    if (fingerprint != NULL)
        entry = find_fingerprint(self, head, &fingerprint, now);
    if (entry == NULL) {
        if (!check_text(what, limits, error))
            return NULL;
        options.fingerprint = fingerprint;
        qd_connection_take_compile_seat(connection, &seat);
        plan = qd_sparql_compile(what->text, what->n_bytes, what->is_update, &options, &self->catalog, error);
        qd_compile_seat_give(&seat);
        if (plan == NULL)
            return NULL;
        n_bytes = qd_sparql_plan_get_size(plan) + TEXT_COPIES * what->n_bytes;
        if (!take_memory(n_bytes, limits, error)) {
            (void) qd_sparql_plan_free(plan);
            return NULL;
        }
        entry = add_entry(self, head, what, g_steal_pointer(&fingerprint), plan, n_bytes, now);
        count(self, FALSE, now);
    } else {
        count(self, TRUE, now);
    }
    if (entry->fingerprint != NULL)
        qd_fingerprint_forget_tokens(entry->fingerprint);
    return entry;
}

const QdSparqlPlan *
qd_plans_get(QdConnection *connection, const QdPlanText *what, GHashTable *parameters, const QdLimits *limits, GError **error)
{
    Plans *self = get_plans(connection);
    gboolean begun = sqlite3_get_autocommit(qd_connection_get_db(connection)) != 0;
    Entry *entry;

    /* many little look-ups in one transaction: each by itself would look for its snapshot */
    if (begun && !qd_connection_begin(connection, error))
        return NULL;
    entry = find_or_make(self, connection, what, parameters, limits, error);
    if (begun)
        (void) qd_connection_end(connection, NULL);
    return entry != NULL ? entry->plan : NULL;
}

/* --- values of parameters --------------------------------------------------------------------------------------------- */

GHashTable *
qd_plans_new_parameters(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* A term followed by its texts, in one piece of memory. */
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
    const char *fault;

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
    fault = qd_term_find_fault(term);
    if (fault != NULL) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s' %s", name, fault);
        g_free(term);
        return FALSE;
    }
    g_hash_table_insert(parameters, g_strdup(name + 1), term);
    return TRUE;
}
