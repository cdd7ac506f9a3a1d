/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples: triples and paths that are looked up for a row. What a path leads to from a node is remembered for the whole statement,
 * since other orders of a join look it up again.
 */
#include "daemon/plan/sample-private.h"

#include <string.h>

#define MANY_NODES 1000.0 /* nodes of a path that leads to more than are looked for */
#define FEW_NODES 8       /* that are met from one end: the other is not asked */
#define MANY_QUADS 200.0  /* the same of a triple */
#define SCANS_MAX 128     /* remembered: 0.8 MiB */
#define SCANNED_MAX 8192  /* quads over which the first rows are spread: 1 ms */
#define WALKS_MAX 4096    /* remembered: 2 MiB */
#define LISTED_MAX 2048   /* the same: 3 MiB */
#define QUADS_OF_NODE 3   /* at a guess: a path of no length begins at each node */

/* Where a path that repeats leads to, for all samples of a statement. */
typedef struct Walk {
    const QdPath *path;
    gint64 from;
    gboolean backward;
    guint n;
    gint64 ids[];
} Walk;

static guint
walk_hash(gconstpointer data)
{
    const Walk *walk = data;

    return (guint) ((guint64) walk->from * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 32) ^ g_direct_hash(walk->path) ^
           (guint) walk->backward;
}

static gboolean
walk_equal(gconstpointer a, gconstpointer b)
{
    const Walk *x = a;
    const Walk *y = b;

    return x->path == y->path && x->from == y->from && x->backward == y->backward;
}

/* Quads of one pattern, from all over them: read once for a statement. */
typedef struct Scan {
    QdQuadIds pattern;
    guint n;
    QdQuadIds quads[POOL_MAX];
} Scan;

static guint
scan_hash(gconstpointer data)
{
    const QdQuadIds *pattern = data;
    guint64 mixed = ((guint64) pattern->s * 31 + (guint64) pattern->p) * 31 + (guint64) pattern->o;

    return (guint) (mixed * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 32);
}

static gboolean
scan_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(QdQuadIds)) == 0;
}

/* Quads of one pattern, up to FOUND_MAX: other orders of a join ask for them again. */
typedef struct List {
    QdQuadIds pattern;
    guint n;
    QdQuadIds quads[];
} List;

QdSamples *
qd_samples_new(void)
{
    QdSamples *self = g_new0(QdSamples, 1);

    self->ids = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    self->pairs = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    self->walks = g_hash_table_new_full(walk_hash, walk_equal, NULL, g_free);
    self->scans = g_hash_table_new_full(scan_hash, scan_equal, NULL, g_free);
    self->lists = g_hash_table_new_full(scan_hash, scan_equal, NULL, g_free);
    return self;
}

guint
qd_sample_find_slot(QdSample *self, guint variable)
{
    for (guint i = 0; i < self->n_slots; i++) {
        if (self->variables[i] == variable)
            return i;
    }
    if (self->n_slots == SLOTS_MAX) {
        self->is_full = TRUE;
        return 0;
    }
    self->variables[self->n_slots] = variable;
    return self->n_slots++;
}

void
qd_sample_keep(GArray *rows, const QdSampleRow *row)
{
    if (rows->len < KEPT_MAX)
        g_array_append_vals(rows, row, 1);
}

void
qd_sample_thin(GArray *rows, guint n_max)
{
    if (rows->len <= n_max)
        return;
    for (guint i = 0; i < n_max; i++)
        g_array_index(rows, QdSampleRow, i) = g_array_index(rows, QdSampleRow, (guint) ((guint64) i * rows->len / n_max));
    g_array_set_size(rows, n_max);
}

/* The id of @term; 0: no quad has it. */
static gint64
find_id(QdSample *self, const QdTerm *term)
{
    const QdCatalog *catalog = self->generator->catalog;
    gint64 *known = g_hash_table_lookup(self->samples->ids, term);

    if (known == NULL) {
        known = g_new0(gint64, 1);
        if (!catalog->find_id(catalog->data, term, known))
            *known = 0;
        g_hash_table_insert(self->samples->ids, (gpointer) term, known);
    }
    return *known;
}

