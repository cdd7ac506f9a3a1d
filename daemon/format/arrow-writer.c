/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrow's IPC: messages whose metadata are tables of FlatBuffers (Schema.fbs, Message.fbs, File.fbs of Arrow's columnar
 * format, 1.x).
 */
#include "daemon/format/arrow-writer.h"

#include <string.h>

#include "client-lib/arrow/arrow-table.h"
#include "daemon/base/error.h"
#include "daemon/format/flat-table.h"

#define MAGIC "ARROW1"
#define MAGIC_BYTES 8u /* padded at the beginning of a file */
#define VERSION 4      /* V5 */

enum { HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_BINARY = 4, TYPE_UTF8 = 5, TYPE_STRUCT = 13 };
enum { PRECISION_DOUBLE = 2 };

/* Where a batch lies in a file: the words of the struct Block. */
typedef struct Block {
    gint64 offset;
    gint64 n_metadata_bytes; /* 4 bytes and padding */
    gint64 n_body_bytes;
} Block;

/* What a batch's metadata say of its body, and the body's parts. */
typedef struct Body {
    GArray *nodes;   /* of gint64: rows and NULLs of each column and part of one */
    GArray *buffers; /* of gint64: offset and bytes */
    GPtrArray *data; /* of each buffer, borrowed from the columns */
    gint64 n_bytes;
} Body;

struct QdArrowWriter {
    QdArrowFormat format;
    char **names;
    QwArrowTable *table;
    gboolean has_schema; /* was written */
    guint64 n_rows;      /* in batches that were written */
    guint64 n_bytes;     /* written */
    GArray *blocks;      /* of Block, for a file */
};

typedef struct FormatInfo {
    const char *name;
    const char *media_type;
} FormatInfo;

static const FormatInfo formats[] = {
    [QD_ARROW_STREAM] = { "arrow", "application/vnd.apache.arrow.stream" },
    [QD_ARROW_FILE] = { "arrow-file", "application/vnd.apache.arrow.file" },
};

gboolean
qd_arrow_format_from_name(const char *name, QdArrowFormat *ret_format)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        if (!g_str_equal(name, formats[i].name) && g_ascii_strcasecmp(name, formats[i].media_type) != 0)
            continue;
        *ret_format = (QdArrowFormat) i;
        return TRUE;
    }
    return FALSE;
}

const char *
qd_arrow_format_get_media_type(QdArrowFormat format)
{
    return formats[format].media_type;
}

QdArrowWriter *
qd_arrow_writer_new(QdArrowFormat format, const char *const *names, const char *const *types, guint n_columns, gboolean terms)
{
    QdArrowWriter *self = g_new0(QdArrowWriter, 1);

    self->format = format;
    self->names = g_new0(char *, (gsize) n_columns + 1);
    self->table = qw_arrow_table_new(n_columns);
    self->blocks = g_array_new(FALSE, FALSE, sizeof(Block));
    for (guint i = 0; i < n_columns; i++) {
        self->names[i] = g_utf8_make_valid(names[i], -1);
        qw_arrow_column_init(&self->table->columns[i], types[i], terms);
    }
    return self;
}

QdArrowWriter *
qd_arrow_writer_free(QdArrowWriter *self)
{
    if (self == NULL)
        return NULL;

    g_strfreev(self->names);
    qw_arrow_table_free(self->table);
    g_array_unref(self->blocks);
    g_free(self);
    return NULL;
}

/* Bytes ------------------------------------------------------------------------------------------------------------------ */

static void
append(QdArrowWriter *self, GString *out, const void *data, gsize n_bytes)
{
    g_string_append_len(out, data, (gssize) n_bytes);
    self->n_bytes += n_bytes;
}

static void
append_padding(QdArrowWriter *self, GString *out)
{
    static const char zeros[8];

    append(self, out, zeros, (8 - self->n_bytes % 8) % 8);
}

static void
append_int32(QdArrowWriter *self, GString *out, guint32 value)
{
    guint32 bytes = GUINT32_TO_LE(value);

    append(self, out, &bytes, sizeof bytes);
}

