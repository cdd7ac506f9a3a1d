/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrow: the rows of a cursor as columns, in batches, for data frames and for all that reads Arrow's C stream interface.
 *
 * Part of query-client.h. docs/arrow.md has the types. The structs are those of the Arrow specification: its C data interface and C
 * stream interface. They have the guards that it names, since other headers may declare them first.
 */
#pragma once

#include "query-client.h"

#include <stdint.h>

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QUERY_ARROW_BATCH_BYTES:
 *
 * The most that is read before the types of columns are decided, in bytes of records; and the size of a batch.
 */
#define QUERY_ARROW_BATCH_BYTES 16777216

/**
 * QueryArrowForm:
 * @QUERY_ARROW_TEXT: RDF terms are utf8: the IRI, the label, the lexical form
 * @QUERY_ARROW_TERMS: RDF terms are structs of the extension type "queryd.rdf_term"
 *
 * How values become Arrow's.
 */
typedef enum {
    QUERY_ARROW_TEXT,
    QUERY_ARROW_TERMS,
} QueryArrowForm;

#ifndef __GI_SCANNER__ /* for C and C++ only: bindings have no use for these structs */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/**
 * query_cursor_export_arrow_stream: (skip)
 * @self: a cursor
 * @form: how RDF terms are given
 * @cancellable: (nullable): a #GCancellable; cancelling fails the stream's next call
 * @stream: (out caller-allocates): gets the stream; its release callback is to be called
 *
 * Gives the rows after the current one as an Arrow stream. The cursor is the stream's from here on: only the stream may be used.
 * The stream keeps a reference of the cursor.
 *
 * The schema is known when the result was read to its end, or when %QUERY_ARROW_BATCH_BYTES of it were. A column has the type
 * that its declared type suggests. When values that were read do not fit it, or there is none, these decide. It is the first of
 * int64, double, utf8 and binary that holds them all. A value of a later batch is converted if nothing is lost, else the stream
 * fails.
 *
 * The stream's calls fail as query_cursor_next() does, and for values that have no place in their column, and for TEXT that is not
 * UTF-8. A failure is never an end, and the next call fails again. Their results are errno numbers: EINVAL for such values,
 * ETIMEDOUT, ECANCELED, ECONNRESET for a lost daemon, ENOMEM, EIO for the rest. get_last_error() has the message.
 *
 * Thread: any, one call at a time. So are the release callbacks of the stream, and of batches and schemas, which live on their own.
 */
QUERY_AVAILABLE_IN_0_1
void query_cursor_export_arrow_stream(QueryCursor *self, QueryArrowForm form, GCancellable *cancellable,
                                      struct ArrowArrayStream *stream);

#endif

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
