/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CREATE, ALTER and DROP, and the model of what there is then.
 */
#include "tests/sql/generator-private.h"

#include <string.h>

static const char *const types[] = { "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "", "VARCHAR(10)", "INT", "ANY" };
static const char *const strict_types[] = { "INTEGER", "TEXT", "REAL", "BLOB", "ANY" };
static const char *const actions[] = { "CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION" };

static Relation *
relation_new(Generator *self, RelationKind kind, const char *prefix, guint n_columns)
{
    Relation *relation = g_new0(Relation, 1);

    relation->kind = kind;
    g_snprintf(relation->name, sizeof(relation->name), "%s%u", prefix, self->n_names++ % 10000);
    relation->n_columns = relation->n_written = n_columns;
    for (guint i = 0; i < n_columns; i++)
        g_snprintf(relation->columns[i], sizeof(relation->columns[i]), "%c", (int) ('a' + i));
    return relation;
}

static void
put_constraints(Generator *self, guint column, const Relation *relation)
{
    static const char *const collations[] = { "NOCASE", "RTRIM", "BINARY" };
    Relation *parent = generator_any_table(self);

    if (generator_chance(self, 8))
        generator_put(self, " NOT NULL%s", generator_chance(self, 3) ? " ON CONFLICT IGNORE" : "");
    if (generator_chance(self, 10))
        generator_put(self, " UNIQUE%s", generator_chance(self, 3) ? " ON CONFLICT REPLACE" : "");
    if (generator_chance(self, 6)) {
        generator_put(self, " DEFAULT ");
        generator_put(self, "%s", generator_chance(self, 2) ? "7" : "'d'");
    }
    if (generator_chance(self, 8))
        generator_put(self, " COLLATE %s", collations[generator_pick(self, G_N_ELEMENTS(collations))]);
    if (generator_chance(self, 8))
        generator_put(self, " CHECK (%s %s)", relation->columns[column], generator_chance(self, 2) ? "<> 3" : "IS NOT 'b'");
    if (parent != NULL && parent->has_key && parent->kind == RELATION_TABLE && generator_chance(self, 4))
        generator_put(self, " REFERENCES %s(%s) ON DELETE %s ON UPDATE %s%s", parent->name, parent->columns[0],
                      actions[generator_pick(self, G_N_ELEMENTS(actions))], actions[generator_pick(self, G_N_ELEMENTS(actions))],
                      generator_chance(self, 4) ? " DEFERRABLE INITIALLY DEFERRED" : "");
}

static void
create_table(Generator *self)
{
    Relation *relation = relation_new(self, RELATION_TABLE, "t", 2 + generator_pick(self, GENERATOR_MAX_COLUMNS - 2));
    gboolean is_strict = generator_chance(self, 6);
    gboolean without_rowid = generator_chance(self, 6);
    gboolean has_generated = generator_chance(self, 5);

    relation->has_rowid = !without_rowid;
    relation->has_key = without_rowid || generator_chance(self, 3) == FALSE;
    relation->n_written -= has_generated && relation->n_columns > 2 ? 1 : 0;
    generator_put(self, "CREATE TABLE %s%s (", generator_chance(self, 10) ? "IF NOT EXISTS " : "", relation->name);
    for (guint i = 0; i < relation->n_columns; i++) {
        generator_put(self, "%s%s %s", i > 0 ? ", " : "", relation->columns[i],
                      is_strict ? strict_types[generator_pick(self, G_N_ELEMENTS(strict_types))]
                      : i == 0  ? types[generator_pick(self, 2)]
                                : types[generator_pick(self, G_N_ELEMENTS(types))]);
        if (i == 0 && relation->has_key)
            generator_put(self, " PRIMARY KEY%s", !without_rowid && generator_chance(self, 8) ? " AUTOINCREMENT" : "");
        if (i >= relation->n_written)
            generator_put(self, " GENERATED ALWAYS AS (%s || %s) %s", relation->columns[0], relation->columns[1],
                          generator_chance(self, 2) ? "STORED" : "VIRTUAL");
        else if (i > 0)
            put_constraints(self, i, relation);
    }
    if (generator_chance(self, 8))
        generator_put(self, ", UNIQUE (%s, %s)", relation->columns[0], relation->columns[1]);
    generator_put(self, ")%s%s", is_strict ? " STRICT" : "", without_rowid ? is_strict ? ", WITHOUT ROWID" : " WITHOUT ROWID" : "");
    g_ptr_array_add(self->relations, relation);
}

static void
create_virtual(Generator *self)
{
    Relation *relation;

    /* what FTS5 writes for itself at a commit is not in total_changes(): docs/sql.md */
    if (!self->counts && generator_chance(self, 2)) {
        relation = relation_new(self, RELATION_FULL_TEXT, "f", 2);
        generator_put(self, "CREATE VIRTUAL TABLE %s USING fts5(a, b%s)", relation->name,
                      generator_chance(self, 3) ? ", tokenize = porter" : "");
    } else {
        relation = relation_new(self, RELATION_RTREE, "r", 5);
        generator_put(self, "CREATE VIRTUAL TABLE %s USING %s(a, b, c, d, e)", relation->name,
                      generator_chance(self, 2) ? "rtree" : "rtree_i32");
    }
    relation->has_rowid = TRUE;
    g_ptr_array_add(self->relations, relation);
}

static void
create_view(Generator *self)
{
    Relation *relation = relation_new(self, RELATION_VIEW, "v", 2);

    generator_put(self, "CREATE VIEW %s(a, b) AS ", relation->name);
    self->n_scope = 0;
    generator_select(self, 2, 2);
    g_ptr_array_add(self->relations, relation);
}

static void
create_index(Generator *self)
{
    const Relation *relation = generator_any_table(self);

    if (relation == NULL)
        return;
    generator_put(self, "CREATE %sINDEX i%u ON %s(", generator_chance(self, 6) ? "UNIQUE " : "", generator_pick(self, 6),
                  relation->name);
    if (generator_chance(self, 4))
        generator_put(self, "lower(%s), ", relation->columns[1]);
    generator_put(self, "%s%s%s)", relation->columns[generator_pick(self, relation->n_columns)],
                  generator_chance(self, 4) ? " COLLATE NOCASE" : "", generator_chance(self, 4) ? " DESC" : "");
    if (generator_chance(self, 4))
        generator_put(self, " WHERE %s IS NOT NULL", relation->columns[generator_pick(self, relation->n_columns)]);
}

static void
create_trigger(Generator *self)
{
    static const char *const events[] = { "INSERT", "DELETE", "UPDATE" };
    const Relation *relation = generator_chance(self, 3) ? generator_any_relation(self) : generator_any_table(self);
    const Relation *other = generator_any_table(self);
    guint event = generator_pick(self, G_N_ELEMENTS(events));

    if (relation == NULL || other == NULL)
        return;
    generator_put(self, "CREATE TRIGGER g%u %s %s ON %s ", generator_pick(self, 6),
                  relation->kind == RELATION_VIEW ? "INSTEAD OF"
                  : generator_chance(self, 3)     ? "BEFORE"
                                                  : "AFTER",
                  events[event], relation->name);
    if (generator_chance(self, 3))
        generator_put(self, "WHEN %s.%s > 2 ", event == 1 ? "old" : "new", relation->columns[0]);
    generator_put(self, "BEGIN ");
    self->n_scope = 0;
    if (generator_chance(self, 6))
        generator_put(self, "SELECT RAISE(%s) WHERE %s.%s = 7; ", generator_chance(self, 2) ? "IGNORE" : "ABORT, 'no seven'",
                      event == 1 ? "old" : "new", relation->columns[0]);
    generator_put(self, "INSERT OR IGNORE INTO %s(%s, %s) VALUES (%s.%s, ", other->name, other->columns[0],
                  other->columns[MIN(1, other->n_written - 1)], event == 1 ? "old" : "new", relation->columns[0]);
    generator_count(self);
    generator_put(self, "); ");
    if (generator_chance(self, 2))
        generator_put(self, "UPDATE %s SET %s = %s WHERE %s = %s.%s; ", other->name, other->columns[other->n_written - 1],
                      self->counts ? "changes() + 10" : "'t'", other->columns[0], event == 1 ? "old" : "new", relation->columns[0]);
    generator_put(self, "END");
}

static void
alter(Generator *self)
{
    Relation *relation = generator_any_table(self);
    guint column;

    if (relation == NULL)
        return;
    column = generator_pick(self, relation->n_columns);
    switch (generator_pick(self, 4)) {
    case 0:
        generator_put(self, "ALTER TABLE %s RENAME TO ", relation->name);
        g_snprintf(relation->name, sizeof(relation->name), "t%u", self->n_names++ % 10000);
        generator_put(self, "%s", relation->name);
        return;
    case 1:
        generator_put(self, "ALTER TABLE %s RENAME COLUMN %s TO ", relation->name, relation->columns[column]);
        g_snprintf(relation->columns[column], sizeof(relation->columns[column]), "n%u", self->n_names++ % 1000);
        generator_put(self, "%s", relation->columns[column]);
        return;
    case 2:
        generator_put(self, "ALTER TABLE %s ADD COLUMN z%u %s DEFAULT 5", relation->name, self->n_names++ % 1000,
                      types[generator_pick(self, G_N_ELEMENTS(types))]);
        return;
    default: /* of four */
        generator_put(self, "ALTER TABLE %s DROP COLUMN %s", relation->name, relation->columns[column]);
    }
}

static void
drop(Generator *self)
{
    static const char *const words[] = { "TABLE", "VIEW", "TABLE", "TABLE" };
    guint at;
    const Relation *relation;

    if (generator_chance(self, 2)) {
        gboolean is_index = generator_chance(self, 2);

        generator_put(self, "DROP %s %s%c%u", is_index ? "INDEX" : "TRIGGER", generator_chance(self, 3) ? "IF EXISTS " : "",
                      is_index ? 'i' : 'g', generator_pick(self, 6));
        return;
    }
    if (self->relations->len < 4) {
        generator_put(self, "DROP TABLE nosuch");
        return;
    }
    at = generator_pick(self, self->relations->len);
    relation = self->relations->pdata[at];
    generator_put(self, "DROP %s %s", words[relation->kind], relation->name);
    g_ptr_array_remove_index(self->relations, at);
}

void
generator_define(Generator *self)
{
    static void (*const makers[])(Generator *) = {
        create_table, create_table, create_table, create_virtual, create_view,    create_view, create_index,
        create_index, create_index, create_index, create_trigger, create_trigger, alter,       drop,
    };

    do
        makers[generator_pick(self, self->relations->len < 2 ? 2 : G_N_ELEMENTS(makers))](self);
    while (self->text->len == 0);
}
