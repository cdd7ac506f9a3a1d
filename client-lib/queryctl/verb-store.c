/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * store: further databases, each with a queryd of its own that the bus starts by name.
 *
 * D-Bus activation files have no templates, so that every store needs a file; systemd's unit is the template queryd@.service.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/queryctl/verbs.h"

#define BUS_NAME_PREFIX "org.queryd.Query1."
#define SERVICE_SUFFIX ".service"
#define SQLITE_MAGIC "SQLite format 3" /* and its NUL */
/* The range that each connection of SQLite locks for reading: sqlite3's PENDING_BYTE + 2, SHARED_SIZE. */
#define SQLITE_SHARED_START 0x40000002
#define SQLITE_SHARED_BYTES 510
#define STOP_SECONDS 15 /* the daemon needs 10 at most */
#define POLL_USEC 20000

static bool
fail(GError **error, int errno_value, const char *what, const char *name)
{
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno_value), "%s '%s': %s", what, name,
                g_strerror(errno_value));
    return false;
}

static char *
get_services_directory(void)
{
    return g_build_filename(g_get_user_data_dir(), "dbus-1", "services", NULL);
}

static char *
get_store_directory(const char *name)
{
    return g_build_filename(g_get_user_data_dir(), "queryd", "stores", name, NULL);
}

static char *
get_service_path(const char *name)
{
    g_autofree char *directory = get_services_directory();
    g_autofree char *base = g_strconcat(BUS_NAME_PREFIX, name, SERVICE_SUFFIX, NULL);

    return g_build_filename(directory, base, NULL);
}

/* create -------------------------------------------------------------------------------------------------------------- */

static GVariant *
call_bus(const char *method, const char *reply_type, GError **error)
{
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, error);

    if (bus == NULL)
        return NULL;
    return g_dbus_connection_call_sync(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, NULL,
                                       G_VARIANT_TYPE(reply_type), G_DBUS_CALL_FLAGS_NONE, 5000, NULL, error);
}

/* So that the bus knows the new file at once. A bus that is not there will read it when it starts. */
static void
tell_bus(const char *name, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *bus_name = g_strconcat(BUS_NAME_PREFIX, name, NULL);
    g_autoptr(GVariant) reloaded = call_bus("ReloadConfig", "()", &error);
    g_autoptr(GVariant) names = reloaded != NULL ? call_bus("ListActivatableNames", "(as)", &error) : NULL;
    g_autofree const char **known = NULL;

    if (names == NULL) {
        (void) fprintf(stderr, "queryctl: the bus has not noticed the new store, it will at the next login: %s\n", error->message);
        return;
    }
    g_variant_get(names, "(^a&s)", &known);
    if (!g_strv_contains(known, bus_name))
        (void) fprintf(stderr, "queryctl: this bus does not start services from the folder of '%s': it will not find the store\n",
                       path);
}

static bool
create_store(const char *name, GError **error)
{
    g_autofree char *directory = get_services_directory();
    g_autofree char *path = get_service_path(name);
    g_autofree char *text = NULL;

    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return fail(error, EEXIST, "cannot create store", name);
    if (g_mkdir_with_parents(directory, 0700) < 0)
        return fail(error, errno, "cannot create", directory);

    text = g_strdup_printf("[D-BUS Service]\n"
                           "Name=" BUS_NAME_PREFIX "%s\n"
                           "Exec=" QUERYD_PATH " --store %s\n"
                           "SystemdService=queryd@%s.service\n",
                           name, name, name);
    if (!g_file_set_contents(path, text, -1, error))
        return false;
    tell_bus(name, path);
    return true;
}

/* import -------------------------------------------------------------------------------------------------------------- */

/* What a database leaves beside its file while it is written: then the file alone is not the database. */
static bool
check_companions(const char *file, GError **error)
{
    static const char *const suffixes[] = { "-wal", "-journal" };

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *path = g_strconcat(file, suffixes[i], NULL);
        struct stat st;

        if (stat(path, &st) < 0 || st.st_size == 0)
            continue;
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "'%s' is in use or was not closed well: there is '%s'. Close its programs, or run: sqlite3 '%s' "
                    "'PRAGMA wal_checkpoint(TRUNCATE)'",
                    file, path, file);
        return false;
    }

    return true;
}