/* The metadata of one message, as far as its header. Its first 4 bytes are the offset of the table. */
static GByteArray *
begin_message(guint8 header_type, gint64 n_body_bytes, guint *ret_header)
{
    GByteArray *metadata = g_byte_array_new();
    const QdFlatField fields[] = { { 2, VERSION }, { 1, header_type }, { 4, 0 }, { 8, n_body_bytes } };
    guint places[G_N_ELEMENTS(fields)];

    g_byte_array_set_size(metadata, 8);
    memset(metadata->data, 0, metadata->len);
    qd_flat_point(metadata, 0, qd_flat_put_table(metadata, fields, G_N_ELEMENTS(fields), places));
    *ret_header = places[2];
    return metadata;
}

/* Returns: the bytes before the body */
static gsize
append_message(QdArrowWriter *self, GString *out, const GByteArray *metadata)
{
    guint64 begin = self->n_bytes;

    append_int32(self, out, G_MAXUINT32); /* "continues" */
    append_int32(self, out, (metadata->len + 7) / 8 * 8);
    append(self, out, metadata->data, metadata->len);
    append_padding(self, out);
    return self->n_bytes - begin;
}

/* Schemas ---------------------------------------------------------------------------------------------------------------- */

/* Returns: the place of the table of @type's parameters */
static guint
put_type(GByteArray *out, QwArrowType type)
{
    const QdFlatField integer[] = { { 4, 64 }, { 1, TRUE } };
    const QdFlatField real[] = { { 2, PRECISION_DOUBLE } };

    if (type == QW_ARROW_INT64)
        return qd_flat_put_table(out, integer, G_N_ELEMENTS(integer), NULL);
    if (type == QW_ARROW_DOUBLE)
        return qd_flat_put_table(out, real, G_N_ELEMENTS(real), NULL);
    return qd_flat_put_table(out, NULL, 0, NULL);
}

/* A vector of one or more pairs of strings. */
static guint
put_metadata(GByteArray *out, const char *const (*pairs)[2], guint n)
{
    static const QdFlatField fields[] = { { 4, 0 }, { 4, 0 } };
    guint vector = qd_flat_put_offsets(out, n);

    for (guint i = 0; i < n; i++) {
        guint places[2];

        qd_flat_point(out, vector + 4 + 4 * i, qd_flat_put_table(out, fields, 2, places));
        for (guint k = 0; k < 2; k++)
            qd_flat_point(out, places[k], qd_flat_put_string(out, pairs[i][k]));
    }
    return vector;
}

static guint
put_field(GByteArray *out, const char *name, QwArrowType type)
{
    static const guint8 types[] = {
        [QW_ARROW_INT64] = TYPE_INT,   [QW_ARROW_DOUBLE] = TYPE_FLOAT,  [QW_ARROW_UTF8] = TYPE_UTF8,
        [QW_ARROW_TERM] = TYPE_STRUCT, [QW_ARROW_BINARY] = TYPE_BINARY,
    };
    const char *const term[][2] = { { "ARROW:extension:name", qw_arrow_type_get_name(type) }, { "ARROW:extension:metadata", "" } };
    gboolean is_term = type == QW_ARROW_TERM;
    /* name, nullable, type_type, type, dictionary, children, custom_metadata */
    const QdFlatField fields[] = {
        { 4, 0 }, { 1, TRUE }, { 1, types[type] }, { 4, 0 }, { 0, 0 }, { 4, 0 }, { is_term ? 4 : 0, 0 }
    };
    guint places[G_N_ELEMENTS(fields)];
    guint table = qd_flat_put_table(out, fields, G_N_ELEMENTS(fields), places);
    guint children;

    qd_flat_point(out, places[0], qd_flat_put_string(out, name));
    qd_flat_point(out, places[3], put_type(out, type));
    children = qd_flat_put_offsets(out, is_term ? QW_ARROW_N_PARTS : 0);
    qd_flat_point(out, places[5], children);
    for (guint i = 0; is_term && i < QW_ARROW_N_PARTS; i++)
        qd_flat_point(out, children + 4 + 4 * i, put_field(out, qw_arrow_part_get_name((QwArrowPart) i), QW_ARROW_UTF8));
    if (is_term)
        qd_flat_point(out, places[6], put_metadata(out, term, G_N_ELEMENTS(term)));
    return table;
}

