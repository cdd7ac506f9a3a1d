/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of a result in a memory file: written once, sealed, and then the same for all clients that map it.
 *
 * Place: room results. One thread writes it; once it is sealed any thread may pass its descriptor on.
 */
#pragma once

#include <glib.h>

typedef struct QdSealedPages QdSealedPages;

/* (transfer full) (nullable): an empty file; NULL: the system gives none */
QdSealedPages *qd_sealed_pages_new(void);
QdSealedPages *qd_sealed_pages_ref(QdSealedPages *self);
void qd_sealed_pages_unref(QdSealedPages *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSealedPages, qd_sealed_pages_unref)

/* FALSE: there is no memory for it, and the file is of no more use. */
gboolean qd_sealed_pages_append(QdSealedPages *self, const guint8 *data, gsize n_bytes);
/* Nothing is written any more. FALSE: it cannot be sealed. */
gboolean qd_sealed_pages_seal(QdSealedPages *self);
guint64 qd_sealed_pages_get_size(const QdSealedPages *self);
/* (transfer none) */
int qd_sealed_pages_get_fd(const QdSealedPages *self);
