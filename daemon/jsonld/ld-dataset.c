/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs, nodes and lists. A blank node is part of a list when it has one rdf:first, one rdf:rest, and perhaps the type rdf:List.
 * Besides, it is the value of one property in all graphs, the subject in one graph, and names none.
 */
#include "daemon/jsonld/ld-dataset.h"

#include <string.h>

#define RDF_FIRST QD_RDF_NAMESPACE "first"
#define RDF_REST QD_RDF_NAMESPACE "rest"
#define TABLE_BYTES 48 /* what an entry of a hash table takes, about */

struct QdLdDataset {
    QdJsonArena *arena;
    GPtrArray *graphs;   /* of QdLdGraph */
    GHashTable *by_name; /* QdTerm to QdLdGraph */
    GHashTable *entries; /* set of QdLdEntry */
    GHashTable *once;    /* QdTerm of a blank node to its one QdLdEntry, NULL when there are more */
    GHashTable *homes;   /* QdTerm of a blank node to the one QdLdGraph in which it is a subject, NULL when there are more */
    GPtrArray *nils;     /* of QdLdEntry, whose value is rdf:nil */
    gsize n_table_bytes;
};

static guint
hash_term(gconstpointer term)
{
    return (guint) qd_term_hash(term);
}

static gboolean
equal_terms(gconstpointer a, gconstpointer b)
{
    return qd_term_equal(a, b);
}

static guint
hash_entry(gconstpointer data)
{
    const QdLdEntry *entry = data;

    return GPOINTER_TO_UINT(entry->node) * 31 + (guint) qd_term_hash(&entry->p) * 17 + (guint) qd_term_hash(&entry->o);
}

static gboolean
equal_entries(gconstpointer a, gconstpointer b)
{
    const QdLdEntry *left = a;
    const QdLdEntry *right = b;

    return left->node == right->node && qd_term_equal(&left->p, &right->p) && qd_term_equal(&left->o, &right->o);
}

gboolean
qd_ld_term_is(const QdTerm *term, const char *iri)
{
    return term->kind == QD_TERM_IRI && term->n_lexical == strlen(iri) && memcmp(term->lexical, iri, term->n_lexical) == 0;
}

static QdTerm
copy_term(QdLdDataset *self, const QdTerm *term)
{
    QdTerm copy = *term;

    copy.lexical = qd_json_arena_copy(self->arena, term->lexical, term->n_lexical);
    if (term->qualifier != NULL)
        copy.qualifier = qd_json_arena_copy(self->arena, term->qualifier, term->n_qualifier);
    return copy;
}

static void
graph_free(gpointer data)
{
    QdLdGraph *graph = data;

    g_hash_table_unref(graph->nodes);
    g_ptr_array_unref(graph->order);
    g_free(graph);
}

static QdLdGraph *
add_graph(QdLdDataset *self, const QdTerm *name)
{
    QdLdGraph *graph = g_new0(QdLdGraph, 1);

    graph->nodes = g_hash_table_new(hash_term, equal_terms);
    graph->order = g_ptr_array_new();
    g_ptr_array_add(self->graphs, graph);
    self->n_table_bytes += sizeof *graph + 8 * TABLE_BYTES;
    if (name != NULL) {
        graph->name = copy_term(self, name);
        (void) g_hash_table_insert(self->by_name, &graph->name, graph);
    }
    return graph;
}

QdLdDataset *
qd_ld_dataset_new(void)
{
    QdLdDataset *self = g_new0(QdLdDataset, 1);

    self->arena = qd_json_arena_new(NULL);
    self->graphs = g_ptr_array_new_with_free_func(graph_free);
    self->by_name = g_hash_table_new(hash_term, equal_terms);
    self->entries = g_hash_table_new(hash_entry, equal_entries);
    self->once = g_hash_table_new(hash_term, equal_terms);
    self->homes = g_hash_table_new(hash_term, equal_terms);
    self->nils = g_ptr_array_new();
    (void) add_graph(self, NULL);
    return self;
}

QdLdDataset *
qd_ld_dataset_free(QdLdDataset *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->nils);
    g_hash_table_unref(self->homes);
    g_hash_table_unref(self->once);
    g_hash_table_unref(self->entries);
    g_hash_table_unref(self->by_name);
    g_ptr_array_unref(self->graphs);
    qd_json_arena_free(self->arena);
    g_free(self);
    return NULL;
}

static QdLdNode *
get_node(QdLdDataset *self, QdLdGraph *graph, const QdTerm *id)
{
    QdLdNode *node = g_hash_table_lookup(graph->nodes, id);

    if (node != NULL)
        return node;
    node = qd_json_arena_alloc(self->arena, sizeof *node);
    node->id = copy_term(self, id);
    (void) g_hash_table_insert(graph->nodes, &node->id, node);
    if (id->kind == QD_TERM_BNODE)
        (void) g_hash_table_insert(self->homes, &node->id, g_hash_table_contains(self->homes, id) ? NULL : graph);
    g_ptr_array_add(graph->order, node);
    self->n_table_bytes += 2 * TABLE_BYTES;
    return node;
}

/* Where the value is used, if it can be a part of a list. */
static void
note_usage(QdLdDataset *self, QdLdEntry *entry)
{
    if (qd_ld_term_is(&entry->o, QD_RDF_NAMESPACE "nil")) {
        g_ptr_array_add(self->nils, entry);
    } else if (entry->o.kind == QD_TERM_BNODE) {
        gboolean is_known = g_hash_table_contains(self->once, &entry->o);

        (void) g_hash_table_insert(self->once, &entry->o, is_known ? NULL : entry);
        self->n_table_bytes += TABLE_BYTES;
    }
}

