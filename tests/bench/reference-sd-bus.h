/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reference: SQLite served over D-Bus, by sd-bus. REFERENCE_INTERFACE has
 *
 *     Prepare(s) · Fetch(u n) → aas · Lookup(x id) → as · Ping() · GetInteger(u n) → ai
 *
 * Place: tests/bench; a process of its own (the role), or the other end of a socketpair without any bus.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "tests/bench/bench.h"

#define REFERENCE_SD_BUS_ROLE "serve-sd-bus"
#define REFERENCE_SD_BUS_NAME "org.queryd.Bench.SdBus"
#define REFERENCE_PATH "/org/queryd/Bench"
#define REFERENCE_INTERFACE "org.queryd.Bench"
/* What a row of GetInteger() looks like: any numbers. */
#define REFERENCE_INTEGERS_MAX 65536u
#define REFERENCE_CALL_USEC (120u * G_USEC_PER_SEC)

/* The role: ROLE PATH-OF-DATABASE. */
int reference_sd_bus_serve(int argc, char **argv);

/* Starts the service on the session bus (by @address, if not NULL) and returns the helper; helpers_stop() ends it. */
GPtrArray *reference_sd_bus_start(const char *path, const char *address, GPid *ret_pid);

/* Starts it at the other end of a socketpair; the process must not have threads. Returns this end's bus object. */
sd_bus *reference_sd_bus_start_peer(const Bench *bench, const char *path, GPid *ret_pid);

/* Appends the answer of GetInteger(). Negative errno on failure. */
int reference_sd_bus_append_integers(sd_bus_message *message, guint32 n);
