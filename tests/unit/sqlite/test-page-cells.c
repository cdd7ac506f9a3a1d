/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages and records: what a good one says, and that noise is refused without reading beyond it.
 */
#include "daemon/sqlite/page-cells.h"

#include <string.h>

#define PAGE_BYTES 512

/* Header, two cells: rowid 1 with the record (7, 'ab'), rowid 2 with (NULL, 1). */
static void
make_page(guint8 *page)
{
    static const guint8 first[] = { 6, 1, 3, 1, 17, 7, 'a', 'b' };
    static const guint8 second[] = { 3, 2, 3, 0, 9 };

    memset(page, 0, PAGE_BYTES);
    page[0] = QD_PAGE_TABLE_LEAF;
    page[4] = 2;
    page[8] = (guint8) ((PAGE_BYTES - 8) >> 8);
    page[9] = (guint8) (PAGE_BYTES - 8);
    page[10] = (guint8) ((PAGE_BYTES - 13) >> 8);
    page[11] = (guint8) ((PAGE_BYTES - 13) & 0xff);
    memcpy(page + PAGE_BYTES - 8, first, sizeof first);
    memcpy(page + PAGE_BYTES - 13, second, sizeof second);
}

static void
test_page(void)
{
    g_autofree guint8 *page = g_malloc(PAGE_BYTES);
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    QdPageCells cells;
    QdPageCell cell;

    make_page(page);
    g_assert_true(qd_page_cells_init(&cells, page, 2, PAGE_BYTES));
    g_assert_true(qd_page_cells_are_whole(&cells));
    g_assert_cmpuint(cells.n_cells, ==, 2);
    g_assert_cmpuint(qd_page_cells_get_end(&cells), ==, PAGE_BYTES);
    g_assert_true(qd_page_cells_get(&cells, 0, &cell));
    g_assert_cmpint(cell.rowid, ==, 1);
    g_assert_cmpuint(cell.overflow, ==, 0);
    g_assert_true(qd_record_parse(cell.local, cell.n_bytes, fields));
    g_assert_cmpuint(fields->len, ==, 2);
    g_assert_cmpint(qd_field_get_int64(&g_array_index(fields, QdField, 0)), ==, 7);
    g_assert_true(qd_field_is_text(&g_array_index(fields, QdField, 1)));
    g_assert_cmpmem(g_array_index(fields, QdField, 1).data, g_array_index(fields, QdField, 1).n_bytes, "ab", 2);

    page[PAGE_BYTES - 12] = 1; /* the second rowid: not above the first */
    g_assert_false(qd_page_cells_are_whole(&cells));
    make_page(page);
    page[11] = (guint8) ((PAGE_BYTES - 9) & 0xff); /* the second cell on the first */
    g_assert_false(qd_page_cells_are_whole(&cells));
    page[0] = 7;
    g_assert_false(qd_page_cells_init(&cells, page, 2, PAGE_BYTES));
}

static void
test_integers(void)
{
    static const struct {
        guint64 type;
        guint8 bytes[8];
        guint n_bytes;
        gint64 value;
    } cases[] = {
        { 8, { 0 }, 0, 0 },
        { 9, { 0 }, 0, 1 },
        { 1, { 0xff }, 1, -1 },
        { 2, { 0x80, 0 }, 2, -32768 },
        { 3, { 0x7f, 0xff, 0xff }, 3, 8388607 },
        { 5, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe }, 6, -2 },
        { 6, { 0x80, 0, 0, 0, 0, 0, 0, 0 }, 8, G_MININT64 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const QdField field = { .type = cases[i].type, .data = cases[i].bytes, .n_bytes = cases[i].n_bytes };

        g_assert_true(qd_field_is_integer(&field));
        g_assert_cmpint(qd_field_get_int64(&field), ==, cases[i].value);
    }
}

/* In a buffer of exactly its size, so that a sanitizer sees each byte too many. */
static void
test_noise(void)
{
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    guint n_cells = 0;
    guint n_records = 0;

    for (guint round = 0; round < 20000; round++) {
        g_autofree guint8 *page = g_malloc(PAGE_BYTES);
        static const guint8 kinds[] = { 2, 5, 10, 13 };
        QdPageCells cells;
        QdPageCell cell;

        make_page(page);
        for (gint i = g_rand_int_range(random, 0, 40); i > 0; i--)
            page[g_rand_int_range(random, 0, PAGE_BYTES)] = (guint8) g_rand_int(random);
        page[0] = kinds[round % G_N_ELEMENTS(kinds)];
        page[4] = (guint8) g_rand_int(random);
        if (!qd_page_cells_init(&cells, page, 2, PAGE_BYTES))
            continue;
        (void) qd_page_cells_are_whole(&cells);
        for (guint32 i = 0; i < cells.n_cells; i++) {
            if (!qd_page_cells_get(&cells, i, &cell))
                continue;
            n_cells++;
            g_array_set_size(fields, 0);
            n_records += qd_record_parse(cell.local, cell.n_local, fields) ? 1 : 0;
        }
    }
    g_assert_cmpuint(n_cells, >, 1000);
    g_assert_cmpuint(n_records, >, 100);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/page-cells/page", test_page);
    g_test_add_func("/sqlite/page-cells/integers", test_integers);
    g_test_add_func("/sqlite/page-cells/noise", test_noise);
    return g_test_run();
}
