/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Others' SPARQL servers, which sparql_http.py starts, loads and asks by HTTP on one kept connection.
 *
 * Place: tests/bench, for the groups that compare SPARQL. A server that is not there is skipped aloud.
 */
#pragma once

#include "tests/bench/bench.h"

/* "load", "mixes" or "questions" of @engine on @data, with what @folder has: sparql_http.py describes them. */
void sparql_peers_run(Bench *bench, const char *engine, const char *verb, const char *folder, const char *data);

/* The same, once: the rounds are in the script, and what it says counts though it is the warm-up. */
void sparql_peers_run_once(Bench *bench, const char *engine, const char *verb, const char *folder, const char *data);
