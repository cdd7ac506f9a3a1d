/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pass 1: terms and quads come in, nothing is written to the store.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/quads/bulk-load-private.h"
#include "daemon/quads/dictionary.h"
#include "daemon/quads/term-key.h"
#include "daemon/quads/term-table.h"
#include "daemon/rdf/term-id.h"
#include "daemon/rdf/xsd-number.h"
#include "daemon/rdfio/rdf-reader.h"

/* Measured on BSBM: four trees of quads, and what a term takes beside its text. */
#define QUAD_BYTES 115
#define TERM_BYTES 60
#define PREFIX_BYTES 60 /* that a prefix takes beside its texts */

/* Life ------------------------------------------------------------------------------------------------------------------ */

/* Of declarations: a prefix, NUL, its IRI. */
static guint
prefix_hash(gconstpointer declaration)
{
    const char *prefix = declaration;

    return 31 * g_str_hash(prefix) + g_str_hash(prefix + strlen(prefix) + 1);
}

static gboolean
prefix_equal(gconstpointer a, gconstpointer b)
{
    const char *left = a;
    const char *right = b;

    return g_str_equal(left, right) && g_str_equal(left + strlen(left) + 1, right + strlen(right) + 1);
}

static gboolean intern(QdBulkLoad *self, const QdTerm *term, gint64 *ret_id, GError **error);

static gboolean
set_graph(QdBulkLoad *self, const char *graph, GError **error)
{
    QdTerm term = { .kind = QD_TERM_IRI, .lexical = graph, .n_lexical = graph != NULL ? strlen(graph) : 0 };

    return graph == NULL || intern(self, &term, &self->graph, error);
}

QdBulkLoad *
qd_bulk_load_new(QdConnection *reader, const char *directory, const char *graph, const QdLimits *limits, GError **error)
{
    g_autoptr(QdBulkLoad) self = g_new0(QdBulkLoad, 1);
    guint64 max_bytes = qd_limits_get(limits, QD_LIMIT_IMPORT_MEMORY_BYTES);

    self->limits = limits;
    self->terms = qd_term_table_new(max_bytes / 4 * 3);
    self->labels = qd_term_table_new(max_bytes / 4);
    self->spool = qd_spool_new(directory);
    self->quads = qd_sorter_new(4, qd_quad_tree_orders, QD_QUAD_TREE_SPOG + 1, QD_BULK_SORTED_ROWS, directory);
    self->subject.text = g_string_new(NULL);
    self->predicate.text = g_string_new(NULL);
    self->prefixes = g_ptr_array_new();
    self->prefix_set = g_hash_table_new_full(prefix_hash, prefix_equal, g_free, NULL);
    self->directory = g_strdup(directory);
    self->dictionary = qd_dictionary_get(reader, error);
    if (self->dictionary == NULL ||
        !qd_connection_get_int64(reader, "SELECT value FROM queryd_meta WHERE key='term_sequence'", &self->start_sequence, error))
        return NULL;
    if (getrandom(&self->secret, sizeof self->secret, 0) != sizeof self->secret) {
        qd_error_set(error, QW_ERROR_INTERNAL, "no random numbers");
        return NULL;
    }
    return set_graph(self, graph, error) ? g_steal_pointer(&self) : NULL;
}

QdBulkLoad *
qd_bulk_load_free(QdBulkLoad *self)
{
    if (self == NULL)
        return NULL;

    qd_term_table_free(self->terms);
    qd_term_table_free(self->labels);
    qd_spool_free(self->spool);
    qd_sorter_free(self->quads);
    (void) g_string_free(self->subject.text, TRUE);
    (void) g_string_free(self->predicate.text, TRUE);
    g_ptr_array_unref(self->prefixes);
    g_hash_table_unref(self->prefix_set);
    g_clear_pointer(&self->aliases, g_hash_table_unref);
    g_free(self->directory);
    g_free(self);
    return NULL;
}

