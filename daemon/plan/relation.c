/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relations: SELECTs in parts, joined on the variables that they share.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

/* Of a table that SQLite takes for 2^20 rows: 65,536. */
#define WIDE_SHARE ",0.0625"
/* Of such a table: one row. */
#define NARROW_SHARE ",0.000001"

#define CHAIN_MAX 50         /* operators AND in a row */
#define LEVELS_MAX 100       /* of parentheses; deeper than any text that SQLite takes */
#define TEXT_BYTES 500       /* that a text begins with room for */
#define COLUMN_BYTES_MAX 500 /* of an SQL expression that is written again where its variable stands */

QdRelation *
qd_relation_new(QdGenerator *self)
{
    return qd_arena_new0(self->arena, QdRelation);
}

#define MIN_ROOM 4u /* elements */

/* How many an array of @n elements has room for. */
static guint
get_room(guint n)
{
    guint room = n > 0 ? MIN_ROOM : 0;

    while (room < n)
        room *= 2;
    return room;
}

/* Adds @n_more elements of @size bytes to an array of *@n. */
static gpointer
append(QdGenerator *self, gpointer array, guint *n, gconstpointer more, guint n_more, gsize size)
{
    guint room = get_room(*n + n_more);

    if (n_more == 0)
        return array;
    if (room > get_room(*n)) {
        gpointer larger = qd_arena_alloc(self->arena, room * size);

        if (*n > 0)
            memcpy(larger, array, *n * size);
        array = larger;
    }
    memcpy((char *) array + *n * size, more, n_more * size);
    *n += n_more;
    return array;
}

void
qd_relation_add_table(QdGenerator *self, QdRelation *relation, const QdTable *table)
{
    relation->tables = append(self, relation->tables, &relation->n_tables, table, 1, sizeof(QdTable));
}

void
qd_relation_add_where(QdGenerator *self, QdRelation *relation, const char *condition)
{
    if (condition != NULL)
        relation->conditions = append(self, relation->conditions, &relation->n_conditions, &condition, 1, sizeof(const char *));
}

void
qd_relation_add_pruning(QdGenerator *self, QdRelation *relation, const char *condition)
{
    if (condition != NULL)
        relation->prunings = append(self, relation->prunings, &relation->n_prunings, &condition, 1, sizeof(const char *));
}

void
qd_relation_take_rows(QdGenerator *self, QdRelation *relation, const QdRelation *source)
{
    relation->tables = append(self, relation->tables, &relation->n_tables, source->tables, source->n_tables, sizeof(QdTable));
    relation->conditions = append(self, relation->conditions, &relation->n_conditions, source->conditions, source->n_conditions,
                                  sizeof(const char *));
    relation->prunings = append(self, relation->prunings, &relation->n_prunings, source->prunings, source->n_prunings,
                                sizeof(const char *));
}

QdRelation *
qd_relation_copy(QdGenerator *self, const QdRelation *relation)
{
    QdRelation *copy = qd_relation_new(self);

    qd_relation_take_rows(self, copy, relation);
    copy->columns = append(self, NULL, &copy->n_columns, relation->columns, relation->n_columns, sizeof(QdColumn));
    return copy;
}

QdColumn *
qd_relation_find(const QdRelation *relation, guint variable)
{
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].variable == variable)
            return &relation->columns[i];
    }
    return NULL;
}

QdColumn *
qd_relation_add(QdGenerator *self, QdRelation *relation, guint variable, const char *sql)
{
    const QdColumn column = { .variable = variable, .sql = sql };

    relation->columns = append(self, relation->columns, &relation->n_columns, &column, 1, sizeof(QdColumn));
    return &relation->columns[relation->n_columns - 1];
}

QdRelation *
qd_relation_drop_column(QdGenerator *self, const QdRelation *relation, guint variable)
{
    QdRelation *rest = qd_relation_new(self);

    qd_relation_take_rows(self, rest, relation);
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].variable != variable)
            *qd_relation_add(self, rest, relation->columns[i].variable, NULL) = relation->columns[i];
    }
    return rest;
}

