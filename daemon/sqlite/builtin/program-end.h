/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of statements whose program has no jump for long: SQLite looks only at jumps whether it was interrupted. Thousands of
 * calculations with one large value are such a program.
 *
 * Place: room sqlite, folder builtin. forced-return.c learns and asks.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Once in a process. @db: in memory. FALSE: programs are not found in this version of SQLite. */
gboolean qd_program_learn(sqlite3 *db);

/**
 * qd_program_end:
 * @db: (nullable): a thread runs statements on it
 *
 * Makes a jump of each operation of the statements that run on @db, and interrupts them. What comes next then fails with
 * SQLITE_INTERRUPT. They cannot be executed again: only their end and closing may follow.
 *
 * Thread: the one that runs them, in a function that SQLite's interpreter has called. Async-signal-safe.
 *
 * Returns: whether one runs
 */
gboolean qd_program_end(sqlite3 *db);
