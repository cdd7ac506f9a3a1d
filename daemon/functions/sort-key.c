/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sort keys: a byte for the class, then big-endian words whose order as unsigned numbers is the order of the values.
 */
#include "daemon/functions/sort-key.h"

#include <math.h>
#include <string.h>

#define PIECE_BYTES 1048576
#define PICOS_PER_MONTH (G_GINT64_CONSTANT(2629746) * (__int128) QD_PICOS_PER_SECOND) /* of 400 years, the average */

static void
put_byte(QdBytes *out, guint value)
{
    guint8 byte = (guint8) value;

    (void) qd_bytes_append(out, &byte, 1);
}

static void
put_word(QdBytes *out, guint64 word)
{
    word = GUINT64_TO_BE(word);
    (void) qd_bytes_append(out, &word, sizeof word);
}

static void
put_int128(QdBytes *out, __int128 value)
{
    unsigned __int128 biased = (unsigned __int128) value ^ (unsigned __int128) 1 << 127;

    put_word(out, (guint64) (biased >> 64));
    put_word(out, (guint64) biased);
}

/* A piece of a text: a zero within it is 00 FF. FALSE: the query has ended. */
static gboolean
put_piece(QdBytes *out, const char *text, gsize n_bytes)
{
    guint8 *p;

    if (memchr(text, '\0', n_bytes) == NULL)
        return qd_bytes_append(out, text, n_bytes);
    if (!qd_bytes_reserve(out, 2 * n_bytes))
        return FALSE;
    p = out->data + out->n;
    for (gsize i = 0; i < n_bytes; i++) {
        *p++ = (guint8) text[i];
        if (text[i] == '\0')
            *p++ = 0xff;
    }
    out->n = (gsize) (p - out->data);
    return TRUE;
}

static gboolean
put_piece_in_lower_case(QdBytes *out, const char *text, gsize n_bytes)
{
    gsize n_before = out->n;

    if (!qd_bytes_append(out, text, n_bytes))
        return FALSE;
    for (gsize i = n_before; i < out->n; i++)
        out->data[i] = (guint8) g_ascii_tolower((char) out->data[i]);
    return TRUE;
}

/* FALSE: the execution has to stop. */
static gboolean
put_pieces(QdEvaluation *ev, QdBytes *out, const char *text, gsize n_bytes, gboolean (*put)(QdBytes *, const char *, gsize))
{
    while (n_bytes > PIECE_BYTES) {
        if (qd_evaluation_is_interrupted(ev) || !put(out, text, PIECE_BYTES))
            return FALSE;
        text += PIECE_BYTES;
        n_bytes -= PIECE_BYTES;
    }
    return n_bytes == 0 || put(out, text, n_bytes);
}

/* Text may hold U+0000, so its end is two zeros. */
static gboolean
put_text(QdEvaluation *ev, QdBytes *out, const char *text, gsize n_bytes)
{
    static const guint8 end[] = { 0, 0 };

    return put_pieces(ev, out, text, n_bytes, put_piece) && qd_bytes_append(out, end, sizeof end);
}

static void
put_double(QdBytes *out, double value)
{
    guint64 word;

    if (value == 0)
        value = 0; /* -0 */
    memcpy(&word, &value, sizeof word);
    put_word(out, word >> 63 ? ~word : word | G_GUINT64_CONSTANT(1) << 63);
}

/* The nearest double first; numbers that share one are ordered by whole part and fraction. NaN is below all. */
static void
put_number(QdBytes *out, const QdNumber *number)
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
put_date_time(QdBytes *out, const QdDateTime *value)
{
    put_byte(out, value->type == QD_XSD_DATE_TIME_STAMP ? QD_XSD_DATE_TIME : value->type);
    put_int128(out, qd_date_time_get_utc(value));
    put_byte(out, value->zone_minutes != QD_DATE_TIME_NO_ZONE);
}

/* The same time, however long a month is, then the months. */
static void
put_duration(QdBytes *out, const QdDuration *value)
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
qd_sort_key_append(QdEvaluation *ev, QdValue *value, QdBytes *out)
{
    if (value->kind == QD_VALUE_ERROR)
        return FALSE;

    put_byte(out, classes[value->kind]);
    switch (value->kind) {
    case QD_VALUE_NUMBER:
        put_number(out, &value->number);
        return ev->error == NULL;
    case QD_VALUE_BOOLEAN:
        put_byte(out, value->boolean ? 1 : 0);
        return ev->error == NULL;
    case QD_VALUE_DATE_TIME:
        put_date_time(out, &value->date_time);
        return ev->error == NULL;
    case QD_VALUE_DURATION:
        put_duration(out, &value->duration);
        return ev->error == NULL;
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
    return (value->kind != QD_VALUE_OTHER || put_text(ev, out, value->term.qualifier, value->term.n_qualifier)) &&
           put_text(ev, out, value->term.lexical, value->term.n_lexical) &&
           (value->kind != QD_VALUE_LANG_STRING ||
            put_pieces(ev, out, value->term.qualifier, value->term.n_qualifier, put_piece_in_lower_case));
}

/* "=" compares numbers as the wider of both types (XPath 2.0, B.1), of which xsd:float tells the fewest apart. */
gboolean
qd_equality_key_append(QdEvaluation *ev, QdValue *value, QdBytes *out)
{
    if (value->kind == QD_VALUE_NUMBER) {
        put_byte(out, classes[value->kind]);
        put_double(out, (float) qd_number_to_double(&value->number));
        return ev->error == NULL;
    }
    if (value->kind != QD_VALUE_BNODE)
        return qd_sort_key_append(ev, value, out);
    put_byte(out, classes[value->kind]);
    return qd_value_get_term(ev, value) && put_text(ev, out, value->term.lexical, value->term.n_lexical);
}
