/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a pattern (daemon/tally/tally-program.h), which is a tree: its parts share one variable each with those before
 * them.
 *
 * At each variable the numbers of the parts that have it are multiplied. OPTIONAL, MINUS and EXISTS that share one variable change
 * the numbers of its values. So does a UNION, whose arms are added.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

#define LEVELS_MAX 20 /* of the parts of a program */
#define KEY_BYTES 12  /* of a column for each key, as the next for each pair */
#define PAIR_BYTES 8
#define SET_MAX 100000 /* values */

/* --- parts ------------------------------------------------------------------------------------------------------------- */

/* All variables of @node, also those that only its conditions name. */
static void
add_named(QdGenerator *generator, const QdAlgebra *node, QdVariableSet *named)
{
    qd_variable_set_add_all(named, generator->arena, &node->possible);
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], generator->arena, named);
    for (guint i = 0; i < node->n_children; i++)
        add_named(generator, node->children[i], named);
}

static guint
count_shared(const QdVariableSet *a, const QdVariableSet *b, guint *ret_last)
{
    guint n = 0;

    QD_VARIABLE_SET_FOREACH(a, variable)
    {
        if (qd_variable_set_has(b, variable)) {
            *ret_last = variable;
            n++;
        }
    }
    return n;
}

static void
add_part(QdTallyScope *self, QdTallyPartKind kind, const QdAlgebra *node, guint at, const QdExpression *comparison)
{
    QdTallyPart part = { .kind = kind, .node = node, .at = at, .comparison = comparison };

    if (kind == QD_TALLY_PART_JOINED && node->kind == QD_ALGEBRA_TRIPLE)
        part.triple = node->triple;
    add_named(self->tally->generator, node, &part.named);
    g_array_append_val(self->parts, part);
}

/* OPTIONAL, MINUS or EXISTS of @node after @left. */
static gboolean
add_modifier(QdTallyScope *self, QdTallyPartKind kind, const QdAlgebra *left, const QdAlgebra *node)
{
    guint at = G_MAXUINT;

    if (count_shared(&left->possible, &node->possible, &at) != 1 || !qd_algebra_binds(left, at))
        return FALSE;
    add_part(self, kind, node, at, NULL);
    return TRUE;
}

/* A subject is equal to itself alone. */
gboolean
qd_tally_compares_ends(const QdExpression *expression, const QdAlgebra *node)
{
    const QdNode *s, *o;
    guint a, b;

    if (expression->kind != QD_EXPRESSION_KIND_CALL || (expression->op != QD_EXPRESSION_EQ && expression->op != QD_EXPRESSION_NE) ||
        expression->children[0]->kind != QD_EXPRESSION_KIND_VARIABLE ||
        expression->children[1]->kind != QD_EXPRESSION_KIND_VARIABLE)
        return FALSE;
    for (guint i = 0; node->kind == QD_ALGEBRA_UNION && i < node->n_children; i++) {
        if (node->children[i]->kind == QD_ALGEBRA_UNION || !qd_tally_compares_ends(expression, node->children[i]))
            return FALSE;
    }
    if (node->kind != QD_ALGEBRA_TRIPLE)
        return node->kind == QD_ALGEBRA_UNION;
    s = &node->triple->s;
    o = &node->triple->o;
    a = expression->children[0]->variable;
    b = expression->children[1]->variable;
    return s->kind == QD_NODE_VARIABLE && o->kind == QD_NODE_VARIABLE && s->variable != o->variable &&
           ((s->variable == a && o->variable == b) || (s->variable == b && o->variable == a));
}

const QdTriple *
qd_tally_find_triple(const QdAlgebra *node, guint variable)
{
    const QdTriple *found = NULL;

    if (node->kind == QD_ALGEBRA_TRIPLE && node->triple->p.kind == QD_NODE_TERM &&
        (qd_node_is_variable(&node->triple->s, variable) || qd_node_is_variable(&node->triple->o, variable)))
        return node->triple;
    if (node->kind == QD_ALGEBRA_JOIN) {
        for (guint i = 0; i < node->n_children && found == NULL; i++)
            found = qd_tally_find_triple(node->children[i], variable);
    } else if (node->kind == QD_ALGEBRA_FILTER || node->kind == QD_ALGEBRA_LEFT_JOIN || node->kind == QD_ALGEBRA_MINUS) {
        found = qd_tally_find_triple(node->children[0], variable);
    }
    return found;
}

