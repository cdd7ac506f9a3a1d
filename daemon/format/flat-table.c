/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FlatBuffers: https://flatbuffers.dev/internals/
 */
#include "daemon/format/flat-table.h"

#include <string.h>

#define FIELDS_MAX 8u

static void
pad(GByteArray *out, guint alignment)
{
    static const guint8 zeros[8];

    g_byte_array_append(out, zeros, (alignment - out->len % alignment) % alignment);
}

static void
put_at(GByteArray *out, guint place, gint64 value, guint size)
{
    gint64 bytes = GINT64_TO_LE(value);

    memcpy(out->data + place, &bytes, size);
}

static void
put(GByteArray *out, gint64 value, guint size)
{
    g_byte_array_set_size(out, out->len + size);
    put_at(out, out->len - size, value, size);
}

/* The largest first, after the offset of the list of fields: no bytes between them but after that. */
static guint
place_fields(const QdFlatField *fields, guint n_fields, guint *offsets)
{
    guint end = 4;

    for (guint size = 8; size > 0; size /= 2) {
        for (guint i = 0; i < n_fields; i++) {
            if (fields[i].size != size)
                continue;
            end = (end + size - 1) / size * size;
            offsets[i] = end;
            end += size;
        }
    }
    return end;
}

guint
qd_flat_put_table(GByteArray *out, const QdFlatField *fields, guint n_fields, guint *ret_places)
{
    guint offsets[FIELDS_MAX] = { 0 };
    guint n_bytes = place_fields(fields, n_fields, offsets);
    guint list;
    guint table;

    pad(out, 2);
    list = out->len;
    put(out, 4 + 2 * (gint64) n_fields, 2);
    put(out, n_bytes, 2);
    for (guint i = 0; i < n_fields; i++)
        put(out, offsets[i], 2);
    pad(out, 8);
    table = out->len;
    g_byte_array_set_size(out, table + n_bytes);
    memset(out->data + table, 0, n_bytes);
    put_at(out, table, (gint64) table - list, 4);
    for (guint i = 0; i < n_fields; i++) {
        put_at(out, table + offsets[i], fields[i].value, fields[i].size);
        if (ret_places != NULL)
            ret_places[i] = table + offsets[i];
    }
    return table;
}

void
qd_flat_point(GByteArray *out, guint place, guint target)
{
    put_at(out, place, (gint64) target - place, 4);
}

guint
qd_flat_put_string(GByteArray *out, const char *text)
{
    guint place;

    pad(out, 4);
    place = out->len;
    put(out, (gint64) strlen(text), 4);
    g_byte_array_append(out, (const guint8 *) text, (guint) strlen(text) + 1);
    return place;
}

guint
qd_flat_put_offsets(GByteArray *out, guint n)
{
    guint place;

    pad(out, 4);
    place = out->len;
    put(out, n, 4);
    for (guint i = 0; i < n; i++)
        put(out, 0, 4);
    return place;
}

guint
qd_flat_put_structs(GByteArray *out, const gint64 *words, guint n, guint n_words)
{
    guint place;

    pad(out, 8);
    put(out, 0, 4); /* the count stands right before the first struct */
    place = out->len;
    put(out, n, 4);
    for (guint i = 0; i < n * n_words; i++)
        put(out, words[i], 8);
    return place;
}
