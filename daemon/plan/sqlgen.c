/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The generator's state, the dispatch over the algebra, and the four forms of a query.
 */
#include "daemon/plan/sqlgen.h"

#include <stdarg.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/plan/sqlgen-private.h"
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
    self->arena = qd_ast_get_arena(ast);
    self->dataset = dataset;
    self->catalog = catalog;
    self->limits = limits;
    self->plan.constants = g_array_sized_new(FALSE, TRUE, sizeof(QdSqlConstant), QD_FEW);
    self->plan.numbers = g_hash_table_new(constant_hash, constant_equal);
    self->plan.probes = g_array_sized_new(FALSE, FALSE, sizeof(QdPlanProbe), QD_FEW);
    self->outer_with = qd_sql_builder_new(self->arena);
    self->with = &self->outer_with;
    self->plan.estimates = g_array_sized_new(FALSE, FALSE, sizeof(double), QD_FEW);
    self->outermost = G_MAXUINT;
    self->service.is_used = qd_ast_has_service(ast);
    self->service.is_allowed = !qd_ast_is_update(ast);
    return self;
}

QdGenerator *
qd_generator_free(QdGenerator *self)
{
    if (self == NULL)
        return NULL;

    g_array_unref(self->plan.constants);
    g_hash_table_unref(self->plan.numbers);
    g_array_unref(self->plan.probes);
    (void) qd_samples_free(self->samples);
    g_clear_pointer(&self->parameters, g_hash_table_unref);
    qd_sql_builder_clear(&self->outer_with);
    g_array_unref(self->plan.estimates);
    g_clear_error(&self->error);
    g_free(self);
    return NULL;
}

void
qd_generator_split_all(QdGenerator *self)
{
    self->splits.is_forced = TRUE;
}

gboolean
qd_generator_may_split(const QdGenerator *self)
{
    return self->splits.is_possible && !self->splits.is_forced;
}

const GArray *
qd_generator_get_constants(const QdGenerator *self)
{
    return self->plan.constants;
}

const GArray *
qd_generator_get_probes(const QdGenerator *self)
{
    return self->plan.probes;
}

const GArray *
qd_generator_get_estimates(const QdGenerator *self)
{
    return self->plan.estimates;
}

const char *
qd_generator_get_notes(const QdGenerator *self)
{
    return self->plan.notes;
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

QdTable
qd_generator_make_table(QdGenerator *self, char letter)
{
    QdTableName name = qd_table_name_new(self->arena, letter, qd_generator_make_name(self));

    return (QdTable){ .from = qd_sql_text(name.text), .name = name };
}

void
qd_generator_define(QdGenerator *self, QdSql head, QdSql select)
{
    qd_generator_add_definitions(self, qd_sql_make(self->arena, "@ (@)", head, select));
}

void
qd_generator_add_definitions(QdGenerator *self, QdSql definitions)
{
    if (self->with == &self->outer_with) /* the set of all tables, which is of no use, would grow by each */
        definitions.tables = definitions.sought = NULL;
    qd_sql_append_after(self->with, ",\n", definitions);
}

static QdSql
put_constant(QdGenerator *self, const QdSqlConstant *constant)
{
    Constant key = { self, *constant, 0 };
    Constant *found = g_hash_table_lookup(self->plan.numbers, &key);

    if (found == NULL) {
        found = qd_arena_new0(self->arena, Constant);
        *found = key;
        if (constant->n_program > 0)
            found->value.program = memcpy(qd_arena_alloc(self->arena, constant->n_program), constant->program, constant->n_program);
        if (constant->n_holes > 0)
            found->value.holes = memcpy(qd_arena_array0(self->arena, QdProgramHole, constant->n_holes), constant->holes,
                                        constant->n_holes * sizeof(QdProgramHole));
        g_array_append_val(self->plan.constants, found->value);
        found->number = self->plan.constants->len;
        g_hash_table_add(self->plan.numbers, found);
        if (self->limits != NULL && found->number > qd_limits_get(self->limits, QD_LIMIT_VARIABLES) && self->error == NULL)
            qd_limit_set_error(
                &self->error, self->limits, QD_LIMIT_VARIABLES,
                "too many different constants in a query: ask in parts, or store what VALUES or IN lists as triples and "
                "join with these");
    }
    return qd_sql_text(qd_arena_printf(self->arena, "?%u", found->number));
}

QdSql
qd_generator_put_term(QdGenerator *self, const QdTerm *term)
{
    const QdSqlConstant constant = { .term = term };

    return put_constant(self, &constant);
}

QdSql
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

QdSql
qd_generator_find_parameter(QdGenerator *self, guint variable)
{
    const QdSqlConstant constant = { .parameter = qd_ast_get_variable_name(self->ast, variable) };

    if (self->parameters == NULL || !g_hash_table_contains(self->parameters, GUINT_TO_POINTER(variable + 1)))
        return QD_SQL_NONE;
    return put_constant(self, &constant);
}

QdSql
qd_generator_find_value(QdGenerator *self, guint variable)
{
    const QdColumn *column = qd_outer_find_replaced(self, variable);

    return column != NULL ? qd_column_intern(self, column) : qd_generator_find_parameter(self, variable);
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
            (void) qd_relation_add(self, named, variable, QD_SQL_NONE);
    }
    return qd_relation_settle(self, relation, named, QD_SEAL_STREAM);
}

