/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths that are sets or repeat: p*, p+, p?; sqlgen-links.c has the others. Repetition is a recursive common table expression
 * that starts from the end that is known. That is a constant, the solutions on the left, or, if nothing is known, every node.
 */
#include "daemon/plan/sqlgen-private.h"

/* --- repetition ------------------------------------------------------------------------------------------------------- */

/* What a closure is made of: columns from and to (and graph), one step of the path. */
typedef struct Closure {
    QdPathKind kind;
    const QdRelation *step;
    guint x, y;       /* the step's variables, from the seeded end to the other */
    QdSql graph;      /* of the step; none: the active graph is no variable */
    QdSql seeds;      /* SELECT n [, g], or none: every node */
    const QdNode *to; /* (nullable): its other end, of which all pairs are wanted that a join has */
} Closure;

/* Every node of the active graph: SELECT n [, g]. */
static QdSql
write_nodes(QdGenerator *self)
{
    QdSql g = qd_sql_text(self->graph.kind == QD_NODE_VARIABLE ? ",z.g AS g" : "");
    QdSql condition = qd_generate_graph_condition(self, &(QdTableName){ "z", NULL });

    return qd_sql_make(self->arena,
                       "SELECT z.s AS n@ FROM queryd_quad AS z WHERE @ UNION SELECT z.o@ FROM queryd_quad AS z WHERE @", g,
                       condition, g, condition);
}

/* (nullable): the graph of @relation, if the active one is a variable. */
static const QdColumn *
find_graph(const QdGenerator *self, const QdRelation *relation)
{
    return self->graph.kind == QD_NODE_VARIABLE ? qd_relation_find(relation, self->graph.variable) : NULL;
}

/* What a list of columns has beside a node. */
static QdSql
write_graph(QdGenerator *self, const QdRelation *relation)
{
    const QdColumn *graph = find_graph(self, relation);

    return graph != NULL ? qd_sql_make(self->arena, ",@ AS g", graph->sql) : qd_sql_text("");
}

/* A constant as a seed, in each graph. A path of length zero has it even where no triple has. */
static QdSql
write_constant_seed(QdGenerator *self, QdSql sql)
{
    QdRelation *unit = qd_generate_unit(self);

    return qd_relation_write_list(self, unit, "SELECT", qd_sql_make(self->arena, "@ AS n@", sql, write_graph(self, unit)),
                                  QD_SQL_NONE);
}

/* That @node, of @relation, is a node of the active graph: a variable matches nothing else. */
static QdSql
write_is_node(QdGenerator *self, QdSql node, const QdRelation *relation)
{
    const QdTableName z = { "z", NULL };
    const QdColumn *own = find_graph(self, relation);
    QdSql graph = own != NULL ? qd_sql_make(self->arena, " AND z.g=@", own->sql) : qd_sql_text("");
    QdSql subject = qd_sql_make(self->arena, "SELECT 1 FROM queryd_quad AS z WHERE z.s=@ AND @@", node,
                                qd_generate_graph_condition(self, &z), graph);
    QdSql object = qd_sql_make(self->arena, "SELECT 1 FROM queryd_quad AS z WHERE z.o=@ AND @@", node,
                               qd_generate_graph_condition_apart(self, &z), graph);

    return qd_sql_make(self->arena, "@ OR @", qd_sql_exists(self->arena, QD_SQL_NONE, subject),
                       qd_sql_exists(self->arena, QD_SQL_NONE, object));
}

/* The nodes that @left binds @variable to. */
static QdSql
write_bound_seeds(QdGenerator *self, const QdRelation *left, guint variable)
{
    QdSql node = qd_column_intern(self, qd_relation_find(left, variable));

    return qd_sql_make(self->arena, "SELECT DISTINCT @ AS n@ FROM @ WHERE @", node, write_graph(self, left), left->tables[0].from,
                       write_is_node(self, node, left));
}

