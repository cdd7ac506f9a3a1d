/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A few solutions of a join's parts, which are looked up while it is ordered. How many solutions a further part has for each of
 * them tells which terms two predicates share. No statistics of a single predicate do. All ids are of the store.
 */
#include "daemon/plan/sample-private.h"
#include "daemon/rdf/term-id.h"

#include <math.h>
#include <string.h>

#define OF_ROW_MAX 21   /* of these that are kept: twice as many as fit where each has so many */
#define TRIED_MAX 256   /* rows of VALUES, from all over it */
#define COUNT_LISTS 600 /* look-ups with which fewer rows are enough */
#define FEW_ROWS 8
#define FEW 0.5 /* solutions where the whole sample has none */

QdSamples *
qd_samples_free(QdSamples *self)
{
    if (self != NULL) {
        g_hash_table_unref(self->ids);
        g_hash_table_unref(self->pairs);
        g_hash_table_unref(self->walks);
        g_hash_table_unref(self->scans);
        g_hash_table_unref(self->lists);
        g_clear_pointer(&self->orders, g_hash_table_unref);
        g_free(self);
    }
    return NULL;
}

guint
qd_samples_get_n_lists(const QdGenerator *generator)
{
    return generator->samples != NULL ? generator->samples->n_lists : 0;
}

QdSample *
qd_sample_new(QdGenerator *self)
{
    QdSample *sample;

    if (self->catalog == NULL || self->catalog->list_quads == NULL || qd_samples_get_n_lists(self) >= LISTS_MAX)
        return NULL;
    if (self->samples == NULL)
        self->samples = qd_samples_new();
    sample = g_new0(QdSample, 1);
    sample->generator = self;
    sample->samples = self->samples;
    sample->rows = g_array_sized_new(FALSE, TRUE, sizeof(QdSampleRow), ROWS_MAX);
    g_array_set_size(sample->rows, 1);
    return sample;
}

QdSample *
qd_sample_copy(const QdSample *self)
{
    QdSample *copy = g_new(QdSample, 1);

    *copy = *self;
    copy->rows = g_array_sized_new(FALSE, TRUE, sizeof(QdSampleRow), MAX(self->rows->len, 1));
    if (self->rows->len > 0)
        g_array_append_vals(copy->rows, self->rows->data, self->rows->len);
    return copy;
}

QdSample *
qd_sample_copy_known(const QdSample *self, const QdVariableSet *known)
{
    QdSample *copy = qd_sample_copy(self);

    for (guint i = 0; i < copy->n_slots; i++) {
        if (qd_variable_set_has(known, copy->variables[i]))
            continue;
        for (guint j = 0; j < copy->rows->len; j++)
            g_array_index(copy->rows, QdSampleRow, j).ids[i] = 0;
    }
    return copy;
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

/* --- patterns --------------------------------------------------------------------------------------------------------- */

static double extend(QdSample *self, const QdAlgebra *node, const QdSampleRow *row, GArray *out);

/* Solutions of @node for each of @rows, which become some of them. */
static double
extend_all(QdSample *self, const QdAlgebra *node, GArray *rows)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    g_autoptr(GArray) of_row = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    guint n_rows = rows->len;
    double n = 0;

    for (guint i = 0; i < n_rows; i++) {
        double n_found = extend(self, node, &g_array_index(rows, QdSampleRow, i), of_row);

        if (n_found < 0 || self->is_full)
            return UNKNOWN;
        n += n_found;
        qd_sample_thin(of_row, FOUND_MAX);
        g_array_append_vals(found, of_row->data, of_row->len);
        g_array_set_size(of_row, 0);
    }
    qd_sample_thin(found, ROWS_MAX);
    g_array_set_size(rows, 0);
    if (found->len > 0)
        g_array_append_vals(rows, found->data, found->len);
    return n_rows > 0 ? n / n_rows : 0;
}

