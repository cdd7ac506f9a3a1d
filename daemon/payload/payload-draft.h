/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A payload on its way in. Small ones stay in memory for their row; large ones go to a file, and are hashed while they come.
 *
 * Place: room payload. Shared by reference, since a transaction that ends as a whole is run again with the same draft.
 * Invariant: a draft that no transaction commits leaves no file.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/payload/payload-files.h"

typedef struct QdPayloadDraft {
    gint n_refs; /* atomic */
    QdPayloadFiles *files;
    const QdLimits *limits;
    QdSha256 sha;
    uint8_t hash[QD_SHA256_BYTES]; /* of a file, when finished: what is in a row has no hash */
    uint64_t size;
    gboolean in_file;
    gboolean is_adopted; /* the file has its content already */
    const void *data;    /* of a row, when finished */
    GByteArray *content; /* (nullable): what has come so far, for a row */
    QdPayloadTemp temp;
    gboolean relaxed; /* the kernel writes it out when it likes */
    gboolean synced;
    gboolean published;
} QdPayloadDraft;

/* qd_payload_draft_new: empty. @files and @limits outlive it. Thread of all: one at a time, but for references. */
QdPayloadDraft *qd_payload_draft_new(QdPayloadFiles *files, const QdLimits *limits);
QdPayloadDraft *qd_payload_draft_ref(QdPayloadDraft *self);
void qd_payload_draft_unref(QdPayloadDraft *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdPayloadDraft, qd_payload_draft_unref)

/* qd_payload_draft_new_static: finished; @data stays as it is while a draft of a row lives. Errors: TOO_BIG, DISK_FULL. */
QdPayloadDraft *qd_payload_draft_new_static(QdPayloadFiles *files, const QdLimits *limits, const void *data, gsize n_bytes,
                                            GError **error);

/* qd_payload_draft_adopt: of an empty draft: its content will be the file @fd, if the file can be taken over. All of it is
 * appended afterwards in any case. @size: what it should have. */
void qd_payload_draft_adopt(QdPayloadDraft *self, int fd, uint64_t size);
/* qd_payload_draft_append: Errors: TOO_BIG, DISK_FULL. */
gboolean qd_payload_draft_append(QdPayloadDraft *self, const void *data, gsize n_bytes, GError **error);
/* qd_payload_draft_finish: nothing more is appended; the hash of a file is known, and it is on its way to the disk. */
void qd_payload_draft_finish(QdPayloadDraft *self);
/* qd_payload_draft_sync: returns when the content of the file is on the disk; nothing to do for what goes into a row. */
gboolean qd_payload_draft_sync(QdPayloadDraft *self, GError **error);
/* qd_payload_draft_publish: the file gets its name, once. */
gboolean qd_payload_draft_publish(QdPayloadDraft *self, GError **error);
