/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads results as a program without the library would: Prepare by D-Bus, then records from the descriptor until END.
 *
 * Place: tests/bench; for transports and page sizes that the library does not offer.
 */
#pragma once

#include "client-lib/wire/wire-ring.h"
#include "tests/bench/bench.h"
#include "tests/demo/cell-sink.h"

typedef struct WireClient {
    const Bench *bench;
    int fd;
    gsize page_size;
    guint8 *page;
    gboolean is_two_way;
    gboolean is_asked;   /* its FETCH came with Prepare, or it needs none */
    int ring_fds[2];     /* that came with the last record; -1: none */
    QwRing ring;         /* of the result; no slots: there is none */
    const guint8 *slots; /* mapped */
    guint8 *index;       /* mapped */
    guint64 n_taken;
} WireClient;

/* @page_size: 0 is the daemon's default. Skips the case when the daemon does not have the transport. */
void wire_client_open(WireClient *self, const Bench *bench, const char *transport, guint page_size, const char *sql);

/* The same over a socket, with the option fetch: the statement runs at once. */
void wire_client_open_running(WireClient *self, const Bench *bench, const char *sql);

/* Runs the statement where it does not run by itself, and copies all rows. */
void wire_client_read(WireClient *self, guint n_columns, CellSink *sink);

void wire_client_close(WireClient *self);
