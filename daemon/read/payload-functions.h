/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads in SQL, so that an application's row and its payload are stored in one transaction:
 *
 *     queryd_payload(id)                               BLOB: the content; NULL when there is no such payload
 *     queryd_store_payload(blob [, media_type])        its id
 *     queryd_replace_payload(id, blob [, media_type])  the id
 *     queryd_delete_payload(id)                        1, or 0 when there was none
 *
 * Each gives NULL of NULL. The last three work in updates, triggers included.
 *
 * Place: room read; registered on every connection.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/* qd_payload_functions_register: @limits outlive @connection. */
gboolean qd_payload_functions_register(QdConnection *connection, const QdLimits *limits, GError **error);