const char *
qd_column_intern(QdGenerator *self, const QdColumn *column)
{
    return column->interned ? column->sql : qd_arena_printf(self->arena, "queryd_to_term(%s)", column->sql);
}

/* --- size ------------------------------------------------------------------------------------------------------------- */

/* What an open parenthesis at @p keeps on the parser's stack until it is closed, with the operator before it. */
static guint
parenthesis_cost(const char *text, const char *p)
{
    if (p - text >= 6 && memcmp(p - 6, "EXISTS", 6) == 0)
        return g_str_has_prefix(p + 1, "WITH") ? 15 : 11;
    return p > text && g_ascii_isalnum(p[-1]) ? 5 : 3;
}

guint
qd_sql_get_depth(const char *text)
{
    guint costs[LEVELS_MAX];
    guint n = 0;
    guint depth = 0;
    guint deepest = 0;

    for (const char *p = strpbrk(text, "()"); p != NULL; p = strpbrk(p + 1, "()")) {
        if (*p == ')') {
            depth -= n > 0 ? costs[--n] : 0;
            continue;
        }
        if (n == LEVELS_MAX)
            return G_MAXUINT;
        costs[n] = parenthesis_cost(text, p);
        depth += costs[n++];
        deepest = MAX(deepest, depth);
    }
    return deepest;
}

guint
qd_relation_get_depth(const QdRelation *relation)
{
    guint deepest = 0;

    for (guint i = 0; i < relation->n_tables; i++)
        deepest = MAX(deepest, relation->tables[i].on != NULL ? qd_sql_get_depth(relation->tables[i].on) : 0);
    for (guint i = 0; i < relation->n_conditions; i++)
        deepest = MAX(deepest, qd_sql_get_depth(relation->conditions[i]));
    for (guint i = 0; i < relation->n_prunings; i++)
        deepest = MAX(deepest, qd_sql_get_depth(relation->prunings[i]));
    for (guint i = 0; i < relation->n_columns; i++)
        deepest = MAX(deepest, qd_sql_get_depth(relation->columns[i].sql));
    return deepest;
}

guint
qd_relation_get_n_arms(const QdRelation *relation)
{
    guint n = 1;

    for (guint i = 0; i < relation->n_tables && n < G_MAXUINT16; i++)
        n *= MAX(1, relation->tables[i].n_arms);
    return n;
}

gboolean
qd_relation_has_long_columns(const QdRelation *relation)
{
    for (guint i = 0; i < relation->n_columns; i++) {
        if (strlen(relation->columns[i].sql) > COLUMN_BYTES_MAX)
            return TRUE;
    }
    return FALSE;
}

/* --- text ------------------------------------------------------------------------------------------------------------- */

/* As "%s%s", in a quarter of its time. */
static void
append_pair(GString *text, const char *a, const char *b)
{
    g_string_append(text, a);
    g_string_append(text, b);
}

const char *
qd_relation_write_from(QdGenerator *self, const QdRelation *relation, guint first)
{
    g_autoptr(GString) text = g_string_sized_new(TEXT_BYTES);

    for (guint i = first; i < relation->n_tables; i++) {
        const QdTable *table = &relation->tables[i];

        if (i == first && table->on != NULL)
            g_string_append(text, "(SELECT 1)");
        if (table->on != NULL)
            g_string_append(text, " LEFT JOIN ");
        else if (i > first)
            g_string_append(text, " CROSS JOIN ");
        g_string_append(text, table->text);
        if (table->on != NULL)
            append_pair(text, " ON ", table->on);
    }
    return text->len > 0 ? qd_arena_strndup(self->arena, text->str, text->len) : "(SELECT 1)";
}

