/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload files of the store in this process, recorded on a memory disk beside its database, in one log.
 *
 * The program is linked with --wrap for the calls by which daemon/store/payload-files.c changes files. The real folder gets
 * them too, and reads come from there; but for syncs, which are the memory disk's. Faults of the disk hit them like SQLite's.
 */
#pragma once

#include "tests/crash/memory-disk.h"

/* Its name on the disk, and what the names of its files begin with. */
#define PAYLOAD_RECORDER_FOLDER "payload"

/* @disk: (nullable): NULL ends it. @without_syncs: as a program would look that does not sync its payloads. */
void payload_recorder_set_disk(MemoryDisk *disk, gboolean without_syncs);
/* Makes the folder in @directory what it is on @disk. */
void payload_recorder_restore(MemoryDisk *disk, const char *directory);
