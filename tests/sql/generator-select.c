/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SELECT, with what may stand in it.
 */
#include "tests/sql/generator-private.h"

#include <string.h>

static const char *const aggregates[] = { "count", "sum", "min", "max", "total", "avg", "group_concat", "json_group_array" };
static const char *const joins[] = {
    ", ", " JOIN ", " LEFT JOIN ", " CROSS JOIN ", " NATURAL JOIN ", " FULL JOIN ", " RIGHT JOIN "
};

/* What was in scope before comes back. */
typedef struct Scope {
    const Relation *scope[4];
    char aliases[4][8];
    guint n_scope;
} Scope;

static void
save_scope(const Generator *self, Scope *ret_scope)
{
    memcpy(ret_scope->scope, self->scope, sizeof(self->scope));
    memcpy(ret_scope->aliases, self->aliases, sizeof(self->aliases));
    ret_scope->n_scope = self->n_scope;
}

static void
restore_scope(Generator *self, const Scope *scope)
{
    memcpy(self->scope, scope->scope, sizeof(self->scope));
    memcpy(self->aliases, scope->aliases, sizeof(self->aliases));
    self->n_scope = scope->n_scope;
}

static void
put_from(Generator *self, guint depth)
{
    guint n = 1 + generator_pick(self, depth > 1 ? 3 : 2);

    self->n_scope = 0;
    for (guint i = 0; i < n && i < 3; i++) {
        Relation *relation = generator_any_relation(self);
        const char *join = joins[generator_pick(self, G_N_ELEMENTS(joins))];

        if (relation == NULL)
            return;
        generator_put(self, "%s", i == 0 ? " FROM " : join);
        self->scope[i] = relation;
        g_snprintf(self->aliases[i], sizeof(self->aliases[i]), "x%u", self->n_names++ % 1000);
        generator_put(self, "%s AS %s", relation->name, self->aliases[i]);
        self->n_scope = i + 1;
        if (i > 0 && join[1] != ' ' && join[1] != 'N' && generator_chance(self, 3) == FALSE) {
            generator_put(self, " ON ");
            generator_expression(self, 1);
        }
    }
}

static void
put_window(Generator *self)
{
    static const char *const functions[] = { "row_number()", "rank()", "dense_rank()", "ntile(3)", "percent_rank()" };
    static const char *const frames[] = { "",
                                          " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
                                          " RANGE UNBOUNDED PRECEDING",
                                          " GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES",
                                          " RANGE BETWEEN 2 PRECEDING AND 1.5 FOLLOWING EXCLUDE GROUP",
                                          " ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING EXCLUDE CURRENT ROW",
                                          " GROUPS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
                                          " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING" };

    if (generator_chance(self, 2)) {
        generator_put(self, "%s", functions[generator_pick(self, G_N_ELEMENTS(functions))]);
    } else if (generator_chance(self, 2)) {
        static const char *const values[] = { "lag", "lead", "last_value", "first_value", "nth_value" };
        guint at = generator_pick(self, G_N_ELEMENTS(values));

        generator_put(self, "%s(", values[at]);
        generator_expression(self, 1);
        generator_put(self, "%s)", at == 4 ? ", 2" : at <= 1 && generator_chance(self, 2) ? ", 2, 'none'" : "");
    } else {
        generator_put(self, "%s(", aggregates[generator_pick(self, 6)]);
        generator_expression(self, 1);
        generator_put(self, ") FILTER (WHERE ");
        generator_expression(self, 1);
        generator_put(self, ")");
    }
    generator_put(self, " OVER (PARTITION BY ");
    generator_expression(self, 0);
    generator_put(self, " ORDER BY ");
    generator_expression(self, 0);
    generator_put(self, "%s)", frames[generator_pick(self, G_N_ELEMENTS(frames))]);
}

static void
put_aggregate(Generator *self, guint depth)
{
    const char *name = aggregates[generator_pick(self, G_N_ELEMENTS(aggregates))];

    if (generator_chance(self, 4)) {
        generator_put(self, "count(*)");
        return;
    }
    generator_put(self, "%s(%s", name, generator_chance(self, 4) ? "DISTINCT " : "");
    generator_expression(self, depth > 0 ? depth - 1 : 0);
    generator_put(self, ")");
    if (generator_chance(self, 6)) {
        generator_put(self, " FILTER (WHERE ");
        generator_expression(self, 1);
        generator_put(self, ")");
    }
}

