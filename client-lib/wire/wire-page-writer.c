/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the row writer that are not hot.
 */
#include "client-lib/wire/wire-page-writer.h"

static int
put_literal(QwPageWriter *self, const QwValue *value)
{
    size_t need = 4 + (size_t) value->n_bytes + 1 + value->n_tag_bytes + 1;
    uint8_t *p = self->data + self->cursor;

    if (need > self->capacity - self->cursor)
        return -ENOBUFS;

    qw_store_u32(p, value->n_bytes);
    if (value->n_bytes > 0)
        memcpy(p + 4, value->data, value->n_bytes);
    p[4 + value->n_bytes] = 0;
    memcpy(p + 4 + value->n_bytes + 1, value->tag, value->n_tag_bytes);
    p[need - 1] = 0;

    qw_row_set_slot(self, value->type, self->cursor + need - 1);
    self->cursor += need;
    return 0;
}

int
qw_row_put_value(QwPageWriter *self, const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        qw_row_put_null(self);
        return 0;
    case QW_TYPE_INTEGER:
        return qw_row_put_int64(self, value->integer);
    case QW_TYPE_FLOAT:
        return qw_row_put_double(self, value->real);
    case QW_TYPE_BLOB:
        return qw_row_put_blob(self, value->data, value->n_bytes);
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
        return qw_row_put_string(self, value->type, value->n_bytes > 0 ? value->data : "", value->n_bytes);
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        return put_literal(self, value);
    }
    return -EINVAL;
}

size_t
qw_page_writer_finish(QwPageWriter *self, QwKind kind, uint32_t serial)
{
    qw_header_encode(&(QwHeader){ .size = (uint32_t) self->used, .kind = (uint8_t) kind, .count = self->n_rows, .serial = serial },
                     self->data);
    return self->used;
}