/* Pass 1: terms --------------------------------------------------------------------------------------------------------- */

/* The number in a label that a reader gave to an anonymous node; needs no table. */
static gboolean
parse_anonymous(const QdTerm *term, guint64 *ret_number)
{
    const gsize n_prefix = strlen(QD_RDF_ANONYMOUS_PREFIX);
    guint64 number = 0;

    if (term->n_lexical <= n_prefix || term->n_lexical > n_prefix + 15 || term->lexical[n_prefix] == '0' ||
        memcmp(term->lexical, QD_RDF_ANONYMOUS_PREFIX, n_prefix) != 0)
        return FALSE;
    for (gsize i = n_prefix; i < term->n_lexical; i++) {
        if (!g_ascii_isdigit(term->lexical[i]))
            return FALSE;
        number = 10 * number + (guint64) (term->lexical[i] - '0');
    }
    *ret_number = number;
    return TRUE;
}

/* Even serials for anonymous nodes, odd ones for labels. */
static gboolean
intern_bnode(QdBulkLoad *self, const QdTerm *term, gint64 *ret_id, GError **error)
{
    guint64 serial;
    gint64 *place;
    QdTermKey key;

    if (parse_anonymous(term, &serial)) {
        serial *= 2;
    } else {
        key = qd_term_key_compute(&self->secret, term);
        place = qd_term_table_find(self->labels, &key);
        if (place == NULL) {
            qd_limit_set_error(error, self->limits, QD_LIMIT_IMPORT_MEMORY_BYTES, "too many labels of blank nodes");
            return FALSE;
        }
        if (*place == 0)
            *place = (gint64) (2 * ++self->n_labels + 1);
        serial = (guint64) *place;
    }
    if (serial >= QD_BULK_PROVISIONAL_BNODE - 1) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "too many blank nodes");
        return FALSE;
    }
    self->n_bnodes = MAX(self->n_bnodes, serial);
    *ret_id = qd_term_id_from_bnode(QD_BULK_PROVISIONAL_BNODE + serial);
    return TRUE;
}

static gboolean
spool_term(QdBulkLoad *self, const QdTerm *term, gint64 datatype_id, gint64 *ret_id, GError **error)
{
    QdTermKey key = qd_term_key_compute(qd_dictionary_get_secret(self->dictionary), term);
    QdBulkTerm record = {
        .hash = key.low,
        .datatype_id = datatype_id,
        .n_lexical = (guint32) term->n_lexical,
        .n_tag = term->kind == QD_TERM_LANG_STRING ? (guint32) term->n_qualifier : 0,
        .kind = (guint8) term->kind,
    };

    if (term->n_lexical + term->n_qualifier > qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES)) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_VALUE_BYTES, "term of %zu bytes is too long", term->n_lexical);
        return FALSE;
    }
    record.has_number = qd_number_from_term(term, &record.number);
    if (!qd_spool_write(self->spool, &record, sizeof record, error) ||
        !qd_spool_write(self->spool, term->lexical, term->n_lexical, error) ||
        (record.n_tag > 0 && !qd_spool_write(self->spool, term->qualifier, record.n_tag, error)))
        return FALSE;

    *ret_id = qd_term_id_from_sequence(QD_BULK_PROVISIONAL_SEQUENCE + self->n_terms++, term->kind);
    return TRUE;
}

/* A term that the table does not have: of the store, or new. */
static gboolean
intern_unknown(QdBulkLoad *self, const QdTerm *term, gint64 *ret_id, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    gint64 datatype_id = 0;

    if (self->start_sequence > 0) {
        if (qd_dictionary_find_id(self->dictionary, term, ret_id, &local_error))
            return TRUE;
        if (local_error != NULL) {
            g_propagate_error(error, g_steal_pointer(&local_error));
            return FALSE;
        }
    }
    if (term->kind == QD_TERM_TYPED) {
        QdTerm datatype = { .kind = QD_TERM_IRI, .lexical = term->qualifier, .n_lexical = term->n_qualifier };

        if (!intern(self, &datatype, &datatype_id, error))
            return FALSE;
    }
    return spool_term(self, term, datatype_id, ret_id, error);
}

