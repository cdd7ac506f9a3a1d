/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A folder of questions, NAME.rq, put to queryd in the ordinary way: by the bus, to the last row.
 *
 * Place: tests/bench, for the groups that compare SPARQL. EXPECTED.tsv there says name, number of rows and, of one row, its first
 * value. Without it answers are kept as DATA.answers/NAME.tsv, with which those of other servers are compared.
 */
#pragma once

#include "tests/bench/bench.h"

/**
 * sparql_questions_run:
 * @folder: has the questions
 * @data: the N-Triples that the store has
 *
 * Records "question.NAME", the median of the times of one round, and "cold.NAME": the first time after an update that touched every
 * predicate. A wrong answer ends the process.
 */
void sparql_questions_run(const Bench *bench, const char *folder, const char *data);

/* From the text to the last row, every cell looked at, in ms. @ret_first: (optional) (transfer full): the first value */
double sparql_questions_time(QueryConnection *connection, const char *text, guint64 *ret_n_rows, char **ret_first, GError **error);

/* Records "crew.rate@N" and "crew.p95@N": @n clients at once, each with all of @texts several times. */
void sparql_questions_run_crew(const Bench *bench, GPtrArray *texts, guint n);
