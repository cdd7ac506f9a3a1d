/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tokens of SQL as SQLite's tokenizer separates them, as far as it decides where a parameter is:
 * https://www.sqlite.org/lang_expr.html#parameters
 */
#include "daemon/sqlite/parameter-names.h"

#include <string.h>

#include "daemon/base/error.h"

/* Fewer take no time. */
#define MIN_PARAMETERS 1000
/* Uses times names: a quarter of a second. */
#define MAX_STEPS (1 << 26)
/* Of a parameter. */
#define STARTS "?:@$#"
/* SQLite takes no larger number. */
#define MAX_NUMBER 32766

typedef struct Scan {
    const char *text;
    gsize n_bytes;
    char *copy;        /* (nullable): with blanks for numbers */
    GHashTable *names; /* (element-type utf8 guint): used as a set */
    guint number;      /* the largest so far: "?" gets the next one */
    guint64 n_uses;    /* of names */
} Scan;

static gboolean
is_name(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (guchar) c >= 0x80;
}

static gboolean
has_many(const char *text, gsize n_bytes)
{
    guint n = 0;

    for (gsize i = 0; i < n_bytes && n < MIN_PARAMETERS; i++)
        n += strchr(STARTS, text[i]) != NULL;
    return n >= MIN_PARAMETERS;
}

/* After the quote at @i. A quote that is doubled begins the next literal at once. */
static gsize
skip_quoted(const Scan *self, gsize i)
{
    char end = self->text[i] == '[' ? ']' : self->text[i];
    const char *found = memchr(self->text + i + 1, end, self->n_bytes - i - 1);

    return found != NULL ? (gsize) (found - self->text) + 1 : self->n_bytes;
}

/* @end: of two bytes, or of one before a NUL */
static gsize
skip_comment(const Scan *self, gsize i, const char *end)
{
    const char *found = memmem(self->text + i, self->n_bytes - i, end, strlen(end));

    return found != NULL ? (gsize) (found - self->text) + strlen(end) : self->n_bytes;
}

/* Returns: whether it is new */
static gboolean
use_name(Scan *self, gsize start, gsize end)
{
    self->n_uses++;
    return g_hash_table_add(self->names, g_strndup(self->text + start, end - start));
}

static void
take_number(Scan *self, gsize start, gsize end)
{
    guint64 number = g_ascii_strtoull(self->text + start + 1, NULL, 10);

    if (number == self->number + 1) {
        if (self->copy == NULL)
            self->copy = g_strndup(self->text, self->n_bytes);
        memset(self->copy + start + 1, ' ', end - start - 1);
        self->number++;
        return;
    }
    (void) use_name(self, start, end);
    self->number = MAX(self->number, (guint) MIN(number, MAX_NUMBER));
}

static char
get_byte(const Scan *self, gsize i)
{
    return i < self->n_bytes ? self->text[i] : '\0';
}

/* A name goes on after "::", and ends with what is in parentheses, as Tcl has its variables. */
static gsize
find_end_of_name(const Scan *self, gsize i)
{
    for (gsize end = i + 1;; end++) {
        char c = get_byte(self, end);

        if (c == ':' && get_byte(self, end + 1) == ':') {
            end++;
        } else if (c == '(' && end > i + 1) {
            while (end < self->n_bytes && self->text[end] != ')' && !g_ascii_isspace(self->text[end]))
                end++;
            return MIN(end + 1, self->n_bytes);
        } else if (!is_name(c)) {
            return end;
        }
    }
}

/* After the parameter at @i. */
static gsize
take_parameter(Scan *self, gsize i)
{
    gsize end = i + 1;

    if (self->text[i] != '?') {
        end = find_end_of_name(self, i);
        self->number += end > i + 1 && use_name(self, i, end) ? 1 : 0;
        return end;
    }
    while (g_ascii_isdigit(get_byte(self, end)))
        end++;
    if (end == i + 1)
        self->number++;
    else
        take_number(self, i, end);
    return end;
}

/* After the token at @i. */
static gsize
take_token(Scan *self, gsize i)
{
    const char *at = self->text + i;
    gsize n_left = self->n_bytes - i;

    switch (*at) {
    case '\'':
    case '"':
    case '`':
    case '[':
        return skip_quoted(self, i);
    case '-':
        return n_left > 1 && at[1] == '-' ? skip_comment(self, i, "\n") : i + 1;
    case '/':
        return n_left > 3 && at[1] == '*' ? skip_comment(self, i + 2, "*/") : i + 1;
    case '?':
    case ':':
    case '@':
    case '$':
    case '#':
        return take_parameter(self, i);
    default:
        if (!is_name(*at))
            return i + 1;
        while (i < self->n_bytes && is_name(self->text[i]))
            i++;
        return i;
    }
}

gboolean
qd_parameter_names_drop_numbers(const char *text, gsize n_bytes, char **ret_text, GError **error)
{
    Scan scan = { .text = text, .n_bytes = n_bytes };
    guint n_names;

    *ret_text = NULL;
    if (!has_many(text, n_bytes))
        return TRUE;

    scan.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (gsize i = 0; i < n_bytes;)
        i = take_token(&scan, i);
    n_names = g_hash_table_size(scan.names);
    g_hash_table_unref(scan.names);
    if (scan.n_uses * n_names <= MAX_STEPS) {
        *ret_text = scan.copy;
        return TRUE;
    }
    g_free(scan.copy);
    qd_error_set(error, QW_ERROR_TOO_COMPLEX,
                 "statement is too complex: %u parameters have names or numbers out of order, and are used %" G_GUINT64_FORMAT
                 " times: use '?' without a number, or fewer parameters",
                 n_names, scan.n_uses);
    return FALSE;
}
