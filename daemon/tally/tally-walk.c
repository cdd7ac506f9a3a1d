/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A level for each variable, with the list that it is at. Levels up to the last one that is asked for are gone through step by
 * step, the others by recursion.
 */
#include "daemon/tally/tally-walk.h"

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally-lookup.h"

#define POLL_EVERY 8192
#define UNBOUND 0 /* no term has this id */

typedef struct Link {
    guint from;
    QdTallyColumn *column;
    QdTallyLookup places; /* of the column's keys: their index plus 1 */
    const gint64 *list;   /* where the walk is */
    gsize n, at;
} Link;

typedef struct Level {
    Link links[QD_TALLY_LINKS_MAX];
    guint n_links;
    QdTallyVector weights;
    QdTallyLookup lookup; /* of these */
    gboolean is_weighted, is_optional;
    guint shortest;  /* of the links */
    gboolean is_new; /* nothing was found yet */
    gint64 value;
    guint64 count; /* of the solutions of this and the earlier levels */
} Level;

struct QdTallyWalk {
    QdTallyVector start;
    gsize next; /* of it */
    Level levels[QD_TALLY_LEVELS_MAX];
    guint n_levels;
    guint asked[QD_TALLY_ASKED_MAX];
    guint n_asked;
    guint n_stepped; /* levels before those that are summed up */
    gboolean is_number, is_at_end;
    guint64 count; /* of the row */
    gsize n_polled;
};

/* --- life ------------------------------------------------------------------------------------------------------------- */

QdTallyWalk *
qd_tally_walk_new(QdTallyVector *start)
{
    QdTallyWalk *self = g_new0(QdTallyWalk, 1);

    self->start = *start;
    *start = (QdTallyVector){ 0 };
    self->n_levels = 1;
    return self;
}

QdTallyWalk *
qd_tally_walk_free(QdTallyWalk *self)
{
    if (self == NULL)
        return NULL;
    for (guint i = 0; i < self->n_levels; i++) {
        for (guint k = 0; k < self->levels[i].n_links; k++) {
            (void) qd_tally_column_unref(self->levels[i].links[k].column);
            qd_tally_lookup_clear(&self->levels[i].links[k].places);
        }
        qd_tally_vector_clear(&self->levels[i].weights);
        qd_tally_lookup_clear(&self->levels[i].lookup);
    }
    qd_tally_vector_clear(&self->start);
    g_free(self);
    return NULL;
}

gboolean
qd_tally_walk_add_level(QdTallyWalk *self, gboolean optional)
{
    if (self->n_levels == QD_TALLY_LEVELS_MAX)
        return FALSE;
    self->levels[self->n_levels++].is_optional = optional;
    return TRUE;
}

gboolean
qd_tally_walk_add_link(QdTallyWalk *self, guint from, QdTallyColumn *column)
{
    Level *level = &self->levels[self->n_levels - 1];

    if (level->n_links == QD_TALLY_LINKS_MAX || from >= self->n_levels - 1 || self->levels[from].is_optional) {
        (void) qd_tally_column_unref(column);
        return FALSE;
    }
    level->links[level->n_links++] = (Link){ .from = from, .column = column };
    return TRUE;
}

void
qd_tally_walk_set_weights(QdTallyWalk *self, QdTallyVector *weights)
{
    Level *level = &self->levels[self->n_levels - 1];

    level->weights = *weights;
    level->is_weighted = TRUE;
    *weights = (QdTallyVector){ 0 };
}

gboolean
qd_tally_walk_ask(QdTallyWalk *self, guint level)
{
    if (self->n_asked == QD_TALLY_ASKED_MAX || level >= self->n_levels)
        return FALSE;
    self->asked[self->n_asked++] = level;
    return TRUE;
}

/* --- steps ------------------------------------------------------------------------------------------------------------ */

static inline gboolean
must_end(QdTallyWalk *self)
{
    return ++self->n_polled % POLL_EVERY == 0 && qd_interrupt_poll();
}

/* To before the first value of level @index, at those that the earlier levels have. */
static void
enter(QdTallyWalk *self, guint index)
{
    Level *level = &self->levels[index];

    level->is_new = TRUE;
    level->shortest = 0;
    for (guint i = 0; i < level->n_links; i++) {
        Link *link = &level->links[i];
        guint64 place = qd_tally_lookup_get(&link->places, self->levels[link->from].value);

        link->at = link->n = 0;
        if (place > 0) {
            guint32 begin = link->column->begins[place - 1];

            link->list = link->column->values + begin;
            link->n = link->column->begins[place] - begin;
        }
        if (link->n < level->links[level->shortest].n)
            level->shortest = i;
    }
}

/* Whether all links but the shortest lead to @value, too; no smaller one is asked for afterwards. */
static gboolean
is_reached(Level *level, gint64 value)
{
    for (guint i = 0; i < level->n_links; i++) {
        Link *link = &level->links[i];

        if (i == level->shortest)
            continue;
        link->at = qd_tally_vector_seek(link->list, link->n, link->at, value);
        if (link->at == link->n || link->list[link->at] != value)
            return FALSE;
    }
    return TRUE;
}

