/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serving end of classic.h.
 *
 * Place: tests/bench, in a forked process.
 */
#pragma once

#include "tests/bench/classic.h"

#define CLASSIC_PREPARE 'P'
#define CLASSIC_FETCH 'F'
#define CLASSIC_END_OF_PAGE 0xff

/* Serves until the control descriptor ends, and exits. */
G_NORETURN void classic_server_run(const char *path, const ClassicOptions *options, int control, int data);
