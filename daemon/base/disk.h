/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much a file system can still take.
 *
 * Place: room base. Invariant: a file system that does not say it is never called full.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * qd_disk_find_free_bytes:
 * @directory: a directory of the file system
 * @ret_free_bytes: (out): what this process may still write there
 * @ret_total_bytes: (out) (optional): its size
 *
 * Thread: any.
 *
 * Returns: false when it is not known: it cannot be asked, or says that it has no blocks, as ramfs and some of FUSE do
 */
bool qd_disk_find_free_bytes(const char *directory, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes);

/* Whether @n files can still be made in @directory: some file systems have inodes for so many only. True when it does not say.
 * Thread: any. */
bool qd_disk_has_free_files(const char *directory, uint64_t n);
