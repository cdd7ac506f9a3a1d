/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values and expressions.
 */
#include "tests/sql/generator-private.h"

static const char *const literals[] = {
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "10",
    "100",
    "9223372036854775807",
    "1.5",
    "-0.25",
    "1e10",
    "2.0",
    "'a'",
    "'b'",
    "'A'",
    "'abc'",
    "\"abc\"",
    "\"a\"",
    "\"rowid\"",
    "-9223372036854775808",
    "''",
    "'10'",
    "'1.5x'",
    "'b  '",
    "'Ünï'",
    "x'00ff'",
    "x''",
    "NULL",
    "x'616263'",
    "'2024-02-29'",
    "'a,b'",
    "'%a_'",
    "' 12 '",
    "'{\"a\":[1,2,{\"b\":null}]}'",
    "'[1,2.5,\"x\"]'",
    "TRUE",
    "0x1F",
};

static const char *const binaries[] = {
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "&",
    "|",
    "<<",
    ">>",
    "=",
    "==",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "!=",
    "AND",
    "OR",
    "IS",
    "IS NOT",
    "LIKE",
    "GLOB",
    "IS DISTINCT FROM",
    "IS NOT DISTINCT FROM",
    "NOT LIKE",
    "=",
    "<",
    "->",
    "->>",
    "REGEXP",
    "NOT GLOB",
};

static const char *const unary_functions[] = {
    "abs",
    "length",
    "upper",
    "lower",
    "hex",
    "quote",
    "typeof",
    "trim",
    "ltrim",
    "rtrim",
    "unicode",
    "sign",
    "ceil",
    "floor",
    "trunc",
    "char",
    "json_valid",
    "json_type",
    "json_quote",
    "json_array",
    "likely",
    "unlikely",
    "json_array_length",
    "soundex",
    "julianday",
    "date",
    "sqrt",
    "degrees",
    "round",
    "CAST_INTEGER",
    "json",
    "unixepoch",
    "time",
    "zeroblob(2) || ",
    "json_group_array",
};

static const char *const binary_functions[] = {
    "ifnull",      "nullif",
    "instr",       "coalesce",
    "min",         "max",
    "json_array",  "json_extract",
    "round",       "substr",
    "trim",        "glob",
    "like",        "mod",
    "pow",         "rtrim",
    "printf",      "json_patch",
    "strftime",    "json_remove",
    "json_type",   "json_array_length",
    "ltrim",       "likelihood",
    "json_object", "datetime",
    "atan2",       "log",
};

static const char *const types[] = { "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB" };
static const char *const collations[] = { "BINARY", "NOCASE", "RTRIM" };

void
generator_literal(Generator *self)
{
    if (self->bound != NULL && generator_chance(self, 2))
        generator_parameter(self);
    else
        generator_put(self, "%s", literals[generator_pick(self, G_N_ELEMENTS(literals))]);
}

void
generator_count(Generator *self)
{
    static const char *const functions[] = { "changes()", "total_changes()", "last_insert_rowid()" };

    if (self->counts)
        generator_put(self, "%s", functions[generator_pick(self, G_N_ELEMENTS(functions))]);
    else
        generator_literal(self);
}

static void
put_column(Generator *self)
{
    guint at;

    if (self->n_scope == 0) {
        generator_literal(self);
        return;
    }
    at = generator_pick(self, self->n_scope);
    if (generator_chance(self, 60))
        generator_put(self, "nosuch");
    else if (generator_chance(self, 25) && self->scope[at]->has_rowid)
        generator_put(self, "%s.rowid", self->aliases[at]);
    else
        generator_put(self, "%s.%s", self->aliases[at], self->scope[at]->columns[generator_pick(self, self->scope[at]->n_columns)]);
}

static void
put_function(Generator *self, guint depth)
{
    const char *name;

    if (generator_chance(self, 2)) {
        name = unary_functions[generator_pick(self, G_N_ELEMENTS(unary_functions))];
        generator_put(self, "%s(", name);
        generator_expression(self, depth - 1);
    } else {
        name = binary_functions[generator_pick(self, G_N_ELEMENTS(binary_functions))];
        generator_put(self, "%s(", name);
        if (name[0] == 'p' && name[1] == 'r')
            generator_put(self, "'%%s-%%d-%%.2f'");
        else if (name[0] == 's' && name[1] == 't')
            generator_put(self, "'%%Y-%%j'");
        else
            generator_expression(self, depth - 1);
        generator_put(self, ", ");
        generator_expression(self, depth - 1);
    }
    generator_put(self, ")");
}

