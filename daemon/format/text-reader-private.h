/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the incremental reader share.
 *
 * Place: room format.
 */
#pragma once

#include "daemon/base/error.h"
#include "daemon/format/text-reader.h"
#include "daemon/format/text-row.h"

/* An escaped form may be longer than its value: a row's text may have twice the limit, and this. */
#define QD_TEXT_SLACK_BYTES (64u * 1024u)

typedef enum QdTextState {
    QD_TEXT_STATE_FIELD_START,
    QD_TEXT_STATE_PLAIN,
    QD_TEXT_STATE_QUOTED,
    QD_TEXT_STATE_QUOTE, /* after a quote within a quoted field */
    QD_TEXT_STATE_AFTER_CR,
    /* json and jsonl, between rows */
    QD_TEXT_STATE_OPEN,         /* json: expects the outer array */
    QD_TEXT_STATE_ROW_OR_CLOSE, /* json */
    QD_TEXT_STATE_ROW,
    QD_TEXT_STATE_COMMA_OR_CLOSE, /* json */
    QD_TEXT_STATE_LINE_END,       /* jsonl */
    QD_TEXT_STATE_CLOSED,         /* json */
    QD_TEXT_STATE_IN_ROW,
    QD_TEXT_STATE_IN_STRING,
    QD_TEXT_STATE_IN_ESCAPE,
} QdTextState;

typedef struct QdTextPlace {
    guint64 line;
    guint64 column;
} QdTextPlace;

struct QdTextReader {
    QdTextFormat format;
    gboolean header;
    char delimiter; /* csv, tsv */
    QdLimits limits;
    GPtrArray *names; /* NULL-terminated only when have_names */
    gboolean have_names;
    gboolean grows;  /* by keys of later objects */
    guint n_columns; /* of every row; 0: not known yet */

    const char *input; /* borrowed */
    size_t n_input;
    size_t pos;
    gboolean finished;
    gboolean failed;

    QdTextState state;
    guint n_bom;       /* bytes of a byte order mark seen; 3: past it */
    QdTextPlace place; /* of input[pos] */
    QdTextPlace field_place;
    QdTextPlace row_place;
    gboolean row_begun;
    gboolean quoted;
    guint depth;
    GString *pending; /* json: the bytes of the row */
    QdTextRow row;
};

static inline void
qd_text_place_advance(QdTextPlace *place, const char *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (data[i] == '\n') {
            place->line++;
            place->column = 1;
        } else if (((uint8_t) data[i] & 0xc0) != 0x80) {
            place->column++;
        }
    }
}

static inline void
qd_text_reader_consume(QdTextReader *self, size_t n_bytes)
{
    qd_text_place_advance(&self->place, self->input + self->pos, n_bytes);
    self->pos += n_bytes;
}

/* Both set @error with the place, and the reader reads no more. */
QdTextReadResult qd_text_reader_fail(QdTextReader *self, QdTextPlace place, GError **error, QwError code, const char *message);
QdTextReadResult qd_text_reader_fail_limit(QdTextReader *self, QdTextPlace place, GError **error, QdLimit limit, const char *what);

/* The row is complete: its values can be given out. */
QdTextReadResult qd_text_reader_finish_row(QdTextReader *self, GError **error);

/* text-reader-json.c. MORE: go on. */
QdTextReadResult qd_text_reader_step_between(QdTextReader *self, GError **error);
QdTextReadResult qd_text_reader_step_in_row(QdTextReader *self, GError **error);
QdTextReadResult qd_text_reader_finish_json(QdTextReader *self, GError **error);
