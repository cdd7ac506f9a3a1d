/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A salvage in work, as its files share it. salvage.c: the order of things; salvage-sql.c: its statements. salvage-schema.c: which
 * tables there are; salvage-table.c: rows of one table; salvage-keys.c: their order; salvage-plain.c: tables whose definition
 * cannot be made. salvage-virtual.c: virtual tables; salvage-text.c: full-text indexes; salvage-rtree.c: R-trees. salvage-rdf.c:
 * invariants of our own tables.
 *
 * Place: room recover, private.
 */
#pragma once

#include "daemon/recover/salvage.h"
#include "daemon/recover/tree-scan.h"
#include "daemon/sqlite/connection.h"
#include "daemon/sqlite/page-cells.h"

/* A row of sqlite_schema. */
/* Its rows are made again, of the quads. Its pages are read: those without a reference are searched for rows of others. */
#define MADE_AGAIN "queryd_column"

typedef struct QdSalvageEntry {
    char *type; /* (owned), as the next three */
    char *name;
    char *table;
    char *sql;         /* NULL: an index that a constraint made */
    guint32 root;      /* 0: a view, a trigger, a virtual table */
    gboolean made;     /* in the new file */
    gboolean is_plain; /* and not as it was */
} QdSalvageEntry;

typedef struct QdSalvage {
    const QdSalvageOptions *options;
    QdSalvageReport *report;
    QdPageFile *file;
    QdTreeScan *scan;
    QdConnection *connection; /* on the new file */
    guint32 encoding;         /* of texts, as in QdPageFileInfo, and the next two */
    gboolean has_numbers;     /* the next two are known */
    gint32 user_version;
    gint32 application_id;
    GPtrArray *entries;      /* of QdSalvageEntry */
    gboolean schema_damaged; /* there may be tables that are not among them */
    gboolean checks_ignored; /* CHECK constraints, by the connection just now */
    GPtrArray *writers;      /* of QdRowWriter: of the tables that were scanned */
} QdSalvage;

/* Fills @entries: CORRUPT when there is none. */
gboolean qd_salvage_read_schema(QdSalvage *self, GError **error);
void qd_salvage_entry_free(gpointer data);
/* (transfer full) (nullable): a field as UTF-8; NULL when it is no text */
char *qd_salvage_get_text(const QdSalvage *self, const QdField *field);
/* (nullable): by type ("table", "index", …) and name */
QdSalvageEntry *qd_salvage_find_entry(const QdSalvage *self, const char *type, const char *name);
gboolean qd_salvage_is_cancelled(const QdSalvage *self, GError **error);
gboolean qd_salvage_execute(QdSalvage *self, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* After a failure of what may fail: FALSE, with @failure in @error, when it means that nothing else will work either. */
gboolean qd_salvage_can_go_on(GError **failure, GError **error);
/* Of an optional step: a failure becomes a note, unless the disk is full or memory is short. */
gboolean qd_salvage_try(QdSalvage *self, const char *what, const char *sql, GError **error);

/* The table without what may have kept it from being made or filled; in the place of what was made of it. */
gboolean qd_salvage_make_plain(QdSalvage *self, const QdSalvageEntry *entry, GError **error);

/* Where rows of one tree go. */
typedef struct QdRowWriter QdRowWriter;

/* @table: in the new file; its columns are those of the records. NULL without an error when it has none that can be filled */
QdRowWriter *qd_row_writer_new(QdSalvage *salvage, const char *table, GError **error);
void qd_row_writer_free(gpointer data);
/* Whether a table of the new file has rowids. */
gboolean qd_row_writer_look_for_rowids(QdSalvage *salvage, const char *table, gboolean *ret_has_rowids, GError **error);
/* FALSE: what the table's definition calls cannot be called. */
gboolean qd_row_writer_is_usable(QdRowWriter *self, GError **error);
const char *qd_row_writer_get_table(const QdRowWriter *self);
gboolean qd_row_writer_is_of_rowids(const QdRowWriter *self);
guint qd_row_writer_get_n_columns(const QdRowWriter *self);
/* A QdTreeRowFunc; its data is the writer. */
gboolean qd_row_writer_put(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error);
guint64 qd_row_writer_get_n_refused(const QdRowWriter *self);

/* The order of keys in a table WITHOUT ROWID, as its definition in the new file has it. */
typedef struct QdKeyOrder QdKeyOrder;

/* NULL: it is not known. @has_desc: FALSE: all keys ascend */
QdKeyOrder *qd_key_order_new(QdSalvage *salvage, const char *table, gboolean has_desc);
QdKeyOrder *qd_key_order_free(QdKeyOrder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdKeyOrder, qd_key_order_free)
/* A QdTreeCompareFunc; its data is the order. */
gboolean qd_key_order_compare(const QdPageCell *a, const QdPageCell *b, int *ret_order, gpointer data);
/* As it stands in the file. The value is borrowed until the next step. */
void qd_salvage_bind_field(const QdSalvage *self, sqlite3_stmt *stmt, int number, const QdField *field);

/* The rows of queryd_quad: by a vote of its three whole trees. */
gboolean qd_salvage_vote_quads(QdSalvage *self, GError **error);
/* A virtual table, which has no pages of its own. */
gboolean qd_salvage_is_virtual(const QdSalvageEntry *entry);
/* A schema that was written by hand may say anything. */
gboolean qd_salvage_is_one_create(QdSalvage *self, const char *sql);
/* Virtual tables of users: what their modules keep in ordinary tables is made to fit again. */
gboolean qd_salvage_mend_virtual_tables(QdSalvage *self, GError **error);
/* A full-text index, rebuilt from the texts; one that cannot be rebuilt is made empty, and says so. */
void qd_salvage_mend_text(QdSalvage *self, const QdSalvageEntry *entry);
/* An R-tree, filled again from its cells. @is_of_integers: as rtree_i32 */
gboolean qd_salvage_mend_rtree(QdSalvage *self, const QdSalvageEntry *entry, gboolean is_of_integers, GError **error);
/* Internal tables, indexes and views of the schema that was read are defined as queryd defines them. */
gboolean qd_salvage_define_own(QdSalvage *self, GError **error);
/* After all rows: terms are what their keys say, nothing dangles, what can be computed is computed again. */
gboolean qd_salvage_mend_rdf(QdSalvage *self, GError **error);
