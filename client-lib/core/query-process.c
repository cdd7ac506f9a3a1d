/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A counter that each fork() raises in the child, so that to look costs no system call.
 *
 * Place: internal to libquery-client. A child by vfork() or posix_spawn() runs none of our code.
 */
#include "client-lib/core/query-process.h"

#include <pthread.h>

#include "client-lib/query-client.h"

static guint n_forks; /* written in a child alone, which has one thread then */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
on_forked(void)
{
    n_forks++;
}

static void
watch(void)
{
    (void) pthread_atfork(NULL, NULL, on_forked);
}

guint
query_process_get_n_forks(void)
{
    (void) pthread_once(&once, watch);
    return n_forks;
}

gboolean
query_process_check(guint opened_n_forks, GError **error)
{
    if (opened_n_forks == n_forks)
        return TRUE;
    g_set_error_literal(
        error, QUERY_ERROR, QUERY_ERROR_CLOSED,
        "this process is a child of fork(), and its parent has used the library already: a child can use it only after "
        "exec() (in Python: the start method 'spawn')");
    return FALSE;
}