static guint
put_schema(const QdArrowWriter *self, GByteArray *out)
{
    const QdFlatField fields[] = { { 2, G_BYTE_ORDER == G_BIG_ENDIAN }, { 4, 0 } };
    guint places[G_N_ELEMENTS(fields)];
    guint table = qd_flat_put_table(out, fields, G_N_ELEMENTS(fields), places);
    guint vector = qd_flat_put_offsets(out, (guint) self->table->n_columns);

    qd_flat_point(out, places[1], vector);
    for (guint i = 0; i < self->table->n_columns; i++)
        qd_flat_point(out, vector + 4 + 4 * i, put_field(out, self->names[i], self->table->columns[i].type));
    return table;
}

static void
write_schema(QdArrowWriter *self, GString *out)
{
    guint header;
    g_autoptr(GByteArray) metadata = begin_message(HEADER_SCHEMA, 0, &header);

    if (self->format == QD_ARROW_FILE) {
        append(self, out, MAGIC, strlen(MAGIC));
        append_padding(self, out);
    }
    qd_flat_point(metadata, header, put_schema(self, metadata));
    (void) append_message(self, out, metadata);
    self->has_schema = TRUE;
}

/* Batches ---------------------------------------------------------------------------------------------------------------- */

static void
add_buffer(Body *self, const void *data, gsize n_bytes)
{
    const gint64 words[] = { self->n_bytes, (gint64) n_bytes };

    g_array_append_vals(self->buffers, words, G_N_ELEMENTS(words));
    g_ptr_array_add(self->data, (gpointer) data);
    self->n_bytes += (gint64) ((n_bytes + 7) / 8 * 8);
}

static void
add_column(Body *self, const QwArrowColumn *column)
{
    const gint64 words[] = { (gint64) column->n_rows, (gint64) column->n_nulls };

    g_array_append_vals(self->nodes, words, G_N_ELEMENTS(words));
    add_buffer(self, column->validity, column->n_nulls > 0 ? (column->n_rows + 7) / 8 : 0);
    switch (column->type) {
    case QW_ARROW_NONE: /* no column of a finished table is of this type */
        break;
    case QW_ARROW_INT64:
    case QW_ARROW_DOUBLE:
        add_buffer(self, column->values, column->n_rows * 8);
        break;
    case QW_ARROW_UTF8:
    case QW_ARROW_BINARY:
        add_buffer(self, column->offsets, (column->n_rows + 1) * sizeof(gint32));
        add_buffer(self, column->data, column->n_data);
        break;
    case QW_ARROW_TERM:
        for (guint i = 0; i < QW_ARROW_N_PARTS; i++)
            add_column(self, &column->parts[i]);
        break;
    }
}

static void
append_batch(QdArrowWriter *self, const Body *body, GString *out)
{
    const QdFlatField fields[] = { { 8, (gint64) self->table->n_rows }, { 4, 0 }, { 4, 0 } };
    guint places[G_N_ELEMENTS(fields)];
    guint header;
    g_autoptr(GByteArray) metadata = begin_message(HEADER_BATCH, body->n_bytes, &header);
    Block block = { .offset = (gint64) self->n_bytes, .n_body_bytes = body->n_bytes };

    qd_flat_point(metadata, header, qd_flat_put_table(metadata, fields, G_N_ELEMENTS(fields), places));
    qd_flat_point(metadata, places[1],
                  qd_flat_put_structs(metadata, (const gint64 *) (gpointer) body->nodes->data, body->nodes->len / 2, 2));
    qd_flat_point(metadata, places[2],
                  qd_flat_put_structs(metadata, (const gint64 *) (gpointer) body->buffers->data, body->buffers->len / 2, 2));
    block.n_metadata_bytes = (gint64) append_message(self, out, metadata);
    for (guint i = 0; i < body->data->len; i++) {
        append(self, out, body->data->pdata[i], (gsize) g_array_index(body->buffers, gint64, 2 * i + 1));
        append_padding(self, out);
    }
    g_array_append_val(self->blocks, block);
}

