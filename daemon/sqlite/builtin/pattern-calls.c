/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pattern is compared from each place of the text that its first character after a wildcard is at. That is text times pattern
 * in the worst case, 20 s for `%a`, 240 `_` and `b` over 60 MB. Only the last wildcard is ever tried again, so there is no
 * recursion.
 */
#include "daemon/sqlite/builtin/pattern-calls.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/builtin/pattern-flags.h"

/* A question for so many characters or tries. */
#define PIECE 65536

/* No limit of the pattern is lower, so that shorter ones need no question. */
#define FEW_BYTES 16
#define CASE_BIT 0x20
/* A search in so few bytes costs less than a call of strcspn(). */
#define NEAR_BYTES 12
/* LIKE and GLOB are compiled each with its wildcards as constants: 4 % of a scan. */
#define INLINED static inline __attribute__((always_inline))

typedef struct Wildcards {
    guchar all; /* any characters */
    guchar one; /* any character */
    guchar set; /* begins a set of characters; 0: there are none */
    gboolean folds;
} Wildcards;

/* SQLite reads its first three bytes when it looks for a prefix. */
typedef struct UserData {
    guchar all, one, set;
    gboolean ignores_blobs; /* a BLOB matches nothing: how SQLite was built */
} UserData;

/* Of one call. */
typedef struct Matching {
    sqlite3_context *context; /* (nullable): no function was called */
    Wildcards wildcards;
    guint32 escape;        /* 0: none; GLOB's begins a set */
    const guchar *pattern; /* after the last wildcard for any characters */
    const guchar *text;    /* where that wildcard was met */
    guint n_steps;         /* since the last question */
    gboolean has_failed;   /* the statement shall end */
} Matching;

/* What follows a wildcard for any characters: by it places of the text are found. */
typedef struct Start {
    guint32 c;
    gboolean is_set;
    gboolean has_next;  /* then comes an ASCII character that stands for itself, or the pattern's end */
    guchar next[2];     /* in both cases */
    const guchar *rest; /* of the pattern: after @c, which may begin a set */
} Start;

typedef enum Outcome {
    MATCHES,
    DIFFERS,
    AT_WILDCARD, /* for any characters: pattern and text are after it */
    TEXT_ENDS,   /* too few characters are left, here and at each later place */
} Outcome;

/* As SQLite reads it, malformed texts included: a lead byte with all continuation bytes that follow, or a byte. */
static guint32
read_multi_byte(const guchar **p)
{
    guint32 c = *(*p)++;

    if (c < 0xc0)
        return c;
    c &= c < 0xe0 ? 0x1f : c < 0xf0 ? 0x0f : c < 0xf8 ? 0x07 : c < 0xfc ? 0x03 : c < 0xfe ? 0x01 : 0;
    while ((**p & 0xc0) == 0x80)
        c = c << 6 | (*(*p)++ & 0x3f);
    return c < 0x80 || (c & 0xfffff800) == 0xd800 || (c & 0xfffffffe) == 0xfffe ? 0xfffd : c;
}

static inline guint32
read_character(const guchar **p)
{
    return **p < 0x80 ? *(*p)++ : read_multi_byte(p);
}

/* Whether they differ in nothing but the case of an ASCII letter. */
static inline gboolean
is_folded(guint32 a, guint32 b)
{
    return (a ^ b) == CASE_BIT && (a | CASE_BIT) - 'a' < 26;
}

/* TRUE: the function has failed. */
static inline gboolean
is_interrupted(Matching *self)
{
    if (self->n_steps < PIECE)
        return FALSE;

    self->n_steps = 0;
    self->has_failed = qd_interrupt_poll();
    if (self->has_failed && self->context != NULL)
        sqlite3_result_error_code(self->context, SQLITE_INTERRUPT);
    return self->has_failed;
}

/* @p: after '['. Returns: after ']'; NULL: @c is not in the set, or the set does not end. */
static const guchar *
match_set(Matching *self, const guchar *p, guint32 c)
{
    const guchar *start = p;
    gboolean inverts = *p == '^';
    gboolean found = FALSE;
    guint32 first = 0; /* of a range, if a '-' follows */
    guint32 member;

    p += inverts;
    if (*p == ']') {
        found = c == ']';
        p++;
    }
    while ((member = read_character(&p)) != ']' && member != '\0') {
        if (member == '-' && first > 0 && *p != ']' && *p != '\0') {
            guint32 last = read_character(&p);

            found |= c >= first && c <= last;
            first = 0;
        } else {
            found |= c == member;
            first = member;
        }
    }
    self->n_steps += (guint) (p - start);
    return member == ']' && found != inverts ? p : NULL;
}

