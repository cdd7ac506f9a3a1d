/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths that are sets or repeat: p*, p+, p?, !(…), and p|q of plain links. Repetition is a recursive common table expression
 * that starts from the end that is known. That is a constant, the solutions on the left, or, if nothing is known, every node.
 */
#include "daemon/plan/sqlgen-private.h"

/* --- one scan --------------------------------------------------------------------------------------------------------- */

static const char *
list_links(QdGenerator *self, const QdPath *path, QdPathKind kind)
{
    g_autoptr(GString) list = g_string_new(NULL);

    for (guint i = 0; i < path->n_children; i++) {
        const QdPath *child = path->children[i];

        if (child->kind != kind)
            continue;
        if (child->kind == QD_PATH_INVERSE)
            child = child->children[0];
        g_string_append_printf(list, "%s%s", list->len > 0 ? "," : "", qd_generator_put_term(self, child->iri));
    }
    return list->len > 0 ? qd_arena_strndup(self->arena, list->str, list->len) : NULL;
}

/* Any predicate that the condition on ?p allows: a triple with a predicate of our own. */
static QdRelation *
generate_scan(QdGenerator *self, const QdNode *s, const QdNode *o, const char *operator, const char * list)
{
    guint predicate = qd_ast_add_variable(self->ast, NULL);
    QdTriple triple = { .s = *s, .p = { .kind = QD_NODE_VARIABLE, .variable = predicate }, .o = *o };
    QdRelation *relation = qd_generate_triple(self, &triple);
    QdRelation *result = qd_relation_new(self);

    if (list != NULL)
        qd_relation_add_where(
            self, relation, qd_arena_printf(self->arena, "%s %s (%s)", qd_relation_find(relation, predicate)->sql, operator, list));
    qd_relation_take_rows(self, result, relation);
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].variable != predicate)
            *qd_relation_add(self, result, relation->columns[i].variable, NULL) = relation->columns[i];
    }
    return result;
}

/* Columns of @shape, from @arms whose columns may stand in another order. */
static QdRelation *
unite(QdGenerator *self, QdRelation *shape, const QdRelation *other)
{
    g_autoptr(GString) list = g_string_new(NULL);

    for (guint i = 0; i < shape->n_columns; i++)
        g_string_append_printf(list, "%s%s", i > 0 ? "," : "", qd_relation_find(other, shape->columns[i].variable)->sql);
    return qd_relation_seal_text(
        self, shape,
        qd_arena_printf(self->arena, "%s UNION ALL %s", qd_relation_write(self, shape, "SELECT", NULL),
                        qd_relation_write_list(self, other, "SELECT", list->len > 0 ? list->str : "1", NULL)),
        QD_SEAL_PLAIN);
}

static QdRelation *
generate_negated(QdGenerator *self, const QdTriple *triple)
{
    const char *forward = list_links(self, triple->path, QD_PATH_LINK);
    const char *backward = list_links(self, triple->path, QD_PATH_INVERSE);
    QdRelation *scan;

    if (backward == NULL)
        return generate_scan(self, &triple->s, &triple->o, "NOT IN", forward);
    scan = generate_scan(self, &triple->o, &triple->s, "NOT IN", backward);
    if (forward == NULL)
        return scan;
    return unite(self, generate_scan(self, &triple->s, &triple->o, "NOT IN", forward), scan);
}

/* --- repetition ------------------------------------------------------------------------------------------------------- */

/* Links of a step that queryd_steps() takes. */
#define LINKS_MAX 60

/* What a closure is made of: columns from and to (and graph), one step of the path. */
typedef struct Closure {
    QdPathKind kind;
    const QdRelation *step;
    guint x, y;        /* the step's variables, from the seeded end to the other */
    const char *graph; /* of the step; NULL: the active graph is no variable */
    const char *seeds; /* SELECT n [, g], or NULL: every node */
} Closure;

