/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Literals as numbers, by the names of their datatypes in XML Schema.
 */
#include "client-lib/arrow/arrow-number.h"

#include <errno.h>
#include <string.h>

#include "client-lib/text/text-number.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

/* Up to 15 digits, which a double holds and gives back. */
static bool
has_few_digits(const QwValue *literal)
{
    size_t n_digits = 0;

    for (size_t i = 0; i < literal->n_bytes; i++)
        n_digits += g_ascii_isdigit(literal->data[i]);
    return n_digits <= 15;
}

/* Not a number unless all of it is one. */
static bool
parse_literal(const QwValue *literal, bool is_integer, QwValue *ret)
{
    char *end = NULL;

    errno = 0;
    if (is_integer)
        *ret = (QwValue){ .type = QW_TYPE_INTEGER, .integer = g_ascii_strtoll(literal->data, &end, 10) };
    else
        *ret = (QwValue){ .type = QW_TYPE_FLOAT, .real = g_ascii_strtod(literal->data, &end) };
    return end == literal->data + literal->n_bytes && literal->n_bytes > 0 && (errno == 0 || !is_integer);
}

bool
qw_arrow_number_of_literal(const QwValue *literal, bool is_term, QwValue *ret)
{
    static const char *const integers[] = { "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", NULL };
    const char *name;

    if (literal->type != QW_TYPE_LITERAL_TYPED || strncmp(literal->tag, XSD, strlen(XSD)) != 0)
        return false;
    name = literal->tag + strlen(XSD);
    if (is_term)
        return qw_text_parse_number(literal->data, literal->n_bytes, ret) &&
               strcmp(name, ret->type == QW_TYPE_INTEGER ? "integer" : "double") == 0;
    if (strcmp(name, "integer") == 0 || g_strv_contains(integers, name))
        return parse_literal(literal, true, ret);
    if (strcmp(name, "decimal") == 0)
        return has_few_digits(literal) && parse_literal(literal, false, ret);
    return (strcmp(name, "double") == 0 || strcmp(name, "float") == 0) && parse_literal(literal, false, ret);
}
