/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Differences wrap around 64 bits, so each number has exactly one form. The first ones of a part, and of a key's values, have a
 * sign; all others are above 0.
 */
#include "daemon/tally/tally-pack.h"

#include <string.h>

/* Pairs of a part: some 10,000 and so 32 KiB; fewer or more only where the pairs never or always say that one begins. */
#define PAIRS_MIN 2048
#define PAIRS_MAX 32768
#define PAIRS_MASK 8191u

#define NUMBER_BYTES_MAX 10
#define FACTOR_1 G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)
#define FACTOR_2 G_GUINT64_CONSTANT(0xd6e8feb86659fd93)

/* --- numbers ---------------------------------------------------------------------------------------------------------- */

static guint8 *
put_number(guint8 *to, guint64 n)
{
    while (n >= 0x80) {
        *to++ = (guint8) (n | 0x80);
        n >>= 7;
    }
    *to++ = (guint8) n;
    return to;
}

/* NULL: there is none. */
static const guint8 *
get_number(const guint8 *from, const guint8 *end, guint64 *ret_n)
{
    guint64 n = 0;

    for (guint shift = 0; from < end && shift < 64; shift += 7) {
        guint8 byte = *from++;

        n |= (guint64) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_n = n;
            return from;
        }
    }
    return NULL;
}

static guint64
fold_sign(guint64 difference)
{
    return (difference << 1) ^ (guint64) ((gint64) difference >> 63);
}

static guint64
unfold_sign(guint64 n)
{
    return (n >> 1) ^ (G_GUINT64_CONSTANT(0) - (n & 1));
}

/* --- packing ---------------------------------------------------------------------------------------------------------- */

static gboolean
begins_part(gint64 key, gint64 value)
{
    guint64 hash = ((guint64) key * FACTOR_1 ^ (guint64) value) * FACTOR_2;

    return ((hash ^ hash >> 32) * FACTOR_1 >> 48 & PAIRS_MASK) == 0;
}

/* The first pair of the next part. */
static gsize
find_end(const QdTallyPacker *self)
{
    const QdTallyColumn *column = self->column;
    const gsize end = MIN(column->n_pairs, self->pair + PAIRS_MAX);
    gsize key = self->key;

    for (gsize pair = MIN(end, self->pair + PAIRS_MIN); pair < end; pair++) {
        while (column->begins[key + 1] <= pair)
            key++;
        if (begins_part(column->keys[key], column->values[pair]))
            return pair;
    }
    return end;
}

gboolean
qd_tally_pack_next(QdTallyPacker *self, GByteArray *body)
{
    const QdTallyColumn *column = self->column;
    guint64 last_key = 0;
    guint64 last_value = 0;
    gsize end;
    guint8 *to;

    if (self->pair == column->n_pairs)
        return FALSE;
    end = find_end(self);
    g_byte_array_set_size(body, (guint) ((end - self->pair) * 3 * NUMBER_BYTES_MAX));
    to = body->data;
    for (gboolean is_first = TRUE; self->pair < end; is_first = FALSE) {
        const guint64 key = (guint64) column->keys[self->key];
        const gsize key_end = MIN(column->begins[self->key + 1], end);

        to = put_number(to, is_first ? fold_sign(key) : key - last_key);
        to = put_number(to, key_end - self->pair);
        to = put_number(to, fold_sign((guint64) column->values[self->pair] - last_value));
        while (++self->pair < key_end)
            to = put_number(to, (guint64) column->values[self->pair] - (guint64) column->values[self->pair - 1]);
        last_key = key;
        last_value = (guint64) column->values[self->pair - 1];
        self->key += key_end == column->begins[self->key + 1] ? 1 : 0;
    }
    g_byte_array_set_size(body, (guint) (to - body->data));
    return TRUE;
}

/* --- unpacking -------------------------------------------------------------------------------------------------------- */

/* A part may go on with the last key of the one before. */
static gboolean
add_key(QdTallyColumn *column, const QdTallyColumnRoom *room, gint64 key, gint64 value)
{
    const gsize n = column->n_keys;

    if (n > 0 && column->keys[n - 1] == key)
        return column->values[column->n_pairs - 1] < value;
    if (n == room->n_keys || (n > 0 && column->keys[n - 1] > key))
        return FALSE;
    column->keys[column->n_keys++] = key;
    return TRUE;
}

/* The values of a key after its first one. NULL: they are damaged */
static const guint8 *
add_values(QdTallyColumn *column, guint64 n, const guint8 *from, const guint8 *end)
{
    gint64 *to = column->values + column->n_pairs;
    gint64 value = to[-1];

    for (guint64 i = 0; i < n; i++) {
        gint64 next;
        guint64 difference;

        from = get_number(from, end, &difference);
        if (from == NULL)
            return NULL;
        next = (gint64) ((guint64) value + difference);
        if (next <= value)
            return NULL;
        *to++ = value = next;
    }
    column->n_pairs += n;
    return from;
}

gboolean
qd_tally_unpack(const guint8 *body, gsize n_bytes, const QdTallyColumnRoom *room, QdTallyColumn *column)
{
    const guint8 *end = body + n_bytes;
    guint64 key = 0;
    guint64 value = 0;

    for (const guint8 *from = body; from < end;) {
        const gboolean is_first = from == body;
        guint64 key_step, n, value_step;

        from = get_number(from, end, &key_step);
        if (from != NULL)
            from = get_number(from, end, &n);
        if (from != NULL)
            from = get_number(from, end, &value_step);
        if (from == NULL || (!is_first && key_step == 0) || n == 0 || n > room->n_pairs - column->n_pairs)
            return FALSE;
        key = is_first ? unfold_sign(key_step) : key + key_step;
        value += unfold_sign(value_step);
        if (!add_key(column, room, (gint64) key, (gint64) value))
            return FALSE;
        column->values[column->n_pairs++] = (gint64) value;
        from = add_values(column, n - 1, from, end);
        if (from == NULL)
            return FALSE;
        column->begins[column->n_keys] = (guint32) column->n_pairs;
        value = (guint64) column->values[column->n_pairs - 1];
    }
    return TRUE;
}

guint64
qd_tally_pack_sum(const guint8 *body, gsize n_bytes, guint64 seed)
{
    guint64 sum = seed * FACTOR_1 ^ n_bytes;

    for (gsize i = 0; i < n_bytes; i += sizeof(guint64)) {
        guint64 word = 0;

        memcpy(&word, body + i, MIN(sizeof word, n_bytes - i));
        sum = (sum ^ GUINT64_FROM_LE(word)) * FACTOR_2;
        sum ^= sum >> 29;
    }
    return sum;
}
