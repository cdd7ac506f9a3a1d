/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of values that solutions before a SERVICE have bound: packed by an aggregate, and read again.
 *
 * Place: room service, internal to it. A row is a sequence of values: u8 kind · i64, or u8 kind · u32 size · bytes.
 */
#pragma once

#include "daemon/service/service-access.h"

typedef struct QdServiceKey {
    int type; /* SQLITE_INTEGER, SQLITE_BLOB; SQLITE_NULL: unbound */
    gint64 id;
    const guint8 *blob;
    guint32 n_bytes;
} QdServiceKey;

/* The value at *@offset of @keys, which moves on to the next. FALSE: they end, or are none of ours. */
gboolean qd_service_keys_read(const guint8 *keys, gsize n_bytes, gsize *offset, QdServiceKey *ret_key);

gboolean qd_service_key_equal(const QdServiceKey *a, const QdServiceKey *b);
/* Lives as long as @value. */
QdServiceKey qd_service_key_from_value(sqlite3_value *value);

gboolean qd_service_keys_register(sqlite3 *db, GError **error);
