/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program: options, names and places of a store, and what must be set before the first thread.
 *
 * Place: room main. Exit codes: 0 done, 1 it did not work, 2 usage, 3 the bus name is taken.
 */
#include <glib.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "client-lib/wire/wire-environment.h"
#include "daemon/base/limits.h"
#include "daemon/main/limits-doc.h"
#include "daemon/main/salvage-command.h"
#include "daemon/main/service.h"
#include "daemon/main/store-name.h"

#define EXIT_USAGE 2
#define MALLOC_ARENAS 16
#define MALLOC_MAP_BYTES (1 << 20)
#define MALLOC_KEEP_BYTES (4 << 20)

static char *arg_store;
static char *arg_directory;
static char *arg_config;
static char *arg_bus_address;
static char *arg_print_limits;
static gint64 arg_idle_exit_msec = -1;
static gboolean arg_session;
static gboolean arg_debug;
static gboolean arg_salvage;
static gboolean arg_version;

static gboolean
parse_print_limits(const char *name, const char *value, gpointer data, GError **error)
{
    g_free(arg_print_limits);
    arg_print_limits = g_strdup(value != NULL ? value : "markdown");
    return TRUE;
}

static const GOptionEntry option_entries[] = {
    { "store", 0, 0, G_OPTION_ARG_STRING, &arg_store, "Serve the store NAME (default: \"default\")", "NAME" },
    { "directory", 0, 0, G_OPTION_ARG_FILENAME, &arg_directory, "Keep the database in DIR", "DIR" },
    { "config", 0, 0, G_OPTION_ARG_FILENAME, &arg_config, "Read FILE and the directory FILE.d", "FILE" },
    { "session", 0, 0, G_OPTION_ARG_NONE, &arg_session, "Use the session's bus (default)", NULL },
    { "bus-address", 0, 0, G_OPTION_ARG_STRING, &arg_bus_address, "Use the bus at ADDRESS", "ADDRESS" },
    { "idle-exit-ms", 0, 0, G_OPTION_ARG_INT64, &arg_idle_exit_msec, "Exit after so many idle milliseconds; 0: never", "MS" },
    { "debug", 0, 0, G_OPTION_ARG_NONE, &arg_debug, "Log calls and texts of statements", NULL },
    { "print-limits", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, parse_print_limits,
      "Print the table of limits and exit", "markdown|man" },
    { "salvage", 0, 0, G_OPTION_ARG_NONE, &arg_salvage, "Make a new database of what can be read of the store's, and exit", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &arg_version, "Print the version and exit", NULL },
    { NULL },
};

static int
fail_usage(const char *message)
{
    fprintf(stderr, "queryd: %s\nTry 'queryd --help'.\n", message);
    return EXIT_USAGE;
}

static int
print_limits(void)
{
    g_autofree char *text = qd_limits_doc_make(arg_print_limits);

    if (text == NULL)
        return fail_usage("--print-limits takes 'markdown' or 'man'");

    return fputs(text, stdout) >= 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * Arenas: a thread that runs long loses its core also amid an allocation, with the lock of its arena. Others that want this arena
 * wait until it has the core again. So each worker has one of its own, up to a bound: what is freed stays in its arena. glibc also
 * takes the size of a mapped block that is freed as its next threshold for mapping, up to 32 MiB. Later blocks of that size would
 * come from the heap and stay there once they are freed. heap_hard_bytes counts what SQLite uses, so the process would hold more
 * than the limit.
 */
static void
set_up_malloc(void)
{
    (void) mallopt(M_ARENA_MAX, MALLOC_ARENAS);
    (void) mallopt(M_MMAP_THRESHOLD, MALLOC_MAP_BYTES);
    (void) mallopt(M_TRIM_THRESHOLD, MALLOC_KEEP_BYTES);
}

static int
run(void)
{
    g_autofree char *bus_name = qd_store_name_make_bus_name(arg_store);
    g_autofree char *directory = arg_directory != NULL ? g_strdup(arg_directory) : qd_store_name_make_directory(arg_store);
    const QdServiceOptions options = {
        .store = arg_store != NULL ? arg_store : QD_STORE_DEFAULT,
        .bus_name = bus_name,
        .bus_address = arg_bus_address,
        .directory = directory,
        .config_path = arg_config,
        .idle_exit_msec = arg_idle_exit_msec,
        .debug = arg_debug,
    };

    /* What the daemon makes is for its user alone. */
    umask(077);
    set_up_malloc();
    if (arg_salvage)
        return qd_salvage_command_run(directory, arg_config);
    return qd_service_run(&options);
}

static int
check_and_run(int n_args)
{
    guint64 idle_exit_max = qd_limit_get_info(QD_LIMIT_IDLE_EXIT_MSEC)->max;

    if (n_args > 1)
        return fail_usage("it takes no arguments, only options");
    if (arg_version) {
        puts("queryd " QUERYD_VERSION);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (arg_print_limits != NULL)
        return print_limits();
    if (arg_session && arg_bus_address != NULL)
        return fail_usage("--session and --bus-address exclude each other");
    if (arg_idle_exit_msec < -1 || (arg_idle_exit_msec > 0 && (guint64) arg_idle_exit_msec > idle_exit_max))
        return fail_usage("--idle-exit-ms is out of range");
    if (arg_store != NULL && !qd_store_name_is_valid(arg_store))
        return fail_usage(
            "a store's name has letters, digits and '_', and does not start with a digit; that of an application is app.ID");

    return run();
}

int
main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new("— SQL for the applications of a session, over D-Bus");
    g_autoptr(GError) error = NULL;
    int r;

    qw_environment_fill_streams();
    setlocale(LC_ALL, "C.UTF-8");
    qw_environment_forget_relative_folders();
    g_option_context_add_main_entries(context, option_entries, NULL);
    r = g_option_context_parse(context, &argc, &argv, &error) ? check_and_run(argc) : fail_usage(error->message);

    g_free(arg_store);
    g_free(arg_directory);
    g_free(arg_config);
    g_free(arg_bus_address);
    g_free(arg_print_limits);
    return r;
}