/* Each of @node's parts after those that give it an end. */
static double
extend_join(QdSample *self, const QdAlgebra *node, const QdSampleRow *row, GArray *out)
{
    gboolean may_scan = self->may_scan;
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
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
        qd_sample_keep(out, &g_array_index(rows, QdSampleRow, i));
    return n;
}

/* Solutions of the first child of @node as far as it lets out @kept, each once if they are @distinct. */
static double
extend_inside(QdSample *self, const QdAlgebra *node, const QdVariableSet *kept, gboolean distinct, const QdSampleRow *row,
              GArray *out)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    guint n_before = out->len;
    QdSampleRow inside = { { 0 } };
    double n;

    QD_VARIABLE_SET_FOREACH(kept, variable)
    {
        guint slot = qd_sample_find_slot(self, variable);

        inside.ids[slot] = row->ids[slot];
    }
    n = extend(self, node->children[0], &inside, found);
    for (guint i = 0; i < found->len && n > 0; i++) {
        QdSampleRow outside = *row;
        gboolean is_new = TRUE;

        QD_VARIABLE_SET_FOREACH(kept, variable)
        {
            guint slot = qd_sample_find_slot(self, variable);

            outside.ids[slot] = g_array_index(found, QdSampleRow, i).ids[slot];
        }
        for (guint j = n_before; distinct && j < out->len && is_new; j++)
            is_new = memcmp(&g_array_index(out, QdSampleRow, j), &outside, sizeof outside) != 0;
        if (is_new)
            qd_sample_keep(out, &outside);
    }
    return found->len > 0 && n > 0 ? n * (out->len - n_before) / found->len : n;
}

static double
extend_values(QdSample *self, const QdValues *values, const QdSampleRow *row, GArray *out)
{
    guint n_tried = MIN(values->n_rows, TRIED_MAX);
    guint n_kept = 0;

    for (guint i = 0; i < n_tried; i++) {
        gsize index = (gsize) i * values->n_rows / n_tried;
        QdSampleRow found = *row;
        gboolean matches = TRUE;

        for (guint j = 0; j < values->n_variables && matches; j++) {
            const QdTerm *term = values->cells[index * values->n_variables + j];
            const QdNode cell = { .kind = QD_NODE_TERM, .term = term };
            const QdNode variable = { .kind = QD_NODE_VARIABLE, .variable = values->variables[j] };
            gint64 id;

            matches = term == NULL || (qd_sample_read_node(self, &cell, row, &id) && qd_sample_bind(self, &variable, id, &found));
        }
        if (matches) {
            qd_sample_keep(out, &found);
            n_kept++;
        }
    }
    self->samples->n_lists += n_tried; /* a look-up of a term each, about */
    self->is_full = self->is_full || self->samples->n_lists >= LISTS_MAX;
    return n_tried > 0 ? (double) n_kept * values->n_rows / n_tried : 0;
}

/* How many solutions of @node extend @row, of which the first is enough; negative: it is not known. */
static double
look_for_one(QdSample *self, const QdAlgebra *node, const QdSampleRow *row)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    double n_before = self->n_found;
    double n = extend(self, node, row, found);

    self->n_found = n_before + (self->n_found - n_before) / MAX(1, n);
    return n;
}

/* Whether @row meets the conditions of @node, a filter. TRUE also where that is not known. */
static gboolean
passes(QdSample *self, const QdAlgebra *node, const QdSampleRow *row)
{
    for (guint i = 0; i < node->n_expressions; i++) {
        const QdExpression *expression = node->expressions[i];
        double n;

        if (expression->kind != QD_EXPRESSION_KIND_EXISTS)
            continue;
        n = look_for_one(self, qd_rewrite_get_exists(self->generator, (QdExpression *) expression), row);
        if (n >= 0 && (n > 0) == expression->negated)
            return FALSE;
    }
    return TRUE;
}