/* The same where @left may leave @variable unbound: with such a solution each node is a seed. */
static QdSql
write_open_seeds(QdGenerator *self, const QdRelation *left, guint variable)
{
    QdSql seeds = write_bound_seeds(self, left, variable);
    const QdColumn *column = qd_relation_find(left, variable);

    if (column->certain)
        return seeds;
    return qd_sql_make(
        self->arena, "@ UNION SELECT * FROM (@) WHERE @", seeds, write_nodes(self),
        qd_sql_exists(self->arena, QD_SQL_NONE,
                      qd_sql_make(self->arena, "SELECT 1 FROM @ WHERE @ IS NULL", left->tables[0].from, column->sql)));
}

/* The graph in a list of what seeds lead to: each seed tells its own. */
static QdSql
write_seed_graph(const Closure *closure)
{
    return qd_sql_text(closure->graph.text != NULL ? ",n.g" : "");
}

/* Seeds, and what steps lead to from them, as SELECTs between UNION: pairs are a set. */
static QdSql
write_closure(QdGenerator *self, const Closure *closure, const QdTable *table)
{
    QdArena *arena = self->arena;
    gboolean has_graph = closure->graph.text != NULL;
    const QdSql none = qd_sql_text("");
    QdSql x = qd_relation_find(closure->step, closure->x)->sql;
    QdSql y = qd_relation_find(closure->step, closure->y)->sql;
    QdSql g = has_graph ? qd_sql_make(arena, ",@", closure->graph) : none;
    QdSql seeds = closure->seeds.text != NULL ? closure->seeds : write_nodes(self);
    QdSql from = closure->step->tables[0].from;
    QdSql where = qd_relation_write_where(self, closure->step);
    QdSql name = qd_sql_text(table->name.text);
    QdSql first, same, own;

    if (closure->kind == QD_PATH_ONE_OR_MORE && closure->seeds.text == NULL)
        first = qd_sql_make(arena, "SELECT @,@@ FROM @ WHERE @", x, y, g, from, where);
    else
        first = qd_sql_make(arena, "SELECT @,@@ FROM (@) AS n CROSS JOIN @ WHERE @=n.n@ AND @", x, y, g, seeds, from, x,
                            has_graph ? qd_sql_make(arena, " AND n.g=@", closure->graph) : none, where);
    own = qd_sql_make(arena, "SELECT n.n,n.n@ FROM (@) AS n", write_seed_graph(closure), seeds);
    if (closure->kind == QD_PATH_ZERO_OR_ONE)
        return qd_sql_make(arena, "@ UNION @", own, first);
    if (closure->kind == QD_PATH_ZERO_OR_MORE)
        first = own;
    same = has_graph ? qd_sql_make(arena, " AND @.g=@", name, closure->graph) : none;
    return qd_sql_make(arena, "@ UNION SELECT @.a,@@ FROM @ CROSS JOIN @ WHERE @=@.b@ AND @", first, name, y, g, name, from, x,
                       name, same, where);
}

/* The graph that is searched where it is the same for each seed; none: it is a variable, or the dataset merges several. */
static QdSql
write_searched_graph(QdGenerator *self)
{
    const QdTerm *graph = self->graph.kind == QD_NODE_TERM ? self->graph.term : self->dataset->with;

    if (self->dataset->clause != NULL || self->graph.kind == QD_NODE_VARIABLE)
        return QD_SQL_NONE;
    return graph != NULL ? qd_generator_put_term(self, graph) : qd_sql_text("0");
}

/*
 * @to (nullable): the end that is searched for, of which the other parts of a join may ask something. @graph: may be none
 *
 * A repetition of links in one graph is searched breadth first, a set for each seed (daemon/functions/closure/closure.h): the
 * arguments after the seed. None: of anything else.
 */
