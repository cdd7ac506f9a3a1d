/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The generator's state, the dispatch over the algebra, and the four forms of a query.
 */
#include "daemon/plan/sqlgen.h"

#include <stdarg.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/plan/sqlgen-private.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

/* --- constants -------------------------------------------------------------------------------------------------------- */

/* What a term's number in the fingerprint says beside its text: terms that are equal in this text need not be so in another. */
static guint
get_value(const QdGenerator *self, const QdTerm *term)
{
    const QdFingerprintHole *hole = qd_ast_find_hole(self->ast, term);

    return hole != NULL ? hole->value + 1 : 0;
}

typedef struct Constant {
    QdGenerator *generator;
    QdSqlConstant value;
    guint number;
} Constant;

static guint
constant_hash(gconstpointer data)
{
    const Constant *constant = data;
    const QdSqlConstant *value = &constant->value;

    if (value->term != NULL)
        return (guint) qd_term_hash(value->term) + get_value(constant->generator, value->term);
    if (value->parameter != NULL)
        return g_str_hash(value->parameter);
    return (guint) value->n_program + (value->n_program > 0 ? value->program[value->n_program - 1] : 0);
}

static gboolean
term_equal(QdGenerator *generator, const QdTerm *a, const QdTerm *b)
{
    return a == b || (qd_term_equal(a, b) && get_value(generator, a) == get_value(generator, b));
}

static gboolean
constant_equal(gconstpointer data_a, gconstpointer data_b)
{
    QdGenerator *generator = ((const Constant *) data_a)->generator;
    const QdSqlConstant *a = &((const Constant *) data_a)->value;
    const QdSqlConstant *b = &((const Constant *) data_b)->value;

    if (a->term != NULL || b->term != NULL)
        return a->term != NULL && b->term != NULL && term_equal(generator, a->term, b->term);
    if (a->parameter != NULL || b->parameter != NULL)
        return g_strcmp0(a->parameter, b->parameter) == 0;
    if (a->n_program != b->n_program || a->n_holes != b->n_holes || memcmp(a->program, b->program, a->n_program) != 0)
        return FALSE;
    for (guint i = 0; i < a->n_holes; i++) {
        if (a->holes[i].offset != b->holes[i].offset || !term_equal(generator, a->holes[i].term, b->holes[i].term))
            return FALSE;
    }
    return TRUE;
}

/* --- the generator ---------------------------------------------------------------------------------------------------- */

QdGenerator *
qd_generator_new(QdAst *ast, const QdDataset *dataset, const QdCatalog *catalog, const QdLimits *limits)
{
    QdGenerator *self = g_new0(QdGenerator, 1);

    self->ast = ast;
    self->arena = ast->arena;
    self->dataset = dataset;
    self->catalog = catalog;
    self->limits = limits;
    self->constants = g_array_sized_new(FALSE, TRUE, sizeof(QdSqlConstant), QD_FEW);
    self->numbers = g_hash_table_new(constant_hash, constant_equal);
    self->probes = g_array_sized_new(FALSE, FALSE, sizeof(QdPlanProbe), QD_FEW);
    self->with = self->outer_with = g_string_new(NULL);
    self->estimates = g_array_sized_new(FALSE, FALSE, sizeof(double), QD_FEW);
    self->outermost = G_MAXUINT;
    return self;
}

QdGenerator *
qd_generator_free(QdGenerator *self)
{
    if (self == NULL)
        return NULL;

    g_array_unref(self->constants);
    g_hash_table_unref(self->numbers);
    g_array_unref(self->probes);
    g_clear_pointer(&self->parameters, g_hash_table_unref);
    g_string_free(self->with, TRUE);
    g_array_unref(self->estimates);
    g_clear_error(&self->error);
    g_free(self);
    return NULL;
}

const GArray *
qd_generator_get_constants(const QdGenerator *self)
{
    return self->constants;
}

const GArray *
qd_generator_get_probes(const QdGenerator *self)
{
    return self->probes;
}

const GArray *
qd_generator_get_estimates(const QdGenerator *self)
{
    return self->estimates;
}

