/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pass 2: terms, hashes and quads go into the store, each in the order of the tree that takes them.
 *
 * A new term may turn out to be there. Another client stored it between the passes, or this load has forgotten it (its table
 * was full). Then it is an alias, which is looked up for each id.
 */
#include <string.h>

#include "daemon/quads/bulk-load-private.h"
#include "daemon/quads/quads.h"
#include "daemon/quads/term-table.h"
#include "daemon/rdf/prefix-map.h"
#include "daemon/rdf/term-id.h"

/* A load of so many quads, if it is more than three tenths of what is there, fills the trees one by one. */
#define MANY_QUADS 20000
/* While it does. */
#define LOAD_CACHE_BYTES (UINT64_C(1024) * 32768)

/* Ids ------------------------------------------------------------------------------------------------------------------- */

static gint64
get_real_id(const QdBulkLoad *self, gint64 id)
{
    guint64 number;
    const gint64 *alias;

    if (id > 0) {
        number = qd_term_id_get_sequence(id);
        if (number < QD_BULK_PROVISIONAL_SEQUENCE)
            return id;
        alias = self->aliases != NULL ? g_hash_table_lookup(self->aliases, &number) : NULL;
        return alias != NULL ? *alias
                             : qd_term_id_from_sequence(self->first_sequence + (number - QD_BULK_PROVISIONAL_SEQUENCE),
                                                        qd_term_id_get_kind(id));
    }
    if (id < 0 && qd_term_id_get_tag(id) == QD_TAG_BNODE && qd_term_id_get_payload(id) >= (gint64) QD_BULK_PROVISIONAL_BNODE)
        return qd_term_id_from_bnode(self->first_bnode + (guint64) qd_term_id_get_payload(id) - QD_BULK_PROVISIONAL_BNODE);
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

/* Terms ----------------------------------------------------------------------------------------------------------------- */

/* The next term of the spool; its text is valid until the next call. */
static gboolean
read_term(QdBulkLoad *self, guint64 index, QdStoredTerm *ret_term, GError **error)
{
    const QdBulkTerm *stored = qd_spool_read(self->spool, sizeof *stored, error);
    QdBulkTerm record;
    const char *text;

    if (stored == NULL)
        return FALSE;
    memcpy(&record, stored, sizeof record);
    text = qd_spool_read(self->spool, (gsize) record.n_lexical + record.n_tag, error);
    if (text == NULL)
        return FALSE;

    *ret_term = (QdStoredTerm){
        .term = { .kind = (QdTermKind) record.kind, .lexical = text, .n_lexical = record.n_lexical },
        .id = qd_term_id_from_sequence(self->first_sequence + index, (QdTermKind) record.kind),
        .datatype_id = get_real_id(self, record.datatype_id),
        .hash = record.hash,
        .has_number = record.has_number,
        .number = record.number,
    };
    if (record.n_tag > 0) {
        ret_term->term.qualifier = text + record.n_lexical;
        ret_term->term.n_qualifier = record.n_tag;
    }
    return TRUE;
}

/* Terms that may be there: each is looked for. */
static gboolean
intern_terms(QdBulkLoad *self, QdDictionary *dictionary, GError **error)
{
    for (guint64 i = 0; i < self->n_terms; i++) {
        QdStoredTerm term;
        gint64 existing = 0;

        if (!read_term(self, i, &term, error) || !qd_dictionary_find_stored(dictionary, &term, &existing, error))
            return FALSE;
        if (existing != 0 ? !add_alias(self, QD_BULK_PROVISIONAL_SEQUENCE + i, existing, error)
                          : !qd_dictionary_append(dictionary, &term, error))
            return FALSE;
    }
    return TRUE;
}

/* A source of terms, and then of the rows of their hashes. */
typedef struct Terms {
    QdBulkLoad *load;
    guint64 index; /* of the next one */
    QdStoredTerm stored;
    QdSorter *hashes;
    const gint64 *row; /* hash and id */
} Terms;

static gboolean
next_term(gpointer data, gboolean *ret_more, GError **error)
{
    Terms *self = data;

    *ret_more = self->index < self->load->n_terms;
    return !*ret_more || (read_term(self->load, self->index++, &self->stored, error) &&
                          qd_sorter_add(self->hashes, (const gint64[]){ (gint64) self->stored.hash, self->stored.id }, error));
}

/* A column of queryd_term. */
static void
get_term_column(gpointer data, sqlite3_context *context, int column)
{
    const QdStoredTerm *stored = &((const Terms *) data)->stored;
    const QdTerm *term = &stored->term;

    if (column == 0)
        sqlite3_result_int64(context, stored->id);
    else if (column == 1 && term->kind == QD_TERM_TYPED)
        sqlite3_result_int64(context, stored->datatype_id);
    else if (column == 1 && term->kind == QD_TERM_LANG_STRING)
        sqlite3_result_text64(context, term->qualifier, term->n_qualifier, SQLITE_STATIC, SQLITE_UTF8);
    else if (column == 2)
        sqlite3_result_text64(context, term->n_lexical > 0 ? term->lexical : "", term->n_lexical, SQLITE_STATIC, SQLITE_UTF8);
    else if (column == 3 && stored->has_number)
        sqlite3_result_double(context, stored->number);
}

static gboolean
next_hash(gpointer data, gboolean *ret_more, GError **error)
{
    Terms *self = data;

    if (!qd_sorter_next(self->hashes, &self->row, error))
        return FALSE;
    *ret_more = self->row != NULL;
    return TRUE;
}

static void
get_hash_column(gpointer data, sqlite3_context *context, int column)
{
    sqlite3_result_int64(context, ((const Terms *) data)->row[column]);
}

/* Terms that are known to be new: in the order of their ids, and then their hashes in the order of these. */
static gboolean
append_terms(QdBulkLoad *self, QdConnection *writer, GError **error)
{
    g_autoptr(QdSorter) hashes = qd_sorter_new(2, NULL, 1, QD_BULK_SORTED_ROWS, self->directory);
    Terms terms = { .load = self, .hashes = hashes };
    const QdInsertSource term_feed = { next_term, get_term_column, &terms };
    const QdInsertSource hash_feed = { next_hash, get_hash_column, &terms };

    return qd_insert_source_run(writer, "INSERT INTO queryd_term(id, datatype, lexical, num) SELECT a, b, c, d FROM queryd_source",
                                &term_feed, NULL, error) &&
           qd_sorter_finish(hashes, error) &&
           qd_insert_source_run(writer, "INSERT INTO queryd_term_hash(h, id) SELECT a, b FROM queryd_source", &hash_feed, NULL,
                                error);
}

/* Quads ----------------------------------------------------------------------------------------------------------------- */

/* The quads of the load with their real ids, each once, in the order that the sorter gives. */
typedef struct Reading {
    const QdBulkLoad *load;
    QdSorter *sorter;
    gint64 quad[4]; /* s, p, o, g */
} Reading;

/* @ret_more: (out): FALSE at the end */
static gboolean
read_quad(Reading *self, gboolean *ret_more, GError **error)
{
    const gint64 *row;
    gint64 quad[4];

    do {
        if (!qd_sorter_next(self->sorter, &row, error))
            return FALSE;
        *ret_more = row != NULL;
        if (row == NULL)
            return TRUE;
        for (guint i = 0; i < G_N_ELEMENTS(quad); i++)
            quad[i] = get_real_id(self->load, row[i]);
    } while (memcmp(quad, self->quad, sizeof quad) == 0);
    memcpy(self->quad, quad, sizeof quad);
    return TRUE;
}

/* Few quads: one by one, with their statistics. */
static gboolean
insert_quads(QdBulkLoad *self, QdQuads *quads, guint64 *ret_n_inserted, GError **error)
{
    Reading reading = { .load = self, .sorter = self->quads };
    const gint64 *quad = reading.quad;
    guint64 n_inserted = 0;
    gboolean more;

    if (!qd_sorter_turn(self->quads, error) || !qd_sorter_turn(self->quads, error))
        return FALSE;
    for (;;) {
        gboolean changed = FALSE;

        if (!read_quad(&reading, &more, error))
            return FALSE;
        if (!more)
            break;
        if (!qd_quads_insert(quads, quad[0], quad[1], quad[2], quad[3], &changed, error))
            return FALSE;
        n_inserted += changed ? 1 : 0;
    }
    *ret_n_inserted = n_inserted;
    return TRUE;
}

/* A source of rows for one tree. */
typedef struct Filling {
    Reading reading;
    QdQuads *quads;
    QdQuadTree tree;
    QdSorter *named; /* gets the quads of named graphs, when all of them come by last */
} Filling;

static gboolean
next_quad(gpointer data, gboolean *ret_more, GError **error)
{
    Filling *self = data;
    const gint64 *quad = self->reading.quad;
    gint64 last[4];

    memcpy(last, quad, sizeof last);
    if (!read_quad(&self->reading, ret_more, error))
        return FALSE;
    if (!*ret_more)
        return TRUE;
    qd_quads_count_loaded(self->quads, self->tree, quad, last);
    return self->tree != QD_QUAD_TREE_SPOG || quad[3] == 0 || qd_sorter_add(self->named, quad, error);
}

static void
get_id(gpointer data, sqlite3_context *context, int column)
{
    const Filling *self = data;

    sqlite3_result_int64(context, self->reading.quad[qd_quad_tree_orders[self->tree].columns[column]]);
}

static gboolean
fill_trees(QdBulkLoad *self, QdQuads *quads, QdQuadTrees *trees, guint64 *ret_n_inserted, GError **error)
{
    g_autoptr(QdSorter) named = qd_sorter_new(4, &qd_quad_tree_orders[QD_QUAD_TREE_GSPO], 1, QD_BULK_SORTED_ROWS, self->directory);

    for (guint tree = 0; tree < QD_QUAD_N_TREES; tree++) {
        QdSorter *sorter = tree == QD_QUAD_TREE_GSPO ? named : self->quads;
        Filling filling = { { .load = self, .sorter = sorter }, quads, (QdQuadTree) tree, named };
        const QdInsertSource feed = { next_quad, get_id, &filling };
        guint64 *ret_n = tree == QD_QUAD_TREE_SPOG ? ret_n_inserted : NULL;

        if (!(tree == 0 || (sorter == named ? qd_sorter_finish(named, error) : qd_sorter_turn(sorter, error))) ||
            !qd_quad_trees_fill(trees, filling.tree, &feed, ret_n, error))
            return FALSE;
    }
    return TRUE;
}

/* Many quads: tree by tree. */
static gboolean
load_quads(QdBulkLoad *self, QdQuads *quads, QdConnection *writer, gboolean was_empty, guint64 *ret_n_inserted, GError **error)
{
    g_autoptr(QdQuadTrees) trees = qd_quad_trees_open(writer, error);
    gboolean ok;

    if (trees == NULL)
        return FALSE;
    qd_connection_set_cache_size(writer, LOAD_CACHE_BYTES);
    ok = fill_trees(self, quads, trees, ret_n_inserted, error) &&
         qd_quads_finish_load(quads, was_empty && self->aliases == NULL, error);
    qd_connection_set_cache_size(writer, 0);
    return ok;
}

static gboolean
write_quads(QdBulkLoad *self, QdQuads *quads, QdConnection *writer, guint64 *ret_n_inserted, GError **error)
{
    guint64 n_new = qd_sorter_get_n_rows(self->quads);
    gint64 n_old = 0;

    if (!qd_connection_get_int64(writer, "SELECT sum(n_quads) FROM queryd_predicate", &n_old, error) ||
        !qd_sorter_finish(self->quads, error))
        return FALSE;
    if (n_new < MANY_QUADS || 10 * n_new <= 3 * (guint64) n_old || !qd_quad_trees_are_usable())
        return insert_quads(self, quads, ret_n_inserted, error);
    return load_quads(self, quads, writer, n_old == 0, ret_n_inserted, error);
}

/* Those that are new, with a namespace that has none. */
static gboolean
insert_prefixes(QdBulkLoad *self, QdConnection *writer, GError **error)
{
    g_autoptr(QdPrefixMap) known = qd_prefix_map_new();

    if (self->prefixes->len > 0 && !qd_quads_list_prefixes(writer, known, error))
        return FALSE;
    for (guint i = 0; i < self->prefixes->len; i++) {
        const char *prefix = self->prefixes->pdata[i];
        const char *iri = prefix + strlen(prefix) + 1;
        char *sql;
        gboolean ok;

        if (!qd_prefix_map_add(known, prefix, iri))
            continue;
        sql = sqlite3_mprintf("INSERT OR IGNORE INTO queryd_prefix(prefix, iri) VALUES(%Q, %Q)", prefix, iri);
        ok = qd_connection_execute(writer, sql, error);
        sqlite3_free(sql);
        if (!ok)
            return FALSE;
    }
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
write_load(QdBulkLoad *self, QdConnection *writer, QdBulkReplace replace, guint64 *ret_n_inserted, GError **error)
{
    QdQuads *quads = qd_quads_get(writer, error);
    QdDictionary *dictionary;
    guint64 sequence;
    gboolean check;

    if (quads == NULL || !qd_quads_begin(quads, error))
        return FALSE;
    dictionary = qd_quads_get_dictionary(quads);
    sequence = qd_dictionary_reserve(dictionary, self->n_terms, self->n_bnodes + 1, &self->first_sequence, &self->first_bnode);

    check = self->has_forgotten || sequence != (guint64) self->start_sequence;

    return qd_spool_finish(self->spool, error) &&
           (check ? intern_terms(self, dictionary, error) : append_terms(self, writer, error)) &&
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
