/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which tables there are: by the schema's own pages, or, where some are lost, by the copy beside the file. Without one: by
 * pages that look like some of the schema.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/recover/salvage-private.h"
#include "daemon/recover/schema-copy.h"

#define SCHEMA_FIELDS 5u

QdSalvageEntry *
qd_salvage_find_entry(const QdSalvage *self, const char *type, const char *name)
{
    for (guint i = 0; i < self->entries->len; i++) {
        QdSalvageEntry *entry = self->entries->pdata[i];

        if (g_str_equal(entry->type, type) && g_str_equal(entry->name, name))
            return entry;
    }
    return NULL;
}

void
qd_salvage_entry_free(gpointer data)
{
    QdSalvageEntry *entry = data;

    g_free(entry->type);
    g_free(entry->name);
    g_free(entry->table);
    g_free(entry->sql);
    g_free(entry);
}

char *
qd_salvage_get_text(const QdSalvage *self, const QdField *field)
{
    static const char *const encodings[] = { "UTF-8", "UTF-8", "UTF-16LE", "UTF-16BE" };
    g_autofree char *text = NULL;
    gsize n_bytes = 0;

    if (!qd_field_is_text(field))
        return NULL;
    text = g_convert((const char *) field->data, (gssize) field->n_bytes, "UTF-8", encodings[self->encoding], NULL, &n_bytes, NULL);
    if (text == NULL || strlen(text) != n_bytes)
        return NULL;
    return g_steal_pointer(&text);
}

static gboolean
is_type(const char *type)
{
    return g_str_equal(type, "table") || g_str_equal(type, "index") || g_str_equal(type, "view") || g_str_equal(type, "trigger");
}

/* Takes @entry. Returns: whether it is one */
static gboolean
keep_entry(QdSalvage *self, QdSalvageEntry *entry)
{
    gboolean good = entry->type != NULL && entry->name != NULL && entry->table != NULL && is_type(entry->type) &&
                    entry->root <= qd_page_file_get_info(self->file)->n_pages &&
                    qd_salvage_find_entry(self, entry->type, entry->name) == NULL;

    if (good)
        g_ptr_array_add(self->entries, entry);
    else
        qd_salvage_entry_free(entry);
    return good;
}

static gboolean
add_entry(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    QdSalvage *self = data;
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    g_autofree QdSalvageEntry *entry = g_new0(QdSalvageEntry, 1);
    const QdField *field;

    *ret_good = FALSE;
    if (!qd_record_parse(row->data, row->n_bytes, fields) || fields->len != SCHEMA_FIELDS)
        return TRUE;
    field = (const QdField *) (const void *) fields->data;
    if (!qd_field_is_text(&field[0]) || !qd_field_is_text(&field[1]) || !qd_field_is_text(&field[2]))
        return TRUE;
    entry->type = qd_salvage_get_text(self, &field[0]);
    entry->name = qd_salvage_get_text(self, &field[1]);
    entry->table = qd_salvage_get_text(self, &field[2]);
    entry->sql = qd_salvage_get_text(self, &field[4]);
    entry->root = qd_field_is_integer(&field[3]) ? (guint32) CLAMP(qd_field_get_int64(&field[3]), 0, G_MAXUINT32) : 0;
    *ret_good = keep_entry(self, g_steal_pointer(&entry));
    return TRUE;
}