void
qd_generator_fail(QdGenerator *self, QwError code, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    if (self->error != NULL)
        return;
    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(&self->error, code, "%s", what);
}

guint
qd_generator_make_name(QdGenerator *self)
{
    return self->n_names++;
}

static const char *
put_constant(QdGenerator *self, const QdSqlConstant *constant)
{
    Constant key = { self, *constant, 0 };
    Constant *found = g_hash_table_lookup(self->numbers, &key);

    if (found == NULL) {
        found = qd_arena_new0(self->arena, Constant);
        *found = key;
        if (constant->n_program > 0)
            found->value.program = memcpy(qd_arena_alloc(self->arena, constant->n_program), constant->program, constant->n_program);
        if (constant->n_holes > 0)
            found->value.holes = memcpy(qd_arena_array0(self->arena, QdProgramHole, constant->n_holes), constant->holes,
                                        constant->n_holes * sizeof(QdProgramHole));
        g_array_append_val(self->constants, found->value);
        found->number = self->constants->len;
        g_hash_table_add(self->numbers, found);
        if (self->limits != NULL && found->number > qd_limits_get(self->limits, QD_LIMIT_VARIABLES) && self->error == NULL)
            qd_limit_set_error(
                &self->error, self->limits, QD_LIMIT_VARIABLES,
                "too many different constants in a query: ask in parts, or store what VALUES or IN lists as triples and "
                "join with these");
    }
    return qd_arena_printf(self->arena, "?%u", found->number);
}

const char *
qd_generator_put_term(QdGenerator *self, const QdTerm *term)
{
    const QdSqlConstant constant = { .term = term };

    return put_constant(self, &constant);
}

const char *
qd_generator_put_program(QdGenerator *self, const QdSqlConstant *program)
{
    return put_constant(self, program);
}

void
qd_generator_set_parameters(QdGenerator *self, const GArray *variables)
{
    self->parameters = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < variables->len; i++)
        g_hash_table_add(self->parameters, GUINT_TO_POINTER(g_array_index(variables, guint, i) + 1));
}

const char *
qd_generator_find_parameter(QdGenerator *self, guint variable)
{
    const QdSqlConstant constant = { .parameter = qd_ast_get_variable_name(self->ast, variable) };

    if (self->parameters == NULL || !g_hash_table_contains(self->parameters, GUINT_TO_POINTER(variable + 1)))
        return NULL;
    return put_constant(self, &constant);
}

/* @relation, of which patterns within EXISTS name variables: these match rows as a join does. */
static const QdRelation *
settle_for_exists(QdGenerator *self, const QdAlgebra *node, const QdRelation *relation)
{
    QdRelation *named = qd_relation_new(self);
    QdVariableSet all = { 0 };
    QdVariableSet outside = { 0 };

    for (guint i = 0; i < node->n_expressions; i++) {
        qd_expression_add_variables(node->expressions[i], self->arena, TRUE, &all);
        qd_expression_add_variables(node->expressions[i], self->arena, FALSE, &outside);
    }
    for (guint i = 0; i < relation->n_columns; i++) {
        guint variable = relation->columns[i].variable;

        if (qd_variable_set_has(&all, variable) && !qd_variable_set_has(&outside, variable))
            (void) qd_relation_add(self, named, variable, NULL);
    }
    return qd_relation_settle(self, relation, named, QD_SEAL_STREAM);
}

static QdRelation *
generate_filter(QdGenerator *self, const QdAlgebra *written, const QdVariableSet *bound)
{
    const QdAlgebra *node = qd_rewrite_filter(self, written);
    const QdVariableSet filtered = self->filtered;
    const QdRelation *whole;
    QdRelation *relation;

    if (node->kind != QD_ALGEBRA_FILTER)
        return qd_generator_generate(self, node, bound);
    self->filtered = (QdVariableSet){ 0 };
    qd_variable_set_add_all(&self->filtered, self->arena, &filtered);
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], self->arena, &self->filtered);
    whole = qd_generator_generate(self, node->children[0], bound);
    self->filtered = filtered;
    relation = qd_relation_copy(self, settle_for_exists(self, node, whole));
    qd_relation_filter(self, relation, node->expressions, node->n_expressions);
    for (guint i = 0; i < node->n_expressions; i++) {
        /* tested once for each solution, not again where these are joined */
        if (qd_expression_is_volatile(node->expressions[i]))
            return qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED);
    }
    return relation;
}

