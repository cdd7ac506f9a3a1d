/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows that were written as CSV (docs/formats.md), read again with the type of each value.
 *
 * Place: tests/sql. A deviation from the format ends the test.
 */
#pragma once

#include "tests/sql/outcome.h"

/* Columns and rows of @text are added to @outcome. */
void csv_take(Outcome *outcome, const char *text);
