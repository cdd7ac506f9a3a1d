/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relations: SELECTs in parts, and their texts.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

/* Of a table that SQLite takes for 2^20 rows: 65,536. */
#define WIDE_SHARE "0.0625"

#define CHAIN_MAX 50         /* operators AND in a row */
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
        gpointer larger = qd_arena_take(self->arena, room * size);

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
qd_relation_add_where(QdGenerator *self, QdRelation *relation, QdSql condition)
{
    if (condition.text != NULL)
        relation->conditions = append(self, relation->conditions, &relation->n_conditions, &condition, 1, sizeof(QdSql));
}

void
qd_relation_add_pruning(QdGenerator *self, QdRelation *relation, QdSql condition)
{
    if (condition.text != NULL)
        relation->prunings = append(self, relation->prunings, &relation->n_prunings, &condition, 1, sizeof(QdSql));
}

void
qd_relation_take_rows(QdGenerator *self, QdRelation *relation, const QdRelation *source)
{
    relation->tables = append(self, relation->tables, &relation->n_tables, source->tables, source->n_tables, sizeof(QdTable));
    relation->conditions = append(self, relation->conditions, &relation->n_conditions, source->conditions, source->n_conditions,
                                  sizeof(QdSql));
    relation->prunings = append(self, relation->prunings, &relation->n_prunings, source->prunings, source->n_prunings,
                                sizeof(QdSql));
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
qd_relation_add_column(QdGenerator *self, QdRelation *relation, const QdColumn *column)
{
    relation->columns = append(self, relation->columns, &relation->n_columns, column, 1, sizeof(QdColumn));
    return &relation->columns[relation->n_columns - 1];
}

QdColumn *
qd_relation_add(QdGenerator *self, QdRelation *relation, guint variable, QdSql sql)
{
    const QdColumn column = { .variable = variable, .sql = sql };

    return qd_relation_add_column(self, relation, &column);
}

QdColumn *
qd_relation_add_stored(QdGenerator *self, QdRelation *relation, guint variable, QdSql sql)
{
    const QdColumn column = { .variable = variable, .sql = sql, .certain = TRUE, .interned = TRUE, .plain = TRUE };

    return qd_relation_add_column(self, relation, &column);
}

QdRelation *
qd_relation_drop_column(QdGenerator *self, const QdRelation *relation, guint variable)
{
    QdRelation *rest = qd_relation_new(self);

    qd_relation_take_rows(self, rest, relation);
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].variable != variable)
            (void) qd_relation_add_column(self, rest, &relation->columns[i]);
    }
    return rest;
}

QdSql
qd_column_intern(QdGenerator *self, const QdColumn *column)
{
    return column->interned ? column->sql : qd_sql_make(self->arena, "queryd_to_term(@)", column->sql);
}

int
qd_relation_find_last_table(const QdRelation *relation, const QdSql *condition)
{
    int last = (int) relation->n_tables - 1;

    while (last >= 0 && !qd_sql_names(condition, &relation->tables[last].name))
        last--;
    return last;
}

QdSql
qd_table_write_witness(QdGenerator *self, const QdTable *table)
{
    return qd_sql_column(self->arena, &table->name, table->sure, QD_SQL_COLUMN);
}

void
qd_table_write_search(QdGenerator *self, QdTable *table)
{
    table->from = qd_sql_make(self->arena, "queryd_closure(@@) AS @", table->seed, table->search, qd_sql_text(table->name.text));
}

/* --- size ------------------------------------------------------------------------------------------------------------- */

guint
qd_relation_get_depth(const QdRelation *relation)
{
    guint deepest = 0;

    for (guint i = 0; i < relation->n_tables; i++)
        deepest = MAX(deepest, relation->tables[i].on.depth);
    for (guint i = 0; i < relation->n_conditions; i++)
        deepest = MAX(deepest, relation->conditions[i].depth);
    for (guint i = 0; i < relation->n_prunings; i++)
        deepest = MAX(deepest, relation->prunings[i].depth);
    for (guint i = 0; i < relation->n_columns; i++)
        deepest = MAX(deepest, relation->columns[i].sql.depth);
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
        if (relation->columns[i].sql.n_bytes > COLUMN_BYTES_MAX)
            return TRUE;
    }
    return FALSE;
}

/* --- text ------------------------------------------------------------------------------------------------------------- */