/* From @pattern and @text up to the pattern's end or its next wildcard for any characters. */
INLINED Outcome
match_segment(Matching *self, const guchar *pattern, const guchar *text)
{
    const Wildcards wildcards = self->wildcards;
    const guint32 escape = self->escape;
    const guchar *start = pattern;
    Outcome outcome = DIFFERS;

    for (;;) {
        guint32 c = read_character(&pattern);
        gboolean literal = FALSE;
        guint32 d;

        if (c == *text && c != wildcards.all && c != escape && c - 1 < 0x7f) {
            text++;
            continue;
        }
        if (c == '\0') {
            outcome = *text == '\0' ? MATCHES : DIFFERS;
            break;
        }
        if (c == wildcards.all) {
            outcome = AT_WILDCARD;
            break;
        }
        if (*text == '\0') {
            outcome = TEXT_ENDS;
            break;
        }

        d = read_character(&text);
        if (c == escape && wildcards.set != 0) {
            pattern = match_set(self, pattern, d);
            if (pattern == NULL)
                return DIFFERS;
            continue;
        }
        if (c == escape) {
            c = read_character(&pattern);
            literal = TRUE;
        }
        if (c != d && (literal || c != wildcards.one) && !(wildcards.folds && is_folded(c, d)))
            break;
    }
    self->n_steps += (guint) (pattern - start);
    self->pattern = pattern;
    self->text = text;
    return outcome;
}

/* Passes more wildcards for any characters, and those for one, which take a character each. */
INLINED Outcome
skip_wildcards(Matching *self)
{
    for (;; self->pattern++) {
        guchar c = *self->pattern;

        if (c == '\0')
            return MATCHES;
        if (c == self->wildcards.all)
            continue;
        if (c != self->wildcards.one)
            return AT_WILDCARD;
        if (*self->text == '\0')
            return TEXT_ENDS;
        (void) read_character(&self->text);
    }
}

INLINED guchar
get_other_case(const Matching *self, guint32 c)
{
    return self->wildcards.folds && (c | CASE_BIT) - 'a' < 26 ? (guchar) (c ^ CASE_BIT) : (guchar) c;
}

/* FALSE: nothing matches such a pattern. */
INLINED gboolean
read_start(const Matching *self, Start *ret)
{
    const guchar *p = self->pattern;
    guint32 c = read_character(&p);
    gboolean is_set = c == self->escape && self->wildcards.set != 0;

    if (c == self->escape && !is_set)
        c = read_character(&p);
    *ret = (Start){ .c = c, .is_set = is_set, .rest = p };
    ret->has_next = !is_set && *p < 0x80 &&
                    (*p == '\0' || (*p != self->wildcards.all && *p != self->wildcards.one && *p != self->escape));
    ret->next[0] = *p;
    ret->next[1] = get_other_case(self, *p);
    return c != '\0';
}

/* Returns: after the next character of the text that is @c, an ASCII one; NULL: there is none. */
INLINED const guchar *
find_ascii(const Matching *self, const guchar *text, guchar c)
{
    guchar other = get_other_case(self, c);
    const char stops[] = { (char) c, (char) other, '\0' };

    if (other == c) {
        text = (const guchar *) strchrnul((const char *) text, c);
        return *text != '\0' ? text + 1 : NULL;
    }
    for (int i = 0; i < NEAR_BYTES; i++, text++) {
        if ((*text | CASE_BIT) == (c | CASE_BIT))
            return text + 1;
        if (*text == '\0')
            return NULL;
    }
    text += strcspn((const char *) text, stops);
    return *text != '\0' ? text + 1 : NULL;
}

/* NULL: there is none, or the function has failed. */
static const guchar *
find_multi_byte(Matching *self, const guchar *text, guint32 c)
{
    for (; !is_interrupted(self); self->n_steps++) {
        while (*text != '\0' && *text < 0x80)
            text++;
        if (*text == '\0')
            break;
        if (read_multi_byte(&text) == c)
            return text;
    }
    return NULL;
}

/* The next member of the set at @rest, which is moved after the set. */
static const guchar *
find_member(Matching *self, const guchar *text, const guchar **rest)
{
    for (; *text != '\0' && !is_interrupted(self); self->n_steps++) {
        const guchar *after = match_set(self, *rest, read_character(&text));

        if (after != NULL) {
            *rest = after;
            return text;
        }
    }
    return NULL;
}

