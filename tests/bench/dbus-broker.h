/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs dbus-broker without systemd: as its controller, which hands it a listening socket and a policy that allows all.
 *
 * Place: tests/bench; a process of its own, the role.
 */
#pragma once

#include <gio/gio.h>

#define DBUS_BROKER_ROLE "dbus-broker"

/* The role: ROLE PATH-OF-BROKER PATH-OF-SOCKET. */
int dbus_broker_serve(int argc, char **argv);

/* Returns the helper, which helpers_stop() ends, and the bus' address; NULL when there is no dbus-broker. */
GPtrArray *dbus_broker_start(char **ret_address);