gboolean
qd_tally_is_conjunction(const QdExpression *condition)
{
    return condition->kind == QD_EXPRESSION_KIND_CALL && condition->op == QD_EXPRESSION_AND && condition->n_children == 2;
}

gboolean
qd_tally_find_set(const QdGenerator *self, const QdAlgebra *left, QdExpression *condition, QdTallySet *ret_set)
{
    QdVariableSet named = { 0 };
    guint variable = G_MAXUINT;
    guint n = 0;

    if (condition->kind == QD_EXPRESSION_KIND_EXISTS || qd_expression_is_volatile(condition) ||
        qd_expression_needs_serial(condition))
        return FALSE;
    qd_expression_add_all_variables(condition, self->arena, &named);
    QD_VARIABLE_SET_FOREACH(&named, each)
    {
        variable = each;
        n++;
    }
    if (n != 1 || qd_tally_find_triple(left, variable) == NULL)
        return FALSE;
    *ret_set = (QdTallySet){ condition, variable, qd_tally_find_triple(left, variable) };
    return TRUE;
}

static void
add_set(QdTallyScope *self, const QdAlgebra *left, const QdTallySet *set)
{
    QdTallyPart part = { .kind = QD_TALLY_PART_JOINED, .node = left, .at = set->variable, .set = *set };

    qd_variable_set_add(&part.named, self->tally->generator->arena, set->variable);
    g_array_append_val(self->parts, part);
}

/* An EXISTS of the solutions of @left. */
static gboolean
add_exists(QdTallyScope *self, const QdAlgebra *left, QdExpression *expression)
{
    QdGenerator *generator = self->tally->generator;
    const QdAlgebra *pattern = qd_rewrite_get_exists(generator, expression);
    QdVariableSet around = { 0 };

    qd_variable_set_add_all(&around, generator->arena, &self->outside);
    qd_variable_set_add_all(&around, generator->arena, &left->possible);
    return !qd_exists_needs_values(generator, pattern, &around) &&
           add_modifier(self, expression->negated ? QD_TALLY_PART_MINUS : QD_TALLY_PART_EXISTS, left, pattern);
}

static gboolean
add_condition(QdTallyScope *self, const QdAlgebra *left, QdExpression *expression)
{
    QdTallySet set;

    if (qd_tally_is_conjunction(expression))
        return add_condition(self, left, expression->children[0]) && add_condition(self, left, expression->children[1]);
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return add_exists(self, left, expression);
    if (qd_tally_find_set(self->tally->generator, left, expression, &set) &&
        (self->conditions == NULL || !qd_variable_set_has(&self->outside, set.variable))) {
        add_set(self, left, &set);
        return TRUE;
    }
    if (self->conditions != NULL)
        g_ptr_array_add(self->conditions, expression);
    return self->conditions != NULL;
}

gboolean
qd_tally_is_absence(const QdAlgebra *node)
{
    const QdAlgebra *left = node->children[0];
    const QdExpression *not = node->n_expressions == 1 ? node->expressions[0] : NULL;
    const QdExpression *bound;

    if (node->kind != QD_ALGEBRA_FILTER || left->kind != QD_ALGEBRA_LEFT_JOIN || left->n_expressions > 0 || not == NULL ||
        not ->kind != QD_EXPRESSION_KIND_CALL || not ->op != QD_EXPRESSION_NOT)
        return FALSE;
    bound = not ->children[0];
    return bound->kind == QD_EXPRESSION_KIND_CALL && bound->op == QD_EXPRESSION_BOUND &&
           bound->children[0]->kind == QD_EXPRESSION_KIND_VARIABLE &&
           qd_algebra_binds(left->children[1], bound->children[0]->variable) &&
           !qd_variable_set_has(&left->children[0]->possible, bound->children[0]->variable);
}

