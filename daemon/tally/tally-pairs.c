/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers are carried from one variable on the way to the next. Between two columns an array has a place for each key of the
 * second. So a value that is reached several times goes on once. At the end the numbers are in a hash table.
 */
#include "daemon/tally/tally-pairs.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally-lookup.h"

#define POLL_EVERY 8192
#define SLOTS_MIN 16
#define SLOTS_PER_ENTRY 2

typedef struct Step {
    QdTallyColumn *column;
    QdTallyVector weights;
    gboolean is_weighted;
    QdTallyLookup lookup;      /* of values: their place among the next column's keys, plus 1; of the last step: their weight */
    guint64 *weight_of_places; /* (nullable) */
    guint64 *counts;           /* of these places, for one first value; 0 but for the reached ones */
    guint32 *reached;
    gsize n_reached;
    gsize n_values;
} Step;

/* Of the second variable. */
typedef struct Entry {
    gint64 value;
    guint64 count;
} Entry;

struct QdTallyPairs {
    QdTallyVector start;
    gboolean has_start;
    Step steps[QD_TALLY_STEPS_MAX];
    guint n_steps;
    gsize next, next_start; /* key of the first column, and value of start, to be tried */
    gint64 first;
    Entry *entries; /* the pairs of this */
    guint32 *slots; /* index of an entry, plus 1 */
    gsize n_entries, n_entries_max, n_slots, position;
    guint shift;
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
        sqlite3_free(step->weight_of_places);
        sqlite3_free(step->counts);
        sqlite3_free(step->reached);
    }
    qd_tally_vector_clear(&self->start);
    sqlite3_free(self->entries);
    sqlite3_free(self->slots);
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
    return qd_tally_lookup_init(&step->lookup, &places);
}

static int
make_entries(QdTallyPairs *self, const Step *last)
{
    int r;

    self->n_entries_max = MIN(last->n_values, last->column->n_pairs);
    if (last->is_weighted)
        self->n_entries_max = MIN(self->n_entries_max, last->weights.n);
    self->shift = 64;
    for (self->n_slots = 1; self->n_slots < MAX(SLOTS_MIN, SLOTS_PER_ENTRY * self->n_entries_max); self->n_slots *= 2)
        self->shift--;
    r = make_zeros(self->n_slots, sizeof *self->slots, &self->slots);
    return r == SQLITE_OK ? make_zeros(self->n_entries_max, sizeof *self->entries, &self->entries) : r;
}

/* --- pairs ------------------------------------------------------------------------------------------------------------ */

static inline gboolean
must_end(QdTallyPairs *self)
{
    return ++self->n_polled % POLL_EVERY == 0 && qd_interrupt_poll();
}

static int
add_entry(QdTallyPairs *self, gint64 value, guint64 count)
{
    gsize slot = (gsize) (((guint64) value * QD_TALLY_HASH_FACTOR) >> self->shift);

    while (self->slots[slot] != 0) {
        Entry *entry = &self->entries[self->slots[slot] - 1];

        if (entry->value == value)
            return __builtin_add_overflow(entry->count, count, &entry->count) ? SQLITE_TOOBIG : SQLITE_OK;
        slot = (slot + 1) & (self->n_slots - 1);
    }
    if (self->n_entries == self->n_entries_max)
        return SQLITE_CORRUPT;
    self->entries[self->n_entries++] = (Entry){ value, count };
    self->slots[slot] = (guint32) self->n_entries;
    return SQLITE_OK;
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
walk(QdTallyPairs *self, guint number, gsize index, guint64 count)
{
    Step *step = &self->steps[number];
    gboolean is_last = number + 1 == self->n_steps;
    int r = SQLITE_OK;

    for (gsize i = step->column->begins[index]; i < step->column->begins[index + 1] && r == SQLITE_OK; i++) {
        gint64 value = step->column->values[i];
        guint64 found = 1;
        guint64 product;

        if (must_end(self))
            return SQLITE_INTERRUPT;
        if (!is_last || step->is_weighted)
            found = qd_tally_lookup_get(&step->lookup, value);
        if (found == 0)
            continue;
        if (!is_last)
            r = reach(step, found - 1, count);
        else
            r = __builtin_mul_overflow(count, found, &product) ? SQLITE_TOOBIG : add_entry(self, value, product);
    }
    return r;
}

/* All pairs of key @index of the first column. */
static int
make_pairs(QdTallyPairs *self, gsize index, guint64 count)
{
    int r = walk(self, 0, index, count);

    for (guint i = 0; i + 1 < self->n_steps && r == SQLITE_OK; i++) {
        Step *step = &self->steps[i];

        for (gsize k = 0; k < step->n_reached && r == SQLITE_OK; k++) {
            guint64 n = step->counts[step->reached[k]];

            step->counts[step->reached[k]] = 0;
            r = walk(self, i + 1, step->reached[k], n);
        }
        step->n_reached = 0;
    }
    return r;
}

static void
forget_pairs(QdTallyPairs *self)
{
    if (self->n_entries > self->n_slots / sizeof(gint64)) {
        memset(self->slots, 0, self->n_slots * sizeof *self->slots);
    } else {
        for (gsize i = 0; i < self->n_entries; i++) {
            gsize slot = (gsize) (((guint64) self->entries[i].value * QD_TALLY_HASH_FACTOR) >> self->shift);

            while (self->slots[slot] != 0) {
                self->slots[slot] = 0;
                slot = (slot + 1) & (self->n_slots - 1);
            }
        }
    }
    self->n_entries = self->position = 0;
}

/* The next value of the first variable that has pairs. */
static int
make_next(QdTallyPairs *self)
{
    const QdTallyColumn *column = self->steps[0].column;
    int r = SQLITE_OK;

    forget_pairs(self);
    while (self->n_entries == 0 && self->next < column->n_keys && r == SQLITE_OK) {
        gsize index = self->next++;
        guint64 count = 1;

        if (must_end(self))
            return SQLITE_INTERRUPT;
        self->first = column->keys[index];
        if (self->has_start) {
            self->next_start = qd_tally_vector_seek(self->start.keys, self->start.n, self->next_start, self->first);
            if (self->next_start == self->start.n)
                self->next = column->n_keys;
            if (self->next_start == self->start.n || self->start.keys[self->next_start] != self->first)
                continue;
            count = qd_tally_vector_get_count(&self->start, self->next_start);
        }
        r = make_pairs(self, index, count);
    }
    return r;
}

int
qd_tally_pairs_begin(QdTallyPairs *self)
{
    int r = SQLITE_OK;

    for (guint i = 0; i + 1 < self->n_steps && r == SQLITE_OK; i++)
        r = find_places(&self->steps[i], self->steps[i + 1].column);
    if (r == SQLITE_OK && self->steps[self->n_steps - 1].is_weighted)
        r = qd_tally_lookup_init(&self->steps[self->n_steps - 1].lookup, &self->steps[self->n_steps - 1].weights);
    if (r == SQLITE_OK)
        r = make_entries(self, &self->steps[self->n_steps - 1]);
    return r == SQLITE_OK ? make_next(self) : r;
}

int
qd_tally_pairs_advance(QdTallyPairs *self)
{
    return ++self->position < self->n_entries ? SQLITE_OK : make_next(self);
}

gboolean
qd_tally_pairs_get(const QdTallyPairs *self, gint64 *ret_first, gint64 *ret_second, guint64 *ret_count)
{
    if (self->position >= self->n_entries)
        return FALSE;
    *ret_first = self->first;
    *ret_second = self->entries[self->position].value;
    *ret_count = self->entries[self->position].count;
    return TRUE;
}
