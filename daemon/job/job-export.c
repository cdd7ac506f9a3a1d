/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Export: a query's rows as text or for Arrow, to a descriptor of the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/write/writer.h"

#define FLUSH_BYTES (256 * 1024)

static gboolean
check_writable(QdCall *call, GError **error)
{
    int flags = fcntl(call->fd, F_GETFL);

    if (!qd_call_check_descriptor(call, error))
        return FALSE;
    if (flags >= 0 && ((flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR))
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "output is not a descriptor that is open for writing");
    return FALSE;
}

static gboolean
write_out(QdCall *call, GString *out, GError **error)
{
    if (out->len == 0)
        return TRUE;
    if (!qd_call_write_descriptor(call, out->str, out->len, error))
        return FALSE;

    call->result.n_bytes += out->len;
    g_string_truncate(out, 0);
    return TRUE;
}

static gboolean
write_much(QdCall *call, GString *out, GError **error)
{
    return out->len < FLUSH_BYTES || write_out(call, out, error);
}

static void
run_export(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    QdRunText what = { statement->language, statement->text, strlen(statement->text), call->options.base, call->options.dataset };
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRun) run = NULL;
    QdRunOptions options = {
        .timeout_msec = qd_call_get_timeout_msec(call),
        .max_rows = call->options.execution.max_rows,
        .max_bytes = call->options.execution.max_bytes,
        .cancelled = &call->private->entry.cancelled,
    };

    if (!check_writable(call, error) || !qd_call_check_format(call, error))
        return;
    options.begun_usec = what.begun_usec = (uint64_t) g_get_monotonic_time();
    what.timeout_msec = options.timeout_msec;
    run = qd_run_new(context->pool, call->client, NULL, &what, QD_POLICY_READ, &context->limits, error);
    if (run == NULL || !qd_run_bind_parameters(run, statement->parameters, error))
        return;

    options.generation = qd_writer_get_generation(context->writer);
    qd_run_set_options(run, &options);
    if (qd_call_pull_text(call, run, write_much, out, error))
        (void) write_out(call, out, error);
}

const QdCallClass qd_export_call = {
    .name = "Export",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(TIMEOUT) | QD_TAKES(MAX_ROWS) | QD_TAKES(MAX_BYTES) | QD_TAKES(HEADER) | QD_TAKES(RDF_TERMS) |
               QD_TAKES(BASE) | QD_TAKES(DATASET),
    .reads = TRUE,
    .obeys_access = TRUE,
    .run = run_export,
};
