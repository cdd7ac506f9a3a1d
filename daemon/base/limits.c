/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of limits. docs/limits.md and queryd.conf(5) are generated from it; a test holds them together.
 */
#include "daemon/base/limits.h"

#include <stdarg.h>

#include "daemon/base/error.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
/* SQLite's own bound, as it is compiled by default. */
#define MAP_MAX_BYTES UINT64_C(2147418112)
#define HOUR_MSEC UINT64_C(3600000)
#define ROW(id, name, unit, value, min, max, error, description) \
    [QD_LIMIT_##id] = { name, unit, value, min, max, QW_ERROR_##error, description }

static const QdLimitInfo limit_table[QD_N_LIMITS] = {
    ROW(STATEMENT_TEXT_BYTES, "statement_text_bytes", "bytes", MIB, KIB, 64 * MIB, TOO_BIG, "text of one statement"),
    ROW(SQL_DEPTH, "sql_depth", "", 200, 10, 1000, TOO_COMPLEX, "nesting of an SQL expression"),
    ROW(IMPORT_MEMORY_BYTES, "import_memory_bytes", "bytes", 256 * MIB, 16 * MIB, 64 * GIB, TOO_BIG,
        "memory of an import of RDF for the terms that it has met"),
    ROW(RDF_DEPTH, "rdf_depth", "", 128, 10, 2000, TOO_COMPLEX,
        "nesting of a document in Turtle, TriG, RDF/XML or JSON-LD, and of its entities and contexts"),
    ROW(JSONLD_RECORD_BYTES, "jsonld_record_bytes", "bytes", 32 * MIB, MIB, 16 * GIB, TOO_BIG,
        "memory for one record of a JSON-LD document (docs/formats.md), and once more for its context"),
    ROW(JSONLD_TERMS, "jsonld_terms", "", 10000000, 1000, 1000000000000, TOO_COMPLEX,
        "terms of the contexts of a JSON-LD document, each counted as often as its context is used in another place"),
    ROW(XML_ATTRIBUTES, "xml_attributes", "", 1000, 10, 10000, TOO_COMPLEX,
        "attributes and namespaces of a tag in an RDF/XML document, with the namespaces of the elements around it"),
    ROW(XML_ENTITIES, "xml_entities", "", 10000, 10, 1000000, TOO_COMPLEX, "entities that an RDF/XML document declares"),
    ROW(XML_ENTITY_BYTES, "xml_entity_bytes", "bytes", 16 * MIB, 64 * KIB, 64 * GIB, TOO_COMPLEX,
        "text of the entities of an RDF/XML document, declared and where they stand; 8 times the document if that is more"),
    ROW(SPARQL_DEPTH, "sparql_depth", "", 100, 10, 100, TOO_COMPLEX, "nesting of groups, expressions and paths in SPARQL"),
    ROW(SPARQL_CHAIN, "sparql_chain", "", 500, 10, 500, TOO_COMPLEX, "arithmetic operators in a row in SPARQL"),
    ROW(SPARQL_SQL_DEPTH, "sparql_sql_depth", "", 1000, 1000, 1000, TOO_COMPLEX,
        "nesting of an expression in the SQL that SPARQL becomes; SQLite's own bound"),
    ROW(SPARQL_SQL_BYTES, "sparql_sql_bytes", "bytes", 8 * MIB, MIB, 64 * MIB, TOO_COMPLEX,
        "text of the SQL that a SPARQL query becomes"),
    ROW(SQL_PARSER_DEPTH, "sql_parser_depth", "", 100, 100, 100, TOO_COMPLEX,
        "stack of SQLite's parser, of which a nested SELECT takes 11 to 15 entries; SQLite's own bound"),
    ROW(SPARQL_VARIABLES, "sparql_variables", "", 10000, 100, 30000, TOO_COMPLEX, "variables and blank nodes of a SPARQL text"),
    ROW(SPARQL_PARTS, "sparql_parts", "", 2000, 100, 10000, TOO_COMPLEX,
        "triple patterns, links of paths, groups, BINDs, FILTERs and their kin of a SPARQL query, or of one operation of an "
        "update"),
    ROW(SPARQL_PLAN_BYTES, "sparql_plan_bytes", "bytes", 24 * MIB, MIB, GIB, NO_MEMORY,
        "memory of the plan of a SPARQL text, while it is made and as long as it is kept"),
    ROW(VALUE_BYTES, "value_bytes", "bytes", 64 * MIB, MIB, 255 * MIB, TOO_BIG, "one value in a row, and one row"),
    ROW(COLUMNS, "columns", "", 2000, 100, 2000, TOO_COMPLEX, "columns of a table or result"),
    ROW(COMPOUND_SELECTS, "compound_selects", "", 500, 10, 500, TOO_COMPLEX, "SELECTs joined by UNION and its kin"),
    ROW(VARIABLES, "variables", "", 32766, 100, 32766, TOO_COMPLEX, "parameters of a statement"),
    ROW(VDBE_OPS, "vdbe_ops", "", 250000, 1000, 100000000, TOO_COMPLEX, "size of a compiled statement"),
    ROW(SCHEMA_BYTES, "schema_bytes", "bytes", 4 * MIB, 256 * KIB, GIB, TOO_BIG,
        "the schema: its text, its statistics, and what each connection keeps of it; a larger one is read and does not grow "
        "(docs/sql.md)"),
    ROW(COMPILE_MSEC, "compile_ms", "ms", 1000, 10, HOUR_MSEC, TOO_COMPLEX, "time to compile a statement"),
    ROW(AUTHORIZER_CALLS, "authorizer_calls", "", 100000, 1000, 100000000, TOO_COMPLEX,
        "names a statement may look up while it is compiled"),
    ROW(AGGREGATES, "aggregates", "", 2000, 100, 100000, TOO_COMPLEX,
        "calls of aggregate and window functions in a statement, each of which SQLite compares with all others"),
    ROW(LIKE_PATTERN_BYTES, "like_pattern_bytes", "bytes", 256, 16, 50000, TOO_COMPLEX, "pattern of LIKE or GLOB"),
    ROW(STRFTIME_FORMAT_BYTES, "strftime_format_bytes", "bytes", 64 * KIB, 256, MIB, TOO_COMPLEX, "format of strftime()"),
    ROW(JSON_PATCH_STEPS, "json_patch_steps", "", 50000000, 1000, 1000000000000, TOO_COMPLEX,
        "members of json_patch()'s patch, times those of both objects"),
    ROW(REGEX_PATTERN_BYTES, "regex_pattern_bytes", "bytes", KIB, 16, 64 * KIB, TOO_COMPLEX,
        "regular expression of REGEX or REPLACE"),
    ROW(REGEX_STEPS, "regex_steps", "", 1000000, 1000, 1000000000, TOO_COMPLEX,
        "steps of a regular expression at one place of the text"),
    ROW(FULLTEXT_QUERY_BYTES, "fulltext_query_bytes", "bytes", 4 * KIB, 16, MIB, TOO_COMPLEX, "query text of a full-text search"),
    ROW(SERVICE_MSEC, "service_ms", "ms", 20000, 1, HOUR_MSEC, TIMEOUT, "time that SERVICE waits for one answer of an endpoint"),
    ROW(SERVICE_BYTES, "service_bytes", "bytes", 256 * MIB, KIB, 64 * GIB, TOO_BIG, "one answer of an endpoint to SERVICE"),
    ROW(SERVICE_REQUESTS, "service_requests", "", 4, 1, 64, LIMIT_EXCEEDED, "SERVICEs of one client that ask at a time"),
    ROW(SERVICE_BINDINGS, "service_bindings", "", 500, 1, 100000, TOO_COMPLEX,
        "solutions that SERVICE sends to an endpoint with one request"),
    ROW(QUERY_TIMEOUT_MSEC, "query_timeout_ms", "ms", 30000, 0, 24 * HOUR_MSEC, TIMEOUT,
        "time a query may produce and wait for a thread; 0: no limit"),
    ROW(UPDATE_TIMEOUT_MSEC, "update_timeout_ms", "ms", 60000, 0, 24 * HOUR_MSEC, TIMEOUT,
        "time an update may wait and take; 0: no limit"),
    ROW(PLAN_TRIAL_MSEC, "plan_trial_ms", "ms", 250, 0, HOUR_MSEC, INTERNAL,
        "processor time of a SPARQL query without a row, after which its second plan is tried for twice as long; 0: never"),
    ROW(QUERY_MEMORY_BYTES, "query_memory_bytes", "bytes", 64 * MIB, MIB, 16 * GIB, NO_MEMORY, "memory of one query"),
    ROW(HEAP_SOFT_BYTES, "heap_soft_bytes", "bytes", 128 * MIB, 8 * MIB, 16 * GIB, NO_MEMORY,
        "memory of SQLite and of plans in all, from which caches shrink"),
    ROW(HEAP_HARD_BYTES, "heap_hard_bytes", "bytes", 256 * MIB, 16 * MIB, 16 * GIB, NO_MEMORY,
        "memory of SQLite and of plans in all; statements of one client get three times what stays free"),
    ROW(TEMP_FILE_BYTES, "temp_file_bytes", "bytes", 1536 * MIB, MIB, 1024 * GIB, DISK_FULL,
        "temporary files in all; those of one client get three times what stays free"),
    ROW(MAP_BYTES, "map_bytes", "bytes", MAP_MAX_BYTES, 0, MAP_MAX_BYTES, NO_MEMORY,
        "of the database file mapped into memory, and of its log, 64 MiB at most; never more than half of the memory"),
    ROW(READER_CACHE_BYTES, "reader_cache_bytes", "bytes", 2 * MIB, 0, GIB, NO_MEMORY,
        "cache of one read connection for what is not mapped"),
    ROW(TALLY_CACHE_BYTES, "tally_cache_bytes", "bytes", 64 * MIB, 0, 16 * GIB, NO_MEMORY,
        "columns of predicates that are kept to count patterns; none at rest"),
    ROW(TALLY_ROWS, "tally_rows", "", 1000, 0, 1000000000000, INTERNAL,
        "solutions that a pattern looks at, from which on it is counted by columns; 0: wherever that is possible"),
    ROW(RESULT_MEMORY_BYTES, "result_memory_bytes", "bytes", 64 * MIB, 0, 16 * GIB, NO_MEMORY,
        "results that are remembered, in all; one takes a quarter of it at most; 0: none; none at rest"),
    ROW(RESULT_MEMORY_PER_CLIENT_BYTES, "result_memory_per_client_bytes", "bytes", 32 * MIB, 0, GIB, NO_MEMORY,
        "results that are remembered since one client has asked for them"),
    ROW(RESULT_MEMORY_COST_USEC, "result_memory_cost_us", "us", 100, 0, 1000000000, INTERNAL,
        "time that a result has taken, from which on it is remembered when it is asked for again"),
    ROW(RESULT_SHARED_BYTES, "result_shared_bytes", "bytes", 256 * MIB, 0, GIB, NO_MEMORY,
        "large results that are remembered in shared memory, in all; at most an eighth of the memory, and a quarter of MemoryMax=; "
        "0: none"),
    ROW(TALLY_FILE_ROWS, "tally_file_rows", "", 1000, 0, 1000000000000, INTERNAL,
        "quads of a predicate, from which on its columns are stored in the file"),
    ROW(TALLY_FILE_PERCENT, "tally_file_percent", "", 20, 0, 1000, DISK_FULL,
        "size of the columns that are stored in the file, in hundredths of all else in it; 0: none are stored"),
    ROW(CHANNELS_PER_CLIENT, "channels_per_client", "", 64, 1, 4096, LIMIT_EXCEEDED, "open channels of one client"),
    ROW(CHANNELS, "channels", "", 1024, 1, 4096, LIMIT_EXCEEDED, "open channels in all"),
    ROW(CHANNELS_FEW, "channels_few", "", 8, 0, 4096, LIMIT_EXCEEDED,
        "open channels of a client, or of an application's processes together, that has few: a quarter of 'channels' is kept for "
        "such"),
    ROW(LARGE_PAGE_BYTES_PER_CLIENT, "large_page_bytes_per_client", "bytes", 16 * MIB, 0, GIB, LIMIT_EXCEEDED,
        "pages of one client's channels, as far as 'page_size' is above 64 KiB"),
    ROW(LARGE_PAGE_BYTES, "large_page_bytes", "bytes", 64 * MIB, 0, GIB, LIMIT_EXCEEDED, "such pages in all"),
    ROW(REQUEST_BYTES_PER_CLIENT, "request_bytes_per_client", "bytes", 80 * MIB, MIB, GIB, LIMIT_EXCEEDED,
        "requests of one client until answered, results by value until sent, texts of statements; 64 KiB of each "
        "channel and call do not count"),
    ROW(REQUEST_BYTES, "request_bytes", "bytes", 160 * MIB, MIB, GIB, LIMIT_EXCEEDED,
        "such requests in all; those of one client get three times what stays free"),
    ROW(REQUEST_IDLE_MSEC, "request_idle_ms", "ms", 30000, 100, HOUR_MSEC, TIMEOUT,
        "time in which nothing more comes of a request that has begun"),
    ROW(RUNNING_PER_CLIENT, "running_per_client", "", 4, 1, 64, BUSY,
        "queries of one client that run long at once; more wait; two more are for short ones"),
    ROW(RUNNING, "running", "", 8, 1, 64, BUSY, "queries that run long at once; more wait; four threads more are for short ones"),
    ROW(RUNNING_BESIDE, "running_beside", "", 24, 1, 64, BUSY,
        "queries that run long beside these, since they have given rows before; half are for one client; more of them end"),
    ROW(RUN_QUEUE, "run_queue", "", 256, 1, 4096, BUSY, "requests that wait to run; one client has three times what stays free"),
    ROW(SNAPSHOTS_PER_CLIENT, "snapshots_per_client", "", 32, 1, 4096, BUSY, "unfinished results of one client"),
    ROW(SNAPSHOTS, "snapshots", "", 256, 1, 4096, BUSY, "unfinished results in all"),
    ROW(RING_PER_CLIENT_BYTES, "ring_per_client_bytes", "bytes", 4 * MIB, 0, GIB, LIMIT_EXCEEDED,
        "shared memory for results of one client; more results go by their sockets"),
    ROW(RING_BYTES, "ring_bytes", "bytes", 16 * MIB, 0, GIB, LIMIT_EXCEEDED,
        "shared memory for results in all; more results go by their sockets"),
    ROW(READER_IDLE_MSEC, "reader_idle_ms", "ms", 30000, 100, 24 * HOUR_MSEC, TIMEOUT,
        "time a reader may take no byte of a result"),
    ROW(SNAPSHOT_AGE_MSEC, "snapshot_age_ms", "ms", 300000, 100, 24 * HOUR_MSEC, TIMEOUT, "age of an unfinished result"),
    ROW(WAL_BYTES, "wal_bytes", "bytes", 256 * MIB, MIB, 64 * GIB, TIMEOUT, "write-ahead log, above which the oldest result ends"),
    ROW(CHECKPOINT_BYTES, "checkpoint_bytes", "bytes", 4 * MIB, 4 * KIB, GIB, INTERNAL,
        "write-ahead log, from which on it is copied into the database"),
    ROW(CHECKPOINT_HOLD_MSEC, "checkpoint_hold_ms", "ms", 2, 0, HOUR_MSEC, INTERNAL,
        "time that copying it may hold up commits; when it took longer, the next one runs beside them; 0: all do"),
    ROW(BATCH_STATEMENTS, "batch_statements", "", 10000, 1, 1000000, TOO_BIG, "statements or parameter rows of one batch"),
    ROW(BATCH_BYTES, "batch_bytes", "bytes", 64 * MIB, MIB, GIB, TOO_BIG, "texts and parameters of one batch, and rows it returns"),
    ROW(WRITE_QUEUE, "write_queue", "", 1024, 1, 65536, BUSY, "updates that wait for the writer"),
    ROW(WRITE_QUEUE_PER_CLIENT, "write_queue_per_client", "", 512, 1, 65536, BUSY,
        "updates of one client that wait for the writer"),
    ROW(TRANSACTION_IDLE_MSEC, "transaction_idle_ms", "ms", 5000, 100, HOUR_MSEC, TIMEOUT,
        "time an open transaction may pass without a request; no other client can write meanwhile"),
    ROW(TRANSACTION_MSEC, "transaction_ms", "ms", 30000, 100, 24 * HOUR_MSEC, TIMEOUT,
        "time from BEGIN to COMMIT of a transaction"),
    ROW(FREE_DISK_BYTES, "free_disk_bytes", "bytes", 64 * MIB, 0, 64 * GIB, DISK_FULL,
        "free space (or 1 % if that is less) below which writes are refused"),
    ROW(DESCRIPTORS, "descriptors", "", 16384, 64, 1048576, LIMIT_EXCEEDED,
        "open files, RLIMIT_NOFILE at most; new channels end at 80 %"),
    ROW(JOBS, "jobs", "", 4, 1, 64, BUSY, "jobs (import, export, backup) at once"),
    ROW(JOBS_WAITING, "jobs_waiting", "", 12, 0, 64, BUSY,
        "jobs beside these that have waited for their descriptor for a second, also when they go on"),
    ROW(JOBS_PER_CLIENT, "jobs_per_client", "", 1, 1, 64, BUSY, "jobs of one client at once"),
    ROW(SUBSCRIPTIONS, "subscriptions", "", 10000, 1, 1000000, LIMIT_EXCEEDED, "subscriptions in all"),
    ROW(SUBSCRIPTIONS_PER_CLIENT, "subscriptions_per_client", "", 1000, 1, 1000000, LIMIT_EXCEEDED, "subscriptions of one client"),
    ROW(SUBSCRIPTION_BYTES, "subscription_bytes", "bytes", 4 * MIB, KIB, GIB, LIMIT_EXCEEDED,
        "texts of the subscriptions of one client"),
    ROW(CHANGED_ROWS, "changed_rows", "", 1000, 1, 100000, INTERNAL,
        "rows of all tables that a signal RowsChanged names; with more, all rows of a table count as changed"),
    ROW(ROW_KEY_BYTES, "row_key_bytes", "bytes", KIB, 16, 64 * KIB, INTERNAL,
        "key of a row that RowsChanged names; with a longer one, all rows of its table count as changed"),
    ROW(PAYLOAD_BYTES, "payload_bytes", "bytes", 2 * GIB, KIB, 1024 * GIB, TOO_BIG, "one payload"),
    ROW(PAYLOAD_INLINE_BYTES, "payload_inline_bytes", "bytes", 64 * KIB, 0, 16 * MIB, TOO_BIG,
        "payload that is kept in its row; a larger one has a file"),
    ROW(PAYLOADS_PER_CALL, "payloads_per_call", "", 16, 1, 250, TOO_BIG, "descriptors of one answer of OpenPayloads"),
    ROW(RESOURCE_EVENTS, "resource_events", "", 1000, 0, 10000, INTERNAL,
        "resources of one update that the signal GraphUpdated names; more go without; 0 also where 'tinysparql' is off"),
    ROW(SECURE_DELETE, "secure_delete", "", 0, 0, 2, INTERNAL,
        "overwriting of deleted data. 0: later, by other data; 1: at once where that costs no I/O; 2: always (deleting large"
        " values takes 8 times as long)"),
    ROW(VALUE_ROWS, "value_rows", "", 1000, 1, 100000, TOO_BIG, "rows that Query and QueryText give; more are cut off"),
    ROW(VALUE_RESULT_BYTES, "value_result_bytes", "bytes", MIB, KIB, 64 * MIB, TOO_BIG,
        "bytes that Query and QueryText give; more are cut off, and a row of 16 times as much is an error"),
    ROW(IDLE_EXIT_MSEC, "idle_exit_ms", "ms", 60000, 0, 24 * HOUR_MSEC, CLOSED, "idle time after which the daemon exits; 0: never"),
    ROW(CHECK_INTERVAL_HOURS, "check_interval_hours", "hours", 168, 0, 24 * 366, CORRUPT,
        "age of the last check of the database after which an idle daemon makes another; 0: never"),
};

/*
 * Of the memory of the process. The heap has half, so queries that take all of it leave the other half to all else. A limit of one
 * query or client needs no share: what all may take bounds it, too.
 */
#define MEMORY_PARTS 32

static const struct {
    QdLimit limit;
    uint64_t n_parts;
} memory_shares[] = {
    { QD_LIMIT_HEAP_HARD_BYTES, 16 }, { QD_LIMIT_HEAP_SOFT_BYTES, 8 },     { QD_LIMIT_IMPORT_MEMORY_BYTES, 16 },
    { QD_LIMIT_REQUEST_BYTES, 10 },   { QD_LIMIT_TALLY_CACHE_BYTES, 4 },   { QD_LIMIT_RESULT_MEMORY_BYTES, 4 },
    { QD_LIMIT_LARGE_PAGE_BYTES, 4 }, { QD_LIMIT_JSONLD_RECORD_BYTES, 2 }, { QD_LIMIT_RING_BYTES, 1 },
};

const QdLimitInfo *
qd_limit_get_info(QdLimit limit)
{
    g_assert(limit < QD_N_LIMITS);

    return &limit_table[limit];
}

void
qd_limits_init(QdLimits *ret_limits)
{
    for (guint i = 0; i < QD_N_LIMITS; i++)
        ret_limits->values[i] = limit_table[i].value;
}

gboolean
qd_limits_set(QdLimits *self, const char *name, uint64_t value, GError **error)
{
    for (guint i = 0; i < QD_N_LIMITS; i++) {
        const QdLimitInfo *info = &limit_table[i];

        if (!g_str_equal(info->name, name))
            continue;
        if (value < info->min || value > info->max) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                         "limit '%s': %" G_GUINT64_FORMAT " is not between %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, name,
                         value, info->min, info->max);
            return FALSE;
        }
        self->values[i] = value;
        return TRUE;
    }

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "no limit is named '%s'", name);
    return FALSE;
}

gboolean
qd_limits_fit_memory(QdLimits *self, uint64_t n_bytes)
{
    gboolean is_lowered = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS(memory_shares); i++) {
        QdLimit limit = memory_shares[i].limit;
        uint64_t max = MAX(n_bytes / MEMORY_PARTS * memory_shares[i].n_parts, limit_table[limit].min);

        if (self->values[limit] <= max)
            continue;
        self->values[limit] = max;
        is_lowered = TRUE;
    }
    return is_lowered;
}

void
qd_limit_set_value_error(GError **error, QdLimit limit, uint64_t value, const char *what)
{
    const QdLimitInfo *info = qd_limit_get_info(limit);

    qd_error_set(error, info->error, "%s: the limit '%s' is %" G_GUINT64_FORMAT "%s%s", what, info->name, value,
                 info->unit[0] != '\0' ? " " : "", info->unit);
}

void
qd_limit_set_error(GError **error, const QdLimits *limits, QdLimit limit, const char *what_format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    va_start(args, what_format);
    what = g_strdup_vprintf(what_format, args);
    va_end(args);

    qd_limit_set_value_error(error, limit, limits->values[limit], what);
}
