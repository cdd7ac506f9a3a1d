/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What payloads on their way in and out have in common.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/query-payload.h"

/* Returns: the folder of files, O_PATH; -1 when it cannot be seen. *@ret_path (transfer full): where it should be */
int query_payload_open_folder(QueryConnection *self, char **ret_path);
