/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one way to write a number as text.
 *
 * Place: room text, pure functions on bytes; docs/formats.md is the description for users.
 * Invariant: qw_text_parse_number() accepts exactly what qw_text_put_int64() and qw_text_put_double() write, so that
 * a text that is not of that form can stand unmarked beside numbers.
 */
#pragma once

#include "client-lib/wire/wire-value.h"

/* Room that the two number writers need, without a NUL. */
#define QW_TEXT_NUMBER_BYTES 40

/**
 * qw_text_put_int64:
 * @p: room for QW_TEXT_NUMBER_BYTES
 *
 * Writes @value in decimal, without a NUL.
 *
 * Returns: the byte after it
 */
char *qw_text_put_int64(char *p, int64_t value);

/**
 * qw_text_put_double:
 * @p: room for QW_TEXT_NUMBER_BYTES
 * @value: not a NaN
 *
 * Writes the first of 15, 16 and 17 significant digits that reads back as @value, always with a point or an exponent. 1.0, 0.1,
 * 1e+300; infinity is 9e999. No NUL.
 *
 * Returns: the byte after it
 */
char *qw_text_put_double(char *p, double value);

/**
 * qw_text_parse_number:
 * @text: bytes, not necessarily NUL-terminated
 * @ret: (out): an INTEGER or FLOAT
 *
 * Reads a number in its canonical form only: "007", "1e5", "+1" and "1.50" are none.
 *
 * Returns: false when @text is not the canonical form of a number
 */
bool qw_text_parse_number(const char *text, size_t n_bytes, QwValue *ret);
