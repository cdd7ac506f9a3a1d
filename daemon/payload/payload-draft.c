/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drafts. The kernel is asked early to write a file out. Then the wait before the commit is short, and waits of several files
 * overlap. (16 files of 64 KiB: 1.3 ms one after the other, 0.3 ms started together; docs/decisions/payload-speed.md.)
 */
#include "daemon/payload/payload-draft.h"

/* So much of a file may be dirty before the kernel is asked to write. */
#define START_SYNC_BYTES (UINT64_C(8) * 1024 * 1024)

static QdPayloadDraft *
draft_alloc(QdPayloadFiles *files, const QdLimits *limits)
{
    QdPayloadDraft *self = g_new0(QdPayloadDraft, 1);

    self->n_refs = 1;
    self->files = files;
    self->limits = limits;
    self->temp = QD_PAYLOAD_TEMP_NONE;
    return self;
}

QdPayloadDraft *
qd_payload_draft_new(QdPayloadFiles *files, const QdLimits *limits)
{
    QdPayloadDraft *self = draft_alloc(files, limits);

    self->content = g_byte_array_new();
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
append_to_file(QdPayloadDraft *self, const void *data, gsize n_bytes, GError **error)
{
    uint64_t before = self->size;

    if (!self->is_adopted && !qd_payload_files_append(&self->temp, data, n_bytes, error))
        return FALSE;

    qd_sha256_update(&self->sha, data, n_bytes);
    self->size += n_bytes;
    if (!self->relaxed && before / START_SYNC_BYTES != self->size / START_SYNC_BYTES)
        qd_payload_files_start_sync(&self->temp);
    return TRUE;
}

/* With what has come before. */
static gboolean
move_to_file(QdPayloadDraft *self, GError **error)
{
    g_autoptr(GByteArray) content = g_steal_pointer(&self->content);

    if (!qd_payload_files_create(self->files, &self->temp, error))
        return FALSE;

    self->in_file = TRUE;
    self->size = 0;
    qd_sha256_init(&self->sha);
    return content == NULL || append_to_file(self, content->data, content->len, error);
}

static gboolean
check_size(const QdPayloadDraft *self, gsize n_bytes, GError **error)
{
    uint64_t max_bytes = qd_limits_get(self->limits, QD_LIMIT_PAYLOAD_BYTES);

    if (n_bytes <= max_bytes && self->size <= max_bytes - n_bytes)
        return TRUE;
    qd_limit_set_error(error, self->limits, QD_LIMIT_PAYLOAD_BYTES, "payload is too big");
    return FALSE;
}

void
qd_payload_draft_adopt(QdPayloadDraft *self, int fd, uint64_t size)
{
    if (size <= qd_limits_get(self->limits, QD_LIMIT_PAYLOAD_INLINE_BYTES) ||
        size > qd_limits_get(self->limits, QD_LIMIT_PAYLOAD_BYTES) || !qd_payload_files_adopt(self->files, fd, size, &self->temp))
        return;

    self->in_file = self->is_adopted = TRUE;
    qd_sha256_init(&self->sha);
}

gboolean
qd_payload_draft_append(QdPayloadDraft *self, const void *data, gsize n_bytes, GError **error)
{
    if (!check_size(self, n_bytes, error))
        return FALSE;
    if (!self->in_file && self->size + n_bytes > qd_limits_get(self->limits, QD_LIMIT_PAYLOAD_INLINE_BYTES) &&
        !move_to_file(self, error))
        return FALSE;
    if (self->in_file)
        return append_to_file(self, data, n_bytes, error);

    g_byte_array_append(self->content, data, (guint) n_bytes);
    self->size += n_bytes;
    return TRUE;
}

void
qd_payload_draft_finish(QdPayloadDraft *self)
{
    if (!self->in_file) {
        self->data = self->content->data;
        return;
    }
    qd_sha256_finish(&self->sha, self->hash);
    if (!self->relaxed)
        qd_payload_files_start_sync(&self->temp);
}

QdPayloadDraft *
qd_payload_draft_new_static(QdPayloadFiles *files, const QdLimits *limits, const void *data, gsize n_bytes, GError **error)
{
    g_autoptr(QdPayloadDraft) self = draft_alloc(files, limits);

    if (!check_size(self, n_bytes, error))
        return NULL;
    if (n_bytes <= qd_limits_get(limits, QD_LIMIT_PAYLOAD_INLINE_BYTES)) {
        self->data = data;
        self->size = n_bytes;
        return g_steal_pointer(&self);
    }
    if (!move_to_file(self, error) || !append_to_file(self, data, n_bytes, error))
        return NULL;

    qd_payload_draft_finish(self);
    return g_steal_pointer(&self);
}

gboolean
qd_payload_draft_sync(QdPayloadDraft *self, GError **error)
{
    if (!self->in_file || self->synced)
        return TRUE;

    self->synced = qd_payload_files_sync(&self->temp, error);
    return self->synced;
}

gboolean
qd_payload_draft_publish(QdPayloadDraft *self, GError **error)
{
    if (self->in_file && !self->published)
        self->published = qd_payload_files_publish(self->files, &self->temp, self->hash, error);
    return !self->in_file || self->published;
}
