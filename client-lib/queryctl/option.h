/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An option of the command line: how it is spelled, what it is for, where its value goes. Verbs name the options that they take.
 *
 * Place: layer B.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct QctlArguments QctlArguments;
typedef struct QctlOption QctlOption;

/* What may be typed for a value, or for a word of a verb: for completion. */
typedef enum QctlValues {
    QCTL_VALUES_ANY,
    QCTL_VALUES_FILES,
    QCTL_VALUES_TABLES,
    QCTL_VALUES_STORES,
    QCTL_VALUES_FORMATS,
    QCTL_VALUES_TOKENIZERS,
    QCTL_VALUES_COMMANDS, /* of the shell */
} QctlValues;

struct QctlOption {
    const char *name;
    char letter;
    const char *argument; /* (nullable): a switch */
    const char *help;
    QctlValues values;
    gsize offset; /* of its field in QctlArguments: bool of a switch, char * of others */
    bool (*set)(QctlArguments *arguments, const QctlOption *self, const char *value, GError **error); /* (nullable) instead */
};

/* Those of several verbs. */
extern const QctlOption qctl_option_format, qctl_option_null, qctl_option_no_header, qctl_option_no_pager;
extern const QctlOption qctl_option_param, qctl_option_param_text, qctl_option_file, qctl_option_max_rows, qctl_option_timeout;
extern const QctlOption qctl_option_fresh, qctl_option_timing, qctl_option_watch, qctl_option_sparql, qctl_option_graph,
    qctl_option_check_only;
extern const QctlOption qctl_option_store, qctl_option_direct, qctl_option_help, qctl_option_version;
extern const QctlOption qctl_option_remote, qctl_option_update_url, qctl_option_token_file, qctl_option_netrc;

#define QCTL_COMMON_OPTIONS &qctl_option_help, &qctl_option_version
#define QCTL_PRINT_OPTIONS &qctl_option_format, &qctl_option_null, &qctl_option_no_header, &qctl_option_no_pager
#define QCTL_BOUND_OPTIONS &qctl_option_max_rows, &qctl_option_timeout
#define QCTL_REMOTE_OPTIONS &qctl_option_remote, &qctl_option_update_url, &qctl_option_token_file, &qctl_option_netrc
#define QCTL_STATEMENT_OPTIONS                                                                                                   \
    &qctl_option_param, &qctl_option_param_text, &qctl_option_file, QCTL_BOUND_OPTIONS, &qctl_option_fresh, &qctl_option_timing, \
        QCTL_PRINT_OPTIONS

/* Takes @value (nullable): of a switch. false with an error of G_OPTION_ERROR */
bool qctl_option_set(const QctlOption *self, QctlArguments *arguments, const char *value, GError **error);

/* A name that can be the last element of a bus name and an instance of a unit. */
bool qctl_is_store_name(const char *name);

typedef enum QctlFormat {
    QCTL_FORMAT_AUTO, /* table on a terminal, else tsv */
    QCTL_FORMAT_TABLE,
    QCTL_FORMAT_TSV,
    QCTL_FORMAT_CSV,
    QCTL_FORMAT_JSON,
    QCTL_FORMAT_JSONL,
    QCTL_FORMAT_MARKDOWN,
    QCTL_FORMAT_LINE,   /* a value on each line, after its column's name */
    QCTL_FORMAT_REMOTE, /* one that only the daemon writes: SPARQL results and RDF */
} QctlFormat;

#define QCTL_N_FORMATS (QCTL_FORMAT_REMOTE + 1)

/* The name of a format of queryctl's own. */
const char *qctl_format_get_name(QctlFormat format);

/* false when no format of queryctl's own has this name; "auto" is none. */
bool qctl_format_from_name(const char *name, QctlFormat *ret_format);

/* Readable, but not exact: no program reads it back. */
bool qctl_format_is_for_eyes(QctlFormat format);

/* The name of the format for which a file's name ends as @file does; (nullable): there is none. */
const char *qctl_format_guess(const char *file);

/* One that RDF is imported from and exported to. */
bool qctl_format_is_rdf(const char *name);
/* One that is not for a terminal. */
bool qctl_format_is_binary(const char *name);

/* (transfer none): the names of all formats, ended by NULL. */
const char *const *qctl_format_list(void);
