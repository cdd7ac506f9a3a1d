/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads lines for the shell: with editing, history and completion on a terminal, plain ones otherwise.
 *
 * Place: layer B; the only user of libedit.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct QctlLineEditor QctlLineEditor;

/**
 * QctlCompleteFunc:
 * @line: the whole line
 * @cursor: where in it the next character would go
 * @ret_start: (out): where the word begins that is being typed, at most @cursor
 *
 * Returns: (transfer full): the words that may stand there, ended by NULL
 */
typedef char **(*QctlCompleteFunc)(const char *line, gsize cursor, gsize *ret_start, gpointer user_data);

typedef enum QctlLineResult {
    QCTL_LINE_READ,
    QCTL_LINE_INTERRUPTED, /* Ctrl-C: what was typed is dropped */
    QCTL_LINE_END,
    QCTL_LINE_FAILED,
} QctlLineResult;

/* Loads the history. (transfer full) */
QctlLineEditor *qctl_line_editor_new(QctlCompleteFunc complete, gpointer user_data);

/* Restores the terminal. */
QctlLineEditor *qctl_line_editor_free(QctlLineEditor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlLineEditor, qctl_line_editor_free)

/* On a terminal: prompts, edits, remembers. */
bool qctl_line_editor_is_interactive(const QctlLineEditor *self);

/**
 * qctl_line_editor_read:
 * @prompt: what stands before the line
 * @ret_line: (out) (transfer full): the line, with its newline if it has one
 * @error: (nullable): location for an error; set for FAILED only: the input cannot be read, or the line has a NUL
 */
QctlLineResult qctl_line_editor_read(QctlLineEditor *self, const char *prompt, char **ret_line, GError **error);

/* Puts @text, which may have several lines, into the history, and saves that: a shell may end by a closed terminal. */
void qctl_line_editor_remember(QctlLineEditor *self, const char *text);
