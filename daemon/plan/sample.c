/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A few solutions of a join's parts, which are looked up while it is ordered. How many solutions a further part has for each of
 * them tells which terms two predicates share. No statistics of a single predicate do. All ids are of the store.
 */
#include <math.h>
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define ROWS_MAX 24      /* of a sample */
#define FOUND_MAX 64     /* solutions for one of its rows, nodes of a path */
#define KEPT_MAX 1024    /* solutions at once, before some of them are chosen: 0.5 MiB */
#define TRIED_MAX 256    /* rows of VALUES, from all over it */
#define SCANNED_MAX 8192 /* quads over which the first rows are spread: 1 ms */
#define SLOTS_MAX 64     /* variables of a sample */
#define LISTS_MAX 50000  /* look-ups for one statement: 0.2 s */
#define UNKNOWN (-1.0)

struct QdSample {
    QdGenerator *generator;
    guint variables[SLOTS_MAX];
    guint n_slots;
    GArray *rows; /* Row */
    gboolean may_scan;
    gboolean is_full; /* there were more variables, or look-ups: nothing is known any more */
};

/* The ids of the variables; 0: unbound. */
typedef struct Row {
    gint64 ids[SLOTS_MAX];
} Row;

QdSample *
qd_sample_new(QdGenerator *self)
{
    QdSample *sample;

    if (self->catalog == NULL || self->catalog->list_quads == NULL || self->n_lists >= LISTS_MAX)
        return NULL;
    sample = g_new0(QdSample, 1);
    sample->generator = self;
    sample->rows = g_array_sized_new(FALSE, TRUE, sizeof(Row), ROWS_MAX);
    g_array_set_size(sample->rows, 1);
    return sample;
}

QdSample *
qd_sample_free(QdSample *self)
{
    if (self != NULL) {
        g_array_unref(self->rows);
        g_free(self);
    }
    return NULL;
}

static guint
find_slot(QdSample *self, guint variable)
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

static void
keep(GArray *rows, const Row *row)
{
    if (rows->len < KEPT_MAX)
        g_array_append_vals(rows, row, 1);
}

/* FALSE: no quad has this term. */
static gboolean
read_node(QdSample *self, const QdNode *node, const Row *row, gint64 *ret_id)
{
    const QdCatalog *catalog = self->generator->catalog;

    *ret_id = 0;
    if (node->kind == QD_NODE_TERM)
        return catalog->find_id(catalog->data, node->term, ret_id);
    if (node->kind == QD_NODE_VARIABLE)
        *ret_id = row->ids[find_slot(self, node->variable)];
    return TRUE;
}

/* FALSE: the row binds the variable to another. */
static gboolean
bind(QdSample *self, const QdNode *node, gint64 id, Row *row)
{
    gint64 *known;

    if (node->kind != QD_NODE_VARIABLE)
        return TRUE;
    known = &row->ids[find_slot(self, node->variable)];
    if (*known != 0 && *known != id)
        return FALSE;
    *known = id;
    return TRUE;
}

static guint
list(QdSample *self, gint64 s, gint64 p, gint64 o, guint stride, QdQuadIds *quads)
{
    const QdCatalog *catalog = self->generator->catalog;

    self->is_full = self->is_full || self->generator->n_lists++ >= LISTS_MAX;
    return self->is_full ? 0 : catalog->list_quads(catalog->data, &(QdQuadIds){ s, p, o }, stride, FOUND_MAX, quads);
}

/* --- triples ---------------------------------------------------------------------------------------------------------- */

static guint
get_stride(const QdSample *self, const QdTriple *triple)
{
    const QdCatalog *catalog = self->generator->catalog;
    QdPredicateStatistics statistics = { .n_quads = catalog->n_quads };

    if (triple->p.kind == QD_NODE_TERM)
        (void) catalog->get_predicate(catalog->data, triple->p.term, &statistics);
    return (guint) MAX(1, MIN(statistics.n_quads, SCANNED_MAX) / FOUND_MAX);
}

