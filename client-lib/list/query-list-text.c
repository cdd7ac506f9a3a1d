/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL: the query is a common table expression that is not materialized, so that SQLite finds its rows by the indexes of its tables.
 * SPARQL: what limits the result is appended, after the prologue has been set apart where the query becomes a subquery.
 */
#include "client-lib/list/query-list-text.h"

#include <string.h>

#include "client-lib/core/query-value.h"

#define LIST "queryd_list"

struct QueryListText {
    QueryLanguage language;
    char *text;
    GPtrArray *columns; /* of char *, the key last */
    GArray *is_descending;
    gboolean has_key;
};

typedef enum Compare { BEFORE, FROM, AFTER } Compare;

static void
add_column(QueryListText *self, const char *name, gboolean is_descending)
{
    g_ptr_array_add(self->columns, g_strdup(name));
    g_array_append_val(self->is_descending, is_descending);
}

static void
add_order(QueryListText *self, const char *item)
{
    gsize n = strlen(item);
    gboolean is_descending = n > 5 && g_ascii_strcasecmp(item + n - 5, " DESC") == 0;
    gboolean says_ascending = n > 4 && g_ascii_strcasecmp(item + n - 4, " ASC") == 0;
    g_autofree char *name = g_strndup(item, n - (is_descending ? 5 : says_ascending ? 4 : 0));

    add_column(self, name, is_descending);
}

QueryListText *
query_list_text_new(QueryLanguage language, const char *text, const char *const *order, const char *key)
{
    QueryListText *self = g_new0(QueryListText, 1);
    gsize n = strlen(text);

    while (n > 0 && language == QUERY_LANGUAGE_SQL && (g_ascii_isspace(text[n - 1]) || text[n - 1] == ';'))
        n--;
    self->language = language;
    self->text = g_strndup(text, n);
    self->columns = g_ptr_array_new_with_free_func(g_free);
    self->is_descending = g_array_new(FALSE, FALSE, sizeof(gboolean));
    for (guint i = 0; order != NULL && order[i] != NULL; i++)
        add_order(self, order[i]);
    self->has_key = key != NULL;
    if (key != NULL)
        add_column(self, key, self->is_descending->len > 0 && g_array_index(self->is_descending, gboolean, 0));
    return self;
}

void
query_list_text_free(QueryListText *self)
{
    if (self == NULL)
        return;

    g_free(self->text);
    g_ptr_array_unref(self->columns);
    g_array_unref(self->is_descending);
    g_free(self);
}

QueryLanguage
query_list_text_get_language(const QueryListText *self)
{
    return self->language;
}

static gboolean
is_descending(const QueryListText *self, guint column)
{
    return g_array_index(self->is_descending, gboolean, column);
}

gboolean
query_list_text_can_seek(const QueryListText *self)
{
    gboolean has_one_direction = TRUE;

    for (guint i = 1; i < self->columns->len; i++)
        has_one_direction = has_one_direction && is_descending(self, i) == is_descending(self, 0);
    return self->language == QUERY_LANGUAGE_SQL && self->has_key && has_one_direction;
}

gboolean
query_list_text_is_anchor(const QueryListText *self, const QueryListRow *row)
{
    for (guint i = 0; i < self->columns->len; i++) {
        int column = query_list_row_find_column(row, self->columns->pdata[i]);
        QwValue value;

        if (column < 0)
            return FALSE;
        query_list_row_get(row, (guint) column, &value);
        if (value.type == QW_TYPE_NULL || (value.type == QW_TYPE_TEXT && !g_utf8_validate_len(value.data, value.n_bytes, NULL)))
            return FALSE;
    }
    return TRUE;
}

/* SQL -------------------------------------------------------------------------------------------------------------------- */

