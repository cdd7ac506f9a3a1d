/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses, makes the algebra, has SQL generated for it, and gathers what execution needs.
 */
#include "daemon/plan/compile.h"

#include <math.h>
#include <string.h>

#include "daemon/plan/sqlgen.h"
#include "daemon/rdfio/lexer.h"
#include "daemon/sparql/algebra.h"
#include "daemon/sparql/ast.h"
#include "daemon/sparql/parser.h"

#define PROBE_FACTOR 8 /* counts that differ less leave a join order as it is */

static void
take_statement(QdSparqlPlan *plan, QdGenerator *generator, const QdAlgebra *algebra, const char *sql, QdSparqlStatement *statement)
{
    const GArray *constants = qd_generator_get_constants(generator);
    QdSqlConstant *copy = qd_arena_array0(plan->ast->arena, QdSqlConstant, constants->len);

    if (constants->len > 0)
        memcpy(copy, constants->data, constants->len * sizeof(QdSqlConstant));
    *statement = (QdSparqlStatement){ sql, copy, constants->len, algebra };
    g_array_append_vals(plan->probes, qd_generator_get_probes(generator)->data, qd_generator_get_probes(generator)->len);
    if (qd_generator_get_notes(generator) != NULL)
        plan->notes = qd_arena_concat(plan->ast->arena, plan->notes != NULL ? plan->notes : "", qd_generator_get_notes(generator),
                                      NULL);
    g_array_append_vals(plan->estimates, qd_generator_get_estimates(generator)->data, qd_generator_get_estimates(generator)->len);
}

/* --- queries ---------------------------------------------------------------------------------------------------------- */

static void
name_columns(QdSparqlPlan *plan, const guint *variables, guint n_variables)
{
    static const char *const triple[] = { "subject", "predicate", "object" };
    static const char *const boolean[] = { "result" };
    const char **names;

    switch (plan->form) {
    case QD_FORM_SELECT:
        names = qd_arena_array0(plan->ast->arena, const char *, n_variables);
        for (guint i = 0; i < n_variables; i++)
            names[i] = qd_ast_get_variable_name(plan->ast, variables[i]);
        plan->columns = names;
        plan->n_columns = n_variables;
        return;
    case QD_FORM_CONSTRUCT:
    case QD_FORM_DESCRIBE:
        plan->columns = triple;
        plan->n_columns = G_N_ELEMENTS(triple);
        return;
    case QD_FORM_ASK:
        plan->columns = boolean;
        plan->n_columns = G_N_ELEMENTS(boolean);
        return;
    }
}

static const char *
make_sql(QdAst *ast, QdGenerator *generator, const QdAlgebra *algebra, const guint *variables, guint n_variables, GError **error)
{
    switch (ast->form) {
    case QD_FORM_SELECT:
        return qd_generator_make_select(generator, algebra, variables, n_variables, error);
    case QD_FORM_CONSTRUCT:
        return qd_generator_make_construct(generator, algebra, ast->template, ast->n_template, error);
    case QD_FORM_DESCRIBE:
        return qd_generator_make_describe(generator, algebra, ast->described, ast->n_described, error);
    case QD_FORM_ASK:
        return qd_generator_make_ask(generator, algebra, error);
    }
    return NULL;
}

/* The numbers of the variables that @options gives values to; names that the text has not are none of ours. */
static GArray *
find_parameters(const QdAst *ast, const QdSparqlOptions *options)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint i = 0; i < ast->variables->len && options->parameters != NULL; i++) {
        const char *name = qd_ast_get_variable_name(ast, i);

        if (name != NULL && g_strv_contains(options->parameters, name))
            g_array_append_val(found, i);
    }
    return found;
}

