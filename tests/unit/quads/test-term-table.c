/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table against GLib's, up to its limit.
 */
#include "daemon/quads/term-table.h"

#include <string.h>

#include "daemon/rdf/term.h"

static const QdTermKey secret = { .low = 1, .high = 2 };

static QdTermKey
make_key(guint number)
{
    g_autofree char *text = g_strdup_printf("%u", number);
    QdTerm term = { .kind = QD_TERM_IRI, .lexical = text, .n_lexical = strlen(text) };

    return qd_term_key_compute(&secret, &term);
}

/* A key that is new has a place with 0; what was put there is found again, also after the table has grown. */
static void
test_grow(void)
{
    g_autoptr(QdTermTable) table = qd_term_table_new(1 << 30);

    for (guint round = 0; round < 2; round++)
        for (guint i = 0; i < 100000; i++) {
            QdTermKey key = make_key(i);
            gint64 *place = qd_term_table_find(table, &key);

            g_assert_nonnull(place);
            g_assert_cmpint(*place, ==, round == 0 ? 0 : -(gint64) i - 1);
            *place = -(gint64) i - 1;
        }
}

/* Keys whose low halves are equal, and those that begin at the table's last entry, are kept apart. */
static void
test_collisions(void)
{
    g_autoptr(QdTermTable) table = qd_term_table_new(1 << 30);

    for (guint round = 0; round < 2; round++)
        for (guint i = 0; i < 200; i++) {
            QdTermKey key = { .low = i % 2 == 0 ? G_MAXUINT64 : 5, .high = i };
            gint64 *place = qd_term_table_find(table, &key);

            g_assert_cmpint(*place, ==, round == 0 ? 0 : i + 1);
            *place = i + 1;
        }
}

/* A full table says so, and still knows what it has; emptied it takes as much again. */
static void
test_full(void)
{
    const guint64 max_bytes = 1000000;
    g_autoptr(QdTermTable) table = qd_term_table_new(max_bytes);
    guint n[2] = { 0 };

    for (guint round = 0; round < 2; round++) {
        QdTermKey first = make_key(0);
        QdTermKey key = first;
        gint64 *place;

        while ((place = qd_term_table_find(table, &key)) != NULL) {
            *place = 7;
            key = make_key(++n[round]);
        }
        g_assert_cmpint(*qd_term_table_find(table, &first), ==, 7);
        g_assert_null(qd_term_table_find(table, &key));
        qd_term_table_clear(table);
        g_assert_cmpint(*qd_term_table_find(table, &first), ==, 0);
        qd_term_table_clear(table);
    }
    g_assert_cmpuint(n[0], ==, n[1]);
    g_assert_cmpuint(n[0], >, 5000);
    g_assert_cmpuint(n[0] * (sizeof(QdTermKey) + sizeof(gint64)), <=, max_bytes);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quads/term-table/grow", test_grow);
    g_test_add_func("/quads/term-table/collisions", test_collisions);
    g_test_add_func("/quads/term-table/full", test_full);
    return g_test_run();
}
