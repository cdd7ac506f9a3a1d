/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A predicate at a time: its quads are read in a snapshot, which has ended when the first part is written.
 */
#include "daemon/write/write-columns.h"

#include "daemon/notify/changes.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/pool.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/tally/tally-file.h"
#include "daemon/tally/tally-missed.h"
#include "daemon/tally/tally-reader.h"
#include "daemon/tally/tally.h"
#include "daemon/write/writer.h"

#define STEP_BYTES (1024 * 1024)

#define LIST "SELECT id FROM queryd_predicate AS q WHERE n_quads>=%" G_GINT64_FORMAT "%s ORDER BY n_quads"
#define LACKS " AND NOT EXISTS(SELECT 1 FROM queryd_column WHERE p=q.id AND ord=0 AND part=0 AND mark=q.stamp)"
#define COUNT_BYTES "SELECT ifnull(sum(length(body)), 0) FROM queryd_column"
#define COUNT_FILE "SELECT page_count*page_size FROM pragma_page_count, pragma_page_size"
#define HAS_FORMER "SELECT EXISTS(SELECT 1 FROM queryd_column WHERE p NOT IN (SELECT id FROM queryd_predicate))"
#define DROP_WRONG                                            \
    "DELETE FROM queryd_column WHERE p=%" G_GINT64_FORMAT ";" \
    "UPDATE queryd_predicate SET stamp=random() WHERE id=%" G_GINT64_FORMAT
#define DROP_FORMER "DELETE FROM queryd_column WHERE p NOT IN (SELECT id FROM queryd_predicate)"

typedef struct Round {
    const QdColumnWork *work;
    QdConnection *connection;
    QdTallyReader *reader;
    gboolean is_indexed; /* columns are read from the index and not cached */
    GArray *ids;
    gint64 n_bytes; /* stored by now */
    gint64 n_bytes_max;
} Round;

gboolean
qd_write_columns_are_wanted(void)
{
    return qd_tally_missed_any();
}

void
qd_write_columns_begin(const QdLimits *limits)
{
    qd_tally_missed_set_least((gint64) qd_limits_get(limits, QD_LIMIT_TALLY_FILE_ROWS));
}

void
qd_write_columns_want(void)
{
    qd_tally_missed_note_all();
}

static gboolean
has_stopped(const Round *self)
{
    return self->work->stop != NULL && self->work->stop(self->work->data);
}

/* --- the writer ----------------------------------------------------------------------------------------------------------- */

/* @relaxed: for what is stored again, should a power cut take it */
static gboolean
run_in_writer(const QdColumnWork *work, gboolean relaxed, QdWriterFunc func, void *data, GError **error)
{
    QdWriteItem item;
    gboolean ok;

    qd_write_item_init(&item);
    item.times.timeout_msec = qd_limits_get(work->limits, QD_LIMIT_UPDATE_TIMEOUT_MSEC);
    item.cancelled = work->cancelled;
    item.relaxed = relaxed;
    item.is_upkeep = TRUE;
    ok = qd_writer_run_exclusive(work->writer, &item, TRUE, func, data, error);
    qd_write_item_clear(&item);
    return ok;
}

static gboolean
execute(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    return qd_connection_execute(connection, user_data, error);
}

typedef struct Step {
    QdTallyFileWriting *writing;
    gboolean is_whole;
} Step;

