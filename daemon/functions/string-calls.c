/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions on strings: SPARQL 1.1 §17.4.3, in code points.
 */
#include <math.h>
#include <string.h>

#include "daemon/functions/calls.h"
#include "daemon/rdf/code-point.h"

/* A look at the clock for so many bytes. */
#define PIECE_BYTES 65536
#define POLL_BYTES 1048576

static gboolean
get_string(QdEvaluation *ev, QdValue *value)
{
    return qd_value_is_string(value) && qd_value_get_term(ev, value);
}

static gboolean
get_simple_string(QdEvaluation *ev, QdValue *value)
{
    return value->kind == QD_VALUE_STRING && qd_value_get_term(ev, value);
}

static gboolean
same_language(const QdValue *a, const QdValue *b)
{
    return a->kind == b->kind && a->term.n_qualifier == b->term.n_qualifier &&
           (a->term.n_qualifier == 0 || g_ascii_strncasecmp(a->term.qualifier, b->term.qualifier, a->term.n_qualifier) == 0);
}

/* Argument compatibility, §17.4.3.1.2. */
static gboolean
get_compatible(QdEvaluation *ev, QdValue *args)
{
    return get_string(ev, &args[0]) && get_string(ev, &args[1]) &&
           (args[1].kind == QD_VALUE_STRING || same_language(&args[0], &args[1]));
}

static inline gboolean
is_start(char c)
{
    return ((guchar) c & 0xc0) != 0x80;
}

QdValue
qd_call_strlen(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    gint64 n = 0;

    if (!get_string(ev, &args[0]))
        return qd_value_error();
    for (gsize i = 0; i < args[0].term.n_lexical; i++)
        n += is_start(args[0].term.lexical[i]);
    return qd_value_from_int64(n);
}

static double
round_argument(const QdValue *value)
{
    QdNumber number = qd_number_round(&value->number, QD_NUMBER_ROUND);

    return qd_number_to_double(&number);
}

/* fn:substring(): the code points at positions p, from 1, with round(start) <= p < round(start) + round(length). */
QdValue
qd_call_substr(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    double start;
    double end = HUGE_VAL;
    double position = 0;
    const char *text;
    gsize first;
    gsize n = 0;

    if (!get_string(ev, &args[0]) || args[1].kind != QD_VALUE_NUMBER || (n_args > 2 && args[2].kind != QD_VALUE_NUMBER))
        return qd_value_error();

    start = round_argument(&args[1]);
    if (n_args > 2)
        end = start + round_argument(&args[2]); /* NaN: no position is below it */
    text = args[0].term.lexical;
    first = args[0].term.n_lexical;
    for (gsize i = 0; i < args[0].term.n_lexical; i++) {
        position += is_start(text[i]);
        if (!(position >= start && position < end)) {
            if (position >= end)
                break;
            continue;
        }
        first = MIN(first, i);
        n = i + 1 - first;
    }
    return qd_value_from_string_like(&args[0], text + first, n);
}

/* From @p to before @end: no more than PIECE_BYTES, and so that marks stay with their letter, or all of it. */
static gsize
get_case_piece(const char *p, const char *end)
{
    const char *cut = p + PIECE_BYTES;

    if ((gsize) (end - p) <= PIECE_BYTES)
        return (gsize) (end - p);
    while (!is_start(*cut))
        cut--;
    for (const char *q = cut; q > p; q = g_utf8_prev_char(q))
        if (!g_unichar_ismark(g_utf8_get_char(q)))
            return (gsize) (q - p);
    return (gsize) (cut - p); /* of marks alone, which is no text of a language */
}

/* A sigma within a word differs from one at its end, and GLib's function looks at the next letter in its piece only. */
static void
mend_last_sigma(QdBytes *out, const char *next)
{
    if (memcmp(next - 2, "Σ", 2) == 0 && g_unichar_isalpha(g_utf8_get_char(next)))
        memcpy(out->data + out->n - 2, "σ", 2);
}

