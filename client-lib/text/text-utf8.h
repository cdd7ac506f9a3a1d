/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that may hold any bytes, where only UTF-8 may stand.
 *
 * Place: room text, pure functions on bytes.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * qw_text_span_utf8:
 * @text: bytes; NULs count as characters
 *
 * Returns: how many bytes at the start of @text are whole UTF-8 characters; @n_bytes when all are
 */
size_t qw_text_span_utf8(const char *text, size_t n_bytes);

/**
 * qw_text_append_lossy:
 * @out: gets a text that D-Bus can carry
 * @text: bytes
 *
 * Appends @text with U+FFFD in place of each byte that is not UTF-8, each NUL and each non-character. sd-bus refuses these
 * (U+FDD0–U+FDEF, U+xxFFFE, U+xxFFFF) with -EINVAL, which spoils the whole message.
 *
 * Returns: true when something was replaced
 */
bool qw_text_append_lossy(GString *out, const char *text, size_t n_bytes);

/**
 * qw_text_unique_names:
 * @names: @n_names names, in any bytes
 *
 * Makes names fit for the keys of an object: valid UTF-8, and a second "a" becomes "a_2".
 *
 * Returns: (transfer full): a NULL-terminated vector
 */
char **qw_text_unique_names(const char *const *names, guint n_names);
