/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which lexical forms live in line, and how they are made again.
 *
 * Both directions accept exactly the same set; a property test holds them together.
 */
#include "daemon/rdf/term-id.h"

#include <string.h>

#include "daemon/rdf/xsd-calendar.h"

#define YEAR_MIN 1400
#define YEAR_MAX 2539                              /* of 2540 the last weeks have no room */
#define DECIMAL_BOUND (G_GINT64_CONSTANT(1) << 54) /* of number · 10^6 */
#define ZONE_BIAS 1024
#define ZONE_BITS 11

/* The integer types, by tag. */
static const struct {
    QdTermTag tag;
    const char *name;
    gint64 min;
    gint64 max;
} integer_types[] = {
    { QD_TAG_INTEGER, "integer", QD_TERM_ID_PAYLOAD_MIN + 1, QD_TERM_ID_PAYLOAD_MAX },
    { QD_TAG_INT, "int", G_MININT32, G_MAXINT32 },
    { QD_TAG_LONG, "long", QD_TERM_ID_PAYLOAD_MIN + 1, QD_TERM_ID_PAYLOAD_MAX },
    { QD_TAG_SHORT, "short", G_MININT16, G_MAXINT16 },
    { QD_TAG_NON_NEGATIVE_INTEGER, "nonNegativeInteger", 0, QD_TERM_ID_PAYLOAD_MAX },
    { QD_TAG_POSITIVE_INTEGER, "positiveInteger", 1, QD_TERM_ID_PAYLOAD_MAX },
};

static const gint64 powers_of_ten[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };

typedef struct Scanner {
    const char *p;
    const char *end;
} Scanner;

static gboolean
take_char(Scanner *scanner, char c)
{
    if (scanner->p >= scanner->end || *scanner->p != c)
        return FALSE;

    scanner->p++;
    return TRUE;
}

/* Exactly @n digits; -1 when there are fewer. */
static gint64
take_digits(Scanner *scanner, guint n)
{
    gint64 value = 0;

    if (scanner->end - scanner->p < (gssize) n)
        return -1;
    for (guint i = 0; i < n; i++) {
        if (!g_ascii_isdigit(scanner->p[i]))
            return -1;
        value = value * 10 + (scanner->p[i] - '0');
    }
    scanner->p += n;
    return value;
}

/* A number without leading zeros, of at most 18 digits. */
static gboolean
take_number(Scanner *scanner, gint64 *ret_value)
{
    const char *start = scanner->p;
    gint64 value = 0;

    while (scanner->p < scanner->end && g_ascii_isdigit(*scanner->p)) {
        if (scanner->p - start >= 18)
            return FALSE;
        value = value * 10 + (*scanner->p++ - '0');
    }
    if (scanner->p == start || (*start == '0' && scanner->p - start > 1))
        return FALSE;

    *ret_value = value;
    return TRUE;
}

/* A fraction of 1–6 digits, in millionths. */
static gboolean
take_fraction(Scanner *scanner, gint64 *ret_millionths, guint *ret_digits)
{
    gint64 value = 0;
    guint n = 0;

    while (scanner->p < scanner->end && g_ascii_isdigit(*scanner->p)) {
        if (++n > QD_TERM_ID_DECIMAL_DIGITS)
            return FALSE;
        value = value * 10 + (*scanner->p++ - '0');
    }
    if (n == 0)
        return FALSE;

    *ret_millionths = value * powers_of_ten[QD_TERM_ID_DECIMAL_DIGITS - n];
    *ret_digits = n;
    return TRUE;
}

static gboolean
encode_integer(Scanner scanner, gsize i, gint64 *ret_id)
{
    gboolean negative = take_char(&scanner, '-');
    gint64 value;

    if (!take_number(&scanner, &value) || scanner.p != scanner.end || (negative && value == 0))
        return FALSE;
    if (negative)
        value = -value;
    if (value < integer_types[i].min || value > integer_types[i].max)
        return FALSE;

    *ret_id = qd_term_id_make(integer_types[i].tag, value);
    return TRUE;
}

