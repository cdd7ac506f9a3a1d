/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the text formats share: their names, the one way to write a number, and UTF-8.
 *
 * Place: layer 4, pure functions on bytes; docs/formats.md is the description for users.
 * Invariant: qd_text_parse_number() accepts exactly what qd_text_put_int64() and qd_text_put_double() write, so that
 * a text that is not of that form can stand unmarked beside numbers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "client-lib/wire/wire-value.h"

typedef enum QdTextFormat {
    QD_TEXT_FORMAT_CSV,
    QD_TEXT_FORMAT_TSV,
    QD_TEXT_FORMAT_JSON,
    QD_TEXT_FORMAT_JSONL,
} QdTextFormat;

#define QD_N_TEXT_FORMATS (QD_TEXT_FORMAT_JSONL + 1)

/* Room that the two number writers need, without a NUL. */
#define QD_TEXT_NUMBER_BYTES 40

/* How both formats without types say "this text is not UTF-8"; it is the SQL expression for it. */
#define QD_TEXT_CAST_PREFIX "CAST(X'"
#define QD_TEXT_CAST_SUFFIX "' AS TEXT)"

/**
 * qd_text_format_from_name:
 * @name: "csv", "tsv", "json" or "jsonl"
 * @ret_format: (out): the format
 *
 * Returns: false when no format has this name
 */
bool qd_text_format_from_name(const char *name, QdTextFormat *ret_format);

/**
 * qd_text_format_get_name:
 *
 * Returns: (transfer none): the name, as in the property Formats
 */
const char *qd_text_format_get_name(QdTextFormat format);

/**
 * qd_text_format_get_content_type:
 *
 * Returns: (transfer none): the media type
 */
const char *qd_text_format_get_content_type(QdTextFormat format);

/**
 * qd_text_put_int64:
 * @p: room for QD_TEXT_NUMBER_BYTES
 *
 * Writes @value in decimal, without a NUL.
 *
 * Returns: the byte behind it
 */
char *qd_text_put_int64(char *p, int64_t value);

/**
 * qd_text_put_double:
 * @p: room for QD_TEXT_NUMBER_BYTES
 * @value: not a NaN
 *
 * Writes the first of 15, 16 and 17 significant digits that reads back as @value, always with a point or an exponent:
 * 1.0, 0.1, 1e+300, 9e999 for infinity. No NUL.
 *
 * Returns: the byte behind it
 */
char *qd_text_put_double(char *p, double value);

/**
 * qd_text_parse_number:
 * @text: bytes, which need no NUL behind them
 * @ret: (out): an INTEGER or FLOAT
 *
 * Reads a number in its canonical form only: "007", "1e5", "+1" and "1.50" are none.
 *
 * Returns: false when @text is not the canonical form of a number
 */
bool qd_text_parse_number(const char *text, size_t n_bytes, QwValue *ret);

/**
 * qd_text_span_utf8:
 * @text: bytes; NULs count as characters
 *
 * Returns: how many bytes at the start of @text are whole UTF-8 characters; @n_bytes when all are
 */
size_t qd_text_span_utf8(const char *text, size_t n_bytes);

/**
 * qd_text_is_dbus_string:
 * @text: bytes
 *
 * sd-bus refuses more than invalid UTF-8: NUL, and the non-characters U+FDD0–U+FDEF and U+xxFFFE, U+xxFFFF (-EINVAL, which
 * spoils the whole message).
 *
 * Returns: true when D-Bus can carry @text as a string
 */
bool qd_text_is_dbus_string(const char *text, size_t n_bytes);

/**
 * qd_text_append_lossy:
 * @out: gets a text that D-Bus can carry
 * @text: bytes
 *
 * Appends @text with U+FFFD in place of each byte that is not UTF-8, each NUL and each non-character.
 *
 * Returns: true when something was replaced
 */
bool qd_text_append_lossy(GString *out, const char *text, size_t n_bytes);

/**
 * qd_text_unique_names:
 * @names: @n_names names, in any bytes
 *
 * Makes names fit for the keys of an object: valid UTF-8, and a second "a" becomes "a_2".
 *
 * Returns: (transfer full): a NULL-terminated vector
 */
char **qd_text_unique_names(const char *const *names, guint n_names);
