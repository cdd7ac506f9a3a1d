/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a statement: what it gives, which parameters it has, and the text with their values in it.
 *
 * Place: internal to the module, on the lexer of SPARQL. The endpoint judges the text; here only tokens are looked at.
 * Invariant: a value becomes one term. It cannot end a string or an IRI, so no value changes what else the text says.
 */
#pragma once

#include "client-lib/core/query-command.h"
#include "client-lib/core/query-schema.h"
#include "client-lib/wire/wire-page-reader.h"

typedef enum RemoteForm {
    REMOTE_FORM_UNKNOWN, /* the endpoint may know more than this library */
    REMOTE_FORM_SELECT,
    REMOTE_FORM_ASK,
    REMOTE_FORM_GRAPH, /* CONSTRUCT, DESCRIBE */
} RemoteForm;

RemoteForm remote_text_get_form(const char *text);

/* (transfer full): without columns, which only a result tells. Its parameters are the variables with "$", in their order. */
QuerySchema *remote_text_describe(const char *text, gboolean writes);

/**
 * remote_text_build:
 * @command: what is executed
 * @schema: (nullable): of remote_text_describe(), with the values of @row
 * @row: (nullable): a reader on the row of values; NULL: the text as it is
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER for a value that no term can say, or for a variable that the text itself binds.
 *
 * Returns: (transfer full) (nullable): the text for the endpoint
 */
char *remote_text_build(const QueryCommand *command, const QuerySchema *schema, const QwPageReader *row, GError **error);

/* How many bytes remote_text_build() puts before the first line of the text. */
gsize remote_text_get_n_before(const QueryCommand *command);