static double
extend_triple(QdSample *self, const QdTriple *triple, const Row *row, GArray *out)
{
    QdQuadIds quads[FOUND_MAX];
    gint64 s, p, o;
    guint n, n_kept = 0;

    if (!read_node(self, &triple->s, row, &s) || !read_node(self, &triple->p, row, &p) || !read_node(self, &triple->o, row, &o))
        return 0;
    if (s == 0 && o == 0 && !self->may_scan)
        return UNKNOWN;
    n = list(self, s, p, o, s == 0 && self->may_scan ? get_stride(self, triple) : 1, quads);
    if (n == 0 && self->may_scan)
        n = list(self, s, p, o, 1, quads);
    for (guint i = 0; i < n; i++) {
        Row found = *row;

        if (bind(self, &triple->s, quads[i].s, &found) && bind(self, &triple->p, quads[i].p, &found) &&
            bind(self, &triple->o, quads[i].o, &found)) {
            keep(out, &found);
            n_kept++;
        }
    }
    return n_kept;
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

/* Adds the nodes that @path leads to from @from. FALSE: it has a step that is not known. */
static gboolean
walk(QdSample *self, const QdPath *path, gint64 from, gboolean backward, Nodes *nodes)
{
    const QdNode iri = { .kind = QD_NODE_TERM, .term = path->iri };
    QdQuadIds quads[FOUND_MAX];
    Nodes before = { { from }, 1 };
    gboolean repeats = path->kind == QD_PATH_ZERO_OR_MORE || path->kind == QD_PATH_ONE_OR_MORE;
    gint64 p;
    guint n;

    switch (path->kind) {
    case QD_PATH_LINK:
        if (!read_node(self, &iri, NULL, &p))
            return TRUE;
        n = backward ? list(self, 0, p, from, 1, quads) : list(self, from, p, 0, 1, quads);
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
        if (path->kind == QD_PATH_ONE_OR_MORE) {
            before.n = 0;
            if (!walk(self, path->children[0], from, backward, &before))
                return FALSE;
        }
        for (guint i = 0; i < (repeats ? before.n : 1) && before.n < FOUND_MAX && !self->is_full; i++) {
            if (before.n > 0 && !walk(self, path->children[0], before.ids[i], backward, &before))
                return FALSE;
        }
        break;
    case QD_PATH_NEGATED:
        return FALSE;
    }
    for (guint i = 0; i < before.n; i++)
        add_node(nodes, before.ids[i]);
    return TRUE;
}

static const QdPath *
find_link(const QdPath *path)
{
    while (path->kind != QD_PATH_LINK) {
        if (path->n_children == 0)
            return NULL;
        path = path->children[0];
    }
    return path;
}

static double extend_path(QdSample *self, const QdTriple *triple, const Row *row, GArray *out);

/* A path from some of the subjects of its first link. */
static double
scan_path(QdSample *self, const QdTriple *triple, const Row *row, GArray *out)
{
    const QdPath *link = find_link(triple->path);
    g_autoptr(GArray) starts = g_array_new(FALSE, TRUE, sizeof(Row));
    QdTriple first = { .s = triple->s }; /* to any object */
    double n = 0;

    if (link == NULL)
        return UNKNOWN;
    first.p = (QdNode){ .kind = QD_NODE_TERM, .term = link->iri };
    (void) extend_triple(self, &first, row, starts);
    self->may_scan = FALSE;
    for (guint i = 0; i < starts->len && n >= 0; i++) {
        double n_found = extend_path(self, triple, &g_array_index(starts, Row, i), out);

        n = n_found < 0 ? UNKNOWN : n + n_found;
    }
    self->may_scan = TRUE;
    return n;
}

static double
extend_path(QdSample *self, const QdTriple *triple, const Row *row, GArray *out)
{
    Nodes nodes = { .n = 0 };
    gint64 s, o;
    guint n_kept = 0;

    if (!read_node(self, &triple->s, row, &s) || !read_node(self, &triple->o, row, &o))
        return 0;
    if (s == 0 && o == 0)
        return self->may_scan ? scan_path(self, triple, row, out) : UNKNOWN;
    if (!walk(self, triple->path, s != 0 ? s : o, s == 0, &nodes))
        return UNKNOWN;
    for (guint i = 0; i < nodes.n; i++) {
        Row found = *row;

        if (s != 0 && o != 0 && nodes.ids[i] != o)
            continue;
        if (bind(self, s != 0 ? &triple->o : &triple->s, nodes.ids[i], &found)) {
            keep(out, &found);
            n_kept++;
        }
    }
    return n_kept;
}

/* --- patterns --------------------------------------------------------------------------------------------------------- */

static double extend(QdSample *self, const QdAlgebra *node, const Row *row, GArray *out);

/* At most @n_max rows of @rows, from all over it. */
static void
thin(GArray *rows, guint n_max)
{
    if (rows->len <= n_max)
        return;
    for (guint i = 0; i < n_max; i++)
        g_array_index(rows, Row, i) = g_array_index(rows, Row, (guint) ((guint64) i * rows->len / n_max));
    g_array_set_size(rows, n_max);
}

/* Solutions of @node for each of @rows, which become some of them. */
static double
extend_all(QdSample *self, const QdAlgebra *node, GArray *rows)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(Row));
    g_autoptr(GArray) of_row = g_array_new(FALSE, TRUE, sizeof(Row));
    guint n_rows = rows->len;
    double n = 0;

    for (guint i = 0; i < n_rows; i++) {
        double n_found = extend(self, node, &g_array_index(rows, Row, i), of_row);

        if (n_found < 0 || self->is_full)
            return UNKNOWN;
        n += n_found;
        thin(of_row, FOUND_MAX);
        g_array_append_vals(found, of_row->data, of_row->len);
        g_array_set_size(of_row, 0);
    }
    thin(found, ROWS_MAX);
    g_array_set_size(rows, 0);
    if (found->len > 0)
        g_array_append_vals(rows, found->data, found->len);
    return n_rows > 0 ? n / n_rows : 0;
}

