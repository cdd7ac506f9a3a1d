/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the text formats.
 */
#include "daemon/format/text-format.h"

static void
test_names(void)
{
    QdTextFormat format = QD_TEXT_FORMAT_CSV;

    for (guint i = 0; i < QD_N_TEXT_FORMATS; i++) {
        g_assert_true(qd_text_format_from_name(qd_text_format_get_name((QdTextFormat) i), &format));
        g_assert_cmpint(format, ==, i);
        g_assert_nonnull(qd_text_format_get_content_type(format));
    }
    g_assert_false(qd_text_format_from_name("xml", &format));
    g_assert_false(qd_text_format_from_name("", &format));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/format/text-format/names", test_names);
    return g_test_run();
}
