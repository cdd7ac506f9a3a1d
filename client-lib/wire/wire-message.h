/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bodies of the records that carry no rows: SCHEMA, END, ERROR, PREPARE, BATCH.
 *
 * Place: room wire. Bodies are sequences of u32, u64 and strings; a string is
 * `u32 n_bytes · bytes · NUL · zero padding to 4`, counted from the start of the body.
 * Invariant: decoders never read outside the body and refuse what is left over.
 */
#pragma once

#include "client-lib/wire/wire-record.h"

#define QW_SCHEMA_WRITES 0x01u
#define QW_SCHEMA_RDF 0x02u
#define QW_SCHEMA_STABLE 0x04u /* with the option schema_details */
#define QW_SCHEMA_FLAGS (QW_SCHEMA_WRITES | QW_SCHEMA_RDF | QW_SCHEMA_STABLE)
#define QW_END_BODY_SIZE 40u

/* Writes a body. With too small a buffer it goes on counting: `used` is then the size that is needed. */
typedef struct QwBodyWriter {
    uint8_t *data; /* NULL to measure only */
    size_t capacity;
    size_t used;
} QwBodyWriter;

typedef struct QwBodyReader {
    const uint8_t *data;
    size_t n_bytes;
    size_t offset;
} QwBodyReader;

void qw_body_put_u32(QwBodyWriter *self, uint32_t value);
void qw_body_put_u64(QwBodyWriter *self, uint64_t value);
void qw_body_put_string(QwBodyWriter *self, const char *data, size_t n_bytes);

int qw_body_get_u32(QwBodyReader *self, uint32_t *ret_value);
/* @ret_data is a NUL-terminated view; bytes within may be NUL, callers that need a C string check with strlen. */
int qw_body_get_string(QwBodyReader *self, const char **ret_data, uint32_t *ret_n_bytes);
/* 0 when only the record's padding (fewer than 8 zero bytes) is left, else -EBADMSG. */
int qw_body_finish(const QwBodyReader *self);

/* SCHEMA: put the head, then `count` columns (two strings: name, declared type), then n_parameters (u32 index, string name). */
typedef struct QwSchemaHead {
    uint32_t version;
    uint32_t page_size;
    uint32_t flags;
    uint32_t n_parameters;
} QwSchemaHead;

void qw_schema_put_head(QwBodyWriter *self, const QwSchemaHead *head);
int qw_schema_get_head(QwBodyReader *self, QwSchemaHead *ret_head);

typedef struct QwEnd {
    uint64_t n_rows;           /* rows sent in answer to this request */
    int64_t changes;           /* rows changed; 0 for a query */
    int64_t last_insert_rowid; /* 0 for a query */
    uint64_t generation;       /* query: read before its first step; write: of its commit */
    uint64_t elapsed_usec;     /* in the daemon, from request to terminal record */
} QwEnd;

void qw_end_encode(const QwEnd *end, uint8_t *ret /* QW_END_BODY_SIZE bytes */);
int qw_end_decode(const uint8_t *body, size_t n_bytes, QwEnd *ret_end);

typedef struct QwErrorBody {
    uint32_t code;       /* QwError, or a number of a later version */
    uint32_t line;       /* from 1; 0: not known */
    uint32_t column;     /* from 1, in code points; 0: not known */
    const char *message; /* stands alone; NUL-terminated */
    uint32_t n_message_bytes;
    uint32_t n_details;   /* decoded: that follow in `details`; only where the client has asked for them */
    QwBodyReader details; /* decoded: qw_error_next_detail() */
} QwErrorBody;

/* The detail of an error that has ended the transaction of its channel, and of those after it. */
#define QW_DETAIL_TRANSACTION "transaction"
#define QW_TRANSACTION_ENDED "ended"

/* Without details: the number of them and each one's two strings, key and value, may follow by qw_body_put_…(). */
void qw_error_put(QwBodyWriter *self, const QwErrorBody *error);
int qw_error_decode(const uint8_t *body, size_t n_bytes, QwErrorBody *ret_error);
/* Takes the next detail of a decoded ERROR. Both views are C strings. Returns: whether there was one */
bool qw_error_next_detail(QwErrorBody *self, const char **ret_key, const char **ret_value);

/*
 * PREPARE: string language, string text, then `count` options (string key, string value; numbers in decimal).
 * The header's count is the number of options.
 */
void qw_prepare_put_head(QwBodyWriter *self, const char *language, const char *text, size_t n_text_bytes);
int qw_prepare_get_head(QwBodyReader *self, const char **ret_language, const char **ret_text, uint32_t *ret_n_text_bytes);

/*
 * BATCH: u32 number of options, the options as in PREPARE, then `count` statements. A statement is string language, string
 * text, u32 number of parameters, each one's string key, string row. The row has their values as in FETCH, and is empty without
 * parameters.
 */

/* CANCEL: header only; its `count` is the serial to cancel. */

/**
 * qw_record_encode:
 * @ret: (out caller-allocates): room for qw_align8(QW_HEADER_SIZE + @n_bytes)
 *
 * Writes a whole record that fits into a page. @body may be NULL when @n_bytes is 0.
 *
 * Returns: the record's size in bytes
 */
size_t qw_record_encode(uint8_t *ret, QwKind kind, uint32_t count, uint32_t serial, const uint8_t *body, size_t n_bytes);
