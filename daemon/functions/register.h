/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The SQL functions that generated SQL calls on terms. A SPARQL value in SQL is INTEGER (an id), BLOB (a computed term) or NULL
 * (unbound, an error).
 *
 *     queryd_eval(program, v1…vn)           the value of an expression (daemon/rdf/expression-code.h)
 *     queryd_eval_volatile(program, v1…vn)  the same, evaluated at each row: for RAND, UUID, STRUUID, BNODE
 *     queryd_number(program, v1…vn)         the same, for queryd_sum and queryd_avg alone: floating point without its text
 *     queryd_test(program, v1…vn)           its effective boolean value: 1, 0, NULL
 *     queryd_ebv(v)                         1, 0, NULL
 *     queryd_eq ne lt le gt ge(a, b)        1, 0, NULL, by SPARQL's operators
 *     queryd_sort_key(v)                    BLOB: the total order; NULL of NULL
 *     queryd_equality_key(v)                BLOB: equal for what "=" calls equal, and perhaps for others; NULL of NULL
 *     queryd_to_term(v)                     in line if it fits, the id if it is stored, else BLOB
 *     queryd_boolean(i) queryd_integer(i)   the term of a truth value, of a number
 *     queryd_str_text(v)                    TEXT: STR(), and _:label of a blank node
 *     queryd_closure(seed, steps, graph), queryd_steps(kind, …): daemon/functions/closure/closure.h
 *     queryd_many, queryd_memo(v1, …), queryd_memo_put(entry, value): daemon/functions/many.h
 *     queryd_match_text(v), queryd_match_offsets(table): daemon/functions/match-calls.h
 *     queryd_sum avg min max sample group_concat group_list list_join: daemon/functions/aggregate.h
 *
 * Place: room functions; read/evaluation.c registers them on every connection it opens.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/functions/resolver.h"

/**
 * qd_functions_register:
 * @resolver: the dictionary as @db sees it; copied
 * @context: outlives @db
 *
 * Returns: FALSE with INTERNAL when SQLite refuses
 */
gboolean qd_functions_register(sqlite3 *db, const QdResolver *resolver, QdEvaluationContext *context, GError **error);