/* Checks what @fd is, and keeps writers away while it is open. */
static bool
check_source(int fd, const char *file, GError **error)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = SQLITE_SHARED_START, .l_len = SQLITE_SHARED_BYTES };
    char magic[sizeof SQLITE_MAGIC];
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(error, errno, "cannot read", file);
    if (!S_ISREG(st.st_mode) || pread(fd, magic, sizeof magic, 0) != (ssize_t) sizeof magic ||
        memcmp(magic, SQLITE_MAGIC, sizeof magic) != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "'%s' is not an SQLite database", file);
        return false;
    }
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
        return fail(error, errno, "cannot lock", file);

    return check_companions(file, error);
}

static bool
copy_bytes(int source, int target)
{
    g_autofree char *buffer = g_malloc(1 << 20);
    ssize_t n = 0;

    while ((n = read(source, buffer, 1 << 20)) != 0) {
        if (n < 0 && errno != EINTR)
            return false;
        for (ssize_t done = 0; done < n;) {
            ssize_t written = write(target, buffer + done, (size_t) (n - done));

            if (written < 0 && errno != EINTR)
                return false;
            done += MAX(written, 0);
        }
    }

    return fsync(target) == 0;
}

/* A crash leaves either nothing under the database's name, or all of it. */
static bool
copy_database(int source, const char *directory, GError **error)
{
    g_autofree char *path = g_build_filename(directory, "queryd.db", NULL);
    g_autofree char *unfinished = g_strconcat(path, ".part", NULL);
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int directory_fd = -1;
    bool ok = false;

    if (fd < 0)
        return fail(error, errno, "cannot create", unfinished);

    ok = copy_bytes(source, fd) || fail(error, errno, "cannot write", unfinished);
    (void) close(fd);
    if (ok && rename(unfinished, path) < 0)
        ok = fail(error, errno, "cannot create", path);
    if (!ok) {
        (void) unlink(unfinished);
        (void) rmdir(directory);
        return false;
    }

    directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0 || fsync(directory_fd) < 0)
        ok = fail(error, errno, "cannot sync", directory);
    if (directory_fd >= 0)
        (void) close(directory_fd);
    return ok;
}

/* An import that was cut off leaves a directory without a database: it may be taken over. */
static bool
make_store_directory(const char *directory, GError **error)
{
    g_autofree char *database = g_build_filename(directory, "queryd.db", NULL);

    if (g_mkdir_with_parents(directory, 0700) < 0)
        return fail(error, errno, "cannot create", directory);
    if (g_file_test(database, G_FILE_TEST_EXISTS))
        return fail(error, EEXIST, "cannot import into", database);

    return true;
}

static bool
import_store(const char *file, const char *name, GError **error)
{
    g_autofree char *directory = get_store_directory(name);
    g_autofree char *service = get_service_path(name);
    int source = -1;
    bool ok = false;

    if (g_file_test(service, G_FILE_TEST_EXISTS))
        return fail(error, EEXIST, "cannot create store", name);
    source = open(file, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return fail(error, errno, "cannot open", file);

    ok = check_source(source, file, error);
    ok = ok && make_store_directory(directory, error) && copy_database(source, directory, error);
    (void) close(source);
    return ok && create_store(name, error);
}

/* remove -------------------------------------------------------------------------------------------------------------- */

/* 0: it does not run */
static guint32
find_process(GDBusConnection *bus, const char *bus_name)
{
    g_autoptr(GVariant) reply = g_dbus_connection_call_sync(
        bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
        g_variant_new("(s)", bus_name), G_VARIANT_TYPE("(u)"), G_DBUS_CALL_FLAGS_NONE, 5000, NULL, NULL);
    guint32 process = 0;

    if (reply != NULL)
        g_variant_get(reply, "(u)", &process);
    return process;
}

/* Its daemon ends by SIGTERM, with all that it has acknowledged on the disk. */
static bool
stop_daemon(const char *name, GError **error)
{
    g_autofree char *bus_name = g_strconcat(BUS_NAME_PREFIX, name, NULL);
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, error);
    gint64 end = g_get_monotonic_time() + STOP_SECONDS * G_USEC_PER_SEC;
    guint32 process = bus != NULL ? find_process(bus, bus_name) : 0;

    if (bus == NULL)
        return false;
    if (process != 0 && kill((pid_t) process, SIGTERM) < 0)
        return fail(error, errno, "cannot stop the daemon of store", name);
    while (process != 0 && find_process(bus, bus_name) == process) {
        if (g_get_monotonic_time() > end) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "the daemon of store '%s', process %u, has not ended within %d s",
                        name, process, STOP_SECONDS);
            return false;
        }
        g_usleep(POLL_USEC);
    }
    return true;
}

/* (a callback of nftw) */
static int
delete_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    return remove(path);
}

