/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the write-ahead log holds, by its index: it is another one after each commit.
 *
 * Place: room store, for the writer, which knows by it that another program has committed.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#define QD_LOG_MARK_BYTES 24

typedef struct QdLogMark {
    gboolean is_known;
    uint8_t bytes[QD_LOG_MARK_BYTES];
} QdLogMark;

/* @path: of the database */
QdLogMark qd_log_mark_read(const char *path);
