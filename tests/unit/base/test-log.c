/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log on stderr: one line a record, levels respected. Each case runs in a child, whose stderr is compared.
 */
#include "daemon/base/log.h"

#include <errno.h>

static void
test_levels(void)
{
    g_assert_cmpint(qd_log_parse_level("error"), ==, LOG_ERR);
    g_assert_cmpint(qd_log_parse_level("debug"), ==, LOG_DEBUG);
    g_assert_cmpint(qd_log_parse_level("Debug"), ==, -EINVAL);
    g_assert_cmpint(qd_log_parse_level(""), ==, -EINVAL);

    g_assert_true(qd_log_is_enabled(LOG_INFO));
    g_assert_false(qd_log_is_enabled(LOG_DEBUG));
}

static void
test_stderr(void)
{
    if (g_test_subprocess()) {
        g_unsetenv("JOURNAL_STREAM");
        qd_log(LOG_INFO, NULL, "serving '%s'", "/x");
        qd_log(LOG_DEBUG, NULL, "not to be seen");
        qd_log_set_level(LOG_DEBUG);
        qd_log(LOG_DEBUG, &(QdLogFields){ .sender = ":1.5", .elapsed_usec = 1500 }, "Query: done");
        qd_log_set_level(LOG_ERR);
        qd_log(LOG_WARNING, NULL, "not to be seen either");
        qd_log(LOG_ERR, NULL, "broken");
        return;
    }

    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*queryd: serving '/x'\nqueryd: debug: Query: done [:1.5] (1.500 ms)\nqueryd: error: broken\n*");
    g_test_trap_assert_stderr_unmatched("*not to be seen*");
}

/* A stderr that is not the journal's any more gets lines, regardless of the environment. */
static void
test_stale_journal_stream(void)
{
    if (g_test_subprocess()) {
        g_setenv("JOURNAL_STREAM", "1:1", TRUE);
        qd_log(LOG_INFO, NULL, "here");
        return;
    }

    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*queryd: here\n*");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/log/levels", test_levels);
    g_test_add_func("/base/log/stderr", test_stderr);
    g_test_add_func("/base/log/stale-journal-stream", test_stale_journal_stream);
    return g_test_run();
}
