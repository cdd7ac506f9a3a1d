/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of things: schema; tables without indexes; rows; pages that nothing refers to; indexes, views and triggers. Then
 * our own tables' invariants; virtual tables; a check of the result.
 */
#include "daemon/recover/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/recover/integrity.h"
#include "daemon/recover/salvage-private.h"

#define CREATE_OPS_MAX 100000 /* of the virtual machine: some thousand times what a table or view takes */
#define CACHE_KIB 65536
#define IS_LOST "is lost, it cannot be made"
#define NO_PLAIN_CREATE "its text is not one plain CREATE statement"

/* The new file --------------------------------------------------------------------------------------------------------- */

static gboolean
open_target(QdSalvage *self, GError **error)
{
    const QdConnectionInfo info = { .path = self->options->target, .setup = self->options->setup, .foreign = TRUE };
    const QdPageFileInfo *old = qd_page_file_get_info(self->file);
    static const char *const encodings[] = { "UTF-8", "UTF-8", "UTF-16le", "UTF-16be" };

    self->connection = qd_connection_free(self->connection);
    self->connection = qd_connection_open(&info, QD_CONNECTION_WRITER, self->options->limits, error);
    if (self->connection == NULL)
        return FALSE;
    (void) sqlite3_db_config(qd_connection_get_db(self->connection), SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    (void) sqlite3_db_config(qd_connection_get_db(self->connection), SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
    return qd_salvage_execute(self, error,
                              "PRAGMA page_size=%u; PRAGMA encoding='%s'; PRAGMA auto_vacuum=%u; PRAGMA journal_mode=OFF;"
                              " PRAGMA synchronous=OFF; PRAGMA cache_size=-%d; PRAGMA user_version=%d; PRAGMA application_id=%d",
                              old->page_size, encodings[self->encoding], old->auto_vacuum, CACHE_KIB, self->user_version,
                              self->application_id);
}

/* Names that SQLite makes itself. */
static gboolean
is_internal(const QdSalvageEntry *entry)
{
    return g_ascii_strncasecmp(entry->name, "sqlite_", strlen("sqlite_")) == 0;
}

static int
give_up(void *data)
{
    return 1;
}

/* Alone, in a database of its own, where a CREATE TABLE AS SELECT finds nothing to read and does not go on for ever. */
static gboolean
is_quickly_made(const char *sql)
{
    sqlite3 *db = NULL;
    gboolean ok = sqlite3_open(":memory:", &db) == SQLITE_OK;

    if (ok) {
        sqlite3_progress_handler(db, CREATE_OPS_MAX, give_up, NULL);
        ok = sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_INTERRUPT;
    }
    (void) sqlite3_close(db);
    return ok;
}

static void
note_left_out(QdSalvage *self, const QdSalvageEntry *entry, const char *what, const char *reason)
{
    qd_salvage_report_note(self->report, "%s '%s' %s: %s", entry->type, entry->name, what, reason);
    self->report->n_left_out++;
}

static gboolean
make_entry(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    g_autofree char *what = g_strdup_printf("%s '%s' " IS_LOST, entry->type, entry->name);

    if (qd_salvage_is_one_create(self, entry->sql))
        return qd_salvage_try(self, what, entry->sql, error);
    note_left_out(self, entry, IS_LOST, NO_PLAIN_CREATE);
    return TRUE;
}

/* Tables ----------------------------------------------------------------------------------------------------------------- */

/* Whether its rows can be put into it: only a statement compiles what the definition calls. */
static gboolean
can_be_filled(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    QdRowWriter *writer = qd_row_writer_new(self, entry->name, error);
    gboolean ok = writer == NULL ? *error == NULL : qd_row_writer_is_usable(writer, error);

    if (writer != NULL)
        qd_row_writer_free(writer);
    return ok;
}

static gboolean
make_table_as_it_was(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    return qd_connection_execute(self->connection, entry->sql, error) && can_be_filled(self, entry, error);
}

static gboolean
make_table(QdSalvage *self, QdSalvageEntry *entry, GError **error)
{
    g_autoptr(GError) first = NULL;
    g_autoptr(GError) second = NULL;

    if (qd_salvage_is_cancelled(self, error))
        return FALSE;
    if (!qd_salvage_is_one_create(self, entry->sql) || !is_quickly_made(entry->sql)) {
        note_left_out(self, entry, IS_LOST, NO_PLAIN_CREATE);
        return TRUE;
    }
    entry->made = make_table_as_it_was(self, entry, &first);
    if (entry->made)
        return TRUE;
    if (!qd_salvage_can_go_on(&first, error))
        return FALSE;
    entry->made = entry->is_plain = qd_salvage_make_plain(self, entry, &second);
    if (!entry->made && !qd_salvage_can_go_on(&second, error))
        return FALSE;
    note_left_out(self, entry,
                  entry->made ? "is made without its CHECK constraints and generated columns, stored values of those are kept"
                              : IS_LOST,
                  first->message);
    return TRUE;
}

static gboolean
make_tables(QdSalvage *self, GError **error)
{
    for (guint i = 0; i < self->entries->len; i++) {
        QdSalvageEntry *entry = self->entries->pdata[i];

        if (!g_str_equal(entry->type, "table") || is_internal(entry) || qd_salvage_is_virtual(entry) || entry->sql == NULL)
            continue;
        if (!make_table(self, entry, error))
            return FALSE;
    }
    return TRUE;
}

/* As a row of the schema: its own tables are there already. */
static gboolean
make_virtual_tables(QdSalvage *self, GError **error)
{
    for (guint i = 0; i < self->entries->len; i++) {
        QdSalvageEntry *entry = self->entries->pdata[i];
        char *sql;
        gboolean ok;

        if (!qd_salvage_is_virtual(entry))
            continue;
        sql = sqlite3_mprintf("PRAGMA writable_schema=ON; INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql)"
                              " VALUES('table', %Q, %Q, 0, %Q)",
                              entry->name, entry->name, entry->sql);
        ok = qd_salvage_execute(self, error, "%s", sql);
        sqlite3_free(sql);
        if (!ok)
            return FALSE;
        entry->made = TRUE;
    }
    return TRUE;
}

static gboolean
make_others(QdSalvage *self, const char *type, GError **error)
{
    for (guint i = 0; i < self->entries->len; i++) {
        QdSalvageEntry *entry = self->entries->pdata[i];

        if (g_str_equal(entry->type, type) && entry->sql != NULL && !is_internal(entry) && !make_entry(self, entry, error))
            return FALSE;
    }
    return TRUE;
}

/* Rows ----------------------------------------------------------------------------------------------------------------- */

static void
count_trees(QdSalvage *self)
{
    for (guint i = 0; i < self->entries->len; i++) {
        const QdSalvageEntry *entry = self->entries->pdata[i];

        if (entry->root > 1)
            qd_tree_scan_count(self->scan, entry->root);
    }
}

static void
add_result(QdSalvageTable *table, const QdTreeResult *result, guint64 n_refused)
{
    table->n_rows += result->n_rows;
    table->n_doubtful_rows += result->n_doubtful_rows;
    table->n_lost_rows += result->n_lost_rows - MIN(n_refused, result->n_lost_rows);
    table->n_refused_rows += n_refused;
    g_array_append_vals(table->losses, result->losses->data, result->losses->len);
}

/* (transfer full) (nullable): of the keys, as the definition has it, or as the file has it in an old format: without DESC */
static QdKeyOrder *
find_order(QdSalvage *self, const QdSalvageEntry *entry)
{
    const guint32 format = qd_page_file_get_info(self->file)->schema_format;
    g_autoptr(QdKeyOrder) order = qd_key_order_new(self, entry->name, TRUE);
    g_autoptr(QdKeyOrder) old = format < QD_PAGE_FORMAT_DESC ? qd_key_order_new(self, entry->name, FALSE) : NULL;

    if (order == NULL || old == NULL)
        return g_steal_pointer(&order);
    qd_tree_scan_compare_by(self->scan, qd_key_order_compare, order);
    if (qd_tree_scan_is_in_order(self->scan, entry->root))
        return g_steal_pointer(&order);
    qd_tree_scan_compare_by(self->scan, qd_key_order_compare, old);
    return qd_tree_scan_is_in_order(self->scan, entry->root) ? g_steal_pointer(&old) : g_steal_pointer(&order);
}

/* Before the first tree is scanned: a page of one in the place of another costs the first one nothing. */
static void
settle_claims(QdSalvage *self)
{
    for (guint i = 0; i < self->entries->len && qd_tree_scan_is_disputed(self->scan); i++) {
        const QdSalvageEntry *entry = self->entries->pdata[i];
        gboolean is_table = g_str_equal(entry->type, "table");
        gboolean has_rowids = is_table;
        g_autoptr(QdKeyOrder) order = NULL;

        if (entry->root <= 1 ||
            (is_table && (!entry->made || !qd_row_writer_look_for_rowids(self, entry->name, &has_rowids, NULL))))
            continue;
        if (is_table && !has_rowids && !entry->is_plain)
            order = find_order(self, entry);
        qd_tree_scan_compare_by(self->scan, order != NULL ? qd_key_order_compare : NULL, order);
        qd_tree_scan_settle(self->scan, entry->root, has_rowids);
    }
}

/* Scans a tree into @writer; the outcome goes to the report's table. */
static gboolean
scan_tree(QdSalvage *self, const QdSalvageEntry *entry, QdRowWriter *writer, QdSalvageTable *table, GError **error)
{
    g_autoptr(QdKeyOrder) order = NULL;
    QdTreeResult result;
    gboolean ok;

    /* of a plain table another collation may have put the old keys in order */
    if (!qd_row_writer_is_of_rowids(writer) && !entry->is_plain)
        order = find_order(self, entry);
    if (order != NULL)
        qd_tree_scan_compare_by(self->scan, qd_key_order_compare, order);
    qd_tree_result_init(&result);
    ok = qd_tree_scan_run(self->scan, entry->root, qd_row_writer_is_of_rowids(writer), &result, qd_row_writer_put, writer, error);
    add_result(table, &result, qd_row_writer_get_n_refused(writer));
    qd_tree_result_clear(&result);
    return ok;
}

static gboolean
fill_table(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    g_autoptr(GError) failure = NULL;
    QdRowWriter *writer = qd_row_writer_new(self, entry->name, &failure);

    if (writer == NULL) {
        qd_salvage_report_note(self->report, "table '%s' cannot be filled: %s", entry->name,
                               failure != NULL ? failure->message : "it has no columns");
        return TRUE;
    }
    g_ptr_array_add(self->writers, writer);
    return scan_tree(self, entry, writer, qd_salvage_report_get_table(self->report, entry->name), error);
}

/* The rows above have made entries of their own; the old ones may say more, of rows that were deleted. */
static gboolean
add_sequence(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    QdSalvage *self = data;
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    const QdField *field;
    g_autofree char *name = NULL;
    char *sql;
    gboolean ok;

    *ret_good = FALSE;
    if (!qd_record_parse(row->data, row->n_bytes, fields) || fields->len != 2)
        return TRUE;
    field = (const QdField *) (const void *) fields->data;
    name = qd_salvage_get_text(self, &field[0]);
    if (name == NULL || !qd_field_is_integer(&field[1]) || qd_salvage_find_entry(self, "table", name) == NULL)
        return TRUE;
    sql = sqlite3_mprintf("INSERT INTO sqlite_sequence SELECT %Q, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name=%Q);"
                          "UPDATE sqlite_sequence SET seq=max(seq, %lld) WHERE name=%Q",
                          name, name, (sqlite3_int64) qd_field_get_int64(&field[1]), name);
    ok = qd_salvage_execute(self, error, "%s", sql);
    sqlite3_free(sql);
    *ret_good = ok;
    return ok;
}

static gboolean
fill_sequences(QdSalvage *self, GError **error)
{
    const QdSalvageEntry *entry = qd_salvage_find_entry(self, "table", "sqlite_sequence");
    gint64 n_tables = 0;
    QdTreeResult result;
    gboolean ok;

    if (!qd_connection_get_int64(self->connection, "SELECT count(*) FROM sqlite_schema WHERE name='sqlite_sequence'", &n_tables,
                                 error))
        return FALSE;
    if (entry == NULL || entry->root == 0 || n_tables == 0)
        return TRUE;
    qd_tree_result_init(&result);
    ok = qd_tree_scan_run(self->scan, entry->root, TRUE, &result, add_sequence, self, error);
    qd_tree_result_clear(&result);
    return ok;
}

static gboolean
lose_row(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    *ret_good = FALSE;
    return TRUE;
}

/* A table that is lost: at least it is said how much it was. */
static gboolean
count_rows(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    const gboolean is_lost = !g_str_equal(entry->name, MADE_AGAIN);
    QdTreeResult result;
    gboolean ok;

    qd_tree_result_init(&result);
    ok = qd_tree_scan_run(self->scan, entry->root, is_lost, &result, lose_row, NULL, error);
    if (is_lost)
        add_result(qd_salvage_report_get_table(self->report, entry->name), &result, result.n_lost_rows);
    qd_tree_result_clear(&result);
    return ok;
}

/* Ours first: functions read them that the definitions of others call. */
static gboolean
fill_tables_of(QdSalvage *self, gboolean ours, GError **error)
{
    for (guint i = 0; i < self->entries->len; i++) {
        const QdSalvageEntry *entry = self->entries->pdata[i];
        gboolean ok;

        if (!g_str_equal(entry->type, "table") || is_internal(entry) || entry->root == 0 ||
            g_str_equal(entry->name, "queryd_quad") || g_str_has_prefix(entry->name, "queryd_") != ours)
            continue;
        ok = entry->made && !g_str_equal(entry->name, MADE_AGAIN) ? fill_table(self, entry, error) : count_rows(self, entry, error);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

static gboolean
fill_tables(QdSalvage *self, GError **error)
{
    settle_claims(self);
    return fill_tables_of(self, TRUE, error) && fill_tables_of(self, FALSE, error) && qd_salvage_vote_quads(self, error) &&
           fill_sequences(self, error);
}

/* Whether @orphan can be of @writer's table: it lies where that has lost a page. */
static gboolean
could_own(const QdSalvage *self, const QdRowWriter *writer, const QdOrphan *orphan)
{
    const QdSalvageTable *table = qd_salvage_report_get_table(self->report, qd_row_writer_get_table(writer));

    if (!qd_row_writer_is_of_rowids(writer) || orphan->n_fields > qd_row_writer_get_n_columns(writer))
        return FALSE;
    for (guint i = 0; i < table->losses->len; i++) {
        const QdTreeLoss *loss = &g_array_index(table->losses, QdTreeLoss, i);

        if (loss->first_rowid <= orphan->first_rowid && orphan->last_rowid <= loss->last_rowid)
            return TRUE;
    }
    return FALSE;
}

/* (nullable): the only one that can be, or the only one with as many columns. */
static QdRowWriter *
find_owner(const QdSalvage *self, const QdOrphan *orphan)
{
    QdRowWriter *owners[2] = { NULL, NULL }; /* any; with as many columns */
    guint n_owners[2] = { 0, 0 };

    for (guint i = 0; i < self->writers->len; i++) {
        QdRowWriter *writer = self->writers->pdata[i];

        if (!could_own(self, writer, orphan))
            continue;
        owners[0] = writer;
        n_owners[0]++;
        if (qd_row_writer_get_n_columns(writer) == orphan->n_fields) {
            owners[1] = writer;
            n_owners[1]++;
        }
    }
    if (n_owners[0] == 1)
        return owners[0];
    return n_owners[1] == 1 ? owners[1] : NULL;
}

static gboolean
adopt_orphans(QdSalvage *self, GError **error)
{
    guint n_keyed = 0;
    guint n_left = 0;
    g_autoptr(GArray) orphans = qd_tree_scan_find_orphans(self->scan, &n_keyed);

    if (self->schema_damaged) /* they may be of tables that are not known */
        return TRUE;

    for (guint i = 0; i < orphans->len; i++) {
        const QdOrphan *orphan = &g_array_index(orphans, QdOrphan, i);
        QdRowWriter *writer = find_owner(self, orphan);
        QdSalvageTable *table;
        QdTreeResult result;
        guint64 n_refused;
        gboolean ok;

        if (writer == NULL) {
            n_left++;
            continue;
        }
        n_refused = qd_row_writer_get_n_refused(writer);
        table = qd_salvage_report_get_table(self->report, qd_row_writer_get_table(writer));
        qd_tree_result_init(&result);
        ok = qd_tree_scan_run_orphan(self->scan, orphan, &result, qd_row_writer_put, writer, error);
        add_result(table, &result, qd_row_writer_get_n_refused(writer) - n_refused);
        table->n_found_rows += result.n_rows;
        qd_tree_result_clear(&result);
        if (!ok)
            return FALSE;
    }
    if (n_keyed > 0)
        qd_salvage_report_note(self->report, "%u pages of indexes or tables WITHOUT ROWID are in none: a page above them is lost",
                               n_keyed);
    if (n_left > 0)
        qd_salvage_report_note(self->report, "%u pages of rows belong to no table that can be identified", n_left);
    return TRUE;
}

/* The end -------------------------------------------------------------------------------------------------------------- */

static gboolean
check_result(QdSalvage *self, GError **error)
{
    QdIntegrity integrity;
    gboolean ok;

    qd_integrity_init(&integrity);
    ok = qd_integrity_run(&integrity, self->connection, TRUE, NULL, NULL, error);
    if (ok && integrity.messages->len > 0) {
        qd_error_set(error, QW_ERROR_INTERNAL, "what was salvaged from '%s' is not whole: %s", self->options->source,
                     (const char *) integrity.messages->pdata[0]);
        ok = FALSE;
    }
    qd_integrity_clear(&integrity);
    return ok;
}

static gboolean
sync_target(const QdSalvage *self, GError **error)
{
    int fd = open(self->options->target, O_RDWR | O_CLOEXEC);
    gboolean ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        qd_error_set_errno(error, errno, "cannot make '%s' durable", self->options->target);
    if (fd >= 0)
        (void) close(fd);
    return ok;
}

static void
note_file(QdSalvage *self)
{
    const QdPageFileInfo *info = qd_page_file_get_info(self->file);

    qd_salvage_report_note(self->report, "%u pages of %u bytes, %u of them from the log", info->n_pages, info->page_size,
                           info->n_log_pages);
    if (info->header_damaged)
        qd_salvage_report_note(self->report, "the file's header is damaged, or the file was cut short");
    if (info->log_damaged)
        qd_salvage_report_note(self->report, "the log is damaged: what was committed last may be missing");
}

/* A page that the disk refuses for good is lost; a disk that is gone may come back, with all that is on it. */
static gboolean
check_disk(QdSalvage *self, GError **error)
{
    gboolean is_gone = FALSE;
    guint n_pages = qd_page_file_get_n_unreadable(self->file, &is_gone);

    if (is_gone) {
        qd_error_set(error, QW_ERROR_INTERNAL, "cannot read '%s' any more: the disk gives errors, it will be tried again",
                     self->options->source);
        return FALSE;
    }
    if (n_pages > 0)
        qd_salvage_report_note(self->report, "the disk gave errors %u times when a page was read", n_pages);
    return TRUE;
}

static gboolean
salvage_rows(QdSalvage *self, GError **error)
{
    gboolean ok = qd_salvage_execute(self, error, "BEGIN") && make_tables(self, error) && fill_tables(self, error) &&
                  adopt_orphans(self, error) && check_disk(self, error);

    g_ptr_array_set_size(self->writers, 0);
    return ok && make_others(self, "index", error) && make_others(self, "view", error) && make_others(self, "trigger", error) &&
           make_virtual_tables(self, error) && qd_salvage_execute(self, error, "COMMIT");
}

static gboolean
salvage(QdSalvage *self, GError **error)
{
    self->file = qd_page_file_open(self->options->source, error);
    if (self->file == NULL)
        return FALSE;
    note_file(self);
    if (!qd_salvage_read_schema(self, error)) {
        g_autoptr(GError) cause = NULL;

        if (!check_disk(self, &cause)) {
            g_clear_error(error);
            g_propagate_error(error, g_steal_pointer(&cause));
        }
        return FALSE;
    }
    count_trees(self);
    if (!qd_salvage_define_own(self, error))
        return FALSE;

    /* twice: the schema that was written by hand is seen by a new connection only */
    return open_target(self, error) && salvage_rows(self, error) && open_target(self, error) && qd_salvage_mend_rdf(self, error) &&
           qd_salvage_mend_virtual_tables(self, error) && check_result(self, error);
}

gboolean
qd_salvage_run(const QdSalvageOptions *options, QdSalvageReport *report, GError **error)
{
    QdSalvage self = { .options = options, .report = report };
    gboolean ok;

    self.entries = g_ptr_array_new_with_free_func(qd_salvage_entry_free);
    self.writers = g_ptr_array_new_with_free_func(qd_row_writer_free);
    (void) unlink(options->target);
    ok = salvage(&self, error);
    g_ptr_array_unref(self.writers);
    g_ptr_array_unref(self.entries);
    qd_tree_scan_free(self.scan);
    qd_connection_free(self.connection);
    ok = ok && sync_target(&self, error);
    if (!ok)
        (void) unlink(options->target);
    qd_page_file_free(self.file);
    qd_salvage_report_add_up(report);
    return ok;
}
