/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maintenance: Check, Optimize.
 */
#include <string.h>

#include "daemon/base/small-file.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/payload/payload.h"
#include "daemon/quads/fts.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/recover/integrity.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/store/database.h"
#include "daemon/write/write-columns.h"
#include "daemon/write/writer.h"

#define COPY_BYTES (1024 * 1024)
#define MEMINFO_BYTES_MAX (64 << 10)
#define DAMAGE_MAX 100u

/* Check ----------------------------------------------------------------------------------------------------------------- */

static gboolean
check_is_over(void *data, uint64_t now_usec)
{
    return qd_call_is_cancelled(data, NULL);
}

static gboolean
look_at_check(void *data)
{
    return qd_call_is_cancelled(data, NULL);
}

static gboolean
on_payload_checked(const char *message, void *data)
{
    QdCall *call = data;

    if (message != NULL)
        g_ptr_array_add(call->result.messages, g_strdup(message));
    return !qd_call_is_cancelled(call, NULL);
}

static QdColumnWork
make_column_work(QdCall *call)
{
    const QdContext *context = call->private->context;

    return (QdColumnWork){
        .writer = qd_database_is_read_only(context->database) ? NULL : context->writer,
        .pool = context->pool,
        .limits = &context->limits,
        .is_of_all = TRUE,
        .stop = look_at_check,
        .data = call,
        .cancelled = &call->private->entry.cancelled,
    };
}

static void
note_damage(const char *message, gpointer data)
{
    GPtrArray *messages = data;

    if (messages->len < DAMAGE_MAX && qd_integrity_is_damage(message))
        g_ptr_array_add(messages, g_strdup(message));
}

static int
query_check(QdCall *call, sqlite3 *db, gboolean quick)
{
    g_ptr_array_set_size(call->result.messages, 0);
    return qd_integrity_query(db, NULL, quick, note_damage, call->result.messages);
}

/* Definitions may call functions of another program, which made the file: what cannot be computed is not compared. */
static int
check_database(QdCall *call, sqlite3 *db)
{
    int r = query_check(call, db, call->options.quick);

    return (r & 0xff) == SQLITE_ERROR && !call->options.quick ? query_check(call, db, TRUE) : r;
}

static gboolean
check_columns(QdCall *call, QdConnection *connection, GError **error)
{
    const QdColumnWork work = make_column_work(call);

    return qd_write_columns_check(&work, connection, call->result.messages, error);
}

/* FALSE: damage was found, or, with @error, it could not be checked. */
static gboolean
check_all(QdCall *call, QdConnection *connection, GError **error)
{
    QdContext *context = call->private->context;
    sqlite3 *db = qd_connection_get_db(connection);
    int r = check_database(call, db);

    if (qd_sqlite_get_code(r) == QW_ERROR_CORRUPT) {
        g_ptr_array_add(call->result.messages, g_strdup(sqlite3_errstr(r)));
    } else if (r != SQLITE_DONE) {
        g_ptr_array_set_size(call->result.messages, 0);
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
        if ((r & 0xff) != SQLITE_INTERRUPT)
            g_prefix_error(error, "the database could not be checked: ");
        return FALSE;
    }

    for (guint i = 0; i < call->result.messages->len; i++)
        context->hooks.damaged(call->result.messages->pdata[i], context->hooks.user_data);
    return call->result.messages->len == 0 &&
           qd_payloads_check(connection, !call->options.quick, on_payload_checked, call, error) &&
           qd_fts_check(connection, call->result.messages, error) &&
           (call->options.quick || check_columns(call, connection, error)) && call->result.messages->len == 0;
}

static void
run_check(QdCall *call, GError **error)
{
    g_autoptr(QdConnection) connection = qd_pool_open_connection(call->private->context->pool, QD_CONNECTION_READER, error);
    QdWatch watch = { .interrupt = { .look = look_at_check, .data = call }, .is_over = check_is_over };

    if (connection == NULL)
        return;

    qd_evaluation_begin_watch(connection, &watch);
    call->result.ok = check_all(call, connection, error);
    qd_evaluation_end_watch(connection, &watch);
}

/* Optimize -------------------------------------------------------------------------------------------------------------- */

static gboolean
optimize(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    return qd_connection_execute(connection, "PRAGMA analysis_limit=1000; PRAGMA optimize", error) &&
           qd_connection_spread_statistics(connection, error) &&
           qd_connection_execute(connection, "PRAGMA wal_checkpoint(TRUNCATE)", error);
}

/* What the kernel could give without swapping, in bytes; 0 when it does not say. */
static uint64_t
get_available_memory(void)
{
    g_autofree char *text = qd_small_file_read("/proc/meminfo", MEMINFO_BYTES_MAX, NULL);
    const char *line;

    if (text == NULL)
        return 0;

    line = strstr(text, "MemAvailable:");
    return line != NULL ? 1024 * g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10) : 0;
}

/*
 * Through SQLite's own descriptor of the file: another one of this process, when closed, would drop the locks of all connections.
 * By reading and not by mapping or advice: what was read is in the page cache.
 */
static void
warm(QdCall *call, GError **error)
{
    g_autoptr(QdConnection) connection = qd_pool_open_connection(call->private->context->pool, QD_CONNECTION_READER, error);
    g_autofree char *buffer = g_malloc(COPY_BYTES);
    sqlite3_int64 n_bytes = 0;
    sqlite3_file *file = NULL;
    int r;

    if (connection == NULL || !qd_connection_execute(connection, "PRAGMA mmap_size=0", error))
        return;

    r = sqlite3_file_control(qd_connection_get_db(connection), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (r == SQLITE_OK)
        r = file->pMethods->xFileSize(file, &n_bytes);
    n_bytes = MIN(n_bytes, (sqlite3_int64) (get_available_memory() / 2));
    for (sqlite3_int64 done = 0; r == SQLITE_OK && done < n_bytes && !qd_call_is_cancelled(call, error); done += COPY_BYTES)
        r = file->pMethods->xRead(file, buffer, (int) MIN(COPY_BYTES, n_bytes - done), done);
    if (r != SQLITE_OK && r != SQLITE_IOERR_SHORT_READ) /* VACUUM may shorten it meanwhile */
        qd_sqlite_set_error(error, NULL, r, NULL, 0, NULL);
}

static gboolean
store_columns(QdCall *call, GError **error)
{
    const QdColumnWork work = make_column_work(call);

    return work.writer == NULL || (qd_write_columns(&work, error) && !qd_call_is_cancelled(call, error));
}

static void
run_optimize(QdCall *call, GError **error)
{
    QdWriteItem item;

    if (call->options.warm) {
        warm(call, error);
        return;
    }

    qd_write_item_init(&item);
    item.times.timeout_msec = qd_limits_get(&call->private->context->limits, QD_LIMIT_UPDATE_TIMEOUT_MSEC);
    item.cancelled = &call->private->entry.cancelled;
    if (store_columns(call, error)) /* before the log is written back */
        (void) qd_writer_run_exclusive(call->private->context->writer, &item, FALSE, optimize, NULL, error);
    qd_write_item_clear(&item);
}

const QdCallClass qd_check_call = {
    .name = "Check",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(QUICK),
    .reads = TRUE,
    .is_uncharged = TRUE,
    .is_not_for_sandbox = TRUE,
    .run = run_check,
};

const QdCallClass qd_optimize_call = {
    .name = "Optimize",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(WARM),
    .is_uncharged = TRUE,
    .run = run_optimize,
};