gboolean
qd_sample_read_node(QdSample *self, const QdNode *node, const QdSampleRow *row, gint64 *ret_id)
{
    *ret_id = node->kind == QD_NODE_TERM ? find_id(self, node->term) : 0;
    if (node->kind == QD_NODE_TERM)
        return *ret_id != 0;
    if (node->kind == QD_NODE_VARIABLE)
        *ret_id = row->ids[qd_sample_find_slot(self, node->variable)];
    return TRUE;
}

gboolean
qd_sample_bind(QdSample *self, const QdNode *node, gint64 id, QdSampleRow *row)
{
    gint64 *known;

    if (node->kind != QD_NODE_VARIABLE)
        return TRUE;
    known = &row->ids[qd_sample_find_slot(self, node->variable)];
    if (*known != 0 && *known != id)
        return FALSE;
    *known = id;
    return TRUE;
}

static guint
list(QdSample *self, gint64 s, gint64 p, gint64 o, guint stride, guint n_max, QdQuadIds *quads)
{
    const QdCatalog *catalog = self->generator->catalog;

    self->is_full = self->is_full || self->samples->n_lists++ >= LISTS_MAX;
    return self->is_full ? 0 : catalog->list_quads(catalog->data, &(QdQuadIds){ s, p, o }, stride, n_max, quads);
}

/* The first FOUND_MAX quads of a pattern at most, which are remembered. */
static guint
list_once(QdSample *self, gint64 s, gint64 p, gint64 o, QdQuadIds *quads)
{
    const QdQuadIds pattern = { s, p, o };
    List *known = g_hash_table_lookup(self->samples->lists, &pattern);
    guint n;

    if (known == NULL) {
        n = list(self, s, p, o, 1, FOUND_MAX, quads);
        known = g_malloc(sizeof *known + n * sizeof *quads);
        known->pattern = pattern;
        known->n = n;
        memcpy(known->quads, quads, n * sizeof *quads);
        if (self->is_full || g_hash_table_size(self->samples->lists) >= LISTED_MAX)
            g_hash_table_remove_all(self->samples->lists);
        g_hash_table_add(self->samples->lists, known);
        return n;
    }
    self->is_full = self->is_full || self->samples->n_lists++ >= LISTS_MAX;
    n = self->is_full ? 0 : known->n;
    memcpy(quads, known->quads, n * sizeof *quads);
    return n;
}

/* --- triples ---------------------------------------------------------------------------------------------------------- */

double
qd_sample_count_quads(QdGenerator *generator, const QdTriple *triple)
{
    const QdCatalog *catalog = generator->catalog;
    const QdTerm *s = triple->s.kind == QD_NODE_TERM ? triple->s.term : NULL;
    const QdTerm *p = triple->p.kind == QD_NODE_TERM ? triple->p.term : NULL;
    const QdTerm *o = triple->o.kind == QD_NODE_TERM ? triple->o.term : NULL;
    QdPredicateStatistics statistics = { .n_quads = catalog->n_quads };

    if (s != NULL || o != NULL)
        return (double) catalog->count_quads(catalog->data, s, p, o, SCANNED_MAX);
    if (p != NULL)
        (void) catalog->get_predicate(catalog->data, p, &statistics);
    return (double) statistics.n_quads;
}

static guint
get_stride(const QdSample *self, const QdTriple *triple)
{
    return (guint) (MIN(qd_sample_count_quads(self->generator, triple), SCANNED_MAX) / POOL_MAX) |
           1; /* odd: one of two may be of another kind */
}