static QdRelation *
generate_service(QdGenerator *self, const QdAlgebra *node)
{
    if (!node->silent)
        qd_generator_fail(
            self, QW_ERROR_UNSUPPORTED, "SERVICE%s%s%s: this daemon has no network", node->node.kind == QD_NODE_TERM ? " <" : "",
            node->node.kind == QD_NODE_TERM ? node->node.term->lexical : "", node->node.kind == QD_NODE_TERM ? ">" : "");
    return qd_generate_unit(self);
}

/* A subselect takes nothing from what is around it, but is read again for each of its solutions. */
static QdRelation *
generate_subselect(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    gboolean is_beside = self->is_beside;
    QdRelation *relation;

    self->is_beside = is_beside || (bound != NULL && !qd_variable_set_is_empty(bound));
    relation = qd_generate_solution(self, node);
    self->is_beside = is_beside;
    return relation;
}

/* A pattern that is joined with its seeds, which it begins from. */
static QdRelation *
generate_seeded(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *seeds = g_steal_pointer(&self->seeds);
    gboolean is_join = node->kind == QD_ALGEBRA_JOIN;

    self->seeded = NULL;
    return qd_generate_children(self, seeds, is_join ? node->children : (QdAlgebra **) &node, is_join ? node->n_children : 1,
                                bound);
}

QdRelation *
qd_generator_generate(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *by_cases;

    if (node == self->seeded)
        return generate_seeded(self, node, bound);
    by_cases = self->error == NULL ? qd_generate_by_cases(self, node, bound) : qd_relation_new(self);
    if (by_cases != NULL)
        return by_cases;
    switch (node->kind) {
    case QD_ALGEBRA_UNIT:
        return qd_generate_unit(self);
    case QD_ALGEBRA_TRIPLE:
        return qd_generate_triple(self, node->triple);
    case QD_ALGEBRA_PATH:
        return qd_generate_path(self, node->triple, NULL, bound);
    case QD_ALGEBRA_MATCH:
        return qd_generate_match(self, node->match, NULL);
    case QD_ALGEBRA_JOIN:
        return qd_generate_join(self, node, bound);
    case QD_ALGEBRA_LEFT_JOIN:
        return qd_generate_left_join(self, node, bound);
    case QD_ALGEBRA_MINUS:
        return qd_generate_minus(self, node, bound);
    case QD_ALGEBRA_UNION:
        return qd_generate_union(self, node, bound);
    case QD_ALGEBRA_FILTER:
        return generate_filter(self, node, bound);
    case QD_ALGEBRA_EXTEND:
        return qd_generate_extend(self, node, bound);
    case QD_ALGEBRA_GRAPH:
        return qd_generate_graph(self, node, bound);
    case QD_ALGEBRA_SERVICE:
        return generate_service(self, node);
    case QD_ALGEBRA_VALUES:
        return qd_generate_in_graph(self, qd_generate_values(self, node->values));
    case QD_ALGEBRA_GROUP:
        return qd_generate_group(self, node);
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
    case QD_ALGEBRA_SLICE:
        return generate_subselect(self, node, bound);
    }
    return qd_relation_new(self);
}

/* --- forms ------------------------------------------------------------------------------------------------------------ */

/* @text after all that it reads; NULL with the error if there was one. */
static const char *
finish(QdGenerator *self, const char *text, GError **error)
{
    if (self->error != NULL) {
        g_propagate_error(error, g_steal_pointer(&self->error));
        return NULL;
    }
    return self->with->len > 0 ? qd_arena_printf(self->arena, "WITH RECURSIVE %s\n%s", self->with->str, text) : text;
}

const char *
qd_generator_make_select(QdGenerator *self, const QdAlgebra *algebra, const guint *variables, guint n_variables, GError **error)
{
    return finish(self, qd_generate_final(self, algebra, variables, n_variables), error);
}