QdRelation *
qd_generate_filter_of(QdGenerator *self, const QdRelation *left, const QdAlgebra *node)
{
    QdRelation *relation = qd_relation_copy(self, settle_for_exists(self, node, left));
    g_autoptr(GPtrArray) conditions = qd_expressions_split(node->expressions, node->n_expressions);
    guint n_rest = 0;
    gboolean is_volatile = FALSE;

    for (guint i = 0; i < node->n_expressions; i++)
        is_volatile = is_volatile || qd_expression_is_volatile(node->expressions[i]);
    if (is_volatile && relation->n_tables > 1) /* SQLite tests what names no table for each row of the outermost loop */
        relation = qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED);
    for (guint i = 0; i < conditions->len; i++) {
        QdSql exists = qd_generate_keyed_exists(self, relation, node, conditions->pdata[i]);

        qd_relation_add_where(self, relation, exists);
        if (exists.text == NULL)
            conditions->pdata[n_rest++] = conditions->pdata[i];
    }
    qd_relation_filter(self, relation, (QdExpression *const *) conditions->pdata, n_rest);
    /* tested once for each solution, not again where these are joined */
    return is_volatile ? qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED) : relation;
}

static QdRelation *
generate_filter(QdGenerator *self, const QdAlgebra *written, const QdVariableSet *bound)
{
    QdRelation *parts = qd_generate_by_parts(self, written, bound);
    const QdVariableSet filtered = self->filtered;
    const QdAlgebra *node;
    const QdRelation *whole;

    if (parts == NULL)
        parts = qd_generate_product(self, written, bound);
    if (parts != NULL)
        return parts;
    node = qd_rewrite_filter(self, written);
    if (node->kind != QD_ALGEBRA_FILTER)
        return qd_generator_generate(self, node, bound);
    self->filtered = (QdVariableSet){ 0 };
    qd_variable_set_add_all(&self->filtered, self->arena, &filtered);
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], self->arena, &self->filtered);
    whole = qd_generator_generate(self, node->children[0], bound);
    self->filtered = filtered;
    if (bound == NULL || qd_variable_set_is_empty(bound))
        whole = qd_generate_tally_filter(self, node, whole, &node);
    return node != NULL ? qd_generate_filter_of(self, whole, node) : (QdRelation *) whole;
}

/* A subselect takes nothing from what is around it, but is read again for each of its solutions. */
static QdRelation *
generate_subselect(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdRelation *given = self->service.given;
    gboolean is_beside = self->is_beside;
    QdRelation *relation;

    self->service.given = NULL;
    self->is_beside = is_beside || (bound != NULL && !qd_variable_set_is_empty(bound));
    relation = qd_generate_solution(self, node);
    self->is_beside = is_beside;
    self->service.given = given;
    return relation;
}