gboolean
qd_tally_add_parts(QdTallyScope *self, const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
    case QD_ALGEBRA_UNION:
        add_part(self, QD_TALLY_PART_JOINED, node, G_MAXUINT, NULL);
        return TRUE;
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (!qd_tally_add_parts(self, node->children[i]))
                return FALSE;
        }
        return TRUE;
    case QD_ALGEBRA_LEFT_JOIN:
        return node->n_expressions == 0 && qd_tally_add_parts(self, node->children[0]) &&
               add_modifier(self, QD_TALLY_PART_OPTIONAL, node->children[0], node->children[1]);
    case QD_ALGEBRA_MINUS:
        return qd_tally_add_parts(self, node->children[0]) &&
               add_modifier(self, QD_TALLY_PART_MINUS, node->children[0], node->children[1]);
    case QD_ALGEBRA_FILTER:
        if (node->n_expressions == 1 && qd_tally_compares_ends(node->expressions[0], node->children[0])) {
            add_part(self, QD_TALLY_PART_JOINED, node->children[0], G_MAXUINT, node->expressions[0]);
            return TRUE;
        }
        if (qd_tally_is_absence(node))
            return qd_tally_add_parts(self, node->children[0]->children[0]) &&
                   add_modifier(self, QD_TALLY_PART_MINUS, node->children[0]->children[0], node->children[0]->children[1]);
        if (!qd_tally_add_parts(self, node->children[0]))
            return FALSE;
        for (guint i = 0; i < node->n_expressions; i++) {
            if (!add_condition(self, node->children[0], node->expressions[i]))
                return FALSE;
        }
        return TRUE;
    default:
        return FALSE;
    }
}

gboolean
qd_tally_part_is_link(const QdTallyPart *part)
{
    const QdTriple *triple = part->triple;

    return triple != NULL && part->comparison == NULL && !part->is_used && triple->s.kind == QD_NODE_VARIABLE &&
           triple->p.kind == QD_NODE_TERM && triple->o.kind == QD_NODE_VARIABLE && triple->s.variable != triple->o.variable;
}

/* What all parts but @index name, and what is around the group. */
static QdVariableSet
list_others(const QdTallyScope *self, guint index)
{
    QdVariableSet others = { 0 };

    qd_variable_set_add_all(&others, self->tally->generator->arena, &self->outside);
    for (guint i = 0; i < self->parts->len; i++) {
        if (i != index)
            qd_variable_set_add_all(&others, self->tally->generator->arena, &g_array_index(self->parts, QdTallyPart, i).named);
    }
    return others;
}

gboolean
qd_tally_check_parts(QdTallyScope *self, guint root)
{
    for (guint i = 0; i < self->parts->len; i++) {
        QdTallyPart *part = &g_array_index(self->parts, QdTallyPart, i);
        QdVariableSet others = part->triple != NULL ? self->outside : list_others(self, i);
        guint shared = part->at;
        guint n_shared = count_shared(&part->named, &others, &shared);

        if (part->is_level)
            continue;
        if (part->triple != NULL) {
            if (!self->is_way && (n_shared > 1 || (n_shared == 1 && shared != root)))
                return FALSE;
            continue;
        }
        if (part->at == G_MAXUINT)
            part->at = n_shared == 0 ? root : shared;
        if (n_shared > 1 || shared != part->at)
            return FALSE;
    }
    return TRUE;
}

/* --- the program ------------------------------------------------------------------------------------------------------ */

/* @ret_bit: (nullable): of its number */
static gboolean
put_id(QdTallyDraft *self, const QdNode *node, guint64 *ret_bit)
{
    guint i = 0;

    if (node->kind != QD_NODE_TERM)
        return FALSE;
    while (i < self->n_terms && self->terms[i] != node->term) /* NULL for a set */
        i++;
    if (i == QD_TALLY_IDS_MAX)
        return FALSE;
    self->terms[i] = node->term;
    self->n_terms = MAX(self->n_terms, i + 1);
    g_string_append_printf(self->program, "%02u", i);
    if (ret_bit != NULL)
        *ret_bit = G_GUINT64_CONSTANT(1) << i;
    return TRUE;
}

