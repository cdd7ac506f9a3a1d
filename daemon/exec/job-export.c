/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Export: a query's rows as text, to a descriptor of the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "daemon/exec/bind.h"
#include "daemon/exec/jobs.h"
#include "daemon/exec/run.h"
#include "daemon/exec/text-writer.h"

#define SLICE_USEC 100000
#define FLUSH_BYTES (256 * 1024)

static gboolean
check_writable(QdCall *call, GError **error)
{
    int flags = fcntl(call->fd, F_GETFL);

    if (!qd_job_check_descriptor(call, error))
        return FALSE;
    if (flags >= 0 && ((flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR))
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "output is not a descriptor that is open for writing");
    return FALSE;
}

static QdTextWriter *
make_writer(QdCall *call, sqlite3_stmt *stmt, GError **error)
{
    int n = sqlite3_column_count(stmt);
    g_autofree const char **names = g_new0(const char *, (gsize) n + 1);
    QdTextFormat format;

    if (!qd_text_format_from_name(call->format, &format)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown format '%s': csv, tsv, json and jsonl are known", call->format);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        names[i] = sqlite3_column_name(stmt, i);
    return qd_text_writer_new(format, names, (guint) n, call->options.header);
}

static gboolean
flush(QdCall *call, GString *out, gsize keep_below, GError **error)
{
    if (out->len == 0 || out->len < keep_below)
        return TRUE;
    if (!qd_job_write(call, out->str, out->len, error))
        return FALSE;

    call->n_bytes += out->len;
    g_string_truncate(out, 0);
    return TRUE;
}

/* Returns: 1 to go on, 0 at the end, -1 on error */
static int
export_page(QdCall *call, QdRun *run, QdTextWriter *writer, uint8_t *buffer, GString *out, GError **error)
{
    g_autofree uint8_t *large = NULL;
    QwPageReader reader;
    QwPageWriter page;
    QdRunStatus status;

    qw_page_writer_init(&page, buffer, QW_PAGE_SIZE_DEFAULT, 0);
    status = qd_run_fill(run, &page, SIZE_MAX, SLICE_USEC, error);
    if (status == QD_RUN_LARGE) {
        gsize size = qd_run_get_row_size(run);

        large = g_malloc(size);
        qw_page_writer_init(&page, large, size, 0);
        status = qd_run_fill(run, &page, 0, SLICE_USEC, error);
    }
    if (status == QD_RUN_FAILED)
        return -1;
    if (page.n_rows > 0) {
        if (qw_page_reader_init(&reader, page.data + QW_HEADER_SIZE, page.used - QW_HEADER_SIZE, page.n_rows, page.n_columns) < 0)
            return -1;
        while (qw_page_reader_next(&reader))
            qd_text_writer_put_row(writer, &reader, out);
    }
    __atomic_store_n(&call->progress.rows_done, qd_run_get_n_rows(run), __ATOMIC_RELAXED);
    return status == QD_RUN_DONE ? 0 : 1;
}

void
qd_job_export(QdCall *call, GError **error)
{
    QdEngine *engine = call->private->engine;
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    g_autofree uint8_t *buffer = g_malloc(QW_PAGE_SIZE_DEFAULT);
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdTextWriter) writer = NULL;
    g_autoptr(QdRun) run = NULL;
    QdRunOptions options = {
        .timeout_msec = qd_engine_get_timeout_msec(engine, QD_LIMIT_QUERY_TIMEOUT_MSEC, call->options.has_timeout,
                                                   call->options.timeout_msec),
        .max_rows = call->options.max_rows,
        .max_bytes = call->options.max_bytes,
        .cancelled = &call->private->entry.cancelled,
    };
    int r;

    if (!check_writable(call, error) || !qd_engine_check_language(statement->language, error))
        return;
    run = qd_run_new(engine->pool, call->client, NULL, statement->text, strlen(statement->text), QD_POLICY_READ, &engine->limits,
                     error);
    if (run == NULL || !qd_bind_parameters(qd_run_get_stmt(run), statement->parameters, error))
        return;
    writer = make_writer(call, qd_run_get_stmt(run), error);
    if (writer == NULL)
        return;

    options.generation = qd_writer_get_generation(engine->writer);
    qd_run_set_options(run, &options);
    qd_text_writer_begin(writer, out);
    while ((r = export_page(call, run, writer, buffer, out, error)) > 0)
        if (!flush(call, out, FLUSH_BYTES, error))
            return;
    if (r < 0)
        return;
    qd_text_writer_end(writer, out);
    if (flush(call, out, 0, error))
        call->n_rows = qd_run_get_n_rows(run);
    call->truncated = qd_run_is_truncated(run);
}