static gboolean
compile_query(QdSparqlPlan *plan, const QdSparqlOptions *options, const QdCatalog *catalog, GError **error)
{
    QdAst *ast = plan->ast;
    const QdDataset dataset = { .clause = ast->dataset };
    guint n_variables = ast->select->n_items;
    guint *variables = qd_arena_array0(ast->arena, guint, n_variables);
    g_autoptr(GArray) parameters = find_parameters(ast, options);
    g_autoptr(QdGenerator) generator = qd_generator_new(ast, &dataset, catalog, options->limits);
    const QdAlgebra *algebra;
    const char *sql;

    for (guint i = 0; i < n_variables; i++)
        variables[i] = ast->select->items[i].variable;
    algebra = qd_algebra_from_select(ast, ast->select);
    qd_generator_set_parameters(generator, parameters);
    if (options->is_second)
        qd_generator_split_all(generator);
    sql = make_sql(ast, generator, algebra, variables, n_variables, error);
    if (sql == NULL)
        return FALSE;
    plan->form = ast->form;
    plan->has_second = qd_generator_may_split(generator);
    name_columns(plan, variables, n_variables);
    take_statement(plan, generator, algebra, sql, &plan->query);
    return TRUE;
}

/* --- updates ---------------------------------------------------------------------------------------------------------- */

typedef struct TemplateBuilder {
    QdSparqlPlan *plan;
    QdSparqlOperation *operation;
    GArray *columns;        /* guint: variables of the WHERE that templates use */
    GPtrArray *blank_nodes; /* labels */
} TemplateBuilder;

static QdTemplateCell
make_cell(TemplateBuilder *self, const QdNode *node)
{
    QdTemplateCell cell = { .term = node->term };

    switch (node->kind) {
    case QD_NODE_NONE:
        cell.kind = QD_TEMPLATE_NONE;
        break;
    case QD_NODE_VARIABLE:
        cell.kind = QD_TEMPLATE_COLUMN;
        while (cell.index < self->columns->len && g_array_index(self->columns, guint, cell.index) != node->variable)
            cell.index++;
        if (cell.index == self->columns->len)
            g_array_append_val(self->columns, node->variable);
        break;
    case QD_NODE_TERM:
        cell.kind = node->term->kind == QD_TERM_BNODE ? QD_TEMPLATE_BLANK_NODE : QD_TEMPLATE_TERM;
        if (cell.kind == QD_TEMPLATE_TERM)
            break;
        while (cell.index < self->blank_nodes->len && strcmp(self->blank_nodes->pdata[cell.index], node->term->lexical) != 0)
            cell.index++;
        if (cell.index == self->blank_nodes->len)
            g_ptr_array_add(self->blank_nodes, (gpointer) node->term->lexical);
        break;
    }
    return cell;
}

static QdTemplateQuad *
make_template(TemplateBuilder *self, const QdTriple *triples, guint n_triples, const QdTerm *with)
{
    QdTemplateQuad *quads = qd_arena_array0(self->plan->ast->arena, QdTemplateQuad, n_triples);

    for (guint i = 0; i < n_triples; i++) {
        quads[i] = (QdTemplateQuad){ make_cell(self, &triples[i].s), make_cell(self, &triples[i].p), make_cell(self, &triples[i].o),
                                     make_cell(self, &triples[i].g) };
        if (quads[i].g.kind == QD_TEMPLATE_NONE && with != NULL)
            quads[i].g = (QdTemplateCell){ .kind = QD_TEMPLATE_TERM, .term = with };
    }
    return quads;
}

static gboolean
compile_where(TemplateBuilder *self, const QdUpdate *update, const QdSparqlOptions *options, const QdCatalog *catalog,
              GError **error)
{
    QdAst *ast = self->plan->ast;
    const QdDataset dataset = { .clause = update->dataset, .with = update->with };
    g_autoptr(GArray) parameters = find_parameters(ast, options);
    g_autoptr(QdGenerator) generator = qd_generator_new(ast, &dataset, catalog, options->limits);
    const QdAlgebra *algebra = qd_algebra_from_pattern(ast, update->where);
    const char *sql;

    qd_generator_set_parameters(generator, parameters);
    sql = qd_generator_make_select(generator, algebra, (const guint *) (gpointer) self->columns->data, self->columns->len, error);
    if (sql == NULL)
        return FALSE;
    take_statement(self->plan, generator, algebra, sql, &self->operation->where);
    self->operation->n_columns = self->columns->len;
    return TRUE;
}