/* The next value of level @index. SQLITE_DONE: there is none. */
static int
move(QdTallyWalk *self, guint index)
{
    Level *level = &self->levels[index];
    Link *shortest = &level->links[level->shortest];

    while (shortest->at < shortest->n) {
        gint64 value = shortest->list[shortest->at++];
        guint64 weight = 1;

        if (must_end(self))
            return SQLITE_INTERRUPT;
        if (level->is_weighted)
            weight = qd_tally_lookup_get(&level->lookup, value);
        if (weight == 0 || !is_reached(level, value))
            continue;
        level->is_new = FALSE;
        level->value = value;
        return __builtin_mul_overflow(self->levels[index - 1].count, weight, &level->count) ? SQLITE_TOOBIG : SQLITE_OK;
    }
    if (!level->is_optional || !level->is_new)
        return SQLITE_DONE;
    level->is_new = FALSE;
    level->value = UNBOUND;
    level->count = self->levels[index - 1].count;
    return SQLITE_OK;
}

static int
move_first(QdTallyWalk *self)
{
    Level *level = &self->levels[0];

    if (must_end(self))
        return SQLITE_INTERRUPT;
    if (self->next == self->start.n)
        return SQLITE_DONE;
    level->value = self->start.keys[self->next];
    level->count = qd_tally_vector_get_count(&self->start, self->next++);
    return SQLITE_OK;
}

/* Adds the solutions from level @index on to *@sum. */
static int
add_solutions(QdTallyWalk *self, guint index, guint64 *sum)
{
    const Level *level = &self->levels[index];
    gboolean is_last = index + 1 == self->n_levels;
    guint64 count;
    int r;

    if (index == self->n_levels)
        return __builtin_add_overflow(*sum, self->levels[index - 1].count, sum) ? SQLITE_TOOBIG : SQLITE_OK;
    enter(self, index);
    if (is_last && level->n_links == 1 && !level->is_weighted) {
        count = MAX(level->links[0].n, level->is_optional ? 1 : 0);
        return __builtin_mul_overflow(count, self->levels[index - 1].count, &count) || __builtin_add_overflow(*sum, count, sum)
                   ? SQLITE_TOOBIG
                   : SQLITE_OK;
    }
    while ((r = move(self, index)) == SQLITE_OK) {
        r = add_solutions(self, index + 1, sum);
        if (r != SQLITE_OK)
            return r;
    }
    return r == SQLITE_DONE ? SQLITE_OK : r;
}

/* From level @index on, whose values are to be gone through, to the next row. */
static int
find_row(QdTallyWalk *self, guint index)
{
    for (;;) {
        int r = index == 0 ? move_first(self) : move(self, index);

        if (r == SQLITE_DONE && index == 0) {
            self->is_at_end = TRUE;
            return SQLITE_OK;
        }
        if (r != SQLITE_OK && r != SQLITE_DONE)
            return r;
        if (r == SQLITE_DONE) {
            index--;
            continue;
        }
        if (index + 1 < self->n_stepped) {
            enter(self, ++index);
            continue;
        }
        self->count = 0;
        r = add_solutions(self, self->n_stepped, &self->count);
        if (r != SQLITE_OK || self->count > 0)
            return r;
    }
}

static int
add_up(QdTallyWalk *self)
{
    guint64 sum = 0;
    int r;

    while ((r = find_row(self, self->n_stepped - 1)) == SQLITE_OK && !self->is_at_end) {
        if (__builtin_add_overflow(sum, self->count, &sum))
            return SQLITE_TOOBIG;
    }
    self->is_at_end = FALSE;
    self->levels[0].value = 0;
    self->count = sum;
    return r;
}

/* What level @index needs, which is entered about *@n times; then how many values it has in all. */
static int
prepare_level(QdTallyWalk *self, guint index, double *n)
{
    Level *level = &self->levels[index];
    double n_values = G_MAXDOUBLE;
    int r = level->n_links > 0 ? SQLITE_OK : SQLITE_RANGE;

    for (guint i = 0; i < level->n_links && r == SQLITE_OK; i++) {
        const QdTallyColumn *column = level->links[i].column;

        r = qd_tally_lookup_init_places(&level->links[i].places, column->keys, column->n_keys, *n);
        n_values = MIN(n_values, (double) column->n_pairs / (double) MAX(column->n_keys, 1));
    }
    *n *= n_values;
    return r == SQLITE_OK && level->is_weighted ? qd_tally_lookup_init(&level->lookup, &level->weights, *n) : r;
}

int
qd_tally_walk_begin(QdTallyWalk *self, gboolean is_number)
{
    double n = (double) self->start.n;
    int r = SQLITE_OK;

    self->n_stepped = 1;
    for (guint i = 0; i < self->n_asked; i++)
        self->n_stepped = MAX(self->n_stepped, self->asked[i] + 1);
    for (guint i = 1; i < self->n_levels && r == SQLITE_OK; i++)
        r = prepare_level(self, i, &n);
    if (r != SQLITE_OK)
        return r;
    self->is_number = is_number;
    return is_number ? add_up(self) : find_row(self, 0);
}

int
qd_tally_walk_advance(QdTallyWalk *self)
{
    if (!self->is_number)
        return find_row(self, self->n_stepped - 1);
    self->is_at_end = TRUE;
    return SQLITE_OK;
}

/* --- the row ---------------------------------------------------------------------------------------------------------- */

gboolean
qd_tally_walk_is_at_end(const QdTallyWalk *self)
{
    return self->is_at_end;
}

gint64
qd_tally_walk_get_first(const QdTallyWalk *self)
{
    return self->levels[0].value;
}

gboolean
qd_tally_walk_get(const QdTallyWalk *self, guint index, gint64 *ret_value)
{
    if (index >= self->n_asked)
        return FALSE;
    *ret_value = self->levels[self->asked[index]].value;
    return *ret_value != UNBOUND;
}

guint64
qd_tally_walk_get_count(const QdTallyWalk *self)
{
    return self->count;
}