/* Solutions of @node's first child as its second, or its conditions, leave or extend them. */
static double
extend_conditional(QdSample *self, const QdAlgebra *node, const QdSampleRow *row, GArray *out)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    gboolean may_scan = self->may_scan;
    double n_first = extend(self, node->children[0], row, rows);
    double n_kept = 0;

    if (n_first <= 0)
        return n_first;
    self->may_scan = FALSE;
    qd_sample_thin(rows, ROWS_MAX);
    for (guint i = 0; i < rows->len; i++) {
        const QdSampleRow *first = &g_array_index(rows, QdSampleRow, i);
        double n = 0;

        g_array_set_size(found, 0);
        if (node->kind == QD_ALGEBRA_LEFT_JOIN)
            n = extend(self, node->children[1], first, found);
        else if (node->kind == QD_ALGEBRA_MINUS)
            n = look_for_one(self, node->children[1], first);
        if (node->kind == QD_ALGEBRA_LEFT_JOIN && n > 0) {
            g_array_append_vals(out, found->data, MIN(found->len, KEPT_MAX - MIN(out->len, KEPT_MAX)));
            n_kept += n;
        } else if (node->kind == QD_ALGEBRA_LEFT_JOIN || (n <= 0 && passes(self, node, first))) {
            qd_sample_keep(out, first);
            n_kept++;
        }
    }
    self->may_scan = may_scan;
    return n_first * n_kept / rows->len;
}

/* What @node, an EXTEND or GROUP, makes of its solution @row, as far as it is another's value, or a number. */
static void
bind_values(QdSample *self, const QdAlgebra *node, QdSampleRow *row)
{
    for (guint i = 0; i < node->n_bindings; i++) {
        const QdExpression *expression = node->bindings[i].expression;
        gint64 *value = &row->ids[qd_sample_find_slot(self, node->bindings[i].variable)];

        if (*value != 0)
            continue;
        if (expression->kind == QD_EXPRESSION_KIND_VARIABLE)
            *value = row->ids[qd_sample_find_slot(self, expression->variable)];
        else if (expression->kind == QD_EXPRESSION_KIND_AGGREGATE &&
                 (expression->aggregate == QD_AGGREGATE_COUNT || expression->aggregate == QD_AGGREGATE_SUM ||
                  expression->aggregate == QD_AGGREGATE_AVG))
            *value = COMPUTED;
    }
}

/* Adds to @out solutions of @node that extend @row. Returns about how many there are; UNKNOWN. */
static double
extend(QdSample *self, const QdAlgebra *node, const QdSampleRow *row, GArray *out)
{
    QdVariableSet keys = { 0 };
    guint n_before = out->len;
    double n = 0;

    switch (node->kind) {
    case QD_ALGEBRA_UNIT:
        qd_sample_keep(out, row);
        return 1;
    case QD_ALGEBRA_TRIPLE:
        return qd_sample_extend_triple(self, node->triple, row, out);
    case QD_ALGEBRA_PATH:
        return qd_sample_extend_path(self, node->triple, row, out);
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
        return extend_conditional(self, node, row, out);
    case QD_ALGEBRA_EXTEND:
        n = extend(self, node->children[0], row, out);
        for (guint i = n_before; i < out->len; i++)
            bind_values(self, node, &g_array_index(out, QdSampleRow, i));
        return n;
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_SLICE:
        return extend(self, node->children[0], row, out);
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
        return extend_inside(self, node, &node->possible, node->kind == QD_ALGEBRA_DISTINCT, row, out);
    case QD_ALGEBRA_GROUP:
        for (guint i = 0; i < node->n_variables; i++)
            qd_variable_set_add(&keys, self->generator->arena, node->variables[i]);
        n = extend_inside(self, node, &keys, TRUE, row, out);
        for (guint i = n_before; i < out->len; i++)
            bind_values(self, node, &g_array_index(out, QdSampleRow, i));
        return n;
    case QD_ALGEBRA_VALUES:
        return extend_values(self, node->values, row, out);
    case QD_ALGEBRA_MATCH:
    case QD_ALGEBRA_GRAPH:
    case QD_ALGEBRA_SERVICE:
        return UNKNOWN;
    }
    g_assert_not_reached();
}

