/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell: statements up to their semicolon, over as many lines as they need, and commands that start with a dot.
 *
 * Ctrl-C ends a running statement, or drops what is being typed; the shell goes on.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/shell/edit-text.h"
#include "client-lib/queryctl/shell/shell-private.h"
#include "client-lib/queryctl/transaction.h"
#include "client-lib/queryctl/verbs.h"

/* An interrupt that came while nothing ran: between two lines it is a signal, and the prompt may be on the screen by then. */
static void
forget_interrupt(QctlShell *self)
{
    if (qctl_line_editor_is_interactive(self->editor) && qctl_session_is_interrupted(self->session))
        qctl_session_resume(self->session);
}

void
qctl_shell_take_code(QctlShell *self, int code)
{
    if (code != QCTL_EXIT_OK)
        self->code = code;
    if (code == QCTL_EXIT_INTERRUPTED && qctl_line_editor_is_interactive(self->editor)) {
        (void) fputs("interrupted\n", stderr);
        qctl_session_resume(self->session);
    }
}

void
qctl_shell_fail(QctlShell *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) fputs("queryctl: ", stderr);
    (void) vfprintf(stderr, format, args);
    (void) fputc('\n', stderr);
    va_end(args);
    self->code = QCTL_EXIT_USAGE;
}

/* Statements ---------------------------------------------------------------------------------------------------------- */

static bool
is_sparql(const QctlShell *self)
{
    return qctl_session_get_language(self->session) == QUERY_LANGUAGE_SPARQL;
}

/* As qctl_span_find(), by the language. */
static bool
find_span(const QctlShell *self, gsize offset, QctlSpan *ret_span)
{
    return is_sparql(self) ? qctl_span_find_sparql(self->text->str, offset, ret_span)
                           : qctl_span_find(self->text->str, offset, ret_span);
}

static void
run_text(QctlShell *self, const char *text)
{
    bool was_once = self->is_once;
    int code = QCTL_EXIT_OK;

    g_free(self->last);
    self->last = g_strdup(text);
    if (!is_sparql(self) || !qctl_print_triples(self->session, text, &code)) {
        g_autoptr(QctlSink) sink = qctl_session_create_sink(self->session);

        code = qctl_run_statement(self->session, sink, text, QCTL_ACCESS_EITHER, NULL);
    }
    qctl_shell_take_code(self, code);
    if (was_once)
        qctl_shell_set_output(self, NULL);
}

/* Into the history, when nothing waits for its end: then it is recalled as it was typed, with all its lines. */
static void
remember(QctlShell *self)
{
    QctlSpan span = { 0 };
    gsize offset = 0;

    while (find_span(self, offset, &span) && span.complete)
        offset = span.next;
    if (find_span(self, offset, &span))
        return;
    qctl_line_editor_remember(self->editor, self->entry->str);
    g_string_truncate(self->entry, 0);
}

/* Runs the statements that have ended, keeps the rest. */
static void
run_finished(QctlShell *self)
{
    QctlSpan span = { 0 };
    gsize done = 0;

    while (find_span(self, done, &span) && span.complete) {
        g_autofree char *statement = g_strndup(self->text->str + span.start, span.end - span.start);

        done = span.next;
        if (span.start < span.end)
            run_text(self, statement);
    }
    g_string_erase(self->text, 0, (gssize) done);
    if (!find_span(self, 0, &span))
        g_string_truncate(self->text, 0);
}

/* Lines --------------------------------------------------------------------------------------------------------------- */

static bool
is_edit(const char *line)
{
    g_autofree char *copy = g_strstrip(g_strdup(line));

    return g_str_equal(copy, "\\e") || g_str_equal(copy, ".edit");
}

static void
take_line(QctlShell *self, const char *line)
{
    bool was_once = self->is_once;

    forget_interrupt(self);
    if (is_edit(line)) {
        qctl_shell_edit(self);
    } else if (self->text->len == 0 && qctl_shell_is_command(line)) {
        qctl_line_editor_remember(self->editor, line);
        qctl_shell_run_command(self, line);
        if (was_once && self->is_once)
            qctl_shell_set_output(self, NULL);
    } else {
        g_string_append(self->text, line);
        g_string_append(self->entry, line);
        remember(self);
        run_finished(self);
    }
}

static void
drop_text(QctlShell *self)
{
    g_string_truncate(self->text, 0);
    g_string_truncate(self->entry, 0);
}

/* Runs the statements of @lines that end, and commands, as if they were typed. */
static void
take_lines(QctlShell *self, const char *lines)
{
    while (*lines != 0 && !self->quit) {
        const char *end = strchr(lines, '\n');
        g_autofree char *line = end != NULL ? g_strndup(lines, (gsize) (end - lines) + 1) : g_strdup_printf("%s\n", lines);

        take_line(self, line);
        lines = end != NULL ? end + 1 : "";
    }
}

