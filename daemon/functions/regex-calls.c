/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * REGEX and REPLACE: SPARQL 1.1 §17.4.3.14, §17.4.3.15.
 */
#include "daemon/functions/calls.h"
#include "daemon/functions/regex/regex.h"
#include "daemon/rdf/code-point.h"

/* Matches and pieces of REPLACE between two looks at the deadline. */
#define PIECES_PER_CHECK 1024

static gboolean
on_interrupt(gpointer data)
{
    return qd_evaluation_is_interrupted(data);
}

/* NULL: not valid, an error of SPARQL, or one that ends the query. */
static QdRegex *
get_regex(QdEvaluation *ev, QdValue *pattern, QdValue *flags)
{
    if (pattern->kind != QD_VALUE_STRING || !qd_value_get_term(ev, pattern))
        return NULL;
    if (flags != NULL && (flags->kind != QD_VALUE_STRING || !qd_value_get_term(ev, flags)))
        return NULL;
    if (pattern->term.n_lexical > qd_evaluation_get_limit(ev, QD_LIMIT_REGEX_PATTERN_BYTES)) {
        qd_evaluation_fail_limit(ev, QD_LIMIT_REGEX_PATTERN_BYTES, "regular expression is too long");
        return NULL;
    }
    if (ev->regexes == NULL)
        ev->regexes = qd_regex_cache_new();
    return qd_regex_cache_get(ev->regexes, pattern->term.lexical, pattern->term.n_lexical, flags != NULL ? flags->term.lexical : "",
                              flags != NULL ? flags->term.n_lexical : 0);
}

/* FALSE when there is no match, or the query has ended. */
static gboolean
search(QdEvaluation *ev, QdRegex *regex, const QdTerm *text, gsize start)
{
    const QdRegexBounds bounds = { (guint32) qd_evaluation_get_limit(ev, QD_LIMIT_REGEX_STEPS), on_interrupt, ev };

    switch (qd_regex_search(regex, text->lexical, text->n_lexical, start, &bounds)) {
    case QD_REGEX_MATCH:
        return TRUE;
    case QD_REGEX_TOO_COMPLEX:
        qd_evaluation_fail_limit(ev, QD_LIMIT_REGEX_STEPS, "regular expression takes too many steps");
        return FALSE;
    case QD_REGEX_NO_MATCH:
    case QD_REGEX_INTERRUPTED:
        return FALSE;
    }
    g_assert_not_reached();
}

static gboolean
get_text(QdEvaluation *ev, QdValue *text)
{
    return qd_value_is_string(text) && qd_value_get_term(ev, text) &&
           qd_code_point_check(text->term.lexical, text->term.n_lexical, NULL);
}

QdValue
qd_call_regex(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdRegex *regex = get_regex(ev, &args[1], n_args > 2 ? &args[2] : NULL);
    gboolean found;

    if (regex == NULL || !get_text(ev, &args[0]))
        return qd_value_error();

    found = search(ev, regex, &args[0].term, 0);
    qd_regex_trim(regex);
    return ev->error != NULL ? qd_value_error() : qd_value_from_boolean(found);
}

/* $12 is group 12 if there are so many, else group 1 and a "2"; 0 is all of the match. */
static guint
take_group(const char **p, const char *end, guint n_groups)
{
    guint group = (guint) (*(*p)++ - '0');

    while (*p < end && g_ascii_isdigit(**p) && group * 10 + (guint) (**p - '0') <= n_groups)
        group = group * 10 + (guint) (*(*p)++ - '0');
    return group;
}

/* fn:replace() refuses another replacement, also when nothing matches (err:FORX0004). */
static gboolean
is_replacement(const QdRegex *regex, const QdTerm *replacement)
{
    const char *p = replacement->lexical;
    const char *end = p + replacement->n_lexical;

    if (qd_regex_is_literal(regex))
        return TRUE;
    while (p < end) {
        char c = *p++;

        if (c != '\\' && c != '$')
            continue;
        if (p == end || (c == '$' ? !g_ascii_isdigit(*p) : *p != '\\' && *p != '$'))
            return FALSE;
        p++;
    }
    return TRUE;
}

typedef struct Replacing {
    QdEvaluation *ev;
    QdRegex *regex;
    const QdTerm *text;
    const QdTerm *replacement;
    QdBytes out;
    guint n_pieces;
} Replacing;

/* FALSE: the query has ended. */
static gboolean
append(Replacing *self, const char *bytes, gsize n_bytes)
{
    if (++self->n_pieces % PIECES_PER_CHECK == 0 && qd_evaluation_is_interrupted(self->ev))
        return FALSE;
    return qd_bytes_append(&self->out, bytes, n_bytes);
}

static gboolean
append_group(Replacing *self, guint group)
{
    gsize from;
    gsize to;

    if (!qd_regex_get_group(self->regex, group, &from, &to))
        from = to = 0;
    return append(self, self->text->lexical + from, to - from);
}

/* Appends what replaces one match. FALSE: the query has ended. */
static gboolean
append_replacement(Replacing *self)
{
    const char *p = self->replacement->lexical;
    const char *end = p + self->replacement->n_lexical;

    if (qd_regex_is_literal(self->regex))
        return append(self, p, (gsize) (end - p));
    while (p < end) {
        const char *start = p;

        if (*p == '$') {
            p++;
            if (!append_group(self, take_group(&p, end, qd_regex_get_n_groups(self->regex))))
                return FALSE;
            continue;
        }
        if (*p == '\\') /* what follows is itself */
            start = ++p;
        p++;
        while (p < end && *p != '$' && *p != '\\')
            p++;
        if (!append(self, start, (gsize) (p - start)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
replace_all(Replacing *self)
{
    const QdTerm *text = self->text;
    gsize start = 0;
    gsize from = 0;
    gsize to = 0;

    while (search(self->ev, self->regex, text, start)) {
        (void) qd_regex_get_group(self->regex, 0, &from, &to);
        if (to <= from || !append(self, text->lexical + start, from - start) || !append_replacement(self))
            return FALSE;
        start = to;
    }
    return self->ev->error == NULL && append(self, text->lexical + start, text->n_lexical - start);
}

QdValue
qd_call_replace(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdRegex *regex = get_regex(ev, &args[1], n_args > 3 ? &args[3] : NULL);
    Replacing work = { .ev = ev, .regex = regex, .text = &args[0].term, .replacement = &args[2].term, .out.ev = ev };
    const char *copy = NULL;
    gsize n_copy;

    if (regex == NULL || !get_text(ev, &args[0]) || args[2].kind != QD_VALUE_STRING || !qd_value_get_term(ev, &args[2]) ||
        qd_regex_matches_empty(regex) || !is_replacement(regex, &args[2].term))
        return qd_value_error();

    if (replace_all(&work))
        copy = qd_bytes_keep(&work.out, &n_copy);
    qd_regex_trim(regex);
    qd_bytes_clear(&work.out);
    return copy != NULL ? qd_value_from_string_like(&args[0], copy, n_copy) : qd_value_error();
}