static QdSql
write_search_from(QdGenerator *self, QdPathKind kind, const QdPath *inner, gboolean from_object, const QdNode *to, QdSql graph)
{
    static const char *const kinds[] = {
        [QD_PATH_ZERO_OR_MORE] = "'*'", [QD_PATH_ONE_OR_MORE] = "'+'", [QD_PATH_ZERO_OR_ONE] = "'?'"
    };
    g_auto(QdSqlBuilder) links = qd_sql_builder_new(self->arena);

    if (graph.text == NULL || !qd_path_append_links(self, inner, from_object, &links))
        return QD_SQL_NONE;
    if (to != NULL && to->kind == QD_NODE_VARIABLE && kind != QD_PATH_ZERO_OR_ONE)
        qd_path_append_conditions(self, to->variable, &links);
    return qd_sql_make(self->arena, ",queryd_steps(@@),@", qd_sql_text(kinds[kind]), qd_sql_finish(&links), graph);
}

static gboolean
has_sequence(const QdPath *path)
{
    for (guint i = 0; i < path->n_children; i++) {
        if (has_sequence(path->children[i]))
            return TRUE;
    }
    return path->kind == QD_PATH_SEQUENCE;
}

/* What is read of a search from each seed. */
static const char *const search_pairs = "SELECT n.n,c.node@ FROM (@) AS n CROSS JOIN queryd_closure(n.n@) AS c";
static const char *const search_circles = "SELECT n.n,c.node@ FROM (@) AS n CROSS JOIN queryd_closure(n.n@) AS c WHERE c.node=n.n";
static const char *const search_counts = "SELECT n.n,c.n_nodes@ FROM (@) AS n CROSS JOIN queryd_closure(n.n@) AS c";

/* The same for all seeds. */
static QdSql
write_search(QdGenerator *self, const Closure *closure, const QdPath *inner, gboolean from_object, const char *format)
{
    gboolean has_graph = closure->graph.text != NULL;
    QdSql search = write_search_from(self, closure->kind, inner, from_object, closure->to,
                                     has_graph ? qd_sql_text("n.g") : write_searched_graph(self));
    QdSql seeds = closure->seeds;

    if (search.text == NULL)
        return QD_SQL_NONE;
    /* the start of each step; where that takes a join, any node may be one */
    if (seeds.text == NULL && closure->kind == QD_PATH_ONE_OR_MORE && !has_sequence(inner))
        seeds = qd_relation_write_list(
            self, closure->step, "SELECT DISTINCT",
            qd_sql_make(self->arena, "@ AS n@", qd_relation_find(closure->step, closure->x)->sql, write_graph(self, closure->step)),
            QD_SQL_NONE);
    seeds = seeds.text != NULL ? seeds : write_nodes(self);
    /* one graph after the other: what was read of one is forgotten. SQLite would leave out the order, but for the limit */
    if (has_graph)
        seeds = qd_sql_make(self->arena, "SELECT n,g FROM (@) ORDER BY g LIMIT -1", seeds);
    return qd_sql_make(self->arena, format, write_seed_graph(closure), seeds, search);
}

/* The value that an end has before anything runs; may be none. */
static QdSql
constant_end(QdGenerator *self, const QdNode *node)
{
    return node->kind == QD_NODE_TERM ? qd_generator_put_term(self, node->term) : qd_generator_find_value(self, node->variable);
}

static void
bind_end(QdGenerator *self, QdRelation *relation, const QdNode *node, QdSql sql)
{
    const QdColumn *column = node->kind == QD_NODE_VARIABLE ? qd_relation_find(relation, node->variable) : NULL;
    QdSql value = column != NULL ? column->sql : constant_end(self, node);

    if (value.text != NULL)
        qd_relation_add_where(self, relation, qd_sql_equate(self->arena, sql, "=", value));
    else
        (void) qd_relation_add_stored(self, relation, node->variable, sql);
}

