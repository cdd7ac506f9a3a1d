/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What virtual tables read, or keep, in other tables, of which the authorizer is not asked while a statement is compiled. These
 * are the content of a full-text table that has it elsewhere, the table of a vocabulary, and a virtual table's data tables.
 *
 * Place: room notify. Invariant: never too little; a column or an option that is called like a table counts
 * as that table.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/**
 * qd_virtual_dependencies_add:
 * @connection: within a transaction
 * @tables: of char *: names that a statement reads; those are added that the virtual tables among them read
 *
 * Returns: false on error; @tables may then have some of them
 */
gboolean qd_virtual_dependencies_add(QdConnection *connection, GPtrArray *tables, GError **error);
