/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers are carried from one variable on the way to the next. Between two columns an array has a place for each key of the
 * second. So a value that is reached several times goes on once. At the end the numbers are in a hash table. So are those between
 * columns where only a few of the second one's keys will be reached.
 */
#include "daemon/tally/tally-pairs.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally-lookup.h"
#include "daemon/tally/tally-sums.h"

#define POLL_EVERY 8192

typedef struct Step {
    QdTallyColumn *column;
    QdTallyVector weights;
    gboolean is_weighted;
    gsize n_values;
    gboolean is_summed;        /* what it reaches is in @sums: the last step, and one that reaches few */
    QdTallySums sums;          /* for one first value */
    QdTallyLookup lookup;      /* of values: their place among the next column's keys, plus 1; if it is summed their weight */
    QdTallyLookup next;        /* if it is summed: places of the next column's keys */
    guint64 *weight_of_places; /* (nullable) */
    guint64 *counts;           /* of these places, for one first value; 0 but for the reached ones */
    guint32 *reached;
    gsize n_reached;
} Step;

struct QdTallyPairs {
    QdTallyVector start;
    gboolean has_start;
    Step steps[QD_TALLY_STEPS_MAX];
    guint n_steps;
    gsize next, next_start; /* key of the first column, and value of start, to be tried */
    gint64 first;
    gsize position; /* among its pairs, which are the sums of the last step */
    gsize n_polled;
};

/* --- life ------------------------------------------------------------------------------------------------------------- */

static QdTallyVector
take(QdTallyVector *vector)
{
    QdTallyVector taken = vector != NULL ? *vector : (QdTallyVector){ 0 };

    if (vector != NULL)
        *vector = (QdTallyVector){ 0 };
    return taken;
}

QdTallyPairs *
qd_tally_pairs_new(QdTallyVector *start)
{
    QdTallyPairs *self = g_new0(QdTallyPairs, 1);

    self->has_start = start != NULL;
    self->start = take(start);
    return self;
}

QdTallyPairs *
qd_tally_pairs_free(QdTallyPairs *self)
{
    if (self == NULL)
        return NULL;
    for (guint i = 0; i < self->n_steps; i++) {
        Step *step = &self->steps[i];

        (void) qd_tally_column_unref(step->column);
        qd_tally_vector_clear(&step->weights);
        qd_tally_lookup_clear(&step->lookup);
        qd_tally_lookup_clear(&step->next);
        qd_tally_sums_clear(&step->sums);
        sqlite3_free(step->weight_of_places);
        sqlite3_free(step->counts);
        sqlite3_free(step->reached);
    }
    qd_tally_vector_clear(&self->start);
    g_free(self);
    return NULL;
}

gboolean
qd_tally_pairs_add_step(QdTallyPairs *self, QdTallyColumn *column, QdTallyVector *weights, gsize n_values)
{
    Step step = { .column = column, .is_weighted = weights != NULL, .weights = take(weights), .n_values = n_values };

    if (self->n_steps == QD_TALLY_STEPS_MAX) {
        (void) qd_tally_column_unref(column);
        qd_tally_vector_clear(&step.weights);
        return FALSE;
    }
    self->steps[self->n_steps++] = step;
    return TRUE;
}

/* --- what steps need -------------------------------------------------------------------------------------------------- */

/* @array cleared, in blocks. */
static int
make_zeros(gsize n, gsize size, void *ret_array)
{
    const gsize n_bytes = MAX(n, 1) * size;
    guint8 *array = sqlite3_malloc64(n_bytes);

    memcpy(ret_array, &array, sizeof array);
    if (array == NULL)
        return SQLITE_NOMEM;
    for (gsize i = 0; i < n_bytes; i += POLL_EVERY * sizeof(gint64)) {
        if (qd_interrupt_poll())
            return SQLITE_INTERRUPT;
        memset(array + i, 0, MIN(n_bytes - i, POLL_EVERY * sizeof(gint64)));
    }
    return SQLITE_OK;
}

