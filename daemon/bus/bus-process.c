/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads /proc/PID/{stat,cgroup,root/.flatpak-info}. docs/sandboxes.md says why these are trusted. With PrivateUsers=yes
 * /proc/PID/root of a caller is unreadable, but cgroup is not.
 */
#include "daemon/bus/bus-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/access.h"
#include "daemon/base/fd.h"
#include "daemon/base/small-file.h"

#define SCOPE_PREFIX "app-flatpak-"
#define SCOPE_SUFFIX ".scope"
#define INFO_NAME ".flatpak-info"
#define INFO_BYTES_MAX (64 << 10) /* those that Flatpak writes have about one or two KiB */
#define PROC_BYTES_MAX (64 << 10)
#define MANAGER_PREFIX "user@"
#define UNIT_PREFIX "app-"
#define INITIAL_USER_NAMESPACE 0xEFFFFFFDU /* its inode, PROC_USER_INIT_INO of the kernel */
/* proc(5): the start time is field 22; the state, field 3, is the first after the command. */
#define STAT_FIELDS_BEFORE_START 19

/* An error of want or of a disk passes: the kernel may say something else when it is asked again. */
static gboolean
is_passing(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EIO:
    case ENOSPC:
    case EDQUOT:
        return TRUE;
    default:
        return FALSE;
    }
}

/* A look has failed with @error. One that does not pass says something about the process itself. */
static void
note_error(QdBusProcess *self, int error)
{
    if (self->error == 0 && is_passing(error))
        self->error = error;
}

char *
qd_bus_process_find_scope(const char *cgroup)
{
    g_auto(GStrv) names = g_strsplit_set(cgroup, "/\n", -1);

    for (char **name = names; *name != NULL; name++)
        if (g_str_has_prefix(*name, SCOPE_PREFIX) && g_str_has_suffix(*name, SCOPE_SUFFIX))
            return g_strdup(*name);

    return NULL;
}

/* systemd writes what a unit's name cannot have as \x2d. */
static gboolean
unescape(char *name)
{
    char *to = name;

    for (const char *from = name; *from != '\0'; from++, to++) {
        if (*from != '\\') {
            *to = *from;
        } else if (from[1] == 'x' && g_ascii_isxdigit(from[2]) && g_ascii_isxdigit(from[3])) {
            *to = (char) (16 * g_ascii_xdigit_value(from[2]) + g_ascii_xdigit_value(from[3]));
            if (*to == '\0')
                return FALSE;
            from += 3;
        } else {
            return FALSE;
        }
    }
    *to = '\0';
    return TRUE;
}

/* app-flatpak-ID-NUMBER.scope */
char *
qd_bus_process_parse_scope(const char *scope)
{
    const char *begin = scope + strlen(SCOPE_PREFIX);
    gsize n_bytes = strlen(scope) - strlen(SCOPE_PREFIX SCOPE_SUFFIX);
    g_autofree char *id = g_strndup(begin, n_bytes);
    char *dash = strrchr(id, '-');

    if (dash == NULL || dash[1] == '\0' || dash[1 + strspn(dash + 1, "0123456789")] != '\0')
        return NULL;
    *dash = '\0';
    return unescape(id) && qd_access_is_application(id) ? g_steal_pointer(&id) : NULL;
}

static int
parse_info(const char *text, gsize n_bytes, char **ret_application, char **ret_instance)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *application = NULL;

    if (!g_key_file_load_from_data(file, text, n_bytes, G_KEY_FILE_NONE, NULL))
        return -EBADMSG;
    application = g_key_file_get_string(file, "Application", "name", NULL);
    if (application != NULL && !qd_access_is_application(application))
        return -EBADMSG;
    *ret_application = g_steal_pointer(&application);
    *ret_instance = g_key_file_get_string(file, "Instance", "instance-id", NULL);
    return 1;
}

/* By errno. */
static int
get_info_error(void)
{
    return is_passing(errno) ? -errno : -EBADMSG;
}

