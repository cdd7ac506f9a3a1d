/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload store: rows of the table queryd_payload, and the files of those whose content is not in the row.
 *
 * Place: room payload. Rows are read on any connection; they are written on the writer's, inside of its transaction, to which
 * qd_payloads_before_commit() belongs. What a row gave up is deleted later, by qd_payloads_sweep().
 * Invariant: a committed row has its file; a file that no row needs goes away.
 */
#pragma once

#include "daemon/payload/payload-draft.h"
#include "daemon/payload/payload-sweep.h"
#include "daemon/sqlite/connection.h"

#define QD_PAYLOAD_TABLE "queryd_payload"

/* Of a store: drafts of the transaction that is open, and files that may have become free. */
typedef struct QdPayloads QdPayloads;

typedef struct QdPayloadInfo {
    int64_t id;
    uint64_t size;
    uint8_t hash[QD_SHA256_BYTES]; /* of a file */
    gboolean in_file;
} QdPayloadInfo;

/* qd_payloads_new: @directory is the store's; @limits outlive it. Touches nothing. */
QdPayloads *qd_payloads_new(const char *directory, const QdLimits *limits);
QdPayloads *qd_payloads_free(QdPayloads *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdPayloads, qd_payloads_free)
QdPayloadFiles *qd_payloads_get_files(QdPayloads *self);

/* qd_payloads_attach: makes @connection the one that writes payloads; @self outlives it. */
void qd_payloads_attach(QdPayloads *self, QdConnection *connection);
/* qd_payloads_get: that of a connection that writes; NULL on one that reads. */
QdPayloads *qd_payloads_get(QdConnection *connection);

/**
 * qd_payload_store:
 * @connection: the writer's, in a transaction
 * @draft: finished; a reference is kept until the end of the transaction
 * @media_type: (nullable): kept as it is
 *
 * Errors: READ_ONLY on a connection that does not write; and SQLite's own. Thread: the writer's, as below.
 *
 * Returns: FALSE on error
 */
gboolean qd_payload_store(QdConnection *connection, QdPayloadDraft *draft, const char *media_type, int64_t *ret_id, GError **error);
/* qd_payload_replace: other content for a payload; @media_type (nullable): as it was. Errors: BAD_PARAMETER: there is none. */
gboolean qd_payload_replace(QdConnection *connection, int64_t id, QdPayloadDraft *draft, const char *media_type, GError **error);
/* qd_payload_delete: *@ret_deleted tells whether there was one. */
gboolean qd_payload_delete(QdConnection *connection, int64_t id, gboolean *ret_deleted, GError **error);

/* qd_payloads_note_deleted: a client's own DELETE has taken rows away; their files are searched for after the commit. */
void qd_payloads_note_deleted(QdConnection *connection);

/* qd_payloads_before_commit: what the transaction stored gets its files. @durable: they are on the disk when it returns. */
gboolean qd_payloads_before_commit(QdPayloads *self, QdConnection *connection, gboolean durable, GError **error);

/* qd_payloads_after_commit: Returns: what there is to sweep. */
QdPayloadSweep qd_payloads_after_commit(QdPayloads *self, gboolean durable);

/**
 * qd_payloads_sweep:
 * @reader: any connection that is in no transaction
 * @what: how far to look
 *
 * Deletes files that no row needs. Thread: any one at a time.
 */
void qd_payloads_sweep(QdPayloads *self, QdConnection *reader, QdPayloadSweep what);

/**
 * qd_payloads_set_aside:
 * @reader: on a database that was salvaged, in the store's directory
 * @ret_hashes: (out) (transfer full): of GBytes: the files that no row needs
 * @ret_folder: (out) (transfer full): where they are kept; unchanged when there are none
 *
 * Keeps what the next sweep would delete: the rows may have been lost.
 */
gboolean qd_payloads_set_aside(QdConnection *reader, GPtrArray **ret_hashes, char **ret_folder, GError **error);

/* qd_payload_find: on any connection. FALSE without an error: there is none. */
gboolean qd_payload_find(QdConnection *connection, int64_t id, QdPayloadInfo *ret_info, GError **error);
/**
 * qd_payload_read:
 * @ret_content: (out) (transfer full): the content, when it is in the row; else NULL
 * @ret_fd: (out): the file, when it is in one; else -1
 *
 * On any connection, in a transaction or not. Errors: CORRUPT: its file is missing or damaged.
 *
 * Returns: FALSE on error, and without one when there is no such payload
 */
gboolean qd_payload_read(QdConnection *connection, int64_t id, QdPayloadInfo *ret_info, GBytes **ret_content, int *ret_fd,
                         GError **error);

/* Called for each fault; FALSE ends the check. */
typedef gboolean (*QdPayloadFaultFunc)(const char *message, void *data);
/**
 * qd_payloads_check:
 * @reader: any connection
 * @contents: reads each file and computes its hash
 * @func: gets a line for each payload whose file is missing or damaged; and NULL after each payload
 */
gboolean qd_payloads_check(QdConnection *reader, gboolean contents, QdPayloadFaultFunc func, void *data, GError **error);
