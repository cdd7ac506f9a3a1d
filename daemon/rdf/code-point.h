/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code points of UTF-8 text, and the character classes that Turtle and SPARQL share (PN_CHARS and its kin).
 *
 * Place: room rdf. Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#pragma once

#include <glib.h>

/* Decodes one code point; returns its bytes, 0 when @n_bytes is 0 or the bytes are no UTF-8 (also: cut off). */
guint qd_code_point_decode(const char *text, gsize n_bytes, gunichar *ret_code_point);

/* True when all of @text is UTF-8 (U+0000 included); else @ret_offset (nullable) is the first bad byte. */
gboolean qd_code_point_check(const char *text, gsize n_bytes, gsize *ret_offset);

/* PN_CHARS_BASE of the grammars (letters). */
gboolean qd_code_point_is_pn_base(gunichar c);

/* PN_CHARS_U | [0-9]: what may begin a blank node's label or a variable's name. */
gboolean qd_code_point_is_name_start(gunichar c);

/* PN_CHARS. */
gboolean qd_code_point_is_pn(gunichar c);

/* Value of @n_digits hexadecimal digits at @text; FALSE when one is no digit or the value is no code point that UTF-8 may have. */
gboolean qd_code_point_parse_hex(const char *text, guint n_digits, gunichar *ret_code_point);
