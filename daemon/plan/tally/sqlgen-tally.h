/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of tallies share: the program under way.
 *
 * Place: private to sqlgen-tally.c, which decides, sqlgen-tally-need.c, which says what is asked for, and sqlgen-tally-parts.c and
 * sqlgen-tally-walk.c, which write the program of a pattern.
 */
#pragma once

#include "daemon/plan/sqlgen-private.h"

#define QD_TALLY_IDS_MAX 40  /* of a program */
#define QD_TALLY_ROOTS_MAX 6 /* variables that are asked for */
#define QD_TALLY_ARMS_MAX 8  /* of a UNION that binds such */

/* The values of a variable for which a condition is true. */
typedef struct QdTallySet {
    QdExpression *condition; /* (nullable) */
    guint variable;
    const QdTriple *triple; /* that has all values of it */
} QdTallySet;

typedef struct QdTallyDraft {
    QdGenerator *generator;
    GString *program;
    const QdTerm *terms[QD_TALLY_IDS_MAX]; /* (nullable): NULL for a set */
    QdTallySet sets[QD_TALLY_IDS_MAX];
    guint n_terms;
    double n_pairs, n_bytes;  /* of the columns, each time that one is named */
    double n_read;            /* pairs of the columns, each once */
    guint64 read;             /* a bit for the number of each predicate that is in this */
    gboolean begins_with_few; /* values, and looks at what they lead to */
    guint n_levels;
} QdTallyDraft;

/* The program of one arm of a UNION. */
typedef struct QdTallyArm {
    const char *program;                     /* with its first letter */
    const char *columns[QD_TALLY_ROOTS_MAX]; /* of queryd_tally(), that the values asked for are in */
} QdTallyArm;

/* What a group needs of its pattern. */
typedef struct QdTallyNeed {
    const QdAlgebra *whole;   /* below the BINDs */
    const QdAlgebra *pattern; /* of the tally: the whole without */
    QdAlgebra **tables;       /* that its rows are joined with, */
    guint n_tables;
    const QdAlgebra *join; /* (nullable): of these and other parts */
    QdExpression **after;  /* conditions of what that join gives */
    guint n_after;
    QdVariableSet computed;          /* by the BINDs */
    guint roots[QD_TALLY_ROOTS_MAX]; /* the variables that it asks for */
    guint n_roots;
    const char *columns[QD_TALLY_ROOTS_MAX]; /* of queryd_tally(), that their values are in */
    gboolean open[QD_TALLY_ROOTS_MAX];       /* whether they may be unbound */
    QdTallyArm arms[QD_TALLY_ARMS_MAX];      /* of a UNION that binds them, instead of one program */
    guint n_arms;
    double arms_effort;                   /* how many quads joins of all arms would look at */
    gboolean only_solutions, only_values; /* it counts only these */
    gboolean is_walk;
    gboolean is_number; /* of such, which asks for no variable */
} QdTallyNeed;

/* FALSE: it needs more than a tally has. */
gboolean qd_tally_need_find(QdGenerator *self, const QdAlgebra *group, QdTallyNeed *need);
/* The variables of @expression. @own: it may name no computed one. FALSE: they are too many, or it is to be computed for each
 * solution. */
gboolean qd_tally_need_add(QdGenerator *self, const QdExpression *expression, gboolean own, QdTallyNeed *need);
/* Conditions on the values that are asked for are tested once for each. @ret_chosen: it needs no variable, and has any. */
gboolean qd_tally_need_add_conditions(QdGenerator *self, const QdAlgebra *pattern, QdTallyNeed *need, gboolean *ret_chosen);
/* Whether @aggregate is COUNT of solutions: of all, or of what each binds. */
gboolean qd_tally_need_counts_solutions(const QdTallyNeed *need, const QdExpression *aggregate);
/* Whether each solution of the pattern has a value of all that is asked for. */
gboolean qd_tally_need_is_bound(const QdTallyNeed *need);

/* What is joined in a group of the pattern, and what changes it. */
typedef enum QdTallyPartKind {
    QD_TALLY_PART_JOINED = '*',
    QD_TALLY_PART_OPTIONAL = '?',
    QD_TALLY_PART_MINUS = '-',
    QD_TALLY_PART_EXISTS = '&',
} QdTallyPartKind;

typedef struct QdTallyPart {
    QdTallyPartKind kind;
    const QdAlgebra *node;
    const QdTriple *triple;         /* (nullable): that is joined by itself */
    guint at;                       /* the one variable that it shares; G_MAXUINT: a triple, or not known yet */
    const QdExpression *comparison; /* (nullable): of a triple's subject and object, or those of each arm of a UNION */
    QdTallySet set;                 /* (condition nullable): the values that this one variable may have */
    QdVariableSet named;
    gboolean is_used;  /* it is in the program */
    gboolean is_level; /* it gives a walk a variable, and may share more */
} QdTallyPart;

/* A group of the pattern. */
typedef struct QdTallyScope {
    QdTallyDraft *tally;
    GArray *parts;         /* QdTallyPart */
    QdVariableSet outside; /* that what is around it names */
    QdVariableSet visited; /* that have their part of the program */
    GPtrArray *conditions; /* (nullable): of QdExpression; NULL: it may have none */
    gboolean is_way;       /* its links are not only those of a tree */
} QdTallyScope;

