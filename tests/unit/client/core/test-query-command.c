/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The body of PREPARE: which options go out.
 */
#include <string.h>

#include "client-lib/request/query-request.h"

#define TEXT "SELECT 1"

/* "key=value key=value …" as a reader of the record sees it; also checks language, text and the count of the header. */
static char *
read_options(const QueryCommand *command)
{
    gsize n_bytes;
    const guint8 *data = g_bytes_get_data(command->key, &n_bytes);
    QwBodyReader body = { .data = data, .n_bytes = n_bytes };
    g_autoptr(GString) result = g_string_new(NULL);
    const char *language;
    const char *text;
    uint32_t n_text_bytes;

    g_assert_cmpint(qw_prepare_get_head(&body, &language, &text, &n_text_bytes), ==, 0);
    g_assert_cmpstr(language, ==, "sql");
    g_assert_cmpmem(text, n_text_bytes, TEXT, strlen(TEXT));
    for (guint i = 0; i < command->n_options; i++) {
        const char *key;
        const char *value;
        uint32_t n;

        g_assert_cmpint(qw_body_get_string(&body, &key, &n), ==, 0);
        g_assert_cmpint(qw_body_get_string(&body, &value, &n), ==, 0);
        g_string_append_printf(result, "%s%s=%s", i > 0 ? " " : "", key, value);
    }
    g_assert_cmpint(qw_body_finish(&body), ==, 0);
    return g_string_free(g_steal_pointer(&result), FALSE);
}

static void
test_options(void)
{
    static const struct {
        QueryCommandAccess access;
        gint64 timeout_msec;
        guint64 max_rows;
        const char *expected;
    } cases[] = {
        { QUERY_COMMAND_READS, -1, 0, "" },
        { QUERY_COMMAND_READS, 0, 7, "timeout_ms=0 max_rows=7" },
        { QUERY_COMMAND_WRITES, -1, 0, "access=write" },
        { QUERY_COMMAND_WRITES_RELAXED, 100, 0, "access=write durability=relaxed timeout_ms=100" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(QueryCommand)
            command = query_command_new("sql", TEXT, cases[i].access, cases[i].timeout_msec, cases[i].max_rows, NULL, NULL);
        g_autofree char *options = read_options(command);

        g_assert_cmpstr(options, ==, cases[i].expected);
        g_assert_cmpint(command->writes, ==, cases[i].access != QUERY_COMMAND_READS);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/query-command/options", test_options);
    return g_test_run();
}