gboolean
qd_sample_count(QdSample *self, const QdAlgebra *node, QdSampleCount *ret_count)
{
    guint n_rows = MIN(self->rows->len, ROWS_MAX);
    guint n_lists = self->samples->n_lists;
    guint step = 1;
    guint n_done = 0;
    double sum = 0;
    double sum_of_logs = 0;

    if (n_rows == 0)
        return FALSE;
    self->n_found = 0;
    if (n_rows > FEW_ROWS) { /* rows from all over it, in an order of which the first few are, too */
        n_rows -= n_rows % FEW_ROWS;
        step = n_rows / FEW_ROWS;
    }
    for (guint i = 0; i < n_rows && (n_done < FEW_ROWS || self->samples->n_lists < n_lists + COUNT_LISTS); i++, n_done++) {
        guint index = i % FEW_ROWS * step + i / FEW_ROWS;
        g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
        double n = extend(self, node, &g_array_index(self->rows, QdSampleRow, index * self->rows->len / n_rows), found);

        if (n < 0 || self->is_full)
            return FALSE;
        sum += n;
        sum_of_logs += log1p(n);
    }
    *ret_count = (QdSampleCount){ .n_usual = expm1(sum_of_logs / n_done),
                                  .n_mean = MAX(sum, FEW) / n_done,
                                  .n_looked_at = self->n_found / n_done };
    return TRUE;
}

static double
count_pairs(QdSample *self, const QdTriple *triple)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    QdSampleRow row = { { 0 } };
    double n_pairs = 0;

    self->may_scan = TRUE;
    if (qd_sample_scan_path(self, triple, &row, found, &n_pairs) < 0 || self->is_full)
        return UNKNOWN;
    return n_pairs;
}

double
qd_sample_count_pairs(QdGenerator *generator, const QdTriple *triple)
{
    g_autoptr(QdSample) self = qd_sample_new(generator);
    double *known = self != NULL ? g_hash_table_lookup(self->samples->pairs, triple) : NULL;

    if (self == NULL)
        return UNKNOWN;
    if (known == NULL) {
        known = g_new(double, 1);
        *known = count_pairs(self, triple);
        g_hash_table_insert(self->samples->pairs, (gpointer) triple, known);
    }
    return *known;
}

gboolean
qd_sample_compare_ends(QdGenerator *generator, const QdTriple *triple, double *ret_from_subject, double *ret_from_object)
{
    g_autoptr(QdSample) self = qd_sample_new(generator);
    g_autoptr(GArray) pairs = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    QdSampleRow row = { { 0 } };
    double n_pairs;
    double n[2] = { 0 };

    if (self == NULL || triple->s.kind != QD_NODE_VARIABLE || triple->o.kind != QD_NODE_VARIABLE ||
        triple->s.variable == triple->o.variable)
        return FALSE;
    self->may_scan = TRUE;
    if (qd_sample_scan_path(self, triple, &row, pairs, &n_pairs) < 0)
        return FALSE;
    qd_sample_thin(pairs, ROWS_MAX);
    for (guint i = 0; i < pairs->len; i++) {
        for (guint end = 0; end < G_N_ELEMENTS(n); end++) {
            guint slot = qd_sample_find_slot(self, end == 0 ? triple->s.variable : triple->o.variable);
            QdSampleRow begin = { { 0 } };

            begin.ids[slot] = g_array_index(pairs, QdSampleRow, i).ids[slot];
            n[end] += MAX(0, qd_sample_extend_path(self, triple, &begin, found));
            g_array_set_size(found, 0);
        }
    }
    *ret_from_subject = n[0];
    *ret_from_object = n[1];
    return pairs->len > 0 && !self->is_full;
}