static gint64 *
find_place(QdBulkLoad *self, const QdTermKey *key)
{
    gint64 *place = qd_term_table_find(self->terms, key);

    if (place == NULL) {
        qd_term_table_clear(self->terms);
        self->has_forgotten = TRUE;
        place = qd_term_table_find(self->terms, key);
    }
    return place;
}

static gboolean
intern(QdBulkLoad *self, const QdTerm *term, gint64 *ret_id, GError **error)
{
    gint64 *place;
    QdTermKey key;
    gint64 id = 0;

    if (term->kind == QD_TERM_BNODE)
        return intern_bnode(self, term, ret_id, error);
    if (qd_term_id_from_term(term, ret_id))
        return TRUE;

    key = qd_term_key_compute(&self->secret, term);
    place = find_place(self, &key);
    if (*place == 0) {
        /* a datatype that is interned meanwhile moves the table: a place is taken at once, and looked for again */
        *place = -1;
        if (!intern_unknown(self, term, &id, error))
            return FALSE;
        place = find_place(self, &key);
        *place = id;
    }
    *ret_id = *place;
    return TRUE;
}

/* Subjects and predicates are often those of the quad before. */
static gboolean
intern_at(QdBulkLoad *self, QdBulkPosition *position, const QdTerm *term, gint64 *ret_id, GError **error)
{
    if (position->id != 0 && position->kind == term->kind && position->text->len == term->n_lexical &&
        memcmp(position->text->str, term->lexical, term->n_lexical) == 0) {
        *ret_id = position->id;
        return TRUE;
    }
    if (!intern(self, term, ret_id, error))
        return FALSE;

    position->id = *ret_id;
    position->kind = term->kind;
    g_string_truncate(position->text, 0);
    g_string_append_len(position->text, term->lexical, (gssize) term->n_lexical);
    return TRUE;
}

gboolean
qd_bulk_load_add(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    QdBulkLoad *self = data;
    gint64 row[4] = { [3] = self->graph };

    return intern_at(self, &self->subject, s, &row[0], error) && intern_at(self, &self->predicate, p, &row[1], error) &&
           intern(self, o, &row[2], error) && (g == NULL || intern(self, g, &row[3], error)) &&
           qd_sorter_add(self->quads, row, error);
}

gboolean
qd_bulk_load_add_prefix(const char *prefix, gsize n_prefix, const char *iri, gsize n_iri, gpointer data, GError **error)
{
    QdBulkLoad *self = data;
    char *declaration = g_malloc(n_prefix + n_iri + 2);

    memcpy(declaration, prefix, n_prefix);
    declaration[n_prefix] = '\0';
    memcpy(declaration + n_prefix + 1, iri, n_iri);
    declaration[n_prefix + 1 + n_iri] = '\0';
    if (!g_hash_table_add(self->prefix_set, declaration))
        return TRUE; /* and the set has freed it */

    g_ptr_array_add(self->prefixes, declaration);
    self->n_prefix_bytes += n_prefix + n_iri + PREFIX_BYTES;
    if (self->n_prefix_bytes <= qd_limits_get(self->limits, QD_LIMIT_IMPORT_MEMORY_BYTES) / 4)
        return TRUE;
    qd_limit_set_error(error, self->limits, QD_LIMIT_IMPORT_MEMORY_BYTES, "the document declares too many prefixes (%u)",
                       self->prefixes->len);
    return FALSE;
}

guint64
qd_bulk_load_get_estimated_bytes(const QdBulkLoad *self)
{
    return qd_spool_get_n_bytes(self->spool) + self->n_terms * TERM_BYTES + qd_sorter_get_n_rows(self->quads) * QUAD_BYTES;
}
