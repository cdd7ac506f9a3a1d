/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report's sums and its text, up to the number of losses that it lists.
 */
#include "daemon/recover/salvage-report.h"

#include <string.h>

static void
add_losses(QdSalvageTable *table, guint n)
{
    for (guint i = 0; i < n; i++) {
        const QdTreeLoss loss = { .page = i + 2, .first_rowid = i % 2 == 0 ? G_MININT64 : -5, .last_rowid = G_MAXINT64 };

        g_array_append_val(table->losses, loss);
    }
}

static void
test_empty(void)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *text = NULL;

    qd_salvage_report_add_up(report);
    text = qd_salvage_report_format(report, "/the/source");
    g_assert_nonnull(strstr(text, "\nsource: /the/source\n0 rows saved, 0 known to be lost, 0 pages unusable"));
    g_assert_null(strstr(text, "table '"));
    g_assert_null(qd_salvage_report_free(NULL));
}

static void
test_sums(void)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    QdSalvageTable *first = qd_salvage_report_get_table(report, "first");
    QdSalvageTable *second = qd_salvage_report_get_table(report, "second");
    g_autofree char *text = NULL;

    g_assert_true(qd_salvage_report_get_table(report, "first") == first);
    g_assert_cmpuint(report->tables->len, ==, 2);
    first->n_rows = 10;
    first->n_found_rows = 3;
    second->n_rows = 5;
    second->n_lost_rows = 2;
    second->n_refused_rows = 4;
    add_losses(second, 2);
    qd_salvage_report_note(report, "a note of %d%%", 100);
    qd_salvage_report_add_up(report);
    qd_salvage_report_add_up(report); /* sums, not of sums */
    g_assert_cmpuint(report->n_rows, ==, 15);
    g_assert_cmpuint(report->n_lost_rows, ==, 6);
    g_assert_cmpuint(report->n_lost_pages, ==, 2);

    text = qd_salvage_report_format(report, "s");
    g_assert_nonnull(strstr(text, "\n\na note of 100%\n\n"
                                  "table 'first': 10 rows, of them 3 on pages that nothing referred to\n"
                                  "table 'second': 5 rows; 2 rows lost on pages that could be read in part; 4 rows refused;"
                                  " 2 pages lost\n"
                                  "    page 2\n"
                                  "    page 3: rowids from -5 to 9223372036854775807\n"));
}

static guint
count_lines(const QdSalvageReport *report)
{
    g_autofree char *text = qd_salvage_report_format(report, "s");
    g_auto(GStrv) lines = g_strsplit(text, "\n    ", -1);

    return g_strv_length(lines) - 1;
}

static void
test_many(void)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    QdSalvageTable *table = qd_salvage_report_get_table(report, "t");
    g_autofree char *text = NULL;

    add_losses(table, 100);
    g_assert_cmpuint(count_lines(report), ==, 100);
    add_losses(table, 1);
    g_assert_cmpuint(count_lines(report), ==, 101);
    add_losses(table, 899);
    g_assert_cmpuint(count_lines(report), ==, 101);
    qd_salvage_report_add_up(report);
    g_assert_cmpuint(report->n_lost_pages, ==, 1000);
    text = qd_salvage_report_format(report, "s");
    g_assert_nonnull(strstr(text, "\n    and 900 more\n"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/recover/salvage-report/empty", test_empty);
    g_test_add_func("/recover/salvage-report/sums", test_sums);
    g_test_add_func("/recover/salvage-report/many", test_many);
    return g_test_run();
}
