/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Golden files: bytes in hexadecimal with comments, tests/data/wire/NAME.hex.
 *
 * Place: shared by the tests of this folder; tests/e2e/wire_reader.py reads the same files.
 * A token is two hex digits, or XX*N for N times the byte XX; '#' starts a comment.
 */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <string.h>

static inline void
golden_parse_line(GByteArray *bytes, char *line)
{
    g_auto(GStrv) tokens = NULL;
    char *comment = strchr(line, '#');

    if (comment != NULL)
        *comment = '\0';
    tokens = g_strsplit_set(line, " \t", -1);

    for (char **t = tokens; *t != NULL; t++) {
        guint64 times = 1;
        uint8_t byte;

        if (**t == '\0')
            continue;
        g_assert_true(g_ascii_isxdigit((*t)[0]) && g_ascii_isxdigit((*t)[1]));
        byte = (uint8_t) (g_ascii_xdigit_value((*t)[0]) * 16 + g_ascii_xdigit_value((*t)[1]));
        if ((*t)[2] == '*')
            times = g_ascii_strtoull(*t + 3, NULL, 10);
        else
            g_assert_cmpint((*t)[2], ==, '\0');
        for (guint64 i = 0; i < times; i++)
            g_byte_array_append(bytes, &byte, 1);
    }
}

/* The file's bytes; g_malloc() aligns them to 8 at least. */
static inline GByteArray *
golden_load(const char *name)
{
    const char *root = g_getenv("QUERYD_SOURCE_ROOT");
    g_autofree char *file = g_strconcat(name, ".hex", NULL);
    g_autofree char *path = g_build_filename(root != NULL ? root : ".", "tests", "data", "wire", file, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) lines = NULL;
    GByteArray *bytes = g_byte_array_new();

    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++)
        golden_parse_line(bytes, *line);

    g_assert_cmpuint(bytes->len, >, 0);
    return bytes;
}

static inline void
golden_assert_equal(const char *name, const uint8_t *data, size_t n_bytes)
{
    g_autoptr(GByteArray) golden = golden_load(name);

    g_assert_cmpmem(data, n_bytes, golden->data, golden->len);
}
