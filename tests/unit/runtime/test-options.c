/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of options by the way of records, whose values are texts. test-bus-options.c has the way of D-Bus.
 */
#include "daemon/runtime/options.h"

#include "daemon/base/error.h"

#define TAKEN (QD_TAKES(ACCESS) | QD_TAKES(TIMEOUT) | QD_TAKES(MAX_ROWS) | QD_TAKES(DURABILITY) | QD_TAKES(BASE) | QD_TAKES(CREATE))

/* @words: keys and values in turn. */
static gboolean
parse(QdCallOptions *options, const char *const *words, GError **error)
{
    uint64_t seen = 0;

    for (guint i = 0; words[i] != NULL; i += 2) {
        const QdOption *option = qd_option_find(words[i], TAKEN, &seen, error);

        if (option == NULL || !qd_option_parse(option, options, words[i + 1], error))
            return FALSE;
    }
    return TRUE;
}

static void
test_values(void)
{
    static const char *const words[] = { "access",     "write",   "timeout_ms", "0",     "max_rows", "18446744073709551615",
                                         "durability", "relaxed", "base",       "urn:b", NULL };
    g_autoptr(GError) error = NULL;
    g_auto(QdCallOptions) options = { 0 };

    qd_options_init(&options);
    g_assert_true(options.quick && options.transfer.header);
    g_assert_true(parse(&options, words, &error));
    g_assert_no_error(error);
    g_assert_true(options.execution.access_write && options.execution.has_timeout && options.execution.relaxed_durability);
    g_assert_cmpuint(options.execution.timeout_msec, ==, 0);
    g_assert_cmpuint(options.execution.max_rows, ==, G_MAXUINT64);
    g_assert_cmpstr(options.base, ==, "urn:b");
}

static void
test_refused(void)
{
    static const struct {
        const char *words[5];
        const char *message;
    } cases[] = {
        { { "access", "rw" }, "option 'access' cannot be 'rw', expected 'read' or 'write'" },
        { { "max_rows", "-1" }, "option 'max_rows' cannot be '-1', expected a number" },
        { { "max_rows", "18446744073709551616" }, "option 'max_rows' cannot be '18446744073709551616', expected a number" },
        { { "max_rows", "" }, "option 'max_rows' cannot be '', expected a number" },
        { { "timeout_ms", "4294967296" }, "option 'timeout_ms' cannot be 4294967296, expected at most 4294967295" },
        { { "create", "true" }, "option 'create' cannot be 'true', expected a value that a text cannot have" },
        { { "warm", "true" }, "this method has no option 'warm'" },
        { { "", "" }, "unknown option ''" },
        { { "base", "a", "base", "b" }, "option 'base' is given twice" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_auto(QdCallOptions) options = { 0 };

        g_assert_false(parse(&options, cases[i].words, &error));
        g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runtime/options/values", test_values);
    g_test_add_func("/runtime/options/refused", test_refused);
    return g_test_run();
}