/* The keys of @next that @step may reach: their places, and the weights there. */
static int
find_places(Step *step, const QdTallyColumn *next)
{
    g_auto(QdTallyVector) places = { 0 };
    gsize at = 0;
    int r = make_zeros(next->n_keys, sizeof *places.own_keys, &places.own_keys);

    if (r == SQLITE_OK)
        r = make_zeros(next->n_keys, sizeof *places.own_counts, &places.own_counts);
    if (r == SQLITE_OK && step->is_weighted)
        r = make_zeros(next->n_keys, sizeof *step->weight_of_places, &step->weight_of_places);
    if (r == SQLITE_OK)
        r = make_zeros(next->n_keys, sizeof *step->counts, &step->counts);
    if (r == SQLITE_OK)
        r = make_zeros(next->n_keys, sizeof *step->reached, &step->reached);
    for (gsize i = 0; i < next->n_keys && r == SQLITE_OK; i++) {
        if (i % POLL_EVERY == 0 && qd_interrupt_poll())
            return SQLITE_INTERRUPT;
        if (step->is_weighted) {
            at = qd_tally_vector_seek(step->weights.keys, step->weights.n, at, next->keys[i]);
            if (at == step->weights.n)
                break;
            if (step->weights.keys[at] != next->keys[i])
                continue;
            step->weight_of_places[i] = qd_tally_vector_get_count(&step->weights, at);
        }
        places.own_keys[places.n] = next->keys[i];
        places.own_counts[places.n++] = i + 1;
    }
    if (r != SQLITE_OK)
        return r;
    places.keys = places.own_keys;
    places.counts = places.own_counts;
    return qd_tally_lookup_init(&step->lookup, &places, G_MAXDOUBLE);
}

/* @n: about how many values it comes upon. */
static int
make_sums(Step *step, double n)
{
    gsize n_max = MIN(step->n_values, step->column->n_pairs);
    int r;

    step->is_summed = TRUE;
    r = qd_tally_sums_init(&step->sums, step->is_weighted ? MIN(n_max, step->weights.n) : n_max);
    return r == SQLITE_OK && step->is_weighted ? qd_tally_lookup_init(&step->lookup, &step->weights, n) : r;
}

/* All steps, from about @n keys on. */
static int
prepare(QdTallyPairs *self, double n)
{
    int r = SQLITE_OK;

    for (guint i = 0; i < self->n_steps && r == SQLITE_OK; i++) {
        Step *step = &self->steps[i];
        const QdTallyColumn *next = i + 1 < self->n_steps ? self->steps[i + 1].column : NULL;

        n *= (double) step->column->n_pairs / (double) MAX(step->column->n_keys, 1);
        if (next != NULL && !qd_tally_lookup_has_few_gets(next->n_keys, n)) {
            r = find_places(step, next);
            continue;
        }
        r = make_sums(step, n);
        if (r == SQLITE_OK && next != NULL)
            r = qd_tally_lookup_init_places(&step->next, next->keys, next->n_keys, n);
    }
    return r;
}

/* --- pairs ------------------------------------------------------------------------------------------------------------ */

static inline gboolean
must_end(QdTallyPairs *self)
{
    return ++self->n_polled % POLL_EVERY == 0 && qd_interrupt_poll();
}

static int
reach(Step *step, guint64 place, guint64 count)
{
    if (step->weight_of_places != NULL && __builtin_mul_overflow(count, step->weight_of_places[place], &count))
        return SQLITE_TOOBIG;
    if (step->counts[place] == 0)
        step->reached[step->n_reached++] = (guint32) place;
    return __builtin_add_overflow(step->counts[place], count, &step->counts[place]) ? SQLITE_TOOBIG : SQLITE_OK;
}

/* From key @index of a step's column, which @count ways lead to. */
static int
walk(QdTallyPairs *self, Step *step, gsize index, guint64 count)
{
    int r = SQLITE_OK;

    for (gsize i = step->column->begins[index]; i < step->column->begins[index + 1] && r == SQLITE_OK; i++) {
        gint64 value = step->column->values[i];
        guint64 found = 1;
        guint64 product;

        if (must_end(self))
            return SQLITE_INTERRUPT;
        if (!step->is_summed || step->is_weighted)
            found = qd_tally_lookup_get(&step->lookup, value);
        if (found == 0)
            continue;
        if (!step->is_summed)
            r = reach(step, found - 1, count);
        else
            r = __builtin_mul_overflow(count, found, &product) ? SQLITE_TOOBIG : qd_tally_sums_add(&step->sums, value, product);
    }
    return r;
}

