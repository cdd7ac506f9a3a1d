/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What differs from SQLite and is documented (docs/sql.md, "Differences from SQLite"): by name, each with its reason.
 *
 * Place: tests/sql.
 */
#pragma once

#include "tests/sql/outcome.h"

enum { N_EXCLUSIONS = 2 };

/* @has_last: a table has got the greatest rowid. Returns: the number of the one that explains the difference; -1: none does */
int exclusion_find(const char *text, const Outcome *expected, const Outcome *actual, gboolean has_last);
const char *exclusion_get_name(int exclusion);
