/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table by the stamp that a change leads to, and a queue of all, the oldest first to go.
 */
#include "daemon/tally/tally-changes.h"

#include <pthread.h>
#include <string.h>

#include <sqlite3.h>

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally-cache.h"
#include "daemon/tally/tally-texts.h"

#define N_CHANGES_MAX 4096 /* of the process */
#define N_STEPS_MAX 256    /* from a column to the one that is wanted */
#define POLL_EVERY 8192

typedef struct Change {
    gint64 before, after;
    guint n;
    QdTallyPairChange pairs[];
} Change;

static struct {
    pthread_mutex_t mutex;
    GHashTable *by_after; /* (nullable): stamp → Change, borrowed */
    GQueue queue;         /* of Change */
} known = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static pthread_mutex_t *
lock(void)
{
    pthread_mutex_lock(&known.mutex);
    return &known.mutex;
}

static void
unlock(pthread_mutex_t **mutex)
{
    pthread_mutex_unlock(*mutex);
}
#define g_auto_lock __attribute__((cleanup(unlock), unused)) pthread_mutex_t *

/* --- the writer --------------------------------------------------------------------------------------------------------- */

gboolean
qd_tally_changes_are_wanted(void)
{
    return !qd_tally_cache_is_empty();
}

static void
forget_oldest(void)
{
    Change *change = g_queue_pop_head(&known.queue);

    (void) g_hash_table_remove(known.by_after, &change->after);
    g_free(change);
}

void
qd_tally_changes_clear(void)
{
    g_auto_lock locked = lock();

    while (!g_queue_is_empty(&known.queue))
        forget_oldest();
}

void
qd_tally_changes_note(gint64 before, gint64 after, const QdTallyPairChange *changes, guint n)
{
    g_auto_lock locked = lock();
    Change *change;

    if (before == 0 || after == 0 || n > QD_TALLY_CHANGES_MAX)
        return;
    if (known.by_after == NULL)
        known.by_after = g_hash_table_new(g_int64_hash, g_int64_equal);
    if (g_hash_table_contains(known.by_after, &after) ||
        (!g_hash_table_contains(known.by_after, &before) && !qd_tally_cache_has(before)))
        return;
    if (known.queue.length == N_CHANGES_MAX)
        forget_oldest();
    change = g_malloc(sizeof *change + n * sizeof *changes);
    *change = (Change){ .before = before, .after = after, .n = n };
    if (n > 0)
        memcpy(change->pairs, changes, n * sizeof *changes);
    g_queue_push_tail(&known.queue, change);
    g_hash_table_insert(known.by_after, &change->after, change);
}

/* --- a reader ----------------------------------------------------------------------------------------------------------- */

/* A pair of a column, and whether it goes. */
typedef struct Step {
    gint64 key, value;
    guint order;
    gboolean is_gone;
} Step;

static int
compare_steps(gconstpointer a, gconstpointer b)
{
    const Step *x = a;
    const Step *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Of one pair the last change counts. */
static void
sort_steps(GArray *steps)
{
    guint n = 0;

    g_array_sort(steps, compare_steps);
    for (guint i = 0; i < steps->len; i++) {
        const Step *step = &g_array_index(steps, Step, i);
        const Step *next = i + 1 < steps->len ? &g_array_index(steps, Step, i + 1) : NULL;

        if (next == NULL || next->key != step->key || next->value != step->value)
            g_array_index(steps, Step, n++) = *step;
    }
    g_array_set_size(steps, n);
}

/* (transfer full) (nullable): an earlier column, and what has to change of it. */
static QdTallyColumn *
find_earlier(gint64 stamp, QdTallyOrder order, GArray *steps)
{
    g_auto_lock locked = lock();

    for (guint i = 0; i < N_STEPS_MAX && known.by_after != NULL; i++) {
        const Change *change = g_hash_table_lookup(known.by_after, &stamp);
        QdTallyColumn *column;

        if (change == NULL)
            return NULL;
        for (guint k = 0; k < change->n; k++) {
            const QdTallyPairChange *pair = &change->pairs[k];
            gboolean by_subject = order == QD_TALLY_BY_SUBJECT;
            /* later changes come first, those of one in their order */
            Step step = { by_subject ? pair->s : pair->o, by_subject ? pair->o : pair->s,
                          (N_STEPS_MAX - i) * QD_TALLY_CHANGES_MAX + k, pair->is_gone };

            g_array_append_val(steps, step);
        }
        stamp = change->before;
        column = qd_tally_cache_find(stamp, order);
        if (column != NULL)
            return column;
    }
    return NULL;
}

/* FALSE: what is known does not fit together. */
static gboolean
add(QdTallyColumn *column, const QdTallyColumnRoom *room, gint64 key, gint64 value)
{
    if (column->n_pairs == room->n_pairs || (column->n_keys == room->n_keys && column->keys[column->n_keys - 1] != key))
        return FALSE;
    qd_tally_column_add(column, key, value);
    return TRUE;
}

/* SQLITE_MISMATCH: they do not fit together. */
static int
merge(const QdTallyColumn *from, const GArray *steps, const QdTallyColumnRoom *room, QdTallyColumn *to)
{
    guint next = 0;
    gsize i = 0;

    for (gsize j = 0; j < from->n_pairs || next < steps->len;) {
        const Step *step = next < steps->len ? &g_array_index(steps, Step, next) : NULL;
        gboolean has_pair = j < from->n_pairs;
        int order;

        if (j % POLL_EVERY == 0 && qd_interrupt_poll())
            return SQLITE_INTERRUPT;
        while (has_pair && from->begins[i + 1] <= j)
            i++;
        order = !has_pair      ? 1
                : step == NULL ? -1
                               : compare_steps(&(Step){ from->keys[i], from->values[j], step->order, FALSE }, step);
        if (order < 0) {
            if (!add(to, room, from->keys[i], from->values[j]))
                return SQLITE_MISMATCH;
            j++;
            continue;
        }
        if (!step->is_gone && !add(to, room, step->key, step->value))
            return SQLITE_MISMATCH;
        next++;
        j += order == 0 ? 1 : 0;
    }
    return SQLITE_OK;
}

int
qd_tally_changes_make_column(gint64 stamp, QdTallyOrder order, const QdTallyColumnRoom *room, QdTallyColumn **ret_column)
{
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(Step));
    g_autoptr(QdTallyColumn) earlier = find_earlier(stamp, order, steps);
    g_autoptr(QdTallyColumn) column = NULL;
    int r;

    *ret_column = NULL;
    if (earlier == NULL)
        return SQLITE_OK;
    column = qd_tally_column_new(room, order, stamp);
    if (column == NULL)
        return SQLITE_NOMEM;
    sort_steps(steps);
    r = merge(earlier, steps, room, column);
    if (r == SQLITE_OK) {
        qd_tally_texts_carry(earlier, column);
        *ret_column = g_steal_pointer(&column);
    }
    return r == SQLITE_MISMATCH ? SQLITE_OK : r;
}