/* The bus does not start it any more, then its daemon ends, then its data go if --delete says so. */
static bool
remove_store(const char *name, bool deletes, GError **error)
{
    g_autofree char *directory = get_store_directory(name);
    g_autofree char *service = get_service_path(name);
    g_autoptr(GVariant) reloaded = NULL;

    if (unlink(service) < 0 && (errno != ENOENT || !g_file_test(directory, G_FILE_TEST_IS_DIR)))
        return fail(error, errno, "cannot remove store", name);
    reloaded = call_bus("ReloadConfig", "()", error);
    if (reloaded == NULL || !stop_daemon(name, error))
        return false;
    if (!deletes) {
        (void) fprintf(stderr, "queryctl: the data of store '%s' are still in '%s'; --delete deletes them\n", name, directory);
        return true;
    }
    if (nftw(directory, delete_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 && errno != ENOENT)
        return fail(error, errno, "cannot delete", directory);
    return true;
}

/* list ---------------------------------------------------------------------------------------------------------------- */

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static bool
list_stores(QctlSession *session, GError **error)
{
    static const char *const columns[] = { "name", "directory" };
    g_autofree char *services = get_services_directory();
    g_autoptr(GDir) dir = g_dir_open(services, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(QctlSink) sink = qctl_session_create_sink(session);
    g_autoptr(QctlOutput) output = qctl_session_create_output(session, sink, columns, 2);
    const char *base = NULL;

    while (dir != NULL && (base = g_dir_read_name(dir)) != NULL) {
        gsize n = strlen(base);

        if (g_str_has_prefix(base, BUS_NAME_PREFIX) && g_str_has_suffix(base, SERVICE_SUFFIX) &&
            n > strlen(BUS_NAME_PREFIX) + strlen(SERVICE_SUFFIX))
            g_ptr_array_add(names, g_strndup(base + strlen(BUS_NAME_PREFIX), n - strlen(BUS_NAME_PREFIX) - strlen(SERVICE_SUFFIX)));
    }
    g_ptr_array_sort(names, compare_names);

    for (guint i = 0; i < names->len; i++) {
        g_autofree char *directory = get_store_directory(names->pdata[i]);
        QwValue cells[2];

        qctl_cell_init_text(&cells[0], names->pdata[i]);
        qctl_cell_init_text(&cells[1], directory);
        if (!qctl_output_put(output, cells, error))
            return false;
    }
    return qctl_output_finish(output, true, error);
}

static bool
check(const QctlArguments *arguments, GError **error)
{
    const char *action = arguments->words->pdata[0];
    guint n_words = arguments->words->len;
    guint n_wanted = g_str_equal(action, "list")                                      ? 1
                     : g_str_equal(action, "create") || g_str_equal(action, "remove") ? 2
                     : g_str_equal(action, "import")                                  ? 3
                                                                                      : 0;

    if (n_words != n_wanted || (arguments->deletes && !g_str_equal(action, "remove")))
        return qctl_arguments_refuse(arguments, error);
    if (n_words > 1 && (!qctl_is_store_name(arguments->words->pdata[n_words - 1]) ||
                        g_str_equal(arguments->words->pdata[n_words - 1], "default"))) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                    "'%s' is not a store's name: letters, digits and '_', at most 64, not a digit first, not 'default'",
                    (const char *) arguments->words->pdata[n_words - 1]);
        return false;
    }

    return true;
}

static int
run_store(QctlSession *session)
{
    GPtrArray *words = qctl_session_get_arguments(session)->words;
    const char *action = words->pdata[0];
    g_autoptr(GError) error = NULL;
    bool ok = false;

    if (g_str_equal(action, "list"))
        ok = list_stores(session, &error);
    else if (g_str_equal(action, "create"))
        ok = create_store(words->pdata[1], &error);
    else if (g_str_equal(action, "remove"))
        ok = remove_store(words->pdata[1], qctl_session_get_arguments(session)->deletes, &error);
    else
        ok = import_store(words->pdata[1], words->pdata[2], &error);

    return ok ? QCTL_EXIT_OK : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

static const QctlOption option_delete = { "delete", 0, NULL, "remove: delete the store's data as well",
                                          .offset = G_STRUCT_OFFSET(QctlArguments, deletes) };
const QctlVerb qctl_store_verb = {
    "store",
    "list|create NAME|import FILE NAME|remove NAME",
    "manage further databases",
    QCTL_OPTIONS(&option_delete, QCTL_PRINT_OPTIONS),
    .n_words_min = 1,
    .n_words_max = 3,
    .actions = QCTL_ACTIONS("list", "create", "import", "remove"),
    .values = QCTL_VALUES_FILES,
    .check = check,
    .run = run_store,
};
