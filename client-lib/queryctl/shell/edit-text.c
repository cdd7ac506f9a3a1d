/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The editor is a command of the shell, as in other programs: it may have arguments.
 */
#include "client-lib/queryctl/shell/edit-text.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Our own blocked and ignored signals are not the editor's. */
static void
restore_signals(gpointer user_data)
{
    sigset_t none;

    (void) signal(SIGPIPE, SIG_DFL);
    (void) signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

static const char *
get_editor(void)
{
    static const char *const names[] = { "VISUAL", "EDITOR" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *value = g_getenv(names[i]);

        if (value != NULL && value[0] != 0)
            return value;
    }
    return "vi";
}

static bool
run_editor(const char *path, GError **error)
{
    g_autofree char *command = g_strdup_printf("%s \"$1\"", get_editor());
    const char *argv[] = { "/bin/sh", "-c", command, "sh", path, NULL };
    int status = 0;

    return g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_CHILD_INHERITS_STDIN, restore_signals, NULL, NULL, NULL, &status,
                        error) &&
           g_spawn_check_wait_status(status, error);
}

char *
qctl_edit_text(const char *text, const char *suffix, GError **error)
{
    g_autofree char *pattern = g_strdup_printf("queryctl-XXXXXX%s", suffix);
    g_autofree char *path = NULL;
    char *edited = NULL;
    gsize n_bytes = 0;
    int fd = g_file_open_tmp(pattern, &path, error); /* of mode 0600 */

    if (fd < 0)
        return NULL;
    (void) close(fd);
    if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, error) || !run_editor(path, error) ||
        !g_file_get_contents(path, &edited, &n_bytes, error))
        g_clear_pointer(&edited, g_free);
    if (edited != NULL && strlen(edited) < n_bytes) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "it left no text: it has a NUL");
        g_clear_pointer(&edited, g_free);
    }
    (void) g_unlink(path);
    return edited;
}
