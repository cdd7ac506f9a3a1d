/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Outcomes of calls of the library.
 */
#include "tests/sql/outcome.h"

void
outcome_take_error(Outcome *outcome, const GError *error)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        { QUERY_ERROR_SYNTAX, "SYNTAX" },
        { QUERY_ERROR_CONSTRAINT, "CONSTRAINT" },
        { QUERY_ERROR_BAD_PARAMETER, "BAD_PARAMETER" },
        { QUERY_ERROR_READ_ONLY, "READ_ONLY" },
        { QUERY_ERROR_ACCESS_DENIED, "ACCESS_DENIED" },
        { QUERY_ERROR_TOO_COMPLEX, "TOO_COMPLEX" },
        { QUERY_ERROR_TOO_BIG, "TOO_BIG" },
        { QUERY_ERROR_UNSUPPORTED, "UNSUPPORTED" },
        { QUERY_ERROR_BUSY, "BUSY" },
        { QUERY_ERROR_DISK_FULL, "DISK_FULL" },
        { QUERY_ERROR_CORRUPT, "CORRUPT" },
        { QUERY_ERROR_INTERNAL, "INTERNAL" },
    };
    g_autofree char *number = g_strdup_printf("code %d", error->code);
    const char *name = number;

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (error->domain == QUERY_ERROR && error->code == names[i].code)
            name = names[i].name;
    outcome_set_error(outcome, name, error->message);
}

static void
take_value(QueryCursor *cursor, guint column, GString *row)
{
    gsize n_bytes = 0;

    switch (query_cursor_get_value_type(cursor, column)) {
    case QUERY_VALUE_TYPE_NULL:
        outcome_put_null(row);
        return;
    case QUERY_VALUE_TYPE_INTEGER:
        outcome_put_int64(row, query_cursor_get_int64(cursor, column));
        return;
    case QUERY_VALUE_TYPE_FLOAT:
        outcome_put_double(row, query_cursor_get_double(cursor, column));
        return;
    case QUERY_VALUE_TYPE_TEXT: {
        const char *text = query_cursor_get_string(cursor, column, &n_bytes);

        outcome_put_text(row, text, n_bytes);
        return;
    }
    case QUERY_VALUE_TYPE_BLOB: {
        const guint8 *data = query_cursor_get_data(cursor, column, &n_bytes);

        outcome_put_blob(row, data, n_bytes);
        return;
    }
    case QUERY_VALUE_TYPE_IRI:
    case QUERY_VALUE_TYPE_BNODE:
    case QUERY_VALUE_TYPE_LITERAL_LANG:
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        g_error("lock-step: an RDF term in a result of SQL");
    }
}

Outcome *
outcome_take_cursor(QueryCursor *taken, GError *error)
{
    g_autoptr(QueryCursor) cursor = taken;
    g_autoptr(GError) failure = error;
    Outcome *outcome = outcome_new();

    while (cursor != NULL && query_cursor_next(cursor, NULL, &failure)) {
        GString *row = g_string_new(NULL);

        for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++)
            take_value(cursor, i, row);
        outcome_add_row(outcome, row);
    }
    if (failure != NULL) {
        outcome_take_error(outcome, failure);
        return outcome;
    }
    for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++)
        outcome_add_column(outcome, query_cursor_get_column_name(cursor, i), query_cursor_get_column_type(cursor, i));
    return outcome;
}

Outcome *
outcome_take_changes(gint64 n_changes, GError *error)
{
    g_autoptr(GError) failure = error;
    Outcome *outcome = outcome_new();

    if (failure != NULL)
        outcome_take_error(outcome, failure);
    outcome->has_counts = failure == NULL;
    outcome->n_changes = n_changes;
    return outcome;
}