const char *
qd_generator_make_ask(QdGenerator *self, const QdAlgebra *algebra, GError **error)
{
    const QdRelation *relation = qd_generator_generate(self, algebra, NULL);
    const char *inner = qd_relation_write_list(self, relation, "SELECT", "1", NULL);

    return finish(self, qd_arena_printf(self->arena, "SELECT queryd_boolean(EXISTS(%s)) AS result", inner), error);
}

/* Whether a value may be a subject: an IRI or a blank node; a predicate: an IRI. Shapes are those of term-id.h and term-blob.h. */
static const char *
resource_condition(QdGenerator *self, const char *sql, gboolean iri_only)
{
    const char *blank = "";
    const char *blank_blob = "";

    if (!iri_only) {
        blank = qd_arena_printf(self->arena, " OR %s<%" G_GINT64_FORMAT, sql, qd_term_id_get_tag_min(QD_TAG_BOOLEAN));
        blank_blob = ",x'04'";
    }
    return qd_arena_printf(self->arena,
                           "CASE typeof(%s) WHEN 'integer' THEN (%s>0 AND %s&3=0)%s ELSE substr(%s,1,1) IN (x'00'%s) END", sql, sql,
                           sql, blank, sql, blank_blob);
}

typedef struct TemplateNode {
    const char *sql;
    const char *condition; /* NULL: always a term that may stand there */
} TemplateNode;

typedef enum Position { POSITION_SUBJECT, POSITION_PREDICATE, POSITION_OBJECT } Position;

static TemplateNode
make_template_node(QdGenerator *self, const QdRelation *solution, const QdNode *node, Position position)
{
    TemplateNode made = { "NULL", "0" };

    if (node->kind == QD_NODE_VARIABLE) {
        const QdColumn *column = qd_relation_find(solution, node->variable);

        if (column == NULL)
            return made;
        made.sql = qd_column_intern(self, column);
        made.condition = position == POSITION_OBJECT ? qd_arena_printf(self->arena, "%s IS NOT NULL", column->sql)
                                                     : resource_condition(self, column->sql, position == POSITION_PREDICATE);
    } else if (node->kind == QD_NODE_TERM && node->term->kind == QD_TERM_BNODE) {
        g_autoptr(GByteArray) program = g_byte_array_new();
        QdTerm label = *node->term;
        QdSqlConstant constant = { 0 };

        label.kind = QD_TERM_STRING;
        qd_expression_put_node(program, QD_EXPRESSION_BNODE, 2);
        qd_expression_put_const(program, &label);
        qd_expression_put_arg(program, 0);
        constant.program = program->data;
        constant.n_program = program->len;
        made.sql = qd_arena_printf(self->arena, "queryd_eval(%s,queryd_integer(%s))", qd_generator_put_program(self, &constant),
                                   qd_relation_find_serial(solution)->sql);
        made.condition = position == POSITION_PREDICATE ? "0" : NULL;
    } else if (node->kind == QD_NODE_TERM) {
        made.sql = qd_generator_put_term(self, node->term);
        made.condition = position == POSITION_OBJECT || node->term->kind == QD_TERM_IRI ? NULL : "0";
    }
    return made;
}

static gboolean
has_blank_nodes(const QdTriple *template, guint n_template)
{
    for (guint i = 0; i < n_template; i++) {
        if ((template[i].s.kind == QD_NODE_TERM && template[i].s.term->kind == QD_TERM_BNODE) ||
            (template[i].o.kind == QD_NODE_TERM && template[i].o.term->kind == QD_TERM_BNODE))
            return TRUE;
    }
    return FALSE;
}

/*
 * Each triple of the template is a WHEN of one CASE per column, so that a solution's triples, and its blank nodes, are made
 * together.
 */
