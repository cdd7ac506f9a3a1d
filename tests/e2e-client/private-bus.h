/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A world for one test program: home, session bus and service files of its own, in a temporary folder.
 *
 * Place: end-to-end tests of libquery-client. Nothing here touches the user's own bus, home or daemon.
 */
#pragma once

#include <gio/gio.h>

typedef struct PrivateBus PrivateBus;

/* A store whose folder is not where its name says, and whose daemon opens at most PRIVATE_BUS_PAYLOADS_PER_CALL payloads a call. */
#define PRIVATE_BUS_STORE_ELSEWHERE "elsewhere"
#define PRIVATE_BUS_PAYLOADS_PER_CALL 3

/* Sets the environment of this process: call it before anything else. The daemon is that of the environment's QUERYD. */
PrivateBus *private_bus_new(void);
void private_bus_free(PrivateBus *self);

const char *private_bus_get_folder(const PrivateBus *self);

/* Another bus takes its place, with another address; the daemon of the old one has ended. */
void private_bus_restart(PrivateBus *self);

/* The process that owns @name, 0 without an owner. */
GPid private_bus_get_owner_pid(PrivateBus *self, const char *name);

/* Sends @signal_number to the daemon and waits until it has left the bus. */
void private_bus_kill_daemon(PrivateBus *self, int signal_number);

/* SIGSTOP, of which each thread hears for itself: all have stopped when it returns. */
void private_bus_stop(pid_t pid);