static void
put_case(Generator *self, guint depth)
{
    generator_put(self, "CASE WHEN ");
    generator_expression(self, depth - 1);
    generator_put(self, " THEN ");
    generator_expression(self, depth - 1);
    generator_put(self, " ELSE ");
    generator_expression(self, depth - 1);
    generator_put(self, " END");
}

static void
put_in(Generator *self, guint depth)
{
    generator_expression(self, depth - 1);
    generator_put(self, generator_chance(self, 4) ? " NOT IN (" : " IN (");
    if (generator_chance(self, 2)) {
        generator_select(self, depth - 1, 1);
    } else {
        generator_literal(self);
        generator_put(self, ", ");
        generator_expression(self, depth - 1);
    }
    generator_put(self, ")");
}

static void
put_between(Generator *self, guint depth)
{
    generator_expression(self, depth - 1);
    generator_put(self, " BETWEEN ");
    generator_literal(self);
    generator_put(self, " AND ");
    generator_expression(self, depth - 1);
}

/* (a, b) beside another such, or a subquery of two columns. */
static void
put_row_value(Generator *self, guint depth)
{
    static const char *const operators[] = { "=", "<", ">=", "IS NOT", "<>", "IN", "NOT IN" };
    guint at = generator_pick(self, G_N_ELEMENTS(operators));

    generator_put(self, "(");
    generator_expression(self, depth - 1);
    generator_put(self, ", ");
    generator_literal(self);
    generator_put(self, ") %s (", operators[at]);
    if (at >= 5 || generator_chance(self, 4)) {
        generator_select(self, depth - 1, 2);
    } else {
        generator_expression(self, depth - 1);
        generator_put(self, ", ");
        generator_expression(self, 0);
    }
    generator_put(self, ")");
}

static void
put_path(Generator *self, guint depth)
{
    static const char *const functions[] = {
        "json_set", "json_insert", "json_replace", "json_extract", "replace", "substr", "iif"
    };
    static const char *const paths[] = { "'$.a'", "'$[1]'", "'$.a[#-1]'", "'$'", "'$.a[2].b'", "'a'", "1" };
    guint at = generator_pick(self, G_N_ELEMENTS(functions));

    generator_put(self, "%s(", functions[at]);
    generator_expression(self, depth - 1);
    generator_put(self, ", %s", paths[generator_pick(self, G_N_ELEMENTS(paths))]);
    if (at != 3) {
        generator_put(self, ", ");
        generator_expression(self, depth - 1);
    }
    generator_put(self, ")");
}

static void
put_subquery(Generator *self, guint depth)
{
    generator_put(self, generator_chance(self, 2) ? "EXISTS (" : "(");
    generator_select(self, depth - 1, 1);
    generator_put(self, ")");
}

static void
put_wrapped(Generator *self, guint depth)
{
    switch (generator_pick(self, 4)) {
    case 0:
        generator_put(self, "CAST(");
        generator_expression(self, depth - 1);
        generator_put(self, " AS %s)", types[generator_pick(self, G_N_ELEMENTS(types))]);
        break;
    case 1:
        generator_expression(self, depth - 1);
        generator_put(self, " COLLATE %s", collations[generator_pick(self, G_N_ELEMENTS(collations))]);
        break;
    case 2:
        generator_put(self, "%s", generator_chance(self, 2) ? "NOT " : "- ");
        generator_expression(self, depth - 1);
        break;
    default: /* of four */
        generator_expression(self, depth - 1);
        generator_put(self, "%s", generator_chance(self, 2) ? " IS NULL" : " NOTNULL");
    }
}

void
generator_expression(Generator *self, guint depth)
{
    guint choice = depth == 0 ? generator_pick(self, 2) : generator_pick(self, 12);

    if (self->counts && generator_chance(self, 8)) {
        generator_count(self);
        return;
    }
    if (choice == 0)
        generator_literal(self);
    else if (choice <= 3 || depth == 0)
        put_column(self);
    else {
        generator_put(self, "(");
        if (choice <= 6) {
            generator_expression(self, depth - 1);
            generator_put(self, " %s ", binaries[generator_pick(self, G_N_ELEMENTS(binaries))]);
            generator_expression(self, depth - 1);
        } else if (choice <= 8)
            (generator_chance(self, 4) ? put_path : put_function)(self, depth);
        else if (choice == 9)
            put_wrapped(self, depth);
        else if (choice == 10 && depth > 1)
            (generator_chance(self, 4) ? put_row_value : generator_chance(self, 2) ? put_in : put_subquery)(self, depth);
        else
            (generator_chance(self, 2) ? put_case : put_between)(self, depth);
        generator_put(self, ")");
    }
}
