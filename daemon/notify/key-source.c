/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statement is compiled, and its program read by EXPLAIN.
 */
#include "daemon/notify/key-source.h"

/* What looks at one row, or moves one cursor. Copy is not among them: DISTINCT over an index compares a row with the last one. */
static const char *const plain_opcodes[] = {
    "Add",        "Affinity", "And",      "BitAnd",     "BitNot",      "BitOr",    "Blob",         "Cast",      "CollSeq",
    "Column",     "Compare",  "Concat",   "CursorHint", "Divide",      "ElseEq",   "Eq",           "Explain",   "Function",
    "Ge",         "Goto",     "Gt",       "Halt",       "IdxGE",       "IdxGT",    "IdxLE",        "IdxLT",     "IdxRowid",
    "If",         "IfNot",    "Init",     "Int64",      "Integer",     "IsNull",   "IsTrue",       "Jump",      "Last",
    "Le",         "Lt",       "Multiply", "MustBeInt",  "Ne",          "Next",     "Noop",         "Not",       "NotExists",
    "NotNull",    "Null",     "Or",       "Prev",       "PureFunc",    "Real",     "RealAffinity", "Remainder", "ResultRow",
    "Rewind",     "Rowid",    "SCopy",    "SeekGE",     "SeekGT",      "SeekLE",   "SeekLT",       "SeekRowid", "ShiftLeft",
    "ShiftRight", "String",   "String8",  "Subtract",   "Transaction", "Variable", "ZeroOrNull",
};

/* Cursors of the program: at most one on the table and one on an index of it. */
typedef struct Program {
    gint64 table_root;
    int n_tables, n_indexes;
    int table_cursor, index_cursor;
    gboolean is_linked; /* the table is looked at where the index says */
} Program;

QdKeySource *
qd_key_source_free(QdKeySource *self)
{
    if (self == NULL)
        return NULL;

    g_free(self->table);
    g_strfreev(self->columns);
    g_free(self);
    return NULL;
}

static gboolean
is_plain(const char *opcode)
{
    for (guint i = 0; i < G_N_ELEMENTS(plain_opcodes); i++)
        if (g_str_equal(plain_opcodes[i], opcode))
            return TRUE;
    return FALSE;
}

/* Columns of EXPLAIN: addr, opcode, p1, p2, p3. */
static gboolean
read_instruction(Program *self, sqlite3_stmt *explain)
{
    const char *opcode = (const char *) sqlite3_column_text(explain, 1);
    int p1 = sqlite3_column_int(explain, 2);
    int p2 = sqlite3_column_int(explain, 3);
    int p3 = sqlite3_column_int(explain, 4);

    if (g_str_equal(opcode, "OpenRead")) {
        if (p2 == self->table_root) {
            self->n_tables++;
            self->table_cursor = p1;
        } else {
            self->n_indexes++;
            self->index_cursor = p1;
        }
        return p3 == 0;
    }
    if (g_str_equal(opcode, "DeferredSeek")) {
        self->is_linked = p1 == self->index_cursor && p3 == self->table_cursor;
        return self->is_linked;
    }
    return is_plain(opcode);
}

static gboolean
is_of_one_row(QdConnection *connection, const char *text, gint64 table_root, const QdLimits *limits)
{
    g_autofree char *sql = g_strconcat("EXPLAIN ", text, NULL);
    Program program = { .table_root = table_root, .table_cursor = -1, .index_cursor = -1 };
    sqlite3_stmt *explain = qd_connection_prepare(connection, sql, QD_POLICY_READ, FALSE, limits);
    gboolean ok = explain != NULL;
    int r = SQLITE_DONE;

    while (ok && (r = sqlite3_step(explain)) == SQLITE_ROW)
        ok = read_instruction(&program, explain);
    (void) sqlite3_finalize(explain);
    return ok && r == SQLITE_DONE && program.n_tables <= 1 && program.n_indexes <= 1 && program.n_tables + program.n_indexes > 0 &&
           (program.n_tables + program.n_indexes == 1 || program.is_linked);
}

/* The column of @stmt's result that is @column of @table; -1: none */
static int
find_column(sqlite3_stmt *stmt, const char *table, const char *column)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++)
        if (g_strcmp0(sqlite3_column_table_name(stmt, i), table) == 0 &&
            g_ascii_strcasecmp(sqlite3_column_origin_name(stmt, i), column) == 0)
            return i;
    return -1;
}

/* (transfer full) (nullable): the columns of @stmt's result with the key of @table, which is the primary key or else the rowid. */
static char **
find_key(QdConnection *connection, sqlite3_stmt *stmt, const char *table)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    sqlite3_stmt *keys = NULL;
    gboolean ok = TRUE;
    guint n = 0;

    if (sqlite3_prepare_v2(qd_connection_get_db(connection), "SELECT name FROM temp.pragma_table_info(?1) WHERE pk > 0 ORDER BY pk",
                           -1, &keys, NULL) != SQLITE_OK)
        return NULL;
    (void) sqlite3_bind_text(keys, 1, table, -1, SQLITE_STATIC);
    while (sqlite3_step(keys) == SQLITE_ROW || n == 0) {
        const char *name = sqlite3_data_count(keys) > 0 ? (const char *) sqlite3_column_text(keys, 0) : "rowid";
        int column = find_column(stmt, table, name);

        n++;
        ok = ok && column >= 0;
        if (column >= 0)
            g_ptr_array_add(names, g_strdup(sqlite3_column_name(stmt, column)));
        if (sqlite3_data_count(keys) == 0)
            break;
    }
    (void) sqlite3_finalize(keys);
    if (!ok)
        return NULL;
    g_ptr_array_add(names, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

/* (transfer full) (nullable): the first column of a table decides which table it could be. */
static char *
find_table(QdConnection *connection, sqlite3_stmt *stmt, gint64 *ret_root)
{
    const char *table = NULL;
    sqlite3_stmt *root = NULL;

    for (int i = 0; table == NULL && i < sqlite3_column_count(stmt); i++)
        table = sqlite3_column_table_name(stmt, i);
    if (table == NULL ||
        sqlite3_prepare_v2(qd_connection_get_db(connection),
                           "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1", -1, &root, NULL) != SQLITE_OK)
        return NULL;
    (void) sqlite3_bind_text(root, 1, table, -1, SQLITE_STATIC);
    *ret_root = sqlite3_step(root) == SQLITE_ROW ? sqlite3_column_int64(root, 0) : 0;
    (void) sqlite3_finalize(root);
    return *ret_root > 0 ? g_strdup(table) : NULL;
}

QdKeySource *
qd_key_source_find(QdConnection *connection, const char *text, const QdLimits *limits)
{
    sqlite3_stmt *stmt = qd_connection_prepare(connection, text, QD_POLICY_READ, FALSE, limits);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    gint64 root = 0;
    g_autofree char *table = stmt != NULL ? find_table(connection, stmt, &root) : NULL;
    g_auto(GStrv) columns = table != NULL ? find_key(connection, stmt, table) : NULL;
    QdKeySource *self;

    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    if (columns == NULL || !is_of_one_row(connection, text, root, limits))
        return NULL;

    self = g_new0(QdKeySource, 1);
    self->table = g_steal_pointer(&table);
    self->columns = g_steal_pointer(&columns);
    return self;
}
