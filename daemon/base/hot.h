/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that each row of an update passes stand together in the program. SQLite's own code for a row fills most of the
 * processor's cache for instructions. Spread over the program, ours push it out: a batch takes 3 % longer.
 */
#pragma once

#define QD_HOT __attribute__((hot))
