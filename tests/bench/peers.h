/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs outside the project that measure other systems on the same work, run as cases between ours.
 *
 * Place: tests/bench. QUERYD_PEERS names a folder with servers.sh ("start"); what it has built and loaded is in
 * QUERYD_PEERS_DIR (/var/tmp/queryd-peers). That is bin/fetch_* and bin/lat, which print a line with tabs, and tracker/.
 * Without it the cases are skipped aloud; nothing of ours needs it.
 */
#pragma once

#include "tests/bench/bench.h"

/* Skips the case without the programs; starts their servers in the warm-up. */
void peers_begin(const Bench *bench);
/* What they have built and loaded. */
const char *peers_get_folder(void);
/* The process whose number is in file @name of their folder "run"; 0: there is none. */
GPid peers_get_server(const char *name);

/* All take a command as argument: a program of bin/, then its arguments. */

/* "fetch NAME ms first_row_ms client_cpu_ms client_peak_kib server_peak_kib rows …" */
void peers_run_fetch(Bench *bench, gconstpointer argument);

/* "lat NAME n mean p50 p99 max calls_per_second", in µs; run on one processor and across two. */
void peers_run_latency(Bench *bench, gconstpointer argument);

/* "ins NAME-N rows_per_second p50 p99 …", in µs; the command lacks the number of connections and of seconds. */
void peers_run_inserts(Bench *bench, gconstpointer argument);

/* TinySPARQL over its bus end, with as many rows as the loaded store has; takes no argument. */
void peers_run_tinysparql(Bench *bench, gconstpointer argument);