static const char *
write_construct(QdGenerator *self, const QdRelation *solution, const QdTriple *template, guint n_template)
{
    g_autoptr(GString) subjects = g_string_new(NULL);
    g_autoptr(GString) predicates = g_string_new(NULL);
    g_autoptr(GString) objects = g_string_new(NULL);
    GString *columns[] = { subjects, predicates, objects };
    g_autoptr(GString) condition = g_string_new(NULL);
    g_autoptr(GString) numbers = g_string_new(NULL);

    for (guint i = 0; i < n_template; i++) {
        const QdNode *nodes[] = { &template[i].s, &template[i].p, &template[i].o };

        g_string_append_printf(numbers, "%s(%u)", i > 0 ? "," : "", i);
        g_string_append_printf(condition, " WHEN %u THEN 1", i);
        for (guint j = 0; j < 3; j++) {
            TemplateNode node = make_template_node(self, solution, nodes[j], (Position) j);

            g_string_append_printf(columns[j], " WHEN %u THEN %s", i, node.sql);
            if (node.condition != NULL)
                g_string_append_printf(condition, " AND (%s)", node.condition);
        }
    }
    return qd_arena_printf(
        self->arena,
        "SELECT DISTINCT CASE t.column1%s END AS subject,CASE t.column1%s END AS predicate,CASE t.column1%s END AS object "
        "FROM %s CROSS JOIN (VALUES %s) AS t WHERE CASE t.column1%s END",
        subjects->str, predicates->str, objects->str, qd_relation_write_from(self, solution, 0), numbers->str, condition->str);
}

const char *
qd_generator_make_construct(QdGenerator *self, const QdAlgebra *algebra, const QdTriple *template, guint n_template, GError **error)
{
    QdRelation *solution = qd_generator_generate(self, algebra, NULL);

    if (n_template == 0)
        return finish(self, "SELECT NULL AS subject,NULL AS predicate,NULL AS object WHERE 0", error);
    if (has_blank_nodes(template, n_template))
        solution = qd_relation_add_serial(self, solution);
    else
        solution = qd_relation_seal(self, solution, QD_SEAL_PLAIN);
    return finish(self, write_construct(self, solution, template, n_template), error);
}

const char *
qd_generator_make_describe(QdGenerator *self, const QdAlgebra *algebra, const QdNode *nodes, guint n_nodes, GError **error)
{
    QdRelation *solution = qd_relation_seal(self, qd_generator_generate(self, algebra, NULL), QD_SEAL_PLAIN);
    g_autoptr(GString) roots = g_string_new(NULL);
    const char *graphs = qd_generate_graph_condition(self, "q");
    guint name = qd_generator_make_name(self);

    for (guint i = 0; i < n_nodes; i++) {
        const QdColumn *column = nodes[i].kind == QD_NODE_VARIABLE ? qd_relation_find(solution, nodes[i].variable) : NULL;

        if (nodes[i].kind == QD_NODE_TERM)
            g_string_append_printf(roots, "%sSELECT %s", roots->len > 0 ? " UNION " : "",
                                   qd_generator_put_term(self, nodes[i].term));
        else if (column != NULL)
            g_string_append_printf(roots, "%sSELECT %s FROM %s WHERE %s IS NOT NULL", roots->len > 0 ? " UNION " : "",
                                   qd_column_intern(self, column), solution->tables[0].text, column->sql);
    }
    if (roots->len == 0)
        g_string_append(roots, "SELECT NULL WHERE 0");
    g_string_append_printf(
        self->with,
        "%sc%u(n) AS (%s),\nd%u(n) AS (SELECT n FROM c%u UNION SELECT q.o FROM d%u CROSS JOIN queryd_quad AS q ON "
        "q.s=d%u.n WHERE q.o<%" G_GINT64_FORMAT " AND %s)",
        self->with->len > 0 ? ",\n" : "", name, roots->str, name, name, name, name, qd_term_id_get_tag_min(QD_TAG_BOOLEAN),
        graphs != NULL ? graphs : "1");
    return finish(
        self,
        qd_arena_printf(self->arena,
                        "SELECT DISTINCT q.s AS subject,q.p AS predicate,q.o AS object FROM d%u CROSS JOIN queryd_quad AS q "
                        "ON q.s=d%u.n WHERE %s",
                        name, name, graphs != NULL ? graphs : "1"),
        error);
}
