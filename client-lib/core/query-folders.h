/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the user's data are, as the daemon finds them.
 *
 * Place: internal to libquery-client and its modules.
 */
#pragma once

#include <glib.h>

#pragma GCC visibility push(default) /* for the library's module, as query-client.map says */
/* (transfer full): as g_get_user_data_dir(), but a relative XDG_DATA_HOME or HOME is ignored, as the specification says */
char *query_folders_get_data(void);
#pragma GCC visibility pop
