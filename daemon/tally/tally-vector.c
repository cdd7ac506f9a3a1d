/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vectors are merged by their order, galloping where one side has few. What a column leads to is looked up in an array over the
 * range of ids. Where these lie far apart, it is a hash table.
 */
#include "daemon/tally/tally-vector.h"

#include <string.h>

#include "daemon/base/interrupt.h"

#define POLL_EVERY 8192
#define DENSE_SHARE 4   /* an array over the range of ids may have so many places for each */
#define DENSE_MIN 65536 /* places that it may always have */
#define LINEAR_STEPS 4  /* before a search gallops */
#define HASH_FACTOR 0x9e3779b97f4a7c15

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
    gsize end;

    for (guint steps = 0; steps < LINEAR_STEPS; steps++, i++) {
        if (i >= n || keys[i] >= key)
            return i;
    }
    while (i + step < n && keys[i + step] < key) {
        i += step;
        step *= 2;
    }
    end = MIN(n, i + step);
    while (i < end) {
        gsize middle = i + (end - i) / 2;

        if (keys[middle] < key)
            i = middle + 1;
        else
            end = middle;
    }
    return i;
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

/* From a key to its number; 0: it has none. */
typedef struct Lookup {
    gint64 least;
    guint64 span; /* of the ids from the least to the greatest */
    guint shift;  /* of a hash; 64: @counts is an array over the span */
    gsize mask;
    gint64 *keys;
    guint64 *counts;
} Lookup;

static void
lookup_clear(Lookup *self)
{
    sqlite3_free(self->keys);
    sqlite3_free(self->counts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Lookup, lookup_clear)

static inline gsize
find_slot(const Lookup *self, gint64 key)
{
    gsize slot = (gsize) (((guint64) key * HASH_FACTOR) >> self->shift);

    while (self->counts[slot] != 0 && self->keys[slot] != key)
        slot = (slot + 1) & self->mask;
    return slot;
}

static int
lookup_init(Lookup *self, const QdTallyVector *vector)
{
    gsize n_places = 1;

    self->least = vector->keys[0];
    self->span = (guint64) vector->keys[vector->n - 1] - (guint64) self->least + 1;
    self->shift = 64;
    if (self->span != 0 && self->span <= MAX(DENSE_MIN, DENSE_SHARE * vector->n)) {
        n_places = self->span;
    } else {
        for (; n_places < 2 * vector->n; n_places *= 2)
            self->shift--;
        self->mask = n_places - 1;
        self->keys = sqlite3_malloc64(n_places * sizeof *self->keys);
    }
    self->counts = sqlite3_malloc64(n_places * sizeof *self->counts);
    if (self->counts == NULL || (self->shift < 64 && self->keys == NULL))
        return SQLITE_NOMEM;
    for (gsize i = 0; i < n_places; i += POLL_EVERY) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        memset(self->counts + i, 0, MIN(POLL_EVERY, n_places - i) * sizeof *self->counts);
    }
    for (gsize i = 0; i < vector->n; i++) {
        gsize slot = self->shift == 64 ? (gsize) (vector->keys[i] - self->least) : find_slot(self, vector->keys[i]);

        if (must_end(i))
            return SQLITE_INTERRUPT;
        if (self->shift < 64)
            self->keys[slot] = vector->keys[i];
        self->counts[slot] = qd_tally_vector_get_count(vector, i);
    }
    return SQLITE_OK;
}

static inline guint64
look_up(const Lookup *self, gint64 key)
{
    guint64 place = (guint64) key - (guint64) self->least;

    if (place >= self->span)
        return 0;
    return self->counts[self->shift == 64 ? place : find_slot(self, key)];
}

int
qd_tally_vector_follow(QdTallyColumn *column, const QdTallyVector *inner, QdTallyVector *ret_vector)
{
    g_auto(QdTallyVector) result = { .column = column };
    g_auto(Lookup) lookup = { 0 };
    int r = SQLITE_OK;

    if (!reserve(&result, column->n_keys))
        return SQLITE_NOMEM;
    if (inner->n > 0)
        r = lookup_init(&lookup, inner);
    for (gsize i = 0; i < column->n_keys && inner->n > 0 && r == SQLITE_OK; i++) {
        guint64 sum = 0;

        for (gsize j = column->begins[i]; j < column->begins[i + 1]; j++) {
            if (must_end(j))
                return SQLITE_INTERRUPT;
            if (__builtin_add_overflow(sum, look_up(&lookup, column->values[j]), &sum))
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
