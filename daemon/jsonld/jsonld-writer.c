/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The document around the nodes: an array, or '@context' and '@graph'. A large one has nodes as they
 * come. Those of a named graph stand in several objects, so that each can be read alone.
 */
#include "daemon/jsonld/jsonld-writer.h"

#include "daemon/jsonld/ld-print.h"

#define PART_BYTES (256 * 1024) /* of a large document: kept, so that the quads of a node come together */
#define GRAPH_BYTES (64 * 1024) /* in one object */

struct QdJsonLdWriter {
    QdLdPrinter printer;
    GString *out;
    GString *record;
    QdLdDataset *dataset; /* what is not written */
    gboolean is_large;
    gboolean has_begun;
    gboolean has_context;
    gboolean has_records;
    gsize n_graph_bytes; /* of a large document: of the object of a graph that is open */
    gboolean in_graph;
    gboolean graph_is_plain;
};

QdJsonLdWriter *
qd_jsonld_writer_new(const QdJsonLdWriting *options, const QdPrefixMap *prefixes, GString *out)
{
    QdJsonLdWriter *self = g_new0(QdJsonLdWriter, 1);

    qd_ld_printer_init(&self->printer, options, prefixes);
    self->out = out;
    self->record = g_string_new(NULL);
    self->dataset = qd_ld_dataset_new();
    return self;
}

QdJsonLdWriter *
qd_jsonld_writer_free(QdJsonLdWriter *self)
{
    if (self == NULL)
        return NULL;

    qd_ld_printer_clear(&self->printer);
    qd_ld_dataset_free(self->dataset);
    (void) g_string_free(self->record, TRUE);
    g_free(self);
    return NULL;
}

static void
begin(QdJsonLdWriter *self)
{
    gsize start = self->out->len;

    if (self->has_begun)
        return;
    self->has_begun = TRUE;
    g_string_append(self->out, "{\"@context\": ");
    self->has_context = qd_ld_print_context(&self->printer, self->out);
    if (!self->has_context)
        g_string_truncate(self->out, start);
    g_string_append(self->out, self->has_context ? ",\n\"@graph\": [" : "[");
}

static void
separate(QdJsonLdWriter *self)
{
    g_string_append(self->out, self->has_records ? ",\n" : "\n");
    self->has_records = TRUE;
}

/* @node to the record; once more without the context where that is needed. */
static gboolean
print(QdJsonLdWriter *self, const QdLdNode *node, const QdLdGraph *graph, GError **error)
{
    gboolean ok;

    g_string_truncate(self->record, 0);
    self->printer.is_plain = self->graph_is_plain;
    self->printer.is_misread = FALSE;
    ok = qd_ld_print_node(&self->printer, self->record, node, graph, error);
    if (ok && self->printer.is_misread) {
        g_string_truncate(self->record, 0);
        self->printer.is_plain = TRUE;
        ok = qd_ld_print_node(&self->printer, self->record, node, graph, error);
    }
    return ok;
}

/* A whole document -------------------------------------------------------------------------------------------------------- */

static gboolean
write_all(QdJsonLdWriter *self, GError **error)
{
    const QdLdGraph *nodes = qd_ld_dataset_get_graph(self->dataset, 0);

    for (guint i = 1; i < qd_ld_dataset_get_n_graphs(self->dataset); i++)
        (void) qd_ld_dataset_get_node(self->dataset, &qd_ld_dataset_get_graph(self->dataset, i)->name);
    for (guint i = 0; i < nodes->order->len; i++) {
        const QdLdNode *node = nodes->order->pdata[i];
        const QdLdGraph *graph = qd_ld_dataset_find_graph(self->dataset, &node->id);

        if (node->is_folded || (node->first == NULL && graph == NULL))
            continue;
        if (!print(self, node, graph, error))
            return FALSE;
        separate(self);
        g_string_append_len(self->out, self->record->str, (gssize) self->record->len);
    }
    return TRUE;
}

/* A large one ------------------------------------------------------------------------------------------------------------- */

static void
close_graph(QdJsonLdWriter *self)
{
    if (self->in_graph)
        g_string_append(self->out, "\n]}");
    self->in_graph = FALSE;
    self->graph_is_plain = FALSE;
}

static void
open_graph(QdJsonLdWriter *self, const QdTerm *name)
{
    QdLdNode node = { .id = *name };

    (void) print(self, &node, NULL, NULL);
    self->graph_is_plain = self->printer.is_plain;
    g_string_truncate(self->record, self->record->len - 1);
    separate(self);
    g_string_append_len(self->out, self->record->str, (gssize) self->record->len);
    g_string_append(self->out, ", \"@graph\": [");
    self->in_graph = TRUE;
    self->n_graph_bytes = 0;
}

/* All that is in the dataset, which is empty then. */
static gboolean
write_some(QdJsonLdWriter *self, GError **error)
{
    for (guint i = 0; i < qd_ld_dataset_get_n_graphs(self->dataset); i++) {
        const QdLdGraph *graph = qd_ld_dataset_get_graph(self->dataset, i);

        for (guint k = 0; k < graph->order->len; k++) {
            if (graph->name.lexical != NULL && (k == 0 || self->n_graph_bytes > GRAPH_BYTES)) {
                close_graph(self);
                open_graph(self, &graph->name);
            }
            if (!print(self, graph->order->pdata[k], NULL, error))
                return FALSE;
            if (self->in_graph)
                g_string_append(self->out, self->n_graph_bytes > 0 ? ",\n" : "\n");
            else
                separate(self);
            g_string_append_len(self->out, self->record->str, (gssize) self->record->len);
            self->n_graph_bytes += self->record->len;
        }
        close_graph(self);
    }
    qd_ld_dataset_free(self->dataset);
    self->dataset = qd_ld_dataset_new();
    return TRUE;
}

gboolean
qd_jsonld_writer_put(QdJsonLdWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, GError **error)
{
    begin(self);
    qd_ld_dataset_add(self->dataset, s, p, o, g);
    if (qd_ld_dataset_get_bytes(self->dataset) <= (self->is_large ? PART_BYTES : QD_JSONLD_FOLD_BYTES) ||
        self->printer.options.is_expanded)
        return TRUE;
    self->is_large = TRUE;
    return write_some(self, error);
}

gboolean
qd_jsonld_writer_finish(QdJsonLdWriter *self, GError **error)
{
    begin(self);
    if (!self->is_large) {
        if (self->printer.options.direction == QD_LD_DIRECTION_COMPOUND)
            qd_ld_dataset_fold_compounds(self->dataset);
        qd_ld_dataset_fold_lists(self->dataset);
    }
    if (self->is_large ? !write_some(self, error) : !write_all(self, error))
        return FALSE;
    g_string_append(self->out, self->has_context ? "\n]}\n" : "\n]\n");
    return TRUE;
}
