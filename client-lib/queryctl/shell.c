/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell: statements up to their semicolon, over as many lines as they need, and commands that start with a dot.
 *
 * Ctrl-C ends a running statement, or drops what is being typed; the shell goes on.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client-lib/queryctl/line-editor.h"
#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/transaction.h"
#include "client-lib/queryctl/verbs.h"

typedef struct Shell {
    QctlSession *session;
    QctlLineEditor *editor;
    GString *text; /* of a statement that has not ended */
    int code;      /* of the last thing that failed; what a script exits with */
    bool quit;
} Shell;

typedef struct Command {
    const char *name;
    const char *argument;
    const char *help;
    void (*run)(Shell *self, const char *argument);
} Command;

/* An interrupt that came while nothing ran: between two lines it is a signal, and the prompt may be on the screen by then. */
static void
forget_interrupt(Shell *self)
{
    if (qctl_line_editor_is_interactive(self->editor) && qctl_session_is_interrupted(self->session))
        qctl_session_resume(self->session);
}

/* Remembers what a script would exit with; on a terminal an interrupt ends what ran, not the shell. */
static void
take_code(Shell *self, int code)
{
    if (code != QCTL_EXIT_OK)
        self->code = code;
    if (code == QCTL_EXIT_INTERRUPTED && qctl_line_editor_is_interactive(self->editor)) {
        (void) fputs("interrupted\n", stderr);
        qctl_session_resume(self->session);
    }
}

/* A command that is wrong. */
static void fail(Shell *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
fail(Shell *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) vfprintf(stderr, format, args);
    va_end(args);
    self->code = QCTL_EXIT_USAGE;
}

static void
run_text(Shell *self, const char *text)
{
    g_autoptr(QctlSink) sink = qctl_session_create_sink(self->session);

    take_code(self, qctl_run_statement(self->session, sink, text, QCTL_ACCESS_EITHER, NULL));
}

/* Commands ------------------------------------------------------------------------------------------------------------ */

static void run_help(Shell *self, const char *argument);

static void
run_quit(Shell *self, const char *argument)
{
    self->quit = true;
}

static void
run_tables(Shell *self, const char *argument)
{
    g_autoptr(QctlSink) sink = qctl_session_create_sink(self->session);

    take_code(self, qctl_list_tables(self->session, sink, argument));
}

static void
run_schema(Shell *self, const char *argument)
{
    g_auto(GStrv) parts = g_strsplit(argument != NULL ? argument : "*", "'", -1);
    g_autofree char *quoted = g_strjoinv("''", parts);
    g_autofree char *query = g_strdup_printf(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name NOT GLOB 'queryd_*' "
        "AND tbl_name NOT GLOB 'sqlite_*' AND tbl_name GLOB '%s' ORDER BY tbl_name, type DESC, name",
        quoted);

    run_text(self, query);
}

static void
run_format(Shell *self, const char *argument)
{
    QctlFormat format = QCTL_FORMAT_AUTO;

    if (argument == NULL)
        (void) fprintf(stderr, "%s\n", qctl_format_get_name(qctl_session_get_format(self->session)));
    else if (qctl_format_from_name(argument, &format))
        qctl_session_set_format(self->session, format);
    else
        fail(self, "queryctl: '%s' is not table, tsv, csv, json, jsonl or markdown\n", argument);
}

static void
run_timing(Shell *self, const char *argument)
{
    bool timing = argument != NULL ? g_str_equal(argument, "on") : !qctl_session_get_timing(self->session);

    if (argument != NULL && !timing && !g_str_equal(argument, "off")) {
        fail(self, "queryctl: .timing is on or off\n");
        return;
    }
    qctl_session_set_timing(self->session, timing);
    (void) fprintf(stderr, "timing is %s\n", timing ? "on" : "off");
}

static void
run_read(Shell *self, const char *argument)
{
    QctlArguments arguments = { .file = (char *) argument, .words = g_ptr_array_new() };
    g_autoptr(GPtrArray) words G_GNUC_UNUSED = arguments.words;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = argument != NULL ? qctl_read_statements(&arguments, &error) : NULL;
    g_autoptr(QctlSink) sink = NULL;

    if (argument == NULL) {
        fail(self, "queryctl: .read needs a file\n");
        return;
    }
    if (text == NULL) {
        take_code(self, qctl_session_report(self->session, g_steal_pointer(&error), NULL));
        return;
    }
    sink = qctl_session_create_sink(self->session);
    take_code(self, qctl_run_script(self->session, sink, text, QCTL_ACCESS_EITHER));
}

static const Command commands[] = {
    { ".help", "", "this list", run_help },
    { ".tables", "[PATTERN]", "tables and views", run_tables },
    { ".schema", "[PATTERN]", "the statements that made tables and views", run_schema },
    { ".format", "[FORMAT]", "table, tsv, csv, json, jsonl or markdown", run_format },
    { ".timing", "[on|off]", "show rows and times", run_timing },
    { ".read", "FILE", "run the statements of a file", run_read },
    { ".quit", "", "leave; so does Ctrl-D", run_quit },
};

static void
run_help(Shell *self, const char *argument)
{
    (void) fputs("A statement ends with ';' and may take several lines. Ctrl-C ends it or drops what is typed.\n", stderr);
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        (void) fprintf(stderr, "  %-8s %-10s %s\n", commands[i].name, commands[i].argument, commands[i].help);
}

