/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes beside the one that takes a sample: the same program, started in a role by helpers_start().
 *
 * Place: tests/bench. A role says helper_say_in_position() when it is ready and ends with its standard input.
 */
#pragma once

#include <glib.h>

gboolean role_is_known(const char *name);

/* @argv: the program, the role's name, its arguments. Returns the exit status. */
int role_main(int argc, char **argv);