double
qd_sample_estimate(QdGenerator *generator, const QdAlgebra *first, const QdAlgebra *then)
{
    g_autoptr(QdSample) self = qd_sample_new(generator);
    double n;

    if (self == NULL)
        return UNKNOWN;
    (void) qd_sample_extend(self, first, TRUE);
    qd_sample_thin(self->rows, ROWS_MAX);
    n = self->rows->len > 0 ? extend_all(self, then, self->rows) : UNKNOWN;
    return n < 0 || self->is_full ? UNKNOWN : n * qd_estimate_rows(generator, first);
}

gboolean
qd_sample_meets_values(QdGenerator *generator, const QdAlgebra *node, guint variable)
{
    g_autoptr(QdSample) self = qd_sample_new(generator);
    guint slot;

    if (self == NULL || qd_sample_extend(self, node, TRUE) < 0)
        return FALSE;
    slot = qd_sample_find_slot(self, variable);
    for (guint i = 0; i < self->rows->len && !self->is_full; i++) {
        gint64 id = g_array_index(self->rows, QdSampleRow, i).ids[slot];

        if (id != COMPUTED && (id > 0 ? (id & 3) == QD_TERM_TYPED : id < 0 && qd_term_id_get_tag(id) > QD_TAG_BNODE_FRESH))
            return TRUE;
    }
    return FALSE;
}

QdSample *
qd_sample_enter(QdGenerator *generator, const QdAlgebra *const *parts, guint n)
{
    QdSample *self;

    if (generator->samples == NULL || generator->samples->context != NULL)
        return NULL;
    self = qd_sample_new(generator);
    for (guint i = 0; i < n && self != NULL; i++) {
        if (qd_sample_extend(self, parts[i], i == 0) < 0)
            self = qd_sample_free(self);
    }
    generator->samples->context = self;
    return self;
}

void
qd_sample_leave(QdGenerator *generator, QdSample *self)
{
    if (self == NULL)
        return;
    generator->samples->context = NULL;
    (void) qd_sample_free(self);
}

double
qd_sample_extend(QdSample *self, const QdAlgebra *node, gboolean is_first)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    g_autoptr(GArray) of_row = g_array_new(FALSE, TRUE, sizeof(QdSampleRow));
    guint n_rows = self->rows->len;
    guint n_lists = self->samples->n_lists;
    guint step = MAX(1, n_rows / FEW_ROWS);
    guint n_done = 0;
    double sum = 0;

    self->may_scan = self->is_first = is_first;
    /* rows from all over it, until they have enough */
    for (guint i = 0; i < step && sum >= 0; i++) {
        for (guint j = i; j < n_rows && sum >= 0; j += step, n_done++) {
            gboolean is_enough = n_done >= FEW_ROWS && self->samples->n_lists >= n_lists + COUNT_LISTS;
            double n;

            if (is_enough || (n_done >= ROWS_MAX && found->len >= POOL_MAX))
                break;
            n = extend(self, node, &g_array_index(self->rows, QdSampleRow, j), of_row);
            sum = n < 0 || self->is_full ? UNKNOWN : sum + n;
            qd_sample_thin(of_row, is_first ? POOL_MAX : OF_ROW_MAX);
            g_array_append_vals(found, of_row->data, of_row->len);
            g_array_set_size(of_row, 0);
        }
    }
    self->may_scan = self->is_first = FALSE;
    qd_sample_thin(found, POOL_MAX);
    /* none of a few may be one of many: the others tell what there is to tell */
    if (found->len > 0 || sum < 0) {
        g_array_set_size(self->rows, 0);
        g_array_append_vals(self->rows, found->data, sum < 0 ? 0 : found->len);
    }
    return sum < 0 || n_done == 0 ? UNKNOWN : MAX(sum, FEW) / n_done;
}
