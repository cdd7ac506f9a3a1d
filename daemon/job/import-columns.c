/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All rows are looked at, not a sample of them. A type that the last row contradicts would change its value: INTEGER makes 7 of
 * '007'. A column whose values no type holds has none: it keeps each as it is.
 */
#include "daemon/job/import-columns.h"

#include <string.h>

#include "daemon/base/error.h"

#define EXACT_INTEGER ((int64_t) 1 << 53) /* above it, not every integer is a double */
#define EXACT_DIGITS 15                   /* any decimal of so many digits is read back from its double */
#define TYPE_MAX_BYTES 64u

/* What values of a column are. */
enum {
    SEEN_INTEGER = 1 << 0,
    SEEN_LARGE = 1 << 1, /* with INTEGER: no double has this value */
    SEEN_REAL = 1 << 2,  /* 1.50 of a text format, too */
    SEEN_DATE = 1 << 3,  /* 2024-05-31 */
    SEEN_TIME = 1 << 4,  /* 2024-05-31 12:00, with seconds and offset or without */
    SEEN_TEXT = 1 << 5,
    SEEN_BLOB = 1 << 6,
};

struct QdImportColumns {
    char *const *types;
    gboolean is_text;
    GPtrArray *names; /* ended by NULL */
    GArray *seen;     /* of guint */
};

QdImportColumns *
qd_import_columns_new(char *const *types, gboolean is_text)
{
    QdImportColumns *self = g_new0(QdImportColumns, 1);

    self->types = types;
    self->is_text = is_text;
    self->names = g_ptr_array_new_with_free_func(g_free);
    self->seen = g_array_new(FALSE, TRUE, sizeof(guint));
    g_ptr_array_add(self->names, NULL);
    return self;
}

QdImportColumns *
qd_import_columns_free(QdImportColumns *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->names);
    g_array_unref(self->seen);
    g_free(self);
    return NULL;
}

/* Values -------------------------------------------------------------------------------------------------------------- */

/* Whether @text has the form of @pattern: 0 stands for a digit, any other character for itself. Moves @text after it. */
static gboolean
take_form(const char **text, const char *pattern)
{
    const char *p = *text;

    for (; *pattern != '\0'; pattern++, p++)
        if (*pattern == '0' ? !g_ascii_isdigit(*p) : *p != *pattern)
            return FALSE;
    *text = p;
    return TRUE;
}

/* After "HH:MM": seconds, their fraction, an offset. */
static gboolean
is_rest_of_time(const char *p)
{
    if (take_form(&p, ":00") && *p == '.') {
        p++;
        if (!g_ascii_isdigit(*p))
            return FALSE;
        while (g_ascii_isdigit(*p))
            p++;
    }
    if (*p == 'Z')
        p++;
    else if (*p == '+' || *p == '-')
        return take_form(&p, *p == '+' ? "+00:00" : "-00:00") && *p == '\0';
    return *p == '\0';
}

/* SEEN_DATE, SEEN_TIME, or 0 */
static guint
classify_time(const char *text)
{
    const char *p = text;

    if (!take_form(&p, "0000-00-00"))
        return 0;
    if (*p == '\0')
        return SEEN_DATE;
    if (*p != ' ' && *p != 'T')
        return 0;
    p++;
    return take_form(&p, "00:00") && is_rest_of_time(p) ? SEEN_TIME : 0;
}

/* A decimal that is no canonical number, but loses nothing as one but zeros at its end: 1.50 */
static gboolean
is_decimal(const char *text)
{
    const char *digits = text + (text[0] == '-' ? 1 : 0);
    const char *point = digits + strspn(digits, "0123456789");
    gsize n_whole = (gsize) (point - digits);
    gsize n_fraction = *point == '.' ? strspn(point + 1, "0123456789") : 0;

    return n_whole > 0 && n_fraction > 0 && point[1 + n_fraction] == '\0' && (digits[0] != '0' || n_whole == 1) &&
           n_whole + n_fraction <= EXACT_DIGITS;
}

static guint
classify_text(const QdImportColumns *self, const QwValue *value)
{
    guint time = 0;

    if (memchr(value->data, '\0', value->n_bytes) != NULL)
        return SEEN_TEXT;
    time = classify_time(value->data);
    if (time != 0)
        return time;
    return self->is_text && is_decimal(value->data) ? SEEN_REAL : SEEN_TEXT;
}