/* Up to the first U+0000, where GLib's functions end, and a piece only: they take up to three times as much. */
static gboolean
append_changed(QdBytes *out, QdExpressionOp op, const char *p, gsize n_bytes)
{
    const char *end = p + n_bytes;

    while (p < end) {
        gsize n = get_case_piece(p, end);
        g_autofree char *changed = op == QD_EXPRESSION_UCASE ? g_utf8_strup(p, (gssize) n) : g_utf8_strdown(p, (gssize) n);

        if (!qd_bytes_append(out, changed, strlen(changed)))
            return FALSE;
        p += n;
        if (p < end && qd_evaluation_is_interrupted(out->ev))
            return FALSE;
        if (p < end && op == QD_EXPRESSION_LCASE)
            mend_last_sigma(out, p);
    }
    return TRUE;
}

/* Unicode's full mappings, which may be longer or shorter than the text. */
static gboolean
change_case(QdBytes *out, QdExpressionOp op, const QdTerm *text)
{
    const char *p = text->lexical;
    const char *end = p + text->n_lexical;

    while (p < end) {
        gsize n = strnlen(p, (gsize) (end - p));

        if (!append_changed(out, op, p, n) || (p + n < end && !qd_bytes_append(out, "", 1)))
            return FALSE;
        p += n + 1;
    }
    return TRUE;
}

QdValue
qd_call_change_case(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdBytes out = { .ev = ev };
    const char *copy = NULL;
    gsize n_copy;

    if (!get_string(ev, &args[0]) || !qd_code_point_check(args[0].term.lexical, args[0].term.n_lexical, NULL))
        return qd_value_error();
    if (args[0].term.n_lexical == 0)
        return args[0];

    if (qd_bytes_reserve(&out, args[0].term.n_lexical) && change_case(&out, op, &args[0].term))
        copy = qd_bytes_keep(&out, &n_copy);
    qd_bytes_clear(&out);
    return copy != NULL ? qd_value_from_string_like(&args[0], copy, n_copy) : qd_value_error();
}

static const char *
find(const QdTerm *text, const QdTerm *part)
{
    return part->n_lexical == 0 ? text->lexical : memmem(text->lexical, text->n_lexical, part->lexical, part->n_lexical);
}

QdValue
qd_call_find(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    const QdTerm *text = &args[0].term;
    const QdTerm *part = &args[1].term;
    const char *place;

    if (!get_compatible(ev, args))
        return qd_value_error();
    if (op == QD_EXPRESSION_CONTAINS)
        return qd_value_from_boolean(find(text, part) != NULL);
    if (part->n_lexical == 0 || part->n_lexical > text->n_lexical)
        return qd_value_from_boolean(part->n_lexical == 0);

    place = op == QD_EXPRESSION_STRSTARTS ? text->lexical : text->lexical + text->n_lexical - part->n_lexical;
    return qd_value_from_boolean(memcmp(place, part->lexical, part->n_lexical) == 0);
}

QdValue
qd_call_cut(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    const QdTerm *text = &args[0].term;
    const QdTerm *part = &args[1].term;
    const char *place;

    if (!get_compatible(ev, args))
        return qd_value_error();

    place = find(text, part);
    if (place == NULL)
        return qd_value_from_string("", 0);
    if (op == QD_EXPRESSION_STRBEFORE)
        return qd_value_from_string_like(&args[0], text->lexical, (gsize) (place - text->lexical));
    place += part->n_lexical;
    return qd_value_from_string_like(&args[0], place, text->n_lexical - (gsize) (place - text->lexical));
}

static inline gboolean
is_unreserved(char c)
{
    return g_ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~';
}

