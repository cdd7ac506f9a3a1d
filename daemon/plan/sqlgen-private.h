/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the SQL generator share: relations, which are SELECTs that are not written yet.
 *
 * Place: room plan. A relation is FROM, WHERE and an SQL expression for each variable. Parts are merged as long as SQL's own
 * SELECT can hold them, and become a common table expression (they are "sealed") where it cannot. All in the AST's arena. A
 * failure is kept in the generator; functions go on with what they have, and the text is thrown away.
 */
#pragma once

#include "daemon/base/error.h"
#include "daemon/plan/sql.h"
#include "daemon/plan/sqlgen.h"

typedef struct QdColumn {
    guint variable;
    QdSql sql;
    gboolean certain;  /* never NULL */
    gboolean interned; /* equal terms are equal SQL values; else a blob may stand for a term that has an id */
    gboolean plain;    /* a column of a table: may be named often, is NULL where an outer join found nothing */
    gboolean serial;   /* no term: the solution's number, for BNODE(string) */
    gboolean settled;  /* by qd_relation_settle(): it is seldom unbound */
    gboolean fickle;   /* another value each time that it is named: to be sealed before it is */
} QdColumn;

typedef struct QdTable {
    QdSql from;         /* "queryd_quad AS q1", "c2" */
    QdTableName name;   /* "q1", "c2" */
    QdSql on;           /* none: CROSS JOIN; else LEFT JOIN with this condition */
    const char *sure;   /* its column that is never NULL; NULL: none is known */
    gboolean is_base;   /* a stored table, cheap to name again */
    gboolean is_sealed; /* SQLite evaluates it by itself, so that it has no index but an automatic one */
    gboolean is_kept;   /* evaluated once, however often it is read */
    gboolean is_search; /* of a path, from one row */
    QdSql seed;         /* of such a search: where it begins */
    QdSql search;       /* its arguments after the seed */
    gboolean is_test;   /* such a search for one node, which may find none */
    guint n_arms;       /* of a UNION that SQLite merges into what reads it; else 0 */
} QdTable;

typedef struct QdRelation {
    QdTable *tables; /* none: one row */
    guint n_tables;
    QdSql *conditions; /* all must hold */
    guint n_conditions;
    QdSql *prunings; /* hold, too; but if there are rows at all, these leave some of them */
    guint n_prunings;
    QdColumn *columns;
    guint n_columns;
} QdRelation;

/* The columns that an EXISTS sees from outside, innermost first. */
typedef struct QdOuter {
    const QdRelation *relation;
    guint level; /* 1: of the outermost EXISTS */
    const struct QdOuter *next;
    QdVariableSet replaced; /* variables in the place of which the pattern inside has their values, as §18.6 says */
    QdVariableSet open;     /* others, where they are bound outside: each solution of a triple or path then lacks them */
} QdOuter;

/* The parts of a join, in order. */
typedef struct QdSiblings {
    const QdAlgebra *const *parts;
    guint n_parts;
    guint index;                /* of the one that is generated */
    const QdRelation *given;    /* (nullable): what they are joined with */
    const QdVariableSet *bound; /* (nullable): what solutions around them bind */
} QdSiblings;

/* What goes into the plan beside the SQL. */
typedef struct QdPlanParts {
    GArray *constants;   /* QdSqlConstant */
    GHashTable *numbers; /* constant → number */
    GArray *probes;      /* QdPlanProbe */
    GArray *estimates;   /* double; NAN ends a join */
    const char *notes;   /* (nullable): lines for Explain beside these */
} QdPlanParts;

/* How far joins and groups were split into cases. */
typedef struct QdSplits {
    guint n_open_joins;      /* that were split by what is bound */
    guint n_open_left_joins; /* the same of OPTIONALs */
    guint n_groups;          /* that were split into cases */
    gboolean is_forced;      /* they are wherever that can be */
    gboolean is_possible;    /* one was not that could have been */
} QdSplits;

typedef struct QdServiceUse {
    gboolean is_used;        /* the text has a SERVICE, and */
    gboolean is_allowed;     /* may have it */
    const QdRelation *given; /* (nullable): what a SERVICE is joined with, evaluated once */
} QdServiceUse;

typedef struct QdSeeded {
    const QdAlgebra *node; /* (nullable): to be generated from these values */
    QdRelation *values;
} QdSeeded;

