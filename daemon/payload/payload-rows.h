/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of payloads as a connection sees them.
 *
 * Place: private to payload.c and payload-read.c.
 */
#pragma once

#include "daemon/payload/payload.h"

typedef enum QdPayloadStatement {
    QD_PAYLOAD_STATEMENT_FIND,
    QD_PAYLOAD_STATEMENT_GET,
    QD_PAYLOAD_STATEMENT_IS_NEEDED,
    QD_PAYLOAD_STATEMENT_NUMBER,
    QD_PAYLOAD_STATEMENT_INSERT,
    QD_PAYLOAD_STATEMENT_UPDATE,
    QD_PAYLOAD_STATEMENT_DELETE,
    QD_N_PAYLOAD_STATEMENTS,
} QdPayloadStatement;

/* SQLite reads all of a value to tell that it is not NULL, but not to tell its type. */
#define QD_PAYLOAD_IN_FILE "typeof(content)='null'"

/* What a connection needs. */
typedef struct QdPayloadRows {
    QdConnection *connection;
    sqlite3_stmt *statements[QD_N_PAYLOAD_STATEMENTS];
    QdPayloads *payloads;  /* (nullable): the writer's */
    QdPayloadFiles *files; /* owned when there is no @payloads */
} QdPayloadRows;

QdPayloadRows *qd_payload_rows_get(QdConnection *connection);
/* (nullable): our statement, ready for its parameters */
sqlite3_stmt *qd_payload_rows_get_statement(QdPayloadRows *self, QdPayloadStatement which, GError **error);
/* Sets what SQLite says. Returns: FALSE */
gboolean qd_payload_rows_fail(QdPayloadRows *self, int r, GError **error);
/* In the transaction that stores it, a file has no name yet. */
gboolean qd_payload_rows_open_pending(QdPayloadRows *self, const QdPayloadInfo *info, int *ret_fd);
