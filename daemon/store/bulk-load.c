/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Provisional ids are the ids of the k-th new term, or the k-th blank node, of this load, above all real ones: a real one is made
 * of them by an addition, which keeps the order of the sorted runs.
 *
 * A new term may turn out to be there when the writer appends it: somebody else stored it between the passes, or this load has
 * forgotten it (its table was full). Then it is an alias, which is looked up for each id.
 */
#include "daemon/store/bulk-load.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/rdf/rdf-reader.h"
#include "daemon/rdf/term-id.h"
#include "daemon/store/quads.h"
#include "daemon/store/sorter.h"
#include "daemon/store/spool.h"
#include "daemon/store/sqlite-error.h"
#include "daemon/store/term-table.h"

#define PROVISIONAL_SEQUENCE (G_GUINT64_CONSTANT(1) << 59)
#define PROVISIONAL_BNODE (G_GUINT64_CONSTANT(1) << 56)
#define SORTED_QUADS (512 * 1024)
#define SORTED_HASHES (512 * 1024)
/* Indexes are made anew for a load of so many quads, if it is more than three tenths of what is there. */
#define REBUILD_MIN_QUADS 20000
/* Measured on BSBM: four trees of quads, and what a term takes beside its text. */
#define QUAD_BYTES 115
#define TERM_BYTES 60
/* While a large load is written. */
#define LOAD_CACHE_BYTES (UINT64_C(1024) * 32768)

/* A new term in the spool; behind it the lexical form and the language tag. */
typedef struct TermRecord {
    guint64 hash;
    gint64 datatype_id;
    double number;
    guint32 n_lexical;
    guint32 n_tag;
    guint8 kind;
    guint8 has_number;
} TermRecord;

typedef struct Position {
    QdTermKind kind;
    GString *text;
    gint64 id; /* 0: nothing here yet */
} Position;

struct QdBulkLoad {
    QdDictionary *dictionary; /* of the reader */
    const QdLimits *limits;
    QdTermKey secret; /* of this load */
    QdTermTable *terms;
    QdTermTable *labels;
    gboolean has_forgotten; /* the table of terms was full */
    gint64 start_sequence;  /* the store's counter when pass 1 began */
    QdSpool *spool;
    guint64 n_terms;
    guint64 n_labels;
    guint64 n_bnodes; /* the greatest serial in use */
    QdSorter *quads;
    gint64 graph;
    Position subject; /* the one before */
    Position predicate;
    GPtrArray *prefixes; /* of prefix, IRI, … */

    /* pass 2 */
    char *directory;
    guint64 first_sequence;
    guint64 first_bnode;
    GHashTable *aliases; /* provisional number → id; NULL: none */
};

/* Life ------------------------------------------------------------------------------------------------------------------ */

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
    self->quads = qd_sorter_new(4, SORTED_QUADS, directory);
    self->subject.text = g_string_new(NULL);
    self->predicate.text = g_string_new(NULL);
    self->prefixes = g_ptr_array_new_with_free_func(g_free);
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
    if (serial >= PROVISIONAL_BNODE - 1) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "too many blank nodes");
        return FALSE;
    }
    self->n_bnodes = MAX(self->n_bnodes, serial);
    *ret_id = qd_term_id_from_bnode(PROVISIONAL_BNODE + serial);
    return TRUE;
}