/* Pages that hold nothing but rows of the schema, whose page above is lost. */
static gboolean
search_schema(QdSalvage *self, GError **error)
{
    g_autoptr(QdTreeScan) trial = qd_tree_scan_new(self->file, qd_limits_get(self->options->limits, QD_LIMIT_VALUE_BYTES));
    guint32 n_pages = qd_page_file_get_info(self->file)->n_pages;

    for (guint32 page = 2; page <= n_pages; page++) {
        guint n_before = self->entries->len;
        QdTreeResult result;
        gboolean ok;

        if (!qd_tree_scan_is_leaf(self->scan, page))
            continue;
        qd_tree_scan_forget(trial);
        qd_tree_result_init(&result);
        ok = qd_tree_scan_run(trial, page, TRUE, &result, add_entry, self, error);
        if (result.n_lost_rows > 0 || result.losses->len > 0)
            g_ptr_array_set_size(self->entries, (gint) n_before);
        qd_tree_result_clear(&result);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

/* What the header says of the encoding is right when there is anything to be read in it. */
static gboolean
scan_schema(QdSalvage *self, QdTreeResult *result, GError **error)
{
    guint32 named = qd_page_file_get_info(self->file)->encoding;
    const guint32 encodings[] = { named, 1, 2, 3, named };
    gboolean ok = TRUE;

    for (guint i = 0; i < G_N_ELEMENTS(encodings) && ok && self->entries->len == 0; i++) {
        self->encoding = encodings[i];
        qd_tree_result_clear(result);
        qd_tree_result_init(result);
        self->scan = qd_tree_scan_free(self->scan);
        self->scan = qd_tree_scan_new(self->file, qd_limits_get(self->options->limits, QD_LIMIT_VALUE_BYTES));
        qd_tree_scan_count(self->scan, 1);
        ok = qd_tree_scan_run(self->scan, 1, TRUE, result, add_entry, self, error);
    }
    return ok;
}

static gboolean
has_entry(const QdSalvage *self, const QdSchemaCopyRow *row)
{
    const QdSalvageEntry *entry = qd_salvage_find_entry(self, row->type, row->name);

    return entry != NULL && entry->root == row->root && g_strcmp0(entry->sql, row->sql) == 0;
}

/* Not of another file, nor from before a change: the file's header says so, and most of what can be read of its schema. */
static gboolean
is_of_this_file(const QdSalvage *self, const QdSchemaCopy *copy, guint *ret_n_same)
{
    guint32 cookie = qd_page_file_get_info(self->file)->schema_cookie;

    *ret_n_same = 0;
    for (guint i = 0; i < copy->rows->len; i++)
        *ret_n_same += has_entry(self, copy->rows->pdata[i]) ? 1 : 0;
    return (cookie == 0 || cookie == copy->cookie) && copy->encoding >= 1 && copy->encoding <= 3 &&
           2 * *ret_n_same >= self->entries->len;
}

static void
take_rows(QdSalvage *self, QdSchemaCopy *copy)
{
    g_ptr_array_set_size(self->entries, 0);
    for (guint i = 0; i < copy->rows->len; i++) {
        QdSchemaCopyRow *row = copy->rows->pdata[i];
        QdSalvageEntry *entry = g_new0(QdSalvageEntry, 1);

        entry->type = g_steal_pointer(&row->type);
        entry->name = g_steal_pointer(&row->name);
        entry->table = g_steal_pointer(&row->table);
        entry->sql = g_steal_pointer(&row->sql);
        entry->root = row->root;
        (void) keep_entry(self, entry);
    }
}

/* user_version and application_id stand in the header alone. It goes before the copy, unless it is lost. */
static void
take_numbers(QdSalvage *self, const QdSchemaCopy *copy)
{
    const QdPageFileInfo *info = qd_page_file_get_info(self->file);

    if (info->schema_cookie == 0) {
        self->user_version = copy->user_version;
        self->application_id = copy->application_id;
        self->has_numbers = TRUE;
        qd_salvage_report_note(self->report, "user_version %d and application_id %d are taken from the copy of the schema",
                               self->user_version, self->application_id);
    } else if (info->user_version != copy->user_version || info->application_id != copy->application_id) {
        qd_salvage_report_note(self->report,
                               "user_version %d and application_id %d are kept as the file has them, its copy of the schema has %d"
                               " and %d",
                               info->user_version, info->application_id, copy->user_version, copy->application_id);
    }
}

/* The copy beside the file, which has a checksum, before what the pages say. Returns: whether there is one */
static gboolean
take_copy(QdSalvage *self)
{
    g_autoptr(QdSchemaCopy) copy = qd_schema_copy_read(self->options->source);
    guint n_same = 0;

    if (copy == NULL || !is_of_this_file(self, copy, &n_same))
        return FALSE;

    take_numbers(self, copy);
    if (n_same == copy->rows->len && n_same == self->entries->len)
        return TRUE;
    self->encoding = copy->encoding;
    take_rows(self, copy);
    qd_salvage_report_note(self->report, "the schema is damaged: it is taken from its copy");
    return TRUE;
}

/* What is left of the schema itself. */
static gboolean
read_remains(QdSalvage *self, const QdTreeResult *result, GError **error)
{
    if (result->losses->len > 0 && !search_schema(self, error))
        return FALSE;

    self->schema_damaged = TRUE;
    qd_salvage_report_note(self->report,
                           "the schema is damaged, and there is no copy of it: %u pages of it are lost, and %" G_GUINT64_FORMAT
                           " of its rows; tables that are not named below cannot be found again",
                           result->losses->len, result->n_lost_rows);
    return TRUE;
}

gboolean
qd_salvage_read_schema(QdSalvage *self, GError **error)
{
    const QdPageFileInfo *info = qd_page_file_get_info(self->file);
    QdTreeResult result;
    gboolean ok;

    self->has_numbers = info->has_numbers;
    self->user_version = info->has_numbers ? info->user_version : 0;
    self->application_id = info->has_numbers ? info->application_id : 0;
    qd_tree_result_init(&result);
    ok = scan_schema(self, &result, error);
    if (ok && !take_copy(self) && (result.n_lost_rows > 0 || result.losses->len > 0 || self->entries->len == 0))
        ok = read_remains(self, &result, error);
    qd_tree_result_clear(&result);
    if (!self->has_numbers)
        qd_salvage_report_note(self->report, "user_version and application_id are lost with the file's header, and are 0");
    if (ok && self->entries->len == 0) {
        qd_error_set(error, QW_ERROR_CORRUPT, "no schema can be read in '%s'", self->options->source);
        return FALSE;
    }
    return ok;
}
