/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * INSERT, UPDATE and DELETE.
 */
#include "tests/sql/generator-private.h"

static void
use_alone(Generator *self, const Relation *relation)
{
    self->n_scope = 1;
    self->scope[0] = relation;
    g_snprintf(self->aliases[0], sizeof(self->aliases[0]), "%s", relation->name);
}

static void
put_value(Generator *self, const Relation *relation, guint column)
{
    if (relation->kind == RELATION_RTREE)
        generator_put(self, "%u", column == 0 ? generator_pick(self, 20) : generator_pick(self, 10) + 10 * (1 - column % 2));
    else if (relation->kind == RELATION_FULL_TEXT)
        generator_put(self, "'%s'", generator_chance(self, 2) ? "a abc big" : "b the abc");
    else if (column == 0 && generator_chance(self, 2))
        generator_put(self, "%u", generator_pick(self, 25));
    else if (generator_chance(self, 6))
        generator_expression(self, 1);
    else
        generator_literal(self);
}

static void
put_values(Generator *self, const Relation *relation)
{
    guint n_rows = 1 + generator_pick(self, 4);

    self->n_scope = 0;
    generator_put(self, " VALUES ");
    for (guint i = 0; i < n_rows; i++) {
        generator_put(self, "%s(", i > 0 ? ", " : "");
        for (guint k = 0; k < relation->n_written; k++) {
            generator_put(self, "%s", k > 0 ? ", " : "");
            put_value(self, relation, k);
        }
        generator_put(self, ")");
    }
}

static void
put_returning(Generator *self, const Relation *relation)
{
    if (!generator_chance(self, 6))
        return;
    use_alone(self, relation);
    generator_put(self, " RETURNING %s", generator_chance(self, 2) ? "*, " : "");
    generator_expression(self, 1);
}

static void
put_upsert(Generator *self, const Relation *relation)
{
    generator_put(self, relation->has_key && generator_chance(self, 2) ? " ON CONFLICT (%s)" : " ON CONFLICT",
                  relation->columns[0]);
    if (generator_chance(self, 3) || !relation->has_key) {
        generator_put(self, " DO NOTHING");
        return;
    }
    use_alone(self, relation);
    generator_put(self, " DO UPDATE SET %s = ", relation->columns[relation->n_written - 1]);
    if (generator_chance(self, 2))
        generator_put(self, "excluded.%s || ", relation->columns[0]);
    generator_expression(self, 1);
    if (generator_chance(self, 3)) {
        generator_put(self, " WHERE excluded.%s IS NOT ", relation->columns[0]);
        generator_expression(self, 1);
    }
    if (generator_chance(self, 4))
        generator_put(self, " ON CONFLICT DO NOTHING");
}

static void
put_insert(Generator *self, const Relation *relation)
{
    static const char *const verbs[] = { "INSERT INTO",           "INSERT OR REPLACE INTO",
                                         "INSERT OR IGNORE INTO", "REPLACE INTO",
                                         "INSERT INTO",           "INSERT INTO",
                                         "INSERT OR ABORT INTO" };

    generator_put(self, "%s %s", verbs[generator_pick(self, G_N_ELEMENTS(verbs))], relation->name);
    if (generator_chance(self, 20)) {
        generator_put(self, " DEFAULT VALUES");
        return;
    }
    generator_put(self, "(");
    for (guint i = 0; i < relation->n_written; i++)
        generator_put(self, "%s%s", i > 0 ? ", " : "", relation->columns[i]);
    generator_put(self, ")");
    if (generator_chance(self, 6)) {
        generator_put(self, " ");
        generator_select(self, 1, relation->n_written);
        self->n_scope = 0;
    } else {
        put_values(self, relation);
        if (relation->kind == RELATION_TABLE && generator_chance(self, 4))
            put_upsert(self, relation);
    }
    put_returning(self, relation);
}

static void
put_where(Generator *self, const Relation *relation)
{
    use_alone(self, relation);
    if (generator_chance(self, 8))
        return;
    generator_put(self, " WHERE ");
    generator_expression(self, 2);
}

static void
put_update(Generator *self, const Relation *relation)
{
    static const char *const conflicts[] = { "OR IGNORE ", "OR REPLACE ", "OR ABORT " };
    guint n = 1 + generator_pick(self, 2);
    const Relation *from = relation->kind == RELATION_TABLE && generator_chance(self, 6) ? generator_any_table(self) : NULL;

    use_alone(self, relation);
    generator_put(self, "UPDATE %s%s SET ",
                  generator_chance(self, 3) ? conflicts[generator_pick(self, G_N_ELEMENTS(conflicts))] : "", relation->name);
    for (guint i = 0; i < n; i++) {
        guint column = generator_pick(self, relation->n_written);

        generator_put(self, "%s%s = ", i > 0 ? ", " : "", relation->columns[column]);
        if (relation->kind == RELATION_RTREE)
            put_value(self, relation, column);
        else
            generator_expression(self, 1);
    }
    if (from != NULL) {
        generator_put(self, " FROM %s AS y WHERE y.%s = %s.%s", from->name, from->columns[0], relation->name, relation->columns[0]);
    } else {
        put_where(self, relation);
    }
    put_returning(self, relation);
}

/* What a full-text table does for itself. */
static void
put_command(Generator *self, const Relation *relation)
{
    static const char *const commands[] = { "'rebuild'", "'optimize'", "'integrity-check'", "'delete-all'", "'merge'", "'nosuch'" };

    generator_put(self, "INSERT INTO %s(%s%s) VALUES (", relation->name, relation->name, generator_chance(self, 4) ? ", rank" : "");
    generator_put(self, "%s%s)", commands[generator_pick(self, G_N_ELEMENTS(commands))],
                  g_str_has_suffix(self->text->str, "rank) VALUES (") ? ", 4" : "");
}

void
generator_change(Generator *self)
{
    const Relation *relation = generator_any_table(self);

    if (relation == NULL || generator_chance(self, 20))
        relation = generator_any_relation(self);
    if (relation == NULL) {
        generator_put(self, "DELETE FROM nosuch");
        return;
    }
    if (relation->kind == RELATION_FULL_TEXT && !self->counts && generator_chance(self, 6)) {
        put_command(self, relation);
        return;
    }
    switch (generator_pick(self, 5)) {
    case 0:
    case 1:
    case 2:
        put_insert(self, relation);
        return;
    case 3:
        put_update(self, relation);
        return;
    default: /* of five */
        generator_put(self, "DELETE FROM %s", relation->name);
        put_where(self, relation);
        put_returning(self, relation);
    }
}