static gboolean
spool_term(QdBulkLoad *self, const QdTerm *term, gint64 datatype_id, gint64 *ret_id, GError **error)
{
    QdTermKey key = qd_term_key_compute(qd_dictionary_get_secret(self->dictionary), term);
    TermRecord record = {
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
    record.has_number = qd_dictionary_get_number(term, &record.number);
    if (!qd_spool_write(self->spool, &record, sizeof record, error) ||
        !qd_spool_write(self->spool, term->lexical, term->n_lexical, error) ||
        (record.n_tag > 0 && !qd_spool_write(self->spool, term->qualifier, record.n_tag, error)))
        return FALSE;

    *ret_id = qd_term_id_from_sequence(PROVISIONAL_SEQUENCE + self->n_terms++, term->kind);
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
intern_at(QdBulkLoad *self, Position *position, const QdTerm *term, gint64 *ret_id, GError **error)
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

    g_ptr_array_add(self->prefixes, g_strndup(prefix, n_prefix));
    g_ptr_array_add(self->prefixes, g_strndup(iri, n_iri));
    return TRUE;
}

guint64
qd_bulk_load_get_n_quads(const QdBulkLoad *self)
{
    return qd_sorter_get_n_rows(self->quads);
}

guint64
qd_bulk_load_get_estimated_bytes(const QdBulkLoad *self)
{
    return qd_spool_get_n_bytes(self->spool) + self->n_terms * TERM_BYTES + qd_sorter_get_n_rows(self->quads) * QUAD_BYTES;
}

/* Pass 2 ---------------------------------------------------------------------------------------------------------------- */

static gint64
get_real_id(const QdBulkLoad *self, gint64 id)
{
    guint64 number;
    const gint64 *alias;

    if (id > 0) {
        number = qd_term_id_get_sequence(id);
        if (number < PROVISIONAL_SEQUENCE)
            return id;
        alias = self->aliases != NULL ? g_hash_table_lookup(self->aliases, &number) : NULL;
        return alias != NULL
                   ? *alias
                   : qd_term_id_from_sequence(self->first_sequence + (number - PROVISIONAL_SEQUENCE), qd_term_id_get_kind(id));
    }
    if (id < 0 && qd_term_id_get_tag(id) == QD_TAG_BNODE && qd_term_id_get_payload(id) >= (gint64) PROVISIONAL_BNODE)
        return qd_term_id_from_bnode(self->first_bnode + (guint64) qd_term_id_get_payload(id) - PROVISIONAL_BNODE);
    return id;
}

static gboolean
add_alias(QdBulkLoad *self, guint64 number, gint64 id, GError **error)
{
    gint64 *pair;

    if (self->aliases == NULL)
        self->aliases = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    if (g_hash_table_size(self->aliases) >= qd_limits_get(self->limits, QD_LIMIT_IMPORT_MEMORY_BYTES) / 64) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_IMPORT_MEMORY_BYTES, "too many terms");
        return FALSE;
    }
    pair = g_new(gint64, 2);
    pair[0] = (gint64) number;
    pair[1] = id;
    g_hash_table_insert(self->aliases, &pair[0], &pair[1]);
    return TRUE;
}

/* @check: it may be there. The hash goes to @hashes, or, if it has to be found at once, into the table. */
static gboolean
append_term(QdBulkLoad *self, QdDictionary *dictionary, guint64 index, gboolean check, QdSorter *hashes, GError **error)
{
    const TermRecord *stored = qd_spool_read(self->spool, sizeof *stored, error);
    QdStoredTerm term = { 0 };
    TermRecord record;
    gint64 existing = 0;
    const char *text;

    if (stored == NULL)
        return FALSE;
    memcpy(&record, stored, sizeof record);
    text = qd_spool_read(self->spool, (gsize) record.n_lexical + record.n_tag, error);
    if (text == NULL)
        return FALSE;

    term = (QdStoredTerm){
        .term = { .kind = (QdTermKind) record.kind, .lexical = text, .n_lexical = record.n_lexical },
        .id = qd_term_id_from_sequence(self->first_sequence + index, (QdTermKind) record.kind),
        .datatype_id = get_real_id(self, record.datatype_id),
        .hash = record.hash,
        .has_number = record.has_number,
        .number = record.number,
    };
    if (record.n_tag > 0) {
        term.term.qualifier = text + record.n_lexical;
        term.term.n_qualifier = record.n_tag;
    }
    if (check && !qd_dictionary_find_stored(dictionary, &term, &existing, error))
        return FALSE;
    if (existing != 0)
        return add_alias(self, PROVISIONAL_SEQUENCE + index, existing, error);
    if (!qd_dictionary_append(dictionary, &term, check, error))
        return FALSE;
    return check || qd_sorter_add(hashes, (const gint64[]){ (gint64) record.hash, term.id }, error);
}

static gboolean
append_terms(QdBulkLoad *self, QdDictionary *dictionary, gboolean check, GError **error)
{
    g_autoptr(QdSorter) hashes = qd_sorter_new(2, SORTED_HASHES, self->directory);
    const gint64 *row;

    if (!qd_spool_finish(self->spool, error))
        return FALSE;
    for (guint64 i = 0; i < self->n_terms; i++)
        if (!append_term(self, dictionary, i, check, hashes, error))
            return FALSE;

    if (!qd_sorter_finish(hashes, error))
        return FALSE;
    for (;;) {
        if (!qd_sorter_next(hashes, &row, error))
            return FALSE;
        if (row == NULL)
            return TRUE;
        if (!qd_dictionary_append_hash(dictionary, (guint64) row[0], row[1], error))
            return FALSE;
    }
}

