/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the parser share: the position, and one function per part of the grammar.
 *
 * Place: room sparql. A function that fails has set @error of the parser and returns FALSE or NULL; its caller only returns.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/rdfio/lexer.h"
#include "daemon/sparql/ast.h"
#include "daemon/sparql/parser.h"

typedef enum QdBlankNodes {
    QD_BLANK_NODES_VARIABLES, /* in patterns */
    QD_BLANK_NODES_FRESH,     /* in templates and INSERT DATA */
    QD_BLANK_NODES_FORBIDDEN, /* where something is deleted */
} QdBlankNodes;

/* Names that a text uses. */
typedef struct QdParserNames {
    GHashTable *prefixes;    /* of this text: prefix → IRI, both in the arena */
    GHashTable *variables;   /* name → number + 1 */
    GHashTable *labels;      /* of blank nodes in patterns: label → Label */
    GHashTable *data_labels; /* of INSERT DATA: label → number of the operation + 1 */
} QdParserNames;

/* Where SERVICE takes its text from. */
typedef struct QdParserService {
    const char *text; /* the whole one, which offsets of tokens count in */
    gsize n_text;
    guint64 group_end; /* after the group that was parsed last */
    guint depth;       /* of SERVICEs that the parser is in */
} QdParserService;

/* So far. */
typedef struct QdParserCounts {
    guint n_patterns; /* basic graph patterns: a label belongs to one of them */
    guint n_operations;
    guint n_parts; /* of the query or operation, up to the limit */
    guint n_fresh; /* labels of ours */
} QdParserCounts;

typedef struct QdParser {
    QdAst *ast;
    QdArena *arena;
    QdLexer *own_lexer;   /* NULL: tokens come from the fingerprint */
    const QdLexer *lexer; /* for places in the text */
    QdToken token;
    guint token_value; /* its number in the fingerprint; QD_FINGERPRINT_NO_VALUE: none */
    QdToken next;
    gboolean has_next;
    guint read_value; /* of the token that was read last */
    guint n_read;
    const QdParseOptions *options;
    QdParserNames names;
    QdParserService service;
    GPtrArray *matches;     /* of QdMatch: all of the text */
    GPtrArray *match_calls; /* of calls of fts:rank and its kin, until they are known */
    QdParserCounts counts;
    QdBlankNodes blank_nodes;
    gboolean only_terms;      /* no variables: INSERT DATA and DELETE DATA */
    gboolean takes_all;       /* in a dataset ALL and DEFAULT, which are no SPARQL: the option `dataset` */
    gboolean takes_aggregate; /* in SELECT, HAVING, ORDER BY */
    gboolean has_aggregate;   /* one was met */
    guint depth;
    QdFingerprintHole hole; /* the last term made of a token of the fingerprint; term NULL: none */
    GError *error;
} QdParser;

/* Moving on. */
gboolean qd_parser_advance(QdParser *self);
gboolean qd_parser_is(const QdParser *self, guint kind);
gboolean qd_parser_is_word(const QdParser *self, const char *keyword);
gboolean qd_parser_next_is(QdParser *self, guint kind);
gboolean qd_parser_next_is_word(QdParser *self, const char *keyword);
/* Takes the token if it is that one; look at @error after FALSE only where the next step does not. */
gboolean qd_parser_accept(QdParser *self, guint kind);
gboolean qd_parser_accept_word(QdParser *self, const char *keyword);
gboolean qd_parser_expect(QdParser *self, guint kind, const char *what);
gboolean qd_parser_expect_word(QdParser *self, const char *keyword);

