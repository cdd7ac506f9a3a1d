/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of QueryListModel.
 *
 * Place: internal to libquery-client, room list. query-list-edit.c changes the list, query-list-load.c decides what is read next.
 * After commits query-list-news.c reads rows that have changed, or query-list-refresh.c reads everything again.
 * query-list-sections.c has the sections, query-list-model.c the public functions.
 *
 * Invariant: while a signal is emitted, number of rows, windows and held rows agree. A handler may call anything: after each
 * signal `epoch` says whether the list has another query now.
 */
#pragma once

#include "client-lib/list/query-list-fetch.h"
#include "client-lib/list/query-list-windows.h"
#include "client-lib/list/query-row-private.h"

/* Rows of a window. */
#define QUERY_LIST_WINDOW_ROWS 256u
/* What windows take at most that no row is held of. */
#define QUERY_LIST_CACHE_BYTES (2u * 1024u * 1024u)

typedef enum QueryListState {
    QUERY_LIST_EMPTY,   /* no query, or it has failed before its first row */
    QUERY_LIST_OPENING, /* the first rows are under way; what is shown is of the query before */
    QUERY_LIST_READY,
} QueryListState;

/* The query that is shown or about to be. */
typedef struct QueryListQuery {
    QueryLanguage language;
    char *statement;      /* (nullable) */
    GVariant *parameters; /* (nullable) */
    char **order;         /* (nullable) */
    char *key;            /* (nullable) */
    QueryListText *text;  /* (nullable) */
    gboolean has_null;    /* in columns of the order, or not known yet */
    gboolean is_short;    /* a window had too few rows, which was looked after */
} QueryListQuery;

/* What is done, and when. */
typedef struct QueryListWork {
    GCancellable *cancellable; /* (nullable): of all that is under way */
    gboolean is_reading;       /* a window, or a refresh */
    gboolean is_counting;      /* the number of rows is still to come */
    gboolean wants_refresh;
    gboolean wants_rows;    /* rows were asked for since it was last looked for more */
    GSource *idle;          /* (nullable) */
    GSource *timer;         /* (nullable): for a refresh, or to try again */
    GPtrArray *rest;        /* (nullable): of the first rows those that are not in the list yet */
    GSource *paint;         /* (nullable): when they come */
    gint64 not_before_usec; /* when the next refresh may begin */
    gint64 began_usec;      /* the one under way */
    guint last_asked;       /* position */
    gboolean is_moving_up;  /* towards the start of the list */
    guint n_failures;       /* in a row */
} QueryListWork;

typedef struct QueryListSection {
    guint start;
    char *title; /* (nullable) */
} QueryListSection;

typedef struct QueryListSections {
    char *column;  /* (nullable) */
    GArray *found; /* (nullable) of QueryListSection */
    gboolean is_reading;
    gboolean is_asked; /* the application has looked at them */
} QueryListSections;

/* What commits have changed that the list has not read again. */
typedef struct QueryListNews {
    gboolean is_all;    /* anything; else: */
    GArray *rows;       /* (nullable) of NewsRow: rows with these keys */
    guint64 generation; /* of the last one that came with keys */
} QueryListNews;

struct _QueryListModel {
    GObject parent_instance;
    QueryConnection *connection; /* (nullable) */
    QueryListQuery query;
    QueryListState state;
    guint epoch; /* of the query: answers to others are dropped */
    guint n_items;
    gboolean is_counted;
    guint64 generation;
    GError *error; /* (nullable) */
    gboolean is_loading;
    QueryListWindows windows;
    GHashTable *held; /* position → QueryRow, not owned: all that the application holds */
    QueryListWork work;
    QueryListNews news;
    QueryListSections sections;
    QuerySubscription *subscription; /* (nullable) */
    guint subscribed_epoch;          /* of the query that is watched, or about to be */
};

/* A statement under way. */
typedef struct QueryListJob {
    GWeakRef model;
    guint epoch;
    guint start, end; /* of the rows that are read */
    gboolean is_backward;
    gboolean counts_before;
    gboolean is_span;
    guint n_known; /* of a refresh in two steps: the number of rows */
    guint n_tries;
    guint64 generation;
    GArray *news; /* (nullable) rows that are read by their keys */
} QueryListJob;

/* query-list-edit.c: @added (nullable): the rows that came, when they are known. FALSE: the list has another query now. */
gboolean query_list_edit(QueryListModel *self, guint position, guint n_removed, guint n_added, QueryListRow *const *added);
/* All rows go, and the first @rows (transfer full) of @n_items come. */
gboolean query_list_replace_all(QueryListModel *self, GPtrArray *rows, guint n_items);
/* A window has come: @rows (transfer full). */
gboolean query_list_install(QueryListModel *self, guint start, GPtrArray *rows);
/* The rows of @window become others. */
gboolean query_list_become(QueryListModel *self, QueryListWindow *window, GPtrArray *rows);
/* (transfer full): the row at a position below n_items */
QueryRow *query_list_hold(QueryListModel *self, guint position);
/* The first and last held row that is loaded, in the run of windows around the row last asked for. FALSE: there is none. */
gboolean query_list_find_held_run(QueryListModel *self, guint *ret_first, guint *ret_last);

/* The row at @position, which is in memory, has these values now; it is the same row. */
void query_list_set_row(QueryListModel *self, guint position, QueryListRow *row);

void query_list_set_loading(QueryListModel *self, gboolean is_loading);

/* query-list-load.c */
void query_list_open(QueryListModel *self);
void query_list_stop(QueryListModel *self);
void query_list_plan(QueryListModel *self);
/* Everything is read again. */
void query_list_want_refresh(QueryListModel *self);
/* What the news name. */
void query_list_want_news(QueryListModel *self);
void query_list_note_generation(QueryListModel *self, guint64 generation);
void query_list_fail(QueryListModel *self, const GError *error);
void query_list_succeed(QueryListModel *self);
QueryListJob *query_list_job_new(QueryListModel *self);
/* (transfer full) (nullable): the list of @job, if it still has that query. @job: freed in any case by query_list_job_free(). */
QueryListModel *query_list_job_get_model(QueryListJob *job, const QueryListResult *result);
void query_list_job_free(QueryListJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryListJob, query_list_job_free)

/* query-list-refresh.c: begins; nothing else is under way. */
void query_list_begin_refresh(QueryListModel *self);
void query_list_refresh_ended(QueryListModel *self);

/* query-list-news.c: the list has a new subscription. */
void query_list_news_listen(QueryListModel *self);
/* A part of the list is of that generation. Beside parts of another one it is not known what a change moves. */
void query_list_news_compare(QueryListModel *self, guint64 generation);
/* The list is as new as what is known of changes. */
void query_list_news_clear(QueryListModel *self);
/* Begins to read the changed rows alone; FALSE: everything has to be read. There are no news after it. */
gboolean query_list_begin_news(QueryListModel *self);

/* query-list-sections.c */
void query_list_sections_read(QueryListModel *self);
void query_list_sections_clear(QueryListModel *self);
