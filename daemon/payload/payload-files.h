/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of large payloads: the folder "payload" of a store, each file named by the SHA-256 of what it holds.
 *
 * Place: room payload. Every call to the file system that a payload needs is in payload-files.c, and nowhere else.
 * Invariant: a file under its hash is whole and never changes; what is being written has a name that begins with "tmp-".
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "daemon/base/sha256.h"

typedef struct QdPayloadFiles QdPayloadFiles;

/* A file on its way. Thread: one at a time. */
typedef struct QdPayloadTemp {
    int fd;        /* -1: none, or synced; of a file that was adopted it holds a lease */
    uint64_t name; /* its number; 0: none */
} QdPayloadTemp;

#define QD_PAYLOAD_TEMP_NONE ((QdPayloadTemp){ .fd = -1 })

/* qd_payload_files_new: of the store in @directory, which need not exist yet; touches nothing. Thread of all: any. */
QdPayloadFiles *qd_payload_files_new(const char *directory);
QdPayloadFiles *qd_payload_files_free(QdPayloadFiles *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdPayloadFiles, qd_payload_files_free)

/* qd_payload_files_exist: whether there is a folder. */
gboolean qd_payload_files_exist(QdPayloadFiles *self);
/* qd_payload_files_create: an empty file to be written; makes the folder if there is none. Errors: those of the system. */
gboolean qd_payload_files_create(QdPayloadFiles *self, QdPayloadTemp *ret_temp, GError **error);
/**
 * qd_payload_files_adopt:
 * @fd: a descriptor of the caller that stores a payload; borrowed
 * @size: of its content
 *
 * Takes the file itself instead of a copy of it. The file has no name, was made on our file system as we make ours, and can no
 * longer be written to. @ret_temp then has no content to be appended.
 *
 * Returns: FALSE when it is not such a file, or cannot be had: then it has to be copied
 */
gboolean qd_payload_files_adopt(QdPayloadFiles *self, int fd, uint64_t size, QdPayloadTemp *ret_temp);
/* qd_payload_files_append: Errors: DISK_FULL and others of the system. */
gboolean qd_payload_files_append(const QdPayloadTemp *temp, const void *data, gsize n_bytes, GError **error);
/* qd_payload_files_start_sync: what was appended goes to the disk; does not wait. */
void qd_payload_files_start_sync(const QdPayloadTemp *temp);
/* qd_payload_files_sync: returns when the content is durable, as its name is not yet, and closes the descriptor. */
gboolean qd_payload_files_sync(QdPayloadTemp *temp, GError **error);
/* qd_payload_files_open_temp: for reading what was appended; -1 when it is gone. */
int qd_payload_files_open_temp(QdPayloadFiles *self, const QdPayloadTemp *temp);
/* qd_payload_files_publish: gives @temp its name, instead of a file that has it already, and closes it. */
gboolean qd_payload_files_publish(QdPayloadFiles *self, QdPayloadTemp *temp, const uint8_t hash[QD_SHA256_BYTES], GError **error);
/* qd_payload_files_sync_names: returns when the names given so far are durable. */
gboolean qd_payload_files_sync_names(QdPayloadFiles *self, GError **error);
/* qd_payload_files_discard: closes and deletes what was not published. */
void qd_payload_files_discard(QdPayloadFiles *self, QdPayloadTemp *temp);

/**
 * qd_payload_files_open_content:
 * @size: what the file must have
 * @ret_missing: (out) (optional): set on failure: there is no such file
 *
 * Errors: CORRUPT when it is missing or has another size
 *
 * Returns: a descriptor for reading, or -1
 */
int qd_payload_files_open_content(QdPayloadFiles *self, const uint8_t hash[QD_SHA256_BYTES], uint64_t size, gboolean *ret_missing,
                                  GError **error);
/* qd_payload_files_hold: a descriptor that only keeps the content of a file until it is closed; -1 without one */
int qd_payload_files_hold(QdPayloadFiles *self, const uint8_t hash[QD_SHA256_BYTES]);
/* qd_payload_files_remove: deletes the file, if it is there. */
void qd_payload_files_remove(QdPayloadFiles *self, const uint8_t hash[QD_SHA256_BYTES]);
/**
 * qd_payload_files_set_aside:
 * @hashes: of GBytes: files that are there
 * @ret_folder: (out) (transfer full): path: "payload-lost", beside the folder
 *
 * Keeps files that will be deleted, under their names, in a folder that is not swept. Durable when this returns.
 */
gboolean qd_payload_files_set_aside(QdPayloadFiles *self, const GPtrArray *hashes, char **ret_folder, GError **error);
/* qd_payload_files_list: (transfer full): the hashes of all files, as GBytes. What a daemon before this one left half-written is
 * deleted on the way. *@ret_complete (optional): whether those were all. */
GPtrArray *qd_payload_files_list(QdPayloadFiles *self, gboolean *ret_complete);
