/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fragments are put together in one pass: the size is known before a byte is written.
 */
#include "daemon/plan/sql.h"

#include <string.h>

#define LEVELS_MAX 16 /* of parentheses in a template */

/* --- tables ----------------------------------------------------------------------------------------------------------- */

static gboolean
set_has(const QdTableSet *self, const QdTableName *table)
{
    if (self == table->set || self == NULL || table->set == NULL)
        return self != NULL && table->set != NULL;
    for (guint i = 0; i < self->n && self->numbers[i] <= table->set->numbers[0]; i++) {
        if (self->numbers[i] == table->set->numbers[0])
            return TRUE;
    }
    return FALSE;
}

static QdTableSet *
new_set(QdArena *arena, guint n_max)
{
    return qd_arena_take(arena, sizeof(QdTableSet) + n_max * sizeof(guint));
}

QdSql
qd_sql_string(QdArena *arena, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "'", -1);
    g_autofree char *doubled = g_strjoinv("''", parts);

    return qd_sql_text(qd_arena_concat(arena, "'", doubled, "'", NULL));
}

QdTableName
qd_table_name_new(QdArena *arena, char letter, guint number)
{
    QdTableSet *set = new_set(arena, 1);

    set->n = 1;
    set->numbers[0] = number + 1;
    return (QdTableName){ qd_arena_printf(arena, "%c%u", letter, number), set };
}

/* Whether @a has all that @b has. */
static gboolean
includes(const QdTableSet *a, const QdTableSet *b)
{
    guint i = 0;

    for (guint j = 0; j < b->n; j++) {
        while (i < a->n && a->numbers[i] < b->numbers[j])
            i++;
        if (i == a->n || a->numbers[i] != b->numbers[j])
            return FALSE;
    }
    return TRUE;
}

/* @a (nullable) with what @b has. */
static const QdTableSet *
unite(QdArena *arena, const QdTableSet *a, const QdTableSet *b)
{
    QdTableSet *both;
    guint n = 0;

    if (a == b)
        return a;
    if (a == NULL || includes(b, a))
        return b;
    if (includes(a, b))
        return a;
    both = new_set(arena, a->n + b->n);
    for (guint i = 0, j = 0; i < a->n || j < b->n; n++) {
        guint number = j == b->n || (i < a->n && a->numbers[i] <= b->numbers[j]) ? a->numbers[i] : b->numbers[j];

        i += i < a->n && a->numbers[i] == number;
        j += j < b->n && b->numbers[j] == number;
        both->numbers[n] = number;
    }
    both->n = n;
    return both;
}

/* --- makers ----------------------------------------------------------------------------------------------------------- */

QdSql
qd_sql_text(const char *text)
{
    return (QdSql){ .text = text, .n_bytes = (guint) strlen(text) };
}

/* Texts one after the other: what most fragments are. */
static QdSql
concat(QdArena *arena, const QdSql *parts, guint n_parts)
{
    QdSql made = QD_SQL_NONE;
    char *text;

    for (guint i = 0; i < n_parts; i++) {
        made.n_bytes += parts[i].n_bytes;
        made.depth = MAX(made.depth, parts[i].depth);
        if (parts[i].tables != NULL)
            made.tables = unite(arena, made.tables, parts[i].tables);
        if (parts[i].sought != NULL)
            made.sought = unite(arena, made.sought, parts[i].sought);
    }
    made.text = text = qd_arena_take(arena, (gsize) made.n_bytes + 1);
    for (guint i = 0; i < n_parts; i++) {
        if (parts[i].n_bytes > 0)
            text = mempcpy(text, parts[i].text, parts[i].n_bytes);
    }
    *text = '\0';
    return made;
}

QdSql
qd_sql_column(QdArena *arena, const QdTableName *table, const char *column, QdSqlKind kind)
{
    QdSql made = concat(arena, (const QdSql[]){ qd_sql_text(table->text), qd_sql_text("."), qd_sql_text(column) }, 3);

    made.kind = kind;
    made.tables = table->set;
    return made;
}

gboolean
qd_sql_names(const QdSql *self, const QdTableName *table)
{
    return set_has(self->tables, table);
}

