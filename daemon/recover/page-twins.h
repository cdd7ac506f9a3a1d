/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages that there are twice, byte by byte: a misdirected write leaves one. Which of the two is in its place they do not say.
 *
 * Place: room recover, for tree-scan. Invariant: eight bytes a page, no contents.
 */
#pragma once

#include <glib.h>

typedef struct QdPageTwins {
    GArray *marks; /* (nullable) of guint64 */
    gboolean is_sorted;
} QdPageTwins;

void qd_page_twins_add(QdPageTwins *self, const guint8 *page, guint32 n_bytes);
/* Whether a page that was added was added twice. */
gboolean qd_page_twins_has(QdPageTwins *self, const guint8 *page, guint32 n_bytes);
void qd_page_twins_clear(QdPageTwins *self);
