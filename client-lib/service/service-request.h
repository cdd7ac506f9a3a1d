/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The requests of one connection of the daemon, one after another.
 *
 * Place: room service of the library's programs. wire-service.h has what is said.
 */
#pragma once

#include <gio/gio.h>

/**
 * service_serve:
 * @fd: a connected UNIX socket that blocks; not closed
 * @config_path: (nullable): queryd.conf
 * @cancellable: cancelled when the daemon has hung up
 *
 * Answers until the daemon hangs up or says what is no request. Thread: one of its own.
 */
void service_serve(int fd, const char *config_path, GCancellable *cancellable);
