/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's log: the journal with fields when stderr is the journal, lines on stderr otherwise.
 *
 * Place: room base. The layer that stops an error logs it, once; the layers below return it.
 * Invariant: texts of statements and their values are logged at debug level only.
 */
#pragma once

#include <glib.h>
#include <syslog.h>

/* Constant identifiers for `journalctl MESSAGE_ID=`; documented in queryd(8). Never reuse one. */
#define QD_LOG_ID_STARTED "6ea9188b2cd5447ba4edda8425909fae"
#define QD_LOG_ID_STOPPING "c337c0ece62f42a2b84fb510bf6d31ba"
#define QD_LOG_ID_CONFIG "c3c63456d9a748b99ebdc9fd5e6eed2a"
#define QD_LOG_ID_CALL_DONE "3302d27b645440269ebc9b64ec515791"
#define QD_LOG_ID_CALL_FAILED "4ffa96e95fbc4b8f8f35c047a931485d"
#define QD_LOG_ID_BUS "dfe16c25e19a416bae892b9da4df9d18"
#define QD_LOG_ID_WATCHDOG "597ebd33382c4cd8849a7b29026ac47c"
#define QD_LOG_ID_STORE "a40848e1b4994adc84e7a9a752ca9697"

/* Facts of a record; a field that is 0 or NULL is left out. */
typedef struct QdLogFields {
    const char *message_id; /* one of QD_LOG_ID_… */
    const char *sender;     /* the bus name that caused it: QUERYD_SENDER= */
    guint64 elapsed_usec;   /* QUERYD_ELAPSED_USEC= */
    guint64 n_rows;         /* QUERYD_ROWS= */
} QdLogFields;

/**
 * qd_log_set_level:
 * @level: LOG_ERR … LOG_DEBUG: records of a lesser weight are dropped
 *
 * The level at start is LOG_INFO. Thread: any.
 */
void qd_log_set_level(int level);

/**
 * qd_log_parse_level:
 * @name: "error", "warning", "notice", "info" or "debug"
 *
 * Thread: any.
 *
 * Returns: the syslog level, -EINVAL for another name
 */
int qd_log_parse_level(const char *name);

/**
 * qd_log_is_enabled:
 * @level: a syslog level
 *
 * For callers whose arguments are expensive to make. Thread: any.
 *
 * Returns: whether a record of @level would be written
 */
gboolean qd_log_is_enabled(int level);

/**
 * qd_log:
 * @level: LOG_ERR … LOG_DEBUG
 * @fields: (nullable) (transfer none): facts
 * @format: one line, lower case, no full stop
 *
 * Writes a record. Never fails. Thread: any.
 */
void qd_log(int level, const QdLogFields *fields, const char *format, ...) G_GNUC_PRINTF(3, 4);
