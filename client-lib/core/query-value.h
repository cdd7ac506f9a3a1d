/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conversions of one value of a row: to C types, GValue and GVariant.
 *
 * Place: internal to libquery-client, for cursors and for rows of lists, which say the same of equal values.
 * Invariant: every type of value converts to every type, as the public getters describe it.
 */
#pragma once

#include <glib-object.h>

#include "client-lib/wire/wire-value.h"

gint64 query_value_to_int64(const QwValue *value);
double query_value_to_double(const QwValue *value);
gboolean query_value_to_boolean(const QwValue *value);
/* (transfer full) (nullable): NULL for what is no time */
GDateTime *query_value_to_date_time(const QwValue *value);
/* Initializes @ret_value, which is not initialized. */
void query_value_to_gvalue(const QwValue *value, GValue *ret_value);
/* (transfer full): as query_connection_query() takes parameters */
GVariant *query_value_to_variant(const QwValue *value);
/* @text: of QW_TEXT_NUMBER_BYTES + 1 bytes. @value: INTEGER or FLOAT; with the fewest digits that read back the same. */
void query_value_write_number(const QwValue *value, char *text);