/* From all that @step has reached to what the @next one reaches. */
static int
go_on(QdTallyPairs *self, Step *step, Step *next)
{
    int r = SQLITE_OK;

    for (gsize i = 0; i < step->n_reached && r == SQLITE_OK; i++) {
        guint64 n = step->counts[step->reached[i]];

        step->counts[step->reached[i]] = 0;
        r = walk(self, next, step->reached[i], n);
    }
    step->n_reached = 0;
    for (gsize i = 0; i < step->sums.n && r == SQLITE_OK; i++) {
        guint64 place = qd_tally_lookup_get(&step->next, step->sums.entries[i].value);

        if (must_end(self))
            return SQLITE_INTERRUPT;
        if (place > 0)
            r = walk(self, next, place - 1, step->sums.entries[i].count);
    }
    if (step->is_summed)
        qd_tally_sums_forget(&step->sums);
    return r;
}

/* All pairs of key @index of the first column. */
static int
make_pairs(QdTallyPairs *self, gsize index, guint64 count)
{
    int r = walk(self, &self->steps[0], index, count);

    for (guint i = 0; i + 1 < self->n_steps && r == SQLITE_OK; i++)
        r = go_on(self, &self->steps[i], &self->steps[i + 1]);
    return r;
}

static const QdTallySums *
get_found(const QdTallyPairs *self)
{
    return &self->steps[self->n_steps - 1].sums;
}

/* To the next key of the first column that is a value of the start, too. FALSE: there is none. */
static gboolean
find_start(QdTallyPairs *self, gsize *ret_index, guint64 *ret_count)
{
    const QdTallyColumn *column = self->steps[0].column;
    const QdTallyVector *start = &self->start;

    while (self->next < column->n_keys && (!self->has_start || self->next_start < start->n)) {
        gint64 key = column->keys[self->next];

        if (!self->has_start || start->keys[self->next_start] == key) {
            *ret_count = self->has_start ? qd_tally_vector_get_count(start, self->next_start++) : 1;
            *ret_index = self->next++;
            return TRUE;
        }
        if (start->keys[self->next_start] < key)
            self->next_start = qd_tally_vector_seek(start->keys, start->n, self->next_start, key);
        else
            self->next = qd_tally_vector_seek(column->keys, column->n_keys, self->next, start->keys[self->next_start]);
    }
    return FALSE;
}

/* The next value of the first variable that has pairs. */
static int
make_next(QdTallyPairs *self)
{
    gsize index;
    guint64 count;
    int r = SQLITE_OK;

    qd_tally_sums_forget(&self->steps[self->n_steps - 1].sums);
    self->position = 0;
    while (get_found(self)->n == 0 && r == SQLITE_OK && find_start(self, &index, &count)) {
        if (must_end(self))
            return SQLITE_INTERRUPT;
        self->first = self->steps[0].column->keys[index];
        r = make_pairs(self, index, count);
    }
    return r;
}

int
qd_tally_pairs_begin(QdTallyPairs *self)
{
    int r = prepare(self, (double) (self->has_start ? self->start.n : self->steps[0].column->n_keys));

    return r == SQLITE_OK ? make_next(self) : r;
}

int
qd_tally_pairs_advance(QdTallyPairs *self)
{
    return ++self->position < get_found(self)->n ? SQLITE_OK : make_next(self);
}

gboolean
qd_tally_pairs_get(const QdTallyPairs *self, gint64 *ret_first, gint64 *ret_second, guint64 *ret_count)
{
    const QdTallySums *found = get_found(self);

    if (self->position >= found->n)
        return FALSE;
    *ret_first = self->first;
    *ret_second = found->entries[self->position].value;
    *ret_count = found->entries[self->position].count;
    return TRUE;
}