/* Whether @path joins each term with itself, also one that the graph does not have. A sequence does not: its middle is a node. */
static gboolean
joins_itself(const QdPath *path)
{
    switch (path->kind) {
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
        return TRUE;
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_INVERSE:
        return joins_itself(path->children[0]);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++) {
            if (joins_itself(path->children[i]))
                return TRUE;
        }
        return FALSE;
    case QD_PATH_LINK:
    case QD_PATH_SEQUENCE:
    case QD_PATH_NEGATED:
        return FALSE;
    }
    g_assert_not_reached();
}

/* (p*)* is p*, (p+)? is p*, (p?|q)+ is (p?|q)*, … : one repetition of what repeats. */
static const QdPath *
simplify(const QdPath *path, QdPathKind *ret_kind)
{
    QdPathKind kind = path->kind;
    const QdPath *inner = path->children[0];

    while (qd_path_is_modified(inner)) {
        if (inner->kind != kind)
            kind = QD_PATH_ZERO_OR_MORE;
        inner = inner->children[0];
    }
    if (kind == QD_PATH_ONE_OR_MORE && joins_itself(inner))
        kind = QD_PATH_ZERO_OR_MORE;
    *ret_kind = kind;
    return inner;
}

/* One step of the path between two variables of ours, in the order that suits the end at which it is looked up. It is a table
 * or a view that the recursion can look into by index. */
static QdRelation *
generate_step(QdGenerator *self, const QdPath *path, gboolean from_object, QdNode *ret_x, QdNode *ret_y)
{
    QdVariableSet known = { 0 };
    QdRelation *step;

    *ret_x = (QdNode){ .kind = QD_NODE_VARIABLE, .variable = qd_ast_add_variable(self->ast, NULL) };
    *ret_y = (QdNode){ .kind = QD_NODE_VARIABLE, .variable = qd_ast_add_variable(self->ast, NULL) };
    qd_variable_set_add(&known, self->arena, from_object ? ret_y->variable : ret_x->variable);
    step = qd_generator_generate(self, qd_algebra_from_path(self->ast, ret_x, path, ret_y), &known);
    return step->n_tables == 1 && step->tables[0].on.text == NULL ? step : qd_relation_seal(self, step, QD_SEAL_VIEW);
}

/* How well the solutions on the left know an end: not at all, in some of them, in all. */
static guint
rate_seed(const QdRelation *left, const QdNode *node)
{
    const QdColumn *column = left != NULL && node->kind == QD_NODE_VARIABLE ? qd_relation_find(left, node->variable) : NULL;

    return column == NULL ? 0 : column->certain ? 2 : 1;
}

/* Sets where the closure begins; TRUE when that is the object's end. */
static gboolean
choose_seeds(QdGenerator *self, const QdTriple *triple, QdRelation **left, Closure *closure)
{
    const QdRelation *known = left != NULL ? *left : NULL;
    QdSql s = constant_end(self, &triple->s);
    QdSql o = constant_end(self, &triple->o);
    gboolean from_object;

    if (s.text != NULL || o.text != NULL) {
        closure->seeds = write_constant_seed(self, s.text != NULL ? s : o);
        return s.text == NULL;
    }
    from_object = rate_seed(known, &triple->o) > rate_seed(known, &triple->s);
    if (!from_object && rate_seed(known, &triple->s) == 0)
        return FALSE;
    if (known->n_tables != 1 || !known->tables[0].is_kept || known->n_conditions + known->n_prunings > 0)
        *left = qd_relation_seal(self, *left, QD_SEAL_MATERIALIZED);
    closure->seeds = write_open_seeds(self, *left, from_object ? triple->o.variable : triple->s.variable);
    return from_object;
}

/* Whether what is generated is read again for each of the solutions around it. */
static gboolean
is_beside(const QdGenerator *self, const QdVariableSet *bound)
{
    return self->is_beside || (bound != NULL && !qd_variable_set_is_empty(bound));
}