static QdSql
write_row(QdGenerator *self)
{
    return qd_sql_fill(self->arena, "(SELECT 1)", NULL, 0);
}

QdSql
qd_relation_write_from(QdGenerator *self, const QdRelation *relation)
{
    g_auto(QdSqlBuilder) text = { 0 };

    if (relation->n_tables == 0)
        return write_row(self);
    if (relation->n_tables == 1 && relation->tables[0].on.text == NULL)
        return relation->tables[0].from;
    text = qd_sql_builder_new(self->arena);
    for (guint i = 0; i < relation->n_tables; i++) {
        const QdTable *table = &relation->tables[i];

        if (i == 0 && table->on.text != NULL)
            qd_sql_append(&text, write_row(self));
        if (table->on.text != NULL)
            qd_sql_append_text(&text, " LEFT JOIN ");
        else if (i > 0)
            qd_sql_append_text(&text, " CROSS JOIN ");
        qd_sql_append(&text, table->from);
        if (table->on.text != NULL) {
            qd_sql_append_text(&text, " ON ");
            qd_sql_append(&text, table->on);
        }
    }
    return qd_sql_finish(&text);
}

/* A long chain of AND is a deep tree to SQLite, so it becomes a balanced one. */
static QdSql
write_conjunction(QdGenerator *self, const QdSql *conditions, guint n_conditions)
{
    g_auto(QdSqlBuilder) text = { 0 };

    if (n_conditions == 1)
        return *conditions;
    if (n_conditions > CHAIN_MAX)
        return qd_sql_make(self->arena, "(@) AND (@)", write_conjunction(self, conditions, n_conditions / 2),
                           write_conjunction(self, conditions + n_conditions / 2, n_conditions - n_conditions / 2));
    text = qd_sql_builder_new(self->arena);
    for (guint i = 0; i < n_conditions; i++)
        qd_sql_append_after(&text, " AND ", conditions[i]);
    return qd_sql_finish(&text);
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
        const QdSql *condition = &relation->conditions[i];

        if (qd_sql_seeks(condition, &relation->tables[0].name))
            return relation->n_conditions;
        if (qd_sql_looks_up_predicate(condition, &relation->tables[0].name))
            found = i;
    }
    return found;
}

QdSql
qd_relation_write_where(QdGenerator *self, const QdRelation *relation)
{
    guint wide = find_wide_scan(relation);
    QdSql *conditions = qd_arena_take(self->arena, (relation->n_conditions + 1) * sizeof(QdSql));
    QdSql all, prunings;

    for (guint i = 0; i < relation->n_conditions; i++)
        conditions[i] = i == wide ? qd_sql_make(self->arena, "likelihood(@," WIDE_SHARE ")", relation->conditions[i])
                                  : relation->conditions[i];
    all = write_conjunction(self, conditions, relation->n_conditions);
    prunings = write_conjunction(self, relation->prunings, relation->n_prunings);
    if (relation->n_conditions > 0 && relation->n_prunings > 0)
        return qd_sql_make(self->arena, "@ AND @", all, prunings);
    if (relation->n_conditions + relation->n_prunings == 0)
        return qd_sql_text("1");
    return relation->n_conditions > 0 ? all : prunings;
}

QdSql
qd_relation_write_list(QdGenerator *self, const QdRelation *relation, const char *head, QdSql list, QdSql tail)
{
    gboolean has_from = relation->n_tables > 0;
    gboolean has_where = relation->n_conditions + relation->n_prunings > 0;
    const QdSql none = QD_SQL_NONE;

    return qd_sql_make(self->arena, "@ @@@@@@@", qd_sql_text(head), list.text != NULL ? list : qd_sql_text("1"),
                       qd_sql_text(has_from ? " FROM " : ""), has_from ? qd_relation_write_from(self, relation) : none,
                       qd_sql_text(has_where ? " WHERE " : ""), has_where ? qd_relation_write_where(self, relation) : none,
                       qd_sql_text(tail.text != NULL ? " " : ""), tail);
}

QdSql
qd_relation_write(QdGenerator *self, const QdRelation *relation, const char *head, QdSql tail)
{
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < relation->n_columns; i++)
        qd_sql_append_after(&list, ",", relation->columns[i].sql);
    return qd_relation_write_list(self, relation, head, qd_sql_finish(&list), tail);
}

