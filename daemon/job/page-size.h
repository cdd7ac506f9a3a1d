/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another page size for a database that any program may have made.
 *
 * Place: room job, for a restore.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/**
 * qd_page_size_change:
 * @connection: the only one on its file, a writer; from now on it may refuse calls of functions that are not ours
 * @page_size: in bytes
 *
 * Rows, keys and definitions stay as they are, also where those call functions, or name collations, of another program.
 *
 * Returns: false on error; then the definitions may be others
 */
gboolean qd_page_size_change(QdConnection *connection, gint64 page_size, GError **error);
