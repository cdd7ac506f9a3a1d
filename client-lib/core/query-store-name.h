/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of stores, the folder that they are below, and the store that a sandboxed application has for itself.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include <glib.h>

/* Whether it may be a store's name: letters, digits and '_'; or "app." and the id of an application. "default" is one. */
gboolean query_store_name_is_valid(const char *name);

/*
 * query_store_name_find_own: (transfer full) (nullable): "app.ID" in a sandbox of Flatpak, whose file says which application it
 * is. NULL: this is no sandbox. It only says where to ask: the daemon finds out by itself which application asks.
 */
char *query_store_name_find_own(void);

/* (transfer full): as g_get_user_data_dir(), but a relative XDG_DATA_HOME or HOME is ignored, as the specification says */
char *query_folders_get_data(void);