/* A pattern that is joined with its seeds, which it begins from. */
static QdRelation *
generate_seeded(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *seeds = g_steal_pointer(&self->seeded.values);
    gboolean is_join = node->kind == QD_ALGEBRA_JOIN;

    self->seeded.node = NULL;
    return qd_generate_children(self, seeds, is_join ? node->children : (QdAlgebra **) &node, is_join ? node->n_children : 1,
                                bound);
}

/* What is written is of quadratic size where each of many parts names the variables of all before it. */
static void
check_size(QdGenerator *self)
{
    if (self->error == NULL && self->limits != NULL &&
        qd_arena_get_size(self->arena) > qd_limits_get(self->limits, QD_LIMIT_SPARQL_PLAN_BYTES))
        qd_limit_set_error(&self->error, self->limits, QD_LIMIT_SPARQL_PLAN_BYTES,
                           "the plan of the query needs too much memory: ask in parts");
}

QdRelation *
qd_generator_generate(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    QdRelation *by_cases;

    check_size(self);
    if (node == self->seeded.node)
        return generate_seeded(self, node, bound);
    by_cases = self->error != NULL                                     ? qd_relation_new(self)
               : self->service.is_used && qd_algebra_is_volatile(node) ? NULL /* an endpoint is asked once */
                                                                       : qd_generate_by_cases(self, node, bound);
    if (by_cases != NULL)
        return by_cases;
    switch (node->kind) {
    case QD_ALGEBRA_UNIT:
        return qd_generate_unit(self);
    case QD_ALGEBRA_TRIPLE:
        return qd_generate_triple(self, node->triple, bound);
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
        return qd_generate_extend(self, node, bound, NULL);
    case QD_ALGEBRA_GRAPH:
        return qd_generate_graph(self, node, bound);
    case QD_ALGEBRA_SERVICE:
        return qd_generate_service(self, node);
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
finish(QdGenerator *self, QdSql text, GError **error)
{
    if (self->error != NULL) {
        g_propagate_error(error, g_steal_pointer(&self->error));
        return NULL;
    }
    if (self->with->text->len == 0)
        return text.text;
    return qd_arena_concat(self->arena, "WITH RECURSIVE ", self->with->text->str, "\n", text.text, NULL);
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
    QdSql inner = qd_relation_write_list(self, relation, "SELECT", QD_SQL_NONE, QD_SQL_NONE);

    return finish(self,
                  qd_sql_make(self->arena, "SELECT queryd_boolean(@) AS result", qd_sql_exists(self->arena, QD_SQL_NONE, inner)),
                  error);
}

/* Whether a value may be a subject: an IRI or a blank node; a predicate: an IRI. Shapes are those of term-id.h and term-blob.h. */
static QdSql
resource_condition(QdGenerator *self, QdSql sql, gboolean iri_only)
{
    const char *smallest = qd_arena_printf(self->arena, "%" G_GINT64_FORMAT, qd_term_id_get_tag_min(QD_TAG_BOOLEAN));

    if (iri_only)
        return qd_sql_make(self->arena, "CASE typeof(@) WHEN 'integer' THEN (@>0 AND @&3=0) ELSE substr(@,1,1) IN (x'00') END", sql,
                           sql, sql, sql);
    return qd_sql_make(self->arena,
                       "CASE typeof(@) WHEN 'integer' THEN (@>0 AND @&3=0) OR @<@ ELSE substr(@,1,1) IN (x'00',x'04') END", sql,
                       sql, sql, sql, qd_sql_text(smallest), sql);
}

typedef struct TemplateNode {
    QdSql sql;
    QdSql condition; /* none: always a term that may stand there */
} TemplateNode;

typedef enum Position { POSITION_SUBJECT, POSITION_PREDICATE, POSITION_OBJECT } Position;

static TemplateNode
make_template_node(QdGenerator *self, const QdRelation *solution, const QdNode *node, Position position)
{
    TemplateNode made = { qd_sql_text("NULL"), qd_sql_text("0") };

    if (node->kind == QD_NODE_VARIABLE) {
        const QdColumn *column = qd_relation_find(solution, node->variable);

        if (column == NULL)
            return made;
        made.sql = qd_column_intern(self, column);
        made.condition = position == POSITION_OBJECT ? qd_sql_is_bound(self->arena, column->sql)
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
        made.sql = qd_sql_make(self->arena, "queryd_eval(@,queryd_integer(@))", qd_generator_put_program(self, &constant),
                               qd_relation_find_serial(solution)->sql);
        made.condition = position == POSITION_PREDICATE ? qd_sql_text("0") : QD_SQL_NONE;
    } else if (node->kind == QD_NODE_TERM) {
        made.sql = qd_generator_put_term(self, node->term);
        made.condition = position == POSITION_OBJECT || node->term->kind == QD_TERM_IRI ? QD_SQL_NONE : qd_sql_text("0");
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
static QdSql
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

            g_string_append_printf(columns[j], " WHEN %u THEN %s", i, node.sql.text);
            if (node.condition.text != NULL)
                g_string_append_printf(condition, " AND (%s)", node.condition.text);
        }
    }
    return qd_sql_text(qd_arena_printf(
        self->arena,
        "SELECT DISTINCT CASE t.column1%s END AS subject,CASE t.column1%s END AS predicate,CASE t.column1%s END AS object "
        "FROM %s CROSS JOIN (VALUES %s) AS t WHERE CASE t.column1%s END",
        subjects->str, predicates->str, objects->str, qd_relation_write_from(self, solution).text, numbers->str, condition->str));
}

const char *
qd_generator_make_construct(QdGenerator *self, const QdAlgebra *algebra, const QdTriple *template, guint n_template, GError **error)
{
    QdRelation *solution = qd_generator_generate(self, algebra, NULL);

    if (n_template == 0)
        return finish(self, qd_sql_text("SELECT NULL AS subject,NULL AS predicate,NULL AS object WHERE 0"), error);
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
    g_auto(QdSqlBuilder) roots = qd_sql_builder_new(self->arena);
    const char *graphs = qd_generate_graph_condition(self, &(QdTableName){ "q", NULL }).text;
    guint name = qd_generator_make_name(self);

    for (guint i = 0; i < n_nodes; i++) {
        const QdColumn *column = nodes[i].kind == QD_NODE_VARIABLE ? qd_relation_find(solution, nodes[i].variable) : NULL;

        if (nodes[i].kind == QD_NODE_TERM)
            qd_sql_append_after(&roots, " UNION ",
                                qd_sql_make(self->arena, "SELECT @", qd_generator_put_term(self, nodes[i].term)));
        else if (column != NULL)
            qd_sql_append_after(&roots, " UNION ",
                                qd_sql_make(self->arena, "SELECT @ FROM @ WHERE @ IS NOT NULL", qd_column_intern(self, column),
                                            solution->tables[0].from, column->sql));
    }
    if (roots.text->len == 0)
        qd_sql_append_text(&roots, "SELECT NULL WHERE 0");
    qd_generator_define(self, qd_sql_text(qd_arena_printf(self->arena, "c%u(n) AS", name)), qd_sql_finish(&roots));
    qd_generator_define(self, qd_sql_text(qd_arena_printf(self->arena, "d%u(n) AS", name)),
                        qd_sql_text(qd_arena_printf(self->arena,
                                                    "SELECT n FROM c%u UNION SELECT q.o FROM d%u CROSS JOIN queryd_quad AS q ON "
                                                    "q.s=d%u.n WHERE q.o<%" G_GINT64_FORMAT " AND %s",
                                                    name, name, name, qd_term_id_get_tag_min(QD_TAG_BOOLEAN), graphs)));
    return finish(self,
                  qd_sql_text(qd_arena_printf(self->arena,
                                              "SELECT DISTINCT q.s AS subject,q.p AS predicate,q.o AS object FROM d%u CROSS JOIN "
                                              "queryd_quad AS q ON q.s=d%u.n WHERE %s",
                                              name, name, graphs)),
                  error);
}
