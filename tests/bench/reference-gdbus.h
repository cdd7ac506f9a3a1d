/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service of reference-sd-bus.h once more, by GDBus.
 *
 * Place: tests/bench; a process of its own, the role.
 */
#pragma once

#include <gio/gio.h>

#define REFERENCE_GDBUS_ROLE "serve-gdbus"
#define REFERENCE_GDBUS_NAME "org.queryd.Bench.GDBus"

/* The role: ROLE PATH-OF-DATABASE. */
int reference_gdbus_serve(int argc, char **argv);

/* Starts the service on the session bus and returns the helper; helpers_stop() ends it. */
GPtrArray *reference_gdbus_start(const char *path, GPid *ret_pid);
