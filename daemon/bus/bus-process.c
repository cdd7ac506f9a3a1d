/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads /proc/PID/{stat,cgroup}. With PrivateUsers=yes /proc/PID/root of a caller is unreadable, but cgroup is not. So a
 * sandbox is known by its scope, app-flatpak-*.scope, which only the launcher outside can choose.
 */
#include "daemon/bus/bus-process.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define SCOPE_PREFIX "app-flatpak-"
#define SCOPE_SUFFIX ".scope"
#define MANAGER_PREFIX "user@"
#define UNIT_PREFIX "app-"
/* proc(5): the start time is field 22; the state, field 3, is the first after the command. */
#define STAT_FIELDS_BEFORE_START 19

char *
qd_bus_process_find_scope(const char *cgroup)
{
    g_auto(GStrv) names = g_strsplit_set(cgroup, "/\n", -1);

    for (char **name = names; *name != NULL; name++)
        if (g_str_has_prefix(*name, SCOPE_PREFIX) && g_str_has_suffix(*name, SCOPE_SUFFIX))
            return g_strdup(*name);

    return NULL;
}

char *
qd_bus_process_find_unit(const char *cgroup)
{
    g_auto(GStrv) names = g_strsplit_set(cgroup, "/\n", -1);
    const char *unit = NULL;
    gboolean is_below = FALSE; /* the user's manager */

    for (char **name = names; *name != NULL; name++) {
        gboolean is_service = g_str_has_suffix(*name, ".service");

        if (strchr(*name, ':') != NULL) /* the line of another hierarchy, up to its path */
            is_below = FALSE;
        if (g_str_has_prefix(*name, MANAGER_PREFIX) && is_service)
            is_below = TRUE;
        else if (is_below && (is_service || (g_str_has_prefix(*name, UNIT_PREFIX) && g_str_has_suffix(*name, SCOPE_SUFFIX))))
            unit = *name;
    }
    return g_strdup(unit);
}

int
qd_bus_process_parse_stat(const char *stat, char **ret_comm, guint64 *ret_start_ticks)
{
    const char *open = strchr(stat, '(');
    const char *close = strrchr(stat, ')');
    const char *field;
    guint64 ticks;

    if (open == NULL || close == NULL || close < open)
        return -EINVAL;

    field = close + 1;
    for (guint i = 0; i <= STAT_FIELDS_BEFORE_START; i++) {
        field = strchr(field, ' ');
        if (field == NULL)
            return -EINVAL;
        field++;
    }
    if (!g_ascii_isdigit(field[0]))
        return -EINVAL;
    ticks = g_ascii_strtoull(field, NULL, 10);

    *ret_comm = g_strndup(open + 1, (gsize) (close - open - 1));
    *ret_start_ticks = ticks;
    return 0;
}

static char *
read_proc_file(pid_t pid, const char *name)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int) pid, name);
    g_autofree char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return NULL;

    return g_steal_pointer(&text);
}

QdBusProcess *
qd_bus_process_new(pid_t pid)
{
    g_autoptr(QdBusProcess) self = g_new0(QdBusProcess, 1);
    g_autofree char *stat = NULL;
    g_autofree char *cgroup = NULL;

    self->pid = pid;
    self->pid_fd = (int) syscall(SYS_pidfd_open, pid, 0); /* CLOEXEC by itself */
    if (self->pid_fd < 0)
        self->pid_fd = -1;

    stat = read_proc_file(pid, "stat");
    if (stat == NULL || qd_bus_process_parse_stat(stat, &self->comm, &self->start_ticks) < 0)
        self->comm = g_strdup("unknown");

    cgroup = read_proc_file(pid, "cgroup");
    if (cgroup != NULL) {
        self->scope = qd_bus_process_find_scope(cgroup);
        self->unit = qd_bus_process_find_unit(cgroup);
    }

    return g_steal_pointer(&self);
}

QdBusProcess *
qd_bus_process_free(QdBusProcess *self)
{
    if (self == NULL)
        return NULL;

    (void) qd_fd_close(self->pid_fd);
    g_free(self->comm);
    g_free(self->scope);
    g_free(self->unit);
    g_free(self);
    return NULL;
}

gboolean
qd_bus_process_is_alive(const QdBusProcess *self)
{
    struct pollfd item = { .fd = self->pid_fd, .events = POLLIN };

    /* A pidfd becomes readable when its process exits. */
    return self->pid_fd >= 0 && poll(&item, 1, 0) == 0;
}