/* A long chain of AND is a deep tree to SQLite, so it becomes a balanced one. */
static void
write_conjunction(GString *text, const char **conditions, guint n_conditions)
{
    if (n_conditions <= CHAIN_MAX) {
        for (guint i = 0; i < n_conditions; i++)
            append_pair(text, i > 0 ? " AND " : "", conditions[i]);
        return;
    }
    g_string_append_c(text, '(');
    write_conjunction(text, conditions, n_conditions / 2);
    g_string_append(text, ") AND (");
    write_conjunction(text, conditions + n_conditions / 2, n_conditions - n_conditions / 2);
    g_string_append_c(text, ')');
}

/* Whether @sql begins with a column of @table. */
static gboolean
names_table(const char *sql, const QdTable *table)
{
    gsize n = strlen(table->name);

    return strncmp(sql, table->name, n) == 0 && sql[n] == '.';
}

/* Whether @condition names that column of @table as it looks up a constant. */
static gboolean
looks_up(const char *condition, const QdTable *table, const char *column)
{
    gsize n = strlen(table->name);

    for (const char *found = strstr(condition, table->name); found != NULL; found = strstr(found + n, table->name))
        if (g_str_has_prefix(found + n, column) && (found[n + 2] == '=' || g_str_has_prefix(found + n + 2, " IN ")))
            return TRUE;
    return FALSE;
}

/*
 * The condition by which a join begins with all quads of a predicate: its index, or n_conditions. Without statistics SQLite
 * takes them for ten. It then scans what it has materialised once for each of them, where an index would be made in no time.
 */
static guint
find_wide_scan(const QdRelation *relation)
{
    guint found = relation->n_conditions;

    if (relation->n_tables < 1 || !relation->tables[0].is_base)
        return found;
    for (guint i = 0; i < relation->n_conditions; i++) {
        const char *condition = relation->conditions[i];

        if (looks_up(condition, &relation->tables[0], ".s") || looks_up(condition, &relation->tables[0], ".o"))
            return relation->n_conditions;
        if (g_str_has_prefix(condition, relation->tables[0].name) && looks_up(condition, &relation->tables[0], ".p"))
            found = i;
    }
    return found;
}

const char *
qd_relation_write_where(QdGenerator *self, const QdRelation *relation)
{
    g_autoptr(GString) text = g_string_sized_new(TEXT_BYTES);
    guint wide = find_wide_scan(relation);
    const char **conditions = qd_arena_array0(self->arena, const char *, relation->n_conditions + 1);

    for (guint i = 0; i < relation->n_conditions; i++)
        conditions[i] = i == wide ? qd_arena_concat(self->arena, "likelihood(", relation->conditions[i], WIDE_SHARE ")", NULL)
                                  : relation->conditions[i];
    write_conjunction(text, conditions, relation->n_conditions);
    if (relation->n_prunings > 0)
        g_string_append(text, text->len > 0 ? " AND " : "");
    write_conjunction(text, relation->prunings, relation->n_prunings);
    return text->len > 0 ? qd_arena_strndup(self->arena, text->str, text->len) : "1";
}

const char *
qd_relation_write_list(QdGenerator *self, const QdRelation *relation, const char *head, const char *list, const char *tail)
{
    const char *from = relation->n_tables > 0 ? qd_relation_write_from(self, relation, 0) : NULL;
    const char *where = relation->n_conditions + relation->n_prunings > 0 ? qd_relation_write_where(self, relation) : NULL;

    return qd_arena_concat(self->arena, head, " ", list, from != NULL ? " FROM " : "", from != NULL ? from : "",
                           where != NULL ? " WHERE " : "", where != NULL ? where : "", tail != NULL && tail[0] != '\0' ? " " : "",
                           tail != NULL ? tail : "", NULL);
}

const char *
qd_relation_write(QdGenerator *self, const QdRelation *relation, const char *head, const char *tail)
{
    g_autoptr(GString) list = g_string_new(NULL);

    for (guint i = 0; i < relation->n_columns; i++)
        append_pair(list, i > 0 ? "," : "", relation->columns[i].sql);
    if (relation->n_columns == 0)
        g_string_append(list, "1");
    return qd_relation_write_list(self, relation, head, list->str, tail);
}