static gboolean
write_parts(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    Step *step = user_data;
    sqlite3 *db = qd_connection_get_db(connection);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    int r = qd_tally_file_writing_step(step->writing, db, STEP_BYTES);

    (void) qd_connection_set_policy(connection, policy);
    step->is_whole = r == SQLITE_DONE;
    if (r != SQLITE_OK && r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_OK || r == SQLITE_DONE;
}

static gboolean
write_column(const Round *self, QdTallyFileWriting *writing, GError **error)
{
    Step step = { writing, FALSE };

    while (!step.is_whole && !has_stopped(self)) {
        if (!run_in_writer(self->work, TRUE, write_parts, &step, error))
            return FALSE;
        qd_tally_file_writing_keep(writing);
    }
    return TRUE;
}

/* --- wrong ones --------------------------------------------------------------------------------------------------------- */

/* What was answered by them may be wrong, too. */
static gboolean
drop_wrong(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    const GArray *wrong = user_data;

    for (guint i = 0; i < wrong->len; i++) {
        const gint64 predicate = g_array_index(wrong, gint64, i);
        g_autofree char *sql = g_strdup_printf(DROP_WRONG, predicate, predicate);

        if (!qd_connection_execute(connection, sql, error))
            return FALSE;
    }
    qd_changes_make_all(item->outcome.changed);
    return TRUE;
}

gboolean
qd_write_columns_check(const QdColumnWork *work, QdConnection *connection, GPtrArray *messages, GError **error)
{
    g_autoptr(GArray) wrong = g_array_new(FALSE, FALSE, sizeof(gint64));

    if (!qd_evaluation_check_columns(connection, messages, wrong, error))
        return FALSE;
    if (wrong->len == 0 || work->writer == NULL)
        return TRUE;
    if (!run_in_writer(work, FALSE, drop_wrong, wrong, error))
        return FALSE;
    g_ptr_array_add(messages, g_strdup("queryd_column: such columns were dropped; they are stored again when a query misses them"));
    return TRUE;
}

/* --- one predicate ------------------------------------------------------------------------------------------------------ */

static int
read_columns(const Round *self, gint64 predicate, QdTallyColumn **by_object, QdTallyColumn **by_subject)
{
    int r;

    qd_tally_reader_reset(self->reader);
    r = self->is_indexed ? qd_tally_reader_get_indexed(self->reader, predicate, by_object)
                         : qd_tally_reader_get(self->reader, predicate, QD_TALLY_BY_OBJECT, by_object);
    if (r == SQLITE_OK)
        r = self->is_indexed ? qd_tally_reader_transpose(self->reader, *by_object, by_subject)
                             : qd_tally_reader_get(self->reader, predicate, QD_TALLY_BY_SUBJECT, by_subject);
    return r;
}

static gboolean
get_stored_bytes(const Round *self, gint64 predicate, gint64 *ret_n, GError **error)
{
    g_autofree char *sql = g_strdup_printf(COUNT_BYTES " WHERE p=%" G_GINT64_FORMAT, predicate);

    return qd_connection_get_int64(self->connection, sql, ret_n, error);
}

/* What takes too much of the file is not stored, and goes where it was. */
static gboolean
store(Round *self, gint64 predicate, QdTallyColumn *by_object, QdTallyColumn *by_subject, GError **error)
{
    g_autoptr(QdTallyFileWriting) first = qd_tally_file_writing_new(predicate, by_object);
    g_autoptr(QdTallyFileWriting) second = qd_tally_file_writing_new(predicate, by_subject);
    const gint64 n_new = (gint64) (qd_tally_file_writing_get_n_bytes(first) + qd_tally_file_writing_get_n_bytes(second));
    gint64 n_old = 0;

    if (!get_stored_bytes(self, predicate, &n_old, error))
        return FALSE;
    if (self->n_bytes - n_old + n_new > self->n_bytes_max) {
        g_autofree char *sql = g_strdup_printf("DELETE FROM queryd_column WHERE p=%" G_GINT64_FORMAT, predicate);

        self->n_bytes -= n_old;
        return n_old == 0 || run_in_writer(self->work, TRUE, execute, sql, error);
    }
    self->n_bytes += n_new - n_old;
    return write_column(self, first, error) && write_column(self, second, error);
}

/* A column too large for the cache is not used, so it is not stored either. */
static gboolean
store_predicate(Round *self, gint64 predicate, GError **error)
{
    g_autoptr(QdTallyColumn) by_object = NULL;
    g_autoptr(QdTallyColumn) by_subject = NULL;
    sqlite3 *db = qd_connection_get_db(self->connection);
    int r;

    if (!qd_connection_begin(self->connection, error))
        return FALSE;
    r = read_columns(self, predicate, &by_object, &by_subject);
    if (!qd_connection_end(self->connection, error))
        return FALSE;
    if (r == SQLITE_OK)
        return by_object->stamp == 0 || store(self, predicate, by_object, by_subject, error);
    if (r == SQLITE_NOMEM || r == SQLITE_INTERRUPT)
        return TRUE;
    qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return FALSE;
}

/* --- all ---------------------------------------------------------------------------------------------------------------- */

static gboolean
list_predicates(const Round *self, GError **error)
{
    g_autofree char *sql = g_strdup_printf(LIST, (gint64) qd_limits_get(self->work->limits, QD_LIMIT_TALLY_FILE_ROWS),
                                           self->work->is_of_all ? "" : LACKS);
    sqlite3 *db = qd_connection_get_db(self->connection);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    g_array_set_size(self->ids, 0);
    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
            gint64 id = sqlite3_column_int64(stmt, 0);

            g_array_append_val(self->ids, id);
        }
    (void) sqlite3_finalize(stmt);
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_DONE;
}

