/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vectors are merged by their order, galloping where one side has few. What a column leads to is looked up.
 */
#include "daemon/tally/tally-vector.h"

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally-lookup.h"

#define POLL_EVERY 8192
#define LINEAR_STEPS 4 /* before a search gallops */

void
qd_tally_vector_clear(QdTallyVector *self)
{
    sqlite3_free(self->own_keys);
    sqlite3_free(self->own_counts);
    (void) qd_tally_column_unref(self->column);
    *self = (QdTallyVector){ 0 };
}

static gboolean
must_end(gsize i)
{
    return i % POLL_EVERY == 0 && qd_interrupt_poll();
}

/* Room for @n_max, with numbers of its own. */
static gboolean
reserve(QdTallyVector *self, gsize n_max)
{
    self->keys = self->own_keys = sqlite3_malloc64((n_max + 1) * sizeof *self->own_keys);
    self->counts = self->own_counts = sqlite3_malloc64((n_max + 1) * sizeof *self->own_counts);
    return self->keys != NULL && self->counts != NULL;
}

static inline void
add(QdTallyVector *self, gint64 key, guint64 count)
{
    self->own_keys[self->n] = key;
    self->own_counts[self->n++] = count;
}

QdTallyVector
qd_tally_vector_from_column(QdTallyColumn *column, gboolean counts)
{
    return (QdTallyVector){ .keys = column->keys, .n = column->n_keys, .begins = counts ? column->begins : NULL, .column = column };
}

gsize
qd_tally_vector_seek(const gint64 *keys, gsize n, gsize i, gint64 key)
{
    gsize step = 1;

    for (guint steps = 0; steps < LINEAR_STEPS; steps++, i++) {
        if (i >= n || keys[i] >= key)
            return i;
    }
    while (i + step < n && keys[i + step] < key) {
        i += step;
        step *= 2;
    }
    return qd_tally_vector_bisect(keys, i, MIN(n, i + step), key);
}

int
qd_tally_vector_compare_values(QdTallyColumn *column, gboolean equal, QdTallyVector *ret_vector)
{
    g_auto(QdTallyVector) result = { .column = column };

    if (!reserve(&result, column->n_keys))
        return SQLITE_NOMEM;
    for (gsize i = 0; i < column->n_keys; i++) {
        gsize end = column->begins[i + 1];
        gsize place = qd_tally_vector_seek(column->values, end, column->begins[i], column->keys[i]);
        gboolean found = place < end && column->values[place] == column->keys[i];
        guint64 count = equal ? (found ? 1 : 0) : end - column->begins[i] - (found ? 1 : 0);

        if (must_end(i))
            return SQLITE_INTERRUPT;
        if (count > 0)
            add(&result, column->keys[i], count);
    }
    *ret_vector = result;
    result = (QdTallyVector){ 0 };
    return SQLITE_OK;
}

/* --- two of one variable ------------------------------------------------------------------------------------------------ */

static gboolean
get_joint_count(QdTallyCombination how, guint64 a, guint64 b, guint64 *ret_count)
{
    switch (how) {
    case QD_TALLY_SUM:
        return !__builtin_add_overflow(a, b, ret_count);
    case QD_TALLY_PRODUCT:
    case QD_TALLY_OPTIONAL:
        return !__builtin_mul_overflow(a, b, ret_count);
    case QD_TALLY_EXISTS:
    case QD_TALLY_MINUS:
        break;
    }
    *ret_count = a;
    return TRUE;
}

int
qd_tally_vector_combine(QdTallyCombination how, const QdTallyVector *a, const QdTallyVector *b, QdTallyVector *ret_vector)
{
    const gboolean keeps_a = how == QD_TALLY_SUM || how == QD_TALLY_OPTIONAL || how == QD_TALLY_MINUS;
    const gboolean keeps_b = how == QD_TALLY_SUM;
    const gboolean keeps_both = how != QD_TALLY_MINUS;
    g_auto(QdTallyVector) result = { 0 };
    gsize i = 0;
    gsize j = 0;

    if (!reserve(&result, keeps_b ? a->n + b->n : keeps_a ? a->n : MIN(a->n, b->n)))
        return SQLITE_NOMEM;
    for (gsize turn = 1; i < a->n || (keeps_b && j < b->n); turn++) {
        guint64 count;

        if (must_end(turn))
            return SQLITE_INTERRUPT;
        if (i < a->n && j < b->n && a->keys[i] == b->keys[j]) {
            if (keeps_both && !get_joint_count(how, qd_tally_vector_get_count(a, i), qd_tally_vector_get_count(b, j), &count))
                return SQLITE_TOOBIG;
            if (keeps_both)
                add(&result, a->keys[i], count);
            i++;
            j++;
        } else if (j >= b->n || (i < a->n && a->keys[i] < b->keys[j])) {
            if (keeps_a)
                add(&result, a->keys[i], qd_tally_vector_get_count(a, i));
            i = keeps_a || j >= b->n ? i + 1 : qd_tally_vector_seek(a->keys, a->n, i, b->keys[j]);
            if (!keeps_a && j >= b->n)
                break;
        } else if (keeps_b) {
            add(&result, b->keys[j], qd_tally_vector_get_count(b, j));
            j++;
        } else {
            j = qd_tally_vector_seek(b->keys, b->n, j, a->keys[i]);
        }
    }
    *ret_vector = result;
    result = (QdTallyVector){ 0 };
    return SQLITE_OK;
}

/* --- from one variable to another --------------------------------------------------------------------------------------- */

int
qd_tally_vector_follow(QdTallyColumn *column, const QdTallyVector *inner, QdTallyVector *ret_vector)
{
    g_auto(QdTallyVector) result = { .column = column };
    g_auto(QdTallyLookup) lookup = { 0 };
    int r = SQLITE_OK;

    if (!reserve(&result, column->n_keys))
        return SQLITE_NOMEM;
    if (inner->n > 0)
        r = qd_tally_lookup_init(&lookup, inner, (double) column->n_pairs);
    for (gsize i = 0; i < column->n_keys && inner->n > 0 && r == SQLITE_OK; i++) {
        guint64 sum = 0;

        for (gsize j = column->begins[i]; j < column->begins[i + 1]; j++) {
            if (must_end(j))
                return SQLITE_INTERRUPT;
            if (__builtin_add_overflow(sum, qd_tally_lookup_get(&lookup, column->values[j]), &sum))
                return SQLITE_TOOBIG;
        }
        if (sum > 0)
            add(&result, column->keys[i], sum);
    }
    if (r != SQLITE_OK)
        return r;
    *ret_vector = result;
    result = (QdTallyVector){ 0 };
    return SQLITE_OK;
}

int
qd_tally_vector_add_up(const QdTallyVector *self, guint64 *ret_sum)
{
    guint64 sum = 0;

    for (gsize i = 0; i < self->n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        if (__builtin_add_overflow(sum, qd_tally_vector_get_count(self, i), &sum) || sum > G_MAXINT64)
            return SQLITE_TOOBIG;
    }
    *ret_sum = sum;
    return SQLITE_OK;
}
