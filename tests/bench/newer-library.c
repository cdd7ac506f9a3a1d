/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By name, in what the program is linked with. Numbers of the enumeration QueryTransport never change.
 */
#include "tests/bench/newer-library.h"

#include <dlfcn.h>

#include "tests/demo/store-control.h"

/* QueryTransport, from 0. */
static const char *const transports[] = { "auto", "socketpair", "ring", NULL };

void
newer_library_set_transport(const Bench *bench, QueryConnection *connection, const char *name)
{
    void (*set_transport)(QueryConnection * self, int transport);

    *(void **) &set_transport = dlsym(RTLD_DEFAULT, "query_connection_set_transport");
    if (set_transport == NULL)
        bench_skip(bench, "the library lets nobody choose a transport");
    for (int i = 0; transports[i] != NULL; i++) {
        if (!g_str_equal(transports[i], name))
            continue;
        set_transport(connection, i);
        return;
    }
    bench_skip(bench, "the library has no transport '%s'", name);
}

QueryConnection *
newer_library_open_directly(const Bench *bench, const char *path)
{
    QueryConnection *(*open_directly)(const char *path, GCancellable *cancellable, GError **error);
    g_autoptr(GError) error = NULL;
    QueryConnection *connection;

    *(void **) &open_directly = dlsym(RTLD_DEFAULT, "query_connection_new_direct");
    if (open_directly == NULL)
        bench_skip(bench, "the library has no direct connections");
    connection = open_directly(path, NULL, &error);
    die_on_error(error, path);
    return connection;
}
