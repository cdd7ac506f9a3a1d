/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statements by which a list reads parts of a query's result.
 *
 * Place: internal to libquery-client, room list. It sends nothing.
 * Invariant: the query stands once in each statement, before anything of ours, so that its parameters keep their numbers.
 */
#pragma once

#include "client-lib/list/query-list-row.h"

typedef struct QueryListText QueryListText;

/* What to run: to be given to query_connection_query_async(). */
typedef struct QueryListStatement {
    QueryLanguage language;
    char *text;
    GVariant *parameters; /* (nullable) */
    guint n_extra;        /* columns of ours after those of the query */
} QueryListStatement;

/* Where a window lies. */
typedef struct QueryListPlace {
    const QueryListRow *anchor; /* (nullable): rows after (or before) this one; NULL: from the start (or the end) of the list */
    gboolean is_backward;       /* the rows come in the opposite order; only if the text can seek */
    guint n_skipped;            /* rows between the anchor and the first one */
    guint n_rows;
} QueryListPlace;

/* The rows that are read again, with all that has to be of one snapshot with them. */
typedef struct QueryListSpan {
    const QueryListRow *first; /* (nullable): the span begins with the first row that is not before it; NULL: at n_skipped */
    const QueryListRow *last;  /* (nullable): QUERY_LIST_IS_AFTER says which rows are after it */
    gboolean counts_before;    /* QUERY_LIST_N_BESIDE is of the rows before @first, else of the others */
    guint n_skipped;
    guint n_rows;
} QueryListSpan;

/* The extra columns of a span; without rows there is one whose QUERY_LIST_IS_AFTER is NULL. */
enum { QUERY_LIST_IS_AFTER, QUERY_LIST_N_ROWS, QUERY_LIST_HAS_NULL, QUERY_LIST_N_BESIDE, QUERY_LIST_N_EXTRA };

/* @order: (nullable): names, with " DESC" */
QueryListText *query_list_text_new(QueryLanguage language, const char *text, const char *const *order, const char *key);
void query_list_text_free(QueryListText *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryListText, query_list_text_free)

QueryLanguage query_list_text_get_language(const QueryListText *self);
/* Whether rows can be found by the values of others: it has a key, and one direction. Not where columns hold NULL. */
gboolean query_list_text_can_seek(const QueryListText *self);
/* Whether a row can be an anchor: no NULL, and nothing that a parameter does not carry. */
gboolean query_list_text_is_anchor(const QueryListText *self, const QueryListRow *row);

/* @parameters: (nullable): the application's. Two columns: number of rows; whether order columns hold NULL (SQL). */
void query_list_text_make_count(const QueryListText *self, GVariant *parameters, QueryListStatement *ret);
void query_list_text_make_window(const QueryListText *self, GVariant *parameters, const QueryListPlace *place,
                                 QueryListStatement *ret);
/* SQL only: whether the order of two rows follows from their values. */
gboolean query_list_text_has_place(const QueryListText *self);
/* These are equal in two states of a row. */
gboolean query_list_text_is_same_place(const QueryListText *self, const QueryListRow *row, const QueryListRow *before);
/* SQL only: the rows whose column @key is one of @keys (of GVariant). */
void query_list_text_make_keys(const QueryListText *self, GVariant *parameters, const char *key, const GPtrArray *keys,
                               QueryListStatement *ret);
/* SQL only. */
void query_list_text_make_span(const QueryListText *self, GVariant *parameters, const QueryListSpan *span, QueryListStatement *ret);
/* Two columns: the value of @column, and the number of its rows, in the order of the list. */
void query_list_text_make_sections(const QueryListText *self, GVariant *parameters, const char *column, QueryListStatement *ret);
void query_list_statement_clear(QueryListStatement *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QueryListStatement, query_list_statement_clear)