/* Quads that match the constants of @triple, whose ids are @pattern. */
static const Scan *
scan_once(QdSample *self, const QdTriple *triple, const QdQuadIds *pattern)
{
    Scan *scan = g_hash_table_lookup(self->samples->scans, pattern);

    if (scan != NULL)
        return scan;
    scan = g_new(Scan, 1);
    scan->pattern = *pattern;
    scan->n = list(self, pattern->s, pattern->p, pattern->o, get_stride(self, triple), POOL_MAX, scan->quads);
    if (scan->n == 0)
        scan->n = list(self, pattern->s, pattern->p, pattern->o, 1, POOL_MAX, scan->quads);
    if (g_hash_table_size(self->samples->scans) >= SCANS_MAX)
        g_hash_table_remove_all(self->samples->scans);
    g_hash_table_add(self->samples->scans, scan);
    return scan;
}

static gboolean
is_unbound(const QdNode *node, gint64 id)
{
    return node->kind != QD_NODE_VARIABLE || id == 0;
}

double
qd_sample_extend_triple(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out)
{
    QdQuadIds listed[FOUND_MAX];
    const QdQuadIds *quads = listed;
    gint64 s, p, o;
    guint n, n_kept = 0;
    double share = 0; /* of a scan: how many each of its quads stands for */

    if (!qd_sample_read_node(self, &triple->s, row, &s) || !qd_sample_read_node(self, &triple->p, row, &p) ||
        !qd_sample_read_node(self, &triple->o, row, &o))
        return 0;
    if (s == 0 && o == 0 && !self->may_scan)
        return UNKNOWN;
    if ((self->may_scan || self->is_first) && is_unbound(&triple->s, s) && is_unbound(&triple->p, p) && is_unbound(&triple->o, o)) {
        const Scan *scan = scan_once(self, triple, &(QdQuadIds){ s, p, o });

        n = scan->n;
        quads = scan->quads;
        share = n > 0 ? MAX(1, qd_sample_count_quads(self->generator, triple) / n) : 1;
    } else {
        n = list_once(self, s, p, o, listed);
    }
    for (guint i = 0; i < n; i++) {
        QdSampleRow found = *row;

        if (qd_sample_bind(self, &triple->s, quads[i].s, &found) && qd_sample_bind(self, &triple->p, quads[i].p, &found) &&
            qd_sample_bind(self, &triple->o, quads[i].o, &found)) {
            qd_sample_keep(out, &found);
            n_kept++;
        }
    }
    self->n_found += share > 0 ? share * n : n >= FOUND_MAX ? MANY_QUADS : n;
    return share > 0 ? share * n_kept : n_kept >= FOUND_MAX ? MANY_QUADS : n_kept;
}

/* --- paths ------------------------------------------------------------------------------------------------------------ */

typedef struct Nodes {
    gint64 ids[FOUND_MAX];
    guint n;
} Nodes;

static void
add_node(Nodes *nodes, gint64 id)
{
    for (guint i = 0; i < nodes->n; i++) {
        if (nodes->ids[i] == id)
            return;
    }
    if (nodes->n < FOUND_MAX)
        nodes->ids[nodes->n++] = id;
}

static gboolean walk(QdSample *self, const QdPath *path, gint64 from, gboolean backward, Nodes *nodes);

/* The nodes that @path, which repeats, leads to from @from. FALSE: it has a step that is not known. */
static gboolean
repeat(QdSample *self, const QdPath *path, gint64 from, gboolean backward, Nodes *nodes)
{
    gboolean repeats = path->kind != QD_PATH_ZERO_OR_ONE;

    if (path->kind != QD_PATH_ONE_OR_MORE)
        add_node(nodes, from);
    else if (!walk(self, path->children[0], from, backward, nodes))
        return FALSE;
    for (guint i = 0; i < (repeats ? nodes->n : 1) && nodes->n < FOUND_MAX && !self->is_full; i++) {
        if (nodes->n > 0 && !walk(self, path->children[0], nodes->ids[i], backward, nodes))
            return FALSE;
    }
    return TRUE;
}