gboolean
qd_tally_put_predicate(QdTallyDraft *self, const QdTriple *triple)
{
    const QdCatalog *catalog = self->generator->catalog;
    QdPredicateStatistics statistics;

    guint64 bit;

    if (!put_id(self, &triple->p, &bit))
        return FALSE;
    if (catalog->get_predicate(catalog->data, triple->p.term, &statistics)) {
        self->n_pairs += (double) statistics.n_quads;
        self->n_read += (self->read & bit) == 0 ? (double) statistics.n_quads : 0;
        self->read |= bit;
        self->n_bytes += (double) statistics.n_quads * PAIR_BYTES +
                         (double) MAX(statistics.n_subjects, statistics.n_objects) * KEY_BYTES;
    }
    return TRUE;
}

gboolean
qd_tally_put_column(QdTallyDraft *self, char what, const QdTriple *triple)
{
    g_string_append_c(self->program, what);
    return qd_tally_put_predicate(self, triple);
}

gboolean
qd_node_is_variable(const QdNode *node, guint variable)
{
    return node->kind == QD_NODE_VARIABLE && node->variable == variable;
}

gboolean
qd_tally_has_more(const QdTallyScope *self, guint variable)
{
    for (guint i = 0; i < self->parts->len; i++) {
        const QdTallyPart *part = &g_array_index(self->parts, QdTallyPart, i);

        if (!part->is_used && qd_variable_set_has(&part->named, variable))
            return TRUE;
    }
    return FALSE;
}

/* A triple whose ends are compared is one at its subject. */
static gboolean
put_comparison(QdTallyDraft *self, const QdTriple *triple, guint variable, const QdExpression *comparison)
{
    return qd_node_is_variable(&triple->s, variable) &&
           qd_tally_put_column(self, comparison->op == QD_EXPRESSION_EQ ? 'e' : 'n', triple);
}

static gboolean
write_triple(QdTallyScope *self, const QdTriple *triple, guint variable, const QdExpression *comparison)
{
    gboolean is_subject = qd_node_is_variable(&triple->s, variable);
    const QdNode *other = is_subject ? &triple->o : &triple->s;

    if (other->kind == QD_NODE_TERM) {
        g_string_append_c(self->tally->program, is_subject ? 'c' : 'd');
        return put_id(self->tally, &triple->p, NULL) && put_id(self->tally, other, NULL);
    }
    if (other->variable == variable)
        return qd_tally_put_column(self->tally, 'e', triple);
    if (qd_variable_set_has(&self->visited, other->variable))
        return FALSE;
    qd_variable_set_add(&self->visited, self->tally->generator->arena, other->variable);
    if (comparison != NULL)
        return !qd_tally_has_more(self, other->variable) && put_comparison(self->tally, triple, variable, comparison);
    if (!qd_tally_has_more(self, other->variable))
        return qd_tally_put_column(self->tally, is_subject ? 's' : 'o', triple);
    return qd_tally_put_column(self->tally, is_subject ? 'S' : 'O', triple) &&
           qd_tally_write_variable(self, other->variable, triple, is_subject);
}

/* @node as a group of its own, of which @root is asked. */
static gboolean
write_group(QdTallyDraft *tally, const QdAlgebra *node, guint root, const QdVariableSet *outside, GPtrArray *conditions)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(QdTallyPart));
    QdTallyScope scope = { .tally = tally, .parts = parts, .outside = *outside, .conditions = conditions };
    gboolean ok = tally->n_levels < LEVELS_MAX;

    tally->n_levels++;
    ok = ok && qd_tally_add_parts(&scope, node) && qd_tally_check_parts(&scope, root) &&
         qd_tally_write_variable(&scope, root, NULL, FALSE);
    tally->n_levels--;
    for (guint i = 0; i < parts->len && ok; i++)
        ok = g_array_index(parts, QdTallyPart, i).is_used;
    return ok;
}

