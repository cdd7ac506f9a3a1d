/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryctl: the command line of queryd. Reads the arguments and calls the verb.
 *
 * Place: layer B. It includes nothing of ours but <query-client.h>: whatever it can do, every application can.
 */
#include <locale.h>
#include <stdio.h>

#include "client-lib/queryctl/verbs.h"

static int (*const verbs[QCTL_N_VERBS])(QctlSession *session) = {
    [QCTL_VERB_SQL] = qctl_verb_sql,           [QCTL_VERB_SPARQL] = qctl_verb_sparql,
    [QCTL_VERB_UPDATE] = qctl_verb_update,     [QCTL_VERB_IMPORT] = qctl_verb_import,
    [QCTL_VERB_EXPORT] = qctl_verb_export,     [QCTL_VERB_EXPLAIN] = qctl_verb_explain,
    [QCTL_VERB_SHELL] = qctl_verb_shell,       [QCTL_VERB_LS] = qctl_verb_ls,
    [QCTL_VERB_PREFIXES] = qctl_verb_prefixes, [QCTL_VERB_STATS] = qctl_verb_stats,
    [QCTL_VERB_STATUS] = qctl_verb_status,     [QCTL_VERB_CANCEL] = qctl_verb_cancel,
    [QCTL_VERB_BACKUP] = qctl_verb_backup,     [QCTL_VERB_CHECK] = qctl_verb_check,
    [QCTL_VERB_OPTIMIZE] = qctl_verb_optimize, [QCTL_VERB_STORE] = qctl_verb_store,
    [QCTL_VERB_FULLTEXT] = qctl_verb_fulltext, [QCTL_VERB_WATCH] = qctl_verb_watch,
};

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlArguments) arguments = NULL;
    g_autoptr(QctlSession) session = NULL;

    (void) setlocale(LC_ALL, "");
    arguments = qctl_arguments_parse(argc, (const char *const *) argv, &error);
    if (arguments == NULL) {
        (void) fprintf(stderr, "queryctl: %s\nTry 'queryctl --help'.\n", error->message);
        return QCTL_EXIT_USAGE;
    }
    if (arguments->help) {
        g_autofree char *help = qctl_arguments_get_help();

        (void) fputs(help, stdout);
        return QCTL_EXIT_OK;
    }
    if (arguments->version) {
        (void) puts("queryctl " QUERYD_VERSION);
        return QCTL_EXIT_OK;
    }

    session = qctl_session_new(arguments);
    return verbs[arguments->verb](session);
}
