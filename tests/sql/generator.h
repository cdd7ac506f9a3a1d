/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random scripts: a schema, then statements on it. What a statement names mostly exists, so that most are run; the others show
 * whether errors agree.
 *
 * Place: tests/sql. Nothing here asks for the time, for random values, or for an order that SQLite does not give.
 */
#pragma once

#include "tests/sql/script.h"

/* The script of @seed. */
Script *generator_make_script(guint64 seed);