static void
write_batch(QdArrowWriter *self, GString *out)
{
    Body body = { g_array_new(FALSE, FALSE, sizeof(gint64)), g_array_new(FALSE, FALSE, sizeof(gint64)), g_ptr_array_new(), 0 };

    for (guint i = 0; i < self->table->n_columns; i++)
        add_column(&body, &self->table->columns[i]);
    append_batch(self, &body, out);
    g_array_unref(body.nodes);
    g_array_unref(body.buffers);
    g_ptr_array_unref(body.data);
    self->n_rows += self->table->n_rows;
    qw_arrow_table_drop_rows(self->table);
}

/* Writes what the table holds; the schema before the first batch. */
static gboolean
flush(QdArrowWriter *self, GString *out, GError **error)
{
    QwArrowProblem problem;

    if (!qw_arrow_table_finish(self->table, &problem)) {
        g_autofree char *text = qw_arrow_problem_describe(&problem, self->table, self->names[problem.column], self->n_rows);

        qd_error_set(error, QW_ERROR_UNSUPPORTED, "%s", text);
        return FALSE;
    }
    if (!self->has_schema)
        write_schema(self, out);
    if (self->table->n_rows > 0)
        write_batch(self, out);
    return TRUE;
}

gboolean
qd_arrow_writer_put_page(QdArrowWriter *self, QwPageReader *page, GString *out, GError **error)
{
    QwArrowProblem problem;

    if (!qw_page_reader_next(page))
        return TRUE;
    if (!qw_arrow_table_append(self->table, page, &problem)) {
        g_autofree char *text = qw_arrow_problem_describe(&problem, self->table, self->names[problem.column], self->n_rows);

        qd_error_set(error, QW_ERROR_UNSUPPORTED, "%s", text);
        return FALSE;
    }
    return (self->table->n_bytes < QD_ARROW_BATCH_BYTES && self->table->n_rows < QW_ARROW_BATCH_ROWS) || flush(self, out, error);
}

/* The end of a file ------------------------------------------------------------------------------------------------------ */

static void
append_footer(QdArrowWriter *self, GString *out)
{
    const QdFlatField fields[] = { { 2, VERSION }, { 4, 0 }, { 4, 0 }, { 4, 0 } };
    g_autoptr(GByteArray) footer = g_byte_array_new();
    guint places[G_N_ELEMENTS(fields)];

    g_byte_array_set_size(footer, 8);
    memset(footer->data, 0, footer->len);
    qd_flat_point(footer, 0, qd_flat_put_table(footer, fields, G_N_ELEMENTS(fields), places));
    qd_flat_point(footer, places[1], put_schema(self, footer));
    qd_flat_point(footer, places[2], qd_flat_put_structs(footer, NULL, 0, 3));
    qd_flat_point(footer, places[3],
                  qd_flat_put_structs(footer, (const gint64 *) (gpointer) self->blocks->data, self->blocks->len, 3));
    append(self, out, footer->data, footer->len);
    append_int32(self, out, footer->len);
    append(self, out, MAGIC, strlen(MAGIC));
}

gboolean
qd_arrow_writer_end(QdArrowWriter *self, GString *out, GError **error)
{
    if ((self->table->n_rows > 0 || !self->has_schema) && !flush(self, out, error))
        return FALSE;
    append_int32(self, out, G_MAXUINT32);
    append_int32(self, out, 0);
    if (self->format == QD_ARROW_FILE)
        append_footer(self, out);
    return TRUE;
}
