/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads the module for direct connections, and calls it: an application that talks to the daemon alone needs no SQLite.
 *
 * The module stays loaded. Programs that contain it (the project's own tests) need no file.
 */
#include "client-lib/direct/query-direct.h"

#include <dlfcn.h>
#include <gmodule.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-mutex.h"

#define MODULE_NAME "libquery-client-direct." G_MODULE_SUFFIX

extern const QueryDirectTable query_direct_table __attribute__((weak, visibility("hidden")));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* while it is loaded */
static const QueryDirectTable *table;                     /* set before the first QueryDirect is there */

/* Beside this library: in a folder of its own where it is installed, in the same one where it was built. */
static char *
find_module(void)
{
    g_autofree char *folder = NULL;
    g_autofree char *path = NULL;
    Dl_info info;

    if (dladdr((void *) &table, &info) == 0 || info.dli_fname == NULL)
        return g_strdup(MODULE_NAME);

    folder = g_path_get_dirname(info.dli_fname);
    path = g_build_filename(folder, QUERY_MODULE_FOLDER, MODULE_NAME, NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_autofree char *built = g_build_filename(folder, MODULE_NAME, NULL);

        if (g_file_test(built, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&built);
    }
    return g_steal_pointer(&path);
}

/* Returns: (nullable) */
static const QueryDirectTable *
load(GError **error)
{
    g_autofree char *path = find_module();
    GModule *module = g_module_open(path, G_MODULE_BIND_LOCAL);
    gpointer symbol = NULL;
    const QueryDirectTable *found;

    if (module == NULL || !g_module_symbol(module, QUERY_DIRECT_TABLE_SYMBOL, &symbol) || symbol == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE,
                    "direct connections need the module '%s' of libquery-client, which cannot be loaded: %s", path,
                    g_module_error());
        if (module != NULL)
            (void) g_module_close(module);
        return NULL;
    }
    found = symbol;
    if (strcmp(found->version, QUERYD_VERSION) != 0) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE,
                    "module '%s' is of version %s, libquery-client of %s: install both of one version", path, found->version,
                    QUERYD_VERSION);
        (void) g_module_close(module);
        return NULL;
    }
    g_module_make_resident(module);
    return found;
}

static gboolean
have_module(GError **error)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    if (table == NULL)
        table = &query_direct_table != NULL ? &query_direct_table : load(error);
    return table != NULL;
}

QueryDirect *
query_direct_open(const char *path, GError **error)
{
    return have_module(error) ? table->open(path, error) : NULL;
}

void
query_direct_unref(QueryDirect *self)
{
    if (self != NULL)
        table->unref(self);
}

const char *
query_direct_get_path(const QueryDirect *self)
{
    return table->get_path(self);
}

void
query_direct_set_times(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec)
{
    table->set_times(self, snapshot_age_msec, file_check_msec);
}

QuerySchema *
query_direct_describe(QueryDirect *self, const QueryCommand *command, GError **error)
{
    return table->describe(self, command, error);
}

QueryDirectRun *
query_direct_start(QueryDirect *self, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters,
                   GBytes *row, GCancellable *cancellable, GError **error)
{
    return table->start(self, command, known, parameters, row, cancellable, error);
}

QueryDirectRun *
query_direct_run_ref(QueryDirectRun *self)
{
    return table->run_ref(self);
}

void
query_direct_run_unref(QueryDirectRun *self)
{
    if (self != NULL)
        table->run_unref(self);
}

QuerySchema *
query_direct_run_get_schema(const QueryDirectRun *self)
{
    return table->run_get_schema(self);
}

void
query_direct_run_cancel(QueryDirectRun *self)
{
    table->run_cancel(self);
}

void
query_direct_run_work(QueryDirectRun *self, GCancellable *cancellable)
{
    table->run_work(self, cancellable);
}

gpointer
query_direct_run_detach_page(QueryDirectRun *self)
{
    return table->run_detach_page(self);
}

gboolean
query_direct_run_is_open(QueryDirectRun *self)
{
    return table->run_is_open(self);
}

QueryDirectResult
query_direct_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error)
{
    return table->run_take(self, ret_reader, ret_end, error);
}
