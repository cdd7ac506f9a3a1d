/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every limit of the daemon: name, unit, default, bounds, error. One table serves code, configuration, GetLimits and the manual.
 *
 * Place: room base. Invariant: a number that bounds what a client may use stands here and nowhere else.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "client-lib/wire/wire-error.h"

typedef enum QdLimit {
    QD_LIMIT_STATEMENT_TEXT_BYTES,
    QD_LIMIT_SQL_DEPTH,
    QD_LIMIT_IMPORT_MEMORY_BYTES,
    QD_LIMIT_RDF_DEPTH,
    QD_LIMIT_JSONLD_RECORD_BYTES,
    QD_LIMIT_JSONLD_TERMS,
    QD_LIMIT_XML_ATTRIBUTES,
    QD_LIMIT_XML_ENTITIES,
    QD_LIMIT_XML_ENTITY_BYTES,
    QD_LIMIT_SPARQL_DEPTH,
    QD_LIMIT_SPARQL_CHAIN,
    QD_LIMIT_SPARQL_SQL_DEPTH,
    QD_LIMIT_SPARQL_SQL_BYTES,
    QD_LIMIT_SQL_PARSER_DEPTH,
    QD_LIMIT_SPARQL_VARIABLES,
    QD_LIMIT_SPARQL_PARTS,
    QD_LIMIT_SPARQL_PLAN_BYTES,
    QD_LIMIT_VALUE_BYTES,
    QD_LIMIT_COLUMNS,
    QD_LIMIT_COMPOUND_SELECTS,
    QD_LIMIT_VARIABLES,
    QD_LIMIT_VDBE_OPS,
    QD_LIMIT_SCHEMA_BYTES,
    QD_LIMIT_COMPILE_MSEC,
    QD_LIMIT_AUTHORIZER_CALLS,
    QD_LIMIT_AGGREGATES,
    QD_LIMIT_LIKE_PATTERN_BYTES,
    QD_LIMIT_STRFTIME_FORMAT_BYTES,
    QD_LIMIT_JSON_PATCH_STEPS,
    QD_LIMIT_REGEX_PATTERN_BYTES,
    QD_LIMIT_REGEX_STEPS,
    QD_LIMIT_FULLTEXT_QUERY_BYTES,
    QD_LIMIT_SERVICE_MSEC,
    QD_LIMIT_SERVICE_BYTES,
    QD_LIMIT_SERVICE_REQUESTS,
    QD_LIMIT_SERVICE_BINDINGS,
    QD_LIMIT_QUERY_TIMEOUT_MSEC,
    QD_LIMIT_UPDATE_TIMEOUT_MSEC,
    QD_LIMIT_PLAN_TRIAL_MSEC,
    QD_LIMIT_QUERY_MEMORY_BYTES,
    QD_LIMIT_HEAP_SOFT_BYTES,
    QD_LIMIT_HEAP_HARD_BYTES,
    QD_LIMIT_TEMP_FILE_BYTES,
    QD_LIMIT_MAP_BYTES,
    QD_LIMIT_READER_CACHE_BYTES,
    QD_LIMIT_TALLY_CACHE_BYTES,
    QD_LIMIT_TALLY_ROWS,
    QD_LIMIT_RESULT_MEMORY_BYTES,
    QD_LIMIT_RESULT_MEMORY_PER_CLIENT_BYTES,
    QD_LIMIT_RESULT_MEMORY_COST_USEC,
    QD_LIMIT_RESULT_SHARED_BYTES,
    QD_LIMIT_TALLY_FILE_ROWS,
    QD_LIMIT_TALLY_FILE_PERCENT,
    QD_LIMIT_CHANNELS_PER_CLIENT,
    QD_LIMIT_CHANNELS,
    QD_LIMIT_CHANNELS_FEW,
    QD_LIMIT_LARGE_PAGE_BYTES_PER_CLIENT,
    QD_LIMIT_LARGE_PAGE_BYTES,
    QD_LIMIT_REQUEST_BYTES_PER_CLIENT,
    QD_LIMIT_REQUEST_BYTES,
    QD_LIMIT_REQUEST_IDLE_MSEC,
    QD_LIMIT_RUNNING_PER_CLIENT,
    QD_LIMIT_RUNNING,
    QD_LIMIT_RUNNING_BESIDE,
    QD_LIMIT_RUN_QUEUE,
    QD_LIMIT_SNAPSHOTS_PER_CLIENT,
    QD_LIMIT_SNAPSHOTS,
    QD_LIMIT_RING_PER_CLIENT_BYTES,
    QD_LIMIT_RING_BYTES,
    QD_LIMIT_READER_IDLE_MSEC,
    QD_LIMIT_SNAPSHOT_AGE_MSEC,
    QD_LIMIT_WAL_BYTES,
    QD_LIMIT_CHECKPOINT_BYTES,
    QD_LIMIT_CHECKPOINT_HOLD_MSEC,
    QD_LIMIT_BATCH_STATEMENTS,
    QD_LIMIT_BATCH_BYTES,
    QD_LIMIT_WRITE_QUEUE,
    QD_LIMIT_WRITE_QUEUE_PER_CLIENT,
    QD_LIMIT_TRANSACTION_IDLE_MSEC,
    QD_LIMIT_TRANSACTION_MSEC,
    QD_LIMIT_FREE_DISK_BYTES,
    QD_LIMIT_DESCRIPTORS,
    QD_LIMIT_JOBS,
    QD_LIMIT_JOBS_WAITING,
    QD_LIMIT_JOBS_PER_CLIENT,
    QD_LIMIT_SUBSCRIPTIONS,
    QD_LIMIT_SUBSCRIPTIONS_PER_CLIENT,
    QD_LIMIT_SUBSCRIPTION_BYTES,
    QD_LIMIT_CHANGED_ROWS,
    QD_LIMIT_ROW_KEY_BYTES,
    QD_LIMIT_PAYLOAD_BYTES,
    QD_LIMIT_PAYLOAD_INLINE_BYTES,
    QD_LIMIT_PAYLOADS_PER_CALL,
    QD_LIMIT_RESOURCE_EVENTS,
    QD_LIMIT_SECURE_DELETE,
    QD_LIMIT_VALUE_ROWS,
    QD_LIMIT_VALUE_RESULT_BYTES,
    QD_LIMIT_IDLE_EXIT_MSEC,
    QD_LIMIT_CHECK_INTERVAL_HOURS,
    QD_N_LIMITS,
} QdLimit;

