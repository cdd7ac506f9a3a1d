/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdLexer: the tokens that Turtle, TriG and SPARQL share, from one text or refilled from a descriptor.
 *
 * Place: room rdfio, under turtle-reader and sparql/parser. A token's place is its byte offset; line and column are counted when
 * an error asks for them. White space and comments are skipped. ANON and NIL are two tokens each ('[' ']', '(' ')').
 * Invariant: the longest token wins; in SPARQL a '<' that begins no IRIREF is an operator.
 */
#pragma once

#include <glib.h>

#include "daemon/base/limits.h"

typedef enum QdLexerMode {
    QD_LEXER_TURTLE,  /* \u and \U only in IRIs and strings; '<' always begins an IRI */
    QD_LEXER_SPARQL,  /* \u and \U anywhere (§19.2), variables, operators */
    QD_LEXER_TRACKER, /* SPARQL with ~name; \u and \U only in IRIs and strings, so that offsets are those of the text */
} QdLexerMode;

/* Single punctuation characters are their own kind: '{' '}' '(' ')' '[' ']' '.' ',' ';' '*' '/' '|' '^' '+' '-' '!' '?' '=' '<' '>'
 */
typedef enum QdTokenKind {
    QD_TOKEN_END = 0,
    QD_TOKEN_IRIREF = 256,     /* text: without <>, escapes decoded, characters checked, not resolved */
    QD_TOKEN_PNAME_NS,         /* text: prefix without ':' */
    QD_TOKEN_PNAME_LN,         /* text: prefix; local: the part after ':', '\' escapes decoded, % kept */
    QD_TOKEN_BLANK_NODE_LABEL, /* text: without _: */
    QD_TOKEN_LANGTAG,          /* text: without @, as written; @prefix and @base come as this */
    QD_TOKEN_VAR,              /* SPARQL only; text: without its sigil */
    QD_TOKEN_INTEGER,          /* text: with its sign, if any */
    QD_TOKEN_DECIMAL,
    QD_TOKEN_DOUBLE,
    QD_TOKEN_STRING,        /* text: without quotes, escapes decoded */
    QD_TOKEN_WORD,          /* [A-Za-z][A-Za-z0-9_]*: keywords, "a", booleans, function names */
    QD_TOKEN_DATATYPE,      /* ^^ */
    QD_TOKEN_NOT_EQUAL,     /* != */
    QD_TOKEN_LESS_EQUAL,    /* <= */
    QD_TOKEN_GREATER_EQUAL, /* >= */
    QD_TOKEN_AND,           /* && */
    QD_TOKEN_OR,            /* || */
    QD_TOKEN_PARAMETER,     /* TRACKER only; text: without '~' */
} QdTokenKind;

typedef struct QdToken {
    guint kind;     /* QdTokenKind or a character */
    guint64 offset; /* of its first byte in the input (after §19.2's decoding, if any) */
    gsize n_source; /* bytes of it in the input */
    const char *text;
    gsize n_text;
    const char *local;
    gsize n_local;
} QdToken;

/* Reads up to @n_bytes into @buffer; 0 is the end, -1 an error that is set. */
typedef gssize (*QdLexerRead)(char *buffer, gsize n_bytes, gpointer data, GError **error);

typedef struct QdLexer QdLexer;

/**
 * qd_lexer_new_for_text:
 * @text: (transfer none): must outlive the lexer
 *
 * A lexer over one text; its tokens' texts live as long as the lexer and @text.
 *
 * Returns: (transfer full): never NULL; bad text shows with the first token
 */
QdLexer *qd_lexer_new_for_text(QdLexerMode mode, const char *text, gsize n_bytes);

/**
 * qd_lexer_new_for_stream:
 * @limits: (transfer none): a token has at most value_bytes
 *
 * A lexer that reads on through @read_func; a token's text is valid until the next qd_lexer_next(). A byte order mark is skipped.
 *
 * Returns: (transfer full): never NULL
 */
QdLexer *qd_lexer_new_for_stream(QdLexerMode mode, QdLexerRead read_func, gpointer data, const QdLimits *limits);

/* Returns NULL; takes NULL. */
QdLexer *qd_lexer_free(QdLexer *self);

/* The next token, QD_TOKEN_END at the end (and again); FALSE: SYNTAX with its place, TOO_BIG, or what the reader said. */
gboolean qd_lexer_next(QdLexer *self, QdToken *ret_token, GError **error);

/* Line and column (from 1, in code points) of @offset, which must not lie before the last token of a stream. */
void qd_lexer_get_place(const QdLexer *self, guint64 offset, guint *ret_line, guint *ret_column);

/* An error "line:column: …" at @offset. */
void qd_lexer_set_error(const QdLexer *self, GError **error, QwError code, guint64 offset, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

/* (transfer full): how a message names the token: "'{'", "'SELECT'", "end of the text"; long texts are cut. */
char *qd_token_describe(const QdToken *token);

/* What a message says of RDF 1.2, of which nothing is known: "triple terms", say, and this. */
#define QD_RDF12 " are RDF 1.2, which is not supported"

/* True when the token is the word @keyword, in any case. */
gboolean qd_token_is_word(const QdToken *token, const char *keyword);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdLexer, qd_lexer_free)