/* Whether SQLite evaluates @table by itself, so that it has no index but an automatic one. */
static gboolean
is_sealed(const QdTable *table)
{
    return strcmp(table->text, table->name) == 0;
}

const char *
qd_relation_write_probe(QdGenerator *self, const QdRelation *relation)
{
    const QdTable many = { .text = "queryd_many", .name = "queryd_many" };
    QdRelation *probe;
    guint i = 0;

    while (i < relation->n_tables && !is_sealed(&relation->tables[i]))
        i++;
    if (i == relation->n_tables)
        return qd_relation_write_list(self, relation, "SELECT", "1", NULL);
    /* an automatic index serves all rows around it, of which SQLite knows nothing */
    probe = qd_relation_new(self);
    qd_relation_add_table(self, probe, &many);
    qd_relation_take_rows(self, probe, relation);
    return qd_relation_write_list(self, probe, "SELECT", "1", NULL);
}

/*
 * Without statistics SQLite takes what it evaluates for a few rows. It makes no index of it where it is joined, and scans it
 * for each row on its left. An arm that gives no rows says that there are many; nothing of it is run.
 */
static void
state_size(QdGenerator *self, const QdRelation *shape)
{
    g_string_append(self->with, " UNION ALL SELECT NULL");
    for (guint i = 1; i < shape->n_columns; i++)
        g_string_append(self->with, ",NULL");
    g_string_append(self->with, " FROM queryd_many WHERE 0");
}

QdRelation *
qd_relation_seal_text(QdGenerator *self, const QdRelation *shape, const char *text, QdSeal seal)
{
    static const char *const hints[] = { "", "", "MATERIALIZED ", "NOT MATERIALIZED ", "" };
    QdRelation *sealed = qd_relation_new(self);
    const char *name = qd_arena_printf(self->arena, "c%u", qd_generator_make_name(self));
    const QdTable table = { .text = name, .name = name, .is_kept = seal == QD_SEAL_MATERIALIZED };

    g_string_append_printf(self->with, "%s%s(", self->with->len > 0 ? ",\n" : "", name);
    for (guint i = 0; i < shape->n_columns; i++) {
        const QdColumn *from = &shape->columns[i];
        QdColumn *column;

        g_string_append_printf(self->with, "%sv%u", i > 0 ? "," : "", from->variable);
        column = qd_relation_add(self, sealed, from->variable, qd_arena_printf(self->arena, "%s.v%u", name, from->variable));
        column->certain = from->certain;
        column->interned = from->interned;
        column->serial = from->serial;
        column->settled = from->settled;
        column->plain = TRUE;
    }
    g_string_append_printf(self->with, "%s) AS %s(%s", shape->n_columns == 0 ? "u" : "", hints[seal], text);
    if (seal == QD_SEAL_TABLE || seal == QD_SEAL_MATERIALIZED || seal == QD_SEAL_STREAM)
        state_size(self, shape);
    /* SQLite merges no SELECT with a LIMIT into a join */
    g_string_append(self->with, seal == QD_SEAL_STREAM ? " LIMIT -1)" : ")");
    qd_relation_add_table(self, sealed, &table);
    return sealed;
}

QdRelation *
qd_relation_seal(QdGenerator *self, const QdRelation *relation, QdSeal seal)
{
    return qd_relation_seal_text(self, relation, qd_relation_write(self, relation, "SELECT", NULL), seal);
}

/* They are equal, or @a is unbound: as a range, which an index can serve. Ids are integers, and a term that has none is a blob.
 * An unbound one is compared with all, so the index is not praised where that may be usual. */
static const char *
write_open_match(QdGenerator *self, const QdColumn *a, const QdColumn *b)
{
    const char *sql = qd_column_intern(self, a);

    return qd_arena_printf(self->arena, "%s(%s BETWEEN ifnull(%s,-9223372036854775808) AND ifnull(%s,x'')%s)",
                           a->settled ? "likelihood" : "", qd_column_intern(self, b), sql, sql, a->settled ? NARROW_SHARE : "");
}