/* Every node of the active graph: SELECT n [, g]. */
static const char *
write_nodes(QdGenerator *self)
{
    const char *g = self->graph.kind == QD_NODE_VARIABLE ? ",z.g AS g" : "";
    const char *condition = qd_generate_graph_condition(self, "z");

    return qd_arena_printf(self->arena,
                           "SELECT z.s AS n%s FROM queryd_quad AS z WHERE %s UNION SELECT z.o%s FROM queryd_quad AS z WHERE %s", g,
                           condition, g, condition);
}

/* A constant as a seed, in each graph. A path of length zero has it even where no triple has. */
static const char *
write_constant_seed(QdGenerator *self, const char *sql)
{
    QdRelation *unit = qd_generate_unit(self);
    const QdColumn *graph = self->graph.kind == QD_NODE_VARIABLE ? qd_relation_find(unit, self->graph.variable) : NULL;

    return qd_relation_write_list(self, unit, "SELECT",
                                  qd_arena_printf(self->arena, "%s AS n%s%s%s", sql, graph != NULL ? "," : "",
                                                  graph != NULL ? graph->sql : "", graph != NULL ? " AS g" : ""),
                                  NULL);
}

/* That @node, an SQL expression, is a node of the active graph: a variable matches nothing else. @graph: (nullable): its own
 * condition. */
static const char *
write_is_node(QdGenerator *self, const char *node, const char *graph)
{
    const char *condition = qd_generate_graph_condition(self, "z");

    return qd_arena_printf(self->arena,
                           "EXISTS(SELECT 1 FROM queryd_quad AS z WHERE z.s=%s AND %s%s) OR "
                           "EXISTS(SELECT 1 FROM queryd_quad AS z WHERE z.o=%s AND %s%s)",
                           node, condition, graph, node, condition, graph);
}

/* The nodes that @left binds @variable to. */
static const char *
write_bound_seeds(QdGenerator *self, const QdRelation *left, guint variable)
{
    const QdColumn *column = qd_relation_find(left, variable);
    const QdColumn *graph = self->graph.kind == QD_NODE_VARIABLE ? qd_relation_find(left, self->graph.variable) : NULL;
    const char *node = qd_column_intern(self, column);
    const char *same_graph = graph != NULL ? qd_arena_printf(self->arena, " AND z.g=%s", graph->sql) : "";

    return qd_arena_printf(self->arena, "SELECT DISTINCT %s AS n%s%s%s FROM %s WHERE %s", node, graph != NULL ? "," : "",
                           graph != NULL ? graph->sql : "", graph != NULL ? " AS g" : "", left->tables[0].text,
                           write_is_node(self, node, same_graph));
}

/* The same where @left may leave @variable unbound: with such a solution each node is a seed. */
static const char *
write_open_seeds(QdGenerator *self, const QdRelation *left, guint variable)
{
    const char *seeds = write_bound_seeds(self, left, variable);
    const QdColumn *column = qd_relation_find(left, variable);

    if (column->certain)
        return seeds;
    return qd_arena_printf(self->arena, "%s UNION SELECT * FROM (%s) WHERE EXISTS(SELECT 1 FROM %s WHERE %s IS NULL)", seeds,
                           write_nodes(self), left->tables[0].text, column->sql);
}

