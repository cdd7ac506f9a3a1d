/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first characters of a field tell its type. A quoted one is a text; the marks of blobs and unusual texts begin as no
 * number does.
 */
#include "tests/sql/csv.h"

#include <string.h>

#include "client-lib/text/text-number.h"

#define TEXT_MARK "CAST(X'"

typedef struct Field {
    GString *text; /* (owned) */
    gboolean is_quoted;
    gboolean is_last; /* of its row */
} Field;

/* The field that begins at @at. Returns: where the next one begins */
static const char *
take_field(const char *at, Field *field)
{
    field->text = g_string_new(NULL);
    field->is_quoted = *at == '"';
    if (field->is_quoted) {
        for (at++; *at != '\0' && (*at != '"' || at[1] == '"'); at++) {
            g_string_append_c(field->text, *at);
            at += *at == '"' ? 1 : 0;
        }
        g_assert_cmpint(*at, ==, '"');
        at++;
    } else {
        gsize n_bytes = strcspn(at, ",\n");

        g_string_append_len(field->text, at, (gssize) n_bytes);
        at += n_bytes;
    }
    g_assert_true(*at == ',' || *at == '\n');
    field->is_last = *at == '\n';
    return at + 1;
}

/* What stands between quotes from @hex on. */
static GByteArray *
read_hex(const char *hex)
{
    GByteArray *bytes = g_byte_array_new();

    for (; *hex != '\''; hex += 2) {
        guint8 byte;

        g_assert_true(g_ascii_isxdigit(hex[0]) && g_ascii_isxdigit(hex[1]));
        byte = (guint8) (g_ascii_xdigit_value(hex[0]) * 16 + g_ascii_xdigit_value(hex[1]));
        g_byte_array_append(bytes, &byte, 1);
    }
    return bytes;
}

static void
put_number_or_text(GString *row, const GString *text)
{
    QwValue value;

    if (!qw_text_parse_number(text->str, text->len, &value))
        outcome_put_text(row, text->str, text->len);
    else if (value.type == QW_TYPE_INTEGER)
        outcome_put_int64(row, value.integer);
    else
        outcome_put_double(row, value.real);
}

static void
put_field(GString *row, const Field *field)
{
    gboolean is_text = g_str_has_prefix(field->text->str, TEXT_MARK);

    if (field->is_quoted)
        outcome_put_text(row, field->text->str, field->text->len);
    else if (field->text->len == 0)
        outcome_put_null(row);
    else if (is_text || g_str_has_prefix(field->text->str, "X'")) {
        g_autoptr(GByteArray) bytes = read_hex(strchr(field->text->str, '\'') + 1);

        if (is_text)
            outcome_put_text(row, (const char *) bytes->data, bytes->len);
        else
            outcome_put_blob(row, bytes->data, bytes->len);
    } else
        put_number_or_text(row, field->text);
}

void
csv_take(Outcome *outcome, const char *text)
{
    for (gboolean is_header = TRUE; *text != '\0'; is_header = FALSE) {
        GString *row = is_header ? NULL : g_string_new(NULL);
        Field field = { 0 };

        while (!field.is_last) {
            text = take_field(text, &field);
            if (is_header)
                outcome_add_column(outcome, field.text->str, NULL);
            else
                put_field(row, &field);
            (void) g_string_free(field.text, TRUE);
        }
        if (!is_header)
            outcome_add_row(outcome, row);
    }
}
