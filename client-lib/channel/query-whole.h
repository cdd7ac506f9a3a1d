/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client's side of a whole result in shared memory (wire-whole.h).
 *
 * Place: internal to libquery-client; a channel has one from WHOLE to the end of its result, and a cursor that was set aside.
 * Invariant: the file is sealed against writing and against changes of its size, so that pages are read where they lie.
 */
#pragma once

#include "client-lib/query-client.h"
#include "client-lib/wire/wire-whole.h"

typedef struct QueryWhole QueryWhole;

/**
 * query_whole_new:
 * @shape: what the WHOLE record said
 * @fd: (transfer full): the file
 *
 * Errors: PROTOCOL for a file that is not as the daemon makes it; INTERNAL where it cannot be mapped.
 *
 * Returns: (transfer full): the result before its first page; NULL with @error
 */
QueryWhole *query_whole_new(const QwWhole *shape, int fd, GError **error);
QueryWhole *query_whole_ref(QueryWhole *self);
void query_whole_unref(QueryWhole *self);

/* Whether there is another page. */
gboolean query_whole_has_more(const QueryWhole *self);
/* (transfer none): the next page, with its header decoded: as long as @self; NULL: it is not valid. */
const guint8 *query_whole_take(QueryWhole *self, gsize page_size, QwHeader *ret_header);
