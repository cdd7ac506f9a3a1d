/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows that commits have changed, as the signal RowsChanged names them.
 *
 * Place: room bus. Invariant: never too little: what is not known by keys is reported as a whole table, or as all tables.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "daemon/notify/key-source.h"
#include "daemon/notify/read-set.h"

/**
 * qd_bus_rows_append:
 * @signal: (transfer none): a message being built
 * @reads: the tables that a subscription reads
 * @source: (nullable): whose rows its result has
 * @changes: what commits have changed, which has touched it
 *
 * Appends a(sbasasa(sav)), an entry for each changed table that is read. It has the name, whether any row may have changed, and the
 * columns of the key. The columns of the result that have this key and the changed rows follow. "*" means all tables.
 *
 * Returns: as sd_bus_message_append()
 */
int qd_bus_rows_append(sd_bus_message *signal, const QdReadSet *reads, const QdKeySource *source, const QdChanges *changes);
