/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RDF's numeric literals as numbers.
 *
 * Place: room arrow, below columns.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "client-lib/wire/wire-value.h"

/**
 * qw_arrow_number_of_literal:
 * @is_term: the number alone must give the literal back. So it is of the types that a number has in a term, and in the form that
 *   it has there.
 * @ret: (out)
 *
 * Returns: whether @literal, any value, is a number that a column can hold
 */
bool qw_arrow_number_of_literal(const QwValue *literal, bool is_term, QwValue *ret);
