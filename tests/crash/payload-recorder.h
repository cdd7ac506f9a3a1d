/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload files of the store in this process, recorded on a memory disk beside its database, in one log.
 *
 * The program is linked with --wrap for the calls by which daemon/payload/payload-files.c changes files. The real folder gets
 * them too, and reads come from there; but for syncs, which are the memory disk's. Faults of the disk hit them like SQLite's.
 */
#pragma once

#include "tests/crash/memory-disk.h"

/* Its name on the disk, and what the names of its files begin with. */
#define PAYLOAD_RECORDER_FOLDER "payload"

/* How a program would look that leaves out syncs. */
typedef enum PayloadRecorderOmit {
    PAYLOAD_RECORDER_OMIT_NOTHING = 0,
    PAYLOAD_RECORDER_OMIT_CREATED = 1 << 0, /* of the files that it writes */
    PAYLOAD_RECORDER_OMIT_ADOPTED = 1 << 1, /* of the files that it takes over */
    PAYLOAD_RECORDER_OMIT_NAMES = 1 << 2,   /* of their folder, when it has files that were taken over since the last one */
} PayloadRecorderOmit;

/* @disk: (nullable): NULL ends it. */
void payload_recorder_set_disk(MemoryDisk *disk, PayloadRecorderOmit omit);
/* Files that got their first name from linkat(), in this process. */
guint payload_recorder_get_n_adopted(void);
/* Makes the folder in @directory what it is on @disk. */
void payload_recorder_restore(MemoryDisk *disk, const char *directory);