gboolean
qd_sql_seeks(const QdSql *self, const QdTableName *table)
{
    return set_has(self->sought, table);
}

gboolean
qd_sql_is_column_of(const QdSql *self, const QdTableName *table)
{
    return (self->kind == QD_SQL_COLUMN || qd_sql_is_node(self) || self->kind == QD_SQL_PREDICATE) && set_has(self->tables, table);
}

gboolean
qd_sql_is_node(const QdSql *self)
{
    return self->kind == QD_SQL_NODE || self->kind == QD_SQL_SUBJECT;
}

gboolean
qd_sql_looks_up_predicate(const QdSql *self, const QdTableName *table)
{
    return self->kind == QD_SQL_PREDICATE_LOOKUP && table->set != NULL && self->lookup->table == table->set->numbers[0];
}

/* What @part, @depth entries deep, adds to @whole beside its text. */
static void
take(QdArena *arena, QdSql *whole, const QdSql *part, guint depth)
{
    whole->depth = MAX(whole->depth, depth + part->depth);
    if (part->tables != NULL)
        whole->tables = unite(arena, whole->tables, part->tables);
    if (part->sought != NULL)
        whole->sought = unite(arena, whole->sought, part->sought);
}

/* Adds to @made, whose text is not there yet, what @template has with @parts. */
static void
measure(QdArena *arena, const char *template, const QdSql *parts, guint n_parts, QdSql *made)
{
    guint costs[LEVELS_MAX];
    guint n_levels = 0;
    guint depth = 0;
    guint n_taken = 0;

    for (const char *p = template; *p != '\0'; p++) {
        made->n_bytes++;
        if (*p == '@') {
            g_assert(n_taken < n_parts);
            made->n_bytes += parts[n_taken].n_bytes - 1;
            take(arena, made, &parts[n_taken++], depth);
        } else if (*p == '(') {
            g_assert(n_levels < LEVELS_MAX);
            costs[n_levels] = p > template && (p[-1] == '@' || g_ascii_isalnum(p[-1])) ? QD_DEPTH_CALL : QD_DEPTH_GROUP;
            depth += costs[n_levels++];
            made->depth = MAX(made->depth, depth);
        } else if (*p == ')') {
            g_assert(n_levels > 0);
            depth -= costs[--n_levels];
        }
    }
    g_assert(n_taken == n_parts && n_levels == 0);
}

QdSql
qd_sql_fill(QdArena *arena, const char *template, const QdSql *parts, guint n_parts)
{
    QdSql made = QD_SQL_NONE;
    char *text;

    measure(arena, template, parts, n_parts, &made);
    made.text = text = qd_arena_take(arena, (gsize) made.n_bytes + 1);
    for (const char *p = template; *p != '\0'; p++) {
        if (*p != '@')
            *text++ = *p;
        else if (parts++->n_bytes > 0) /* after an error there may be no text */
            text = mempcpy(text, parts[-1].text, parts[-1].n_bytes);
    }
    *text = '\0';
    return made;
}

QdSql
qd_sql_exists(QdArena *arena, QdSql with, QdSql select)
{
    gboolean has_with = with.text != NULL;
    QdSql made = has_with ? qd_sql_make(arena, "EXISTS(WITH RECURSIVE @ @)", with, select)
                          : qd_sql_make(arena, "EXISTS(@)", select);

    made.depth = (has_with ? QD_DEPTH_EXISTS_WITH : QD_DEPTH_EXISTS) + MAX(with.depth, select.depth);
    return made;
}

/* Notes in @made, a condition, that @column is looked up. */
static void
note_lookup(QdArena *arena, QdSql *made, const QdSql *column, const QdSql *values, guint n_values)
{
    QdSqlLookup *lookup;

    if (qd_sql_is_node(column))
        made->sought = unite(arena, made->sought, column->tables);
    if (column->kind != QD_SQL_PREDICATE || column->tables == NULL)
        return;
    lookup = qd_arena_new0(arena, QdSqlLookup);
    *lookup = (QdSqlLookup){ .column = *column, .table = column->tables->numbers[0], .n_values = n_values };
    lookup->values = qd_arena_array0(arena, QdSql, n_values);
    memcpy(lookup->values, values, n_values * sizeof(QdSql));
    made->kind = QD_SQL_PREDICATE_LOOKUP;
    made->lookup = lookup;
}

