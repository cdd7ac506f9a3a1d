/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd --salvage: what the daemon does by itself with a file that is damaged, on demand.
 *
 * Place: room main. Invariant: no daemon serves the store meanwhile; the store's lock says so.
 */
#pragma once

/**
 * qd_salvage_command_run:
 * @directory: (not nullable): of the store
 * @config_path: (nullable): NULL is the default
 *
 * Salvages the store's database, whole or not, into a new file, and prints where the old one and the report are. Thread: main.
 *
 * Returns: the process's exit code
 */
int qd_salvage_command_run(const char *directory, const char *config_path);
