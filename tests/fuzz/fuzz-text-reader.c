/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: the readers of csv, tsv, json and jsonl.
 *
 * The first byte chooses format, header (json: whether later keys are columns) and cut. Each row that is read is written as csv and
 * read again: it must be the same.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "daemon/format/text-reader.h"
#include "daemon/format/text-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_same(const QwValue *a, const QwValue *b)
{
    if (a->type == QW_TYPE_LITERAL_LANG || a->type == QW_TYPE_LITERAL_TYPED)
        return true; /* csv keeps the lexical form only */
    if (a->type != b->type)
        return false;
    if (qw_type_is_word(a->type))
        return memcmp(&a->integer, &b->integer, sizeof a->integer) == 0;
    return a->type == QW_TYPE_NULL || (a->n_bytes == b->n_bytes && memcmp(a->data, b->data, a->n_bytes) == 0);
}

static void
check_row(const QwValue *values, guint n_values, const QdLimits *limits)
{
    g_autofree const char **names = g_new(const char *, n_values + 1);
    g_autoptr(QdTextReader) reader = qd_text_reader_new(QD_TEXT_FORMAT_CSV, FALSE, NULL, limits);
    g_autoptr(QdTextWriter) writer = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    const QwValue *again = NULL;
    guint n_again = 0;

    for (guint i = 0; i < n_values; i++)
        names[i] = "";
    writer = qd_text_writer_new(QD_TEXT_FORMAT_CSV, names, n_values, FALSE);
    qd_text_writer_put_values(writer, values, text);
    g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
    qd_text_reader_feed(reader, text->str, text->len);
    g_assert_cmpint(qd_text_reader_next(reader, &again, &n_again, NULL), ==, QD_TEXT_READ_ROW);
    g_assert_cmpuint(n_again, ==, n_values);
    for (guint i = 0; i < n_values; i++)
        g_assert_true(is_same(&values[i], &again[i]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(QdTextReader) reader = NULL;
    const QwValue *values = NULL;
    QdTextReadResult result = QD_TEXT_READ_MORE;
    guint n_values = 0;
    size_t piece = 0;
    QdLimits limits;

    if (size == 0)
        return 0;

    qd_limits_init(&limits);
    limits.values[QD_LIMIT_COLUMNS] = 50;
    limits.values[QD_LIMIT_SQL_DEPTH] = 10;
    reader = qd_text_reader_new((QdTextFormat) (data[0] & 3), (data[0] & 4) != 0, NULL, &limits);
    if ((data[0] & 6) == 6)
        qd_text_reader_set_growing(reader);
    piece = (size_t) (data[0] >> 3) + 1;
    data++;
    size--;
    while (result != QD_TEXT_READ_END && result != QD_TEXT_READ_ERROR) {
        result = qd_text_reader_next(reader, &values, &n_values, NULL);
        if (result == QD_TEXT_READ_ROW && qd_text_reader_get_column_names(reader) != NULL)
            g_assert_cmpuint(g_strv_length((char **) qd_text_reader_get_column_names(reader)), >=, n_values);
        if (result == QD_TEXT_READ_ROW && n_values > 0)
            check_row(values, n_values, &limits);
        if (result == QD_TEXT_READ_MORE) {
            size_t n = MIN(piece, size);

            qd_text_reader_feed(reader, (const char *) data, n);
            data += n;
            size -= n;
        }
    }

    return 0;
}
