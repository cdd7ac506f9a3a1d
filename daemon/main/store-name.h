/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store's name, and the bus name and directory that follow from it.
 *
 * Place: room main. The store "default" has the plain names, every other one carries its own.
 */
#pragma once

#include <glib.h>

#define QD_STORE_DEFAULT "default"

/**
 * qd_store_name_is_valid:
 * @name: a name
 *
 * Returns: whether it is [A-Za-z_][A-Za-z0-9_]* and short enough for a bus name, or "app." and the id of an application
 */
gboolean qd_store_name_is_valid(const char *name);

/**
 * qd_store_name_make_bus_name:
 * @name: (nullable): a valid name; NULL is "default"
 *
 * Returns: (transfer full): org.queryd.Query1, or org.queryd.Query1.NAME
 */
char *qd_store_name_make_bus_name(const char *name);

/**
 * qd_store_name_make_directory:
 * @name: (nullable): a valid name; NULL is "default"
 *
 * Returns: (transfer full): queryd in the user's data directory, or queryd/stores/NAME
 */
char *qd_store_name_make_directory(const char *name);
