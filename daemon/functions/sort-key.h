/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A total order of terms as bytes for memcmp(): SPARQL 1.1 §15.1, and an order of our own where that has none.
 *
 * Unbound (NULL) < blank nodes < IRIs < numbers < booleans < points in time < durations < strings < all other literals. Values
 * that compare as equal have equal keys, except that points in time without a zone, ordered as if in UTC, come before those with.
 */
#pragma once

#include "daemon/functions/value.h"

/* qd_sort_key_append: FALSE for ERROR, and when the query has ended. */
gboolean qd_sort_key_append(QdEvaluation *ev, QdValue *value, QdBytes *out);

/* qd_equality_key_append: the same, but numbers of any two types that "=" calls equal have equal keys. So may others have. */
gboolean qd_equality_key_append(QdEvaluation *ev, QdValue *value, QdBytes *out);
