/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array without an order: it is looked at where a whole column was read.
 */
#include "daemon/tally/tally-missed.h"

#include <pthread.h>

#define N_MISSED_MAX 1024u

static struct {
    pthread_mutex_t mutex;
    gint64 ids[N_MISSED_MAX];
    guint n;
    gboolean all;
    gint64 least;
} missed = { .mutex = PTHREAD_MUTEX_INITIALIZER, .least = G_MAXINT64 };

static pthread_mutex_t *
lock(void)
{
    pthread_mutex_lock(&missed.mutex);
    return &missed.mutex;
}

static void
unlock(pthread_mutex_t **mutex)
{
    pthread_mutex_unlock(*mutex);
}
#define g_auto_lock __attribute__((cleanup(unlock), unused)) pthread_mutex_t *

void
qd_tally_missed_set_least(gint64 n_quads)
{
    g_auto_lock locked = lock();

    missed.least = n_quads;
}

void
qd_tally_missed_note(gint64 predicate, gint64 n_quads)
{
    g_auto_lock locked = lock();

    if (n_quads < missed.least)
        return;
    for (guint i = 0; i < missed.n; i++)
        if (missed.ids[i] == predicate)
            return;
    if (missed.n < N_MISSED_MAX)
        missed.ids[missed.n++] = predicate;
}

void
qd_tally_missed_note_all(void)
{
    g_auto_lock locked = lock();

    missed.all = TRUE;
}

gboolean
qd_tally_missed_any(void)
{
    g_auto_lock locked = lock();

    return missed.all || missed.n > 0;
}

gboolean
qd_tally_missed_take(GArray *predicates)
{
    g_auto_lock locked = lock();
    gboolean all = missed.all;

    g_array_append_vals(predicates, missed.ids, missed.n);
    missed.n = 0;
    missed.all = FALSE;
    return all;
}
