/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sorted list of 64 bits for each page. Of ten million pages two have the same ones by chance in one of 300,000 files.
 */
#include "daemon/recover/page-twins.h"

#include <string.h>

#define FACTOR G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

/* @n_bytes is a multiple of 8 but for reserved bytes. */
static guint64
get_mark(const guint8 *page, guint32 n_bytes)
{
    guint64 mark = FACTOR;

    for (guint32 i = 0; i + 8 <= n_bytes; i += 8) {
        guint64 word;

        memcpy(&word, page + i, sizeof word);
        mark = (mark ^ word) * FACTOR;
        mark ^= mark >> 29;
    }
    return mark;
}

void
qd_page_twins_add(QdPageTwins *self, const guint8 *page, guint32 n_bytes)
{
    guint64 mark = get_mark(page, n_bytes);

    if (self->marks == NULL)
        self->marks = g_array_new(FALSE, FALSE, sizeof mark);
    g_array_append_val(self->marks, mark);
    self->is_sorted = FALSE;
}

static gint
compare_marks(gconstpointer a, gconstpointer b)
{
    guint64 x = *(const guint64 *) a;
    guint64 y = *(const guint64 *) b;

    return (x > y) - (x < y);
}

gboolean
qd_page_twins_has(QdPageTwins *self, const guint8 *page, guint32 n_bytes)
{
    guint64 mark = get_mark(page, n_bytes);
    guint at = 0;

    if (self->marks == NULL)
        return FALSE;
    if (!self->is_sorted)
        g_array_sort(self->marks, compare_marks);
    self->is_sorted = TRUE;
    if (!g_array_binary_search(self->marks, &mark, compare_marks, &at))
        return FALSE;
    return (at > 0 && g_array_index(self->marks, guint64, at - 1) == mark) ||
           (at + 1 < self->marks->len && g_array_index(self->marks, guint64, at + 1) == mark);
}

void
qd_page_twins_clear(QdPageTwins *self)
{
    g_clear_pointer(&self->marks, g_array_unref);
}
