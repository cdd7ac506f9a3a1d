/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of verbs.
 */
#include "client-lib/queryctl/verbs.h"

const QctlVerb *const *
qctl_verbs_list(void)
{
    static const QctlVerb *const verbs[] = {
        &qctl_sql_verb,
        &qctl_sparql_verb,
        &qctl_update_verb,
        &qctl_import_verb,
        &qctl_export_verb,
        &qctl_dump_verb,
        &qctl_explain_verb,
        &qctl_shell_verb,
        &qctl_ls_verb,
        &qctl_prefixes_verb,
        &qctl_stats_verb,
        &qctl_status_verb,
        &qctl_cancel_verb,
        &qctl_backup_verb,
        &qctl_restore_verb,
        &qctl_check_verb,
        &qctl_optimize_verb,
        &qctl_fulltext_verb,
        &qctl_payload_verb,
        &qctl_store_verb,
        &qctl_watch_verb,
        &qctl_web_verb,
        NULL,
    };

    return verbs;
}
