/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan: language, text and options of a statement.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-message.h"

typedef enum QueryPlanAccess {
    QUERY_PLAN_READS,
    QUERY_PLAN_WRITES,
    QUERY_PLAN_WRITES_RELAXED, /* answered before it is durable */
} QueryPlanAccess;

/* The text of a plan that only opens a channel: for a request without a statement, which may be the first of its connection. */
#define QUERY_PLAN_ANY_TEXT "SELECT 1"

/* What is asked for; shared by all executions of a statement, immutable, from any thread. */
typedef struct QueryPlan {
    gint ref_count; /* atomic */
    char *language;
    char *text;
    gboolean writes;
    gboolean relaxed;
    gint64 timeout_msec; /* -1: the daemon's default */
    guint64 max_rows;    /* 0: the daemon's default */
    GBytes *key;         /* the body of PREPARE */
    guint n_options;     /* count of PREPARE's header */
} QueryPlan;

QueryPlan *query_plan_new(const char *language, const char *text, QueryPlanAccess access, gint64 timeout_msec, guint64 max_rows);
QueryPlan *query_plan_ref(QueryPlan *self);
void query_plan_unref(QueryPlan *self);
/* Writes its options as PREPARE and BATCH have them, plan->n_options pairs; returns their number. */
guint query_plan_put_options(const QueryPlan *self, QwBodyWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryPlan, query_plan_unref)
