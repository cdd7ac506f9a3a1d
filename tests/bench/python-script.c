/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/bench/python-script.h"

#include "tests/demo/helper.h"
#include "tests/demo/store-control.h"

static void
record_line(Bench *bench, const char *name, const char *line)
{
    g_auto(GStrv) fields = g_strsplit(line, "\t", -1);

    if (g_strv_length(fields) != 3)
        bench_fail(bench, "'%s' says '%s'", name, line);
    if (g_str_equal(fields[1], "checksum"))
        bench_check(bench, fields[0], g_ascii_strtoull(fields[2], NULL, 10));
    else
        bench_record(bench, fields[0], fields[1], g_ascii_strtod(fields[2], NULL));
}

void
python_script_run(Bench *bench, const char *python, const char *name, const char *case_name, const char *const *arguments)
{
    g_autofree char *database = get_database_path();
    g_autofree char *script = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests/bench", name, NULL);
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *output = NULL;
    g_autofree char *errors = NULL;
    g_auto(GStrv) lines = NULL;
    int status = 0;

    g_ptr_array_add(argv, (gpointer) python);
    g_ptr_array_add(argv, script);
    g_ptr_array_add(argv, (gpointer) case_name);
    g_ptr_array_add(argv, database);
    for (guint i = 0; arguments[i] != NULL; i++)
        g_ptr_array_add(argv, (gpointer) arguments[i]);
    g_ptr_array_add(argv, NULL);
    if (!g_spawn_sync(NULL, (char **) argv->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &errors, &status, &error))
        bench_skip(bench, "%s", error->message);
    if (status != 0)
        bench_skip(bench, "%s", g_strdelimit(g_strstrip(errors), "\t\n", ' '));
    lines = g_strsplit(g_strchomp(output), "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        record_line(bench, name, lines[i]);
}
