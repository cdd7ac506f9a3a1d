/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fields of csv and tsv become values, in place: no form is shorter than what it stands for.
 */
#include "daemon/format/text-row.h"

#include <string.h>

#include "client-lib/text/text-number.h"
#include "client-lib/text/text-utf8.h"
#include "client-lib/text/text-value.h"

/* A row's buffer that grew beyond this is not kept for the next row. */
#define KEPT_BYTES (1024u * 1024u)

void
qd_text_row_init(QdTextRow *self)
{
    *self = (QdTextRow){ .bytes = g_string_new(NULL), .values = g_array_new(FALSE, TRUE, sizeof(QwValue)) };
}

void
qd_text_row_clear(QdTextRow *self)
{
    g_string_free(self->bytes, TRUE);
    g_array_unref(self->values);
}

void
qd_text_row_reset(QdTextRow *self)
{
    if (self->bytes->allocated_len > KEPT_BYTES) {
        g_string_free(self->bytes, TRUE);
        self->bytes = g_string_new(NULL);
    }
    g_string_truncate(self->bytes, 0);
    g_array_set_size(self->values, 0);
    self->field_start = 0;
}

void
qd_text_row_set_bytes(QdTextRow *self, QwValue *value, QwType type, size_t start)
{
    *value = (QwValue){ .type = type };
    value->data = (const char *) (uintptr_t) start;
    value->n_bytes = (uint32_t) (self->bytes->len - start);
    g_string_append_c(self->bytes, '\0');
}

void
qd_text_row_seal(QdTextRow *self)
{
    for (guint i = 0; i < self->values->len; i++) {
        QwValue *value = &g_array_index(self->values, QwValue, i);

        if (value->type == QW_TYPE_NULL || qw_type_is_word(value->type))
            continue;
        value->data = self->bytes->str + (uintptr_t) value->data;
        if (value->tag != NULL)
            value->tag = self->bytes->str + (uintptr_t) value->tag;
    }
}

/* The field's decoded bytes are the first @n_bytes from its start. */
static void
add_bytes(QdTextRow *self, QwType type, size_t n_bytes)
{
    QwValue value;

    g_string_truncate(self->bytes, self->field_start + n_bytes);
    qd_text_row_set_bytes(self, &value, type, self->field_start);
    g_array_append_val(self->values, value);
    self->field_start = self->bytes->len;
}

/* A value without bytes. */
static void
add_word(QdTextRow *self, const QwValue *value)
{
    g_string_truncate(self->bytes, self->field_start);
    g_array_append_vals(self->values, value, 1);
}

/* Decodes @n_bytes hex digits to the field's start; false when they are none. */
static bool
decode_hex(char *target, const char *hex, size_t n_bytes)
{
    if (n_bytes % 2 != 0)
        return false;
    for (size_t i = 0; i < n_bytes; i++) {
        if (!g_ascii_isxdigit(hex[i]))
            return false;
    }
    for (size_t i = 0; i < n_bytes; i += 2)
        *target++ = (char) (g_ascii_xdigit_value(hex[i]) << 4 | g_ascii_xdigit_value(hex[i + 1]));
    return true;
}

/* PREFIX hex SUFFIX, all of the field. */
static bool
add_marked_hex(QdTextRow *self, const char *prefix, const char *suffix, QwType type)
{
    char *field = self->bytes->str + self->field_start;
    size_t n_bytes = self->bytes->len - self->field_start;
    size_t n_marks = strlen(prefix) + strlen(suffix);

    if (n_bytes < n_marks || memcmp(field, prefix, strlen(prefix)) != 0 ||
        memcmp(field + n_bytes - strlen(suffix), suffix, strlen(suffix)) != 0)
        return false;
    if (!decode_hex(field, field + strlen(prefix), n_bytes - n_marks))
        return false;

    add_bytes(self, type, (n_bytes - n_marks) / 2);
    return true;
}

static const char *
check_characters(const char *field, size_t n_bytes, size_t *ret_offset)
{
    const char *nul = n_bytes > 0 ? memchr(field, 0, n_bytes) : NULL;
    size_t good = qw_text_span_utf8(field, n_bytes);

    if (nul != NULL && (size_t) (nul - field) < good) {
        *ret_offset = (size_t) (nul - field);
        return "NUL byte in the text (is it UTF-16?)";
    }
    if (good < n_bytes) {
        *ret_offset = good;
        return "the text is not UTF-8";
    }

    return NULL;
}

