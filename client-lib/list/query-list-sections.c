/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sections: how many rows have one value, of all values, by one more statement. It runs when sections are looked at for the first
 * time, and after each refresh then.
 *
 * Place: part of QueryListModel.
 */
#include "client-lib/list/query-list-private.h"

/* More are not kept: such a column makes no headings. */
#define MAX_SECTIONS 65536u

static void
section_clear(gpointer data)
{
    g_free(((QueryListSection *) data)->title);
}

void
query_list_sections_clear(QueryListModel *self)
{
    g_clear_pointer(&self->sections.found, g_array_unref);
}

static char *
dup_title(const QueryListRow *row)
{
    QwValue value;
    g_autoptr(QueryRow) shown = query_row_new(NULL, NULL, 0, (QueryListRow *) row);

    query_list_row_get(row, 0, &value);
    return query_row_dup_string(shown, 0);
}

static gint64
get_count(const QueryListRow *row)
{
    g_autoptr(QueryRow) shown = query_row_new(NULL, NULL, 0, (QueryListRow *) row);

    return query_row_get_int64(shown, 1);
}

static void
on_sections(QueryListResult *result, gpointer user_data)
{
    g_autoptr(QueryListJob) job = user_data;
    g_autoptr(QueryListModel) self = query_list_job_get_model(job, result);
    gint64 start = 0;

    if (self == NULL)
        return;
    self->sections.is_reading = FALSE;
    if (result->error != NULL) {
        query_list_fail(self, result->error);
        return;
    }

    query_list_sections_clear(self);
    self->sections.found = g_array_new(FALSE, FALSE, sizeof(QueryListSection));
    g_array_set_clear_func(self->sections.found, section_clear);
    for (guint i = 0; i < MIN(result->rows->len, MAX_SECTIONS); i++) {
        QueryListSection section = { .start = (guint) MIN(start, G_MAXINT), .title = dup_title(result->rows->pdata[i]) };

        g_array_append_val(self->sections.found, section);
        start += get_count(result->rows->pdata[i]);
    }
    g_signal_emit_by_name(self, "sections-changed", 0u, self->n_items);
}

void
query_list_sections_read(QueryListModel *self)
{
    g_auto(QueryListStatement) statement = { 0 };

    if (self->sections.column == NULL || !self->sections.is_asked || self->sections.is_reading || self->state != QUERY_LIST_READY)
        return;
    self->sections.is_reading = TRUE;
    query_list_text_make_sections(self->query.text, self->query.parameters, self->sections.column, &statement);
    query_list_fetch(self->connection, &statement, self->work.cancellable, on_sections, query_list_job_new(self));
}

/* (nullable): the section with @position; and whether another one follows */
static const QueryListSection *
find(QueryListModel *self, guint position, const QueryListSection **ret_next)
{
    const GArray *found = self->sections.found;
    guint low = 0;
    guint high = found != NULL ? found->len : 0;

    *ret_next = NULL;
    while (low < high) { /* the first section that begins after @position */
        guint middle = (low + high) / 2;

        if (g_array_index(found, QueryListSection, middle).start > position)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0)
        return NULL;
    if (low < found->len)
        *ret_next = &g_array_index(found, QueryListSection, low);
    return &g_array_index(found, QueryListSection, low - 1);
}

static void
ask(QueryListModel *self)
{
    if (self->sections.is_asked && (self->sections.found != NULL || self->sections.is_reading))
        return;
    self->sections.is_asked = TRUE;
    query_list_sections_read(self);
}

void
query_list_model_get_section(QueryListModel *self, guint position, guint *start, guint *end)
{
    const QueryListSection *section;
    const QueryListSection *next;

    g_return_if_fail(QUERY_IS_LIST_MODEL(self));
    g_return_if_fail(start != NULL);
    g_return_if_fail(end != NULL);

    if (position >= self->n_items) {
        *start = self->n_items;
        *end = G_MAXUINT;
        return;
    }
    ask(self);
    section = find(self, position, &next);
    *start = section != NULL ? section->start : 0;
    *end = next != NULL ? MIN(next->start, self->n_items) : self->n_items;
}

char *
query_list_model_dup_section_title(QueryListModel *self, guint position)
{
    const QueryListSection *section;
    const QueryListSection *next;

    g_return_val_if_fail(QUERY_IS_LIST_MODEL(self), NULL);

    if (position >= self->n_items)
        return NULL;
    ask(self);
    section = find(self, position, &next);
    return section != NULL ? g_strdup(section->title) : NULL;
}
