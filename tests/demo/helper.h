/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other clients beside the one that is measured, each a process of its own: the program itself, started in a role.
 *
 * Place: shared by the demo and the benchmarks.
 * A helper writes a line when it is in position and ends when its standard input does, so none outlives its maker.
 */
#pragma once

#include <gio/gio.h>

/* The roles, as the first argument of a program that calls helper_main():
 *   hold TABLE STREAMS ROWS   opens results and reads so many rows of each, then reads no more
 *   repeat SQL                runs a query to its end, again and again; in position when the first row is there
 *   long SQL                  runs a query without a deadline; in position before it begins
 */
int helper_main(int argc, char **argv);

/* For roles of other programs: starts the thread that ends the process with its standard input. */
void helper_end_with_input(void);

/* For roles of other programs: writes the line for which helpers_start() waits. */
void helper_say_in_position(void);

/* Starts @n helpers with the arguments @argv (NULL-terminated, without the program) and waits until all are in position. */
GPtrArray *helpers_start(guint n, const char *const *argv);

/* Ends them all and waits for them. */
void helpers_stop(GPtrArray *helpers);
