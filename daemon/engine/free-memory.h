/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that malloc keeps after it was freed: it counts for the process, and in no limit.
 *
 * Place: room engine; of the whole process.
 */
#pragma once

/* Gives all of it back. The locks of malloc are held meanwhile, each for a few milliseconds. Thread: any. */
void qd_free_memory_give_back(void);
/* The same if the process has grown much since the last time. Costs a read of a small file. Thread: any; now and then. */
void qd_free_memory_look(void);
