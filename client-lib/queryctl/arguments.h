/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line of queryctl: a verb, its options and its words.
 *
 * Place: layer B. Invariant: after qctl_arguments_parse() every value has been checked; verbs only read.
 */
#pragma once

#include "client-lib/queryctl/option.h"

typedef struct QctlVerb QctlVerb;

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
    bool is_text;     /* given by --param-text: no guess */
    bool is_optional; /* kept by the shell: for the statements that have it */
} QctlParameter;

/* How results are shown. */
typedef struct QctlOutputOptions {
    QctlFormat format;
    const char *remote_format; /* (nullable): REMOTE: its name */
    char *file;                /* (nullable): instead of standard output */
    char *null_text;           /* (nullable) */
    bool timing;
    bool no_header;
    bool no_pager;
    bool no_browser;
    bool openmetrics;
} QctlOutputOptions;

/* Where rows and quads go that are read, and how they are read. */
typedef struct QctlTransferOptions {
    char *table;     /* (nullable) */
    char *delimiter; /* (nullable): of csv, one character */
    char *encoding;  /* (nullable): of the file */
    char *types;     /* (nullable): NAME=TYPE,… or "none" */
    char *rdf_terms; /* (nullable): "text" or "struct"; the daemon checks it */
    char *graph;     /* (nullable) IRI */
    char *base;      /* (nullable) IRI */
    bool create;     /* makes the table */
} QctlTransferOptions;

/* What is asked instead of a daemon. */
typedef struct QctlPlace {
    char *direct;     /* (nullable): a database file */
    char *remote;     /* (nullable): the URL of an endpoint; the rest is of it */
    char *update_url; /* (nullable) */
    char *token_file; /* (nullable) */
    char *netrc;      /* (nullable) */
    char *socket;     /* (nullable): of queryd-http */
} QctlPlace;

struct QctlArguments {
    const QctlVerb *verb;
    bool help;
    bool version;
    GPtrArray *words;   /* of char*: what is neither verb nor option */
    GArray *parameters; /* of QctlParameter */
    char *file;
    QctlOutputOptions output;
    char *store; /* (nullable) */
    QctlPlace place;
    QctlTransferOptions transfer;
    char *media_type;    /* (nullable) */
    guint64 max_rows;    /* 0: not given */
    gint64 timeout_msec; /* -1: not given; 0: none */
    bool watch;
    bool sparql;      /* statements are SPARQL */
    bool transaction; /* all statements are one */
    bool replace;
    bool check_only;
    bool full;
    bool warm;
    bool all;
    bool deletes;
    bool no_rc;
    bool fresh;      /* no remembered results */
    char *tokenizer; /* (nullable) */
};

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

/* The text of --help: of @verb, or of all (NULL), without the program's version. (transfer full) */
char *qctl_arguments_get_help(const QctlVerb *verb);

/* (nullable): the verb, the option of any verb, with this name. */
const QctlVerb *qctl_arguments_find_verb(const char *name);
/* @word begins with '-'; what stands after '=' or the letter is its value. */
const QctlOption *qctl_arguments_find_option(const char *word);
/* A statement may begin with a comment: "-- " is no option. */
bool qctl_arguments_is_option(const char *word);
/* All options of @verb, or of all verbs (NULL), each once. (transfer container): of const QctlOption* */
GPtrArray *qctl_arguments_list_options(const QctlVerb *verb);

/* Sets the error that tells the usage of the verb of @self. Returns: false */
bool qctl_arguments_refuse(const QctlArguments *self, GError **error);