typedef struct QdLimitInfo {
    const char *name; /* the key in [Limits] of queryd.conf, with its unit at the end */
    const char *unit; /* "bytes", "ms", "" for counts */
    uint64_t value;   /* default */
    uint64_t min;
    uint64_t max;
    QwError error;
    const char *description;
} QdLimitInfo;

typedef struct QdLimits {
    uint64_t values[QD_N_LIMITS];
} QdLimits;

/* Of what all clients share one gets so many times what stays free. Alone it has three quarters; each of two has three sevenths. */
#define QD_LIMIT_SHARE 3

/* The table's row. */
const QdLimitInfo *qd_limit_get_info(QdLimit limit);

/* All defaults. */
void qd_limits_init(QdLimits *ret_limits);

/* By name, as the configuration has it; false and BAD_PARAMETER for an unknown name or a value out of bounds. */
gboolean qd_limits_set(QdLimits *self, const char *name, uint64_t value, GError **error);

/*
 * Lowers the limits of memory to their shares of @n_bytes, which the process may take (UINT64_MAX: no bound), but not below the
 * table's minimum. The shares of 512 MiB, the MemoryMax= of the unit, are the defaults. Returns: whether it has lowered any.
 */
gboolean qd_limits_fit_memory(QdLimits *self, uint64_t n_bytes);

static inline uint64_t
qd_limits_get(const QdLimits *self, QdLimit limit)
{
    return __atomic_load_n(&self->values[limit], __ATOMIC_RELAXED); /* a reload may change it */
}

/* The one form of message: "WHAT: the limit 'NAME' is VALUE UNIT". */
void qd_limit_set_error(GError **error, const QdLimits *limits, QdLimit limit, const char *what_format, ...) G_GNUC_PRINTF(4, 5);
/* The same where the value in force is known, and not the limits that it comes from. */
void qd_limit_set_value_error(GError **error, QdLimit limit, uint64_t value, const char *what);