static gboolean
put_set(QdTallyDraft *self, const QdTallySet *set)
{
    const QdCatalog *catalog = self->generator->catalog;
    QdPredicateStatistics statistics = { 0 };
    double n_values;

    (void) catalog->get_predicate(catalog->data, set->triple->p.term, &statistics);
    n_values = (double) (qd_node_is_variable(&set->triple->s, set->variable) ? statistics.n_subjects : statistics.n_objects);
    if (self->n_terms == QD_TALLY_IDS_MAX || n_values > SET_MAX)
        return FALSE;
    self->terms[self->n_terms] = NULL;
    self->sets[self->n_terms] = *set;
    g_string_append_printf(self->program, "f%02u", self->n_terms++);
    self->n_pairs += n_values;
    return TRUE;
}

static gboolean
write_inner(QdTallyScope *self, const QdTallyPart *part, guint index)
{
    QdVariableSet outside = list_others(self, index);

    if (part->set.condition != NULL)
        return put_set(self->tally, &part->set);
    if (part->triple != NULL)
        return write_triple(self, part->triple, part->at, part->comparison);
    qd_variable_set_add(&outside, self->tally->generator->arena, part->at);
    if (part->node->kind != QD_ALGEBRA_UNION)
        return write_group(self->tally, part->node, part->at, &outside, NULL);
    for (guint i = 1; i < part->node->n_children; i++)
        g_string_append_c(self->tally->program, '+');
    for (guint i = 0; i < part->node->n_children; i++) {
        const QdAlgebra *arm = part->node->children[i];

        if (part->comparison != NULL ? !put_comparison(self->tally, arm->triple, part->at, part->comparison)
                                     : !write_group(self->tally, arm, part->at, &outside, NULL))
            return FALSE;
    }
    return TRUE;
}

/* The parts at @variable are used. Returns: how many of them are joined */
static guint
take_parts(QdTallyScope *self, guint variable, GArray *taken)
{
    guint n_joined = 0;

    for (guint i = 0; i < self->parts->len; i++) {
        QdTallyPart *part = &g_array_index(self->parts, QdTallyPart, i);

        if (part->is_used || (part->triple != NULL ? !qd_variable_set_has(&part->named, variable) : part->at != variable))
            continue;
        part->is_used = TRUE;
        part->at = variable;
        n_joined += part->kind == QD_TALLY_PART_JOINED ? 1 : 0;
        g_array_append_val(taken, i);
    }
    return n_joined;
}

gboolean
qd_tally_write_variable(QdTallyScope *self, guint variable, const QdTriple *link, gboolean to_object)
{
    g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(guint));
    guint n_joined = take_parts(self, variable, taken);
    gboolean ok = (n_joined > 0 || link != NULL) && self->tally->n_levels < LEVELS_MAX;

    self->tally->n_levels++;
    qd_variable_set_add(&self->visited, self->tally->generator->arena, variable);
    for (guint i = taken->len; i > 0; i--) {
        const QdTallyPart *part = &g_array_index(self->parts, QdTallyPart, g_array_index(taken, guint, i - 1));

        if (part->kind != QD_TALLY_PART_JOINED)
            g_string_append_c(self->tally->program, (char) part->kind);
    }
    for (guint i = 1; i < n_joined; i++)
        g_string_append_c(self->tally->program, QD_TALLY_PART_JOINED);
    if (n_joined == 0 && ok)
        ok = qd_tally_put_column(self->tally, to_object ? 'v' : 'u', link);
    for (guint pass = 0; pass < 2; pass++) /* what is joined, then what changes it */
        for (guint i = 0; i < taken->len && ok; i++) {
            guint index = g_array_index(taken, guint, i);
            const QdTallyPart *part = &g_array_index(self->parts, QdTallyPart, index);

            if ((part->kind == QD_TALLY_PART_JOINED) == (pass == 0))
                ok = write_inner(self, part, index);
        }
    self->tally->n_levels--;
    return ok;
}

gboolean
qd_tally_write(QdTallyDraft *self, const QdAlgebra *node, guint root, GPtrArray *conditions)
{
    QdVariableSet outside = { 0 };

    qd_variable_set_add(&outside, self->generator->arena, root);
    return write_group(self, node, root, &outside, conditions);
}

