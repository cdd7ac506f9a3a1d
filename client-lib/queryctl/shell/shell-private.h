/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell of queryctl between its loop (shell.c), its commands and its completion.
 *
 * Place: layer B, within client-lib/queryctl/shell. Invariant: @text holds no statement that has ended, but while it is run.
 */
#pragma once

#include "client-lib/queryctl/session.h"
#include "client-lib/queryctl/shell/line-editor.h"

typedef struct QctlShell {
    QctlSession *session;
    QctlLineEditor *editor;
    GString *text;  /* of a statement that has not ended */
    GString *entry; /* the lines with it, for the history */
    char *last;     /* (nullable): the statement before, for .edit */
    int code;       /* of the last thing that failed; what a script exits with */
    bool quit;      /* after this line */
    bool is_once;   /* the output is that of one statement or command */
} QctlShell;

typedef struct QctlCommand {
    const char *name;
    const char *argument;
    const char *help;
    void (*run)(QctlShell *self, const char *argument); /* @argument: (nullable) */
    QctlValues values;                                  /* of its argument, for completion */
    const char *more;                                   /* (nullable): for .help NAME */
} QctlCommand;

/* The commands -------------------------------------------------------------------------------------------------------- */

/* All of them, ended by one without a name. */
const QctlCommand *qctl_shell_list_commands(void);

/* A line that is a command, not the beginning of a statement. "help", "quit" and "exit" are known without their dot. */
bool qctl_shell_is_command(const char *line);
void qctl_shell_run_command(QctlShell *self, const char *line);

/* Sends results to @name, or (NULL) to standard output. */
void qctl_shell_set_output(QctlShell *self, const char *name);

/* Completion ---------------------------------------------------------------------------------------------------------- */

/* A QctlCompleteFunc; @user_data is the QctlShell. */
char **qctl_shell_complete(const char *line, gsize cursor, gsize *ret_start, gpointer user_data);

/* The loop ------------------------------------------------------------------------------------------------------------ */

/* Opens what is being typed, or else the last statement, in the user's editor, and takes what comes back. */
void qctl_shell_edit(QctlShell *self);

/* Remembers what a script would exit with; on a terminal an interrupt ends what ran, not the shell. */
void qctl_shell_take_code(QctlShell *self, int code);

/* A command that is wrong. */
void qctl_shell_fail(QctlShell *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
