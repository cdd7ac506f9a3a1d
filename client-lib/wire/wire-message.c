/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encoders and decoders of the records without rows.
 */
#include "client-lib/wire/wire-message.h"

#include <errno.h>

static void
body_put(QwBodyWriter *self, const void *data, size_t n_bytes)
{
    if (self->data != NULL && self->used <= self->capacity && n_bytes <= self->capacity - self->used && n_bytes > 0)
        memcpy(self->data + self->used, data, n_bytes);

    self->used += n_bytes;
}

void
qw_body_put_u32(QwBodyWriter *self, uint32_t value)
{
    uint8_t bytes[4];

    qw_store_u32(bytes, value);
    body_put(self, bytes, sizeof bytes);
}

void
qw_body_put_u64(QwBodyWriter *self, uint64_t value)
{
    uint8_t bytes[8];

    qw_store_u64(bytes, value);
    body_put(self, bytes, sizeof bytes);
}

void
qw_body_put_string(QwBodyWriter *self, const char *data, size_t n_bytes)
{
    static const uint8_t zeros[4];

    qw_body_put_u32(self, (uint32_t) n_bytes);
    body_put(self, data, n_bytes);
    body_put(self, zeros, 4 - n_bytes % 4);
}

int
qw_body_get_u32(QwBodyReader *self, uint32_t *ret_value)
{
    if (self->n_bytes - self->offset < 4)
        return -EBADMSG;

    *ret_value = qw_load_u32(self->data + self->offset);
    self->offset += 4;
    return 0;
}

int
qw_body_get_string(QwBodyReader *self, const char **ret_data, uint32_t *ret_n_bytes)
{
    size_t offset = self->offset;
    size_t padded;
    uint32_t n_bytes;

    if (self->n_bytes - offset < 4)
        return -EBADMSG;

    n_bytes = qw_load_u32(self->data + offset);
    offset += 4;
    padded = (size_t) n_bytes + (4 - n_bytes % 4);
    if (padded > self->n_bytes - offset || self->data[offset + n_bytes] != 0)
        return -EBADMSG;

    *ret_data = (const char *) self->data + offset;
    *ret_n_bytes = n_bytes;
    self->offset = offset + padded;
    return 0;
}

int
qw_body_finish(const QwBodyReader *self)
{
    if (self->n_bytes - self->offset >= 8)
        return -EBADMSG;

    for (size_t i = self->offset; i < self->n_bytes; i++)
        if (self->data[i] != 0)
            return -EBADMSG;

    return 0;
}

void
qw_schema_put_head(QwBodyWriter *self, const QwSchemaHead *head)
{
    qw_body_put_u32(self, head->version);
    qw_body_put_u32(self, head->page_size);
    qw_body_put_u32(self, head->flags);
    qw_body_put_u32(self, head->n_parameters);
}

int
qw_schema_get_head(QwBodyReader *self, QwSchemaHead *ret_head)
{
    QwSchemaHead head;

    if (qw_body_get_u32(self, &head.version) < 0 || qw_body_get_u32(self, &head.page_size) < 0 ||
        qw_body_get_u32(self, &head.flags) < 0 || qw_body_get_u32(self, &head.n_parameters) < 0)
        return -EBADMSG;
    if (head.version != QW_PROTOCOL_VERSION || (head.flags & ~QW_SCHEMA_FLAGS) != 0)
        return -EBADMSG;
    if (!qw_page_size_is_valid(head.page_size))
        return -EBADMSG;

    *ret_head = head;
    return 0;
}

void
qw_end_encode(const QwEnd *end, uint8_t *ret)
{
    qw_store_u64(ret, end->n_rows);
    qw_store_u64(ret + 8, (uint64_t) end->changes);
    qw_store_u64(ret + 16, (uint64_t) end->last_insert_rowid);
    qw_store_u64(ret + 24, end->generation);
    qw_store_u64(ret + 32, end->elapsed_usec);
}

int
qw_end_decode(const uint8_t *body, size_t n_bytes, QwEnd *ret_end)
{
    if (n_bytes != QW_END_BODY_SIZE)
        return -EBADMSG;

    *ret_end = (QwEnd){
        .n_rows = qw_load_u64(body),
        .changes = (int64_t) qw_load_u64(body + 8),
        .last_insert_rowid = (int64_t) qw_load_u64(body + 16),
        .generation = qw_load_u64(body + 24),
        .elapsed_usec = qw_load_u64(body + 32),
    };
    return 0;
}

void
qw_error_put(QwBodyWriter *self, const QwErrorBody *error)
{
    qw_body_put_u32(self, error->code);
    qw_body_put_u32(self, error->line);
    qw_body_put_u32(self, error->column);
    qw_body_put_string(self, error->message, error->n_message_bytes);
}

/* A string without a NUL in it. */
static int
get_c_string(QwBodyReader *self, const char **ret_string)
{
    uint32_t n_bytes;

    return qw_body_get_string(self, ret_string, &n_bytes) < 0 || strlen(*ret_string) != n_bytes ? -EBADMSG : 0;
}

int
qw_error_decode(const uint8_t *body, size_t n_bytes, QwErrorBody *ret_error)
{
    QwBodyReader reader = { .data = body, .n_bytes = n_bytes };
    QwErrorBody error = { 0 };
    const char *string;

    if (qw_body_get_u32(&reader, &error.code) < 0 || qw_body_get_u32(&reader, &error.line) < 0 ||
        qw_body_get_u32(&reader, &error.column) < 0 || qw_body_get_string(&reader, &error.message, &error.n_message_bytes) < 0)
        return -EBADMSG;
    if (reader.n_bytes - reader.offset >= 8 && qw_body_get_u32(&reader, &error.n_details) < 0)
        return -EBADMSG;
    error.details = reader;
    for (uint64_t i = 0; i < 2 * (uint64_t) error.n_details; i++)
        if (get_c_string(&reader, &string) < 0)
            return -EBADMSG;
    if (qw_body_finish(&reader) < 0)
        return -EBADMSG;

    *ret_error = error;
    return 0;
}

bool
qw_error_next_detail(QwErrorBody *self, const char **ret_key, const char **ret_value)
{
    if (self->n_details == 0 || get_c_string(&self->details, ret_key) < 0 || get_c_string(&self->details, ret_value) < 0)
        return false;

    self->n_details--;
    return true;
}

void
qw_prepare_put_head(QwBodyWriter *self, const char *language, const char *text, size_t n_text_bytes)
{
    qw_body_put_string(self, language, strlen(language));
    qw_body_put_string(self, text, n_text_bytes);
}

int
qw_prepare_get_head(QwBodyReader *self, const char **ret_language, const char **ret_text, uint32_t *ret_n_text_bytes)
{
    uint32_t n_language_bytes;

    if (qw_body_get_string(self, ret_language, &n_language_bytes) < 0 || strlen(*ret_language) != n_language_bytes)
        return -EBADMSG;

    return qw_body_get_string(self, ret_text, ret_n_text_bytes);
}

size_t
qw_record_encode(uint8_t *ret, QwKind kind, uint32_t count, uint32_t serial, const uint8_t *body, size_t n_bytes)
{
    size_t size = qw_align8(QW_HEADER_SIZE + n_bytes);

    qw_header_encode(&(QwHeader){ .size = (uint32_t) size, .kind = (uint8_t) kind, .count = count, .serial = serial }, ret);
    if (n_bytes > 0)
        memcpy(ret + QW_HEADER_SIZE, body, n_bytes);
    memset(ret + QW_HEADER_SIZE + n_bytes, 0, size - QW_HEADER_SIZE - n_bytes);
    return size;
}