struct QdGenerator {
    QdAst *ast;
    QdArena *arena;
    const QdDataset *dataset;
    const QdCatalog *catalog;
    const QdLimits *limits;
    GHashTable *parameters;    /* nullable: variable + 1 → itself, of the user's parameters */
    struct QdSamples *samples; /* (nullable) */
    QdPlanParts plan;
    QdSqlBuilder *with;      /* the common table expressions of the SELECT that is being made */
    QdSqlBuilder outer_with; /* those of the whole text: the same but inside an EXISTS */
    guint n_names;
    QdSplits splits;
    QdServiceUse service;
    QdSeeded seeded;
    gboolean is_beside;         /* inside a subselect that is joined with other solutions */
    const QdSiblings *siblings; /* (nullable): while a path is generated as a part of a join */
    QdVariableSet filtered;     /* variables that conditions around what is generated name */
    QdNode graph;               /* NONE: default graph; TERM; VARIABLE: each relation has a column for it */
    const QdOuter *outer;
    guint outermost; /* level of the outermost relation that was named from inside an EXISTS so far; G_MAXUINT: none */
    GError *error;
};

/* sqlgen.c */
void qd_generator_fail(QdGenerator *self, QwError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
QdSql qd_generator_put_term(QdGenerator *self, const QdTerm *term); /* "?1" */
/* "?1"; the arrays are copied. */
QdSql qd_generator_put_program(QdGenerator *self, const QdSqlConstant *program);
/* "?1" of a variable that has the user's value wherever it stands; none: it is an ordinary one. */
QdSql qd_generator_find_parameter(QdGenerator *self, guint variable);
/* The same, or the outer column of a variable that has its value from outside an EXISTS. */
QdSql qd_generator_find_value(QdGenerator *self, guint variable);
guint qd_generator_make_name(QdGenerator *self);
/* A table with a new name, which begins with @letter. */
QdTable qd_generator_make_table(QdGenerator *self, char letter);
/* A common table expression: @head is "c1(v0,v1) AS MATERIALIZED". */
void qd_generator_define(QdGenerator *self, QdSql head, QdSql select);
void qd_generator_add_definitions(QdGenerator *self, QdSql definitions);
QdRelation *qd_generator_generate(QdGenerator *self, const QdAlgebra *algebra, const QdVariableSet *bound);

/* relation.c: relations and their texts */
QdRelation *qd_relation_new(QdGenerator *self);
QdRelation *qd_relation_copy(QdGenerator *self, const QdRelation *relation);
QdColumn *qd_relation_find(const QdRelation *relation, guint variable);
/* @relation without the column of @variable. */
QdRelation *qd_relation_drop_column(QdGenerator *self, const QdRelation *relation, guint variable);
/* A column with nothing known of it; the next: with all that @column says. */
QdColumn *qd_relation_add(QdGenerator *self, QdRelation *relation, guint variable, QdSql sql);
QdColumn *qd_relation_add_column(QdGenerator *self, QdRelation *relation, const QdColumn *column);
/* A column of @table that is never NULL and needs no interning. */
QdColumn *qd_relation_add_stored(QdGenerator *self, QdRelation *relation, guint variable, QdSql sql);
void qd_relation_add_table(QdGenerator *self, QdRelation *relation, const QdTable *table);
void qd_relation_add_where(QdGenerator *self, QdRelation *relation, QdSql condition);   /* @condition: may be none */
void qd_relation_add_pruning(QdGenerator *self, QdRelation *relation, QdSql condition); /* @condition: may be none */
/* The tables and conditions of @source are added to @relation's. */
void qd_relation_take_rows(QdGenerator *self, QdRelation *relation, const QdRelation *source);
/* The last of the relation's tables that @condition names; -1: none. */
int qd_relation_find_last_table(const QdRelation *relation, const QdSql *condition);
/* The column of @table that is NULL only where an outer join has found nothing. */
QdSql qd_table_write_witness(QdGenerator *self, const QdTable *table);
/* Sets where a search's rows come from. */
void qd_table_write_search(QdGenerator *self, QdTable *table);
/* The relation's table @index, a search that begins only where the table @before has a row, which it need not name itself. */
QdTable qd_table_guard_search(QdGenerator *self, const QdRelation *relation, guint index, guint before);
/* What stands after FROM ("(SELECT 1)" for no table); and after WHERE ("1" for all). */
QdSql qd_relation_write_from(QdGenerator *self, const QdRelation *relation);
QdSql qd_relation_write_where(QdGenerator *self, const QdRelation *relation);
/* About how many entries of SQLite's parser stack, which has 100, the deepest of the conditions and columns takes. */
guint qd_relation_get_depth(const QdRelation *relation);
#define QD_DEPTH_FLAT 30   /* what is deeper becomes a common table expression where it would be put into another text */
#define QD_DEPTH_PARSED 80 /* the rest is for what is around it */
/* The SQL value of a column that equals another's exactly when the terms are equal. */
QdSql qd_column_intern(QdGenerator *self, const QdColumn *column);
/* @head SELECT: the text of a SELECT of the relation's columns. */
QdSql qd_relation_write(QdGenerator *self, const QdRelation *relation, const char *head, QdSql tail);
/* SELECT list FROM … WHERE … tail; @list and @tail: may be none, the list is "1" then */
QdSql qd_relation_write_list(QdGenerator *self, const QdRelation *relation, const char *head, QdSql list, QdSql tail);

/* SELECT 1 …, of what is evaluated for each row that is around it, as in EXISTS. */
QdSql qd_relation_write_probe(QdGenerator *self, const QdRelation *relation);
typedef enum QdSeal {
    QD_SEAL_PLAIN,        /* SQLite decides */
    QD_SEAL_TABLE,        /* of what cannot be merged into what reads it: groups, distinct rows, slices */
    QD_SEAL_MATERIALIZED, /* evaluated once */
    QD_SEAL_VIEW,         /* never evaluated by itself */
    QD_SEAL_STREAM,       /* neither kept nor merged into what reads it: first in a join its rows come as they are asked for */
    QD_SEAL_TWICE,        /* as a stream, each time that it is read */
} QdSeal;
/* @text as a common table expression with the columns of @shape; a relation that reads it. */
QdRelation *qd_relation_seal_text(QdGenerator *self, const QdRelation *shape, QdSql text, QdSeal seal);
QdRelation *qd_relation_seal(QdGenerator *self, const QdRelation *relation, QdSeal seal);
/* @relation as a stream, which is not begun unless @condition holds: 1 or 0, and names no table around it. */
QdRelation *qd_relation_seal_if(QdGenerator *self, const QdRelation *relation, QdSql condition);
/* In how many copies SQLite writes what reads the relation's UNIONs. */
guint qd_relation_get_n_arms(const QdRelation *relation);
/* Whether a column has grown so long that it has to be computed before it is named again. */
gboolean qd_relation_has_long_columns(const QdRelation *relation);
#define QD_TABLES_MAX 24      /* of a SELECT: SQLite joins 64; what is longer is cut */
#define QD_MERGED_ARMS_MAX 16 /* of UNIONs in a SELECT: SQLite writes it once for each arm, in quadratic time */

/* sqlgen-exists.c */
QdSql qd_expression_make_exists(QdGenerator *self, const QdExpression *expression, const QdRelation *relation);
/* Whether @pattern, of an EXISTS, means something else without the values of variables of @outside in their place. */
gboolean qd_exists_needs_values(QdGenerator *self, const QdAlgebra *pattern, const QdVariableSet *outside);
/* The column of the innermost that has @variable, which is then named from inside; NULL: none has. */
const QdColumn *qd_outer_find(QdGenerator *self, const QdOuter *outer, guint variable);
/* The outer column that stands in the place of @variable in the pattern of an EXISTS. NULL: it is a variable there. */
const QdColumn *qd_outer_find_replaced(QdGenerator *self, guint variable);
/* What @relation, of a triple or path, has of open variables is compared where these are bound outside, and then unbound. */
void qd_outer_close(QdGenerator *self, QdRelation *relation);
/* That @inner is compatible with what is around the EXISTS, as conditions of @target. */
void qd_expression_match_outer(QdGenerator *self, const QdOuter *outer, const QdRelation *inner, QdRelation *target);

/* sqlgen-expression.c: on the columns of a relation. Values carry no alias, conditions are 1, 0 or NULL. */
/* The column that @variable means in an expression on @relation, which may be one that an EXISTS sees from outside. NULL: none. */
const QdColumn *qd_expression_find_variable(QdGenerator *self, const QdRelation *relation, guint variable);
QdColumn qd_expression_make_value(QdGenerator *self, const QdExpression *expression, const QdRelation *relation);
/* A member of a sum, only for queryd_sum() and queryd_avg() without DISTINCT. */
QdSql qd_expression_make_summand(QdGenerator *self, const QdExpression *expression, const QdRelation *relation);
gboolean qd_expression_needs_serial(const QdExpression *expression);
/* The conditions of @expressions one by one: a && b holds when both do, even with errors. (transfer container) */
GPtrArray *qd_expressions_split(QdExpression *const *expressions, guint n_expressions);
void qd_relation_filter(QdGenerator *self, QdRelation *relation, QdExpression *const *expressions, guint n_expressions);
QdRelation *qd_relation_add_serial(QdGenerator *self, QdRelation *relation);
QdColumn *qd_relation_find_serial(const QdRelation *relation);

/* sqlgen-join.c */
/* @side before it is joined with @other. What is computed and may be unbound, as BIND leaves it, has no index to serve it. It
 * would be computed, and its id looked up, once for each pair of rows. Sealed it is so once for each row of its side. */
const QdRelation *qd_relation_settle(QdGenerator *self, const QdRelation *side, const QdRelation *other, QdSeal seal);
/* The same of @right, which is looked up for each row of @left, also where it is always bound, as a COUNT is. */
const QdRelation *qd_relation_settle_right(QdGenerator *self, const QdRelation *left, const QdRelation *right, QdSeal seal);
/* @right, of which only the variables that @left has are of interest, and whether there is a row. It is a table of their
 * distinct values if it would be scanned for each row of @left. */
const QdRelation *qd_relation_keep_apart(QdGenerator *self, const QdRelation *left, const QdRelation *right);
/* The first of both that is bound. */
void qd_column_coalesce(QdGenerator *self, QdColumn *column, const QdColumn *other);
/* Bag join on what both may bind. */
QdRelation *qd_relation_join(QdGenerator *self, const QdRelation *left, const QdRelation *right);
/* The same; @left is not needed any more. */
QdRelation *qd_relation_join_to(QdGenerator *self, QdRelation *left, const QdRelation *right);
/* The same as one SELECT, however large. */
QdRelation *qd_relation_merge(QdGenerator *self, const QdRelation *left, const QdRelation *right);
/* Adds the conditions that solutions of both are compatible to @target. Returns the condition that both bind one variable (TRUE:
 * always, none: never), for MINUS. */
QdSql qd_relation_match(QdGenerator *self, const QdRelation *left, const QdRelation *right, QdRelation *target);

/* The parts of a join that come before another. */
typedef struct QdBefore {
    const QdAlgebra *const *parts;
    guint n_parts;
    double n_rows;               /* about how many solutions they have; negative: not estimated */
    double n_looked_at, n_added; /* for each of these by that other, in its own parts and in all */
} QdBefore;

/* sqlgen-steps.c */
/*
 * A join, left join, MINUS or filter with a path as one join. Its OPTIONALs, MINUSes and filters are parts that follow those whose
 * variables they need (QdAlgebra.follows). NULL: it is to be generated as it is written.
 */
QdRelation *qd_generate_by_parts(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
/* Adds the parts of @node as one join to @parts. */
void qd_parts_add(QdGenerator *self, const QdAlgebra *node, GPtrArray *parts);
/* @node, an OPTIONAL, MINUS or filter, as what is done with the parts before it. */
QdAlgebra *qd_part_detach(QdGenerator *self, const QdAlgebra *node);
/* Adds all variables that @part, of a join, names to @named. */
void qd_part_add_named(QdGenerator *self, const QdAlgebra *part, QdVariableSet *named);
/* @left after @part, which follows it. */
QdRelation *qd_generate_following(QdGenerator *self, QdRelation *left, const QdAlgebra *part, const QdBefore *before,
                                  const QdVariableSet *bound);

/* sqlgen-split.c: the join of @parts, case by case of one of them where that costs less. */
QdRelation *qd_generate_split(QdGenerator *self, const GPtrArray *parts, const QdVariableSet *bound);

/* sqlgen-steps.c */
/*
 * What @right, of links, adds to each row of @left, looked up or searched from what is bound there. It is still to be compared with
 * what may be unbound. NULL: it does not begin there, or does not suit.
 */
QdRelation *qd_generate_right_by_row(QdGenerator *self, const QdRelation *left, const QdAlgebra *right, const QdVariableSet *bound,
                                     gboolean (*suits)(const QdRelation *beyond));
/*
 * The left join of @left with @right, of links. It has the rows that are searched from each of its own, and its own where there are
 * none. NULL: as above.
 */
QdRelation *qd_generate_left_join_by_cases(QdGenerator *self, QdRelation *left, const QdAlgebra *right, const QdBefore *before,
                                           const QdVariableSet *bound);
/* sqlgen.c: the same of a FILTER; sqlgen-optional.c and sqlgen-join.c: of a LEFT_JOIN or MINUS. */
QdRelation *qd_generate_filter_of(QdGenerator *self, const QdRelation *left, const QdAlgebra *node);
QdRelation *qd_generate_left_join_of(QdGenerator *self, QdRelation *left, const QdAlgebra *node, const QdBefore *before,
                                     const QdVariableSet *bound);
QdRelation *qd_generate_minus_of(QdGenerator *self, const QdRelation *left, const QdAlgebra *right, const QdVariableSet *bound);
/* sqlgen-join.c */
/* @bound (nullable) and what @relation binds. */
QdVariableSet qd_relation_add_bound(QdGenerator *self, const QdVariableSet *bound, const QdRelation *relation);
QdRelation *qd_generate_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
QdRelation *qd_generate_minus(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
/* @joined (nullable) with the solutions of all @children, in an order that suits what it binds. */
QdRelation *qd_generate_children(QdGenerator *self, QdRelation *joined, QdAlgebra *const *children, guint n_children,
                                 const QdVariableSet *bound);

/* sqlgen-optional.c */
QdRelation *qd_generate_left_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
/* @left and @right of @node, a left join, together: its conditions are those of @right, and what is asked of both. */
QdRelation *qd_left_join_see(QdGenerator *self, const QdRelation *left, const QdRelation *right, const QdAlgebra *node);
/* Whether @node has a path that repeats, or a UNION: evaluated whole by an outer join, but begun by a join from its left. */
gboolean qd_algebra_begins_from_left(const QdAlgebra *node);

/* sqlgen-by-row.c */
/*
 * What the join of @start with @node (or with its children, where it is a join) has beyond @left, with whose tables @start begins.
 * NULL: it does not begin with them, or does not suit; all is as before then.
 */
QdRelation *qd_generate_beyond(QdGenerator *self, const QdRelation *left, QdRelation *start, const QdAlgebra *node,
                               const QdVariableSet *bound, gboolean (*suits)(const QdRelation *beyond));
/*
 * The join of @left with a UNION of triples and paths that are looked up or searched from each of its rows, arm by arm. @left
 * is not kept, and the first rows leave before its last is there. SQLite would join arm by arm, but gives up the order of tables
 * for all arms but the last. NULL: the arms are others, or no path is searched. @has_path: some part of the join has one.
 */
QdRelation *qd_generate_union_by_row(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, gboolean has_path,
                                     const QdVariableSet *bound);

/* sqlgen-seeds.c */
/*
 * Values of one of @variables or several, each combination once: all that the join of @parts has. There may be more, since a path
 * takes its ends from the links that begin or end it. NULL: nothing is known of them, or there are more than @n_max. Or @pattern
 * would have too many solutions that begin from them.
 */
#define QD_SEEDS_MAX 50000 /* at most */
QdRelation *qd_generate_seeds_of(QdGenerator *self, const QdAlgebra *const *parts, guint n_parts, const QdVariableSet *variables,
                                 const QdAlgebra *pattern, double n_max);
/*
 * Where @order[@index] is a subselect whose pattern gains by it, it is to begin from values that are bound before it. They are
 * those of one of the parts, or of @left, about @n_left rows. Few rows, or far fewer than a part has, are kept in a table then.
 * Returns @left.
 */
#define QD_KEPT_LEFT_MAX 1e5
QdRelation *qd_generate_seeds(QdGenerator *self, QdRelation *left, const QdAlgebra **order, guint index, double n_left);

/* The values that @variable, an end of @triple, a path, may have in a solution, each once. There may be more. NULL: any node. */
QdAlgebra *qd_rewrite_list_ends(QdGenerator *self, const QdTriple *triple, guint variable);

/* sqlgen-union.c */
/* The columns of all @arms, certain where all are; the arms' SELECTs with NULL for what one has not. */
QdRelation *qd_relation_unite(QdGenerator *self, QdRelation **arms, guint n_arms);
QdRelation *qd_generate_union(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
/* Whether @left is to be joined with each arm of @node, which may be no UNION, and not with all of them; that join. */
gboolean qd_union_joins_by_arm(const QdAlgebra *node, const QdRelation *left);
QdRelation *qd_generate_union_of(QdGenerator *self, QdRelation *left, const QdAlgebra *node, const QdVariableSet *bound);
/* Whether each variable that both have may be unbound on one side, so that no index finds the rows of @right. Those of stored
 * tables a range of ids does. */
gboolean qd_relation_is_open(const QdGenerator *self, const QdRelation *left, const QdRelation *right);
/*
 * The join of both where a variable of both may be unbound, and no other finds the rows. "Equal or unbound" has no index. So it
 * is the UNION of equal ones and, apart, those that one side leaves unbound. NULL: nothing to split.
 */
QdRelation *qd_relation_join_open(QdGenerator *self, const QdRelation *left, const QdRelation *right);

/* rewrite.c */
/* Whether each solution of @node binds @variable. */
gboolean qd_algebra_binds(const QdAlgebra *node, guint variable);
/* Whether @node is nothing but triples, paths, joins and UNIONs. */
gboolean qd_algebra_consists_of_links(const QdAlgebra *node);
gboolean qd_algebra_has_path(const QdAlgebra *node);
/* @node, which consists of links, with @to for the variable @from, and new names for all others. */
QdAlgebra *qd_rewrite_rename(QdGenerator *self, const QdAlgebra *node, guint from, guint to);
/* @node, which consists of links, with new names for the variables that are not @kept. */
QdAlgebra *qd_rewrite_hide(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *kept);
/* The algebra of an EXISTS. */
QdAlgebra *qd_rewrite_get_exists(QdGenerator *self, QdExpression *expression);
/*
 * @inner, of an EXISTS or a MINUS, without what makes no difference to whether it has a solution that agrees with @outside. That is
 * distinct rows, and groups, of which there is one where there are rows. NULL: it is more than links.
 */
QdAlgebra *qd_rewrite_strip(QdGenerator *self, QdAlgebra *inner, const QdVariableSet *outside);
/* The solutions of @inner, each once, as far as it shares variables with @left. NULL: it shares none, or what may be unbound. */
QdAlgebra *qd_rewrite_list_shared(QdGenerator *self, const QdVariableSet *left, const QdVariableSet *certain, QdAlgebra *inner);
/* What an EXISTS of @filter leaves as a join. NULL: it is large, or looked up for few. */
QdAlgebra *qd_rewrite_semijoin(QdGenerator *self, const QdAlgebra *filter, QdExpression *expression);
/* @expression with the pattern of its EXISTS, which filters @left, as links, if it is one that can be. */
QdExpression *qd_rewrite_simplify_exists(QdGenerator *self, const QdAlgebra *left, QdExpression *expression);
/* What @node, a subselect, is as a pattern outside of it; NULL: it is more than that, or shares nothing with @others. */
QdAlgebra *qd_rewrite_open_subselect(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *others);
/* What has the same solutions as @node, a join or a filter; @node itself where nothing is gained. */
const QdAlgebra *qd_rewrite_join(QdGenerator *self, const QdAlgebra *node);
const QdAlgebra *qd_rewrite_filter(QdGenerator *self, const QdAlgebra *node);

/* rewrite-count.c */
/* @node, a GROUP. COUNT of a variable that each solution binds is COUNT of the solutions. */
const QdAlgebra *qd_rewrite_count_bound(QdGenerator *self, const QdAlgebra *node);
/*
 * @node, a GROUP. Where it counts solutions, a path of which it needs one end alone is counted by itself, for each value of that
 * end. The sum of these counts is taken. So pairs of its own are not made for each solution of the others.
 */
const QdAlgebra *qd_rewrite_count(QdGenerator *self, const QdAlgebra *node);

/* Whether all that @group makes is how many solutions it has. */
gboolean qd_rewrite_counts_solutions(const QdAlgebra *group);

/* Whether @node, a subselect, has such a group. */
gboolean qd_rewrite_may_count(QdGenerator *self, const QdAlgebra *node);

/* sqlgen-product.c */
/* A FILTER on parts that share no variable. NULL: it is to be generated as it is written. */
QdRelation *qd_generate_product(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
/*
 * The right of @node, an OPTIONAL that shares no variable with its @left, but is to have values that are equal to some of it. It is
 * a table that is looked up by keys of these. Its conditions name @left. NULL: it is not such an OPTIONAL.
 */
QdRelation *qd_generate_keyed_right(QdGenerator *self, const QdRelation *left, const QdAlgebra *node);
/* The same of an EXISTS that @node, a filter of @left, asks for, as a condition. text NULL: it is not such an EXISTS. */
QdSql qd_generate_keyed_exists(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, QdExpression *exists);

/* rewrite-distinct.c */
/* @node, distinct rows of a join with a path, without solutions that only repeat rows. @node itself where nothing is gained. */
QdAlgebra *qd_rewrite_distinct(QdGenerator *self, QdAlgebra *node);

/* sqlgen-cases.c */
/* Whether two evaluations of @node may differ. */
gboolean qd_algebra_is_volatile(const QdAlgebra *node);
/* A copy of @node with another first child. */
QdAlgebra *qd_algebra_put_on(QdGenerator *self, const QdAlgebra *node, QdAlgebra *first);
/*
 * An OPTIONAL that shares nothing with what is before it leaves its variables unbound in all solutions or in none. The result
 * is @node as the UNION of both cases, in which these variables are certain or not there. NULL: @node has no such OPTIONAL, or
 * is left as it is.
 */
QdRelation *qd_generate_by_cases(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);

/* sqlgen-graph.c */
QdRelation *qd_generate_triple(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound);
QdRelation *qd_generate_graph(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
QdRelation *qd_generate_unit(QdGenerator *self);                           /* one row, or one per graph of GRAPH ?g */
QdRelation *qd_generate_in_graph(QdGenerator *self, QdRelation *relation); /* a relation that reads no quads, per graph */
/* The condition on the column g of @table, quads. */
QdSql qd_generate_graph_condition(QdGenerator *self, const QdTableName *table);
/* The same, which keeps SQLite from the index of named graphs. */
QdSql qd_generate_graph_condition_apart(QdGenerator *self, const QdTableName *table);

/* sqlgen-links.c: the path of @triple, which is an alternative of links, or negated. */
QdRelation *qd_generate_links(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound);

/* sqlgen-path.c; @left (nullable): solutions to be joined with, sealed on return when it was used for its ends; @bound (nullable):
 * what solutions around it bind. */
QdRelation *qd_generate_path(QdGenerator *self, const QdTriple *triple, QdRelation **left, const QdVariableSet *bound);
/* The end for which @group counts a repeated path's pairs: 1 the subject, -1 the object, 0 none. FALSE: it does something else. */
gboolean qd_path_find_counted_end(QdGenerator *self, const QdAlgebra *group, int *ret_end);
/* @group, how many pairs a repeated path leads between, in all or for each node at one end: pairs are counted where they are found.
 * NULL: it is another one. */
QdRelation *qd_generate_path_count(QdGenerator *self, const QdAlgebra *group);

/* sqlgen-links.c: a step that is made of links, as arguments of queryd_steps(); FALSE for any other. */
gboolean qd_path_append_links(QdGenerator *self, const QdPath *path, gboolean backward, QdSqlBuilder *out);

/*
 * sqlgen-path-filter.c: what the other parts of the join ask of @variable, where a path ends, as arguments of queryd_steps(). The
 * search leaves out nodes without a link that a triple needs, or with one that MINUS or NOT EXISTS takes away. The parts remain,
 * since they may bind more.
 */
void qd_path_append_conditions(QdGenerator *self, guint variable, QdSqlBuilder *out);

/* sqlgen-fts.c; @left (nullable): solutions to be joined with, sealed on return when it gave the query texts. */
QdRelation *qd_generate_match(QdGenerator *self, const QdMatch *match, QdRelation **left);

/* sqlgen-service.c */
/* Whether @node, but for subselects, has a SERVICE, of which it takes all rows that agree with what is around. */
gboolean qd_algebra_has_service(const QdGenerator *self, const QdAlgebra *node);
/* Joined with self->service.given, if that is there. */
QdRelation *qd_generate_service(QdGenerator *self, const QdAlgebra *node);
/* @node, a join that has one: its own patterns first, then the endpoints in order. */
QdRelation *qd_generate_service_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound);
/* @left as a table that is evaluated once. */
const QdRelation *qd_service_keep(QdGenerator *self, const QdRelation *left);

/* sqlgen-group.c */
QdRelation *qd_generate_group(QdGenerator *self, const QdAlgebra *node);
/*
 * A join with a UNION is a join with each of its arms. SQLite does that where it neither groups nor sorts, else it would
 * evaluate the UNION whole.
 */
QdRelation *qd_relation_fence(QdGenerator *self, QdRelation *relation);

/* sqlgen-tally.c: @group by counts of its pattern, without its rows. NULL: the pattern is no tree, the group needs more, or it is
 * small. */
QdRelation *qd_generate_tally(QdGenerator *self, const QdAlgebra *group);
/* The same of distinct rows of @project, in no order. */
QdRelation *qd_generate_tally_distinct(QdGenerator *self, const QdAlgebra *project);
/* @relation, which is the solutions below @node, where each EXISTS of this FILTER that a tally has is true. @ret_rest: @node
 * without these; NULL: nothing is left */
QdRelation *qd_generate_tally_filter(QdGenerator *self, const QdAlgebra *node, const QdRelation *relation,
                                     const QdAlgebra **ret_rest);

/* sqlgen-extend.c; @needed (nullable): the variables that are of interest outside of it; NULL: all. */
QdRelation *qd_generate_extend(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound, const QdVariableSet *needed);

/* sqlgen-modifier.c */
QdRelation *qd_generate_values(QdGenerator *self, const QdValues *values);
/* PROJECT, DISTINCT, SLICE, ORDER as they lie upon each other. @variables (nullable): the last SELECT's columns, and its text. */
QdRelation *qd_generate_solution(QdGenerator *self, const QdAlgebra *node);
QdSql qd_generate_final(QdGenerator *self, const QdAlgebra *node, const guint *variables, guint n_variables);

/* sample.c */
/* A few solutions of a join under way; none yet. (transfer full) (nullable): NULL: the catalog lists no quads. */
typedef struct QdSample QdSample;
typedef struct QdSamples QdSamples; /* what those of a statement have in common */
QdSamples *qd_samples_free(QdSamples *self);
guint qd_samples_get_n_lists(const QdGenerator *generator);
QdSample *qd_sample_new(QdGenerator *self);
QdSample *qd_sample_copy(const QdSample *self);
/* A copy of @self in which no variables but those @known are bound. */
QdSample *qd_sample_copy_known(const QdSample *self, const QdVariableSet *known);
QdSample *qd_sample_free(QdSample *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSample, qd_sample_free)
/* Solutions of a part for each of the sample's. */
typedef struct QdSampleCount {
    double n_usual; /* the geometric mean: a part which most of them fail comes before one that multiplies a few less */
    double n_mean;
    double n_looked_at; /* solutions of the part's own parts */
} QdSampleCount;
/* FALSE: nothing is known of @node. */
gboolean qd_sample_count(QdSample *self, const QdAlgebra *node, QdSampleCount *ret_count);
/*
 * Until qd_sample_leave() joins that are made for each solution of @parts (of @n) are ordered by a sample of these. (transfer full)
 * (nullable): it, for qd_sample_leave().
 */
QdSample *qd_sample_enter(QdGenerator *generator, const QdAlgebra *const *parts, guint n);
void qd_sample_leave(QdGenerator *generator, QdSample *self);
/* Whether a sample of @node's solutions binds @variable to what may be equal to another term: a number, a time, … */
gboolean qd_sample_meets_values(QdGenerator *generator, const QdAlgebra *node, guint variable);
/* How many quads match the constants of @triple, as far as they are counted. */
double qd_sample_count_quads(QdGenerator *generator, const QdTriple *triple);
/* About how many pairs of nodes the path of @triple, both of whose ends are free, leads between; negative: it is not known. */
double qd_sample_count_pairs(QdGenerator *generator, const QdTriple *triple);
/* About how many nodes the path of @triple meets from either end of a pair that it leads between. FALSE: it is not known. */
gboolean qd_sample_compare_ends(QdGenerator *generator, const QdTriple *triple, double *ret_from_subject, double *ret_from_object);
/* About how many solutions the join of both has, which begins with @first; negative: it is not known. */
double qd_sample_estimate(QdGenerator *generator, const QdAlgebra *first, const QdAlgebra *then);
/* They are joined with @node. Returns how many solutions it has for each, of more than are counted; negative: it is not known. */
double qd_sample_extend(QdSample *self, const QdAlgebra *node, gboolean is_first);

/* join-order.c */
/* Sorts @children (of @n) for evaluation from left to right; solutions before may bind @bound, and all of them bind @sure (each
 * nullable). @ret_looked_at: for each, about how many solutions of its own parts it looks at for each of those before it. */
void qd_join_order(QdGenerator *self, const QdAlgebra **children, guint n, const QdVariableSet *bound, const QdVariableSet *sure,
                   double *ret_looked_at);
/* Whether @node has one value by then. @bound: (nullable) */
gboolean qd_node_is_bound(QdGenerator *self, const QdNode *node, const QdVariableSet *bound);
/* About how many solutions of @node's parts are looked at if it is evaluated by itself. */
double qd_estimate_cost(QdGenerator *self, const QdAlgebra *node);
/* The same of the join of @parts (of @n). @ret_rows: about how many solutions it has. */
double qd_estimate_cost_of(QdGenerator *self, const QdAlgebra *const *parts, guint n, double *ret_rows);
/* About how many solutions @node has by itself. */
double qd_estimate_rows(QdGenerator *self, const QdAlgebra *node);
