/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text in the user's editor.
 *
 * Place: layer B; for the shell.
 */
#pragma once

#include <glib.h>

/**
 * qctl_edit_text:
 * @text: what the editor begins with
 * @suffix: of the file's name, by which an editor knows the language: ".sql"
 * @error: (nullable): location for an error
 *
 * Runs $VISUAL, $EDITOR or vi on a private file and waits for it. It has the terminal meanwhile.
 *
 * Errors: those of G_FILE_ERROR and G_SPAWN_ERROR; an editor that has failed
 *
 * Returns: (transfer full) (nullable): what the file holds then; NULL on error
 */
char *qctl_edit_text(const char *text, const char *suffix, GError **error);
