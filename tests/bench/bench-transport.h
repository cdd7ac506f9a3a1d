/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asks the library for a transport by its name.
 *
 * Place: tests/bench.
 */
#pragma once

#include "tests/bench/bench.h"

/* Skips the case when the library or the daemon does not have it. */
void transport_select(const Bench *bench, QueryConnection *connection, const char *name);
