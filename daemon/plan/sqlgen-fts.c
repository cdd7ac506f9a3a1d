/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Full-text patterns: literals from the index queryd_fts, joined with the quads that have them as objects.
 *
 * A match is a common table expression of its own, which starts from the index (or, with a constant subject, from its quads).
 * It is read as it runs if it comes first in a join, else once, and looked up. Its columns: n (query text), s, p, o, g, r
 * (rank, less is better).
 */
#include "daemon/plan/sqlgen-private.h"

#define SNIPPET_START "<b>"
#define SNIPPET_END "</b>"
#define SNIPPET_ELLIPSIS "…"
#define SNIPPET_TOKENS 16

typedef struct Match {
    QdGenerator *generator;
    const QdMatch *match;
    QdSql text;        /* the query, where the index is read */
    QdSql kept;        /* the same, outside of it */
    QdSql seeds;       /* a table n with the query texts; none: there is one */
    QdColumn seed;     /* of @seeds */
    QdRelation *inner; /* columns and conditions where index and quads are read */
    QdRelation *shape; /* the columns of the whole */
    QdSql calls;       /* of functions of FTS5 where the index is read: ",… AS x0"; and their names: ",x0" */
    QdSql names;
    guint n_calls;
    gboolean needs_rank;
    gboolean from_quads;
} Match;

/* --- the query text --------------------------------------------------------------------------------------------------- */

static QdSql
write_query(QdGenerator *self, QdSql value)
{
    return qd_sql_make(self->arena, "queryd_match_text(@)", value);
}

/* The left's column of texts as a table; a row without a text has no match. */
static void
take_seeds(Match *self, QdRelation **left)
{
    QdGenerator *generator = self->generator;
    QdColumn *column;

    *left = qd_relation_copy(generator, qd_relation_seal(generator, *left, QD_SEAL_MATERIALIZED));
    column = qd_relation_find(*left, self->match->text.variable);
    qd_relation_add_where(generator, *left, qd_sql_is_bound(generator->arena, column->sql));
    column->certain = TRUE;
    self->seed = *column;
    self->seeds = qd_sql_make(generator->arena, "(SELECT DISTINCT @ AS n FROM @ WHERE @ IS NOT NULL) AS n CROSS JOIN ", column->sql,
                              (*left)->tables[0].from, column->sql);
    self->text = write_query(generator, qd_sql_text("n.n"));
    self->kept = write_query(generator, qd_sql_text("m.n"));
}

/* A variable that has no value by then is an error only when the pattern runs: Prepare may compile it before it gets one. */
static void
take_text(Match *self, QdRelation **left)
{
    QdGenerator *generator = self->generator;
    const QdNode *node = &self->match->text;
    QdSql value = node->kind == QD_NODE_TERM ? qd_generator_put_term(generator, node->term)
                                             : qd_generator_find_parameter(generator, node->variable);
    const QdColumn *column;

    if (value.text == NULL && left != NULL && *left != NULL && qd_relation_find(*left, node->variable) != NULL) {
        take_seeds(self, left);
        return;
    }
    column = value.text == NULL ? qd_outer_find(generator, generator->outer, node->variable) : NULL;
    if (column != NULL)
        value = qd_sql_make(generator->arena, "coalesce(@,0)", column->sql); /* 0: no term */
    self->text = self->kept = write_query(generator, value.text != NULL ? value : qd_sql_text("NULL"));
}

/* --- columns ---------------------------------------------------------------------------------------------------------- */

/* What stands at a place of the quad: a condition, or a column that has its name outside. */
static void
match_node(Match *self, const QdNode *node, const char *inner, const char *outer)
{
    QdGenerator *generator = self->generator;
    QdSql value = QD_SQL_NONE;
    QdColumn *column;

    if (node->kind == QD_NODE_NONE)
        return;
    if (node->kind == QD_NODE_TERM)
        value = qd_generator_put_term(generator, node->term);
    else
        value = qd_generator_find_value(generator, node->variable);
    column = value.text == NULL ? qd_relation_find(self->inner, node->variable) : NULL;
    if (column != NULL)
        value = column->sql;
    if (value.text != NULL) {
        qd_relation_add_where(generator, self->inner, qd_sql_equate(generator->arena, qd_sql_text(inner), "=", value));
        return;
    }
    column = qd_relation_add(generator, self->inner, node->variable, qd_sql_text(inner));
    column = qd_relation_add(generator, self->shape, node->variable, qd_sql_text(outer));
    column->certain = column->interned = TRUE;
}

static QdSql
put_string(QdGenerator *self, const QdTerm *term, const char *otherwise)
{
    if (term == NULL)
        return qd_sql_make(self->arena, "'@'", qd_sql_text(otherwise));
    return qd_sql_make(self->arena, "queryd_str_text(@)", qd_generator_put_term(self, term));
}

/*
 * A function of FTS5 on the literal, computed with the rows. If only the best of them are kept, it is computed for those, each
 * of which asks the index again.
 */
