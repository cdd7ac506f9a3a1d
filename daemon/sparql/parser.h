/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 text to AST: recursive descent over the grammar of §19.8 with its notes.
 *
 * Place: room sparql. Pure. Each error has the form "line:column: unexpected X, expected Y".
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/sparql/fingerprint.h"
#include "daemon/sparql/plan-parts.h"
#include "daemon/sqlite/catalog.h"

typedef struct QdAccess QdAccess;

typedef struct QdParseOptions {
    const char *base;         /* nullable: an absolute IRI */
    const char *dataset;      /* nullable: FROM clauses instead of those of the text, or of USING clauses */
    const QdCatalog *catalog; /* nullable: has the prefixes of which the text declares none of that name */
    const QdLimits *limits;
    const QdFingerprint *fingerprint; /* nullable: of this text; its constants become holes where their value does not matter */
    const QdAccess *access;           /* nullable: the graphs that may be read and written */
} QdParseOptions;

/**
 * qd_parser_parse:
 * @text: UTF-8; need not outlive the call
 * @is_update: whether it is an update request
 *
 * Parses and checks what the grammar's notes and the scope rules say; looks at no data.
 *
 * Errors: SYNTAX with a place; TOO_COMPLEX, TOO_BIG. BAD_PARAMETER: the dataset of @options, or it meets USING or WITH.
 * ACCESS_DENIED: it asks for what is not granted.
 *
 * Returns: (transfer full) (nullable): the AST
 */
QdAst *qd_parser_parse(const char *text, gsize n_bytes, gboolean is_update, const QdParseOptions *options, GError **error);
