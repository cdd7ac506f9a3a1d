/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: a damaged database file and its log, as a salvage reads them, up to the fields of each record.
 *
 * The input: u16, little-endian, of 512-byte units, how long the database is; the database; the log. Its trees are those that its
 * schema names, each read as a table and as an index. SQL is not run: the schema's texts would be any program.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/recover/tree-scan.h"
#include "daemon/sqlite/page-cells.h"

#define UNIT_BYTES 512
#define MAX_ROW_BYTES (1024 * 1024)
#define SCHEMA_FIELDS 5
#define MAX_ROOTS 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Reading {
    GArray *roots; /* (nullable) of guint32: found in the schema */
    uint64_t sum;
} Reading;

static char *directory;

static void
remove_directory(void)
{
    g_autofree char *path = g_build_filename(directory, "db", NULL);
    g_autofree char *log_path = g_build_filename(directory, "db-wal", NULL);

    (void) unlink(path);
    (void) unlink(log_path);
    (void) rmdir(directory);
    g_free(directory);
}

static void
write_file(const char *name, const uint8_t *data, size_t size)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    FILE *file = fopen(path, "we");

    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(data, 1, size, file), ==, size);
    g_assert_cmpint(fclose(file), ==, 0);
}

static gboolean
on_row(const QdTreeRow *row, gboolean *ret_good, gpointer user_data, GError **error)
{
    Reading *self = user_data;
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));

    *ret_good = qd_record_parse(row->data, row->n_bytes, fields);
    for (guint i = 0; i < fields->len; i++) {
        const QdField *field = &g_array_index(fields, QdField, i);

        self->sum += (uint64_t) qd_field_get_int64(field) + qd_field_is_text(field);
        for (guint64 k = 0; k < field->n_bytes; k++)
            self->sum += field->data[k];
    }
    if (*ret_good && self->roots != NULL && fields->len == SCHEMA_FIELDS && self->roots->len < MAX_ROOTS) {
        guint32 root = (guint32) qd_field_get_int64(&g_array_index(fields, QdField, 3));

        g_array_append_val(self->roots, root);
    }
    return TRUE;
}

static void
scan_tree(QdTreeScan *scan, guint32 root, gboolean is_table, Reading *reading)
{
    QdTreeResult result;

    qd_tree_result_init(&result);
    g_assert_true(qd_tree_scan_run(scan, root, is_table, &result, on_row, reading, NULL));
    qd_tree_result_clear(&result);
}

static void
scan_file(QdPageFile *file)
{
    g_autoptr(QdTreeScan) scan = qd_tree_scan_new(file, MAX_ROW_BYTES);
    g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) orphans = NULL;
    Reading reading = { .roots = roots };
    guint n_keyed = 0;

    qd_tree_scan_count(scan, 1);
    scan_tree(scan, 1, TRUE, &reading);
    reading.roots = NULL;
    for (guint i = 0; i < roots->len; i++)
        qd_tree_scan_count(scan, g_array_index(roots, guint32, i));
    for (guint i = 0; i < roots->len; i++) {
        qd_tree_scan_settle(scan, g_array_index(roots, guint32, i), i % 2 == 0);
        scan_tree(scan, g_array_index(roots, guint32, i), TRUE, &reading);
        scan_tree(scan, g_array_index(roots, guint32, i), FALSE, &reading);
    }
    orphans = qd_tree_scan_find_orphans(scan, &n_keyed);
    for (guint i = 0; i < orphans->len; i++) {
        QdTreeResult result;

        qd_tree_result_init(&result);
        g_assert_true(qd_tree_scan_run_orphan(scan, &g_array_index(orphans, QdOrphan, i), &result, on_row, &reading, NULL));
        qd_tree_result_clear(&result);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(QdPageFile) file = NULL;
    g_autofree char *path = NULL;
    size_t n_database;

    if (size < 2)
        return 0;
    if (directory == NULL) {
        directory = g_dir_make_tmp("queryd-fuzz-XXXXXX", NULL);
        (void) atexit(remove_directory);
    }
    n_database = MIN((size_t) (data[0] | data[1] << 8) * UNIT_BYTES, size - 2);
    write_file("db", data + 2, n_database);
    write_file("db-wal", data + 2 + n_database, size - 2 - n_database);
    path = g_build_filename(directory, "db", NULL);
    file = qd_page_file_open(path, NULL);
    if (file != NULL)
        scan_file(file);
    return 0;
}
