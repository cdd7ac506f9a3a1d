/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clients that insert one row after the other, durably, into a table of two columns: through queryd, and into SQLite by themselves.
 *
 * Place: tests/bench, beside crew.h, whose protocol they speak.
 */
#pragma once

#define INSERT_CREW_ROLE "insert"
#define INSERT_CREW_SQLITE_ROLE "insert-sqlite"

#define INSERT_SQL_TABLE "CREATE TABLE IF NOT EXISTS inserted(id INTEGER PRIMARY KEY, text TEXT)"
#define INSERT_SQL "INSERT INTO inserted(text) VALUES(?)"
#define INSERT_TEXT "one hundred bytes of text, as the other databases of this comparison have got them for one row, of text"

/* Arguments: milliseconds, and how many are in flight at once (0: one, and the client waits for it in a blocking call). */
int insert_crew_serve(int argc, char **argv);

/* Arguments: milliseconds, the database file. */
int insert_crew_serve_sqlite(int argc, char **argv);
