/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of a result on their way into pages, and the readers of formats that make them.
 *
 * Place: internal to the module; no I/O. A reader is given bytes as they arrive, and puts each row when it is whole.
 * Invariant: what a page holds is valid: texts are UTF-8, types and tags have no NUL.
 */
#pragma once

#include <gio/gio.h>

#include "client-lib/wire/wire-page-writer.h"

typedef struct RemoteRows RemoteRows;

/* What a result is made for. */
typedef struct RemoteRowsFuncs {
    /* The columns are known, once. */
    void (*begin)(gpointer data, const char *const *names, const char *const *types, guint n_columns);
    /* @page: (transfer full): a finished page of @page->n_rows rows. Returns: FALSE: no more rows are wanted */
    gboolean (*take_page)(gpointer data, const QwPageWriter *page);
    gpointer data;
} RemoteRowsFuncs;

struct RemoteRows {
    RemoteRowsFuncs funcs;
    gsize row_bytes;     /* of the largest row */
    guint64 n_rows_max;  /* 0: no bound */
    guint64 n_rows;      /* so far */
    guint64 n_rows_sent; /* those of pages that were taken */
    gboolean has_begun;
    gboolean is_full;        /* the readers end, with no error */
    gboolean is_ask;         /* the answer is a truth value */
    gboolean is_ask_by_rows; /* a server that answers ASK with a table: no row, or 0, is false */
    gboolean truth;          /* of that */
    guint n_columns;
    QwPageWriter page; /* its data is NULL while there is no page */
};

/* @page of RemoteRows: what is not sent is dropped. */
void remote_rows_clear(RemoteRows *self);

/* @types: (nullable): "" for each. PROTOCOL: too many of them, or a second time. */
gboolean remote_rows_begin(RemoteRows *self, const char *const *names, const char *const *types, guint n_columns, GError **error);

/**
 * remote_rows_put:
 * @values: as many as there are columns; each text is UTF-8
 * @error: (nullable): location for an error
 *
 * Errors: TOO_BIG for a row beyond the limit.
 *
 * Returns: FALSE on error, or without one when no more rows are wanted
 */
gboolean remote_rows_put(RemoteRows *self, const QwValue *values, GError **error);

/* Sends the rows so far. FALSE: no more rows are wanted. */
gboolean remote_rows_flush(RemoteRows *self);

/* PROTOCOL: "row N: " and what is wrong. Returns: FALSE */
gboolean remote_rows_set_malformed(const RemoteRows *self, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* A format of results --------------------------------------------------------------------------------------------------- */

typedef struct RemoteReader RemoteReader;

typedef struct RemoteReaderClass {
    RemoteReader *(*create)(RemoteRows *rows);
    void (*free)(RemoteReader *self);
    /* As remote_reader_read(). */
    gboolean (*read)(RemoteReader *self, const char *data, gsize n_bytes, gboolean is_end, gsize *ret_used, GError **error);
} RemoteReaderClass;

/**
 * read of RemoteReaderClass:
 * @data: UTF-8 without NUL: what was left the last time, and what came then
 * @is_end: nothing comes after @data
 * @ret_used: (out): how much of it is done; the rest is given again
 * @error: (nullable): location for an error
 *
 * Errors: PROTOCOL when it is not well-formed, or ends too early; TOO_BIG.
 *
 * Returns: FALSE on error, or without one when no more rows are wanted
 */

struct RemoteReader {
    const RemoteReaderClass *klass; /* the first member of each reader */
};

extern const RemoteReaderClass remote_json_class, remote_tsv_class, remote_xml_class;

#define REMOTE_XSD "http://www.w3.org/2001/XMLSchema#"

/* A literal of @datatype, an IRI: xsd:string is TEXT. */
static inline void
remote_value_set_typed(QwValue *value, const char *datatype, gsize n_datatype)
{
    value->type = QW_TYPE_TEXT;
    if (n_datatype == sizeof REMOTE_XSD "string" - 1 && memcmp(datatype, REMOTE_XSD "string", n_datatype) == 0)
        return;
    value->type = QW_TYPE_LITERAL_TYPED;
    value->tag = datatype;
    value->n_tag_bytes = (uint32_t) n_datatype;
}

/* Whether @tag can stand after "@" in Turtle: letters, digits and "-". Another one would end the literal where it is written. */
gboolean remote_is_language(const char *tag, gsize n_bytes);

/* Whether @label may be that of a blank node. Servers use more than Turtle allows, "nodeID://b1" for one; a space or a control
 * character would end it where it is written. */
gboolean remote_is_label(const char *label, gsize n_bytes);

/* The only row of ASK. */
gboolean remote_rows_put_boolean(RemoteRows *self, gboolean value, GError **error);

/* After the last row: sends what is there. FALSE: on error, or when no more rows are wanted. */
gboolean remote_rows_finish(RemoteRows *self, GError **error);

/**
 * remote_append_escape:
 * @p: after a backslash
 * @is_json: escapes of JSON, where U+D800 to U+DFFF come in pairs; else those of Turtle
 *
 * Appends what the escape stands for. @out has room for it: no escape is shorter than what it stands for.
 *
 * Returns: the byte after it, NULL when it is none
 */
const char *remote_append_escape(GString *out, const char *p, const char *end, gboolean is_json);