/* Each of @node's parts after those that give it an end. */
static double
extend_join(QdSample *self, const QdAlgebra *node, const Row *row, GArray *out)
{
    gboolean may_scan = self->may_scan;
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(Row));
    g_autofree gboolean *done = g_new0(gboolean, node->n_children);
    double n = 1;

    g_array_append_val(rows, *row);
    for (guint n_done = 0; n_done < node->n_children; n_done++) {
        double n_found = UNKNOWN;

        self->may_scan = FALSE;
        for (guint pass = 0; pass < (may_scan ? 2 : 1) && n_found < 0; pass++) {
            self->may_scan = pass == 1;
            for (guint i = 0; i < node->n_children && n_found < 0; i++) {
                if (done[i])
                    continue;
                n_found = extend_all(self, node->children[i], rows);
                done[i] = n_found >= 0;
            }
        }
        self->may_scan = may_scan;
        if (n_found <= 0)
            return n_found;
        n *= n_found;
    }
    for (guint i = 0; i < rows->len; i++)
        keep(out, &g_array_index(rows, Row, i));
    return n;
}

/* Solutions of the first child of @node as far as it lets out @kept, each once if they are @distinct. */
static double
extend_inside(QdSample *self, const QdAlgebra *node, const QdVariableSet *kept, gboolean distinct, const Row *row, GArray *out)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(Row));
    guint n_before = out->len;
    Row inside = { { 0 } };
    double n;

    QD_VARIABLE_SET_FOREACH(kept, variable)
    {
        guint slot = find_slot(self, variable);

        inside.ids[slot] = row->ids[slot];
    }
    n = extend(self, node->children[0], &inside, found);
    for (guint i = 0; i < found->len && n > 0; i++) {
        Row outside = *row;
        gboolean is_new = TRUE;

        QD_VARIABLE_SET_FOREACH(kept, variable)
        {
            guint slot = find_slot(self, variable);

            outside.ids[slot] = g_array_index(found, Row, i).ids[slot];
        }
        for (guint j = n_before; distinct && j < out->len && is_new; j++)
            is_new = memcmp(&g_array_index(out, Row, j), &outside, sizeof outside) != 0;
        if (is_new)
            keep(out, &outside);
    }
    return found->len > 0 && n > 0 ? n * (out->len - n_before) / found->len : n;
}

