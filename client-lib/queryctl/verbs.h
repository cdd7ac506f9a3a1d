/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verbs: what each is called, which options and words it takes, and what it does. The file of a verb defines its row.
 *
 * Place: layer B. Parsing, --help and completion read the rows. A verb does its work, reports its errors, and returns the exit
 * code.
 */
#pragma once

#include "client-lib/queryctl/session.h"

/* The formats that only the daemon writes. */
typedef enum QctlRemoteFormats {
    QCTL_REMOTE_NONE,
    QCTL_REMOTE_RDF,
    QCTL_REMOTE_PLAIN, /* of a statement without parameters, once */
    QCTL_REMOTE_ALL,
} QctlRemoteFormats;

struct QctlVerb {
    const char *name;
    const char *arguments; /* as the usage has them */
    const char *help;
    const QctlOption *const *options; /* ended by NULL; --help and --version are of all */
    guint n_words_min;
    guint n_words_max;
    bool reads_statements; /* its word is a statement, of which --file takes the place */
    QctlRemoteFormats remote_formats;
    const char *const *actions; /* (nullable): what the first word may be, ended by NULL */
    QctlValues values;          /* of the other words */
    const char *read_only_hint; /* (nullable): printed after the error for a statement that writes */
    /* (nullable): before the words are counted: what the verb itself says, or its first word */
    void (*prepare)(QctlArguments *arguments);
    /* (nullable): the words and options together. false with an error of G_OPTION_ERROR */
    bool (*check)(const QctlArguments *arguments, GError **error);
    int (*run)(QctlSession *session);
};

#define QCTL_OPTIONS(...) ((const QctlOption *const[]){ __VA_ARGS__, NULL })
#define QCTL_ACTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* (transfer none): all verbs in the order of --help, ended by NULL. */
const QctlVerb *const *qctl_verbs_list(void);

extern const QctlVerb qctl_sql_verb, qctl_sparql_verb, qctl_update_verb, qctl_explain_verb;                    /* verb-sql.c */
extern const QctlVerb qctl_watch_verb;                                                                         /* verb-watch.c */
extern const QctlVerb qctl_import_verb, qctl_export_verb, qctl_dump_verb, qctl_backup_verb, qctl_restore_verb; /* transfer/ */
extern const QctlVerb qctl_ls_verb, qctl_prefixes_verb, qctl_stats_verb, qctl_status_verb;                     /* verb-manage.c */
extern const QctlVerb qctl_cancel_verb, qctl_check_verb, qctl_optimize_verb;
extern const QctlVerb qctl_fulltext_verb; /* verb-fulltext.c */
extern const QctlVerb qctl_payload_verb;  /* verb-payload.c */
extern const QctlVerb qctl_store_verb;    /* verb-store.c */
extern const QctlVerb qctl_shell_verb;    /* shell/shell.c */
extern const QctlVerb qctl_web_verb;      /* verb-web.c */

/* For sql and sparql with --watch: one statement. */
int qctl_watch(QctlSession *session, const char *text);

/* For sparql: the daemon writes the result of @query to @fd, in a format that only it knows. */
bool qctl_export(QctlSession *session, int fd, const char *query, const char *format, GError **error);

/**
 * qctl_print_triples:
 * @text: a SPARQL query
 * @ret_code: (out): when true is returned, the exit code
 *
 * For sparql and the shell. Prints the daemon's warnings about @text to standard error, and its triples as Turtle, if it gives
 * triples and no format was chosen.
 *
 * Returns: false when it is left to the caller to run it: it gives rows or writes
 */
bool qctl_print_triples(QctlSession *session, const char *text, int *ret_code);

/* For the shell: the tables whose names match the GLOB @pattern (nullable), as `ls` prints them. */
int qctl_list_tables(QctlSession *session, QctlSink *sink, const char *pattern);
