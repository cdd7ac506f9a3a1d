/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The founding reports' table of cache_size and mmap_size: none, a quarter and all of each. By one process, and by eight of
 * which one changes a row between the rounds. Ten thousand look-ups by each process; the same through queryd's pool.
 */
#include "tests/bench/cache.h"

#define DIRECT(cache, map, n)                               \
    .run = cache_run_direct, .argument = &(const CacheCase) \
    {                                                       \
        cache, map, n                                       \
    }
#define POOL(cache, map, n)                               \
    .run = cache_run_pool, .argument = &(const CacheCase) \
    {                                                     \
        cache, map, n                                     \
    }
#define EIGHT .reference = "8 processes, cache none, mmap none"
#define POOL_ONE .reference = "queryd, 1 client, as configured"
#define POOL_EIGHT .reference = "queryd, 8 clients, as configured"

static const BenchCase cases[] = {
    { "cache none, mmap none", DIRECT(CACHE_NONE, CACHE_NONE, 1) },
    { "cache none, mmap part", DIRECT(CACHE_NONE, CACHE_PART, 1) },
    { "cache none, mmap full", DIRECT(CACHE_NONE, CACHE_FULL, 1) },
    { "cache part, mmap none", DIRECT(CACHE_PART, CACHE_NONE, 1) },
    { "cache part, mmap part", DIRECT(CACHE_PART, CACHE_PART, 1) },
    { "cache part, mmap full", DIRECT(CACHE_PART, CACHE_FULL, 1) },
    { "cache full, mmap none", DIRECT(CACHE_FULL, CACHE_NONE, 1) },
    { "cache full, mmap part", DIRECT(CACHE_FULL, CACHE_PART, 1) },
    { "cache full, mmap full", DIRECT(CACHE_FULL, CACHE_FULL, 1) },
    { "8 processes, cache none, mmap none", DIRECT(CACHE_NONE, CACHE_NONE, 8), EIGHT },
    { "8 processes, cache none, mmap part", DIRECT(CACHE_NONE, CACHE_PART, 8), EIGHT },
    { "8 processes, cache none, mmap full", DIRECT(CACHE_NONE, CACHE_FULL, 8), EIGHT },
    { "8 processes, cache part, mmap none", DIRECT(CACHE_PART, CACHE_NONE, 8), EIGHT },
    { "8 processes, cache part, mmap part", DIRECT(CACHE_PART, CACHE_PART, 8), EIGHT },
    { "8 processes, cache part, mmap full", DIRECT(CACHE_PART, CACHE_FULL, 8), EIGHT },
    { "8 processes, cache full, mmap none", DIRECT(CACHE_FULL, CACHE_NONE, 8), EIGHT },
    { "8 processes, cache full, mmap part", DIRECT(CACHE_FULL, CACHE_PART, 8), EIGHT },
    { "8 processes, cache full, mmap full", DIRECT(CACHE_FULL, CACHE_FULL, 8), EIGHT },
    { "queryd, 1 client, as configured", POOL(CACHE_AS_CONFIGURED, CACHE_AS_CONFIGURED, 1), POOL_ONE },
    { "queryd, 1 client, cache none, mmap none", POOL(CACHE_NONE, CACHE_NONE, 1), POOL_ONE },
    { "queryd, 1 client, cache none, mmap full", POOL(CACHE_NONE, CACHE_FULL, 1), POOL_ONE },
    { "queryd, 1 client, cache full, mmap none", POOL(CACHE_FULL, CACHE_NONE, 1), POOL_ONE },
    { "queryd, 1 client, cache full, mmap full", POOL(CACHE_FULL, CACHE_FULL, 1), POOL_ONE },
    { "queryd, 8 clients, as configured", POOL(CACHE_AS_CONFIGURED, CACHE_AS_CONFIGURED, 8), POOL_EIGHT },
    { "queryd, 8 clients, cache none, mmap none", POOL(CACHE_NONE, CACHE_NONE, 8), POOL_EIGHT },
    { "queryd, 8 clients, cache none, mmap full", POOL(CACHE_NONE, CACHE_FULL, 8), POOL_EIGHT },
    { "queryd, 8 clients, cache full, mmap none", POOL(CACHE_FULL, CACHE_NONE, 8), POOL_EIGHT },
    { "queryd, 8 clients, cache full, mmap full", POOL(CACHE_FULL, CACHE_FULL, 8), POOL_EIGHT },
};

const BenchGroup bench_cache = {
    .name = "cache",
    .title = "cache_size and mmap_size: look-ups by one process, and by eight with updates between",
    .reference = "cache none, mmap none",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
