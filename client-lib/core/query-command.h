/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command: language, text and options of a statement.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-message.h"

typedef enum QueryCommandAccess {
    QUERY_COMMAND_READS,
    QUERY_COMMAND_READS_FRESH, /* not what is remembered of an earlier execution */
    QUERY_COMMAND_WRITES,
    QUERY_COMMAND_WRITES_RELAXED, /* answered before it is durable */
} QueryCommandAccess;

/* The text of a command that only opens a channel: for a request without a statement, which may be the first of its connection. */
#define QUERY_COMMAND_ANY_TEXT "SELECT 1"

/* What is asked for; shared by all executions of a statement, immutable, from any thread. */
typedef struct QueryCommand {
    gint ref_count; /* atomic */
    char *language;
    char *text;
    gboolean writes;
    gboolean relaxed;
    gboolean fresh;
    gint64 timeout_msec; /* -1: the daemon's default */
    guint64 max_rows;    /* 0: the daemon's default */
    char *base;          /* (nullable) */
    char *dataset;       /* (nullable): FROM clauses instead of those of the text */
    GBytes *key;         /* the body of PREPARE */
    guint n_options;     /* count of PREPARE's header */
} QueryCommand;

QueryCommand *query_command_new(const char *language, const char *text, QueryCommandAccess access, gint64 timeout_msec,
                                guint64 max_rows, const char *base, const char *dataset);
#pragma GCC visibility push(default) /* for the library's module, as query-client.map says */
QueryCommand *query_command_ref(QueryCommand *self);
void query_command_unref(QueryCommand *self);
#pragma GCC visibility pop
/* Of what query_connection_set_timeout_msec() was given: -1: the daemon's default; 0: none */
gint64 query_command_get_timeout(guint timeout_msec);
/* For how long its answer is waited for: its own deadline and some time more. 0: for ever, without one of its own */
gint64 query_command_get_patience_msec(const QueryCommand *self);

/**
 * query_command_make_dataset:
 * @default_graphs: (nullable): IRIs
 * @named_graphs: (nullable): IRIs
 *
 * Errors: BAD_PARAMETER for what cannot stand between '<' and '>' in SPARQL.
 *
 * Returns: (transfer full) (nullable): FROM clauses, "" for no graphs; NULL with @error
 */
char *query_command_make_dataset(const char *const *default_graphs, const char *const *named_graphs, GError **error);
/* Writes its options as PREPARE and BATCH have them, command->n_options pairs; returns their number. */
guint query_command_put_options(const QueryCommand *self, QwBodyWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryCommand, query_command_unref)
