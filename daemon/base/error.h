/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GError in the engine: domain QD_ERROR, codes QwError, and the place in a query's text.
 *
 * Place: room base. Messages stand alone: lower case, no full stop, the object in quotes, the limit with its value.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-error.h"

#define QD_ERROR (qd_error_quark())
GQuark qd_error_quark(void);

/* qd_error_set: @error (nullable) gets @code and the printf-style message. */
void qd_error_set(GError **error, QwError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* qd_error_set_errno: as above; appends ": " and strerror; the code follows from @errno_value (ENOSPC → DiskFull, …). */
void qd_error_set_errno(GError **error, int errno_value, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* qd_error_set_at: an error in a text, at byte @offset of @text; the message starts with "line:column: ". */
void qd_error_set_at(GError **error, QwError code, const char *text, size_t n_bytes, size_t offset, const char *format, ...)
    G_GNUC_PRINTF(6, 7);

/* qd_error_add_detail: to an error of the domain QD_ERROR (others are left as they are), beside its message. A key may come again.
 */
void qd_error_add_detail(GError *error, const char *key, const char *value);

/* qd_error_get_details: (transfer none) (nullable): key, value, key, value, …, NULL. Copies of an error keep them. */
char **qd_error_get_details(const GError *error);

/* qd_error_get_code: the QwError of any GError; a foreign domain is Internal. */
QwError qd_error_get_code(const GError *error);

/* qd_error_get_place: line and column (from 1, in code points), both 0 when the error names no place. */
void qd_error_get_place(const GError *error, guint *ret_line, guint *ret_column);