/* After a wildcard for any characters. Only the last of them is tried again: an earlier one cannot help. */
INLINED gboolean
match_rest(Matching *self)
{
    Outcome outcome = skip_wildcards(self);
    Start start;

    while (outcome == AT_WILDCARD) {
        const guchar *text = self->text;

        if (!read_start(self, &start))
            return FALSE;
        do {
            const guchar *rest = start.rest;

            if (start.is_set)
                text = find_member(self, text, &rest);
            else
                text = start.c < 0x80 ? find_ascii(self, text, (guchar) start.c) : find_multi_byte(self, text, start.c);
            if (text == NULL)
                return FALSE;
            self->n_steps++;
            outcome = DIFFERS;
            if (!start.has_next || *text == start.next[0] || *text == start.next[1])
                outcome = match_segment(self, rest, text);
        } while (outcome == DIFFERS && !is_interrupted(self));
        if (outcome == AT_WILDCARD)
            outcome = skip_wildcards(self);
    }
    return outcome == MATCHES;
}

INLINED gboolean
match(Matching *self)
{
    Outcome outcome = AT_WILDCARD;

    if (*self->pattern != '\0' && *self->pattern == self->wildcards.all)
        self->pattern++;
    else
        outcome = match_segment(self, self->pattern, self->text);
    return outcome == AT_WILDCARD ? match_rest(self) : outcome == MATCHES;
}

/* As SQLite counts: exactly one character. */
static gboolean
read_escape(Matching *self, sqlite3_value *value)
{
    const guchar *text = sqlite3_value_text(value);

    if (text == NULL)
        return FALSE;
    self->escape = *text != '\0' ? read_character(&text) : 0;
    if (self->escape == 0 || *text != '\0') {
        sqlite3_result_error(self->context, "ESCAPE expression must be a single character", -1);
        return FALSE;
    }
    if (self->escape == self->wildcards.all)
        self->wildcards.all = 0;
    if (self->escape == self->wildcards.one)
        self->wildcards.one = 0;
    return TRUE;
}

static gboolean
check_length(sqlite3_context *context, const char *pattern)
{
    if (strnlen(pattern, FEW_BYTES + 1) <= FEW_BYTES ||
        strlen(pattern) <= (gsize) sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1))
        return TRUE;

    sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
    return FALSE;
}

INLINED void
call(sqlite3_context *context, int n_args, sqlite3_value **args, const Wildcards *wildcards)
{
    const UserData *data = sqlite3_user_data(context);
    Matching self = { .context = context, .wildcards = *wildcards, .escape = wildcards->set };
    gboolean matches;

    if (data->ignores_blobs && (sqlite3_value_type(args[0]) == SQLITE_BLOB || sqlite3_value_type(args[1]) == SQLITE_BLOB)) {
        sqlite3_result_int(context, 0);
        return;
    }
    if (n_args == 3 && !read_escape(&self, args[2]))
        return;
    self.pattern = sqlite3_value_text(args[0]);
    self.text = sqlite3_value_text(args[1]);
    if (self.pattern == NULL)
        qd_pattern_flags_visit(context, args[0]);
    if (self.pattern == NULL || self.text == NULL)
        return;
    if (!check_length(context, (const char *) self.pattern))
        return;
    matches = match(&self);
    if (!self.has_failed)
        sqlite3_result_int(context, matches);
}

/* https://www.sqlite.org/lang_expr.html#like */
static const Wildcards like_wildcards = { '%', '_', 0, TRUE };
static const Wildcards glob_wildcards = { '*', '?', '[', FALSE };

int
qd_pattern_match(gboolean is_glob, const char *pattern, const char *text)
{
    Matching self = { .wildcards = like_wildcards, .pattern = (const guchar *) pattern, .text = (const guchar *) text };
    gboolean matches;

    if (is_glob) {
        self.wildcards = glob_wildcards;
        self.escape = glob_wildcards.set;
    }
    matches = match(&self);
    return self.has_failed ? -1 : matches;
}

static void
function_like(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    if (n_args == 2)
        call(context, 2, args, &like_wildcards);
    else
        call(context, 3, args, &like_wildcards);
}

static void
function_glob(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    call(context, 2, args, &glob_wildcards);
}

gboolean
qd_pattern_calls_register(sqlite3 *db, GError **error)
{
    static const UserData like_data[] = { { '%', '_', 0, FALSE }, { '%', '_', 0, TRUE } };
    static const UserData glob_data[] = { { '*', '?', '[', FALSE }, { '*', '?', '[', TRUE } };
    int build = sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS") != 0;
    const QdPatternFunction like = { function_like, &like_data[build] };
    const QdPatternFunction glob = { function_glob, &glob_data[build] };

    /* other meanings of LIKE are left to SQLite */
    if (sqlite3_compileoption_used("CASE_SENSITIVE_LIKE") || sqlite3_compileoption_used("ENABLE_ICU"))
        return TRUE;
    return qd_pattern_flags_register(db, &like, &glob, error);
}
