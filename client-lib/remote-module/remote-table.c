/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library finds in the module.
 */
#include "client-lib/remote-module/remote-private.h"

/* There is no file, and no snapshot that ages. */
static const char *
get_path(const QueryDirect *self)
{
    return NULL;
}

static void
set_times(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec)
{
}

__attribute__((visibility("default"))) const QueryDirectTable query_remote_table = {
    .version = QUERYD_VERSION,
    .open = remote_open,
    .unref = remote_unref,
    .get_path = get_path,
    .set_times = set_times,
    .describe = remote_describe,
    .update = remote_update,
    .start = remote_start,
    .run_ref = remote_run_ref,
    .run_unref = remote_run_unref,
    .run_get_schema = remote_run_get_schema,
    .run_cancel = remote_run_cancel,
    .run_work = remote_run_work,
    .run_detach_page = remote_run_detach_page,
    .run_is_open = remote_run_is_open,
    .run_take = remote_run_take,
};