const char *
qd_relation_match(QdGenerator *self, const QdRelation *left, const QdRelation *right, QdRelation *target)
{
    const char *shared = NULL;
    gboolean surely_shared = FALSE;

    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *b = &right->columns[i];
        const QdColumn *a = qd_relation_find(left, b->variable);
        const char *condition;

        if (a == NULL)
            continue;
        /* unary +: no transitive equalities, which cost 0.7 s to compile 24 tables; the right follows the left anyway */
        condition = qd_arena_concat(self->arena, qd_column_intern(self, b), "=+", qd_column_intern(self, a), NULL);
        if (!a->certain && a->plain && b->certain)
            condition = write_open_match(self, a, b);
        else if (!a->certain || !b->certain)
            condition = qd_arena_printf(self->arena, "(%s%s%s%s%s%s%s)", condition, a->certain ? "" : " OR ",
                                        a->certain ? "" : a->sql, a->certain ? "" : " IS NULL", b->certain ? "" : " OR ",
                                        b->certain ? "" : b->sql, b->certain ? "" : " IS NULL");
        qd_relation_add_where(self, target, condition);
        if (self->graph.kind == QD_NODE_VARIABLE && b->variable == self->graph.variable)
            continue; /* no variable of the query's */
        surely_shared = surely_shared || (a->certain && b->certain);
        if (!surely_shared)
            shared = qd_arena_printf(self->arena, "%s%s(%s IS NOT NULL AND %s IS NOT NULL)", shared != NULL ? shared : "",
                                     shared != NULL ? " OR " : "", a->sql, b->sql);
    }
    return surely_shared ? "1" : shared;
}

/* --- join ------------------------------------------------------------------------------------------------------------- */

/* The first of both that is bound: one call, however often it is put into another. */
void
qd_column_coalesce(QdGenerator *self, QdColumn *column, const QdColumn *other)
{
    static const char call[] = "coalesce(";
    const char *a = column->sql;
    gsize n = strlen(a);

    if (g_str_has_prefix(a, call) && a[n - 1] == ')')
        column->sql = qd_arena_printf(self->arena, "%.*s,%s)", (int) n - 1, a, other->sql);
    else
        column->sql = qd_arena_printf(self->arena, "coalesce(%s,%s)", a, other->sql);
    column->interned = column->interned && other->interned;
    column->plain = FALSE;
}

/* The column of a variable that both sides may bind. */
static void
merge_column(QdGenerator *self, QdColumn *a, const QdColumn *b)
{
    if (a->certain && (a->interned || !b->certain || !b->interned))
        return;
    if (b->certain) {
        *a = *b;
        return;
    }
    qd_column_coalesce(self, a, b);
}

const QdRelation *
qd_relation_settle(QdGenerator *self, const QdRelation *side, const QdRelation *other, QdSeal seal)
{
    QdRelation *settled = NULL;

    for (guint i = 0; i < side->n_columns; i++) {
        const QdColumn *column = &side->columns[i];

        if (column->certain || column->interned || qd_relation_find(other, column->variable) == NULL)
            continue;
        if (settled == NULL)
            settled = qd_relation_copy(self, side);
        settled->columns[i].sql = qd_column_intern(self, column);
        settled->columns[i].interned = settled->columns[i].settled = TRUE;
    }
    return settled != NULL ? qd_relation_seal(self, settled, seal) : side;
}

/* The side that is sealed goes first, where the other is a single table, which an index can serve then. */
static void
settle_sides(QdGenerator *self, const QdRelation **left, const QdRelation **right)
{
    const QdRelation *first = qd_relation_settle(self, *left, *right, QD_SEAL_STREAM);
    gboolean may_turn = first == *left && first->n_tables == 1;
    const QdRelation *second = qd_relation_settle(self, *right, *left, may_turn ? QD_SEAL_STREAM : QD_SEAL_MATERIALIZED);
    gboolean turns = may_turn && second != *right;

    *left = turns ? second : first;
    *right = turns ? first : second;
}

