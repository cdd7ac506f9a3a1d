/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What /proc says about a calling process: when it started, what it is called, whether it lives in a sandbox.
 *
 * Place: room bus, below bus-peer. Best effort: a process may exit at any moment.
 * Invariant: a number that was given to another process meanwhile is noticed, by a pidfd held from before the first look.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct QdBusProcess {
    pid_t pid;
    int pid_fd;          /* -1: not alive, or not to be opened */
    char *comm;          /* any bytes but NUL */
    char *scope;         /* (nullable): the systemd scope of a sandbox */
    char *unit;          /* (nullable): the systemd unit of an application */
    guint64 start_ticks; /* since boot; with @pid it names a process for ever */
} QdBusProcess;

/**
 * qd_bus_process_new:
 * @pid: a process
 *
 * Thread: any.
 *
 * Returns: (transfer full): what could be found out, with @pid_fd held
 */
QdBusProcess *qd_bus_process_new(pid_t pid);

/**
 * qd_bus_process_free:
 * @self: (nullable) (transfer full): a process
 *
 * Returns: NULL
 */
QdBusProcess *qd_bus_process_free(QdBusProcess *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdBusProcess, qd_bus_process_free)

/**
 * qd_bus_process_is_alive:
 * @self: a process
 *
 * Returns: whether the process that was looked at has not exited since: then what was read is about it
 */
gboolean qd_bus_process_is_alive(const QdBusProcess *self);

/**
 * qd_bus_process_find_scope:
 * @cgroup: the text of /proc/PID/cgroup
 *
 * Returns: (transfer full) (nullable): the scope of a Flatpak application in it
 */
char *qd_bus_process_find_scope(const char *cgroup);

/**
 * qd_bus_process_find_unit:
 * @cgroup: the text of /proc/PID/cgroup
 *
 * A desktop puts each application into a unit below the user's manager, `app-….scope` or a service. What belongs to a whole login
 * (session-3.scope) or to a terminal is no application.
 *
 * Returns: (transfer full) (nullable): its name
 */
char *qd_bus_process_find_unit(const char *cgroup);

/**
 * qd_bus_process_parse_stat:
 * @stat: the text of /proc/PID/stat
 * @ret_comm: (out) (transfer full): the command, which may hold blanks and parentheses
 * @ret_start_ticks: (out): start time in clock ticks since boot
 *
 * Returns: 0, or -EINVAL
 */
int qd_bus_process_parse_stat(const char *stat, char **ret_comm, guint64 *ret_start_ticks);