/* About how many nodes a step leads to. */
static double
estimate_step(QdGenerator *self, const QdPath *path, gboolean backward)
{
    QdPredicateStatistics statistics = { 0 };
    double n;

    switch (path->kind) {
    case QD_PATH_LINK:
        if (self->catalog == NULL || !self->catalog->get_predicate(self->catalog->data, path->iri, &statistics))
            return 0;
        return (double) statistics.n_quads / (double) MAX(1, backward ? statistics.n_objects : statistics.n_subjects);
    case QD_PATH_INVERSE:
        return estimate_step(self, path->children[0], !backward);
    case QD_PATH_ALTERNATIVE:
        n = 0;
        for (guint i = 0; i < path->n_children; i++)
            n += estimate_step(self, path->children[i], backward);
        return n;
    case QD_PATH_SEQUENCE:
        n = 1;
        for (guint i = 0; i < path->n_children; i++)
            n *= estimate_step(self, path->children[i], backward);
        return n;
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        return 1;
    }
    g_assert_not_reached();
}

/* The end that @left knows better; of two the one from which fewer nodes are met. */
static gboolean
begins_at_object(QdGenerator *self, const QdTriple *triple, const QdPath *inner, const QdRelation *left)
{
    guint s = rate_seed(left, &triple->s);
    guint o = rate_seed(left, &triple->o);
    double n_from_subject, n_from_object;

    if (s != o || o == 0)
        return o > s;
    if (s == 2 && qd_sample_compare_ends(self, triple, &n_from_subject, &n_from_object))
        return n_from_object < n_from_subject;
    return estimate_step(self, inner, TRUE) < estimate_step(self, inner, FALSE);
}

/* Whether both ends of @triple are one variable. */
static gboolean
is_circle(const QdTriple *triple)
{
    return triple->s.kind == QD_NODE_VARIABLE && triple->o.kind == QD_NODE_VARIABLE && triple->s.variable == triple->o.variable;
}

/* Whether @triple, a path, is one of no length alone: from each node to itself. Longer ones add nothing. */
static gboolean
is_loop(const QdTriple *triple, QdPathKind kind)
{
    return kind != QD_PATH_ONE_OR_MORE && is_circle(triple);
}

/* @left as a join with a search to @to makes it. The search names its tables, which no later step may put out of sight. */
static QdRelation *
settle_before(QdGenerator *self, const QdRelation *left, const QdNode *to)
{
    QdRelation *found = qd_relation_new(self);

    (void) qd_relation_add(self, found, to->variable, QD_SQL_NONE);
    left = qd_relation_settle(self, left, found, QD_SEAL_STREAM);
    return qd_relation_has_long_columns(left) ? qd_relation_seal(self, left, QD_SEAL_STREAM) : qd_relation_copy(self, left);
}

/*
 * A repeated path that is searched from each solution of *@ret_left as it comes. Neither is kept, so the first rows leave before
 * the last solution is there. To be joined after *@ret_left, which may be settled for that, and whose columns it names. NULL: it
 * would be searched again for each row of something around it, or its steps are more than links. Or one end is a constant, none is
 * known, or a known one may be unbound.
 */
