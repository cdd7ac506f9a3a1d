/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The documents' table of limits: one row each, values as the configuration takes them.
 */
#include "daemon/main/limits-doc.h"

#include "daemon/base/config.h"

static void
test_rows(void)
{
    g_autofree char *markdown = qd_limits_doc_make("markdown");
    g_autofree char *man = qd_limits_doc_make("man");

    for (guint i = 0; i < QD_N_LIMITS; i++) {
        g_autofree char *cell = g_strdup_printf("| `%s` |", qd_limit_get_info(i)->name);
        g_autofree char *entry = g_strdup_printf("*%s* = ", qd_limit_get_info(i)->name);

        g_assert_nonnull(strstr(markdown, cell));
        g_assert_nonnull(strstr(man, entry));
    }
    g_assert_nonnull(strstr(markdown,
                            "| `wal_bytes` | write-ahead log, above which the oldest result ends | 256M | bytes | 1M … 64G | "
                            "Timeout |\n"));
    g_assert_null(qd_limits_doc_make("html"));
}

/* The value after "NAME = " in the manual is what the configuration understands. */
static void
test_values_can_be_read(void)
{
    g_autofree char *man = qd_limits_doc_make("man");

    for (guint i = 0; i < QD_N_LIMITS; i++) {
        const QdLimitInfo *info = qd_limit_get_info(i);
        g_autofree char *entry = g_strdup_printf("*%s* = ", info->name);
        g_auto(GStrv) lines = g_strsplit(strstr(man, entry) + strlen(entry), "\n", 2);
        guint64 value = 0;

        g_assert_cmpint(qd_config_parse_size(lines[0], &value), ==, 0);
        g_assert_cmpuint(value, ==, info->value);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/main/limits-doc/rows", test_rows);
    g_test_add_func("/main/limits-doc/values-can-be-read", test_values_can_be_read);
    return g_test_run();
}