static QdSql
write_function(Match *self, QdSql call)
{
    QdGenerator *generator = self->generator;

    QdSql name = qd_sql_text(qd_arena_printf(generator->arena, "x%u", self->n_calls));

    if (self->match->limit != QD_NO_LIMIT)
        return qd_sql_make(generator->arena,
                           "queryd_to_term((SELECT @ FROM queryd_fts AS f WHERE f.queryd_fts MATCH @ AND f.rowid=m.o))", call,
                           self->kept);
    self->n_calls++;
    self->calls = qd_sql_make(generator->arena, "@,@ AS @", self->calls, call, name);
    self->names = qd_sql_make(generator->arena, "@,@", self->names, name);
    return qd_sql_make(generator->arena, "queryd_to_term(m.@)", name);
}

static QdSql
write_column(Match *self, const QdMatchColumn *column)
{
    QdGenerator *generator = self->generator;
    QdSql start, end, ellipsis;

    switch (column->kind) {
    case QD_MATCH_RANK:
        return qd_sql_fill(generator->arena, "queryd_to_term(-m.r)", NULL, 0);
    case QD_MATCH_SNIPPET:
        ellipsis = put_string(generator, column->texts[2], SNIPPET_ELLIPSIS);
        end = put_string(generator, column->texts[1], SNIPPET_END);
        start = put_string(generator, column->texts[0], SNIPPET_START);
        return write_function(self,
                              qd_sql_make(generator->arena, "snippet(f.queryd_fts,0,@,@,@,@)", start, end, ellipsis,
                                          qd_sql_text(qd_arena_printf(generator->arena, "%u",
                                                                      column->n_tokens > 0 ? column->n_tokens : SNIPPET_TOKENS))));
    case QD_MATCH_OFFSETS:
        return write_function(self, qd_sql_fill(generator->arena, "queryd_match_offsets(f.queryd_fts)", NULL, 0));
    }
    return qd_sql_text("NULL");
}

static void
add_computed(Match *self, guint variable, QdSql sql)
{
    QdColumn *column;

    if (qd_relation_find(self->shape, variable) != NULL) {
        qd_generator_fail(self->generator, QW_ERROR_SYNTAX, "fts:match names ?%s twice",
                          qd_ast_get_variable_name(self->generator->ast, variable));
        return;
    }
    column = qd_relation_add(self->generator, self->shape, variable, sql);
    column->certain = column->interned = TRUE;
}

static void
add_columns(Match *self)
{
    QdGenerator *generator = self->generator;
    const QdMatch *match = self->match;
    const QdMatchColumn rank = { .kind = QD_MATCH_RANK };

    if (generator->graph.kind == QD_NODE_VARIABLE) {
        const QdNode graph = { .kind = QD_NODE_VARIABLE, .variable = generator->graph.variable };

        match_node(self, &graph, "q.g", "m.g");
    }
    match_node(self, &match->subject, "q.s", "m.s");
    match_node(self, &match->literal, "q.o", "m.o");
    match_node(self, &match->predicate, "q.p", "m.p");
    if (match->rank.kind == QD_NODE_VARIABLE && qd_generator_find_value(generator, match->rank.variable).text == NULL)
        add_computed(self, match->rank.variable, write_column(self, &rank));
    for (const QdMatchColumn *column = match->columns; column != NULL; column = column->next)
        add_computed(self, column->variable, write_column(self, column));
    if (self->seeds.text != NULL) {
        const QdNode text = match->text;

        match_node(self, &text, "n.n", "m.n");
        if (qd_relation_find(self->shape, text.variable) != NULL)
            qd_relation_find(self->shape, text.variable)->interned = self->seed.interned;
    }
}

/* --- the whole -------------------------------------------------------------------------------------------------------- */

static void
add_conditions(Match *self)
{
    QdGenerator *generator = self->generator;
    const QdMatch *match = self->match;
    const QdTableName q = { "q", NULL };
    g_auto(QdSqlBuilder) predicates = qd_sql_builder_new(generator->arena);

    qd_relation_add_where(generator, self->inner, qd_sql_make(generator->arena, "f.queryd_fts MATCH @", self->text));
    qd_relation_add_where(generator, self->inner, qd_sql_text(self->from_quads ? "q.o>0 AND f.rowid=q.o" : "q.o=f.rowid"));
    for (guint i = 0; i < match->n_predicates; i++)
        qd_sql_append_after(&predicates, ",", qd_generator_put_term(generator, match->predicates[i]));
    if (match->n_predicates > 0)
        qd_relation_add_where(generator, self->inner, qd_sql_make(generator->arena, "q.p IN (@)", qd_sql_finish(&predicates)));
    qd_relation_add_where(
        generator, self->inner,
        qd_sql_make(generator->arena, "(q.p IN (SELECT id FROM queryd_fulltext) OR @)",
                    qd_sql_exists(generator->arena, QD_SQL_NONE, qd_sql_text("SELECT 1 FROM queryd_fulltext WHERE id=0"))));
    qd_relation_add_where(generator, self->inner,
                          self->from_quads ? qd_generate_graph_condition(generator, &q)
                                           : qd_generate_graph_condition_apart(generator, &q));
}

