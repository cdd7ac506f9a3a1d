/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a connection keeps between queries: a few idle channels, and the schemas of the last statements. Statement objects have no
 * channel of their own: they leave it here, where they find it again unless another one has needed it.
 *
 * Place: internal to libquery-client. With a channel a query costs no D-Bus; with a schema a query with named parameters
 * goes out together with its PREPARE.
 * Invariant: thread-safe; a channel is either in here or has exactly one owner.
 */
#pragma once

#include "client-lib/channel/query-channel.h"

#define QUERY_POOL_MAX_CHANNELS 4u
/* Idle channels on which a statement object is prepared, beside those; more statements take turns on them. */
#define QUERY_POOL_MAX_WANTED 12u
#define QUERY_POOL_MAX_SCHEMAS 64u
/* Statements above this are not remembered: comparing them would cost more than a round trip saves. */
#define QUERY_POOL_MAX_KEY_BYTES 16384u

typedef struct QueryPool QueryPool;

QueryPool *query_pool_new(void);
void query_pool_free(QueryPool *self);
/* FALSE: a parent of this process has made it (query-process.h). */
gboolean query_pool_check_process(const QueryPool *self, GError **error);
/* The option `session` of Prepare: by chance, so that no other connection of the client has the same. 0: there is none. */
guint64 query_pool_get_session(const QueryPool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryPool, query_pool_free)

/**
 * query_pool_take:
 * @key: the PREPARE body that is wanted
 *
 * Takes a channel, best one on which @key is prepared, else the one longest unused that no statement object wants. It takes a
 * wanted one only when there are as many as there may be. Channels that the daemon has closed are dropped on the way.
 *
 * Returns: (transfer full) (nullable): a channel
 */
QueryChannel *query_pool_take(QueryPool *self, GBytes *key);

/**
 * query_pool_take_prepared:
 * @key: the PREPARE body that is wanted
 *
 * Takes a channel on which @key is prepared, without asking its socket: the next send tells whether the daemon is there.
 *
 * Returns: (transfer full) (nullable): a channel
 */
QueryChannel *query_pool_take_prepared(QueryPool *self, GBytes *key);

/**
 * query_pool_give_wanted:
 * @channel: (transfer full): a channel without outstanding requests
 *
 * As query_pool_give(), of a statement object: it is likely to come again for what is prepared on @channel.
 */
void query_pool_give_wanted(QueryPool *self, QueryChannel *channel);

/* The statement object that has wanted @key is gone. */
void query_pool_unwant(QueryPool *self, GBytes *key);

/**
 * query_pool_give:
 * @channel: (transfer full) (nullable): a channel without outstanding requests; NULL: the request had none
 *
 * Keeps an idle channel. Closes it when there are enough, or when a deadline or a CANCEL has ended its last request.
 */
void query_pool_give(QueryPool *self, QueryChannel *channel);

/**
 * query_pool_close_idle:
 * @n: channels
 *
 * Closes idle channels of all pools of the process, at most @n: another one may need what they count for the daemon. Those that
 * no statement object wants go first. Thread: any.
 *
 * Returns: whether it has closed one
 */
gboolean query_pool_close_idle(guint n);

/* How channels are to be opened from now on; those that are idle are closed. */
void query_pool_set_transport(QueryPool *self, QueryTransport transport);
QueryTransport query_pool_get_transport(QueryPool *self);

/* Remembers what @key turned out to be. Takes a reference of both. */
void query_pool_remember(QueryPool *self, GBytes *key, QuerySchema *schema);

/**
 * query_pool_recall:
 *
 * Returns: (transfer full) (nullable): the schema that @key had last
 */
QuerySchema *query_pool_recall(QueryPool *self, GBytes *key);