/*
 * Appends the program of @node, of whose solutions the values of @root are asked for. Conditions that no part is made of are
 * added to @conditions, to be tested of these values. FALSE: it is no tree of parts.
 */
gboolean qd_tally_write(QdTallyDraft *self, const QdAlgebra *node, guint root, GPtrArray *conditions);

/* The program of what an EXISTS looks for: the values of @root, the one variable that it shares with those @outside. */
gboolean qd_tally_write_exists(QdTallyDraft *self, const QdAlgebra *node, guint root, const QdVariableSet *outside);

/* The same of the pairs of two variables, @roots, which triples lead between. */
gboolean qd_tally_write_pairs(QdTallyDraft *self, const QdAlgebra *node, const guint *roots, GPtrArray *conditions);

/*
 * The same of several variables, by a walk over a pattern of any shape: "x VARIABLE … = L …" (daemon/tally/tally-program.h).
 * @ret_columns: those of queryd_tally() that the values of @roots are in. @ret_open: those that may be unbound. Without @roots
 * it is a walk for the number alone. FALSE: it is none.
 */
gboolean qd_tally_write_walk(QdTallyDraft *self, const QdAlgebra *node, const guint *roots, guint n_roots, GPtrArray *conditions,
                             const char **ret_columns, gboolean *ret_open);

/* The cases of @pattern, whose UNION binds one of @roots as nothing else does: the pattern with each of its arms. NULL: it has no
 * such UNION. */
QdAlgebra **qd_tally_split(QdGenerator *self, const QdAlgebra *pattern, const guint *roots, guint n_roots, guint *ret_n);

/* ?s ?p ?o, alone or with a class of objects: the statistics of the predicates have it. FALSE: it is another pattern. */
gboolean qd_tally_write_predicates(QdTallyDraft *self, const QdAlgebra *pattern, guint *ret_root);

/* Whether it is two conditions, of which a FILTER needs both. */
gboolean qd_tally_is_conjunction(const QdExpression *condition);
/* Whether @condition, of solutions of @left, has one variable alone, and its values can be tested apart. */
gboolean qd_tally_find_set(const QdGenerator *self, const QdAlgebra *left, QdExpression *condition, QdTallySet *ret_set);
/* A triple of each solution of @node that has @variable. (nullable) */
const QdTriple *qd_tally_find_triple(const QdAlgebra *node, guint variable);

/* The ids of the program, and its sets, as an argument of queryd_tally(). */
QdSql qd_tally_write_ids(const QdTallyDraft *self);

/* The parts of @node. FALSE: there are others. */
gboolean qd_tally_add_parts(QdTallyScope *self, const QdAlgebra *node);
/* Whether each part but a triple shares one variable with the others, and no triple one with what is around the group but @root.
 * Around the whole pattern there is nothing but what is asked for. */
gboolean qd_tally_check_parts(QdTallyScope *self, guint root);
/* Whether it is a triple between two variables, which is not compared, and in no program yet. */
gboolean qd_tally_part_is_link(const QdTallyPart *part);
/* Whether a part that has @variable is in no program yet. */
gboolean qd_tally_has_more(const QdTallyScope *self, guint variable);
/* All that is at @variable. Where nothing is joined there, the values come from @link (nullable), which leads to it. */
gboolean qd_tally_write_variable(QdTallyScope *self, guint variable, const QdTriple *link, gboolean to_object);
/* What of the column of the triple's predicate is to be read: "s00". */
gboolean qd_tally_put_column(QdTallyDraft *self, char what, const QdTriple *triple);
/* The number of the triple's predicate, of which a column is to be read. */
gboolean qd_tally_put_predicate(QdTallyDraft *self, const QdTriple *triple);

/* About how many values of @variable triples with constants leave; G_MAXDOUBLE: there are none at it. */
double qd_tally_estimate_values(QdGenerator *self, const QdAlgebra *node, guint variable);
/* Triples of @node, and of each EXISTS in it. */
guint qd_tally_count_triples(QdGenerator *self, const QdAlgebra *node);
/* About how many quads a join of @node looks at: OPTIONAL and the like for each row of their left. */
double qd_tally_estimate_effort(QdGenerator *self, const QdAlgebra *node);

/* Whether @node leaves of an OPTIONAL the solutions that have none: FILTER(!BOUND(?x)), which its right side alone binds. */
gboolean qd_tally_is_absence(const QdAlgebra *node);

/* Whether @expression is ?s = ?o or ?s != ?o of each triple of @node, one or a UNION: a condition that parts are made of. */
gboolean qd_tally_compares_ends(const QdExpression *expression, const QdAlgebra *node);

/* The solutions of @node that bind @variable: its OPTIONAL becomes a join. NULL: there is no pattern for them. */
QdAlgebra *qd_tally_require(QdGenerator *self, const QdAlgebra *node, guint variable);

/* Whether columns for a program are worth it where a join would look at @effort quads. */
gboolean qd_tally_is_worth_while(const QdTallyDraft *self, double effort);
/* Explain has the program. */
void qd_tally_add_note(const QdTallyDraft *self, double effort);
/* Whether it is the store's default graph, of a query by itself. */
gboolean qd_tally_is_possible(const QdGenerator *self);

gboolean qd_node_is_variable(const QdNode *node, guint variable);

static inline gboolean
qd_tally_has_variable(const guint *variables, guint n, guint variable)
{
    for (guint i = 0; i < n; i++) {
        if (variables[i] == variable)
            return TRUE;
    }
    return FALSE;
}