static double
extend_values(QdSample *self, const QdValues *values, const Row *row, GArray *out)
{
    guint n_tried = MIN(values->n_rows, TRIED_MAX);
    guint n_kept = 0;

    for (guint i = 0; i < n_tried; i++) {
        gsize index = (gsize) i * values->n_rows / n_tried;
        Row found = *row;
        gboolean matches = TRUE;

        for (guint j = 0; j < values->n_variables && matches; j++) {
            const QdTerm *term = values->cells[index * values->n_variables + j];
            const QdNode cell = { .kind = QD_NODE_TERM, .term = term };
            const QdNode variable = { .kind = QD_NODE_VARIABLE, .variable = values->variables[j] };
            gint64 id;

            matches = term == NULL || (read_node(self, &cell, row, &id) && bind(self, &variable, id, &found));
        }
        if (matches) {
            keep(out, &found);
            n_kept++;
        }
    }
    self->generator->n_lists += n_tried; /* a look-up of a term each, about */
    self->is_full = self->is_full || self->generator->n_lists >= LISTS_MAX;
    return n_tried > 0 ? (double) n_kept * values->n_rows / n_tried : 0;
}

/* Adds to @out solutions of @node that extend @row. Returns about how many there are; UNKNOWN. */
static double
extend(QdSample *self, const QdAlgebra *node, const Row *row, GArray *out)
{
    QdVariableSet keys = { 0 };
    double n = 0;

    switch (node->kind) {
    case QD_ALGEBRA_UNIT:
        keep(out, row);
        return 1;
    case QD_ALGEBRA_TRIPLE:
        return extend_triple(self, node->triple, row, out);
    case QD_ALGEBRA_PATH:
        return extend_path(self, node->triple, row, out);
    case QD_ALGEBRA_JOIN:
        return extend_join(self, node, row, out);
    case QD_ALGEBRA_UNION:
        for (guint i = 0; i < node->n_children && n >= 0; i++) {
            double n_found = extend(self, node->children[i], row, out);

            n = n_found < 0 ? UNKNOWN : n + n_found;
        }
        return n;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_SLICE:
        return extend(self, node->children[0], row, out);
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
        return extend_inside(self, node, &node->possible, node->kind == QD_ALGEBRA_DISTINCT, row, out);
    case QD_ALGEBRA_GROUP:
        for (guint i = 0; i < node->n_variables; i++)
            qd_variable_set_add(&keys, self->generator->arena, node->variables[i]);
        return extend_inside(self, node, &keys, TRUE, row, out);
    case QD_ALGEBRA_VALUES:
        return extend_values(self, node->values, row, out);
    case QD_ALGEBRA_MATCH:
    case QD_ALGEBRA_GRAPH:
    case QD_ALGEBRA_SERVICE:
        return UNKNOWN;
    }
    g_assert_not_reached();
}

double
qd_sample_count(QdSample *self, const QdAlgebra *node)
{
    double sum = 0;

    if (self->rows->len == 0)
        return UNKNOWN;
    for (guint i = 0; i < self->rows->len; i++) {
        g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(Row));
        double n = extend(self, node, &g_array_index(self->rows, Row, i), found);

        if (n < 0 || self->is_full)
            return UNKNOWN;
        sum += log1p(n);
    }
    return expm1(sum / self->rows->len);
}

double
qd_sample_estimate(QdGenerator *generator, const QdAlgebra *first, const QdAlgebra *then)
{
    g_autoptr(QdSample) self = qd_sample_new(generator);
    double n;

    if (self == NULL)
        return UNKNOWN;
    qd_sample_extend(self, first, TRUE);
    n = self->rows->len > 0 ? extend_all(self, then, self->rows) : UNKNOWN;
    return n < 0 || self->is_full ? UNKNOWN : n * qd_estimate_rows(generator, first);
}

void
qd_sample_extend(QdSample *self, const QdAlgebra *node, gboolean is_first)
{
    double n;

    self->may_scan = is_first;
    n = extend_all(self, node, self->rows);
    self->may_scan = FALSE;
    if (n < 0 || self->is_full)
        g_array_set_size(self->rows, 0);
}