QdSql
qd_sql_equate(QdArena *arena, QdSql a, const char *operator, QdSql b)
{
    QdSql made = concat(arena, (const QdSql[]){ a, qd_sql_text(operator), b }, 3);

    note_lookup(arena, &made, &a, &b, 1);
    return made;
}

QdSql
qd_sql_list(QdArena *arena, const QdSql *parts, guint n_parts)
{
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(arena);

    for (guint i = 0; i < n_parts; i++)
        qd_sql_append_after(&list, ",", parts[i]);
    return n_parts > 0 ? qd_sql_finish(&list) : qd_sql_text("");
}

QdSql
qd_sql_is_among(QdArena *arena, QdSql a, const QdSql *values, guint n_values)
{
    QdSql made;

    if (n_values == 1)
        return qd_sql_equate(arena, a, "=", values[0]);
    made = qd_sql_make(arena, "@ IN (@)", a, qd_sql_list(arena, values, n_values));
    note_lookup(arena, &made, &a, values, n_values);
    return made;
}

QdSql
qd_sql_is_null(QdArena *arena, QdSql sql)
{
    return concat(arena, (const QdSql[]){ sql, qd_sql_text(" IS NULL") }, 2);
}

QdSql
qd_sql_is_bound(QdArena *arena, QdSql sql)
{
    return concat(arena, (const QdSql[]){ sql, qd_sql_text(" IS NOT NULL") }, 2);
}

QdSql
qd_sql_coalesce(QdArena *arena, QdSql a, QdSql b)
{
    QdSql made;

    if (a.kind == QD_SQL_COALESCE) {
        QdSql head = a;

        head.n_bytes--;
        made = concat(arena, (const QdSql[]){ head, qd_sql_text(","), b, qd_sql_text(")") }, 4);
        made.depth = MAX(a.depth, QD_DEPTH_CALL + b.depth);
    } else {
        made = qd_sql_make(arena, "coalesce(@,@)", a, b);
    }
    made.kind = QD_SQL_COALESCE;
    return made;
}

gboolean
qd_sql_equal(const QdSql *a, const QdSql *b)
{
    return a->n_bytes == b->n_bytes && memcmp(a->text, b->text, a->n_bytes) == 0;
}

/* --- lists ------------------------------------------------------------------------------------------------------------ */

QdSqlBuilder
qd_sql_builder_new(QdArena *arena)
{
    return (QdSqlBuilder){ .arena = arena, .text = g_string_sized_new(QD_SQL_BYTES) };
}

void
qd_sql_builder_clear(QdSqlBuilder *self)
{
    if (self->text != NULL)
        g_string_free(g_steal_pointer(&self->text), TRUE);
}

void
qd_sql_append(QdSqlBuilder *self, QdSql part)
{
    g_string_append_len(self->text, part.text, part.n_bytes);
    self->depth = MAX(self->depth, part.depth);
    if (part.tables != NULL)
        self->tables = unite(self->arena, self->tables, part.tables);
    if (part.sought != NULL)
        self->sought = unite(self->arena, self->sought, part.sought);
}

void
qd_sql_append_text(QdSqlBuilder *self, const char *text)
{
    g_string_append(self->text, text);
}

void
qd_sql_append_after(QdSqlBuilder *self, const char *separator, QdSql part)
{
    if (self->text->len > 0)
        g_string_append(self->text, separator);
    qd_sql_append(self, part);
}

QdSql
qd_sql_finish(const QdSqlBuilder *self)
{
    if (self->text->len == 0)
        return QD_SQL_NONE;
    return (QdSql){
        .text = qd_arena_strndup(self->arena, self->text->str, self->text->len),
        .n_bytes = (guint) self->text->len,
        .depth = self->depth,
        .tables = self->tables,
        .sought = self->sought,
    };
}