int
qd_bus_process_read_info(int root_fd, char **ret_application, char **ret_instance)
{
    /* a link would be followed in our own root, and a fifo waited for */
    g_auto(QdFd) fd = TEMP_FAILURE_RETRY(openat(root_fd, INFO_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    g_autofree char *text = NULL;
    struct stat st;
    ssize_t n;

    if (fd < 0)
        return errno == ENOENT ? 0 : get_info_error();
    if (fstat(fd, &st) < 0)
        return get_info_error();
    if (!S_ISREG(st.st_mode) || st.st_size > INFO_BYTES_MAX)
        return -EBADMSG;
    text = g_malloc(INFO_BYTES_MAX);
    n = TEMP_FAILURE_RETRY(pread(fd, text, INFO_BYTES_MAX, 0));
    if (n < 0)
        return get_info_error();
    return n == st.st_size ? parse_info(text, (gsize) n, ret_application, ret_instance) : -EBADMSG;
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
read_proc_file(QdBusProcess *self, const char *name)
{
    char path[64];
    char *text;

    (void) g_snprintf(path, sizeof path, "/proc/%d/%s", (int) self->pid, name);
    text = qd_small_file_read(path, PROC_BYTES_MAX, NULL);
    if (text == NULL)
        note_error(self, errno);
    return text;
}

/* Where both can be read they have to agree. */
static const char *
find_mystery(const QdBusProcess *self, const char *scope, int info, const char *named)
{
    if (scope != NULL && self->application == NULL)
        return "the name of its systemd scope is not that of an application";
    if (info < 0)
        return "its file /" INFO_NAME " cannot be read";
    if (info > 0 && named == NULL)
        return "its file /" INFO_NAME " names no application";
    if (info > 0 && !g_str_equal(self->application, named))
        return "its systemd scope and its file /" INFO_NAME " name two applications";
    return NULL;
}

/* Where systemd runs the session, Flatpak gives each sandbox a scope. Elsewhere there is only its file, which a process can hide.
 */
static gboolean
is_in_unit(const char *cgroup)
{
    g_auto(GStrv) names = g_strsplit_set(cgroup != NULL ? cgroup : "", "/\n", -1);

    for (char **name = names; *name != NULL; name++)
        if (g_str_has_suffix(*name, ".scope") || g_str_has_suffix(*name, ".service") || g_str_has_suffix(*name, ".slice"))
            return TRUE;
    return FALSE;
}

/* FALSE: we are in a user namespace of our own, as that of PrivateUsers=yes. */
static gboolean
can_look_at_others(QdBusProcess *self)
{
    struct stat own;

    if (stat("/proc/self/ns/user", &own) == 0)
        return own.st_ino == INITIAL_USER_NAMESPACE;
    note_error(self, errno);
    return FALSE;
}

static void
find_sandbox(QdBusProcess *self, const char *cgroup)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/root", (int) self->pid);
    g_autofree char *scope = cgroup != NULL ? qd_bus_process_find_scope(cgroup) : NULL;
    g_autofree char *named = NULL;
    g_autofree char *number = NULL;
    g_auto(QdFd) root_fd = TEMP_FAILURE_RETRY(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
    int info = 0;

    if (root_fd < 0)
        note_error(self, errno);
    else if ((info = qd_bus_process_read_info(root_fd, &named, &number)) < 0)
        note_error(self, -info);
    if (root_fd < 0 && !is_in_unit(cgroup) && can_look_at_others(self)) {
        self->sandbox = QD_SANDBOX_UNKNOWN;
        self->mystery = "it is in no unit of systemd, and its root folder cannot be looked at";
        return;
    }
    if (scope == NULL && info == 0)
        return;

    self->application = scope != NULL ? qd_bus_process_parse_scope(scope) : g_strdup(named);
    self->mystery = find_mystery(self, scope, info, named);
    self->sandbox = self->mystery != NULL ? QD_SANDBOX_UNKNOWN : QD_SANDBOX_KNOWN;
    self->instance = scope != NULL ? g_steal_pointer(&scope) : g_steal_pointer(&number);
}

static gboolean
read_stat(QdBusProcess *self, guint64 *ret_start_ticks)
{
    g_autofree char *stat = read_proc_file(self, "stat");
    g_autofree char *comm = NULL;

    if (stat == NULL || qd_bus_process_parse_stat(stat, &comm, ret_start_ticks) < 0)
        return FALSE;
    if (self->comm == NULL)
        self->comm = g_steal_pointer(&comm);
    return TRUE;
}

QdBusProcess *
qd_bus_process_new(pid_t pid, int pid_fd)
{
    g_autoptr(QdBusProcess) self = g_new0(QdBusProcess, 1);
    g_autofree char *cgroup = NULL;

    self->pid = pid;
    self->pid_fd = pid_fd >= 0 ? pid_fd : (int) syscall(SYS_pidfd_open, pid, 0); /* CLOEXEC by itself */
    if (self->pid_fd < 0) {
        note_error(self, errno);
        self->has_no_pid_fd = errno == ENOSYS;
        self->pid_fd = -1;
    }

    if (!read_stat(self, &self->start_ticks))
        self->comm = g_strdup("unknown");
    cgroup = read_proc_file(self, "cgroup");
    if (cgroup != NULL)
        self->unit = qd_bus_process_find_unit(cgroup);
    find_sandbox(self, cgroup);

    return g_steal_pointer(&self);
}

QdBusProcess *
qd_bus_process_free(QdBusProcess *self)
{
    if (self == NULL)
        return NULL;

    (void) qd_fd_close(self->pid_fd);
    g_free(self->comm);
    g_free(self->application);
    g_free(self->instance);
    g_free(self->unit);
    g_free(self);
    return NULL;
}

gboolean
qd_bus_process_is_alive(QdBusProcess *self)
{
    struct pollfd item = { .fd = self->pid_fd, .events = POLLIN };
    guint64 start_ticks = 0;
    int n_ready = self->pid_fd >= 0 ? TEMP_FAILURE_RETRY(poll(&item, 1, 0)) : -1;

    /* A pidfd becomes readable when its process exits. */
    if (n_ready >= 0)
        return n_ready == 0;
    if (self->pid_fd < 0 && !self->has_no_pid_fd)
        return FALSE;
    /* valgrind, or no memory to ask: a process of another time has the number */
    return self->start_ticks > 0 && read_stat(self, &start_ticks) && start_ticks == self->start_ticks;
}