static gboolean
compile_operation(QdSparqlPlan *plan, const QdUpdate *update, const QdSparqlOptions *options, const QdCatalog *catalog,
                  QdSparqlOperation *operation, GError **error)
{
    g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GPtrArray) blank_nodes = g_ptr_array_new();
    TemplateBuilder builder = { plan, operation, columns, blank_nodes };

    operation->kind = update->kind;
    operation->silent = update->silent;
    operation->target = update->target;
    operation->source = update->source;
    operation->graph = update->graph;
    operation->deletes = make_template(&builder, update->deletes, update->n_deletes, update->with);
    operation->n_deletes = update->n_deletes;
    operation->inserts = make_template(&builder, update->inserts, update->n_inserts, update->with);
    operation->n_inserts = update->n_inserts;
    operation->n_blank_nodes = blank_nodes->len;
    return update->where == NULL || compile_where(&builder, update, options, catalog, error);
}

static gboolean
compile_update(QdSparqlPlan *plan, const QdSparqlOptions *options, const QdCatalog *catalog, GError **error)
{
    plan->n_operations = plan->ast->n_updates;
    plan->operations = qd_arena_array0(plan->ast->arena, QdSparqlOperation, plan->n_operations);
    for (guint i = 0; i < plan->n_operations; i++) {
        if (!compile_operation(plan, &plan->ast->updates[i], options, catalog, &plan->operations[i], error))
            return FALSE;
    }
    return TRUE;
}

/* --- both ------------------------------------------------------------------------------------------------------------- */

/* Named variables of the text, those written with '$' (or the others). */
static void
list_names(QdSparqlPlan *plan, const char **names, gboolean is_parameter)
{
    for (guint i = 0; i < plan->ast->variables->len; i++) {
        const QdVariable *variable = &g_array_index(plan->ast->variables, QdVariable, i);

        if (variable->name != NULL && variable->is_parameter == is_parameter)
            names[plan->n_names++] = qd_arena_printf(plan->ast->arena, "$%s", variable->name);
    }
}

static void
list_parameters(QdSparqlPlan *plan)
{
    const char **names = qd_arena_array0(plan->ast->arena, const char *, plan->ast->variables->len + 1);

    list_names(plan, names, TRUE);
    plan->n_parameters = plan->n_names;
    list_names(plan, names, FALSE);
    plan->parameters = names;
}

gboolean
qd_sparql_is_update(const char *text, gsize n_bytes, gboolean otherwise)
{
    static const char *const queries[] = { "SELECT", "CONSTRUCT", "DESCRIBE", "ASK" };
    static const char *const updates[] = { "INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY" };
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(QD_LEXER_SPARQL, text, n_bytes);
    QdToken token;

    while (qd_lexer_next(lexer, &token, NULL) && token.kind != QD_TOKEN_END) {
        if (token.kind != QD_TOKEN_WORD || qd_token_is_word(&token, "PREFIX") || qd_token_is_word(&token, "BASE"))
            continue;
        for (guint i = 0; i < G_N_ELEMENTS(queries); i++) {
            if (qd_token_is_word(&token, queries[i]))
                return FALSE;
        }
        for (guint i = 0; i < G_N_ELEMENTS(updates); i++) {
            if (qd_token_is_word(&token, updates[i]))
                return TRUE;
        }
        break; /* neither, of which the parser says what might have been */
    }
    return otherwise;
}

QdSparqlPlan *
qd_sparql_compile(const char *text, gsize n_bytes, gboolean is_update, const QdSparqlOptions *options, const QdCatalog *catalog,
                  GError **error)
{
    const QdParseOptions parse_options = { options->base,   options->dataset,     catalog,
                                           options->limits, options->fingerprint, options->access };
    g_autoptr(QdSparqlPlan) plan = g_new0(QdSparqlPlan, 1);

    plan->is_update = is_update;
    plan->probes = g_array_new(FALSE, FALSE, sizeof(QdPlanProbe));
    plan->estimates = g_array_new(FALSE, FALSE, sizeof(double));
    plan->ast = qd_parser_parse(text, n_bytes, is_update, &parse_options, error);
    if (plan->ast == NULL)
        return NULL;
    plan->is_volatile = plan->ast->is_volatile;
    list_parameters(plan);
    if (is_update ? !compile_update(plan, options, catalog, error) : !compile_query(plan, options, catalog, error))
        return NULL;
    return g_steal_pointer(&plan);
}

