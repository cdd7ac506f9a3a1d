/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drafts. The kernel is asked early to write a file out: then the wait before the commit is short, and waits of several files
 * overlap (16 files of 64 KiB: 1.3 ms one after the other, 0.3 ms started together; docs/decisions/payload-cut-off.md).
 */
#include "daemon/store/payload-draft.h"

#include "daemon/base/error.h"

/* So much of a file may be dirty before the kernel is asked to write. */
#define START_SYNC_BYTES (UINT64_C(8) * 1024 * 1024)

QdPayloadDraft *
qd_payload_draft_new(QdPayloadFiles *files, const QdLimits *limits)
{
    QdPayloadDraft *self = g_new0(QdPayloadDraft, 1);

    self->n_refs = 1;
    self->files = files;
    self->limits = limits;
    self->temp = QD_PAYLOAD_TEMP_NONE;
    self->content = g_byte_array_new();
    qd_sha256_init(&self->sha);
    return self;
}

QdPayloadDraft *
qd_payload_draft_ref(QdPayloadDraft *self)
{
    g_atomic_int_inc(&self->n_refs);
    return self;
}

void
qd_payload_draft_unref(QdPayloadDraft *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->n_refs))
        return;

    qd_payload_files_discard(self->files, &self->temp);
    g_clear_pointer(&self->content, g_byte_array_unref);
    g_free(self);
}

static gboolean
move_to_file(QdPayloadDraft *self, GError **error)
{
    if (!qd_payload_files_create(self->files, &self->temp, error) ||
        !qd_payload_files_append(&self->temp, self->content->data, self->content->len, error))
        return FALSE;

    g_clear_pointer(&self->content, g_byte_array_unref);
    return TRUE;
}

gboolean
qd_payload_draft_append(QdPayloadDraft *self, const void *data, gsize n_bytes, GError **error)
{
    uint64_t max_bytes = qd_limits_get(self->limits, QD_LIMIT_PAYLOAD_BYTES);
    uint64_t before = self->size;

    if (n_bytes > max_bytes || self->size > max_bytes - n_bytes) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_PAYLOAD_BYTES, "payload is too big");
        return FALSE;
    }
    if (self->content != NULL && self->size + n_bytes > qd_limits_get(self->limits, QD_LIMIT_PAYLOAD_INLINE_BYTES) &&
        !move_to_file(self, error))
        return FALSE;
    if (self->content != NULL)
        g_byte_array_append(self->content, data, (guint) n_bytes);
    else if (!qd_payload_files_append(&self->temp, data, n_bytes, error))
        return FALSE;

    qd_sha256_update(&self->sha, data, n_bytes);
    self->size += n_bytes;
    if (self->content == NULL && before / START_SYNC_BYTES != self->size / START_SYNC_BYTES)
        qd_payload_files_start_sync(&self->temp);
    return TRUE;
}

void
qd_payload_draft_finish(QdPayloadDraft *self)
{
    qd_sha256_finish(&self->sha, self->hash);
    if (self->content == NULL)
        qd_payload_files_start_sync(&self->temp);
}

gboolean
qd_payload_draft_sync(QdPayloadDraft *self, GError **error)
{
    if (self->content != NULL || self->synced)
        return TRUE;

    self->synced = qd_payload_files_sync(&self->temp, error);
    return self->synced;
}

gboolean
qd_payload_draft_publish(QdPayloadDraft *self, GError **error)
{
    if (self->content == NULL && !self->published)
        self->published = qd_payload_files_publish(self->files, &self->temp, self->hash, error);
    return self->content != NULL || self->published;
}
