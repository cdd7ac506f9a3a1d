/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waits for a futex by io_uring, so that an event loop on one ring can wait for shared memory and for descriptors alike.
 *
 * Place: tests/bench, below ipc-lock-free.c. Needs Linux 6.7.
 */
#pragma once

#include "tests/bench/ipc.h"

/* Sets end->loop; each process has its own. Skips the case where the kernel cannot. */
void ipc_uring_open(IpcEnd *end);

/* Returns at once when *@futex is no longer @value. */
void ipc_uring_wait(IpcEnd *end, guint32 *futex, guint32 value);
