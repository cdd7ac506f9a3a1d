/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryctl: the command line of queryd. Reads the arguments and calls the verb.
 *
 * Place: layer B. It includes nothing of ours but <query-client.h>: every application can do what it can.
 */
#include <locale.h>
#include <stdio.h>

#include "client-lib/queryctl/complete.h"
#include "client-lib/queryctl/verbs.h"

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlArguments) arguments = NULL;
    g_autoptr(QctlSession) session = NULL;

    (void) setlocale(LC_ALL, "");
    if (argc > 1 && g_str_equal(argv[1], "--complete"))
        return qctl_complete(argc - 2, (const char *const *) argv + 2);
    arguments = qctl_arguments_parse(argc, (const char *const *) argv, &error);
    if (arguments == NULL) {
        (void) fprintf(stderr, "queryctl: %s\nTry 'queryctl --help'.\n", error->message);
        return QCTL_EXIT_USAGE;
    }
    if (arguments->help) {
        g_autofree char *help = qctl_arguments_get_help(arguments->verb);

        (void) fputs(help, stdout);
        return QCTL_EXIT_OK;
    }
    if (arguments->version) {
        (void) puts("queryctl " QUERYD_VERSION);
        return QCTL_EXIT_OK;
    }

    session = qctl_session_new(arguments);
    return arguments->verb->run(session);
}