static guint
classify(const QdImportColumns *self, const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        return 0;
    case QW_TYPE_INTEGER:
        return SEEN_INTEGER | (value->integer > EXACT_INTEGER || value->integer < -EXACT_INTEGER ? SEEN_LARGE : 0);
    case QW_TYPE_FLOAT:
        return SEEN_REAL;
    case QW_TYPE_BLOB:
        return SEEN_BLOB;
    case QW_TYPE_TEXT:
        return classify_text(self, value);
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        break;
    }
    return SEEN_TEXT;
}

void
qd_import_columns_take(QdImportColumns *self, const char *const *names, const QwValue *values, guint n_values)
{
    while (self->seen->len < n_values) {
        g_ptr_array_insert(self->names, (gint) self->seen->len, g_strdup(names[self->seen->len]));
        g_array_set_size(self->seen, self->seen->len + 1);
    }
    for (guint i = 0; i < n_values; i++)
        g_array_index(self->seen, guint, i) |= classify(self, &values[i]);
}

const char *const *
qd_import_columns_get_names(const QdImportColumns *self)
{
    return (const char *const *) self->names->pdata;
}

/* Types --------------------------------------------------------------------------------------------------------------- */

/* What holds all that was seen: "" if nothing does. */
static const char *
choose_type(const QdImportColumns *self, guint seen)
{
    const guint numbers = SEEN_INTEGER | SEEN_LARGE | SEEN_REAL;
    const guint times = SEEN_DATE | SEEN_TIME;

    if (seen == 0)
        return "";
    if ((seen & ~(guint) (SEEN_INTEGER | SEEN_LARGE)) == 0)
        return "INTEGER";
    if ((seen & ~numbers) == 0)
        return (seen & SEEN_LARGE) == 0 ? "REAL" : "";
    if (seen == SEEN_DATE)
        return "DATE";
    if ((seen & ~times) == 0)
        return "DATETIME";
    if (seen == SEEN_BLOB)
        return "BLOB";
    if ((seen & ~(times | SEEN_TEXT)) == 0)
        return "TEXT";
    /* numbers and texts: in csv the column is one of texts, of which some look like numbers */
    return self->is_text && (seen & SEEN_BLOB) == 0 ? "TEXT" : "";
}

/* (nullable): what stands after "NAME=" */
static const char *
find_type(const QdImportColumns *self, const char *name)
{
    gsize n = strlen(name);

    for (guint i = 0; self->types != NULL && self->types[i] != NULL; i++)
        if (strncmp(self->types[i], name, n) == 0 && self->types[i][n] == '=')
            return self->types[i] + n + 1;
    return NULL;
}

void
qd_import_columns_put(const QdImportColumns *self, GString *out, const char *name)
{
    const char *type = find_type(self, name);

    for (guint i = 0; type == NULL && i < self->seen->len; i++)
        if (g_str_equal(self->names->pdata[i], name))
            type = choose_type(self, g_array_index(self->seen, guint, i));
    g_string_append_c(out, '"');
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *p);
    }
    g_string_append_printf(out, "\"%s%s", type != NULL && type[0] != '\0' ? " " : "", type != NULL ? type : "");
}

/* It goes into a statement: words, and numbers in brackets. */
static gboolean
is_type(const char *text)
{
    int depth = 0;

    for (const char *p = text; *p != '\0'; p++) {
        depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
        if (depth < 0 || (!g_ascii_isalnum(*p) && strchr(" _()", *p) == NULL && (*p != ',' || depth == 0)))
            return FALSE;
    }
    return depth == 0 && strlen(text) <= TYPE_MAX_BYTES;
}

gboolean
qd_import_columns_check(const QdImportColumns *self, const char *const *names, guint n, GError **error)
{
    for (guint i = 0; self->types != NULL && self->types[i] != NULL; i++) {
        const char *type = NULL;

        for (guint j = 0; j < n && type == NULL; j++)
            type = g_str_has_prefix(self->types[i], names[j]) && self->types[i][strlen(names[j])] == '='
                       ? self->types[i] + strlen(names[j]) + 1
                       : NULL;
        if (type != NULL && is_type(type))
            continue;
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     type == NULL ? "option 'types': no column of the source fits '%.80s'"
                                  : "option 'types': '%.80s' names no type",
                     self->types[i]);
        return FALSE;
    }
    return TRUE;
}
