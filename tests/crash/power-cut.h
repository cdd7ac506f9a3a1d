/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Power cuts: from the log of a memory disk, what may be found on the disk after the power fails at any point of it.
 *
 * What was synced is there. Of the rest each write and truncation is there, is not, or (a write) is there in part: the first
 * sectors, or any of them. Names that were not synced by their folder have changed in order up to some point, or each by itself;
 * a rename is one change.
 */
#pragma once

#include "tests/crash/memory-disk.h"

typedef struct PowerCut PowerCut;

/*
 * Goes along the log of @disk, which must not change meanwhile and must outlive it. @start: (nullable): the disk's content when
 * the log began. @n_lies: a disk that lies: a sync leaves the last so many operations in its cache; 0: an honest one.
 */
PowerCut *power_cut_new(const MemoryDisk *disk, guint n_ops, MemoryDisk *start, guint n_lies);
PowerCut *power_cut_free(PowerCut *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PowerCut, power_cut_free)

/* On to the cut before operation @index. */
void power_cut_advance(PowerCut *self, guint index);
/* (transfer full): one of the possible disks. */
MemoryDisk *power_cut_make_image(PowerCut *self, GRand *rand);