gboolean
qd_sparql_plan_has_prefixes(const QdSparqlPlan *self, const QdCatalog *catalog)
{
    for (guint i = 0; i < self->ast->stored_prefixes->len; i++) {
        const QdStoredPrefix *stored = &g_array_index(self->ast->stored_prefixes, QdStoredPrefix, i);
        g_autoptr(GString) iri = g_string_new(NULL);

        if (!catalog->find_prefix(catalog->data, stored->prefix, iri) || !g_str_equal(iri->str, stored->iri))
            return FALSE;
    }
    return TRUE;
}

gsize
qd_sparql_plan_get_size(const QdSparqlPlan *self)
{
    return qd_arena_get_size(self->ast->arena);
}

QdSparqlPlan *
qd_sparql_plan_free(QdSparqlPlan *self)
{
    if (self == NULL)
        return NULL;

    (void) qd_ast_free(self->ast);
    g_array_unref(self->probes);
    g_array_unref(self->estimates);
    g_free(self);
    return NULL;
}

/* --- plans of a fingerprint ------------------------------------------------------------------------------------------- */

gboolean
qd_sparql_plan_takes_value(const QdSparqlPlan *self, const QdFingerprint *own, guint i)
{
    guint n_holes = 0;

    for (guint j = 0; j < self->ast->holes->len; j++) {
        const QdFingerprintHole *hole = &g_array_index(self->ast->holes, QdFingerprintHole, j);

        if (hole->value == i && hole->pinned)
            return FALSE;
        n_holes += hole->value == i;
    }
    return n_holes == qd_fingerprint_get_value(own, i)->n_tokens;
}

gboolean
qd_sparql_plan_fill(QdSparqlPlan *self, QdFingerprint *text)
{
    return qd_fingerprint_fill(text, (const QdFingerprintHole *) (gpointer) self->ast->holes->data, self->ast->holes->len);
}

gboolean
qd_sparql_plan_fits(const QdSparqlPlan *self, const QdCatalog *catalog)
{
    for (guint i = 0; i < self->probes->len; i++) {
        const QdPlanProbe *probe = &g_array_index(self->probes, QdPlanProbe, i);
        guint64 cap = probe->n_quads < QD_PLAN_PROBE_CAP ? PROBE_FACTOR * (probe->n_quads + 1) + 1
                                                         : QD_PLAN_PROBE_CAP / PROBE_FACTOR;
        guint64 n_quads = catalog->count_quads(catalog->data, probe->s, probe->p, probe->o, cap);

        if (probe->n_quads < QD_PLAN_PROBE_CAP ? n_quads == cap : n_quads < cap)
            return FALSE;
        if (PROBE_FACTOR * (n_quads + 1) < probe->n_quads)
            return FALSE;
    }
    return TRUE;
}

char *
qd_sparql_plan_print(const QdSparqlPlan *self)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < self->ast->warnings->len; i++)
        g_string_append_printf(text, "warning: %s\n", (const char *) self->ast->warnings->pdata[i]);
    for (guint i = 0; i < self->n_operations + (self->is_update ? 0 : 1); i++) {
        const QdAlgebra *algebra = self->is_update ? self->operations[i].where.algebra : self->query.algebra;
        g_autofree char *part = algebra != NULL ? qd_algebra_print(self->ast, algebra) : NULL;

        g_string_append(text, part != NULL ? part : "");
    }
    g_string_append(text, self->notes != NULL ? self->notes : "");
    if (self->has_second)
        g_string_append(text, "without a row after a while: run as the joins of the cases of its OPTIONALs and UNIONs\n");
    for (guint i = 0; i < self->estimates->len; i++) {
        double rows = g_array_index(self->estimates, double, i);

        if (isnan(rows))
            g_string_append_c(text, '\n');
        else
            g_string_append_printf(text, "%s%.4g", i == 0 || text->str[text->len - 1] == '\n' ? "join: " : " ⋈ ", rows);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}
