/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ways to read a whole result; group-fetch.c measures each of them.
 *
 * Place: tests/bench. One file per way: fetch-*.c.
 */
#pragma once

#include "tests/bench/bench.h"
#include "tests/demo/founding-table.h"

#define FETCH_COLUMNS (FOUNDING_TEXTS + 1)

typedef struct FetchReader FetchReader;

/* One process that reads. */
typedef struct FetchRun {
    Bench *bench;
    const FetchReader *reader;
    char *path;     /* the database file */
    guint n_rows;   /* that @sql of the read under way gives */
    GPid server;    /* the process that has the database; 0: this one */
    gpointer state; /* the reader's own */
} FetchRun;

struct FetchReader {
    void (*open)(FetchRun *run); /* (nullable): everything that happens once, before the clock starts */
    void (*read)(FetchRun *run, const char *sql, CellSink *sink);
    const char *variant;
    QueryTransport transport; /* of the library; 0 is its own choice */
    guint max_rows;           /* of the curve; 0: all */
    gboolean is_kept_too;     /* measured once more with all values kept in fresh memory, as the peers do */
    gboolean has_no_values;   /* nothing to check */
    gboolean goes_over_bus;
};

void fetch_direct_open(FetchRun *run);
void fetch_direct_read(FetchRun *run, const char *sql, CellSink *sink);
void fetch_packed_read(FetchRun *run, const char *sql, CellSink *sink);
void fetch_steps_read(FetchRun *run, const char *sql, CellSink *sink);

void fetch_lmdb_open(FetchRun *run);
void fetch_lmdb_read(FetchRun *run, const char *sql, CellSink *sink);

void fetch_queryd_open(FetchRun *run);
void fetch_queryd_open_pinned(FetchRun *run);
void fetch_direct_mode_open(FetchRun *run);
void fetch_queryd_read(FetchRun *run, const char *sql, CellSink *sink);
void fetch_raw_read(FetchRun *run, const char *sql, CellSink *sink);

void fetch_classic_open(FetchRun *run);
void fetch_classic_read(FetchRun *run, const char *sql, CellSink *sink);

void fetch_sd_bus_open(FetchRun *run);
void fetch_sd_bus_read(FetchRun *run, const char *sql, CellSink *sink);
void fetch_gdbus_open(FetchRun *run);
void fetch_gdbus_read(FetchRun *run, const char *sql, CellSink *sink);
