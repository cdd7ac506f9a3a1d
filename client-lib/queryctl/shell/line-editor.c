/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libedit. While a line is edited Ctrl-C is a key and no signal, so that no handler has to jump out of the editor.
 */
#include "client-lib/queryctl/shell/line-editor.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <histedit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HISTORY_ENTRIES 1000

struct QctlLineEditor {
    EditLine *edit;   /* (nullable): not on a terminal */
    History *history; /* (nullable) */
    char *history_path;
    QctlCompleteFunc complete;
    gpointer user_data;
    const char *prompt;
    bool interrupted;
};

static QctlLineEditor *
get_self(EditLine *edit)
{
    void *self = NULL;

    (void) el_get(edit, EL_CLIENTDATA, &self);
    return self;
}

static char *
get_prompt(EditLine *edit)
{
    return (char *) get_self(edit)->prompt;
}

static unsigned char
handle_interrupt(EditLine *edit, int c)
{
    get_self(edit)->interrupted = true;
    return CC_EOF;
}

static size_t
get_common_bytes(char **words)
{
    size_t n = strlen(words[0]);

    for (guint i = 1; words[i] != NULL; i++) {
        size_t same = 0;

        while (same < n && words[i][same] == words[0][same])
            same++;
        n = same;
    }
    return n;
}

/* Inserts what all candidates share, or lists them. */
static unsigned char
handle_complete(EditLine *edit, int c)
{
    QctlLineEditor *self = get_self(edit);
    const LineInfo *info = el_line(edit);
    gsize cursor = (gsize) (info->cursor - info->buffer);
    g_autofree char *line = g_strndup(info->buffer, (gsize) (info->lastchar - info->buffer));
    gsize start = cursor;
    g_auto(GStrv) words = self->complete(line, cursor, &start, self->user_data);
    gsize n_typed = cursor - start;
    gsize n_common = 0;

    if (words == NULL || words[0] == NULL)
        return CC_ERROR;

    n_common = get_common_bytes(words);
    if (n_common > n_typed || words[1] == NULL) {
        bool is_whole = words[1] == NULL && strchr(":./", words[0][n_common - 1]) == NULL;
        g_autofree char *missing = g_strdup_printf("%.*s%s", (int) (n_common - n_typed), words[0] + n_typed, is_whole ? " " : "");

        return el_insertstr(edit, missing) < 0 ? CC_ERROR : CC_REFRESH;
    }
    (void) putchar('\n');
    for (guint i = 0; words[i] != NULL; i++)
        (void) printf("%s%s", i > 0 ? "  " : "", words[i]);
    (void) putchar('\n');
    (void) fflush(stdout);
    return CC_REDISPLAY;
}

static void
start_editing(QctlLineEditor *self)
{
    g_autofree char *directory = g_build_filename(g_get_user_state_dir(), "queryd", NULL);
    HistEvent event;

    self->edit = el_init("queryctl", stdin, stdout, stderr);
    if (self->edit == NULL)
        return;

    (void) el_set(self->edit, EL_CLIENTDATA, self);
    (void) el_set(self->edit, EL_PROMPT, get_prompt);
    (void) el_set(self->edit, EL_EDITOR, "emacs");
    (void) el_set(self->edit, EL_SETTY, "-d", "-isig", NULL);
    (void) el_set(self->edit, EL_ADDFN, "queryctl-interrupt", "Drop the line", handle_interrupt);
    (void) el_set(self->edit, EL_ADDFN, "queryctl-complete", "Complete a name", handle_complete);
    (void) el_set(self->edit, EL_BIND, "^C", "queryctl-interrupt", NULL);
    (void) el_set(self->edit, EL_BIND, "^I", "queryctl-complete", NULL);
    (void) el_set(self->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);

    self->history = history_init();
    if (self->history != NULL) {
        (void) history(self->history, &event, H_SETSIZE, HISTORY_ENTRIES);
        (void) history(self->history, &event, H_SETUNIQUE, 1);
        (void) el_set(self->edit, EL_HIST, history, self->history);
        if (g_mkdir_with_parents(directory, 0700) == 0) {
            self->history_path = g_build_filename(directory, "history", NULL);
            (void) history(self->history, &event, H_LOAD, self->history_path);
        }
    }
    (void) el_source(self->edit, NULL);
}

QctlLineEditor *
qctl_line_editor_new(QctlCompleteFunc complete, gpointer user_data)
{
    QctlLineEditor *self = g_new0(QctlLineEditor, 1);

    self->complete = complete;
    self->user_data = user_data;
    self->prompt = "";
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        start_editing(self);
    return self;
}

QctlLineEditor *
qctl_line_editor_free(QctlLineEditor *self)
{
    if (self == NULL)
        return NULL;

    if (self->history != NULL)
        history_end(self->history);
    if (self->edit != NULL)
        el_end(self->edit);
    g_free(self->history_path);
    g_free(self);
    return NULL;
}

bool
qctl_line_editor_is_interactive(const QctlLineEditor *self)
{
    return self->edit != NULL;
}

void
qctl_line_editor_remember(QctlLineEditor *self, const char *text)
{
    g_autofree char *entry = g_strstrip(g_strdup(text));
    HistEvent event;

    if (self->history == NULL || entry[0] == 0)
        return;

    (void) history(self->history, &event, H_ENTER, entry);
    if (self->history_path == NULL || history(self->history, &event, H_SAVE, self->history_path) < 0)
        return;
    (void) g_chmod(self->history_path, 0600);
}

/* @line: of @n bytes */
static QctlLineResult
take_line(const char *line, size_t n, char **ret_line, GError **error)
{
    if (memchr(line, 0, n) != NULL) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "standard input is not a text: it has a NUL");
        return QCTL_LINE_FAILED;
    }
    *ret_line = g_strndup(line, n);
    return QCTL_LINE_READ;
}

static QctlLineResult
read_plain(char **ret_line, GError **error)
{
    QctlLineResult result = QCTL_LINE_END;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;

    errno = 0;
    n = getline(&line, &size, stdin);
    if (n >= 0) {
        result = take_line(line, (size_t) n, ret_line, error);
    } else if (ferror(stdin)) {
        g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno), "cannot read standard input: %s", g_strerror(errno));
        result = QCTL_LINE_FAILED;
    }
    free(line);
    return result;
}

QctlLineResult
qctl_line_editor_read(QctlLineEditor *self, const char *prompt, char **ret_line, GError **error)
{
    const char *line = NULL;
    int n = 0;

    if (self->edit == NULL)
        return read_plain(ret_line, error);

    self->prompt = prompt;
    self->interrupted = false;
    line = el_gets(self->edit, &n);
    if (self->interrupted) {
        (void) fputs("^C\n", stdout);
        el_reset(self->edit);
        return QCTL_LINE_INTERRUPTED;
    }
    if (line == NULL || n <= 0) {
        (void) fputs("\n", stdout);
        return QCTL_LINE_END;
    }

    return take_line(line, (size_t) n, ret_line, error);
}