/* A column with the same stamp may be in memory: it would stay there. */
static gboolean
drop_all_wrong(const Round *self, GError **error)
{
    g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);

    return qd_write_columns_check(self->work, self->connection, messages, error);
}

static gboolean
measure(Round *self, GError **error)
{
    const gint64 percent = (gint64) qd_limits_get(self->work->limits, QD_LIMIT_TALLY_FILE_PERCENT);
    gint64 n_file_bytes = 0;
    gint64 n_former = 0;

    if (!qd_connection_get_int64(self->connection, HAS_FORMER, &n_former, error) ||
        (n_former > 0 && !run_in_writer(self->work, TRUE, execute, (char *) DROP_FORMER, error)) ||
        !qd_connection_get_int64(self->connection, COUNT_BYTES, &self->n_bytes, error) ||
        !qd_connection_get_int64(self->connection, COUNT_FILE, &n_file_bytes, error))
        return FALSE;
    self->n_bytes_max = MAX(n_file_bytes - self->n_bytes, 0) / 100 * percent;
    return TRUE;
}

static gboolean
run_round(Round *self, GError **error)
{
    gboolean is_of_load, ok;
    guint i = 0;

    if (self->work->is_of_all && !drop_all_wrong(self, error))
        return FALSE;
    ok = measure(self, error);
    if (!ok)
        return FALSE;
    is_of_load = qd_tally_missed_take(self->ids);
    self->is_indexed = self->work->is_of_all || is_of_load;
    ok = !self->is_indexed || list_predicates(self, error);
    while (ok && i < self->ids->len && !has_stopped(self)) {
        ok = store_predicate(self, g_array_index(self->ids, gint64, i), error);
        i += has_stopped(self) ? 0 : 1;
    }
    if (ok && i < self->ids->len && is_of_load)
        qd_tally_missed_note_all();
    for (; ok && i < self->ids->len && !self->is_indexed; i++)
        qd_tally_missed_note(g_array_index(self->ids, gint64, i), G_MAXINT64);
    return ok;
}

static gboolean
look(void *data)
{
    return has_stopped(data);
}

gboolean
qd_write_columns(const QdColumnWork *work, GError **error)
{
    g_autoptr(QdConnection) connection = qd_pool_open_connection(work->pool, QD_CONNECTION_READER, error);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(gint64));
    Round round = { .work = work, .connection = connection, .ids = ids };
    QdWatch watch = { .interrupt = { .look = look, .data = &round } };
    QdTallyTerms *terms;
    gboolean ok;

    if (connection == NULL)
        return FALSE;
    (void) qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    terms = qd_connection_get_attachment(connection, QD_ATTACHMENT_TALLY_TERMS);
    round.reader = qd_tally_terms_make_reader(terms, qd_connection_get_db(connection));
    qd_evaluation_begin_watch(connection, &watch);
    ok = run_round(&round, error);
    qd_evaluation_end_watch(connection, &watch);
    round.reader = qd_tally_reader_free(round.reader);
    if (ok || !has_stopped(&round))
        return ok;
    g_clear_error(error);
    return TRUE;
}
