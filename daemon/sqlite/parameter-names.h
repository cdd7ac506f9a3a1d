/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds the time that SQLite takes for the names of parameters.
 *
 * Place: room sqlite, before a text is compiled. "?7" is a name to SQLite, as ":a" is. For each use of a name it walks over the
 * names of all parameters. For 32,000 that took 2 s, and nothing could end it.
 */
#pragma once

#include <glib.h>

/**
 * qd_parameter_names_drop_numbers:
 * @text: (array length=n_bytes): SQL
 * @ret_text: (out) (nullable) (transfer full): the text to compile instead, as long, with a NUL; NULL: @text
 *
 * A number that is what "?" alone would get is replaced by blanks, so that positions in the text stay. Its parameter has no name.
 * It is done from 1,000 parameters on.
 *
 * Thread: any. Errors: TOO_COMPLEX: the names that are left would take too long.
 */
gboolean qd_parameter_names_drop_numbers(const char *text, gsize n_bytes, char **ret_text, GError **error);
