/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON (RFC 8259) from bytes that come piece by piece: values as trees, arrays and objects at the top also item by item.
 *
 * Place: room jsonld; untrusted input. A tree is bounded by the limits rdf_depth and jsonld_record_bytes, a text by value_bytes.
 * Errors are SYNTAX, TOO_COMPLEX or TOO_BIG with "line:column: " in front, and what the reading function says.
 */
#pragma once

#include "daemon/jsonld/json-value.h"
#include "daemon/rdf/rdf-reading.h"

typedef struct QdJsonParser QdJsonParser;

/* @limits: borrowed */
QdJsonParser *qd_json_parser_new(QdRdfReadFunc read_func, gpointer data, const QdLimits *limits);
QdJsonParser *qd_json_parser_free(QdJsonParser *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdJsonParser, qd_json_parser_free)

/* The next character that is no white space, which is not taken; -1 at the end of the input. */
gboolean qd_json_parser_peek(QdJsonParser *self, int *ret_character, GError **error);

/* Takes @character, or fails. */
gboolean qd_json_parser_expect(QdJsonParser *self, char character, GError **error);

/* After an item or member: takes a comma, or @close, the end of the array or object. */
gboolean qd_json_parser_next(QdJsonParser *self, char close, gboolean *ret_is_end, GError **error);

/* A member's name and the colon; in @arena. */
gboolean qd_json_parser_name(QdJsonParser *self, QdJsonArena *arena, const char **ret_name, GError **error);

/* @name: (nullable): of the member that the value belongs to. */
gboolean qd_json_parser_value(QdJsonParser *self, QdJsonArena *arena, const char *name, QdJson **ret_value, GError **error);

/* Nothing but white space may follow. */
gboolean qd_json_parser_end(QdJsonParser *self, GError **error);

void qd_json_parser_get_place(const QdJsonParser *self, guint *ret_line, guint *ret_column);

/* A whole text. */
gboolean qd_json_parse(const char *text, gsize n_bytes, QdJsonArena *arena, const QdLimits *limits, QdJson **ret_value,
                       GError **error);
