/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cases that a script in Python measures.
 *
 * Place: tests/bench.
 */
#pragma once

#include "tests/bench/bench.h"

/**
 * python_script_run:
 * @python: the interpreter
 * @name: a script of tests/bench, which says metric, unit and value in lines with tabs; the unit "checksum" is one
 * @case_name: its first argument; the second one is the path of the store's database
 * @arguments: the rest, up to a NULL
 *
 * Skips the case when the script fails.
 */
void python_script_run(Bench *bench, const char *python, const char *name, const char *case_name, const char *const *arguments);
