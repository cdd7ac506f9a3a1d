/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns become parts and parts become the same columns; bytes that are no part are an error, and never more than that.
 */
#include "daemon/tally/tally-pack.h"

#include <string.h>

#define CACHE_BYTES (256 * 1024 * 1024)
#define N_PAIRS 60000
#define N_GARBAGE 30000

/* Of some shape: pairs that ascend. */
static QdTallyColumn *
make_column(GRand *rand, gsize n, guint n_values_max, gboolean is_wide)
{
    const QdTallyColumnRoom room = { n, n, CACHE_BYTES };
    QdTallyColumn *column = qd_tally_column_new(&room, QD_TALLY_BY_SUBJECT, 7);
    gint64 key = is_wide ? G_MININT64 : -1000;

    g_assert_nonnull(column);
    for (gsize i = 0; i < n;) {
        const gsize n_random = (gsize) g_rand_int_range(rand, 1, (gint32) n_values_max + 1); /* MIN() would ask twice */
        const gsize n_values = MIN(n_random, n - i);
        gint64 value = is_wide ? (gint64) ((guint64) g_rand_int(rand) << 32) - G_MAXINT32 : g_rand_int_range(rand, -50, 50000);

        for (gsize k = 0; k < n_values; k++) {
            qd_tally_column_add(column, key, value);
            value += g_rand_int_range(rand, 1, 40);
        }
        i += n_values;
        key += is_wide ? (gint64) g_rand_int(rand) * 1000 + 1 : g_rand_int_range(rand, 1, 300);
    }
    return column;
}

static GPtrArray *
pack(const QdTallyColumn *column)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    QdTallyPacker packer = { column, 0, 0 };

    while (qd_tally_pack_next(&packer, body))
        g_ptr_array_add(parts, g_bytes_new(body->data, body->len));
    return parts;
}

static QdTallyColumn *
unpack(const GPtrArray *parts, gsize n_keys, gsize n_pairs)
{
    const QdTallyColumnRoom room = { n_keys, n_pairs, CACHE_BYTES };
    QdTallyColumn *column = qd_tally_column_new(&room, QD_TALLY_BY_SUBJECT, 7);

    g_assert_nonnull(column);
    for (guint i = 0; i < parts->len; i++) {
        gsize n = 0;
        const guint8 *body = g_bytes_get_data(parts->pdata[i], &n);

        if (!qd_tally_unpack(body, n, &room, column)) {
            (void) qd_tally_column_unref(column);
            return NULL;
        }
    }
    return column;
}

static void
assert_equal(const QdTallyColumn *a, const QdTallyColumn *b)
{
    g_assert_nonnull(b);
    g_assert_cmpmem(a->keys, a->n_keys * sizeof *a->keys, b->keys, b->n_keys * sizeof *b->keys);
    g_assert_cmpmem(a->values, a->n_pairs * sizeof *a->values, b->values, b->n_pairs * sizeof *b->values);
    g_assert_cmpmem(a->begins, (a->n_keys + 1) * sizeof *a->begins, b->begins, (b->n_keys + 1) * sizeof *b->begins);
}

/* One value a key, a few, so many that a key goes on in the next part; small differences and large ones. */
static void
test_round_trip(void)
{
    static const guint n_values[] = { 1, 3, 100000 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);

    for (gsize i = 0; i < 2 * G_N_ELEMENTS(n_values); i++) {
        g_autoptr(QdTallyColumn) column = make_column(rand, N_PAIRS, n_values[i / 2], i % 2 != 0);
        g_autoptr(GPtrArray) parts = pack(column);
        g_autoptr(QdTallyColumn) again = unpack(parts, column->n_keys, column->n_pairs);

        g_assert_cmpuint(parts->len, >, 1);
        assert_equal(column, again);
        g_assert_null(unpack(parts, column->n_keys - (column->n_keys > 1 ? 1 : 0), column->n_pairs - 1));
    }
}

static void
test_ends_of_the_range(void)
{
    static const gint64 numbers[] = { G_MININT64, G_MININT64 + 1, -1, 0, 1, G_MAXINT64 - 1, G_MAXINT64 };
    const QdTallyColumnRoom room = { G_N_ELEMENTS(numbers), G_N_ELEMENTS(numbers) * G_N_ELEMENTS(numbers), CACHE_BYTES };
    g_autoptr(QdTallyColumn) column = qd_tally_column_new(&room, QD_TALLY_BY_SUBJECT, 7);
    g_autoptr(QdTallyColumn) again = NULL;
    g_autoptr(GPtrArray) parts = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
        for (gsize k = 0; k < G_N_ELEMENTS(numbers); k++)
            qd_tally_column_add(column, numbers[i], numbers[k]);
    parts = pack(column);
    again = unpack(parts, column->n_keys, column->n_pairs);
    assert_equal(column, again);
}

