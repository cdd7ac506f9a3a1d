/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of standard input ends a helper from a thread of its own: its main thread may be inside a query.
 */
#include "tests/demo/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/demo/store-control.h"

static gpointer
exit_at_end_of_input(gpointer data)
{
    char byte;

    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    _exit(0);
}

void
helper_say_in_position(void)
{
    if (write(STDOUT_FILENO, "\n", 1) != 1)
        exit(2);
}

/* For ever: the thread at standard input ends the process. */
static G_GNUC_NORETURN void
stay(void)
{
    for (;;)
        (void) pause();
}

static G_GNUC_NORETURN void
hold(const char *table, guint n_streams, guint n_rows)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(GPtrArray) cursors = g_ptr_array_new_with_free_func(g_object_unref);
    g_autofree char *sql = g_strdup_printf("SELECT * FROM %s", table);

    for (guint i = 0; i < n_streams; i++) {
        g_autoptr(GError) error = NULL;
        QueryCursor *cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, sql, NULL, NULL, &error);

        die_on_error(error, sql);
        g_ptr_array_add(cursors, cursor);
        for (guint row = 0; row < n_rows && query_cursor_next(cursor, NULL, &error); row++)
            ;
        die_on_error(error, sql);
    }
    helper_say_in_position();
    stay();
}

static G_GNUC_NORETURN void
repeat(const char *sql)
{
    g_autoptr(QueryConnection) connection = open_connection();
    gboolean first = TRUE;

    for (;;) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, sql, NULL, NULL, &error);

        die_on_error(error, sql);
        while (query_cursor_next(cursor, NULL, &error)) {
            if (first)
                helper_say_in_position();
            first = FALSE;
        }
        die_on_error(error, sql);
    }
}

static G_GNUC_NORETURN void
run_long(const char *sql)
{
    g_autoptr(QueryConnection) connection = open_connection();

    query_connection_set_timeout_msec(connection, QUERY_TIMEOUT_NONE);
    helper_say_in_position();
    for (;;)
        (void) query_number(connection, sql);
}

void
helper_end_with_input(void)
{
    g_thread_unref(g_thread_new("input", exit_at_end_of_input, NULL));
}

int
helper_main(int argc, char **argv)
{
    helper_end_with_input();
    if (argc == 5 && g_str_equal(argv[1], "hold"))
        hold(argv[2], (guint) atoi(argv[3]), (guint) atoi(argv[4]));
    if (argc == 3 && g_str_equal(argv[1], "repeat"))
        repeat(argv[2]);
    if (argc == 3 && g_str_equal(argv[1], "long"))
        run_long(argv[2]);
    (void) fprintf(stderr, "not a helper's role\n");
    return 2;
}

static void
await_position(GSubprocess *helper)
{
    g_autoptr(GError) error = NULL;
    char byte;

    if (g_input_stream_read(g_subprocess_get_stdout_pipe(helper), &byte, 1, NULL, &error) != 1) {
        die_on_error(error, "helper");
        (void) fprintf(stderr, "a helper has failed\n");
        exit(2);
    }
}

GPtrArray *
helpers_start(guint n, const char *const *argv)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autoptr(GPtrArray) full_argv = g_ptr_array_new();
    GPtrArray *helpers = g_ptr_array_new_with_free_func(g_object_unref);

    g_ptr_array_add(full_argv, self);
    for (guint i = 0; argv[i] != NULL; i++)
        g_ptr_array_add(full_argv, (gpointer) argv[i]);
    g_ptr_array_add(full_argv, NULL);
    for (guint i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;

        g_ptr_array_add(helpers, g_subprocess_newv((const char *const *) full_argv->pdata,
                                                   G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error));
        die_on_error(error, "helper");
    }
    for (guint i = 0; i < n; i++)
        await_position(helpers->pdata[i]);
    return helpers;
}

void
helpers_stop(GPtrArray *helpers)
{
    for (guint i = 0; i < helpers->len; i++)
        (void) g_output_stream_close(g_subprocess_get_stdin_pipe(helpers->pdata[i]), NULL, NULL);
    for (guint i = 0; i < helpers->len; i++)
        (void) g_subprocess_wait(helpers->pdata[i], NULL, NULL);
    g_ptr_array_unref(helpers);
}
