/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must hold: every bar of the laboratory in one table.
 *
 * Place: the first process of the laboratory, when all groups have run.
 */
#pragma once

#include "tests/bench/figures.h"

/*
 * Appends a line to @text for each bar of a group that was measured: "bar NAME value limit met" or MISSED. Returns whether none was
 * missed.
 */
gboolean bars_judge(Figures *figures, GString *text);