gboolean
qd_tally_write_exists(QdTallyDraft *self, const QdAlgebra *node, guint root, const QdVariableSet *outside)
{
    return write_group(self, node, root, outside, NULL);
}

/* --- ids and sets ------------------------------------------------------------------------------------------------------- */

/* The ids of its values, as one SQL value. */
static QdSql
write_set(QdGenerator *self, const QdTallySet *set)
{
    const char *program = qd_node_is_variable(&set->triple->s, set->variable) ? "=u00" : "=v00";
    QdRelation *rows = qd_relation_new(self);
    QdRelation *shape = qd_relation_new(self);
    QdTable table = qd_generator_make_table(self, 't');
    QdSql value = qd_sql_column(self->arena, &table.name, "value", QD_SQL_COLUMN);

    table.from = qd_sql_make(self->arena, "queryd_tally('@',queryd_tally_ids(@)) AS @", qd_sql_text(program),
                             qd_generator_put_term(self, set->triple->p.term), table.from);
    table.sure = "n";
    qd_relation_add_table(self, rows, &table);
    (void) qd_relation_add_stored(self, rows, set->variable, value);
    qd_relation_filter(self, rows, &set->condition, 1);
    (void) qd_relation_add_stored(self, shape, set->variable, qd_sql_make(self->arena, "queryd_tally_set(@)", value));
    qd_relation_take_rows(self, shape, rows);
    return qd_sql_make(self->arena, "(@)", qd_relation_write(self, shape, "SELECT", QD_SQL_NONE));
}

QdSql
qd_tally_write_ids(const QdTallyDraft *self)
{
    QdGenerator *generator = self->generator;
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(generator->arena);

    for (guint i = 0; i < self->n_terms; i++)
        qd_sql_append_after(&list, ",",
                            self->terms[i] != NULL ? qd_generator_put_term(generator, self->terms[i])
                                                   : write_set(generator, &self->sets[i]));
    return self->n_terms > 0 ? qd_sql_make(generator->arena, "queryd_tally_ids(@)", qd_sql_finish(&list)) : qd_sql_text("x''");
}

/* --- all predicates --------------------------------------------------------------------------------------------------- */

/* The digit that stands for objects of which @expression is true; '\0': there is none. */
static char
get_class(const QdExpression *expression, const QdNode *object)
{
    if (expression->kind != QD_EXPRESSION_KIND_CALL || expression->n_children != 1 ||
        expression->children[0]->kind != QD_EXPRESSION_KIND_VARIABLE ||
        !qd_node_is_variable(object, expression->children[0]->variable))
        return '\0';
    switch (expression->op) {
    case QD_EXPRESSION_IS_LITERAL:
        return '1';
    case QD_EXPRESSION_IS_IRI:
        return '2';
    case QD_EXPRESSION_IS_BLANK:
        return '3';
    default:
        return '\0';
    }
}

gboolean
qd_tally_write_predicates(QdTallyDraft *self, const QdAlgebra *pattern, guint *ret_root)
{
    const QdAlgebra *node = pattern->kind == QD_ALGEBRA_FILTER ? pattern->children[0] : pattern;
    const QdTriple *triple = node->kind == QD_ALGEBRA_TRIPLE ? node->triple : NULL;
    char class = '0';

    if (triple == NULL || triple->s.kind != QD_NODE_VARIABLE || triple->p.kind != QD_NODE_VARIABLE ||
        triple->o.kind != QD_NODE_VARIABLE || triple->s.variable == triple->p.variable ||
        triple->s.variable == triple->o.variable || triple->p.variable == triple->o.variable)
        return FALSE;
    if (pattern->kind == QD_ALGEBRA_FILTER)
        class = pattern->n_expressions == 1 ? get_class(pattern->expressions[0], &triple->o) : '\0';
    if (class == '\0')
        return FALSE;
    *ret_root = triple->p.variable;
    g_string_append_printf(self->program, "p%c", class);
    return TRUE;
}