/* The same, which is remembered. */
static gboolean
repeat_once(QdSample *self, const QdPath *path, gint64 from, gboolean backward, Nodes *nodes)
{
    const Walk key = { path, from, backward, 0 };
    Walk *known = g_hash_table_lookup(self->samples->walks, &key);
    Nodes found = { .n = 0 };

    if (known == NULL) {
        if (!repeat(self, path, from, backward, &found))
            return FALSE;
        known = g_malloc(sizeof *known + found.n * sizeof(gint64));
        *known = key;
        known->n = found.n;
        memcpy(known->ids, found.ids, found.n * sizeof(gint64));
        if (self->is_full || g_hash_table_size(self->samples->walks) >= WALKS_MAX)
            g_hash_table_remove_all(self->samples->walks);
        g_hash_table_add(self->samples->walks, known);
    }
    for (guint i = 0; i < known->n; i++)
        add_node(nodes, known->ids[i]);
    return TRUE;
}

/* Adds the nodes that @path leads to from @from. FALSE: it has a step that is not known. */
static gboolean
walk(QdSample *self, const QdPath *path, gint64 from, gboolean backward, Nodes *nodes)
{
    const QdNode iri = { .kind = QD_NODE_TERM, .term = path->iri };
    QdQuadIds quads[FOUND_MAX];
    Nodes before = { { from }, 1 };
    gint64 p;
    guint n;

    switch (path->kind) {
    case QD_PATH_LINK:
        if (!qd_sample_read_node(self, &iri, NULL, &p))
            return TRUE;
        n = list_once(self, backward ? 0 : from, p, backward ? from : 0, quads);
        for (guint i = 0; i < n; i++)
            add_node(nodes, backward ? quads[i].s : quads[i].o);
        return TRUE;
    case QD_PATH_INVERSE:
        return walk(self, path->children[0], from, !backward, nodes);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++) {
            if (!walk(self, path->children[i], from, backward, nodes))
                return FALSE;
        }
        return TRUE;
    case QD_PATH_SEQUENCE:
        for (guint i = 0; i < path->n_children; i++) {
            Nodes next = { .n = 0 };

            for (guint j = 0; j < before.n && !self->is_full; j++) {
                if (!walk(self, path->children[backward ? path->n_children - 1 - i : i], before.ids[j], backward, &next))
                    return FALSE;
            }
            before = next;
        }
        break;
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
        return repeat_once(self, path, from, backward, nodes);
    case QD_PATH_NEGATED:
        return FALSE;
    }
    for (guint i = 0; i < before.n; i++)
        add_node(nodes, before.ids[i]);
    return TRUE;
}

/* Where a path's first step may begin. */
typedef struct Start {
    const QdTerm *iri;
    gboolean backward;
    double n; /* nodes that it begins at */
} Start;

/* The start from which most nodes begin is put into @most. Returns how many all have. */
static double
find_starts(QdSample *self, const QdPath *path, gboolean backward, Start *most)
{
    const QdCatalog *catalog = self->generator->catalog;
    QdPredicateStatistics statistics = { 0 };
    Start start = { path->iri, backward, 0 };
    double n = 0;

    switch (path->kind) {
    case QD_PATH_LINK:
        if (catalog->get_predicate(catalog->data, path->iri, &statistics))
            start.n = (double) (backward ? statistics.n_objects : statistics.n_subjects);
        if (most->iri == NULL || start.n > most->n)
            *most = start;
        return start.n;
    case QD_PATH_INVERSE:
        return find_starts(self, path->children[0], !backward, most);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++)
            n += find_starts(self, path->children[i], backward, most);
        return n;
    case QD_PATH_SEQUENCE:
        return find_starts(self, path->children[backward ? path->n_children - 1 : 0], backward, most);
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
        return find_starts(self, path->children[0], backward, most);
    case QD_PATH_NEGATED:
        return 0;
    }
    g_assert_not_reached();
}

