/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sort keys: a byte for the class, then big-endian words whose order as unsigned numbers is the order of the values.
 */
#include "daemon/functions/sort-key.h"

#include <math.h>
#include <string.h>

#define PICOS_PER_MONTH (G_GINT64_CONSTANT(2629746) * (__int128) QD_PICOS_PER_SECOND) /* of 400 years, the average */

static void
put_byte(GByteArray *out, guint value)
{
    guint8 byte = (guint8) value;

    g_byte_array_append(out, &byte, 1);
}

static void
put_word(GByteArray *out, guint64 word)
{
    word = GUINT64_TO_BE(word);
    g_byte_array_append(out, (const guint8 *) &word, sizeof word);
}

static void
put_int128(GByteArray *out, __int128 value)
{
    unsigned __int128 biased = (unsigned __int128) value ^ (unsigned __int128) 1 << 127;

    put_word(out, (guint64) (biased >> 64));
    put_word(out, (guint64) biased);
}

/* Text may hold U+0000, so its end is two zeros and a zero within it is 00 FF. */
static void
put_text(GByteArray *out, const char *text, gsize n_bytes)
{
    static const guint8 zero[] = { 0, 0xff };
    static const guint8 end[] = { 0, 0 };

    while (n_bytes > 0) {
        gsize n = strnlen(text, n_bytes);

        g_byte_array_append(out, (const guint8 *) text, (guint) n);
        if (n == n_bytes)
            break;
        g_byte_array_append(out, zero, sizeof zero);
        text += n + 1;
        n_bytes -= n + 1;
    }
    g_byte_array_append(out, end, sizeof end);
}

static void
put_double(GByteArray *out, double value)
{
    guint64 word;

    if (value == 0)
        value = 0; /* -0 */
    memcpy(&word, &value, sizeof word);
    put_word(out, word >> 63 ? ~word : word | G_GUINT64_CONSTANT(1) << 63);
}

/* The nearest double first; numbers that share one are ordered by whole part and fraction. NaN is below all. */
static void
put_number(GByteArray *out, const QdNumber *number)
{
    gboolean real = number->type == QD_XSD_FLOAT || number->type == QD_XSD_DOUBLE;
    double value = qd_number_to_double(number);
    QdDecimal exact = { .digits = 0 };
    QdDecimal whole;

    if (isnan(value)) {
        put_word(out, 0);
        return;
    }
    put_double(out, value);
    if (!real)
        exact = number->decimal;
    else if (!qd_decimal_from_double(value, &exact))
        return;

    whole = qd_decimal_round(&exact, QD_DECIMAL_FLOOR);
    put_int128(out, whole.digits);
    if (!qd_decimal_subtract(&exact, &whole, &exact))
        return;
    while (exact.digits != 0 && exact.scale < QD_DECIMAL_DIGITS_MAX) {
        exact.digits *= 10;
        exact.scale++;
    }
    put_int128(out, exact.digits);
}

static void
put_date_time(GByteArray *out, const QdDateTime *value)
{
    put_byte(out, value->type == QD_XSD_DATE_TIME_STAMP ? QD_XSD_DATE_TIME : value->type);
    put_int128(out, qd_date_time_get_utc(value));
    put_byte(out, value->zone_minutes != QD_DATE_TIME_NO_ZONE);
}

/* The same time, however long a month is, then the months. */
static void
put_duration(GByteArray *out, const QdDuration *value)
{
    put_int128(out, value->months * PICOS_PER_MONTH + value->picos);
    put_word(out, (guint64) value->months ^ G_GUINT64_CONSTANT(1) << 63);
}

/* First byte of a key. */
static const guint8 classes[] = {
    [QD_VALUE_BNODE] = 1,    [QD_VALUE_IRI] = 2,    [QD_VALUE_NUMBER] = 3,      [QD_VALUE_BOOLEAN] = 4, [QD_VALUE_DATE_TIME] = 5,
    [QD_VALUE_DURATION] = 6, [QD_VALUE_STRING] = 7, [QD_VALUE_LANG_STRING] = 7, [QD_VALUE_OTHER] = 8,
};

gboolean
qd_sort_key_append(QdEvaluation *ev, QdValue *value, GByteArray *out)
{
    if (value->kind == QD_VALUE_ERROR)
        return FALSE;

    put_byte(out, classes[value->kind]);
    switch (value->kind) {
    case QD_VALUE_NUMBER:
        put_number(out, &value->number);
        return TRUE;
    case QD_VALUE_BOOLEAN:
        put_byte(out, value->boolean ? 1 : 0);
        return TRUE;
    case QD_VALUE_DATE_TIME:
        put_date_time(out, &value->date_time);
        return TRUE;
    case QD_VALUE_DURATION:
        put_duration(out, &value->duration);
        return TRUE;
    case QD_VALUE_BNODE:
        put_word(out, (guint64) value->id); /* 0 when it came by its label */
        break;
    case QD_VALUE_IRI:
    case QD_VALUE_STRING:
    case QD_VALUE_LANG_STRING:
    case QD_VALUE_OTHER:
    case QD_VALUE_ERROR:
        break;
    }

    if (!qd_value_get_term(ev, value))
        return FALSE;
    if (value->kind == QD_VALUE_OTHER)
        put_text(out, value->term.qualifier, value->term.n_qualifier);
    put_text(out, value->term.lexical, value->term.n_lexical);
    if (value->kind == QD_VALUE_LANG_STRING)
        for (gsize i = 0; i < value->term.n_qualifier; i++)
            put_byte(out, (guchar) g_ascii_tolower(value->term.qualifier[i]));
    return TRUE;
}