gboolean
qd_relation_begins_apart(const QdRelation *left, const QdRelation *right)
{
    gboolean shares = FALSE;
    gboolean has_sealed = FALSE;

    if (right->n_tables < 2 || left->n_tables == 0)
        return FALSE;
    for (guint i = 0; i < right->n_tables; i++)
        has_sealed = has_sealed || is_sealed(&right->tables[i]);
    for (guint i = 0; i < right->n_columns; i++) {
        const QdColumn *column = &right->columns[i];
        const QdColumn *known = qd_relation_find(left, column->variable);

        if (known == NULL)
            continue;
        /* of what may be unbound a stored table can look for a range */
        if (names_table(column->sql, &right->tables[0]) && (known->certain || right->tables[0].is_base))
            return FALSE;
        shares = TRUE;
    }
    return shares && has_sealed;
}

const QdRelation *
qd_relation_keep_apart(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    QdRelation *shared;

    if (!qd_relation_begins_apart(left, right))
        return right;
    shared = qd_relation_new(self);
    qd_relation_take_rows(self, shared, right);
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn column = right->columns[i];

        if (qd_relation_find(left, column.variable) == NULL)
            continue;
        column.sql = qd_column_intern(self, &column);
        column.interned = TRUE;
        *qd_relation_add(self, shared, column.variable, NULL) = column;
    }
    return qd_relation_seal_text(self, shared, qd_relation_write(self, shared, "SELECT DISTINCT", NULL), QD_SEAL_MATERIALIZED);
}

/* A side that does not fit into one SELECT with the other, or would be scanned for each of its rows, is sealed. */
static void
cut_join(QdGenerator *self, const QdRelation **left, const QdRelation **right)
{
    gboolean fits;

    settle_sides(self, left, right);
    if (qd_relation_begins_apart(*left, *right))
        *right = qd_relation_seal(self, *right, QD_SEAL_MATERIALIZED);
    fits = (*left)->n_tables + (*right)->n_tables <= QD_TABLES_MAX;
    if (!fits || qd_relation_get_n_arms(*left) * qd_relation_get_n_arms(*right) > QD_MERGED_ARMS_MAX ||
        qd_relation_has_long_columns(*left))
        *left = qd_relation_seal(self, *left, QD_SEAL_STREAM);
    if (!fits && (*right)->n_tables > QD_TABLES_MAX / 2)
        *right = qd_relation_seal(self, *right, QD_SEAL_MATERIALIZED);
}

/* Adds @right to @joined. */
static void
merge(QdGenerator *self, QdRelation *joined, const QdRelation *right)
{
    qd_relation_take_rows(self, joined, right);
    (void) qd_relation_match(self, joined, right, joined);
    for (guint i = 0; i < right->n_columns; i++) {
        QdColumn *column = qd_relation_find(joined, right->columns[i].variable);

        if (column != NULL)
            merge_column(self, column, &right->columns[i]);
        else
            *qd_relation_add(self, joined, right->columns[i].variable, NULL) = right->columns[i];
    }
}

QdRelation *
qd_relation_join(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    return qd_relation_join_to(self, qd_relation_copy(self, left), right);
}

QdRelation *
qd_relation_join_to(QdGenerator *self, QdRelation *left, const QdRelation *right)
{
    const QdRelation *cut = left;
    QdRelation *split = qd_relation_join_open(self, left, right);

    if (split != NULL)
        return split;
    cut_join(self, &cut, &right);
    if (cut != left)
        return qd_relation_merge(self, cut, right);
    merge(self, left, right);
    return left;
}

QdRelation *
qd_relation_merge(QdGenerator *self, const QdRelation *left, const QdRelation *right)
{
    QdRelation *joined = qd_relation_copy(self, left);

    merge(self, joined, right);
    return joined;
}