QdValue
qd_call_encode_for_uri(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    static const char digits[] = "0123456789ABCDEF";
    gsize n = 0;
    char *out;
    char *p;

    if (!get_string(ev, &args[0]))
        return qd_value_error();
    for (gsize i = 0; i < args[0].term.n_lexical; i++) {
        if (i % POLL_BYTES == POLL_BYTES - 1 && qd_evaluation_is_interrupted(ev))
            return qd_value_error();
        n += is_unreserved(args[0].term.lexical[i]) ? 1 : 3;
    }
    out = qd_evaluation_alloc(ev, n);
    if (out == NULL)
        return qd_value_error();

    p = out;
    for (gsize i = 0; i < args[0].term.n_lexical; i++) {
        char c = args[0].term.lexical[i];

        if (i % POLL_BYTES == POLL_BYTES - 1 && qd_evaluation_is_interrupted(ev))
            return qd_value_error();
        if (is_unreserved(c)) {
            *p++ = c;
            continue;
        }
        *p++ = '%';
        *p++ = digits[(guchar) c >> 4];
        *p++ = digits[(guchar) c & 15];
    }
    return qd_value_from_string(out, n);
}

QdValue
qd_call_concat(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    gboolean keeps_language = n_args > 0;
    gsize n = 0;
    char *out;
    char *p;

    for (guint i = 0; i < n_args; i++) {
        if (!get_string(ev, &args[i]))
            return qd_value_error();
        keeps_language = keeps_language && same_language(&args[0], &args[i]);
        n += args[i].term.n_lexical;
    }
    out = qd_evaluation_alloc(ev, n);
    if (out == NULL)
        return qd_value_error();

    p = out;
    for (guint i = 0; i < n_args; i++) {
        if (args[i].term.n_lexical > 0)
            memcpy(p, args[i].term.lexical, args[i].term.n_lexical);
        p += args[i].term.n_lexical;
    }
    return keeps_language ? qd_value_from_string_like(&args[0], out, n) : qd_value_from_string(out, n);
}

/* Basic filtering, RFC 4647 §3.3.1. */
QdValue
qd_call_lang_matches(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    const QdTerm *tag = &args[0].term;
    const QdTerm *range = &args[1].term;

    if (!get_simple_string(ev, &args[0]) || !get_simple_string(ev, &args[1]))
        return qd_value_error();
    if (range->n_lexical == 1 && range->lexical[0] == '*')
        return qd_value_from_boolean(tag->n_lexical > 0);
    if (range->n_lexical == 0 || tag->n_lexical < range->n_lexical ||
        g_ascii_strncasecmp(tag->lexical, range->lexical, range->n_lexical) != 0)
        return qd_value_from_boolean(FALSE);
    return qd_value_from_boolean(tag->n_lexical == range->n_lexical || tag->lexical[range->n_lexical] == '-');
}

QdValue
qd_call_hash(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    GChecksumType type = op == QD_EXPRESSION_MD5      ? G_CHECKSUM_MD5
                         : op == QD_EXPRESSION_SHA1   ? G_CHECKSUM_SHA1
                         : op == QD_EXPRESSION_SHA256 ? G_CHECKSUM_SHA256
                         : op == QD_EXPRESSION_SHA384 ? G_CHECKSUM_SHA384
                                                      : G_CHECKSUM_SHA512;
    g_autoptr(GChecksum) checksum = NULL;
    const char *digest;
    char *copy;

    if (!get_simple_string(ev, &args[0]))
        return qd_value_error();

    checksum = g_checksum_new(type);
    for (gsize done = 0; done < args[0].term.n_lexical; done += POLL_BYTES) {
        if (done > 0 && qd_evaluation_is_interrupted(ev))
            return qd_value_error();
        g_checksum_update(checksum, (const guchar *) args[0].term.lexical + done,
                          (gssize) MIN(POLL_BYTES, args[0].term.n_lexical - done));
    }
    digest = g_checksum_get_string(checksum);
    copy = qd_evaluation_alloc(ev, strlen(digest));
    if (copy == NULL)
        return qd_value_error();
    memcpy(copy, digest, strlen(digest));
    return qd_value_from_string(copy, strlen(digest));
}
