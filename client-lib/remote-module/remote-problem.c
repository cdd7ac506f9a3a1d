/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an answer says that is none of success: a status, and a text or problem details (RFC 9457).
 */
#include <string.h>

#include "client-lib/remote-module/remote-http.h"
#include "client-lib/remote-module/remote-rows.h"
#include "client-lib/text/text-utf8.h"

static const struct {
    guint status;
    QueryError code;
} statuses[] = {
    { 400, QUERY_ERROR_SYNTAX },        { 401, QUERY_ERROR_ACCESS_DENIED }, { 402, QUERY_ERROR_ACCESS_DENIED },
    { 403, QUERY_ERROR_ACCESS_DENIED }, { 404, QUERY_ERROR_UNSUPPORTED },   { 405, QUERY_ERROR_UNSUPPORTED },
    { 406, QUERY_ERROR_UNSUPPORTED },   { 407, QUERY_ERROR_UNAVAILABLE },   { 408, QUERY_ERROR_TIMEOUT },
    { 409, QUERY_ERROR_CONSTRAINT },    { 410, QUERY_ERROR_UNSUPPORTED },   { 413, QUERY_ERROR_TOO_BIG },
    { 414, QUERY_ERROR_TOO_BIG },       { 415, QUERY_ERROR_UNSUPPORTED },   { 422, QUERY_ERROR_SYNTAX },
    { 429, QUERY_ERROR_BUSY },          { 431, QUERY_ERROR_TOO_BIG },       { 500, QUERY_ERROR_INTERNAL },
    { 501, QUERY_ERROR_UNSUPPORTED },   { 502, QUERY_ERROR_UNAVAILABLE },   { 503, QUERY_ERROR_BUSY },
    { 504, QUERY_ERROR_TIMEOUT },       { 507, QUERY_ERROR_DISK_FULL },
};

/* The member "error" of queryd-http. */
static const struct {
    const char *name;
    QueryError code;
} names[] = {
    { "syntax", QUERY_ERROR_SYNTAX },
    { "unsupported", QUERY_ERROR_UNSUPPORTED },
    { "bad-parameter", QUERY_ERROR_BAD_PARAMETER },
    { "constraint", QUERY_ERROR_CONSTRAINT },
    { "read-only", QUERY_ERROR_READ_ONLY },
    { "busy", QUERY_ERROR_BUSY },
    { "too-big", QUERY_ERROR_TOO_BIG },
    { "too-complex", QUERY_ERROR_TOO_COMPLEX },
    { "timeout", QUERY_ERROR_TIMEOUT },
    { "cancelled", QUERY_ERROR_CANCELLED },
    { "disk-full", QUERY_ERROR_DISK_FULL },
    { "no-memory", QUERY_ERROR_NO_MEMORY },
    { "corrupt", QUERY_ERROR_CORRUPT },
    { "recovering", QUERY_ERROR_RECOVERING },
    { "limit-exceeded", QUERY_ERROR_LIMIT_EXCEEDED },
    { "internal", QUERY_ERROR_INTERNAL },
};

typedef struct Problem {
    QueryError code;
    GString *text;
    guint line, column; /* 0: not known */
} Problem;

static QueryError
code_from_status(guint status)
{
    for (guint i = 0; i < G_N_ELEMENTS(statuses); i++)
        if (statuses[i].status == status)
            return statuses[i].code;
    return status >= 400 && status < 500 ? QUERY_ERROR_BAD_PARAMETER : QUERY_ERROR_INTERNAL;
}

/* Strings and numbers of one flat object; what is nested, or no JSON, ends the reading. */
static const char *
read_string(const char *p, const char *end, GString *out)
{
    g_string_truncate(out, 0);
    for (p++; p < end && *p != '"';) {
        if (*p != '\\') {
            g_string_append_c(out, *p++);
            continue;
        }
        p = remote_append_escape(out, p + 1, end, TRUE);
        if (p == NULL)
            return NULL;
    }
    return p < end ? p + 1 : NULL;
}

static const char *
skip_space(const char *p, const char *end)
{
    while (p < end && g_ascii_isspace(*p))
        p++;
    return p;
}

static void
take_member(Problem *problem, const char *name, const GString *value)
{
    if (g_str_equal(name, "detail") || (g_str_equal(name, "title") && problem->text->len == 0)) {
        g_string_assign(problem->text, value->str);
    } else if (g_str_equal(name, "line") || g_str_equal(name, "column")) {
        guint64 number = g_ascii_strtoull(value->str, NULL, 10);

        *(name[0] == 'l' ? &problem->line : &problem->column) = number <= G_MAXUINT ? (guint) number : 0;
    } else if (g_str_equal(name, "error")) {
        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
            if (g_str_equal(names[i].name, value->str))
                problem->code = names[i].code;
    }
}

