/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryctl: the command line of queryd. Reads the arguments and calls the verb.
 *
 * Place: layer B. It includes nothing of ours but <query-client.h>: every application can do what it can.
 */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>

#include "client-lib/queryctl/complete.h"
#include "client-lib/queryctl/verbs.h"
#include "client-lib/wire/wire-environment.h"

/* What stdio keeps until the end, such as the help, may find a full disk only now. A reader that has read enough is no error.
 * @saved: errno of a text that was too long to be kept, or 0 */
static int
finish_output(int code, int saved)
{
    struct pollfd entry = { .fd = STDOUT_FILENO };

    errno = saved;
    if ((fflush(stdout) == 0 && ferror(stdout) == 0) || (poll(&entry, 1, 0) == 1 && (entry.revents & POLLERR) != 0))
        return code;
    (void) fprintf(stderr, "queryctl: cannot write the output%s%s\n", errno != 0 ? ": " : "", errno != 0 ? g_strerror(errno) : "");
    return code != QCTL_EXIT_OK ? code : QCTL_EXIT_QUERY;
}

static int
print(const char *text)
{
    return finish_output(QCTL_EXIT_OK, fputs(text, stdout) < 0 ? errno : 0);
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlArguments) arguments = NULL;
    g_autoptr(QctlSession) session = NULL;

    qw_environment_fill_streams();
    qw_environment_forget_relative_folders();
    (void) setlocale(LC_ALL, "");
    if (argc > 1 && g_str_equal(argv[1], "--complete"))
        return finish_output(qctl_complete(argc - 2, (const char *const *) argv + 2), 0);
    arguments = qctl_arguments_parse(argc, (const char *const *) argv, &error);
    if (arguments == NULL) {
        (void) fprintf(stderr, "queryctl: %s\nTry 'queryctl --help'.\n", error->message);
        return QCTL_EXIT_USAGE;
    }
    if (arguments->help) {
        g_autofree char *help = qctl_arguments_get_help(arguments->verb);

        return print(help);
    }
    if (arguments->version)
        return print("queryctl " QUERYD_VERSION "\n");

    session = qctl_session_new(arguments);
    return finish_output(arguments->verb->run(session), 0);
}
