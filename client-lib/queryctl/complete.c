/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of verbs and options say what may stand where.
 */
#include "client-lib/queryctl/complete.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/queryctl/verbs.h"

/* As a line typed, without its errors: the daemon may not be there. */
static void
print_output(const char *line)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    g_autoptr(QctlArguments) arguments = qctl_arguments_parse((int) g_strv_length(words), (const char *const *) words, NULL);
    g_autoptr(QctlSession) session = qctl_session_new(arguments);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void) dup2(fd, STDERR_FILENO);
        (void) close(fd);
    }
    (void) arguments->verb->run(session);
}

static void
print_list(const char *const *words)
{
    for (; words != NULL && *words != NULL; words++)
        (void) puts(*words);
}

static void
print_values(QctlValues values)
{
    static const char *const tokenizers[] = { "unicode61", "porter", "trigram", NULL };

    switch (values) {
    case QCTL_VALUES_ANY:
        break;
    case QCTL_VALUES_FILES:
        (void) puts(":files");
        break;
    case QCTL_VALUES_TABLES:
        print_output("queryctl ls --format tsv --no-header");
        break;
    case QCTL_VALUES_STORES:
        print_output("queryctl store list --format tsv --no-header");
        break;
    case QCTL_VALUES_FORMATS:
        print_list(qctl_format_list());
        break;
    case QCTL_VALUES_TOKENIZERS:
        print_list(tokenizers);
        break;
    case QCTL_VALUES_COMMANDS: /* within the shell only */
        break;
    }
}

static void
print_options(const QctlVerb *verb)
{
    g_autoptr(GPtrArray) options = qctl_arguments_list_options(verb);

    for (guint i = 0; i < options->len; i++) {
        const QctlOption *option = options->pdata[i];

        (void) printf("--%s\t%s\n", option->name, option->help);
    }
}

static void
print_verbs(void)
{
    for (const QctlVerb *const *verb = qctl_verbs_list(); *verb != NULL; verb++)
        (void) printf("%s\t%s\n", (*verb)->name, (*verb)->help);
}

/* @n_before: words of @verb that stand before */
static void
print_words(const QctlVerb *verb, guint n_before)
{
    if (verb->actions != NULL && n_before == 0)
        print_list(verb->actions);
    else if (n_before < verb->n_words_max)
        print_values(verb->values);
}

int
qctl_complete(int n_words, const char *const *words)
{
    const char *current = n_words > 0 ? words[n_words - 1] : "";
    const QctlOption *waits = NULL; /* for its value, which is the next word */
    const QctlVerb *verb = NULL;
    guint n_before = 0;

    for (int i = 0; i + 1 < n_words; i++) {
        const QctlOption *option = waits == NULL && qctl_arguments_is_option(words[i]) ? qctl_arguments_find_option(words[i])
                                                                                       : NULL;
        bool is_whole = option != NULL && (words[i][1] == '-' ? strchr(words[i], '=') != NULL : words[i][2] != 0);

        if (waits == NULL && !qctl_arguments_is_option(words[i]) && verb != NULL)
            n_before++;
        else if (waits == NULL && !qctl_arguments_is_option(words[i]))
            verb = qctl_arguments_find_verb(words[i]);
        waits = option != NULL && option->argument != NULL && !is_whole ? option : NULL;
    }

    if (waits != NULL)
        print_values(waits->values);
    else if (current[0] == '-')
        print_options(verb);
    else if (verb == NULL)
        print_verbs();
    else
        print_words(verb, n_before);
    return QCTL_EXIT_OK;
}