static void
append_name(GString *sql, const char *name)
{
    g_string_append_c(sql, '"');
    for (const char *p = name; *p != '\0'; p++)
        g_string_append_len(sql, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    g_string_append_c(sql, '"');
}

static void
append_tuple(const QueryListText *self, GString *sql)
{
    for (guint i = 0; i < self->columns->len; i++) {
        g_string_append(sql, i == 0 ? "(" : ", ");
        append_name(sql, self->columns->pdata[i]);
    }
    g_string_append_c(sql, ')');
}

/* The row's tuple compared with that of parameters named by @letter. */
static void
append_compare(const QueryListText *self, GString *sql, Compare compare, char letter)
{
    gboolean is_less = (compare == BEFORE) != is_descending(self, 0);

    append_tuple(self, sql);
    g_string_append(sql, is_less ? " <" : " >");
    g_string_append(sql, compare == FROM ? "= " : " ");
    for (guint i = 0; i < self->columns->len; i++)
        g_string_append_printf(sql, "%s:queryd_%c%u", i == 0 ? "(" : ", ", letter, i);
    g_string_append_c(sql, ')');
}

static void
append_order(const QueryListText *self, GString *sql, gboolean is_backward)
{
    for (guint i = 0; i < self->columns->len; i++) {
        g_string_append(sql, i == 0 ? " ORDER BY " : ", ");
        append_name(sql, self->columns->pdata[i]);
        if (is_descending(self, i) != is_backward)
            g_string_append(sql, " DESC");
    }
}

static void
append_has_null(const QueryListText *self, GString *sql)
{
    guint n = self->columns->len - (self->has_key ? 1 : 0);

    if (n == 0 || !query_list_text_can_seek(self)) {
        g_string_append_c(sql, '0');
        return;
    }
    g_string_append(sql, "EXISTS(SELECT 1 FROM " LIST " WHERE ");
    for (guint i = 0; i < n; i++) {
        g_string_append(sql, i == 0 ? "" : " OR ");
        append_name(sql, self->columns->pdata[i]);
        g_string_append(sql, " IS NULL");
    }
    g_string_append_c(sql, ')');
}

static GString *
begin_sql(const QueryListText *self)
{
    GString *sql = g_string_new("WITH " LIST " AS NOT MATERIALIZED (");

    g_string_append(sql, self->text);
    g_string_append(sql, "\n) SELECT ");
    return sql;
}

static void
begin_parameters(GVariantBuilder *builder, GVariant *parameters)
{
    GVariantIter iter;
    GVariant *value;
    char *name;

    g_variant_builder_init(builder, G_VARIANT_TYPE_VARDICT);
    if (parameters == NULL)
        return;
    g_variant_iter_init(&iter, parameters);
    while (g_variant_iter_next(&iter, "{sv}", &name, &value)) {
        g_variant_builder_add(builder, "{sv}", name, value);
        g_free(name);
        g_variant_unref(value);
    }
}

static void
add_number(GVariantBuilder *builder, const char *name, guint number)
{
    g_variant_builder_add(builder, "{sv}", name, g_variant_new_int64(number));
}

static void
add_tuple(const QueryListText *self, GVariantBuilder *builder, const QueryListRow *row, char letter)
{
    for (guint i = 0; i < self->columns->len; i++) {
        int column = query_list_row_find_column(row, self->columns->pdata[i]);
        g_autofree char *name = g_strdup_printf(":queryd_%c%u", letter, i);
        g_autoptr(GVariant) variant = NULL;
        QwValue value;

        query_list_row_get(row, (guint) MAX(column, 0), &value);
        variant = query_value_to_variant(&value);
        g_variant_builder_add(builder, "{sv}", name, variant);
    }
}

/* @text: (transfer full) (nullable): freed */
static void
finish(const QueryListText *self, GString *text, GVariant *parameters, guint n_extra, QueryListStatement *ret)
{
    *ret = (QueryListStatement){ .language = self->language,
                                 .text = g_string_free(text, FALSE),
                                 .parameters = parameters != NULL ? g_variant_ref_sink(parameters) : NULL,
                                 .n_extra = n_extra };
}

static void
make_sql_window(const QueryListText *self, GVariant *parameters, const QueryListPlace *place, QueryListStatement *ret)
{
    GString *sql = begin_sql(self);
    GVariantBuilder builder;

    begin_parameters(&builder, parameters);
    g_string_append(sql, "* FROM " LIST);
    if (place->anchor != NULL) {
        g_string_append(sql, " WHERE ");
        append_compare(self, sql, place->is_backward ? BEFORE : AFTER, 'f');
        add_tuple(self, &builder, place->anchor, 'f');
    }
    append_order(self, sql, place->is_backward);
    g_string_append(sql, " LIMIT :queryd_limit OFFSET :queryd_offset");
    add_number(&builder, ":queryd_limit", place->n_rows);
    add_number(&builder, ":queryd_offset", place->n_skipped);
    finish(self, sql, g_variant_builder_end(&builder), 0, ret);
}

void
query_list_text_make_span(const QueryListText *self, GVariant *parameters, const QueryListSpan *span, QueryListStatement *ret)
{
    GString *sql = begin_sql(self);
    GVariantBuilder builder;

    begin_parameters(&builder, parameters);
    g_string_append(sql, "w.*, c.queryd_n, c.queryd_null, c.queryd_beside "
                         "FROM (SELECT (SELECT COUNT(*) FROM " LIST ") AS queryd_n, ");
    append_has_null(self, sql);
    g_string_append(sql, " AS queryd_null, ");
    if (span->first != NULL) {
        g_string_append(sql, "(SELECT COUNT(*) FROM " LIST " WHERE ");
        append_compare(self, sql, span->counts_before ? BEFORE : FROM, 'f');
        g_string_append_c(sql, ')');
        add_tuple(self, &builder, span->first, 'f');
    } else
        g_string_append_c(sql, '0');
    g_string_append(sql, " AS queryd_beside) AS c LEFT JOIN (SELECT *, ");
    if (span->last != NULL) {
        append_compare(self, sql, AFTER, 't');
        add_tuple(self, &builder, span->last, 't');
    } else
        g_string_append_c(sql, '0');
    g_string_append(sql, " AS queryd_after FROM " LIST);
    if (span->first != NULL) {
        g_string_append(sql, " WHERE ");
        append_compare(self, sql, FROM, 'f');
    }
    append_order(self, sql, FALSE);
    g_string_append(sql, " LIMIT :queryd_limit OFFSET :queryd_offset) AS w");
    add_number(&builder, ":queryd_limit", span->n_rows);
    add_number(&builder, ":queryd_offset", span->n_skipped);
    finish(self, sql, g_variant_builder_end(&builder), QUERY_LIST_N_EXTRA, ret);
}

gboolean
query_list_text_has_place(const QueryListText *self)
{
    return self->language == QUERY_LANGUAGE_SQL && self->has_key;
}

gboolean
query_list_text_is_same_place(const QueryListText *self, const QueryListRow *row, const QueryListRow *before)
{
    for (guint i = 0; i < self->columns->len; i++)
        if (!query_list_row_is_same(row, before, self->columns->pdata[i]))
            return FALSE;
    return TRUE;
}

void
query_list_text_make_keys(const QueryListText *self, GVariant *parameters, const char *key, const GPtrArray *keys,
                          QueryListStatement *ret)
{
    GString *sql = begin_sql(self);
    GVariantBuilder builder;

    begin_parameters(&builder, parameters);
    g_string_append(sql, "* FROM " LIST " WHERE ");
    append_name(sql, key);
    g_string_append(sql, " IN (");
    for (guint i = 0; i < keys->len; i++) {
        g_autofree char *name = g_strdup_printf(":queryd_k%u", i);

        g_string_append_printf(sql, "%s%s", i > 0 ? ", " : "", name);
        g_variant_builder_add(&builder, "{sv}", name, keys->pdata[i]);
    }
    g_string_append_c(sql, ')');
    finish(self, sql, g_variant_builder_end(&builder), 0, ret);
}

/* SPARQL ----------------------------------------------------------------------------------------------------------------- */

static const char *
skip_blanks(const char *p)
{
    while (g_ascii_isspace(*p) || *p == '#') {
        if (*p == '#')
            p += strcspn(p, "\r\n");
        else
            p++;
    }
    return p;
}

/* Returns: where the query begins after BASE and PREFIX */
static const char *
skip_prologue(const char *text)
{
    const char *p = skip_blanks(text);

    while (g_ascii_strncasecmp(p, "BASE", 4) == 0 || g_ascii_strncasecmp(p, "PREFIX", 6) == 0) {
        const char *iri = strchr(p, '<');
        const char *end = iri != NULL ? strchr(iri, '>') : NULL;

        if (end == NULL)
            break;
        p = skip_blanks(end + 1);
    }
    return p;
}

/* The query as a subquery of one that selects @what. */
static GString *
wrap_sparql(const QueryListText *self, const char *what)
{
    const char *query = skip_prologue(self->text);
    GString *sparql = g_string_new_len(self->text, query - self->text);

    g_string_append_printf(sparql, "SELECT %s WHERE { { %s\n} }", what, query);
    return sparql;
}

static void
make_sparql_window(const QueryListText *self, GVariant *parameters, const QueryListPlace *place, QueryListStatement *ret)
{
    GString *sparql = g_string_new(self->text);

    for (guint i = 0; i < self->columns->len; i++)
        g_string_append_printf(sparql, "%s%s(?%s)", i == 0 ? "\nORDER BY " : " ", is_descending(self, i) ? "DESC" : "ASC",
                               (const char *) self->columns->pdata[i]);
    g_string_append_printf(sparql, "\nLIMIT %u OFFSET %u", place->n_rows, place->n_skipped);
    finish(self, sparql, parameters, 0, ret);
}

/* Both ------------------------------------------------------------------------------------------------------------------- */

void
query_list_text_make_count(const QueryListText *self, GVariant *parameters, QueryListStatement *ret)
{
    GString *text;

    if (self->language == QUERY_LANGUAGE_SPARQL) {
        finish(self, wrap_sparql(self, "(COUNT(*) AS ?queryd_n)"), parameters, 0, ret);
        return;
    }
    text = begin_sql(self);
    g_string_append(text, "(SELECT COUNT(*) FROM " LIST "), ");
    append_has_null(self, text);
    finish(self, text, parameters, 0, ret);
}

void
query_list_text_make_window(const QueryListText *self, GVariant *parameters, const QueryListPlace *place, QueryListStatement *ret)
{
    if (self->language == QUERY_LANGUAGE_SPARQL)
        make_sparql_window(self, parameters, place, ret);
    else
        make_sql_window(self, parameters, place, ret);
}

void
query_list_text_make_sections(const QueryListText *self, GVariant *parameters, const char *column, QueryListStatement *ret)
{
    gboolean is_down = self->columns->len > 0 && is_descending(self, 0);
    g_autofree char *what = NULL;
    GString *text;

    if (self->language == QUERY_LANGUAGE_SPARQL) {
        what = g_strdup_printf("?%s (COUNT(*) AS ?queryd_n)", column);
        text = wrap_sparql(self, what);
        g_string_append_printf(text, " GROUP BY ?%s ORDER BY %s(?%s)", column, is_down ? "DESC" : "ASC", column);
    } else {
        text = begin_sql(self);
        append_name(text, column);
        g_string_append_printf(text, ", COUNT(*) FROM " LIST " GROUP BY 1 ORDER BY 1%s", is_down ? " DESC" : "");
    }
    finish(self, text, parameters, 0, ret);
}

void
query_list_statement_clear(QueryListStatement *self)
{
    g_clear_pointer(&self->text, g_free);
    g_clear_pointer(&self->parameters, g_variant_unref);
}
