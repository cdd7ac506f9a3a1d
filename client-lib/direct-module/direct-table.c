/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library finds in its module.
 */
#include "client-lib/direct-module/direct-private.h"

__attribute__((visibility("default"))) const QueryDirectTable query_direct_table = {
    .version = QUERYD_VERSION,
    .open = direct_open,
    .unref = direct_unref,
    .get_path = direct_get_path,
    .set_times = direct_set_times,
    .describe = direct_describe,
    .start = direct_start,
    .run_ref = direct_run_ref,
    .run_unref = direct_run_unref,
    .run_get_schema = direct_run_get_schema,
    .run_cancel = direct_run_cancel,
    .run_work = direct_run_work,
    .run_detach_page = direct_run_detach_page,
    .run_is_open = direct_run_is_open,
    .run_take = direct_run_take,
};
