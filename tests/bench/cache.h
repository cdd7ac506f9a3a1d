/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's page cache against mapping the file: look-ups by processes that share a file of their own, by SQLite itself and through
 * queryd.
 *
 * Place: tests/bench; group-cache.c has the cases.
 */
#pragma once

#include "tests/bench/bench.h"

/* Of the table: what is looked up. */
#define CACHE_TABLE_PART 6u
#define CACHE_N_ROUNDS 5u
#define CACHE_N_LOOKUPS 2000u

/* How much of the file. */
typedef enum CacheShare {
    CACHE_NONE,
    CACHE_PART, /* a quarter */
    CACHE_FULL,
    CACHE_AS_CONFIGURED, /* of queryd only */
} CacheShare;

typedef struct CacheCase {
    CacheShare cache;
    CacheShare map;
    guint n_processes; /* with more than one, an update between the rounds of look-ups makes all page caches invalid */
} CacheCase;

/* Of a file of @n_bytes. */
guint64 cache_get_share(CacheShare share, guint64 n_bytes);

/* In KiB, with pages that others have mapped too in proportion. */
guint64 cache_get_pss_kib(GPid pid);

/* SQLite in each process. */
void cache_run_direct(Bench *bench, gconstpointer argument);

/* The daemon's pool of connections, configured by its limits. */
void cache_run_pool(Bench *bench, gconstpointer argument);