/* A line that is a command, not the beginning of a statement. "help", "quit" and "exit" are known without their dot. */
static bool
run_command(Shell *self, const char *line)
{
    g_autofree char *copy = g_strstrip(g_strdup(line));
    char *space = strpbrk(copy, " \t");
    const char *argument = NULL;

    if (space != NULL) {
        *space = 0;
        argument = g_strstrip(space + 1);
    }
    if (g_str_equal(copy, "exit") || g_str_equal(copy, ".exit") || g_str_equal(copy, "quit") || g_str_equal(copy, "help")) {
        if (copy[0] == 'h')
            run_help(self, NULL);
        else
            run_quit(self, NULL);
        return true;
    }
    if (copy[0] != '.')
        return false;

    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (g_str_equal(commands[i].name, copy)) {
            commands[i].run(self, argument);
            return true;
        }
    }
    fail(self, "queryctl: unknown command '%s'; .help lists them\n", copy);
    return true;
}

/* Completion ---------------------------------------------------------------------------------------------------------- */

static void
add_tables(Shell *self, const char *prefix, GPtrArray *words)
{
    static const char *const query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' "
                                     "AND name NOT GLOB 'queryd_*' ORDER BY name";
    QueryConnection *connection = qctl_session_connect(self->session, NULL);
    g_autoptr(QueryCursor) cursor = NULL;

    if (connection != NULL)
        cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, query, NULL, NULL, NULL);
    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL)) {
        const char *name = query_cursor_get_string(cursor, 0, NULL);

        if (name != NULL && g_str_has_prefix(name, prefix))
            g_ptr_array_add(words, g_strdup(name));
    }
}

static char **
complete(const char *prefix, gpointer user_data)
{
    static const char *const keywords[] = { "SELECT", "FROM",   "WHERE",  "GROUP BY", "ORDER BY", "LIMIT",
                                            "INSERT", "UPDATE", "DELETE", "CREATE",   "VALUES",   "JOIN" };
    Shell *self = user_data;
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; prefix[0] == '.' && i < G_N_ELEMENTS(commands); i++) {
        if (g_str_has_prefix(commands[i].name, prefix))
            g_ptr_array_add(words, g_strdup(commands[i].name));
    }
    for (guint i = 0; prefix[0] != 0 && i < G_N_ELEMENTS(keywords); i++) {
        if (g_str_has_prefix(keywords[i], prefix))
            g_ptr_array_add(words, g_strdup(keywords[i]));
    }
    if (prefix[0] != '.')
        add_tables(self, prefix, words);
    g_ptr_array_add(words, NULL);
    return (char **) g_ptr_array_steal(words, NULL);
}

/* The loop ------------------------------------------------------------------------------------------------------------ */

/* Runs the statements that have ended, keeps the rest. */
static void
run_finished(Shell *self)
{
    QctlSpan span = { 0 };
    gsize done = 0;

    while (qctl_span_find(self->text->str, done, &span) && span.complete) {
        g_autofree char *statement = g_strndup(self->text->str + span.start, span.end - span.start);

        done = span.next;
        if (span.start < span.end)
            run_text(self, statement);
    }
    g_string_erase(self->text, 0, (gssize) done);
    if (!qctl_span_find(self->text->str, 0, &span))
        g_string_truncate(self->text, 0);
}

static void
take_line(Shell *self, const char *line)
{
    forget_interrupt(self);
    if (self->text->len == 0 && run_command(self, line))
        return;

    g_string_append(self->text, line);
    run_finished(self);
}

/* A script needs no semicolon at its end, and stops at the first error. */
static void
run_rest(Shell *self)
{
    QctlSpan span = { 0 };

    if (qctl_line_editor_is_interactive(self->editor) || !qctl_span_find(self->text->str, 0, &span) || span.start == span.end)
        return;
    run_text(self, self->text->str + span.start);
}

/* A star says that a transaction is open. */
static const char *
get_prompt(const Shell *self)
{
    if (qctl_session_get_transaction(self->session) != NULL)
        return self->text->len == 0 ? "sql*> " : "...*> ";
    return self->text->len == 0 ? "sql> " : "...> ";
}

/* What a script exits with; on a terminal errors were seen. */
static int
leave(Shell *self)
{
    int code = qctl_transaction_leave(self->session, self->code);

    return qctl_line_editor_is_interactive(self->editor) ? QCTL_EXIT_OK : code;
}

static int
run_shell(QctlSession *session)
{
    Shell shell = { .session = session, .text = g_string_new(NULL) };
    g_autoptr(GString) text = shell.text;
    g_autoptr(QctlLineEditor) editor = qctl_line_editor_new(complete, &shell);
    bool interactive = qctl_line_editor_is_interactive(editor);

    shell.editor = editor;
    if (interactive)
        (void) fputs("queryctl " QUERYD_VERSION ": statements end with ';', .help helps, Ctrl-D leaves.\n", stderr);
    while (!shell.quit) {
        g_autofree char *line = NULL;
        QctlLineResult result = qctl_line_editor_read(editor, get_prompt(&shell), &line);

        if (result == QCTL_LINE_END)
            break;
        if (result == QCTL_LINE_INTERRUPTED)
            g_string_truncate(text, 0);
        else
            take_line(&shell, line);
        if (!interactive && shell.code != QCTL_EXIT_OK)
            return leave(&shell);
    }
    run_rest(&shell);
    return leave(&shell);
}

const QctlVerb qctl_shell_verb = {
    "shell",
    "",
    "type statements and see their results",
    QCTL_OPTIONS(QCTL_BOUND_OPTIONS, &qctl_option_timing, QCTL_PRINT_OPTIONS, &qctl_option_store, &qctl_option_direct),
    .run = run_shell,
};
