/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report's text.
 */
#include "daemon/recover/salvage-report.h"

#include <stdarg.h>

/* Lines about the losses of one table. */
#define MAX_LOSSES 100u

static void
table_free(gpointer data)
{
    QdSalvageTable *table = data;

    g_array_unref(table->losses);
    g_free(table->name);
    g_free(table);
}

QdSalvageReport *
qd_salvage_report_new(void)
{
    QdSalvageReport *self = g_new0(QdSalvageReport, 1);

    self->tables = g_ptr_array_new_with_free_func(table_free);
    self->notes = g_ptr_array_new_with_free_func(g_free);
    return self;
}

QdSalvageReport *
qd_salvage_report_free(QdSalvageReport *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->tables);
    g_ptr_array_unref(self->notes);
    g_free(self);
    return NULL;
}

QdSalvageTable *
qd_salvage_report_get_table(QdSalvageReport *self, const char *name)
{
    QdSalvageTable *table;

    for (guint i = 0; i < self->tables->len; i++) {
        if (g_str_equal(((QdSalvageTable *) self->tables->pdata[i])->name, name))
            return self->tables->pdata[i];
    }
    table = g_new0(QdSalvageTable, 1);
    table->name = g_strdup(name);
    table->losses = g_array_new(FALSE, FALSE, sizeof(QdTreeLoss));
    g_ptr_array_add(self->tables, table);
    return table;
}

void
qd_salvage_report_note(QdSalvageReport *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_ptr_array_add(self->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

void
qd_salvage_report_add_up(QdSalvageReport *self)
{
    self->n_rows = self->n_doubtful_rows = self->n_lost_rows = self->n_lost_pages = 0;
    for (guint i = 0; i < self->tables->len; i++) {
        const QdSalvageTable *table = self->tables->pdata[i];

        self->n_rows += table->n_rows;
        self->n_doubtful_rows += table->n_doubtful_rows;
        self->n_lost_rows += table->n_lost_rows + table->n_refused_rows;
        self->n_lost_pages += table->losses->len;
    }
}

static void
put_table(GString *out, const QdSalvageTable *table)
{
    g_string_append_printf(out, "table '%s': %" G_GUINT64_FORMAT " rows", table->name, table->n_rows);
    if (table->n_found_rows > 0)
        g_string_append_printf(out, ", of them %" G_GUINT64_FORMAT " on pages that nothing referred to", table->n_found_rows);
    if (table->n_doubtful_rows > 0)
        g_string_append_printf(out, "; %" G_GUINT64_FORMAT " rows doubtful: their pages are there twice, or not in order",
                               table->n_doubtful_rows);
    if (table->n_lost_rows > 0)
        g_string_append_printf(out, "; %" G_GUINT64_FORMAT " rows lost on pages that could be read in part", table->n_lost_rows);
    if (table->n_refused_rows > 0)
        g_string_append_printf(out, "; %" G_GUINT64_FORMAT " rows refused", table->n_refused_rows);
    if (table->losses->len > 0)
        g_string_append_printf(out, "; %u pages lost", table->losses->len);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < MIN(table->losses->len, MAX_LOSSES); i++) {
        const QdTreeLoss *loss = &g_array_index(table->losses, QdTreeLoss, i);

        g_string_append_printf(out, "    page %u", loss->page);
        if (loss->first_rowid != G_MININT64 || loss->last_rowid != G_MAXINT64)
            g_string_append_printf(out, ": rowids from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, loss->first_rowid,
                                   loss->last_rowid);
        g_string_append_c(out, '\n');
    }
    if (table->losses->len > MAX_LOSSES)
        g_string_append_printf(out, "    and %u more\n", table->losses->len - MAX_LOSSES);
}

char *
qd_salvage_report_format(const QdSalvageReport *self, const char *source)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *time = g_date_time_format_iso8601(now);

    g_string_append_printf(out, "report of a salvage by queryd " QUERYD_VERSION ", %s\nsource: %s\n", time, source);
    g_string_append_printf(out,
                           "%" G_GUINT64_FORMAT " rows saved, %" G_GUINT64_FORMAT " known to be lost, %" G_GUINT64_FORMAT
                           " pages unusable (what was on them is not counted)\n",
                           self->n_rows, self->n_lost_rows, self->n_lost_pages);
    if (self->n_doubtful_rows > 0)
        g_string_append_printf(out, "%" G_GUINT64_FORMAT " of the rows saved are doubtful: they may be of another table or index\n",
                               self->n_doubtful_rows);
    if (self->n_left_out > 0)
        g_string_append_printf(out, "%u definitions could not be made as they were; they are named below\n", self->n_left_out);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < self->notes->len; i++)
        g_string_append_printf(out, "%s\n", (char *) self->notes->pdata[i]);
    if (self->notes->len > 0)
        g_string_append_c(out, '\n');
    for (guint i = 0; i < self->tables->len; i++)
        put_table(out, self->tables->pdata[i]);
    return g_string_free(out, FALSE);
}