static gboolean
encode_decimal(Scanner scanner, gint64 *ret_id)
{
    gboolean negative = take_char(&scanner, '-');
    gint64 value;
    gint64 millionths = 0;
    guint n_digits = 0;

    if (!take_number(&scanner, &value) || value > DECIMAL_BOUND / QD_TERM_ID_DECIMAL_UNIT)
        return FALSE;
    if (take_char(&scanner, '.') && !take_fraction(&scanner, &millionths, &n_digits))
        return FALSE;
    value = value * QD_TERM_ID_DECIMAL_UNIT + millionths;
    if (scanner.p != scanner.end || value >= DECIMAL_BOUND || (negative && value == 0))
        return FALSE;

    *ret_id = qd_term_id_make(QD_TAG_DECIMAL, (negative ? -value : value) * 8 + n_digits);
    return TRUE;
}

static gboolean
take_date(Scanner *scanner, gint64 *ret_days)
{
    gint64 year = take_digits(scanner, 4);
    gint64 month = take_char(scanner, '-') ? take_digits(scanner, 2) : -1;
    gint64 day = take_char(scanner, '-') ? take_digits(scanner, 2) : -1;

    if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 || day < 1 ||
        day > qd_calendar_get_month_days(year, (guint) month))
        return FALSE;

    *ret_days = qd_calendar_to_days(year, (guint) month, (guint) day);
    return TRUE;
}

static gboolean
encode_date(Scanner scanner, gint64 *ret_id)
{
    gint64 days;
    gboolean utc;

    if (!take_date(&scanner, &days))
        return FALSE;
    utc = take_char(&scanner, 'Z');
    if (scanner.p != scanner.end)
        return FALSE;

    *ret_id = qd_term_id_make(utc ? QD_TAG_DATE_Z : QD_TAG_DATE, days * QD_USEC_PER_DAY * 8);
    return TRUE;
}

/* ±hh:mm but not -00:00. */
static gboolean
take_zone(Scanner *scanner, gint64 *ret_minutes)
{
    gboolean negative = take_char(scanner, '-');
    gint64 hours;
    gint64 minutes;

    if (!negative && !take_char(scanner, '+'))
        return FALSE;
    hours = take_digits(scanner, 2);
    minutes = take_char(scanner, ':') ? take_digits(scanner, 2) : -1;
    if (hours < 0 || minutes < 0 || minutes > 59 || hours * 60 + minutes > QD_ZONE_MINUTES_MAX)
        return FALSE;

    *ret_minutes = negative ? -(hours * 60 + minutes) : hours * 60 + minutes;
    return !negative || *ret_minutes != 0;
}

static gboolean
encode_date_time(Scanner scanner, gint64 *ret_id)
{
    gint64 days;
    gint64 hours;
    gint64 minutes;
    gint64 seconds;
    gint64 micros = 0;
    gint64 zone;
    guint n_digits = 0;

    if (!take_date(&scanner, &days))
        return FALSE;
    hours = take_char(&scanner, 'T') ? take_digits(&scanner, 2) : -1;
    minutes = take_char(&scanner, ':') ? take_digits(&scanner, 2) : -1;
    seconds = take_char(&scanner, ':') ? take_digits(&scanner, 2) : -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59)
        return FALSE;
    if (take_char(&scanner, '.') && !take_fraction(&scanner, &micros, &n_digits))
        return FALSE;
    micros += days * QD_USEC_PER_DAY + (hours * 3600 + minutes * 60 + seconds) * QD_USEC_PER_SECOND;
    if (scanner.p == scanner.end || (*scanner.p == 'Z' && scanner.p + 1 == scanner.end)) {
        *ret_id = qd_term_id_make(scanner.p == scanner.end ? QD_TAG_DATE_TIME : QD_TAG_DATE_TIME_Z, micros * 8 + n_digits);
        return TRUE;
    }
    if ((n_digits != 0 && n_digits != 3) || !take_zone(&scanner, &zone) || scanner.p != scanner.end)
        return FALSE;

    micros -= zone * 60 * QD_USEC_PER_SECOND;
    *ret_id = qd_term_id_make(QD_TAG_DATE_TIME_ZONE,
                              (micros / 1000) * (1 << (ZONE_BITS + 1)) + (n_digits == 3 ? 1 << ZONE_BITS : 0) + zone + ZONE_BIAS);
    return TRUE;
}

gboolean
qd_term_id_from_integer(gint64 value, gint64 *ret_id)
{
    if (value < integer_types[0].min || value > integer_types[0].max)
        return FALSE;

    *ret_id = qd_term_id_make(QD_TAG_INTEGER, value);
    return TRUE;
}

