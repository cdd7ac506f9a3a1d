/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of SERVICE, as generated SQL names it.
 *
 *     queryd_service(endpoint, query, names, n_keys, flags, keys)     its columns are v0 … v63, in the order of @names
 *
 * @endpoint is an IRI as a term, or the first of each row of keys is it, as @flags say. @query is what the endpoint is asked,
 * without VALUES. @names are those of the columns, with a space between. The first @n_keys of them are in the rows of @keys, too.
 * The aggregate queryd_service_keys(v, …) makes these. They are sent as VALUES, so many with each request as a limit says.
 * NULL: there are none, and the query is asked once.
 *
 * Place: room service, for the SQL generator.
 */
#pragma once

#define QD_SERVICE_COLUMNS_MAX 64
#define QD_SERVICE_NO_COLUMN "queryd_row" /* of an answer to a pattern that has no variable */

/* Flags. */
#define QD_SERVICE_SILENT 1      /* an endpoint that fails has one solution, which binds nothing */
#define QD_SERVICE_BY_VARIABLE 2 /* the first key of each row is the endpoint */
