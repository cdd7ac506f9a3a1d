/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a list that are in memory.
 *
 * Place: internal to libquery-client, room list.
 * Invariant: windows are sorted by position and do not overlap. A place without a row (NULL) is one that the query had no row for.
 */
#pragma once

#include "client-lib/list/query-list-row.h"

typedef struct QueryListWindow {
    guint start;
    GPtrArray *rows; /* of QueryListRow or NULL */
    guint64 used;    /* when last, by QueryListWindows.clock */
    gsize n_bytes;
    gboolean is_needed; /* while it is decided which windows to drop */
} QueryListWindow;

typedef struct QueryListWindows {
    GPtrArray *windows; /* of QueryListWindow */
    gsize n_bytes;
    guint64 clock;
} QueryListWindows;

/* A part that is not in memory, from @start up to @end. */
typedef struct QueryListGap {
    guint start, end;
    QueryListWindow *before, *after; /* (nullable): the windows beside it */
} QueryListGap;

void query_list_windows_init(QueryListWindows *self);
void query_list_windows_free(QueryListWindows *self);
void query_list_windows_clear(QueryListWindows *self);

/* (transfer none) (nullable): the window with @position */
QueryListWindow *query_list_windows_find(QueryListWindows *self, guint position);
/* @position: in no window */
void query_list_windows_get_gap(QueryListWindows *self, guint position, guint n_items, QueryListGap *ret_gap);
/* @rows: (transfer full). Returns: (transfer none): the window, where none was before */
QueryListWindow *query_list_windows_add(QueryListWindows *self, guint start, GPtrArray *rows);
/* (transfer none): one window of the rows from @start up to @end, which all are in windows; the others are dropped */
QueryListWindow *query_list_windows_keep(QueryListWindows *self, guint start, guint end);
/* Rows have gone and come; @added (nullable) are those that came, when they are in memory, in or beside a window. */
void query_list_windows_edit(QueryListWindows *self, guint position, guint n_removed, guint n_added, QueryListRow *const *added);
/* Of windows that are not needed the least recently used, until the others take at most @n_bytes. */
void query_list_windows_shrink(QueryListWindows *self, gsize n_bytes);

static inline guint
query_list_window_get_end(const QueryListWindow *self)
{
    return self->start + self->rows->len;
}
