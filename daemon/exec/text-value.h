/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How single values are written in csv, tsv and json, and the output buffer under it.
 *
 * Place: layer 4, pure; used by text-writer.c. A FLOAT must not be a NaN.
 * Invariant: @out has room for a NUL behind its length, but only a finished row writes it.
 */
#pragma once

#include <glib.h>
#include <string.h>

#include "client-lib/wire/wire-value.h"

/* Builds the table of byte classes; before anything else here, any number of times, in any thread. */
void qd_text_value_init(void);

/* Room for @n_bytes and a NUL at the end of @out. */
static inline char *
qd_text_room(GString *out, size_t n_bytes)
{
    if (G_UNLIKELY(out->allocated_len - out->len <= n_bytes)) {
        gsize len = out->len;

        g_string_set_size(out, len + n_bytes);
        out->len = len;
    }
    return out->str + out->len;
}

static inline void
qd_text_commit(GString *out, const char *end)
{
    out->len = (gsize) (end - out->str);
}

static inline void
qd_text_put_bytes(GString *out, const char *data, size_t n_bytes)
{
    char *p = qd_text_room(out, n_bytes);

    if (n_bytes > 0)
        memcpy(p, data, n_bytes);
    out->len += n_bytes;
}

static inline void
qd_text_put_char(GString *out, char c)
{
    *qd_text_room(out, 1) = c;
    out->len++;
}

/* A value as one field; see docs/formats.md. */
void qd_text_put_csv(GString *out, const QwValue *value);
void qd_text_put_tsv(GString *out, const QwValue *value);
void qd_text_put_json(GString *out, const QwValue *value);

/* A text as one field. @data has a NUL behind its @n_bytes. */
void qd_text_put_csv_text(GString *out, const char *data, size_t n_bytes);
void qd_text_put_tsv_text(GString *out, const char *data, size_t n_bytes);
void qd_text_put_json_text(GString *out, const char *data, size_t n_bytes);
