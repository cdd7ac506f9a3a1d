/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables as a text of SQL that makes them again, also in SQLite itself.
 *
 * Place: layer B; for the verb dump and for .dump of the shell.
 */
#pragma once

#include "client-lib/queryctl/session.h"

/**
 * qctl_dump:
 * @sink: gets the text
 * @pattern: (nullable): a GLOB pattern of tables; without it views, their triggers and user_version are written, too
 * @ret_is_whole: (out): false: rows of tables that no statement can read are left out, as was reported
 * @error: (nullable): location for an error
 *
 * Writes one transaction: tables and rows, then indexes, triggers and views. One statement reads all rows, so they are of one
 * moment. An open transaction of the session is where it reads. Tables of SQLite and of the RDF store are left out.
 *
 * Errors: those of a query; BAD_PARAMETER for a pattern without a table. BUSY when the schema changes all the time. TOO_BIG for
 * more tables than one statement can read.
 *
 * Returns: false on error; the text that was written then has no COMMIT
 */
bool qctl_dump(QctlSession *session, QctlSink *sink, const char *pattern, bool *ret_is_whole, GError **error);
