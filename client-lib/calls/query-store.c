/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * D-Bus activation files have no templates, so that every store needs a file; systemd's unit is the template queryd@.service.
 *
 * Place: room calls; it needs no connection to a daemon.
 */
#include "client-lib/query-store.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/calls/query-call.h"
#include "client-lib/core/query-bus.h"
#include "client-lib/core/query-error.h"
#include "client-lib/core/query-store-name.h"

#define BUS_NAME_PREFIX QUERY_BUS_INTERFACE "."
#define SERVICE_SUFFIX ".service"
#define LOCK_NAME "lock" /* as in daemon/store/database.c */
#define STOP_SECONDS 15  /* the daemon needs 10 at most */
#define POLL_USEC 20000

static gboolean
fail(GError **error, int errno_value, const char *what, const char *name)
{
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno_value), "%s '%s': %s", what, name,
                g_strerror(errno_value));
    return FALSE;
}

gboolean
query_store_is_name(const char *name)
{
    return name != NULL && query_store_name_is_valid(name) && !g_str_equal(name, "default");
}

static gboolean
check_name(const char *name, GError **error)
{
    if (query_store_is_name(name))
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                "'%s' is not a store's name: letters, digits and '_', at most 64, not a digit first, not 'default'", name);
    return FALSE;
}

static char *
get_services_folder(void)
{
    g_autofree char *data = query_folders_get_data();

    return g_build_filename(data, "dbus-1", "services", NULL);
}

static char *
get_service_path(const char *name)
{
    g_autofree char *folder = get_services_folder();
    g_autofree char *base = g_strconcat(BUS_NAME_PREFIX, name, SERVICE_SUFFIX, NULL);

    return g_build_filename(folder, base, NULL);
}

char *
query_store_get_folder(const char *name)
{
    g_autofree char *data = query_folders_get_data();

    if (name == NULL || g_str_equal(name, "default"))
        return g_build_filename(data, "queryd", NULL);
    return g_build_filename(data, "queryd", "stores", name, NULL);
}

/* The bus ---------------------------------------------------------------------------------------------------------------- */

/* It reads its files of services again. Returns: whether it starts the store's daemon now */
static gboolean
is_known_to_bus(const char *name, GCancellable *cancellable)
{
    g_autofree char *bus_name = g_strconcat(BUS_NAME_PREFIX, name, NULL);
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, cancellable, NULL);
    g_autoptr(GVariant) reloaded = bus != NULL ? query_bus_ask(bus, "ReloadConfig", NULL, "()", cancellable, NULL) : NULL;
    g_autoptr(GVariant) names = reloaded != NULL ? query_bus_ask(bus, "ListActivatableNames", NULL, "(as)", cancellable, NULL)
                                                 : NULL;
    g_autofree const char **known = NULL;

    if (names == NULL)
        return FALSE;
    g_variant_get(names, "(^a&s)", &known);
    return g_strv_contains(known, bus_name);
}

gboolean
query_store_create(const char *name, gboolean *ret_is_known, GCancellable *cancellable, GError **error)
{
    g_autofree char *folder = get_services_folder();
    g_autofree char *path = NULL;
    g_autofree char *text = NULL;
    gboolean is_known;

    g_return_val_if_fail(name != NULL, FALSE);

    if (!check_name(name, error))
        return FALSE;
    path = get_service_path(name);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return fail(error, EEXIST, "cannot create store", name);
    if (g_mkdir_with_parents(folder, 0700) < 0)
        return fail(error, errno, "cannot create", folder);

    text = g_strdup_printf("[D-BUS Service]\n"
                           "Name=" BUS_NAME_PREFIX "%s\n"
                           "Exec=" QUERYD_PATH " --store %s\n"
                           "SystemdService=queryd@%s.service\n",
                           name, name, name);
    if (!g_file_set_contents(path, text, -1, error))
        return FALSE;
    is_known = is_known_to_bus(name, cancellable);
    if (ret_is_known != NULL)
        *ret_is_known = is_known;
    return TRUE;
}

/* List ------------------------------------------------------------------------------------------------------------------- */

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

