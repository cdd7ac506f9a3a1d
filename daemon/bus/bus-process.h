/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What /proc says about a calling process: when it started, what it is called, which sandboxed application it belongs to.
 *
 * Place: room bus, below bus-peer. Best effort: a process may exit at any moment.
 * Invariant: a number that was given to another process meanwhile is noticed, by a pidfd held from before the first look.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef enum QdSandbox {
    QD_SANDBOX_NONE,    /* a program of the user's */
    QD_SANDBOX_KNOWN,   /* of an application that is known */
    QD_SANDBOX_UNKNOWN, /* sandboxed, but by whom could not be found out; or nothing could */
} QdSandbox;

typedef struct QdBusProcess {
    pid_t pid;
    int pid_fd;             /* -1: not alive, or not to be opened */
    gboolean has_no_pid_fd; /* the kernel has none */
    char *comm;             /* any bytes but NUL */
    QdSandbox sandbox;
    char *application;   /* (nullable): the id of a sandboxed application */
    char *instance;      /* (nullable): what this sandbox is called: its systemd scope, or Flatpak's number of it */
    const char *mystery; /* (nullable): why the application is not known */
    char *unit;          /* (nullable): the systemd unit of an application */
    guint64 start_ticks; /* since boot; with @pid it names a process for ever */
    int error;           /* of want or of a disk, for which something could not be looked at: then nothing here counts; or 0 */
} QdBusProcess;

/**
 * qd_bus_process_new:
 * @pid: a process
 * @pid_fd: (transfer full): of it, from the bus; or -1
 *
 * Thread: any.
 *
 * Returns: (transfer full): what could be found out, with a pidfd held
 */
QdBusProcess *qd_bus_process_new(pid_t pid, int pid_fd);

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
gboolean qd_bus_process_is_alive(QdBusProcess *self);

/**
 * qd_bus_process_find_scope:
 * @cgroup: the text of /proc/PID/cgroup
 *
 * Returns: (transfer full) (nullable): the scope of a Flatpak application in it
 */
char *qd_bus_process_find_scope(const char *cgroup);

/**
 * qd_bus_process_parse_scope:
 * @scope: as qd_bus_process_find_scope() gives it
 *
 * Returns: (transfer full) (nullable): the id of the application in it
 */
char *qd_bus_process_parse_scope(const char *scope);

/**
 * qd_bus_process_read_info:
 * @root_fd: the root folder of a process
 * @ret_application: (out) (transfer full) (nullable): the id of its application; NULL: the file names none
 * @ret_instance: (out) (transfer full) (nullable): Flatpak's number of the sandbox
 *
 * Reads /.flatpak-info, which Flatpak lays into each of its sandboxes and which nothing inside can change. The file is not
 * followed if it is a link, and not read if it is no plain file or a long one.
 *
 * Returns: 1, 0 when there is no such file, -EBADMSG when there is something else in its place. Another negative error, as -EMFILE:
 *   it cannot be read now
 */
int qd_bus_process_read_info(int root_fd, char **ret_application, char **ret_instance);

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
