/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that appears under its name only when it is whole.
 *
 * Place: layer B, within client-lib/queryctl/transfer.
 * Invariant: until then it has no name, where the file system has such files. So a process that is killed leaves nothing.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct QctlNewFile {
    int fd;           /* -1: not open */
    char *name;       /* that it is to have */
    char *unfinished; /* (nullable): that it has meanwhile; NULL: none */
    bool replaces;    /* an older file of that name */
} QctlNewFile;

#define QCTL_NEW_FILE_INIT \
    {                      \
        .fd = -1           \
    }

/* For reading and writing. Without @replaces a name that is taken is an error of G_FILE_ERROR_EXIST. Returns: false on error */
bool qctl_new_file_open(QctlNewFile *self, const char *name, bool replaces, GError **error);

/* Puts it on the disk, and gives it its name. Returns: false on error */
bool qctl_new_file_publish(QctlNewFile *self, GError **error);

/* Closes it, and deletes what was not published. */
void qctl_new_file_clear(QctlNewFile *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QctlNewFile, qctl_new_file_clear)
