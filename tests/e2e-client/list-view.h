/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view of a list model: it holds some rows, as widgets do, and knows them from signals alone. Each signal has to be true.
 *
 * Place: end-to-end tests of libquery-client.
 */
#pragma once

#include "client-lib/query-client.h"

typedef struct View {
    QueryListModel *list;
    GPtrArray *rows; /* of QueryRow: those from `first` */
    guint first;
    guint n_items;
    guint n_signals;
    guint n_removed, n_added; /* by signals */
    guint n_filled;           /* rows that had other values */
} View;

/* @list: borrowed; it outlives the view, or is cleared with it */
void view_init(View *view, QueryListModel *list);
/* From now on it holds these rows. */
void view_show(View *view, guint first, guint n_rows);
void view_clear(View *view);
void view_forget_counts(View *view);
/* Until the list has what was committed up to @generation, and all that the view holds. */
void view_settle(View *view, guint64 generation);
void view_wait_loaded(View *view);
/* The rows of the view are those of @text at these positions. */
void view_check(View *view, QueryConnection *connection, QueryLanguage language, const char *text);
