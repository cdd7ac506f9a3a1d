/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds where a statement ends, for scripts and the shell. The daemon takes one statement a call.
 *
 * Place: layer B. Knows strings, quoted names, comments, the bodies of triggers and what controls transactions, nothing else of
 * SQL; of SPARQL strings, IRIs, comments and brackets.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether words of SQL, which need no quotes, have @c. */
bool qctl_is_of_word(char c);
/* Where the string, quoted name, comment or word that @text begins with ends, or its first character. A string with a doubled quote
 * is two. */
const char *qctl_token_skip(const char *text);

typedef struct QctlSpan {
    gsize start;   /* of the statement, after white space and comments */
    gsize end;     /* of the statement, before its semicolon */
    gsize next;    /* after the semicolon */
    bool complete; /* there was a semicolon */
    bool is_open;  /* the text ends within a string, a quoted name or a comment */
} QctlSpan;

/**
 * qctl_span_find:
 * @text: the text to read
 * @offset: where to begin
 * @ret_span: (out): the next statement; empty (start == end) between two semicolons
 *
 * Returns: false when nothing but white space and comments is left
 */
bool qctl_span_find(const char *text, gsize offset, QctlSpan *ret_span);

/**
 * qctl_span_find_sparql:
 *
 * As qctl_span_find(), for the shell. In SPARQL semicolons stand between the operations of a request, too. So a request ends with
 * one that is the last of its line, with no bracket open; comments may follow it there.
 */
bool qctl_span_find_sparql(const char *text, gsize offset, QctlSpan *ret_span);

/* Whether the statement @text has the parameter @name, with or without its ':', '@', '$' or '?'; in SPARQL it is $name. */
bool qctl_text_has_parameter(const char *text, bool is_sparql, const char *name);

/* What a statement does with a transaction, or with the settings of a session (docs/transactions.md). */
typedef enum QctlControl {
    QCTL_CONTROL_NONE,
    QCTL_CONTROL_BEGIN,
    QCTL_CONTROL_COMMIT, /* END, too */
    QCTL_CONTROL_ROLLBACK,
    QCTL_CONTROL_SAVEPOINT, /* and RELEASE, ROLLBACK TO */
    QCTL_CONTROL_SETTING,   /* PRAGMA foreign_keys = OFF and the like */
    QCTL_CONTROL_DEFERRING, /* PRAGMA defer_foreign_keys = ON: until the next COMMIT */
    QCTL_CONTROL_ASKING,    /* PRAGMA foreign_keys, and what reads pragma_foreign_keys */
} QctlControl;

/* qctl_control_find: what @statement, a single one, does. NONE, too, for what SQLite has no such statement for: the daemon says
 * what is wrong. */
QctlControl qctl_control_find(const char *statement);