static void
read_details(Problem *problem, const char *p, const char *end)
{
    g_autoptr(GString) name = g_string_new(NULL);
    g_autoptr(GString) value = g_string_new(NULL);

    p = skip_space(p, end);
    if (p >= end || *p != '{')
        return;
    do {
        p = skip_space(p + 1, end);
        p = p < end && *p == '"' ? read_string(p, end, name) : NULL;
        p = p != NULL ? skip_space(p, end) : NULL;
        if (p == NULL || p >= end || *p != ':')
            return;
        p = skip_space(p + 1, end);
        g_string_truncate(value, 0);
        if (p < end && *p == '"')
            p = read_string(p, end, value);
        else
            for (; p < end && (g_ascii_isalnum(*p) || *p == '.' || *p == '-'); p++)
                g_string_append_c(value, *p);
        if (p == NULL)
            return;
        take_member(problem, name->str, value);
        p = skip_space(p, end);
    } while (p < end && *p == ',');
}

/* "at 1:5" and "line 1, column 5", as servers say it. For display only. */
static void
find_place(Problem *problem)
{
    static const struct {
        const char *before;
        const char *between;
    } forms[] = {
        { " at ", ":" }, { "line ", ", column " }, { "line: ", ", column: " }, { "line ", " column " }, { "[line: ", ", col: " }
    };

    for (guint i = 0; i < G_N_ELEMENTS(forms) && problem->line == 0; i++) {
        const char *found = strstr(problem->text->str, forms[i].before);
        char *end = NULL;
        guint64 line;
        guint64 column;

        if (found == NULL || !g_ascii_isdigit(found[strlen(forms[i].before)]))
            continue;
        line = g_ascii_strtoull(found + strlen(forms[i].before), &end, 10);
        if (!g_str_has_prefix(end, forms[i].between) || !g_ascii_isdigit(end[strlen(forms[i].between)]))
            continue;
        column = g_ascii_strtoull(end + strlen(forms[i].between), NULL, 10);
        if (line > 0 && line <= G_MAXUINT && column > 0 && column <= G_MAXUINT) {
            problem->line = (guint) line;
            problem->column = (guint) column;
        }
    }
}

/* The place that the text of queryd-http begins with is said once. */
static void
drop_place(const Problem *problem)
{
    g_autofree char *place = g_strdup_printf("%u:%u: ", problem->line, problem->column);

    if (g_str_has_prefix(problem->text->str, place))
        g_string_erase(problem->text, 0, (gssize) strlen(place));
}

/* One line of printable text of a bounded size. */
static void
tidy(GString *text, const char *phrase, guint status)
{
    g_autoptr(GString) valid = g_string_new(NULL);

    (void) qw_text_append_lossy(valid, text->str, MIN(text->len, REMOTE_MESSAGE_BYTES));
    g_strdelimit(valid->str, "\r\n\t", ' ');
    g_strstrip(valid->str);
    g_string_assign(text, valid->str);
    if (text->len == 0)
        g_string_printf(text, "%s", phrase != NULL && g_utf8_validate(phrase, -1, NULL) ? phrase : soup_status_get_phrase(status));
}

void
remote_problem_set(GError **error, guint status, const char *phrase, const char *media_type, const char *body, gsize n_bytes,
                   gsize n_before)
{
    Problem problem = { .code = code_from_status(status), .text = g_string_new(NULL) };
    g_autoptr(GString) text = problem.text;

    if (g_str_has_suffix(media_type, "json"))
        read_details(&problem, body, body + n_bytes);
    if (text->len == 0 && !g_str_equal(media_type, "text/html"))
        g_string_append_len(text, body, (gssize) n_bytes);
    tidy(text, phrase, status);
    if (problem.line == 0)
        find_place(&problem);
    drop_place(&problem);
    if (problem.line == 1 && problem.column > n_before)
        problem.column -= (guint) n_before;
    if (problem.line > 0)
        g_set_error(error, QUERY_ERROR, (int) problem.code, "%u:%u: the endpoint says (%u): %s", problem.line,
                    MAX(problem.column, 1), status, text->str);
    else
        g_set_error(error, QUERY_ERROR, (int) problem.code, "the endpoint says (%u): %s", status, text->str);
}
