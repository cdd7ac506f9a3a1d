/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of limits holds together, and its values are set within their bounds only.
 */
#include "daemon/base/limits.h"

#include "daemon/base/error.h"

static void
test_table(void)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < QD_N_LIMITS; i++) {
        const QdLimitInfo *info = qd_limit_get_info(i);

        g_assert_nonnull(info->name);
        g_assert_true(g_hash_table_add(names, (gpointer) info->name));
        g_assert_cmpuint(info->min, <=, info->value);
        g_assert_cmpuint(info->value, <=, info->max);
        g_assert_cmpuint(info->error, >=, QW_ERROR_FIRST);
        g_assert_cmpuint(info->error, <=, QW_ERROR_LAST);
        g_assert_cmpuint(strlen(info->description), >, 0);
        /* the unit is in the name */
        g_assert_cmpint(strstr(info->name, "_bytes") != NULL, ==, g_str_equal(info->unit, "bytes"));
        g_assert_cmpint(g_str_has_suffix(info->name, "_ms"), ==, g_str_equal(info->unit, "ms"));
    }
}

static void
test_set(void)
{
    g_autoptr(GError) error = NULL;
    QdLimits limits;

    qd_limits_init(&limits);
    g_assert_true(qd_limits_set(&limits, "jobs", 2, NULL));
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_JOBS), ==, 2);

    g_assert_false(qd_limits_set(&limits, "jobs", 65, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
    g_assert_cmpstr(error->message, ==, "limit 'jobs': 65 is not between 1 and 64");
    g_clear_error(&error);

    g_assert_false(qd_limits_set(&limits, "job", 1, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_JOBS), ==, 2);
}

static void
test_message(void)
{
    g_autoptr(GError) error = NULL;
    QdLimits limits;

    qd_limits_init(&limits);
    qd_limit_set_error(&error, &limits, QD_LIMIT_QUERY_TIMEOUT_MSEC, "query %d took too long", 7);
    g_assert_error(error, QD_ERROR, QW_ERROR_TIMEOUT);
    g_assert_cmpstr(error->message, ==, "query 7 took too long: the limit 'query_timeout_ms' is 30000 ms");
}

/* As delivered nothing is lowered; below, all is, to the table's minimum at least. */
static void
test_fit_memory(void)
{
    const uint64_t mib = UINT64_C(1) << 20;
    QdLimits limits;
    QdLimits defaults;

    qd_limits_init(&defaults);
    qd_limits_init(&limits);
    g_assert_false(qd_limits_fit_memory(&limits, UINT64_MAX));
    g_assert_false(qd_limits_fit_memory(&limits, 512 * mib));
    g_assert_cmpmem(&limits, sizeof limits, &defaults, sizeof defaults);

    g_assert_true(qd_limits_fit_memory(&limits, 128 * mib));
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_HEAP_HARD_BYTES), ==, 64 * mib);
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_HEAP_SOFT_BYTES), ==, 32 * mib);
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_REQUEST_BYTES), ==, 40 * mib);
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_RESULT_MEMORY_BYTES), ==, 16 * mib);
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_QUERY_MEMORY_BYTES), ==, 64 * mib);

    g_assert_true(qd_limits_fit_memory(&limits, 0));
    for (guint i = 0; i < QD_N_LIMITS; i++)
        g_assert_cmpuint(qd_limits_get(&limits, i), >=, qd_limit_get_info(i)->min);
    g_assert_cmpuint(qd_limits_get(&limits, QD_LIMIT_HEAP_HARD_BYTES), ==, 16 * mib);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/limits/table", test_table);
    g_test_add_func("/base/limits/set", test_set);
    g_test_add_func("/base/limits/message", test_message);
    g_test_add_func("/base/limits/fit-memory", test_fit_memory);
    return g_test_run();
}
