/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The internal schema: tables with the prefix queryd_, made and changed by numbered steps.
 *
 * Place: layer 2. Invariant: a step that was released never changes; a file is at a whole step, whatever happened.
 */
#pragma once

#include "daemon/store/connection.h"

/* The newest step, and so the version of a file that this queryd writes. */
#define QD_SCHEMA_VERSION 5

/* The steps that the file lacks, each in a transaction. The connection is the writer's and in no transaction. */
gboolean qd_schema_migrate(QdConnection *connection, GError **error);

/* The file's version; 0 when it is no store yet. */
gboolean qd_schema_get_version(QdConnection *connection, gint64 *ret_version, GError **error);