static gboolean
name_is(const char *name, gsize n_bytes, const char *expected)
{
    return n_bytes == strlen(expected) && memcmp(name, expected, n_bytes) == 0;
}

gboolean
qd_term_id_from_term(const QdTerm *term, gint64 *ret_id)
{
    static const gsize n_namespace = sizeof QD_XSD_NAMESPACE - 1;
    Scanner scanner = { term->lexical, term->lexical + term->n_lexical };
    const char *name;
    gsize n;

    if (term->kind != QD_TERM_TYPED || term->n_qualifier <= n_namespace || term->n_lexical == 0 ||
        memcmp(term->qualifier, QD_XSD_NAMESPACE, n_namespace) != 0)
        return FALSE;

    name = term->qualifier + n_namespace;
    n = term->n_qualifier - n_namespace;
    for (gsize i = 0; i < G_N_ELEMENTS(integer_types); i++)
        if (name_is(name, n, integer_types[i].name))
            return encode_integer(scanner, i, ret_id);
    if (name_is(name, n, "decimal"))
        return encode_decimal(scanner, ret_id);
    if (name_is(name, n, "dateTime"))
        return encode_date_time(scanner, ret_id);
    if (name_is(name, n, "date"))
        return encode_date(scanner, ret_id);
    if (name_is(name, n, "boolean") &&
        (name_is(term->lexical, term->n_lexical, "true") || name_is(term->lexical, term->n_lexical, "false"))) {
        *ret_id = qd_term_id_from_boolean(term->n_lexical == 4);
        return TRUE;
    }
    return FALSE;
}

/* --- back ------------------------------------------------------------------------------------------------------------ */