/* Adds to @out, of @n pairs of nodes in all, a share of some nodes with themselves, of which there are more. */
static double
scan_nodes(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out, double *n)
{
    const QdTriple any = { .s = triple->s }; /* the node of any quad */
    g_autoptr(GArray) nodes = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    g_autoptr(GArray) loops = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    double n_nodes = (double) self->generator->catalog->n_quads / QUADS_OF_NODE;
    double n_all = *n + n_nodes;

    (void) qd_sample_extend_triple(self, &any, row, nodes);
    for (guint i = 0; i < nodes->len; i++) {
        QdSampleRow loop = g_array_index(nodes, QdSampleRow, i);

        if (qd_sample_bind(self, &triple->o, loop.ids[qd_sample_find_slot(self, triple->s.variable)], &loop))
            qd_sample_keep(loops, &loop);
    }
    qd_sample_thin(out, 1 + (guint) (POOL_MAX * (*n / n_all)));
    qd_sample_thin(loops, 1 + (guint) (POOL_MAX * (n_nodes / n_all)));
    g_array_append_vals(out, loops->data, loops->len);
    *n = n_all;
    return loops->len;
}

double
qd_sample_scan_path(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out, double *ret_n)
{
    g_autoptr(GArray) starts = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    Start most = { 0 };
    QdTriple first = { 0 }; /* from it to any node */
    double n = 0;

    *ret_n = find_starts(self, triple->path, FALSE, &most);
    if (most.iri == NULL)
        return UNKNOWN;
    first.p = (QdNode){ .kind = QD_NODE_TERM, .term = most.iri };
    *(most.backward ? &first.o : &first.s) = triple->s;
    (void) qd_sample_extend_triple(self, &first, row, starts);
    self->may_scan = FALSE;
    qd_sample_thin(starts, ROWS_MAX);
    for (guint i = 0; i < starts->len && n >= 0; i++) {
        g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
        double n_found = qd_sample_extend_path(self, triple, &g_array_index(starts, QdSampleRow, i), found);

        n = n_found < 0 ? UNKNOWN : n + n_found;
        qd_sample_thin(found, KEPT_MAX / ROWS_MAX);
        g_array_append_vals(out, found->data, found->len);
    }
    self->may_scan = TRUE;
    *ret_n *= n >= 0 && starts->len > 0 ? n / starts->len : 1;
    if (n >= 0 && triple->path->kind != QD_PATH_ONE_OR_MORE)
        n += scan_nodes(self, triple, row, out, ret_n);
    return n;
}

double
qd_sample_extend_path(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out)
{
    Nodes nodes = { .n = 0 };
    Nodes others = { .n = 0 };
    double n_pairs;
    gint64 s, o;
    guint n_kept = 0;

    if (!qd_sample_read_node(self, &triple->s, row, &s) || !qd_sample_read_node(self, &triple->o, row, &o))
        return 0;
    if (s == COMPUTED || o == COMPUTED)
        return 0;
    if (s == 0 && o == 0)
        return self->may_scan ? qd_sample_scan_path(self, triple, row, out, &n_pairs) : UNKNOWN;
    if (!walk(self, triple->path, s != 0 ? s : o, s == 0, &nodes))
        return UNKNOWN;
    for (guint i = 0; i < nodes.n; i++) {
        QdSampleRow found = *row;

        if (s != 0 && o != 0 && nodes.ids[i] != o)
            continue;
        if (qd_sample_bind(self, s != 0 ? &triple->o : &triple->s, nodes.ids[i], &found)) {
            qd_sample_keep(out, &found);
            n_kept++;
        }
    }
    /* what leads to a bound node is searched from the end that meets fewer */
    if (s != 0 && o != 0 && nodes.n > FEW_NODES && walk(self, triple->path, o, TRUE, &others) && others.n < nodes.n)
        nodes.n = others.n;
    self->n_found += nodes.n == FOUND_MAX ? MANY_NODES : nodes.n;
    return n_kept == FOUND_MAX ? MANY_NODES : n_kept;
}