static QdRelation *
generate_by_row(QdGenerator *self, const QdTriple *triple, QdRelation **ret_left, const QdVariableSet *bound)
{
    const QdRelation *left = *ret_left;
    QdPathKind kind;
    const QdPath *inner = simplify(triple->path, &kind);
    gboolean from_object = begins_at_object(self, triple, inner, left);
    const QdNode *from = from_object ? &triple->o : &triple->s;
    const QdNode *to = from_object ? &triple->s : &triple->o;
    const QdColumn *graph;
    QdRelation *relation;
    QdSql seed, search, node;
    QdTable table;

    if (is_beside(self, bound) || self->outer != NULL || rate_seed(left, from) != 2 || constant_end(self, to).text != NULL ||
        left->n_tables >= QD_TABLES_MAX)
        return NULL;
    left = *ret_left = settle_before(self, left, to);
    graph = find_graph(self, left);
    seed = qd_column_intern(self, qd_relation_find(left, from->variable));
    search = write_search_from(self, kind, inner, from_object, rate_seed(left, to) == 0 ? to : NULL,
                               graph != NULL && graph->certain ? graph->sql : write_searched_graph(self));
    if (search.text == NULL)
        return NULL;
    relation = qd_relation_new(self);
    if (kind != QD_PATH_ONE_OR_MORE) /* a path of no length */
        qd_relation_add_where(self, relation, qd_sql_make(self->arena, "(@)", write_is_node(self, seed, left)));
    if (is_loop(triple, kind))
        return relation;
    table = qd_generator_make_table(self, 'p');
    table.is_search = TRUE;
    table.sure = "node";
    node = qd_table_write_witness(self, &table);
    /* a path of no length leads from a node to itself */
    table.is_test = rate_seed(left, to) == 2 && (from->variable != to->variable || kind == QD_PATH_ONE_OR_MORE);
    table.seed = seed;
    table.search = search;
    qd_table_write_search(self, &table);
    qd_relation_add_table(self, relation, &table);
    if (rate_seed(left, to) == 2)
        qd_relation_add_where(self, relation,
                              qd_sql_equate(self->arena, node, "=+", qd_column_intern(self, qd_relation_find(left, to->variable))));
    else
        bind_end(self, relation, to, node);
    return relation;
}

static QdSql
write_end(QdGenerator *self, const QdTable *table, const char *column)
{
    return qd_sql_column(self->arena, &table->name, column, QD_SQL_COLUMN);
}

static QdRelation *
generate_closure(QdGenerator *self, const QdTriple *triple, QdRelation **left, const QdVariableSet *bound)
{
    Closure closure = { 0 };
    const QdPath *inner = simplify(triple->path, &closure.kind);
    QdRelation *by_row = left != NULL && *left != NULL ? generate_by_row(self, triple, left, bound) : NULL;
    gboolean from_object = by_row != NULL ? FALSE : choose_seeds(self, triple, left, &closure);
    QdRelation *relation = qd_relation_new(self);
    QdTable table;
    QdSql search, select;
    gboolean joined;
    QdNode x, y;

    if (by_row != NULL)
        return by_row;
    closure.step = generate_step(self, inner, from_object, &x, &y);
    if (self->error != NULL)
        return relation;
    closure.x = from_object ? y.variable : x.variable;
    closure.y = from_object ? x.variable : y.variable;
    if (self->graph.kind == QD_NODE_VARIABLE)
        closure.graph = qd_relation_find(closure.step, self->graph.variable)->sql;
    table = qd_generator_make_table(self, 'p');
    closure.to = !is_circle(triple) ? from_object ? &triple->s : &triple->o : NULL;
    search = write_search(self, &closure, inner, from_object, is_circle(triple) ? search_circles : search_pairs);
    if (search.text != NULL && is_loop(triple, closure.kind))
        search = qd_sql_make(self->arena, "SELECT n.n,n.n@ FROM (@) AS n", write_seed_graph(&closure),
                             closure.seeds.text != NULL ? closure.seeds : write_nodes(self));
    select = search.text != NULL ? search : write_closure(self, &closure, &table);
    /* beside other solutions it is searched once and looked up; alone its rows come as they are found */
    joined = search.text != NULL && (is_beside(self, bound) || (left != NULL && *left != NULL));
    qd_generator_define(self,
                        qd_sql_make(self->arena, "@(@) AS@", table.from, qd_sql_text(closure.graph.text != NULL ? "a,b,g" : "a,b"),
                                    qd_sql_text(joined ? " MATERIALIZED" : "")),
                        select);
    table.sure = "a";
    table.is_sealed = TRUE;
    qd_relation_add_table(self, relation, &table);
    if (closure.graph.text != NULL)
        (void) qd_relation_add_stored(self, relation, self->graph.variable, write_end(self, &table, "g"));
    bind_end(self, relation, &triple->s, write_end(self, &table, from_object ? "b" : "a"));
    bind_end(self, relation, &triple->o, write_end(self, &table, from_object ? "a" : "b"));
    qd_outer_close(self, relation);
    return relation;
}

