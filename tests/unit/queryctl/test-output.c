/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whole results in each format, complete and cut short.
 */
#include "client-lib/queryctl/output.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const char *const names[] = { "id", "id", "text|x" };

/* What comes out of an output of @n_rows rows, which breaks off unless @complete. */
static char *
print(const QctlStyle *style, guint n_rows, bool complete)
{
    g_autoptr(QctlSink) sink = NULL;
    g_autoptr(QctlOutput) output = NULL;
    g_autoptr(GError) error = NULL;
    FILE *file = tmpfile();
    GString *text = g_string_new(NULL);
    char buffer[4096];
    ssize_t n = 0;

    g_assert_nonnull(file);
    sink = qctl_sink_new(fileno(file), false);
    output = qctl_output_new(sink, style, names, 3);
    for (guint i = 0; i < n_rows; i++) {
        QwValue cells[3];

        qctl_cell_init_int64(&cells[0], i == 1 ? 1000 : (gint64) i);
        qctl_cell_init_text(&cells[1], i == 1 ? NULL : "a|b");
        qctl_cell_init_text(&cells[2], i == 0 ? "日本" : "xyz");
        g_assert_true(qctl_output_put(output, cells, &error));
    }
    g_assert_true(qctl_output_finish(output, complete, &error));
    g_assert_no_error(error);
    g_assert_cmpint(lseek(fileno(file), 0, SEEK_SET), ==, 0);
    while ((n = read(fileno(file), buffer, sizeof buffer)) > 0)
        g_string_append_len(text, buffer, n);
    (void) fclose(file);
    return g_string_free(text, FALSE);
}

static void
assert_output(QctlFormat format, guint n_rows, bool complete, const char *expected)
{
    QctlStyle style = { .format = format, .header = true };
    g_autofree char *text = print(&style, n_rows, complete);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_formats(void)
{
    assert_output(QCTL_FORMAT_CSV, 2, true, "id,id,text|x\n0,a|b,日本\n1000,,xyz\n");
    assert_output(QCTL_FORMAT_TSV, 2, true, "id\tid\ttext|x\n0\ta|b\t日本\n1000\t\\N\txyz\n");
    assert_output(QCTL_FORMAT_JSON, 2, true,
                  "[\n{\"id\":0,\"id_2\":\"a|b\",\"text|x\":\"日本\"},\n{\"id\":1000,\"id_2\":null,\"text|x\":\"xyz\"}\n]\n");
    assert_output(QCTL_FORMAT_JSONL, 1, true, "{\"id\":0,\"id_2\":\"a|b\",\"text|x\":\"日本\"}\n");
    assert_output(QCTL_FORMAT_MARKDOWN, 2, true,
                  "| id | id | text\\|x |\n| --- | --- | --- |\n| 0 | a\\|b | 日本 |\n| 1000 |  | xyz |\n");
    assert_output(QCTL_FORMAT_TABLE, 2, true,
                  "  id  id    text|x\n────  ────  ──────\n   0  a|b   日本\n1000  NULL  xyz\n(2 rows)\n");
}

static void
test_empty(void)
{
    assert_output(QCTL_FORMAT_CSV, 0, true, "id,id,text|x\n");
    assert_output(QCTL_FORMAT_JSON, 0, true, "[]\n");
    assert_output(QCTL_FORMAT_JSONL, 0, true, "");
    assert_output(QCTL_FORMAT_TABLE, 0, true, "id  id  text|x\n──  ──  ──────\n(0 rows)\n");
}

/* A result that failed never looks whole. */
static void
test_cut_short(void)
{
    assert_output(QCTL_FORMAT_JSON, 1, false, "[\n{\"id\":0,\"id_2\":\"a|b\",\"text|x\":\"日本\"}\n");
    assert_output(QCTL_FORMAT_JSON, 0, false, "");
    assert_output(QCTL_FORMAT_CSV, 0, false, "");
    assert_output(QCTL_FORMAT_TABLE, 0, false, "");
    assert_output(QCTL_FORMAT_TABLE, 1, false, "id  id   text|x\n──  ───  ──────\n 0  a|b  日本\n");
}

static void
test_style(void)
{
    QctlStyle plain = { .format = QCTL_FORMAT_CSV, .null_text = "-", .header = false };
    QctlStyle colour = { .format = QCTL_FORMAT_TABLE, .null_text = "-", .header = true, .colour = true };
    g_autofree char *csv = print(&plain, 2, true);
    g_autofree char *table = print(&colour, 2, true);

    g_assert_cmpstr(csv, ==, "0,a|b,日本\n1000,-,xyz\n");
    g_assert_cmpstr(table, ==,
                    "  \033[1mid\033[0m  \033[1mid\033[0m   \033[1mtext|x\033[0m\n────  ───  ──────\n   0  a|b  日本\n"
                    "1000  \033[2m-\033[0m    xyz\n(2 rows)\n");
}

/* More rows than are measured: they come with the widths of the first ones. */
static void
test_long_table(void)
{
    QctlStyle style = { .format = QCTL_FORMAT_TABLE, .header = true };
    g_autofree char *text = print(&style, 2500, true);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    g_assert_cmpuint(g_strv_length(lines), ==, 2500 + 4);
    g_assert_cmpstr(lines[3 + 998], ==, " 999  a|b   xyz");
    g_assert_cmpstr(lines[2 + 2400], ==, "2400  a|b   xyz");
    g_assert_cmpstr(lines[2502], ==, "(2500 rows)");
}

static void
test_broken_pipe(void)
{
    QctlStyle style = { .format = QCTL_FORMAT_CSV };
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlSink) sink = NULL;
    g_autoptr(QctlOutput) output = NULL;
    int fds[2] = { -1, -1 };

    g_assert_cmpint(pipe(fds), ==, 0);
    (void) close(fds[0]);
    (void) signal(SIGPIPE, SIG_IGN);
    sink = qctl_sink_new(fds[1], false);
    output = qctl_output_new(sink, &style, names, 0);
    g_string_append(qctl_sink_get_buffer(sink), "x\n");
    g_assert_false(qctl_output_finish(output, true, &error));
    g_assert_true(qctl_error_is_broken_pipe(error));
    (void) close(fds[1]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/queryctl/output/formats", test_formats);
    g_test_add_func("/queryctl/output/empty", test_empty);
    g_test_add_func("/queryctl/output/cut-short", test_cut_short);
    g_test_add_func("/queryctl/output/style", test_style);
    g_test_add_func("/queryctl/output/long-table", test_long_table);
    g_test_add_func("/queryctl/output/broken-pipe", test_broken_pipe);
    return g_test_run();
}
