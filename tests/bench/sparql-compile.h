/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a SPARQL text costs before its first row, measured on the daemon's own code in this process.
 *
 * Place: tests/bench, for group-sparql.c. The daemon may have the database open meanwhile: it is only read.
 */
#pragma once

#include <glib.h>

typedef struct SparqlCompiler SparqlCompiler;

typedef struct SparqlCompileTimes {
    double compile_usec; /* parse, algebra, join orders, SQL: the text is new */
    double prepare_usec; /* SQLite's part of that */
    double found_usec;   /* the plan of another text of the same template is used */
    double again_usec;   /* the plan of this very text is used */
} SparqlCompileTimes;

/* (transfer full) (nullable): @path: the database file. Ends the process when it cannot be opened. */
SparqlCompiler *sparql_compiler_new(const char *path);
SparqlCompiler *sparql_compiler_free(SparqlCompiler *self);

/**
 * sparql_compiler_measure:
 * @other: another text of the same template
 * @n: how often
 *
 * The medians of @n times each.
 */
void sparql_compiler_measure(SparqlCompiler *self, const char *text, const char *other, guint n, SparqlCompileTimes *ret_times);
