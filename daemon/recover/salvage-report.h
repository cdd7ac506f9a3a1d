/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a salvage found and what it lost, for people.
 *
 * Place: room recover. Invariant: names of tables and counts only, never the contents of rows.
 */
#pragma once

#include <glib.h>

#include "daemon/recover/tree-scan.h"

typedef struct QdSalvageTable {
    char *name; /* (owned) */
    guint64 n_rows;
    guint64 n_doubtful_rows; /* of n_rows: their page may be of another table */
    guint64 n_lost_rows;     /* on pages that could be read otherwise */
    guint64 n_refused_rows;  /* contradicted a constraint, or another copy of the same data */
    guint64 n_found_rows;    /* of n_rows: on pages that nothing referred to */
    GArray *losses;          /* of QdTreeLoss */
} QdSalvageTable;

typedef struct QdSalvageReport {
    GPtrArray *tables; /* of QdSalvageTable */
    GPtrArray *notes;  /* of char*: everything else, in order */
    guint n_left_out;  /* definitions that could not be made, or not as they were; each has a note */
    guint64 n_rows;    /* the four: by qd_salvage_report_add_up() */
    guint64 n_doubtful_rows;
    guint64 n_lost_rows;
    guint64 n_lost_pages;
} QdSalvageReport;

QdSalvageReport *qd_salvage_report_new(void);
QdSalvageReport *qd_salvage_report_free(QdSalvageReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSalvageReport, qd_salvage_report_free)

/* (transfer none): made at the first use of the name */
QdSalvageTable *qd_salvage_report_get_table(QdSalvageReport *self, const char *name);
void qd_salvage_report_note(QdSalvageReport *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
void qd_salvage_report_add_up(QdSalvageReport *self);
/* (transfer full): lines; @source is named in them */
char *qd_salvage_report_format(const QdSalvageReport *self, const char *source);
