/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryConstraint: which constraint of the database an update has broken.
 *
 * Part of query-client.h.
 */
#pragma once

#include "query-client.h"

#ifndef __GI_SCANNER__
#pragma GCC visibility push(default)
#endif

G_BEGIN_DECLS

/**
 * QueryConstraintKind:
 * @QUERY_CONSTRAINT_OTHER: none of the others
 * @QUERY_CONSTRAINT_UNIQUE: a UNIQUE constraint or a unique index
 * @QUERY_CONSTRAINT_PRIMARY_KEY: a PRIMARY KEY, also one that is the rowid
 * @QUERY_CONSTRAINT_ROWID: the rowid of a table, which no column names
 * @QUERY_CONSTRAINT_NOT_NULL: NOT NULL
 * @QUERY_CONSTRAINT_CHECK: CHECK
 * @QUERY_CONSTRAINT_FOREIGN_KEY: a foreign key
 * @QUERY_CONSTRAINT_DATATYPE: the type of a column of a STRICT table, or an integer that is required
 * @QUERY_CONSTRAINT_TRIGGER: RAISE of a trigger, whose message is that of the error
 * @QUERY_CONSTRAINT_VIRTUAL_TABLE: of a virtual table
 * @QUERY_CONSTRAINT_GRAPH: SPARQL: CREATE GRAPH of one that exists, or CLEAR, DROP, … of one that does not
 *
 * Kinds of constraints. A kind that a later daemon adds is %QUERY_CONSTRAINT_OTHER.
 */
typedef enum {
    QUERY_CONSTRAINT_OTHER,
    QUERY_CONSTRAINT_UNIQUE,
    QUERY_CONSTRAINT_PRIMARY_KEY,
    QUERY_CONSTRAINT_ROWID,
    QUERY_CONSTRAINT_NOT_NULL,
    QUERY_CONSTRAINT_CHECK,
    QUERY_CONSTRAINT_FOREIGN_KEY,
    QUERY_CONSTRAINT_DATATYPE,
    QUERY_CONSTRAINT_TRIGGER,
    QUERY_CONSTRAINT_VIRTUAL_TABLE,
    QUERY_CONSTRAINT_GRAPH,
} QueryConstraintKind;

#define QUERY_TYPE_CONSTRAINT_KIND (query_constraint_kind_get_type())
QUERY_AVAILABLE_IN_0_1
GType query_constraint_kind_get_type(void);

/**
 * QueryConstraint:
 *
 * Immutable, for any thread.
 */
typedef struct _QueryConstraint QueryConstraint;

#define QUERY_TYPE_CONSTRAINT (query_constraint_get_type())
QUERY_AVAILABLE_IN_0_1
GType query_constraint_get_type(void);

/**
 * query_error_get_constraint:
 * @error: an error of this library
 *
 * Which constraint an update has broken, for errors with the code %QUERY_ERROR_CONSTRAINT. Other ways than the text of the message,
 * which is for people, to find that out are not needed.
 *
 * The constraint belongs to the #GError. Some language bindings make a new error of domain, code and message (PyGObject does). For
 * these, the constraint of the last error with that message in this process is returned, among the last 64 different ones.
 *
 * Thread: any.
 *
 * Returns: (transfer full) (nullable): the constraint, %NULL for other errors and when the daemon does not tell it
 */
QUERY_AVAILABLE_IN_0_1
QueryConstraint *query_error_get_constraint(const GError *error);

/**
 * query_constraint_ref:
 * @self: a constraint
 *
 * Returns: (transfer full): @self
 */
QUERY_AVAILABLE_IN_0_1
QueryConstraint *query_constraint_ref(QueryConstraint *self);

/**
 * query_constraint_unref:
 * @self: (transfer full) (nullable): a constraint
 *
 * Gives a reference back; the last one frees.
 */
QUERY_AVAILABLE_IN_0_1
void query_constraint_unref(QueryConstraint *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryConstraint, query_constraint_unref)

/**
 * query_constraint_get_kind:
 * @self: a constraint
 *
 * Returns: what kind of constraint it is
 */
QUERY_AVAILABLE_IN_0_1
QueryConstraintKind query_constraint_get_kind(const QueryConstraint *self);

/**
 * query_constraint_get_table:
 * @self: a constraint
 *
 * The table that has the constraint; that of a foreign key is the one that refers to the other. SQLite does not report it for
 * CHECK and foreign keys. There it is known when the statement can have broken constraints of one table only. It is %NULL for
 * RAISE and for graphs.
 *
 * Returns: (transfer none) (nullable): the name of the table, %NULL when it is not known
 */
QUERY_AVAILABLE_IN_0_1
const char *query_constraint_get_table(const QueryConstraint *self);

/**
 * query_constraint_get_columns:
 * @self: a constraint
 *
 * The columns of the constraint in their order: those of a unique index without its expressions, or "rowid" for
 * %QUERY_CONSTRAINT_ROWID. Those of a foreign key are known when one key only can be meant. None for CHECK.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names of the columns; none when they are not known
 */
QUERY_AVAILABLE_IN_0_1
const char *const *query_constraint_get_columns(const QueryConstraint *self);

/**
 * query_constraint_get_name:
 * @self: a constraint
 *
 * The name of a unique index that was made by CREATE INDEX. For a CHECK: the name of the constraint, or its expression when it
 * has none. The IRI of a graph. SQLite does not tell the names of other constraints.
 *
 * Returns: (transfer none) (nullable): the name, %NULL when it is not known
 */
QUERY_AVAILABLE_IN_0_1
const char *query_constraint_get_name(const QueryConstraint *self);

G_END_DECLS

#ifndef __GI_SCANNER__
#pragma GCC visibility pop
#endif
