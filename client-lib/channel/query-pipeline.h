/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates of one statement under way on one channel: each goes out without waiting for the answer to the one before.
 *
 * Place: internal to libquery-client, between QueryStatement and its channel. What is pushed in one turn of the main loop leaves
 * in one send; what has come is read in one.
 * Invariant: it lives as long as something is under way; then the channel goes to `ended`, or is closed when it has failed.
 */
#pragma once

#include <gio/gio.h>

#include "client-lib/channel/query-channel.h"
#include "client-lib/wire/wire-message.h"

typedef struct QueryPipeline QueryPipeline;

typedef struct QueryPipelineFuncs {
    /* An update has succeeded; returns the result of @task. */
    void (*done)(GTask *task, const QwEnd *end);
    /* Nothing is under way; the pipeline is gone. @channel: (transfer full) (nullable): idle */
    void (*ended)(gpointer user_data, QueryChannel *channel);
    gpointer user_data; /* lives as long as a task does */
} QueryPipelineFuncs;

/* @channel: (transfer full): idle, with the statement prepared. In the thread-default main context of the caller. */
QueryPipeline *query_pipeline_new(QueryChannel *channel, const QueryPipelineFuncs *funcs);

/* Whether it takes more, and @task completes in the context in which the answers are read. */
gboolean query_pipeline_fits(const QueryPipeline *self, GTask *task);

/**
 * query_pipeline_push:
 * @row: the body of FETCH
 * @n_rows: its count
 * @task: (transfer full): without a cancellable; ended when the answer has come
 */
void query_pipeline_push(QueryPipeline *self, GBytes *row, guint n_rows, GTask *task);
