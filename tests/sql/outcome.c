/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filling and comparing.
 */
#include "tests/sql/outcome.h"

#include <string.h>

#define SHOWN_ROWS 8
#define ROLLED_BACK "the transaction was rolled back: "

Outcome *
outcome_new(void)
{
    Outcome *self = g_new0(Outcome, 1);

    self->columns = g_string_new(NULL);
    self->has_types = TRUE;
    self->rows = g_ptr_array_new_with_free_func(g_free);
    return self;
}

Outcome *
outcome_free(Outcome *self)
{
    if (self == NULL)
        return NULL;

    g_free(self->error);
    g_free(self->code);
    (void) g_string_free(self->columns, TRUE);
    g_ptr_array_unref(self->rows);
    g_free(self);
    return NULL;
}

void
outcome_add_column(Outcome *self, const char *name, const char *type)
{
    g_string_append_printf(self->columns, "%s%s:%s", self->columns->len > 0 ? ", " : "", name, type != NULL ? type : "");
}

static void
separate(GString *row)
{
    if (row->len > 0)
        g_string_append(row, " | ");
}

void
outcome_put_null(GString *row)
{
    separate(row);
    g_string_append(row, "NULL");
}

void
outcome_put_int64(GString *row, gint64 value)
{
    separate(row);
    g_string_append_printf(row, "%" G_GINT64_FORMAT, value);
}

void
outcome_put_double(GString *row, double value)
{
    separate(row);
    g_string_append_printf(row, "%.17g (float)", value);
}

static void
put_hex(GString *row, const guint8 *data, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++)
        g_string_append_printf(row, "%02x", data[i]);
}

void
outcome_put_text(GString *row, const char *text, gsize n_bytes)
{
    separate(row);
    if (memchr(text, 0, n_bytes) == NULL && g_utf8_validate(text, (gssize) n_bytes, NULL)) {
        g_string_append_c(row, '\'');
        g_string_append_len(row, text, (gssize) n_bytes);
        g_string_append_c(row, '\'');
    } else {
        g_string_append(row, "bytes ");
        put_hex(row, (const guint8 *) text, n_bytes);
    }
}

void
outcome_put_blob(GString *row, const void *data, gsize n_bytes)
{
    separate(row);
    g_string_append(row, "bytes ");
    put_hex(row, data, n_bytes);
}

void
outcome_add_row(Outcome *self, GString *row)
{
    g_ptr_array_add(self->rows, g_string_free(row, FALSE));
}

void
outcome_set_error(Outcome *self, const char *code, const char *message)
{
    g_free(self->error);
    g_free(self->code);
    self->error = g_strdup(message);
    self->code = g_strdup(code);
}

/* Without "LINE:COLUMN: ", "statement N of the batch: " and "the transaction was rolled back: ". */
static const char *
get_words(const char *message)
{
    const char *batch = strstr(message, " of the batch: ");
    const char *p;

    if (batch != NULL && g_str_has_prefix(message, "statement "))
        message = batch + strlen(" of the batch: ");
    if (g_str_has_prefix(message, ROLLED_BACK))
        message += strlen(ROLLED_BACK);
    p = message + strspn(message, "0123456789");
    if (p > message && *p == ':') {
        const char *q = p + 1 + strspn(p + 1, "0123456789");

        if (q > p + 1 && g_str_has_prefix(q, ": "))
            message = q + 2;
    }
    return message;
}

static char *
compare_errors(const Outcome *expected, const Outcome *actual)
{
    if (expected->error == NULL && actual->error == NULL)
        return NULL;
    if (expected->error == NULL || actual->error == NULL)
        return g_strdup_printf("SQLite: %s\nqueryd: %s", expected->error != NULL ? expected->error : "(no error)",
                               actual->error != NULL ? actual->error : "(no error)");
    /* queryd may append the name of a limit, or where the error was found */
    if (!g_str_has_prefix(get_words(actual->error), expected->error))
        return g_strdup_printf("SQLite's error: %s\nqueryd's error: %s", expected->error, actual->error);
    if (expected->code != NULL && actual->code != NULL && strstr(expected->code, actual->code) == NULL)
        return g_strdup_printf("the error is '%s', of class %s instead of %s", actual->error, actual->code, expected->code);
    return NULL;
}

static char *
print_rows(const Outcome *self, guint first)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = first; i < self->rows->len && i < first + SHOWN_ROWS; i++)
        g_string_append_printf(text, "    %u: %s\n", i + 1, (const char *) self->rows->pdata[i]);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *
compare_rows(const Outcome *expected, const Outcome *actual)
{
    guint n = MIN(expected->rows->len, actual->rows->len);
    guint i = 0;
    g_autofree char *theirs = NULL;
    g_autofree char *ours = NULL;

    while (i < n && g_str_equal(expected->rows->pdata[i], actual->rows->pdata[i]))
        i++;
    if (i == n && (expected->rows->len == actual->rows->len || (actual->is_cut && actual->rows->len < expected->rows->len)))
        return NULL;
    theirs = print_rows(expected, i);
    ours = print_rows(actual, i);
    return g_strdup_printf("SQLite gives %u rows, queryd %u; from where they differ:\n  SQLite:\n%s  queryd:\n%s",
                           expected->rows->len, actual->rows->len, theirs, ours);
}

/* Names only. */
static char *
strip_types(const char *columns)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_auto(GStrv) parts = g_strsplit(columns, ", ", -1);

    for (char **part = parts; *part != NULL; part++) {
        const char *colon = strrchr(*part, ':');

        g_string_append_len(text, *part, colon != NULL ? colon - *part : (gssize) strlen(*part));
        g_string_append(text, ", ");
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *
compare_columns(const Outcome *expected, const Outcome *actual)
{
    g_autofree char *theirs = actual->has_types ? g_strdup(expected->columns->str) : strip_types(expected->columns->str);
    g_autofree char *ours = actual->has_types ? g_strdup(actual->columns->str) : strip_types(actual->columns->str);

    if (actual->columns->len == 0 || g_str_equal(theirs, ours))
        return NULL;
    return g_strdup_printf("columns:\n  SQLite: %s\n  queryd: %s", theirs, ours);
}

char *
outcome_compare(const Outcome *expected, const Outcome *actual)
{
    char *difference = compare_errors(expected, actual);

    if (difference != NULL || expected->error != NULL)
        return difference;
    difference = compare_columns(expected, actual);
    if (difference == NULL && (actual->rows->len > 0 || actual->columns->len > 0))
        difference = compare_rows(expected, actual);
    if (difference == NULL && actual->has_counts && expected->n_changes != actual->n_changes)
        difference = g_strdup_printf("SQLite changed %" G_GINT64_FORMAT " rows, queryd %" G_GINT64_FORMAT, expected->n_changes,
                                     actual->n_changes);
    if (difference == NULL && actual->has_rowid && expected->rowid != actual->rowid)
        difference = g_strdup_printf("last_insert_rowid: SQLite %" G_GINT64_FORMAT ", queryd %" G_GINT64_FORMAT, expected->rowid,
                                     actual->rowid);
    return difference;
}
