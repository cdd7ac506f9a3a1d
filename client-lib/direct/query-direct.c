/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads the modules for direct and remote connections, and calls them: an application that talks to the daemon alone needs
 * neither SQLite nor HTTP.
 *
 * A module stays loaded. Programs that contain one (the project's own tests) need no file.
 */
#include "client-lib/direct/query-direct.h"

#include <dlfcn.h>
#include <gmodule.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-mutex.h"

/* A kind of connection, and the module that serves it. */
typedef struct Module {
    const char *purpose;
    const char *file;
    const char *symbol;
    const QueryDirectTable *linked; /* (nullable): in a program that contains the module */
    const QueryDirectTable *table;  /* (nullable): set before its first QueryDirect is there */
} Module;

extern const QueryDirectTable query_direct_table __attribute__((weak, visibility("hidden")));
extern const QueryDirectTable query_remote_table __attribute__((weak, visibility("hidden")));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* while one is loaded */
static Module files = { "direct", "libquery-client-direct." G_MODULE_SUFFIX, QUERY_DIRECT_TABLE_SYMBOL, &query_direct_table, NULL };
static Module remotes = { "remote", "libquery-client-remote." G_MODULE_SUFFIX, QUERY_REMOTE_TABLE_SYMBOL, &query_remote_table,
                          NULL };

/* Beside this library: in a folder of its own where it is installed, in the same one where it was built. */
static char *
find_module(const Module *module)
{
    g_autofree char *folder = NULL;
    g_autofree char *path = NULL;
    Dl_info info;

    if (dladdr((void *) &mutex, &info) == 0 || info.dli_fname == NULL)
        return g_strdup(module->file);

    folder = g_path_get_dirname(info.dli_fname);
    path = g_build_filename(folder, QUERY_MODULE_FOLDER, module->file, NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_autofree char *built = g_build_filename(folder, module->file, NULL);

        if (g_file_test(built, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&built);
    }
    return g_steal_pointer(&path);
}

/* Returns: (nullable) */
static const QueryDirectTable *
load(const Module *self, GError **error)
{
    g_autofree char *path = find_module(self);
    GModule *module = g_module_open(path, G_MODULE_BIND_LOCAL);
    gpointer symbol = NULL;
    const QueryDirectTable *found;

    if (module == NULL || !g_module_symbol(module, self->symbol, &symbol) || symbol == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE,
                    "%s connections need the module '%s' of libquery-client, which cannot be loaded: %s", self->purpose, path,
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

static const QueryDirectTable *
require(Module *self, GError **error)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&mutex);

    if (self->table == NULL)
        self->table = self->linked != NULL ? self->linked : load(self, error);
    return self->table;
}

static QueryDirect *
open_in(Module *module, const char *place, GVariant *options, GError **error)
{
    const QueryDirectTable *table = require(module, error);

    return table != NULL ? table->open(place, options, error) : NULL;
}

static inline const QueryDirectTable *
table_of(gconstpointer object)
{
    return ((const QueryDirectHead *) object)->table;
}

QueryDirect *
query_direct_open(const char *path, GError **error)
{
    return open_in(&files, path, NULL, error);
}

QueryDirect *
query_direct_open_remote(const char *url, GVariant *options, GError **error)
{
    return open_in(&remotes, url, options, error);
}

gboolean
query_direct_can_update(const QueryDirect *self)
{
    return table_of(self)->update != NULL;
}

gboolean
query_direct_update(QueryDirect *self, const QueryCommand *command, const QueryParameters *parameters, GBytes *row,
                    GCancellable *cancellable, GError **error)
{
    return table_of(self)->update(self, command, parameters, row, cancellable, error);
}

void
query_direct_unref(QueryDirect *self)
{
    if (self != NULL)
        table_of(self)->unref(self);
}

const char *
query_direct_get_path(const QueryDirect *self)
{
    return table_of(self)->get_path(self);
}

void
query_direct_set_times(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec)
{
    table_of(self)->set_times(self, snapshot_age_msec, file_check_msec);
}

QuerySchema *
query_direct_describe(QueryDirect *self, const QueryCommand *command, GError **error)
{
    return table_of(self)->describe(self, command, error);
}

QueryDirectRun *
query_direct_start(QueryDirect *self, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters,
                   GBytes *row, GCancellable *cancellable, GError **error)
{
    return table_of(self)->start(self, command, known, parameters, row, cancellable, error);
}

QueryDirectRun *
query_direct_run_ref(QueryDirectRun *self)
{
    return table_of(self)->run_ref(self);
}

void
query_direct_run_unref(QueryDirectRun *self)
{
    if (self != NULL)
        table_of(self)->run_unref(self);
}

QuerySchema *
query_direct_run_get_schema(const QueryDirectRun *self)
{
    return table_of(self)->run_get_schema(self);
}

void
query_direct_run_cancel(QueryDirectRun *self)
{
    table_of(self)->run_cancel(self);
}

void
query_direct_run_work(QueryDirectRun *self, GCancellable *cancellable)
{
    table_of(self)->run_work(self, cancellable);
}

gpointer
query_direct_run_detach_page(QueryDirectRun *self)
{
    return table_of(self)->run_detach_page(self);
}

gboolean
query_direct_run_is_open(QueryDirectRun *self)
{
    return table_of(self)->run_is_open(self);
}

QueryDirectResult
query_direct_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error)
{
    return table_of(self)->run_take(self, ret_reader, ret_end, error);
}