void
qctl_shell_edit(QctlShell *self)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *before = self->text->len > 0
                                  ? g_strdup(self->text->str)
                                  : g_strdup_printf("%s%s", self->last != NULL ? self->last : "", self->last != NULL ? ";\n" : "");
    g_autofree char *edited = NULL;

    if (!qctl_line_editor_is_interactive(self->editor)) {
        qctl_shell_fail(self, ".edit needs a terminal");
        return;
    }
    edited = qctl_edit_text(before, is_sparql(self) ? ".rq" : ".sql", &error);
    forget_interrupt(self);
    if (edited == NULL) {
        qctl_shell_fail(self, "the editor: %s", error->message);
        return;
    }
    drop_text(self);
    (void) fputs(edited, stderr);
    take_lines(self, edited);
}

/* The loop ------------------------------------------------------------------------------------------------------------ */

/* A script needs no semicolon at its end, and stops at the first error. */
static void
run_rest(QctlShell *self)
{
    QctlSpan span = { 0 };

    if (qctl_line_editor_is_interactive(self->editor) || !find_span(self, 0, &span) || span.start == span.end)
        return;
    run_text(self, self->text->str + span.start);
}

/* A star says that a transaction is open. */
static const char *
get_prompt(const QctlShell *self)
{
    bool is_open = qctl_session_get_transaction(self->session) != NULL;

    if (self->text->len > 0)
        return is_open ? "...*> " : "...> ";
    if (is_sparql(self))
        return is_open ? "sparql*> " : "sparql> ";
    return is_open ? "sql*> " : "sql> ";
}

/* What a script exits with; on a terminal errors were seen. */
static int
leave(QctlShell *self)
{
    int code = qctl_transaction_leave(self->session, self->code);

    return qctl_line_editor_is_interactive(self->editor) ? QCTL_EXIT_OK : code;
}

/* For a user at a terminal, not for scripts, which would depend on it. */
static void
read_start_file(QctlShell *self)
{
    g_autofree char *path = g_build_filename(g_get_user_config_dir(), "queryd", "queryctlrc", NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    gsize n_bytes = 0;

    if (!g_file_get_contents(path, &text, &n_bytes, &error)) {
        if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
            (void) fprintf(stderr, "queryctl: %s\n", error->message);
        return;
    }
    if (strlen(text) < n_bytes) {
        (void) fprintf(stderr, "queryctl: '%s' is not a text: it has a NUL\n", path);
        return;
    }
    take_lines(self, text);
    if (self->code != QCTL_EXIT_OK || self->text->len > 0)
        (void) fprintf(stderr, "queryctl: '%s' has %s\n", path,
                       self->code != QCTL_EXIT_OK ? "a line that fails" : "a statement without its semicolon");
    self->code = QCTL_EXIT_OK;
    drop_text(self);
}

static void
run_loop(QctlShell *self)
{
    bool interactive = qctl_line_editor_is_interactive(self->editor);

    while (!self->quit) {
        g_autofree char *line = NULL;
        GError *error = NULL;
        QctlLineResult result = qctl_line_editor_read(self->editor, get_prompt(self), &line, &error);

        if (result == QCTL_LINE_END)
            break;
        if (result == QCTL_LINE_FAILED)
            qctl_shell_take_code(self, qctl_session_report(self->session, error, NULL));
        if (result == QCTL_LINE_READ)
            take_line(self, line);
        else
            drop_text(self);
        if (!interactive && self->code != QCTL_EXIT_OK)
            return;
    }
    run_rest(self);
}

static int
run_shell(QctlSession *session)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) entry = g_string_new(NULL);
    QctlShell shell = { .session = session, .text = text, .entry = entry };
    g_autoptr(QctlLineEditor) editor = qctl_line_editor_new(qctl_shell_complete, &shell);

    shell.editor = editor;
    if (qctl_line_editor_is_interactive(editor)) {
        (void) fputs("queryctl " QUERYD_VERSION ": statements end with ';', .help helps, Ctrl-D leaves.\n", stderr);
        if (!qctl_session_get_arguments(session)->no_rc)
            read_start_file(&shell);
    }
    run_loop(&shell);
    g_free(shell.last);
    return leave(&shell);
}

static const QctlOption option_no_rc = { "no-rc", 0, NULL, "do not run the user's queryctlrc first",
                                         .offset = G_STRUCT_OFFSET(QctlArguments, no_rc) };
const QctlVerb qctl_shell_verb = {
    "shell",
    "",
    "type statements and see their results",
    QCTL_OPTIONS(QCTL_BOUND_OPTIONS, &qctl_option_fresh, &qctl_option_timing, QCTL_PRINT_OPTIONS, &qctl_option_sparql,
                 &option_no_rc, &qctl_option_store, &qctl_option_direct),
    .run = run_shell,
};