static void
put_columns(Generator *self, guint depth, guint n_columns, gboolean groups)
{
    if (n_columns == 0 && generator_chance(self, 3)) {
        generator_put(self, "*");
        return;
    }
    for (guint i = 0; i < MAX(n_columns, 1); i++) {
        generator_put(self, "%s", i > 0 ? ", " : "");
        if (groups && generator_chance(self, 2))
            put_aggregate(self, depth);
        else if (!groups && depth > 1 && n_columns != 1 && generator_chance(self, 8))
            put_window(self);
        else
            generator_expression(self, depth);
        if (generator_chance(self, 4))
            generator_put(self, " AS c%u", i);
    }
}

/* FROM is made first, since columns name what it has. */
static void
put_core(Generator *self, guint depth, guint n_columns)
{
    gboolean groups = generator_chance(self, 4);
    GString *outer = g_steal_pointer(&self->text);
    g_autoptr(GString) from = NULL;

    self->text = g_string_new(NULL);
    put_from(self, depth);
    from = g_steal_pointer(&self->text);
    self->text = outer;

    generator_put(self, "SELECT %s", generator_chance(self, 6) ? "DISTINCT " : "");
    put_columns(self, depth, n_columns, groups);
    generator_put(self, "%s", from->str);
    if (generator_chance(self, 2)) {
        generator_put(self, " WHERE ");
        if (self->n_scope > 0 && self->scope[0]->kind == RELATION_FULL_TEXT && generator_chance(self, 2))
            generator_put(self, "%s.%s MATCH '%s'", self->aliases[0], self->scope[0]->columns[0],
                          generator_chance(self, 2) ? "a OR abc" : "b*");
        else
            generator_expression(self, depth);
    }
    if (groups && generator_chance(self, 2)) {
        generator_put(self, " GROUP BY ");
        generator_expression(self, 1);
        if (generator_chance(self, 3)) {
            generator_put(self, " HAVING ");
            put_aggregate(self, 1);
            generator_put(self, " > 1");
        }
    }
}

static void
put_with(Generator *self, guint depth)
{
    if (generator_chance(self, 3)) {
        static const char *const steps[] = { "SELECT i || 'x' FROM n WHERE length(i) < 6", "SELECT (i * 7 + 3) % 11 FROM n",
                                             "SELECT value FROM n, json_each('[1, 2, [3]]') WHERE i < 3", "SELECT i FROM n" };

        generator_put(self, "WITH RECURSIVE n(i) AS %s(SELECT 1 UNION %s ORDER BY 1 LIMIT 20) ",
                      generator_chance(self, 3) ? "NOT MATERIALIZED " : "", steps[generator_pick(self, G_N_ELEMENTS(steps))]);
    } else if (generator_chance(self, 2)) {
        generator_put(self, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u) ",
                      2 + generator_pick(self, 8));
    } else {
        generator_put(self, "WITH n(i) AS (");
        generator_select(self, depth - 1, 1);
        generator_put(self, ") ");
    }
}

void
generator_select(Generator *self, guint depth, guint n_columns)
{
    static const char *const compounds[] = { " UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT " };
    Scope scope;
    gboolean is_compound = depth > 1 && generator_chance(self, 6);
    gboolean with = depth > 1 && generator_chance(self, 8);
    guint n = is_compound && n_columns == 0 ? 2 : n_columns;

    save_scope(self, &scope);
    if (with)
        put_with(self, depth);
    put_core(self, MIN(depth, 2), n);
    if (is_compound) {
        generator_put(self, "%s", compounds[generator_pick(self, G_N_ELEMENTS(compounds))]);
        put_core(self, 1, n);
    }
    if (with && generator_chance(self, 2))
        generator_put(self, " UNION SELECT %s FROM n", n == 2 ? "i, i" : n == 1 ? "i" : "*");
    if (generator_chance(self, 3))
        generator_put(self, " ORDER BY %u%s", 1 + generator_pick(self, 2), generator_chance(self, 2) ? " DESC NULLS LAST" : "");
    generator_put(self, " LIMIT %u", 1 + generator_pick(self, 60));
    if (generator_chance(self, 8))
        generator_put(self, " OFFSET 1");
    restore_scope(self, &scope);
}
