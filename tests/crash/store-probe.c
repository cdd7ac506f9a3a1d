/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The real code does the recovery: qd_database_open().
 */
#include "tests/crash/store-probe.h"

#include "daemon/payload/payload.h"
#include "daemon/read/evaluation.h"
#include "daemon/store/database.h"

static gboolean
check_integrity(QdConnection *connection, ProbeResult *result)
{
    sqlite3 *db = qd_connection_get_db(connection);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = NULL;
    const char *text = NULL;
    gboolean ok;

    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        text = (const char *) sqlite3_column_text(stmt, 0);
    ok = g_strcmp0(text, "ok") == 0;
    if (!ok)
        result->report.first_problem = g_strdup_printf("integrity_check: %s", text != NULL ? text : sqlite3_errmsg(db));
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    return ok;
}

#define COUNT_COLUMNS \
    "SELECT count(*) FROM queryd_column AS c JOIN queryd_predicate AS q ON q.id=c.p AND q.stamp=c.mark WHERE c.part=0"

/* A column that would be believed is that of the quads. */
static gboolean
check_columns(QdConnection *connection, const QdLimits *limits, ProbeResult *result)
{
    g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) wrong = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GError) error = NULL;
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    gboolean ok = qd_evaluation_register(connection, limits, &error) &&
                  qd_connection_get_int64(connection, COUNT_COLUMNS, &result->n_columns, &error) &&
                  qd_evaluation_check_columns(connection, messages, wrong, &error) && messages->len == 0;

    if (!ok)
        result->report.first_problem = g_strdup(messages->len > 0 ? messages->pdata[0] : error->message);
    (void) qd_connection_set_policy(connection, policy);
    return ok;
}

static gboolean
on_payload(const char *fault, void *data)
{
    ProbeResult *result = data;

    result->n_check_faults += fault != NULL ? 1 : 0;
    return TRUE;
}

/* As the engine does it at its start: then files and rows have to be each other's. */
static void
sweep(const char *directory, QdConnection *connection, const QdLimits *limits, ProbeResult *result)
{
    g_autoptr(QdPayloads) payloads = qd_payloads_new(directory, limits);
    g_autofree char *folder = g_build_filename(directory, "payload", NULL);
    g_autoptr(GDir) dir = NULL;
    gint64 n_hashes = 0;
    guint n_files = 0;

    qd_payloads_sweep(payloads, connection, QD_PAYLOAD_SWEEP_ALL);
    dir = g_dir_open(folder, 0, NULL);
    while (dir != NULL && g_dir_read_name(dir) != NULL)
        n_files++;
    (void) qd_connection_get_int64(connection, "SELECT count(DISTINCT hash) FROM queryd_payload WHERE content IS NULL", &n_hashes,
                                   NULL);
    result->n_orphans = n_files > n_hashes ? n_files - (guint) n_hashes : 0;
    if (!qd_payloads_check(connection, TRUE, on_payload, result, NULL))
        result->corrupt = TRUE;
}

void
store_probe_run(const char *directory, const Workload *workload, guint position, ProbeResult *ret_result)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdDatabase) database = NULL;
    g_autoptr(QdConnection) connection = NULL;
    QdLimits limits;
    guint n_faults;

    *ret_result = (ProbeResult){ 0 };
    qd_limits_init(&limits);
    limits.values[QD_LIMIT_FREE_DISK_BYTES] = 0;
    database = qd_database_open(directory, &limits, &error);
    if (database == NULL) {
        ret_result->corrupt = TRUE;
        ret_result->report.first_problem = g_strdup(error->message);
        return;
    }
    connection = qd_database_steal_writer(database);
    ret_result->corrupt = !check_integrity(connection, ret_result) || !check_columns(connection, &limits, ret_result);
    if (ret_result->corrupt)
        return;
    sweep(directory, connection, &limits, ret_result);
    workload_check(workload, connection, position, &ret_result->report);
    n_faults = ret_result->report.n_payload_faults + ret_result->report.n_payload_faults_relaxed;
    ret_result->check_is_wrong = ret_result->n_check_faults != n_faults;
    if (ret_result->check_is_wrong && ret_result->report.first_problem == NULL)
        ret_result->report.first_problem = g_strdup_printf("the check of payloads has found %u faults of %u",
                                                           ret_result->n_check_faults, n_faults);
}

void
store_probe_clear(ProbeResult *result)
{
    g_clear_pointer(&result->report.first_problem, g_free);
}
