/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text with a range: a common table expression with the table's own name, which SQLite flattens. It comes after the client's
 * text, whose parameters keep their numbers.
 */
#include "daemon/read/ranges/range-statement.h"

#include "daemon/base/interrupt.h"
#include "daemon/read/bind.h"
#include "daemon/read/packing.h"

/* Of the main database: a name for its page. */
static char *
find_table(sqlite3 *db, guint32 root)
{
    sqlite3_stmt *stmt = NULL;
    char *name = NULL;

    if (sqlite3_prepare_v2(db, "SELECT name FROM main.sqlite_schema WHERE rootpage = ? AND type = 'table'", -1, &stmt, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_int64(stmt, 1, root) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        name = g_strdup((const char *) sqlite3_column_text(stmt, 0));
    (void) sqlite3_finalize(stmt);
    return name;
}

/* Quoted names of the columns that SELECT * gives. NULL: a name of the rowid is that of a column. */
static char *
list_columns(sqlite3 *db, const char *table)
{
    g_autoptr(GString) columns = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;
    gboolean hides_rowid = FALSE;

    if (sqlite3_prepare_v2(db,
                           "SELECT format('\"%w\"', name), name = 'rowid' COLLATE NOCASE FROM pragma_table_xinfo(?, 'main') "
                           "WHERE hidden <> 1",
                           -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            if (columns->len > 0)
                g_string_append_c(columns, ',');
            g_string_append(columns, (const char *) sqlite3_column_text(stmt, 0));
            hides_rowid = hides_rowid || sqlite3_column_int(stmt, 1) != 0;
        }
    (void) sqlite3_finalize(stmt);
    return columns->len > 0 && !hides_rowid ? g_strdup(columns->str) : NULL;
}

/* The common table expression. */
static char *
write_range(QdConnection *connection, guint32 root, int first_parameter)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3 *db = qd_connection_get_db(connection);
    g_autofree char *table = find_table(db, root);
    g_autofree char *columns = table != NULL ? list_columns(db, table) : NULL;
    char *range;
    char *sql = NULL;

    if (columns != NULL)
        sql = sqlite3_mprintf(", \"%w\"(%s) AS (SELECT %s FROM main.\"%w\" WHERE rowid BETWEEN ?%d AND ?%d)", table, columns,
                              columns, table, first_parameter, first_parameter + 1);
    range = g_strdup(sql);

    sqlite3_free(sql);
    (void) qd_connection_set_policy(connection, policy);
    return range;
}

/* (nullable) */
static sqlite3_stmt *
explain(QdConnection *connection, const QdCompiled *compiled, const char *range, const QdLimits *limits, const QwPageReader *values)
{
    g_autofree char *text = qd_packing_write_text(compiled, range);
    g_autofree char *explained = g_strconcat("EXPLAIN ", text, NULL);
    sqlite3_stmt *stmt = qd_connection_prepare(connection, explained, compiled->policy, FALSE, limits);

    if (stmt == NULL || values == NULL || qd_bind_first(stmt, values, NULL))
        return stmt;
    (void) sqlite3_finalize(stmt);
    return NULL;
}

/* @ret_range: (transfer full) (nullable): the table expression */
static gboolean
prove(QdConnection *connection, const QdCompiled *compiled, const QdLimits *limits, const QwPageReader *values, QdRangeProof *proof,
      char **ret_range)
{
    int first_parameter = compiled->n_parameters + 1;
    sqlite3_stmt *plain = explain(connection, compiled, "", limits, values);
    sqlite3_stmt *ranged = NULL;
    gboolean holds;

    if (plain != NULL && qd_range_proof_init(proof, plain, QD_PACKING_FUNCTION))
        *ret_range = write_range(connection, proof->root, first_parameter);
    if (*ret_range != NULL)
        ranged = explain(connection, compiled, *ret_range, limits, values);
    holds = ranged != NULL && qd_range_proof_holds(proof, ranged, first_parameter);
    (void) sqlite3_finalize(plain);
    (void) sqlite3_finalize(ranged);
    return holds;
}

static sqlite3_stmt *
prepare(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits)
{
    g_auto(QdRangeProof) proof = { 0 };
    g_autofree char *range = NULL;
    g_autofree char *text = NULL;

    if (!prove(connection, compiled, limits, NULL, &proof, &range))
        return NULL;
    compiled->wrapped.ranged.root = proof.root;
    compiled->wrapped.ranged.schema_version = proof.schema_version;
    text = qd_packing_write_text(compiled, range);
    return qd_connection_prepare(connection, text, compiled->policy, FALSE, limits);
}

const QdRanged *
qd_range_statement_find(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits)
{
    QdRanged *self = &compiled->wrapped.ranged;
    QdGuard *guard = qd_connection_get_guard(connection);

    if (!self->is_tried && !compiled->is_generated && compiled->wrapped.stmt != NULL) {
        guard->packing = TRUE;
        self->stmt = prepare(connection, compiled, limits);
        guard->packing = FALSE;
        qd_guard_forget_denial(guard);
        if (self->stmt != NULL && sqlite3_bind_parameter_count(self->stmt) != compiled->n_parameters + QD_RANGE_N_PARAMETERS)
            (void) sqlite3_finalize(g_steal_pointer(&self->stmt));
    }
    self->is_tried = self->stmt != NULL || !qd_interrupt_poll(); /* EXPLAIN may have been interrupted */
    return self->stmt != NULL ? self : NULL;
}

gboolean
qd_range_statement_holds(QdConnection *connection, const QdCompiled *compiled, const QdLimits *limits, const QwPageReader *values)
{
    const QdRanged *self = &compiled->wrapped.ranged;
    g_auto(QdRangeProof) proof = { 0 };
    g_autofree char *range = NULL;

    return qd_packing_holds(connection, compiled, limits, values) && prove(connection, compiled, limits, values, &proof, &range) &&
           proof.root == self->root && proof.schema_version == self->schema_version;
}
