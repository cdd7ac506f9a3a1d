/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line of queryctl: one table of verbs and one of options serve parsing, --help and the completions' test.
 *
 * Place: layer B. Invariant: after qctl_arguments_parse() every value has been checked; verbs only read.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum QctlVerb {
    QCTL_VERB_SQL,
    QCTL_VERB_SPARQL,
    QCTL_VERB_UPDATE,
    QCTL_VERB_IMPORT,
    QCTL_VERB_EXPORT,
    QCTL_VERB_EXPLAIN,
    QCTL_VERB_SHELL,
    QCTL_VERB_LS,
    QCTL_VERB_PREFIXES,
    QCTL_VERB_STATS,
    QCTL_VERB_STATUS,
    QCTL_VERB_CANCEL,
    QCTL_VERB_BACKUP,
    QCTL_VERB_RESTORE,
    QCTL_VERB_CHECK,
    QCTL_VERB_OPTIMIZE,
    QCTL_VERB_FULLTEXT,
    QCTL_VERB_PAYLOAD,
    QCTL_VERB_STORE,
    QCTL_VERB_WATCH,
} QctlVerb;

#define QCTL_N_VERBS (QCTL_VERB_WATCH + 1)

typedef enum QctlFormat {
    QCTL_FORMAT_AUTO, /* table on a terminal, else tsv */
    QCTL_FORMAT_TABLE,
    QCTL_FORMAT_TSV,
    QCTL_FORMAT_CSV,
    QCTL_FORMAT_JSON,
    QCTL_FORMAT_JSONL,
    QCTL_FORMAT_MARKDOWN,
    QCTL_FORMAT_REMOTE, /* one that only the daemon writes: SPARQL results and RDF */
} QctlFormat;

#define QCTL_N_FORMATS (QCTL_FORMAT_REMOTE + 1)

/* Exit codes; docs/man/queryctl.1.scd. */
enum {
    QCTL_EXIT_OK = 0,
    QCTL_EXIT_QUERY = 1,
    QCTL_EXIT_USAGE = 2,
    QCTL_EXIT_NO_DAEMON = 3,
    QCTL_EXIT_TIMEOUT = 4,
    QCTL_EXIT_DENIED = 5,
    QCTL_EXIT_INTERRUPTED = 130,
};

typedef struct QctlParameter {
    char *name;
    char *text;
    bool is_text; /* given by --param-text: no guess */
} QctlParameter;

typedef struct QctlArguments {
    QctlVerb verb;
    bool help;
    bool version;
    GPtrArray *words;   /* of char*: what is neither verb nor option */
    GArray *parameters; /* of QctlParameter */
    QctlFormat format;
    const char *remote_format; /* (nullable): REMOTE: its name */
    char *file;
    char *output;
    char *null_text;     /* (nullable) */
    char *store;         /* (nullable) */
    char *direct;        /* (nullable): a database file */
    char *table;         /* (nullable) */
    char *graph;         /* (nullable) IRI */
    char *base;          /* (nullable) IRI */
    char *media_type;    /* (nullable) */
    guint64 max_rows;    /* 0: not given */
    gint64 timeout_msec; /* -1: not given; 0: none */
    bool timing;
    bool watch;
    bool sparql;      /* statements are SPARQL */
    bool transaction; /* all statements are one */
    bool no_header;
    bool no_pager;
    bool create;
    bool replace;
    bool check_only;
    bool full;
    bool warm;
    bool all;
    char *tokenizer; /* (nullable) */
    bool openmetrics;
} QctlArguments;

/**
 * qctl_arguments_parse:
 * @argv: the program's arguments, the first one is its name
 * @error: (nullable): location for an error, whose message says what to do
 *
 * Options stand in any order, also before the verb; "--" ends them.
 *
 * Returns: (transfer full) (nullable): the arguments; NULL with an error of G_OPTION_ERROR
 */
QctlArguments *qctl_arguments_parse(int argc, const char *const *argv, GError **error);
QctlArguments *qctl_arguments_free(QctlArguments *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlArguments, qctl_arguments_free)

/* qctl_arguments_get_help: the text of --help, without the program's version. (transfer full) */
char *qctl_arguments_get_help(void);

/* The name of a verb, of a format. */
const char *qctl_verb_get_name(QctlVerb verb);
const char *qctl_format_get_name(QctlFormat format);

/* One that RDF is imported from and exported to. */
bool qctl_format_is_rdf(const char *name);

/* false when no format of queryctl's own has this name; "auto" is none. */
bool qctl_format_from_name(const char *name, QctlFormat *ret_format);