const char *
qd_text_row_end_csv(QdTextRow *self, bool quoted, bool name, size_t *ret_offset)
{
    char *field = self->bytes->str + self->field_start;
    size_t n_bytes = self->bytes->len - self->field_start;
    const char *message = NULL;
    QwValue value = { .type = QW_TYPE_NULL };

    if (!quoted && !name) {
        if (n_bytes == 0 || qw_text_parse_number(field, n_bytes, &value)) {
            add_word(self, &value);
            return NULL;
        }
        if (field[0] == 'X' && add_marked_hex(self, "X'", "'", QW_TYPE_BLOB))
            return NULL;
        if (field[0] == 'C' && add_marked_hex(self, QW_TEXT_CAST_PREFIX, QW_TEXT_CAST_SUFFIX, QW_TYPE_TEXT))
            return NULL;
    }

    message = check_characters(field, n_bytes, ret_offset);
    if (message == NULL)
        add_bytes(self, QW_TYPE_TEXT, n_bytes);
    return message;
}

/* The field stands in quotes, and those within are doubled. Anything else that has quotes is meant literally. */
static bool
is_tsv_quoted(const char *field, size_t n_bytes)
{
    if (n_bytes < 2 || field[0] != '"' || field[n_bytes - 1] != '"')
        return false;

    for (size_t i = 1; i < n_bytes - 1; i++) {
        if (field[i] != '"')
            continue;
        if (i + 1 >= n_bytes - 1 || field[i + 1] != '"')
            return false;
        i++;
    }

    return true;
}

static bool
is_octal(const char *p)
{
    return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' && p[2] <= '7';
}

/* Decodes from @start to @end of the field to its beginning. */
static const char *
unescape(char *field, size_t start, size_t end, bool quoted, size_t *ret_n_bytes, size_t *ret_offset)
{
    static const char letters[] = "tnr\\";
    static const char meanings[] = "\t\n\r\\";
    size_t n = 0;

    for (size_t i = start; i < end; i++) {
        const char *letter = NULL;

        if (quoted && field[i] == '"')
            i++;
        if (field[i] != '\\') {
            field[n++] = field[i];
            continue;
        }
        if (i + 3 < end && is_octal(field + i + 1)) {
            field[n++] = (char) ((field[i + 1] - '0') << 6 | (field[i + 2] - '0') << 3 | (field[i + 3] - '0'));
            i += 3;
            continue;
        }
        letter = i + 1 < end ? memchr(letters, field[i + 1], 4) : NULL;
        if (letter == NULL) {
            *ret_offset = i;
            return "unknown escape; a backslash is written as \\\\";
        }
        field[n++] = meanings[letter - letters];
        i++;
    }

    *ret_n_bytes = n;
    return NULL;
}

const char *
qd_text_row_end_tsv(QdTextRow *self, bool name, size_t *ret_offset)
{
    char *field = self->bytes->str + self->field_start;
    size_t n_bytes = self->bytes->len - self->field_start;
    const char *message = check_characters(field, n_bytes, ret_offset);
    bool quoted = is_tsv_quoted(field, n_bytes);
    QwValue value = { .type = QW_TYPE_NULL };
    size_t n_decoded = 0;

    if (message != NULL)
        return message;
    if (!name) {
        if ((n_bytes == 2 && memcmp(field, "\\N", 2) == 0) || qw_text_parse_number(field, n_bytes, &value)) {
            add_word(self, &value);
            return NULL;
        }
        if (n_bytes >= 2 && memcmp(field, "\\x", 2) == 0) {
            *ret_offset = 0;
            return add_marked_hex(self, "\\x", "", QW_TYPE_BLOB) ? NULL : "a blob needs an even number of hex digits";
        }
    }

    message = unescape(field, quoted ? 1 : 0, quoted ? n_bytes - 1 : n_bytes, quoted, &n_decoded, ret_offset);
    if (message == NULL)
        add_bytes(self, QW_TYPE_TEXT, n_decoded);
    return message;
}