static char *
put_unsigned(char *p, guint64 value, guint min_digits)
{
    char digits[20];
    guint n = 0;

    do {
        digits[n++] = (char) ('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n < min_digits)
        digits[n++] = '0';
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

static char *
put_signed(char *p, gint64 value)
{
    if (value < 0)
        *p++ = '-';
    return put_unsigned(p, value < 0 ? (guint64) -value : (guint64) value, 1);
}

static char *
put_decimal(char *p, gint64 payload)
{
    guint n_digits = (guint) (payload & 7);
    gint64 value = payload >> 3;
    guint64 size = value < 0 ? (guint64) -value : (guint64) value;
    guint64 unit;

    if (n_digits > QD_TERM_ID_DECIMAL_DIGITS || size >= (guint64) DECIMAL_BOUND)
        return NULL;
    unit = (guint64) powers_of_ten[QD_TERM_ID_DECIMAL_DIGITS - n_digits];
    if (size % unit != 0)
        return NULL;

    if (value < 0)
        *p++ = '-';
    p = put_unsigned(p, size / QD_TERM_ID_DECIMAL_UNIT, 1);
    if (n_digits > 0) {
        *p++ = '.';
        p = put_unsigned(p, size % QD_TERM_ID_DECIMAL_UNIT / unit, n_digits);
    }
    return p;
}

/* @usec from 1970 in local time; NULL outside the years or when its fraction has more than @n_digits digits. */
static char *
put_date_time(char *p, gint64 usec, guint n_digits, gboolean has_time)
{
    gint64 days = usec / QD_USEC_PER_DAY - (usec % QD_USEC_PER_DAY < 0 ? 1 : 0);
    guint64 rest = (guint64) (usec - days * QD_USEC_PER_DAY);
    gint64 year;
    guint month;
    guint day;

    if (n_digits > QD_TERM_ID_DECIMAL_DIGITS)
        return NULL;
    qd_calendar_from_days(days, &year, &month, &day);
    if (year < YEAR_MIN || year > YEAR_MAX || rest % (guint64) powers_of_ten[QD_TERM_ID_DECIMAL_DIGITS - n_digits] != 0 ||
        (!has_time && (rest != 0 || n_digits != 0)))
        return NULL;

    p = put_unsigned(p, (guint64) year, 4);
    *p++ = '-';
    p = put_unsigned(p, month, 2);
    *p++ = '-';
    p = put_unsigned(p, day, 2);
    if (!has_time)
        return p;
    *p++ = 'T';
    p = put_unsigned(p, rest / (3600 * QD_USEC_PER_SECOND), 2);
    *p++ = ':';
    p = put_unsigned(p, rest / (60 * QD_USEC_PER_SECOND) % 60, 2);
    *p++ = ':';
    p = put_unsigned(p, rest / QD_USEC_PER_SECOND % 60, 2);
    if (n_digits > 0) {
        *p++ = '.';
        p = put_unsigned(p, rest % QD_USEC_PER_SECOND / (guint64) powers_of_ten[QD_TERM_ID_DECIMAL_DIGITS - n_digits], n_digits);
    }
    return p;
}

static char *
put_zoned_date_time(char *p, gint64 payload)
{
    gint64 zone = (payload & ((1 << ZONE_BITS) - 1)) - ZONE_BIAS;
    guint n_digits = (payload >> ZONE_BITS) & 1 ? 3 : 0;
    gint64 msec = payload >> (ZONE_BITS + 1);
    guint64 minutes = zone < 0 ? (guint64) -zone : (guint64) zone;

    if (minutes > QD_ZONE_MINUTES_MAX)
        return NULL;
    p = put_date_time(p, (msec + zone * 60000) * 1000, n_digits, TRUE);
    if (p == NULL)
        return NULL;

    *p++ = zone < 0 ? '-' : '+';
    p = put_unsigned(p, minutes / 60, 2);
    *p++ = ':';
    return put_unsigned(p, minutes % 60, 2);
}

static char *
put_z(char *p)
{
    if (p != NULL)
        *p++ = 'Z';
    return p;
}

/* The end of the lexical form and the datatype's local name; NULL for what no term has. */
static char *
put_typed(char *p, guint tag, gint64 payload, const char **ret_name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(integer_types); i++)
        if (tag == integer_types[i].tag) {
            *ret_name = integer_types[i].name;
            return payload < integer_types[i].min || payload > integer_types[i].max ? NULL : put_signed(p, payload);
        }

    switch (tag) {
    case QD_TAG_BOOLEAN:
        *ret_name = "boolean";
        return payload == 0 ? stpcpy(p, "false") : payload == 1 ? stpcpy(p, "true") : NULL;
    case QD_TAG_DECIMAL:
        *ret_name = "decimal";
        return put_decimal(p, payload);
    case QD_TAG_DATE:
        *ret_name = "date";
        return put_date_time(p, payload >> 3, payload & 7, FALSE);
    case QD_TAG_DATE_Z:
        *ret_name = "date";
        return put_z(put_date_time(p, payload >> 3, payload & 7, FALSE));
    case QD_TAG_DATE_TIME:
        *ret_name = "dateTime";
        return put_date_time(p, payload >> 3, payload & 7, TRUE);
    case QD_TAG_DATE_TIME_Z:
        *ret_name = "dateTime";
        return put_z(put_date_time(p, payload >> 3, payload & 7, TRUE));
    case QD_TAG_DATE_TIME_ZONE:
        *ret_name = "dateTime";
        return put_zoned_date_time(p, payload);
    default: /* 32 tags, of which the enum has some */
        return NULL;
    }
}

gboolean
qd_term_id_to_term(gint64 id, QdTermBuffer *buffer, QdTerm *ret_term)
{
    guint tag = qd_term_id_get_tag(id);
    gint64 payload = qd_term_id_get_payload(id);
    const char *name = NULL;
    char *datatype;
    char *p = buffer->text;
    char *end;

    if (id >= 0)
        return FALSE;
    if (tag <= QD_TAG_BNODE_FRESH) {
        if (payload < 0)
            return FALSE;
        *p++ = tag == QD_TAG_BNODE ? 'b' : 'f';
        p = put_unsigned(p, (guint64) payload, 1);
        *ret_term = (QdTerm){ .kind = QD_TERM_BNODE, .lexical = buffer->text, .n_lexical = (gsize) (p - buffer->text) };
        return TRUE;
    }

    end = put_typed(p, tag, payload, &name);
    if (end == NULL)
        return FALSE;
    datatype = end;
    p = stpcpy(stpcpy(datatype, QD_XSD_NAMESPACE), name);
    *ret_term = (QdTerm){ .kind = QD_TERM_TYPED,
                          .lexical = buffer->text,
                          .n_lexical = (gsize) (end - buffer->text),
                          .qualifier = datatype,
                          .n_qualifier = (gsize) (p - datatype) };
    return TRUE;
}