static void
test_empty(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    g_autoptr(QdTallyColumn) column = make_column(rand, 0, 1, FALSE);
    g_autoptr(GPtrArray) parts = pack(column);

    g_assert_cmpuint(parts->len, ==, 0);
}

/* A pair more changes the part that it is in, or splits it. */
static void
test_parts_stay(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    g_autoptr(QdTallyColumn) column = make_column(rand, 5 * N_PAIRS, 2, FALSE);
    const QdTallyColumnRoom room = { column->n_keys, column->n_pairs - 1, CACHE_BYTES };
    g_autoptr(QdTallyColumn) less = qd_tally_column_new(&room, QD_TALLY_BY_SUBJECT, 7);
    g_autoptr(GPtrArray) before = pack(column);
    g_autoptr(GPtrArray) after = NULL;
    guint n_same = 0;

    for (gsize i = 0; i < column->n_keys; i++)
        for (gsize j = column->begins[i]; j < column->begins[i + 1]; j++)
            if (j != N_PAIRS / 3)
                qd_tally_column_add(less, column->keys[i], column->values[j]);
    after = pack(less);
    for (guint i = 0; i < before->len; i++)
        n_same += g_ptr_array_find_with_equal_func(after, before->pdata[i], g_bytes_equal, NULL) ? 1 : 0;
    g_assert_cmpuint(before->len, >, 10);
    g_assert_cmpuint(n_same, >=, before->len - 2);
    g_assert_cmpuint(n_same, <, before->len);
}

/* Each bit counts, and so does the place. */
static void
test_sum(void)
{
    guint8 bytes[21] = { 1, 2, 3 };
    const guint64 sum = qd_tally_pack_sum(bytes, sizeof bytes, 5);

    g_assert_cmpuint(qd_tally_pack_sum(bytes, sizeof bytes, 6), !=, sum);
    g_assert_cmpuint(qd_tally_pack_sum(bytes, sizeof bytes - 1, 5), !=, sum);
    for (guint bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (guint8) (1u << bit % 8);
        g_assert_cmpuint(qd_tally_pack_sum(bytes, sizeof bytes, 5), !=, sum);
        bytes[bit / 8] ^= (guint8) (1u << bit % 8);
    }
}

/* What it takes for pairs ascends and fits. */
static void
try_bytes(const guint8 *bytes, gsize n, const QdTallyColumnRoom *room)
{
    g_autofree guint8 *copy = g_memdup2(bytes, n); /* a sanitizer knows where it ends */
    g_autoptr(QdTallyColumn) column = qd_tally_column_new(room, QD_TALLY_BY_SUBJECT, 7);

    if (!qd_tally_unpack(copy, n, room, column))
        return;
    g_assert_cmpuint(column->n_pairs, <=, room->n_pairs);
    g_assert_cmpuint(column->n_keys, <=, room->n_keys);
    for (gsize i = 0; i < column->n_keys; i++) {
        g_assert_true(i == 0 || column->keys[i - 1] < column->keys[i]);
        for (gsize j = column->begins[i] + 1; j < column->begins[i + 1]; j++)
            g_assert_cmpint(column->values[j - 1], <, column->values[j]);
    }
}

static void
test_garbage(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    g_autoptr(QdTallyColumn) column = make_column(rand, 3000, 4, TRUE);
    g_autoptr(GPtrArray) parts = pack(column);
    const QdTallyColumnRoom room = { column->n_keys, column->n_pairs, CACHE_BYTES };
    gsize n = 0;
    const guint8 *good = g_bytes_get_data(parts->pdata[0], &n);

    for (guint i = 0; i < N_GARBAGE; i++) {
        const gsize begin = (gsize) g_rand_int_range(rand, 0, (gint32) n);
        const gsize n_random = (gsize) g_rand_int_range(rand, 0, 300); /* MIN() would ask twice */
        const gsize n_own = MIN(n_random, n - begin);
        g_autofree guint8 *bytes = g_malloc(n_own + 1); /* at least one, so that it is no NULL */
        const guint n_faults = n_own > 0 ? (guint) g_rand_int_range(rand, 0, 4) : 0;

        memcpy(bytes, good + begin, n_own);
        for (guint k = 0; k < n_faults; k++)
            bytes[g_rand_int_range(rand, 0, (gint32) n_own)] = (guint8) g_rand_int_range(rand, 0, 256);
        try_bytes(bytes, n_own, &room);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tally/tally-pack/round-trip", test_round_trip);
    g_test_add_func("/tally/tally-pack/ends-of-the-range", test_ends_of_the_range);
    g_test_add_func("/tally/tally-pack/empty", test_empty);
    g_test_add_func("/tally/tally-pack/parts-stay", test_parts_stay);
    g_test_add_func("/tally/tally-pack/sum", test_sum);
    g_test_add_func("/tally/tally-pack/garbage", test_garbage);
    return g_test_run();
}