/* Failing: what was expected instead of the token; or any message at an offset. Always FALSE. */
gboolean qd_parser_fail_expected(QdParser *self, const char *what);
/* The same where the token may be the name of a function that there is not. */
gboolean qd_parser_fail_call(QdParser *self, const char *what);
/* Those of them that are aggregates. */
#define QD_AGGREGATE_NAMES "COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"
/* For qd_parser_fail_expected(), where a request may begin. */
#define QD_PARSER_UPDATE_WORDS "INSERT, DELETE, WITH, LOAD, CLEAR, DROP, CREATE, ADD, MOVE or COPY"
#define QD_PARSER_FIRST_WORDS "BASE, PREFIX, SELECT, CONSTRUCT, DESCRIBE or ASK, or in an update " QD_PARSER_UPDATE_WORDS
gboolean qd_parser_fail_limit(QdParser *self, QdLimit limit, const char *what); /* at the token */
gboolean qd_parser_fail(QdParser *self, guint64 offset, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* One more level of nesting, up to the limit; qd_parser_leave() takes it back. */
gboolean qd_parser_enter(QdParser *self);
void qd_parser_leave(QdParser *self);

/* @n more triple patterns, links of paths, groups or the like, up to the limit. */
gboolean qd_parser_count_parts(QdParser *self, guint n);

/* A copy of a GArray's content in the arena. */
gpointer qd_parser_take_array(QdParser *self, GArray *array);

/* Terms (parser.c). */
gboolean qd_parser_starts_iri(const QdParser *self);
gboolean qd_parser_starts_literal(const QdParser *self);
gboolean qd_parser_parse_iri(QdParser *self, const QdTerm **ret_iri);
gboolean qd_parser_parse_literal(QdParser *self, const QdTerm **ret_literal);
gboolean qd_parser_parse_variable(QdParser *self, guint *ret_variable);
gboolean qd_parser_parse_variable_or_iri(QdParser *self, QdNode *ret_node);
gboolean qd_parser_parse_blank_node(QdParser *self, QdNode *ret_node); /* a label */
gboolean qd_parser_make_blank_node(QdParser *self, QdNode *ret_node);  /* without one */
QdTerm *qd_parser_make_term(QdParser *self, QdTermKind kind, const char *lexical, gsize n_bytes);
/* @term stands where only its kind matters until it is bound: it may be a hole. */
void qd_parser_lift_term(QdParser *self, const QdTerm *term);
gboolean qd_parser_parse_integer(QdParser *self, guint64 *ret_value);

/* parse-triples.c: appends to @triples (of QdTriple). */
gboolean qd_parser_parse_triples(QdParser *self, GArray *triples, gboolean with_paths);
gboolean qd_parser_starts_triples(const QdParser *self);
gboolean qd_parser_parse_template(QdParser *self, GArray *triples); /* { TriplesTemplate? } */

/* parse-match.c */
gboolean qd_parser_take_matches(QdParser *self, GArray *triples, QdPattern *pattern); /* those of @triples, with their lists */
/* A call of a function of full text: @expression is filled by qd_parser_finish_matches(), at the end of the text. */
QdExpression *qd_parser_make_match_call(QdParser *self, guint64 offset, const QdTerm *iri, const GArray *arguments,
                                        QdExpression *expression);
gboolean qd_parser_finish_matches(QdParser *self);

/* parse-expression.c */
QdExpression *qd_parser_parse_expression(QdParser *self);
QdExpression *qd_parser_parse_constraint(QdParser *self); /* (…), a built-in call or a function call */
gboolean qd_parser_starts_constraint(const QdParser *self);

/* parse-dataset.c: clauses of @keyword, any number; NULL with error. */
QdDatasetClause *qd_parser_parse_dataset(QdParser *self, const char *keyword);
/* The dataset of @options, before the text is parsed. (nullable): NULL with @error set: BAD_PARAMETER */
QdDatasetClause *qd_parser_parse_dataset_option(QdAst *ast, const QdParseOptions *options, GError **error);
/* After it: @clause instead of what the text says. FALSE with BAD_PARAMETER if an update says it with USING or WITH. */
gboolean qd_parser_replace_dataset(QdAst *ast, QdDatasetClause *clause, GError **error);

/* parse-pattern.c */
QdPattern *qd_parser_parse_group(QdParser *self);
QdValues *qd_parser_parse_values(QdParser *self); /* after VALUES */
QdPattern *qd_parser_new_pattern(QdParser *self, QdPatternKind kind);
void qd_parser_add_triple_variables(QdParser *self, const QdTriple *triples, guint n_triples, QdVariableSet *set);

/* parse-service.c: after SERVICE. */
QdPattern *qd_parser_parse_service(QdParser *self);

/* parse-query.c */
gboolean qd_parser_parse_query(QdParser *self);
QdSelect *qd_parser_parse_subselect(QdParser *self, QdVariableSet *visible);

/* parse-update.c */
gboolean qd_parser_parse_update(QdParser *self);

/* parser.c */
gboolean qd_parser_parse_prologue(QdParser *self);
