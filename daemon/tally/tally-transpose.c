/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A radix sort, which is stable: the pairs of one key keep the order of the keys before.
 */
#include "daemon/tally/tally-transpose.h"

#include <sqlite3.h>

#include "daemon/base/interrupt.h"

#define POLL_EVERY 8192 /* pairs */
#define DIGIT_BITS 8
#define N_DIGITS 256

typedef struct Pair {
    gint64 key;
    gint64 value;
} Pair;

static gboolean
must_end(gsize i)
{
    return i % POLL_EVERY == 0 && qd_interrupt_poll();
}

/* One pass: stable, by the byte of the key at @shift, whose sign bit counts as in signed numbers. */
static int
sort_by_digit(const Pair *from, Pair *to, gsize n, guint shift)
{
    const guint8 flip = shift == 64 - DIGIT_BITS ? 0x80 : 0;
    gsize begins[N_DIGITS] = { 0 };
    gsize sum = 0;

    for (gsize i = 0; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        begins[(guint8) ((guint64) from[i].key >> shift) ^ flip]++;
    }
    for (guint digit = 0; digit < N_DIGITS; digit++) {
        gsize n_own = begins[digit];

        begins[digit] = sum;
        sum += n_own;
    }
    for (gsize i = 0; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        to[begins[(guint8) ((guint64) from[i].key >> shift) ^ flip]++] = from[i];
    }
    return SQLITE_OK;
}

/* @pairs has room for twice @n. @ret_sorted: its half that is sorted */
static int
sort(Pair *pairs, gsize n, const Pair **ret_sorted)
{
    Pair *from = pairs;
    Pair *to = pairs + n;
    guint64 varying = 0;

    for (gsize i = 1; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        varying |= (guint64) (pairs[i].key ^ pairs[0].key);
    }
    for (guint shift = 0; shift < 64; shift += DIGIT_BITS) {
        Pair *sorted = to;
        int r;

        if ((guint8) (varying >> shift) == 0)
            continue;
        r = sort_by_digit(from, to, n, shift);
        if (r != SQLITE_OK)
            return r;
        to = from;
        from = sorted;
    }
    *ret_sorted = from;
    return SQLITE_OK;
}

static int
count_keys(const Pair *pairs, gsize n, gsize *ret_n_keys)
{
    gsize n_keys = n > 0 ? 1 : 0;

    for (gsize i = 1; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        n_keys += pairs[i].key != pairs[i - 1].key ? 1 : 0;
    }
    *ret_n_keys = n_keys;
    return SQLITE_OK;
}

/* The pairs of @column the other way round. */
static int
swap_pairs(const QdTallyColumn *column, Pair *ret_pairs)
{
    for (gsize i = 0; i < column->n_keys; i++)
        for (gsize j = column->begins[i]; j < column->begins[i + 1]; j++) {
            if (must_end(j))
                return SQLITE_INTERRUPT;
            ret_pairs[j] = (Pair){ column->values[j], column->keys[i] };
        }
    return SQLITE_OK;
}

static int
add_pairs(QdTallyColumn *column, const Pair *pairs, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        qd_tally_column_add(column, pairs[i].key, pairs[i].value);
    }
    return SQLITE_OK;
}

int
qd_tally_transpose(const QdTallyColumn *column, QdTallyOrder order, guint64 cache_bytes, QdTallyColumn **ret_column)
{
    const gsize n = column->n_pairs;
    Pair *pairs = sqlite3_malloc64(2 * (n + 1) * sizeof *pairs);
    g_autoptr(QdTallyColumn) other = NULL;
    const Pair *sorted;
    gsize n_keys = 0;
    int r;

    if (pairs == NULL)
        return SQLITE_NOMEM;
    r = swap_pairs(column, pairs);
    if (r == SQLITE_OK)
        r = sort(pairs, n, &sorted);
    if (r == SQLITE_OK)
        r = count_keys(sorted, n, &n_keys);
    if (r == SQLITE_OK) {
        const QdTallyColumnRoom room = { n_keys, n, cache_bytes };

        other = qd_tally_column_new(&room, order, column->stamp);
        r = other != NULL ? add_pairs(other, sorted, n) : SQLITE_NOMEM;
    }
    sqlite3_free(pairs);
    if (r == SQLITE_OK)
        *ret_column = g_steal_pointer(&other);
    return r;
}