char **
query_store_list(void)
{
    g_autofree char *services = get_services_folder();
    g_autoptr(GDir) dir = g_dir_open(services, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *base = NULL;

    while (dir != NULL && (base = g_dir_read_name(dir)) != NULL) {
        gsize n = strlen(base);

        if (g_str_has_prefix(base, BUS_NAME_PREFIX) && g_str_has_suffix(base, SERVICE_SUFFIX) &&
            n > strlen(BUS_NAME_PREFIX) + strlen(SERVICE_SUFFIX))
            g_ptr_array_add(names, g_strndup(base + strlen(BUS_NAME_PREFIX), n - strlen(BUS_NAME_PREFIX) - strlen(SERVICE_SUFFIX)));
    }
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

/* Remove ----------------------------------------------------------------------------------------------------------------- */

/* 0: it does not run */
static guint32
find_process(GDBusConnection *bus, const char *bus_name)
{
    g_autoptr(GVariant) reply = query_bus_ask(bus, "GetConnectionUnixProcessID", g_variant_new("(s)", bus_name), "(u)", NULL, NULL);
    guint32 process = 0;

    if (reply != NULL)
        g_variant_get(reply, "(u)", &process);
    return process;
}

/* The daemon gives up its name first, and copies its log into the file afterwards. It has the lock until its end. */
static gboolean
is_locked(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, LOCK_NAME, NULL);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    gboolean ok;

    if (fd < 0)
        return FALSE;
    ok = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    (void) close(fd);
    return ok;
}

/* By SIGTERM. */
static gboolean
stop_daemon(GDBusConnection *bus, const char *name, const char *folder, GCancellable *cancellable, GError **error)
{
    g_autofree char *bus_name = g_strconcat(BUS_NAME_PREFIX, name, NULL);
    gint64 end = g_get_monotonic_time() + STOP_SECONDS * G_USEC_PER_SEC;
    guint32 process = find_process(bus, bus_name);

    if (process != 0 && kill((pid_t) process, SIGTERM) < 0)
        return fail(error, errno, "cannot stop the daemon of store", name);
    while ((process != 0 && find_process(bus, bus_name) == process) || is_locked(folder)) {
        if (g_cancellable_set_error_if_cancelled(cancellable, error))
            return FALSE;
        if (g_get_monotonic_time() > end) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                        "the daemon of store '%s' has not ended within %d s: '%s' is in use", name, STOP_SECONDS, folder);
            return FALSE;
        }
        g_usleep(POLL_USEC);
    }
    return TRUE;
}

/* (a callback of nftw) */
static int
delete_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

gboolean
query_store_remove(const char *name, gboolean deletes_data, GCancellable *cancellable, GError **error)
{
    g_autofree char *folder = NULL;
    g_autofree char *service = NULL;
    g_autoptr(GDBusConnection) bus = NULL;
    g_autoptr(GVariant) reloaded = NULL;

    g_return_val_if_fail(name != NULL, FALSE);

    if (!check_name(name, error))
        return FALSE;
    folder = query_store_get_folder(name);
    service = get_service_path(name);
    if (unlink(service) < 0 && (errno != ENOENT || !g_file_test(folder, G_FILE_TEST_IS_DIR)))
        return fail(error, errno, "cannot remove store", name);
    bus = g_bus_get_sync(G_BUS_TYPE_SESSION, cancellable, error);
    reloaded = bus != NULL ? query_bus_ask(bus, "ReloadConfig", NULL, "()", cancellable, error) : NULL;
    if (reloaded == NULL || !stop_daemon(bus, name, folder, cancellable, error))
        return FALSE;
    if (deletes_data && nftw(folder, delete_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 && errno != ENOENT)
        return fail(error, errno, "cannot delete", folder);
    return TRUE;
}

/* Async forms ------------------------------------------------------------------------------------------------------------ */

static gboolean
run_create(QueryCall *call, gpointer source, GCancellable *cancellable, GError **error)
{
    return query_store_create(call->text, NULL, cancellable, error);
}

void
query_store_create_async(const char *name, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(name != NULL);

    query_call_start(NULL, run_create, query_store_create_async, &(QueryCallArguments){ .text = name }, cancellable, callback,
                     user_data);
}

gboolean
query_store_create_finish(GAsyncResult *result, GError **error)
{
    return query_call_finish(NULL, result, query_store_create_async, error) != NULL;
}

static gboolean
run_remove(QueryCall *call, gpointer source, GCancellable *cancellable, GError **error)
{
    return query_store_remove(call->text, call->flag, cancellable, error);
}

void
query_store_remove_async(const char *name, gboolean deletes_data, GCancellable *cancellable, GAsyncReadyCallback callback,
                         gpointer user_data)
{
    g_return_if_fail(name != NULL);

    query_call_start(NULL, run_remove, query_store_remove_async, &(QueryCallArguments){ .text = name, .flag = deletes_data },
                     cancellable, callback, user_data);
}

gboolean
query_store_remove_finish(GAsyncResult *result, GError **error)
{
    return query_call_finish(NULL, result, query_store_remove_async, error) != NULL;
}
