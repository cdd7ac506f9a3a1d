/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XML results: escapes, and characters that XML has not.
 */
#include "daemon/format/results-xml.h"

#include <string.h>

static void
test_characters(void)
{
    static const struct {
        const char *text;
        gsize n_bytes;
        const char *xml;
    } cases[] = {
        { "a<b>&\"c", 7, "a&lt;b&gt;&amp;&quot;c" },
        { "a\1b", 3,
          "a\xef\xbf\xbd"
          "b" },
        { "a\0b", 3,
          "a\xef\xbf\xbd"
          "b" },
        { "\xef\xbf\xbe", 3, "\xef\xbf\xbd" },
        { "\r\n\t", 3, "&#13;\n\t" },
        { "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" },
        { "]]>", 3, "]]&gt;" },
        { "", 0, NULL },
    };
    char *names[] = { (char *) "x", NULL };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdResultsXml *xml = qd_results_xml_new();
        QdResultsCell cell = { .bound = TRUE, .term = { QD_TERM_STRING, cases[i].text, cases[i].n_bytes, NULL, 0 } };
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *expected = g_strdup_printf("<literal>%s</literal>", cases[i].xml != NULL ? cases[i].xml : "");

        qd_results_xml_begin(xml, names, out);
        qd_results_xml_put_row(xml, names, &cell, 1, out);
        qd_results_xml_end(xml, FALSE, out);
        g_test_message("%s", out->str);
        g_assert_nonnull(strstr(out->str, cases[i].xml != NULL ? expected : "<literal></literal>"));
        g_assert_null(qd_results_xml_free(xml));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/format/results-xml/characters", test_characters);
    return g_test_run();
}
