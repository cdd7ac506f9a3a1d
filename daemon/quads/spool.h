/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes that are written first and read afterwards, in their order: in memory while they are few, then in a temporary file.
 *
 * Place: room quads. The file has no name, and is gone with its descriptor.
 */
#pragma once

#include <glib.h>

#include "daemon/base/error.h"

typedef struct QdSpool QdSpool;

/* @directory: where the file goes; copied */
QdSpool *qd_spool_new(const char *directory);
QdSpool *qd_spool_free(QdSpool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSpool, qd_spool_free)

gboolean qd_spool_write(QdSpool *self, const void *data, gsize n_bytes, GError **error);
guint64 qd_spool_get_n_bytes(const QdSpool *self);

/* After the last write: reading begins. */
gboolean qd_spool_finish(QdSpool *self, GError **error);
/* Exactly @n_bytes, valid until the next call. NULL with INTERNAL when they are not there. */
const void *qd_spool_read(QdSpool *self, gsize n_bytes, GError **error);
