/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report is there before the names change: beside a file that was set aside there is always the list of losses.
 */
#include "daemon/recover/recovery.h"

#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/disk.h"
#include "daemon/base/error.h"
#include "daemon/payload/payload.h"
#include "daemon/recover/replace.h"
#include "daemon/recover/salvage.h"

/* Generations have to grow even when the number of starts of the store is lost. */
#define USEC_PER_START G_GUINT64_CONSTANT(3600000000)
/* Lines of the report. */
#define MAX_NAMED_PAYLOADS 1000u

void
qd_recovery_result_clear(QdRecoveryResult *self)
{
    g_free(self->aside);
    g_free(self->report);
    *self = (QdRecoveryResult){ 0 };
}

static gboolean
check_space(const QdRecoveryOptions *options, const char *source, GError **error)
{
    struct stat st;
    uint64_t free_bytes;

    if (stat(source, &st) < 0 || !qd_disk_find_free_bytes(options->directory, &free_bytes, NULL))
        return TRUE;
    if (free_bytes >= (guint64) st.st_size)
        return TRUE;
    qd_error_set(error, QW_ERROR_DISK_FULL,
                 "it is damaged, and to salvage it takes about %" G_GUINT64_FORMAT
                 " bytes: the file system has only %" G_GUINT64_FORMAT,
                 (guint64) st.st_size, free_bytes);
    return FALSE;
}

static gboolean
write_report(const QdSalvageReport *report, const char *aside, const char *path, GError **error)
{
    g_autofree char *text = qd_salvage_report_format(report, aside);
    g_autoptr(GError) failure = NULL;

    if (g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &failure))
        return TRUE;
    qd_error_set(error, QW_ERROR_DISK_FULL, "cannot write the report of the salvage: %s", failure->message);
    return FALSE;
}

/* Files of payloads whose rows are lost, and some that were to be deleted anyway: the two look alike. */
static gboolean
keep_payloads(const QdRecoveryOptions *options, const char *target, QdSalvageReport *report, GError **error)
{
    const QdConnectionInfo info = { .path = target, .setup = options->setup, .foreign = TRUE };
    g_autoptr(QdConnection) reader = qd_connection_open(&info, QD_CONNECTION_READER, options->limits, error);
    g_autoptr(GPtrArray) hashes = NULL;
    g_autofree char *folder = NULL;

    if (reader == NULL || !qd_payloads_set_aside(reader, &hashes, &folder, error))
        return FALSE;
    if (hashes->len > 0)
        qd_salvage_report_note(report, "%u payload files that no row names are kept in '%s':", hashes->len, folder);
    for (guint i = 0; i < MIN(hashes->len, MAX_NAMED_PAYLOADS); i++) {
        char name[2 * QD_SHA256_BYTES + 1];

        qd_sha256_to_hex(g_bytes_get_data(hashes->pdata[i], NULL), name);
        qd_salvage_report_note(report, "    %s", name);
    }
    if (hashes->len > MAX_NAMED_PAYLOADS)
        qd_salvage_report_note(report, "    and %u more", hashes->len - MAX_NAMED_PAYLOADS);
    return TRUE;
}

static gboolean
replace(const QdRecoveryOptions *options, const QdSalvageReport *report, QdRecoveryResult *result, GError **error)
{
    if (!qd_replace_begin(options->directory, "corrupt", &result->aside, error))
        return FALSE;
    result->report = g_strconcat(result->aside, ".report.txt", NULL);
    return write_report(report, result->aside, result->report, error) && qd_replace_finish(options->directory, error);
}

gboolean
qd_recovery_run(const QdRecoveryOptions *options, QdRecoveryResult *ret_result, GError **error)
{
    g_autofree char *source = g_build_filename(options->directory, "queryd.db", NULL);
    g_autofree char *target = qd_replace_get_path(options->directory);
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    QdRecoveryResult result = { 0 };
    const QdSalvageOptions salvage = {
        .source = source,
        .target = target,
        .limits = options->limits,
        .setup = options->setup,
        .cancelled = options->cancelled,
        .start_counter = MAX(options->start_counter, (guint64) g_get_real_time() / USEC_PER_START),
    };

    if (!check_space(options, source, error) || !qd_salvage_run(&salvage, report, error))
        return FALSE;
    if (report->n_rows == 0) { /* an empty store is no better than a broken one */
        (void) unlink(target);
        qd_error_set(error, QW_ERROR_CORRUPT, "not one row of '%s' can be salvaged", source);
        return FALSE;
    }
    if (!keep_payloads(options, target, report, error)) {
        (void) unlink(target);
        return FALSE;
    }
    if (!replace(options, report, &result, error)) {
        qd_recovery_result_clear(&result);
        return FALSE;
    }
    result.n_rows = report->n_rows;
    result.n_doubtful_rows = report->n_doubtful_rows;
    result.n_lost_rows = report->n_lost_rows;
    result.n_lost_pages = report->n_lost_pages;
    result.n_left_out = report->n_left_out;
    *ret_result = result;
    return TRUE;
}
