/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The method OpenStore: starts the daemon of a sandboxed application's own store.
 *
 * Place: room bus. Activation files have no templates, and nothing in a sandbox could write one.
 */
#pragma once

#include <systemd/sd-bus.h>

/* The handler of the method; user data is the QdBusService. */
int qd_bus_store_handle_open(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);