/* Seeds, and what steps lead to from them, as SELECTs between UNION: pairs are a set. */
static const char *
write_closure(QdGenerator *self, const Closure *closure, const char *name)
{
    const char *x = qd_relation_find(closure->step, closure->x)->sql;
    const char *y = qd_relation_find(closure->step, closure->y)->sql;
    const char *g = closure->graph != NULL ? qd_arena_printf(self->arena, ",%s", closure->graph) : "";
    const char *same = closure->graph != NULL ? qd_arena_printf(self->arena, " AND n.g=%s", closure->graph) : "";
    const char *seeds = closure->seeds != NULL ? closure->seeds : write_nodes(self);
    const char *from = closure->step->tables[0].text;
    const char *where = qd_relation_write_where(self, closure->step);
    const char *first;

    if (closure->kind == QD_PATH_ONE_OR_MORE && closure->seeds == NULL)
        first = qd_arena_printf(self->arena, "SELECT %s,%s%s FROM %s WHERE %s", x, y, g, from, where);
    else
        first = qd_arena_printf(self->arena, "SELECT %s,%s%s FROM (%s) AS n CROSS JOIN %s WHERE %s=n.n%s AND %s", x, y, g, seeds,
                                from, x, same, where);
    if (closure->kind == QD_PATH_ZERO_OR_ONE)
        return qd_arena_printf(self->arena, "SELECT n.n,n.n%s FROM (%s) AS n UNION %s", closure->graph != NULL ? ",n.g" : "", seeds,
                               first);
    if (closure->kind == QD_PATH_ZERO_OR_MORE)
        first = qd_arena_printf(self->arena, "SELECT n.n,n.n%s FROM (%s) AS n", closure->graph != NULL ? ",n.g" : "", seeds);
    same = closure->graph != NULL ? qd_arena_printf(self->arena, " AND %s.g=%s", name, closure->graph) : "";
    return qd_arena_printf(self->arena, "%s UNION SELECT %s.a,%s%s FROM %s CROSS JOIN %s WHERE %s=%s.b%s AND %s", first, name, y, g,
                           name, from, x, name, same, where);
}

/* A link of a step, and those that go on from it: arms of the step share their ends. */
typedef struct Chain {
    const QdTerm *iri;
    gboolean backward;
    guint n; /* links */
    const struct Chain *next;
} Chain;

static gboolean list_chains(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out);

/* From the last member that is walked to the first. */
static gboolean
list_sequence(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out)
{
    g_autoptr(GPtrArray) ends = g_ptr_array_new();

    g_ptr_array_add(ends, (gpointer) next);
    for (guint i = path->n_children; i-- > 0;) {
        const QdPath *member = path->children[backward ? path->n_children - 1 - i : i];
        g_autoptr(GPtrArray) longer = g_ptr_array_new();

        for (guint j = 0; j < ends->len; j++) {
            if (!list_chains(self, member, backward, ends->pdata[j], longer))
                return FALSE;
        }
        g_ptr_array_unref(ends);
        ends = g_steal_pointer(&longer);
    }
    g_ptr_array_extend(out, ends, NULL, NULL);
    return out->len <= LINKS_MAX;
}

/* The ways that @path may take, each followed by @next, are added to @out. FALSE: they are too many, or more than links. */
static gboolean
list_chains(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out)
{
    Chain *chain;

    switch (path->kind) {
    case QD_PATH_LINK:
        chain = qd_arena_new0(self->arena, Chain);
        *chain = (Chain){ path->iri, backward, next != NULL ? next->n + 1 : 1, next };
        g_ptr_array_add(out, chain);
        return out->len <= LINKS_MAX && chain->n <= LINKS_MAX;
    case QD_PATH_INVERSE:
        return list_chains(self, path->children[0], !backward, next, out);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++)
            if (!list_chains(self, path->children[i], backward, next, out))
                return FALSE;
        return TRUE;
    case QD_PATH_SEQUENCE:
        return list_sequence(self, path, backward, next, out);
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        return FALSE;
    }
    g_assert_not_reached();
}

/* A step that is made of links, as arguments of queryd_steps(); FALSE for any other. */
static gboolean
append_links(QdGenerator *self, const QdPath *path, gboolean backward, GString *out)
{
    g_autoptr(GPtrArray) chains = g_ptr_array_new();
    guint n_links = 0;

    if (!list_chains(self, path, backward, NULL, chains))
        return FALSE;
    for (guint i = 0; i < chains->len; i++)
        n_links += ((const Chain *) chains->pdata[i])->n;
    if (n_links > LINKS_MAX)
        return FALSE;
    for (guint i = 0; i < chains->len; i++) {
        for (const Chain *chain = chains->pdata[i]; chain != NULL; chain = chain->next)
            g_string_append_printf(out, ",%d,%s", (chain->next != NULL ? 2 : 1) * (chain->backward ? -1 : 1),
                                   qd_generator_put_term(self, chain->iri));
    }
    return TRUE;
}

/*
 * A repetition of links in one graph is searched breadth first, a set for each seed (daemon/functions/closure.h). @seed: SQL. NULL:
 * of anything else.
 */