static gboolean
insert_quads(QdBulkLoad *self, QdQuads *quads, gboolean rebuild, guint64 *ret_n_inserted, GError **error)
{
    guint64 n_inserted = 0;
    gint64 last[4] = { 0 };
    const gint64 *row;

    if (!qd_sorter_finish(self->quads, error))
        return FALSE;
    for (;;) {
        gboolean changed = FALSE;
        gint64 ids[4];

        if (!qd_sorter_next(self->quads, &row, error))
            return FALSE;
        if (row == NULL)
            break;
        for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
            ids[i] = get_real_id(self, row[i]);
        if (memcmp(ids, last, sizeof ids) == 0)
            continue;
        memcpy(last, ids, sizeof ids);
        if (rebuild ? !qd_quads_insert_uncounted(quads, ids[0], ids[1], ids[2], ids[3], &changed, error)
                    : !qd_quads_insert(quads, ids[0], ids[1], ids[2], ids[3], &changed, error))
            return FALSE;
        n_inserted += changed ? 1 : 0;
    }
    *ret_n_inserted = n_inserted;
    return TRUE;
}

static gboolean
insert_prefixes(QdBulkLoad *self, QdConnection *writer, GError **error)
{
    for (guint i = 0; i + 1 < self->prefixes->len; i += 2) {
        const char *prefix = self->prefixes->pdata[i];
        const char *iri = self->prefixes->pdata[i + 1];
        char *sql = sqlite3_mprintf("INSERT OR IGNORE INTO queryd_prefix(prefix, iri) SELECT %Q, %Q"
                                    " WHERE NOT EXISTS (SELECT 1 FROM queryd_prefix WHERE iri=%Q)",
                                    prefix, iri, iri);
        gboolean ok = qd_connection_execute(writer, sql, error);

        sqlite3_free(sql);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

static gboolean
is_large(QdBulkLoad *self, QdConnection *writer, gboolean *ret_large, GError **error)
{
    guint64 n_new = qd_sorter_get_n_rows(self->quads);
    gint64 n_old = 0;

    if (!qd_connection_get_int64(writer, "SELECT sum(n_quads) FROM queryd_predicate", &n_old, error))
        return FALSE;
    *ret_large = n_new >= REBUILD_MIN_QUADS && 10 * n_new > 3 * (guint64) n_old;
    return TRUE;
}

static gboolean
replace_quads(QdBulkLoad *self, QdQuads *quads, QdBulkReplace replace, GError **error)
{
    switch (replace) {
    case QD_BULK_REPLACE_NOTHING:
        return TRUE;
    case QD_BULK_REPLACE_GRAPH:
        /* the id is final by now, if it was provisional there is no such graph yet */
        return qd_quads_delete_graph(quads, get_real_id(self, self->graph), FALSE, NULL, error) && qd_quads_finish(quads, error) &&
               qd_quads_begin(quads, error);
    case QD_BULK_REPLACE_ALL:
        return qd_quads_delete_all(quads, NULL, error);
    }
    g_assert_not_reached();
}

static gboolean
write_quads(QdBulkLoad *self, QdQuads *quads, QdConnection *writer, guint64 *ret_n_inserted, GError **error)
{
    gboolean large = FALSE;
    gboolean ok;

    if (!is_large(self, writer, &large, error))
        return FALSE;
    if (!large)
        return insert_quads(self, quads, FALSE, ret_n_inserted, error);

    qd_connection_set_cache_size(writer, LOAD_CACHE_BYTES);
    ok = qd_quads_begin_rebuild(quads, error) && insert_quads(self, quads, TRUE, ret_n_inserted, error) &&
         qd_quads_finish_rebuild(quads, error);
    qd_connection_set_cache_size(writer, 0);
    return ok;
}

static gboolean
write_load(QdBulkLoad *self, QdConnection *writer, QdBulkReplace replace, guint64 *ret_n_inserted, GError **error)
{
    QdQuads *quads = qd_quads_get(writer, error);
    QdDictionary *dictionary;
    guint64 sequence;

    if (quads == NULL || !qd_quads_begin(quads, error))
        return FALSE;
    dictionary = qd_quads_get_dictionary(quads);
    sequence = qd_dictionary_reserve(dictionary, self->n_terms, self->n_bnodes + 1, &self->first_sequence, &self->first_bnode);

    return append_terms(self, dictionary, self->has_forgotten || sequence != (guint64) self->start_sequence, error) &&
           qd_dictionary_finish(dictionary, error) && replace_quads(self, quads, replace, error) &&
           write_quads(self, quads, writer, ret_n_inserted, error) && insert_prefixes(self, writer, error) &&
           qd_quads_finish(quads, error);
}

gboolean
qd_bulk_load_commit(QdBulkLoad *self, QdConnection *writer, QdBulkReplace replace, guint64 *ret_n_inserted, GError **error)
{
    QdPolicy policy;
    gboolean ok;

    g_clear_pointer(&self->terms, qd_term_table_free);
    g_clear_pointer(&self->labels, qd_term_table_free);
    policy = qd_connection_set_policy(writer, QD_POLICY_INTERNAL);
    ok = write_load(self, writer, replace, ret_n_inserted, error);
    (void) qd_connection_set_policy(writer, policy);
    return ok;
}