void
qd_ld_dataset_add(QdLdDataset *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g)
{
    QdLdGraph *graph = g != NULL ? qd_ld_dataset_find_graph(self, g) : self->graphs->pdata[0];
    QdLdEntry key = { .p = *p, .o = *o };
    QdLdEntry *entry;

    if (graph == NULL)
        graph = add_graph(self, g);
    key.node = get_node(self, graph, s);
    if (g_hash_table_contains(self->entries, &key))
        return;
    entry = qd_json_arena_alloc(self->arena, sizeof *entry);
    *entry = (QdLdEntry){ .node = key.node, .p = copy_term(self, p), .o = copy_term(self, o) };
    if (key.node->first == NULL)
        key.node->first = entry;
    else
        key.node->last->next = entry;
    key.node->last = entry;
    (void) g_hash_table_add(self->entries, entry);
    self->n_table_bytes += TABLE_BYTES;
    note_usage(self, entry);
}

gsize
qd_ld_dataset_get_bytes(const QdLdDataset *self)
{
    return qd_json_arena_get_bytes(self->arena) + self->n_table_bytes;
}

guint
qd_ld_dataset_get_n_graphs(const QdLdDataset *self)
{
    return self->graphs->len;
}

QdLdGraph *
qd_ld_dataset_get_graph(const QdLdDataset *self, guint index)
{
    return self->graphs->pdata[index];
}

QdLdGraph *
qd_ld_dataset_find_graph(const QdLdDataset *self, const QdTerm *name)
{
    return g_hash_table_lookup(self->by_name, name);
}

QdLdNode *
qd_ld_dataset_get_node(QdLdDataset *self, const QdTerm *id)
{
    return get_node(self, self->graphs->pdata[0], id);
}

/* Lists ----------------------------------------------------------------------------------------------------------------- */

/* The rdf:first of a node that is nothing but a part of a list. */
static QdLdEntry *
get_item(const QdLdNode *node)
{
    QdLdEntry *item = NULL;
    guint n_items = 0;
    guint n_rests = 0;

    for (QdLdEntry *entry = node->first; entry != NULL; entry = entry->next) {
        if (qd_ld_term_is(&entry->p, RDF_FIRST)) {
            item = entry;
            n_items++;
        } else if (qd_ld_term_is(&entry->p, RDF_REST)) {
            n_rests++;
        } else if (!qd_ld_term_is(&entry->p, QD_RDF_NAMESPACE "type") || !qd_ld_term_is(&entry->o, QD_RDF_NAMESPACE "List")) {
            return NULL;
        }
    }
    return n_items == 1 && n_rests == 1 ? item : NULL;
}

/* The one property whose value @node is, if the node means nothing anywhere else. */
static QdLdEntry *
get_usage(const QdLdDataset *self, const QdLdNode *node)
{
    if (node->id.kind != QD_TERM_BNODE || node->is_folded || g_hash_table_lookup(self->homes, &node->id) == NULL ||
        g_hash_table_contains(self->by_name, &node->id))
        return NULL;
    return g_hash_table_lookup(self->once, &node->id);
}

static void
fold(QdLdDataset *self, QdLdEntry *head)
{
    g_autoptr(GPtrArray) items = g_ptr_array_new();
    QdLdEntry *usage;
    QdLdEntry *item;

    while (qd_ld_term_is(&head->p, RDF_REST) && (usage = get_usage(self, head->node)) != NULL &&
           (item = get_item(head->node)) != NULL) {
        head->node->is_folded = TRUE;
        g_ptr_array_add(items, item);
        head = usage;
    }
    for (guint i = 0; i < items->len / 2; i++) {
        gpointer other = items->pdata[items->len - 1 - i];

        items->pdata[items->len - 1 - i] = items->pdata[i];
        items->pdata[i] = other;
    }
    head->list = g_ptr_array_ref(items);
    qd_json_arena_own(self->arena, head->list, (GDestroyNotify) g_ptr_array_unref);
}

void
qd_ld_dataset_fold_lists(QdLdDataset *self)
{
    for (guint i = 0; i < self->nils->len; i++)
        fold(self, self->nils->pdata[i]);
}

/* Compound literals ----------------------------------------------------------------------------------------------------- */

static void
fold_compound(QdLdDataset *self, QdLdNode *node)
{
    QdLdEntry *usage = get_usage(self, node);
    const QdLdEntry *text = NULL;
    const QdLdEntry *language = NULL;
    const QdLdEntry *direction = NULL;

    for (const QdLdEntry *entry = node->first; usage != NULL && entry != NULL; entry = entry->next) {
        if (qd_ld_term_is(&entry->p, QD_RDF_NAMESPACE "value"))
            text = entry;
        else if (qd_ld_term_is(&entry->p, QD_RDF_NAMESPACE "language"))
            language = entry;
        else if (qd_ld_term_is(&entry->p, QD_RDF_NAMESPACE "direction"))
            direction = entry;
    }
    if (text == NULL || direction == NULL || text->o.kind != QD_TERM_STRING || direction->o.kind != QD_TERM_STRING)
        return;
    usage->text = text;
    usage->language = language;
    usage->direction = direction;
    node->is_folded = TRUE;
}

void
qd_ld_dataset_fold_compounds(QdLdDataset *self)
{
    for (guint i = 0; i < self->graphs->len; i++) {
        const QdLdGraph *graph = self->graphs->pdata[i];

        for (guint k = 0; k < graph->order->len; k++)
            fold_compound(self, graph->order->pdata[k]);
    }
}
