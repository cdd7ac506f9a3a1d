/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The groups of "tests/run bench". Each prints its figures with the bars that apply.
 *
 * Place: the benchmark program, on the bus of demo.sh.
 */
#pragma once

#include <glib.h>

/* Each returns whether all bars are met. */
gboolean bench_fetch(void);
gboolean bench_latency(void);
gboolean bench_memory(void);

/* Prints "met" or "MISSED" behind a bar, and returns @met. */
gboolean bench_judge(gboolean met);