/* A row for each quad; or for each subject (of the graph, of the query text), with its best literal if that matters. */
static QdSql
write_rows(Match *self)
{
    QdGenerator *generator = self->generator;
    gboolean per_literal = self->match->per_literal;
    gboolean has_seeds = self->seeds.text != NULL;
    QdSql n = qd_sql_text(has_seeds ? "n," : "");
    QdSql rows;

    rows = qd_sql_make(generator->arena, "SELECT @@q.s AS s,q.g AS g@@@ FROM @@ WHERE @",
                       qd_sql_text(per_literal || self->needs_rank ? "" : "DISTINCT "), qd_sql_text(has_seeds ? "n.n AS n," : ""),
                       qd_sql_text(per_literal || self->needs_rank ? ",q.p AS p,q.o AS o" : ""),
                       qd_sql_text(self->needs_rank ? ",f.rank AS r" : ""), self->calls, has_seeds ? self->seeds : qd_sql_text(""),
                       qd_sql_text(self->from_quads ? "queryd_quad AS q CROSS JOIN queryd_fts AS f"
                                                    : "queryd_fts AS f CROSS JOIN queryd_quad AS q"),
                       qd_relation_write_where(generator, self->inner));
    if (per_literal || !self->needs_rank)
        return rows;
    /* LIMIT: FTS5's functions are computed before rows are grouped */
    return qd_sql_make(generator->arena, "SELECT @s,g,o,min(r) AS r@ FROM (@ LIMIT -1) GROUP BY @s,g", n, self->names, rows, n);
}

/* The best rows of each graph and query text. */
static QdSql
write_best(Match *self, QdSql rows)
{
    QdGenerator *generator = self->generator;
    const char *limit;

    if (self->match->limit == QD_NO_LIMIT)
        return rows;
    limit = qd_arena_printf(generator->arena, "%" G_GUINT64_FORMAT, self->match->limit);
    return qd_sql_make(generator->arena,
                       "SELECT * FROM (SELECT *,row_number() OVER (PARTITION BY @ ORDER BY r) AS k FROM (@)) WHERE k<=@",
                       qd_sql_text(self->seeds.text != NULL ? "g,n" : "g"), rows, qd_sql_text(limit));
}

/* Whether the store's index can answer at all. */
static gboolean
check_index(QdGenerator *self, const QdMatch *match)
{
    const QdCatalog *catalog = self->catalog;

    if (catalog == NULL || catalog->is_indexed == NULL)
        return TRUE;
    if (!catalog->is_indexed(catalog->data, NULL)) {
        qd_generator_fail(self, QW_ERROR_UNSUPPORTED,
                          "full-text search is not enabled in this store: "
                          "'queryctl fulltext add PREDICATE' (or --all) does it");
        return FALSE;
    }
    for (guint i = 0; i < match->n_predicates; i++)
        if (!catalog->is_indexed(catalog->data, match->predicates[i])) {
            qd_generator_fail(self, QW_ERROR_UNSUPPORTED,
                              "predicate <%.200s> is not in the full-text index: 'queryctl fulltext add PREDICATE' adds it",
                              match->predicates[i]->lexical);
            return FALSE;
        }
    return TRUE;
}

QdRelation *
qd_generate_match(QdGenerator *self, const QdMatch *match, QdRelation **left)
{
    Match builder = {
        .generator = self,
        .match = match,
        .inner = qd_relation_new(self),
        .shape = qd_relation_new(self),
        .calls = qd_sql_text(""),
        .names = qd_sql_text(""),
        .needs_rank = match->rank.kind != QD_NODE_NONE || match->columns != NULL || match->limit != QD_NO_LIMIT,
    };
    QdTable table = { .name = { "m", NULL } };
    QdSeal seal;

    if (!check_index(self, match))
        return builder.shape;
    take_text(&builder, left);
    builder.from_quads = builder.seeds.text == NULL && (match->subject.kind == QD_NODE_TERM ||
                                                        qd_generator_find_value(self, match->subject.variable).text != NULL);
    add_columns(&builder);
    add_conditions(&builder);
    table.from = qd_sql_make(self->arena, "(@) AS m", write_best(&builder, write_rows(&builder)));
    qd_relation_add_table(self, builder.shape, &table);
    /* within EXISTS a table that does not depend on what is outside is made once, if SQLite is asked to materialise it */
    seal = self->outer != NULL && match->text.kind == QD_NODE_TERM ? QD_SEAL_MATERIALIZED : QD_SEAL_STREAM;
    return qd_relation_seal(self, builder.shape, seal);
}
