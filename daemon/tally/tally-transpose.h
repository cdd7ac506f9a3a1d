/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The other order of a column: the same pairs by their values.
 *
 * Place: room tally, internal to it. It takes a third of the time of reading the pairs from an index.
 */
#pragma once

#include "daemon/tally/tally-column.h"

/* @order: the other one. @cache_bytes: as of qd_tally_reader_new(). Returns: SQLITE_OK, SQLITE_NOMEM or SQLITE_INTERRUPT */
int qd_tally_transpose(const QdTallyColumn *column, QdTallyOrder order, guint64 cache_bytes, QdTallyColumn **ret_column);
