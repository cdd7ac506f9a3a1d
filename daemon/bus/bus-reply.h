/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results of the engine into messages.
 *
 * Place: room bus. Invariant: nothing is appended that sd-bus would refuse, regardless of the database's content.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "client-lib/wire/wire-value.h"
#include "daemon/engine/engine.h"

/**
 * qd_bus_append_column_names:
 * @reply: (transfer none): a message being built
 * @columns: (nullable): of QdCallColumn
 *
 * Appends as. Returns: 0 or more on success, a negative errno
 */
int qd_bus_append_column_names(sd_bus_message *reply, const GArray *columns);

/**
 * qd_bus_append_columns:
 * @reply: (transfer none): a message being built
 * @columns: (nullable): of QdCallColumn
 *
 * Appends a(ss): name, declared type. Returns: 0 or more on success, a negative errno
 */
int qd_bus_append_columns(sd_bus_message *reply, const GArray *columns);

/**
 * qd_bus_append_rows:
 * @reply: (transfer none): a message being built
 * @call: (transfer none): with pages and page_rows
 *
 * Appends aav. Returns: 0 or more on success; -EBADMSG for a page that is none; -EMSGSIZE when it gets too large
 */
int qd_bus_append_rows(sd_bus_message *reply, const QdCall *call);

/**
 * qd_bus_append_value:
 * @reply: (transfer none): a message being built
 * @value: (transfer none): any value
 *
 * Appends v. Returns: 0 or more on success, a negative errno
 */
int qd_bus_append_value(sd_bus_message *reply, const QwValue *value);