static const char *
write_search_from(QdGenerator *self, QdPathKind kind, const QdPath *inner, gboolean from_object)
{
    static const char kinds[] = { [QD_PATH_ZERO_OR_MORE] = '*', [QD_PATH_ONE_OR_MORE] = '+', [QD_PATH_ZERO_OR_ONE] = '?' };
    g_autoptr(GString) links = g_string_new(NULL);
    const QdTerm *graph = self->graph.kind == QD_NODE_TERM ? self->graph.term : self->dataset->with;

    if (self->dataset->clause != NULL || self->graph.kind == QD_NODE_VARIABLE || !append_links(self, inner, from_object, links))
        return NULL;
    return qd_arena_printf(self->arena, ",queryd_steps('%c'%s),%s)", kinds[kind], links->str,
                           graph != NULL ? qd_generator_put_term(self, graph) : "0");
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

/* The same for all seeds. */
static const char *
write_search(QdGenerator *self, const Closure *closure, const QdPath *inner, gboolean from_object)
{
    const char *search = write_search_from(self, closure->kind, inner, from_object);
    const char *seeds = closure->seeds;

    if (search == NULL)
        return NULL;
    /* the start of each step; where that takes a join, any node may be one */
    if (seeds == NULL && closure->kind == QD_PATH_ONE_OR_MORE && !has_sequence(inner))
        seeds = qd_relation_write_list(self, closure->step, "SELECT DISTINCT",
                                       qd_arena_printf(self->arena, "%s AS n", qd_relation_find(closure->step, closure->x)->sql),
                                       NULL);
    return qd_arena_printf(self->arena, "SELECT n.n,c.node FROM (%s) AS n CROSS JOIN " QD_SEARCH_CALL "n.n%s AS c",
                           seeds != NULL ? seeds : write_nodes(self), search);
}

static void
bind_end(QdGenerator *self, QdRelation *relation, const QdNode *node, const char *sql)
{
    QdColumn *column = node->kind == QD_NODE_VARIABLE ? qd_relation_find(relation, node->variable) : NULL;
    const char *value = node->kind == QD_NODE_TERM ? qd_generator_put_term(self, node->term) : NULL;

    if (node->kind == QD_NODE_VARIABLE)
        value = column != NULL ? column->sql : qd_generator_find_parameter(self, node->variable);
    if (value != NULL) {
        qd_relation_add_where(self, relation, qd_arena_printf(self->arena, "%s=%s", sql, value));
        return;
    }
    column = qd_relation_add(self, relation, node->variable, sql);
    column->certain = column->interned = column->plain = TRUE;
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

    while (inner->kind == QD_PATH_ZERO_OR_MORE || inner->kind == QD_PATH_ONE_OR_MORE || inner->kind == QD_PATH_ZERO_OR_ONE) {
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
    return step->n_tables == 1 && step->tables[0].on == NULL ? step : qd_relation_seal(self, step, QD_SEAL_VIEW);
}

/* The value that an end has before anything runs; NULL: none. */
static const char *
constant_end(QdGenerator *self, const QdNode *node)
{
    return node->kind == QD_NODE_TERM ? qd_generator_put_term(self, node->term) : qd_generator_find_parameter(self, node->variable);
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
    const char *s = constant_end(self, &triple->s);
    const char *o = constant_end(self, &triple->o);
    gboolean from_object;

    if (s != NULL || o != NULL) {
        closure->seeds = write_constant_seed(self, s != NULL ? s : o);
        return s == NULL;
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

    return s != o ? o > s : o > 0 && estimate_step(self, inner, TRUE) < estimate_step(self, inner, FALSE);
}

QdRelation *
qd_generate_path_by_row(QdGenerator *self, const QdTriple *triple, const QdRelation *left, const QdVariableSet *bound)
{
    QdPathKind kind;
    const QdPath *inner = simplify(triple->path, &kind);
    gboolean from_object = begins_at_object(self, triple, inner, left);
    const QdNode *from = from_object ? &triple->o : &triple->s;
    const QdNode *to = from_object ? &triple->s : &triple->o;
    QdRelation *relation;
    const char *name, *seed, *search, *node;
    QdTable table = { .is_search = TRUE, .sure = "node" };

    if (is_beside(self, bound) || self->outer != NULL || rate_seed(left, from) != 2 || constant_end(self, to) != NULL ||
        left->n_tables >= QD_TABLES_MAX)
        return NULL;
    seed = qd_column_intern(self, qd_relation_find(left, from->variable));
    search = write_search_from(self, kind, inner, from_object);
    if (search == NULL)
        return NULL;
    name = qd_arena_printf(self->arena, "p%u", qd_generator_make_name(self));
    node = qd_arena_concat(self->arena, name, ".node", NULL);
    /* a path of no length leads from a node to itself */
    table.is_test = rate_seed(left, to) == 2 && (from->variable != to->variable || kind == QD_PATH_ONE_OR_MORE);
    table.name = name;
    table.seed = seed;
    table.search = qd_arena_concat(self->arena, search, " AS ", name, NULL);
    table.text = qd_arena_concat(self->arena, QD_SEARCH_CALL, seed, table.search, NULL);
    relation = qd_relation_new(self);
    qd_relation_add_table(self, relation, &table);
    if (kind != QD_PATH_ONE_OR_MORE) /* a path of no length */
        qd_relation_add_where(self, relation, qd_arena_printf(self->arena, "(%s)", write_is_node(self, seed, "")));
    if (rate_seed(left, to) == 2)
        qd_relation_add_where(
            self, relation,
            qd_arena_concat(self->arena, node, "=+", qd_column_intern(self, qd_relation_find(left, to->variable)), NULL));
    else
        bind_end(self, relation, to, node);
    return relation;
}

static QdRelation *
generate_closure(QdGenerator *self, const QdTriple *triple, QdRelation **left, const QdVariableSet *bound)
{
    Closure closure = { 0 };
    const QdPath *inner = simplify(triple->path, &closure.kind);
    QdRelation *by_row = left != NULL && *left != NULL ? qd_generate_path_by_row(self, triple, *left, bound) : NULL;
    gboolean from_object = by_row != NULL ? FALSE : choose_seeds(self, triple, left, &closure);
    const char *name = NULL;
    const char *search;
    QdRelation *relation = qd_relation_new(self);
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
    name = qd_arena_printf(self->arena, "p%u", qd_generator_make_name(self));
    search = write_search(self, &closure, inner, from_object);
    {
        const char *text = search != NULL ? search : write_closure(self, &closure, name);
        /* beside other solutions it is searched once and looked up; alone its rows come as they are found */
        gboolean joined = search != NULL && (is_beside(self, bound) || (left != NULL && *left != NULL));

        g_string_append_printf(self->with, "%s%s(a,b%s) AS %s(%s)", self->with->len > 0 ? ",\n" : "", name,
                               closure.graph != NULL ? ",g" : "", joined ? "MATERIALIZED " : "", text);
    }

    {
        const QdTable table = { .text = name, .name = name, .sure = "a" };

        qd_relation_add_table(self, relation, &table);
    }
    if (closure.graph != NULL) {
        QdColumn *graph = qd_relation_add(self, relation, self->graph.variable, qd_arena_printf(self->arena, "%s.g", name));

        graph->certain = graph->interned = graph->plain = TRUE;
    }
    bind_end(self, relation, &triple->s, qd_arena_printf(self->arena, from_object ? "%s.b" : "%s.a", name));
    bind_end(self, relation, &triple->o, qd_arena_printf(self->arena, from_object ? "%s.a" : "%s.b", name));
    return relation;
}

QdRelation *
qd_generate_path(QdGenerator *self, const QdTriple *triple, QdRelation **left, const QdVariableSet *bound)
{
    switch (triple->path->kind) {
    case QD_PATH_ALTERNATIVE:
        return generate_scan(self, &triple->s, &triple->o, "IN", list_links(self, triple->path, QD_PATH_LINK));
    case QD_PATH_NEGATED:
        return generate_negated(self, triple);
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
