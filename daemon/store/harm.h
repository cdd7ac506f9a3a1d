/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why the internal tables of a store are not ours any more: another program has changed them, or their pages are damaged.
 *
 * Place: room store, for opening.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/**
 * qd_harm_explain:
 * @connection: maps no page of the database afterwards
 * @directory: of the store
 * @failure: (transfer full): an error of the steps or of the check of the schema
 * @error: (nullable): location for the error that says more; CORRUPT where @failure is that the tables are not as ours are
 *
 * Reads the tables that the check of the schema reads rows of, up to the first finding.
 *
 * Returns: TRUE: another program has changed them, in a file that is whole
 */
gboolean qd_harm_explain(QdConnection *connection, const char *directory, GError *failure, GError **error);

/* A wrong byte in the header, which SQLite has no code of its own for, is CORRUPT, too. */
void qd_harm_correct_unknown_format(GError **error);