QdSql
qd_relation_write_probe(QdGenerator *self, const QdRelation *relation)
{
    const QdTable many = { .from = qd_sql_text("queryd_many"), .name = { "queryd_many", NULL } };
    QdRelation *probe;
    guint i = 0;

    while (i < relation->n_tables && !relation->tables[i].is_sealed)
        i++;
    if (i == relation->n_tables)
        return qd_relation_write_list(self, relation, "SELECT", QD_SQL_NONE, QD_SQL_NONE);
    /* an automatic index serves all rows around it, of which SQLite knows nothing */
    probe = qd_relation_new(self);
    qd_relation_add_table(self, probe, &many);
    qd_relation_take_rows(self, probe, relation);
    return qd_relation_write_list(self, probe, "SELECT", QD_SQL_NONE, QD_SQL_NONE);
}

/* --- common table expressions ----------------------------------------------------------------------------------------- */

/*
 * Without statistics SQLite takes what it evaluates for a few rows. It makes no index of it where it is joined, and scans it
 * for each row on its left. An arm that gives no rows says that there are many; nothing of it is run.
 */
static void
state_size(QdSqlBuilder *text, const QdRelation *shape)
{
    qd_sql_append_text(text, " UNION ALL SELECT NULL");
    for (guint i = 1; i < shape->n_columns; i++)
        qd_sql_append_text(text, ",NULL");
    qd_sql_append_text(text, " FROM queryd_many WHERE 0");
}

/* @limit: none, or how many rows it gives at most; SQLite merges no SELECT with a LIMIT into a join. */
static QdRelation *
seal_limited(QdGenerator *self, const QdRelation *shape, QdSql select, QdSeal seal, QdSql limit)
{
    static const char *const hints[] = { "", "", " MATERIALIZED", " NOT MATERIALIZED", "", " NOT MATERIALIZED" };
    g_auto(QdSqlBuilder) names = qd_sql_builder_new(self->arena);
    g_auto(QdSqlBuilder) text = qd_sql_builder_new(self->arena);
    QdRelation *sealed = qd_relation_new(self);
    QdTable table = qd_generator_make_table(self, 'c');

    for (guint i = 0; i < shape->n_columns; i++) {
        QdColumn column = shape->columns[i];
        const char *name = qd_arena_printf(self->arena, "v%u", column.variable);

        qd_sql_append_after(&names, ",", qd_sql_text(name));
        column.sql = qd_sql_column(self->arena, &table.name, name, QD_SQL_COLUMN);
        column.plain = TRUE;
        column.fickle = FALSE;
        (void) qd_relation_add_column(self, sealed, &column);
    }
    if (shape->n_columns == 0)
        qd_sql_append_text(&names, "u");
    qd_sql_append(&text, select);
    if (seal == QD_SEAL_TABLE || seal == QD_SEAL_MATERIALIZED || limit.text != NULL)
        state_size(&text, shape);
    if (limit.text != NULL)
        qd_sql_append(&text, qd_sql_make(self->arena, " LIMIT @", limit));
    qd_generator_define(self, qd_sql_make(self->arena, "@(@) AS@", table.from, qd_sql_finish(&names), qd_sql_text(hints[seal])),
                        qd_sql_finish(&text));
    table.is_sealed = TRUE;
    table.is_kept = seal == QD_SEAL_MATERIALIZED;
    qd_relation_add_table(self, sealed, &table);
    return sealed;
}

QdRelation *
qd_relation_seal_text(QdGenerator *self, const QdRelation *shape, QdSql select, QdSeal seal)
{
    return seal_limited(self, shape, select, seal,
                        seal == QD_SEAL_STREAM || seal == QD_SEAL_TWICE ? qd_sql_text("-1") : QD_SQL_NONE);
}

QdRelation *
qd_relation_seal_if(QdGenerator *self, const QdRelation *relation, QdSql condition)
{
    return seal_limited(self, relation, qd_relation_write(self, relation, "SELECT", QD_SQL_NONE), QD_SEAL_STREAM,
                        qd_sql_make(self->arena, "-(@)", condition));
}

QdRelation *
qd_relation_seal(QdGenerator *self, const QdRelation *relation, QdSeal seal)
{
    return qd_relation_seal_text(self, relation, qd_relation_write(self, relation, "SELECT", QD_SQL_NONE), seal);
}
