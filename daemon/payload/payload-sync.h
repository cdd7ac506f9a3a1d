/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The drafts of one transaction reach the disk together.
 *
 * Place: room payload, between the drafts and the commit.
 */
#pragma once

#include "daemon/payload/payload-draft.h"

/**
 * qd_payload_drafts_sync:
 * @drafts: that are finished; in no other thread's hands meanwhile
 * @n_drafts: how many
 * @error: (nullable): location for an error
 *
 * Returns when the contents of all files are on the disk. Where that takes long, threads wait for several at once: the disk makes
 * one flush of those that come together.
 *
 * Thread: any, one at a time for each draft.
 * Errors: DISK_FULL, INTERNAL: of one of them; others may be on the disk.
 *
 * Returns: FALSE on error
 */
gboolean qd_payload_drafts_sync(QdPayloadDraft *const *drafts, guint n_drafts, GError **error);
