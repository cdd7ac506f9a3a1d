/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that not every version of the library has: looked up when they are needed, so that the same bench measures old and new.
 *
 * Place: tests/bench. Each skips the case where the library, or the daemon, does not have it.
 */
#pragma once

#include "tests/bench/bench.h"

/* @name: "socketpair" or "ring". */
void newer_library_set_transport(const Bench *bench, QueryConnection *connection, const char *name);

/* A connection that reads the file itself; (transfer full). */
QueryConnection *newer_library_open_directly(const Bench *bench, const char *path);
