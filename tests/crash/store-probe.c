/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The real code does the recovery: qd_database_open().
 */
#include "tests/crash/store-probe.h"

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

void
store_probe_run(const char *directory, const Workload *workload, guint position, ProbeResult *ret_result)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdDatabase) database = NULL;
    g_autoptr(QdConnection) connection = NULL;
    QdLimits limits;

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
    ret_result->corrupt = !check_integrity(connection, ret_result);
    if (!ret_result->corrupt)
        workload_check(workload, connection, position, &ret_result->report);
}

void
store_probe_clear(ProbeResult *result)
{
    g_clear_pointer(&result->report.first_problem, g_free);
}
