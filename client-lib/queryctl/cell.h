/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of a cursor, ready to be written in a text format (client-lib/text) or for eyes.
 *
 * Place: layer B. Invariant: a value from a cursor is valid until the cursor's next row.
 */
#pragma once

#include <query-client.h>

#include "client-lib/wire/wire-value.h"

/* The current row's value in @column; a NaN is NULL. */
void qctl_cell_init(QwValue *self, QueryCursor *cursor, guint column);
void qctl_cell_init_int64(QwValue *self, gint64 value);
/* @text: (nullable): borrowed; NULL is NULL */
void qctl_cell_init_text(QwValue *self, const char *text);

/**
 * qctl_cell_put_plain:
 * @max_characters: texts are cut after so many, blobs after half as many bytes
 *
 * Appends the value for eyes: one line, no control characters, valid UTF-8. NULL is nothing.
 */
void qctl_cell_put_plain(const QwValue *self, guint max_characters, GString *out);

/**
 * qctl_number_parse:
 * @text: as given on a command line
 *
 * Returns: INTEGER or FLOAT with @ret_integer or @ret_real set when all of @text is such a number, else TEXT
 */
QwType qctl_number_parse(const char *text, gint64 *ret_integer, double *ret_real);
