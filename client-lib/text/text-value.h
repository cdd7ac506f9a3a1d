/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How single values are written in csv, tsv and json, and the output buffer under it.
 *
 * Place: room text, pure: the daemon writes exports with it, queryctl rows. A FLOAT must not be a NaN.
 * Invariant: @out has room for a NUL after its length, but only a finished row writes it.
 */
#pragma once

#include <glib.h>
#include <string.h>

#include "client-lib/wire/wire-value.h"

/* How csv says "this text is not UTF-8"; it is the SQL expression for it. */
#define QW_TEXT_CAST_PREFIX "CAST(X'"
#define QW_TEXT_CAST_SUFFIX "' AS TEXT)"

/* Room for @n_bytes and a NUL at the end of @out. */
static inline char *
qw_text_room(GString *out, size_t n_bytes)
{
    if (G_UNLIKELY(out->allocated_len - out->len <= n_bytes)) {
        gsize len = out->len;

        g_string_set_size(out, len + n_bytes);
        out->len = len;
    }
    return out->str + out->len;
}

static inline void
qw_text_commit(GString *out, const char *end)
{
    out->len = (gsize) (end - out->str);
}

static inline void
qw_text_put_bytes(GString *out, const char *data, size_t n_bytes)
{
    char *p = qw_text_room(out, n_bytes);

    if (n_bytes > 0)
        memcpy(p, data, n_bytes);
    out->len += n_bytes;
}

static inline void
qw_text_put_char(GString *out, char c)
{
    *qw_text_room(out, 1) = c;
    out->len++;
}

/* A value as one field; see docs/formats.md. */
void qw_text_put_csv(GString *out, const QwValue *value);
void qw_text_put_tsv(GString *out, const QwValue *value);
void qw_text_put_json(GString *out, const QwValue *value);

/* A column's name as a field of the header. */
void qw_text_put_csv_name(GString *out, const char *name);
void qw_text_put_tsv_name(GString *out, const char *name);

/* A text as one field. @data has a NUL after its @n_bytes. */
void qw_text_put_json_text(GString *out, const char *data, size_t n_bytes);