gboolean
qd_path_find_counted_end(QdGenerator *self, const QdAlgebra *group, int *ret_end)
{
    const QdTriple *triple = group->children[0]->triple;

    if (group->children[0]->kind != QD_ALGEBRA_PATH || !qd_rewrite_counts_solutions(group) || group->n_variables > 1 ||
        triple->s.kind != QD_NODE_VARIABLE || triple->o.kind != QD_NODE_VARIABLE || is_circle(triple) ||
        constant_end(self, &triple->s).text != NULL || constant_end(self, &triple->o).text != NULL ||
        (triple->path->kind != QD_PATH_ZERO_OR_MORE && triple->path->kind != QD_PATH_ONE_OR_MORE))
        return FALSE;
    *ret_end = group->n_variables == 0 ? 0 : group->variables[0] == triple->s.variable ? 1 : -1;
    return group->n_variables == 0 || group->variables[0] == triple->s.variable || group->variables[0] == triple->o.variable;
}

QdRelation *
qd_generate_path_count(QdGenerator *self, const QdAlgebra *group)
{
    const QdTriple *triple = group->children[0]->triple;
    Closure closure = { 0 };
    const QdPath *inner;
    QdRelation *relation;
    QdTable table;
    QdSql search, n;
    QdNode x, y;
    int end;

    /* from a few values the pairs are few */
    if (self->outer != NULL || self->graph.kind == QD_NODE_VARIABLE || group->children[0] == self->seeded.node ||
        !qd_path_find_counted_end(self, group, &end))
        return NULL;
    inner = simplify(triple->path, &closure.kind);
    closure.step = generate_step(self, inner, end < 0, &x, &y);
    closure.x = end < 0 ? y.variable : x.variable;
    search = self->error == NULL ? write_search(self, &closure, inner, end < 0, search_counts) : QD_SQL_NONE;
    if (search.text == NULL)
        return NULL;
    table = qd_generator_make_table(self, 'p');
    qd_generator_define(self, qd_sql_make(self->arena, "@(a,b) AS", table.from), search);
    table.sure = "a";
    table.is_sealed = TRUE;
    relation = qd_relation_new(self);
    qd_relation_add_table(self, relation, &table);
    n = write_end(self, &table, "b");
    if (end != 0)
        (void) qd_relation_add_stored(self, relation, group->variables[0], write_end(self, &table, "a"));
    else
        n = qd_sql_make(self->arena, "coalesce(sum(@),0)", n);
    for (guint i = 0; i < group->n_bindings; i++) {
        QdColumn *column = qd_relation_add(self, relation, group->bindings[i].variable,
                                           qd_sql_make(self->arena, "queryd_integer(@)", n));

        column->certain = column->interned = TRUE;
    }
    return qd_relation_seal_text(self, relation, qd_relation_write(self, relation, "SELECT", QD_SQL_NONE),
                                 end != 0 ? QD_SEAL_TABLE : QD_SEAL_PLAIN);
}

QdRelation *
qd_generate_path(QdGenerator *self, const QdTriple *triple, QdRelation **left, const QdVariableSet *bound)
{
    QdVariableSet known;

    switch (triple->path->kind) {
    case QD_PATH_ALTERNATIVE:
    case QD_PATH_NEGATED:
        if (left == NULL || *left == NULL)
            return qd_generate_links(self, triple, bound);
        known = qd_relation_add_bound(self, bound, *left);
        return qd_generate_links(self, triple, &known);
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
        return generate_closure(self, triple, left, bound);
    case QD_PATH_LINK:
    case QD_PATH_INVERSE:
    case QD_PATH_SEQUENCE:
        break; /* became triples in the algebra */
    }
    g_assert_not_reached();
}
