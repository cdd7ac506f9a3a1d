/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's texts for its constraints, made from the schema and compared.
 */
#include "daemon/sqlite/constraint.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/sqlite-error.h"

/* More ways to read a text of SQLite's are not looked at. */
#define MAX_TRIES 4096

/* What is known of the broken constraint. Columns of two candidates that differ are none. */
typedef struct Found {
    char *table; /* (owned) (nullable) */
    char *name;  /* (owned) (nullable) */
    GPtrArray *columns;
    guint n_tables; /* candidates so far */
    guint n_names;
} Found;

static void
found_clear(Found *self)
{
    g_free(self->table);
    g_free(self->name);
    g_ptr_array_unref(self->columns);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Found, found_clear)

/* The schema --------------------------------------------------------------------------------------------------------------- */

static sqlite3_stmt *
prepare(sqlite3 *db, const char *sql, const char *name)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return NULL;
    if (name != NULL)
        (void) sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    return stmt;
}

/* (transfer full): the first column of the rows that @sql gives for @name; NULLs, which are expressions, are left out. */
static GPtrArray *
read_names(sqlite3 *db, const char *sql, const char *name)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    sqlite3_stmt *stmt = prepare(db, sql, name);

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW)
        if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
            g_ptr_array_add(names, g_strdup((const char *) sqlite3_column_text(stmt, 0)));
    (void) sqlite3_finalize(stmt);
    return names;
}

/* (transfer full): "table.a, table.b", as SQLite words it. */
static char *
join_names(const char *table, const GPtrArray *columns)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < columns->len; i++)
        g_string_append_printf(text, "%s%s.%s", i > 0 ? ", " : "", table, (const char *) columns->pdata[i]);
    return g_string_free(text, FALSE);
}

/* Candidates --------------------------------------------------------------------------------------------------------------- */

/* @name: (nullable). @columns: (transfer full) */
static void
add_candidate(Found *self, const char *table, const char *name, GPtrArray *columns)
{
    if (g_strcmp0(self->table, table) != 0) {
        self->n_tables++;
        g_free(self->table);
        self->table = g_strdup(table);
    }
    self->n_names++;
    g_free(self->name);
    self->name = g_strdup(name);
    g_ptr_array_unref(self->columns);
    self->columns = columns;
}

static void
add_columns(Found *self, const char *table, const char *name, GPtrArray *columns, const char *text)
{
    g_autofree char *own = join_names(table, columns);

    if (columns->len > 0 && g_str_equal(own, text))
        add_candidate(self, table, name, g_ptr_array_ref(columns));
}

static void
find_key(Found *self, sqlite3 *db, const char *table, const char *text)
{
    g_autoptr(GPtrArray) columns = read_names(db, "SELECT name FROM temp.pragma_table_xinfo(?1) WHERE pk > 0 ORDER BY pk", table);

    add_columns(self, table, NULL, columns, text);
}

static void
find_rowid(Found *self, const char *table, const char *text)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(columns, g_strdup("rowid"));
    add_columns(self, table, NULL, columns, text);
}

/* SQLite names an index of expressions, in quotes. */
static void
find_index(Found *self, sqlite3 *db, const char *table, const char *text)
{
    sqlite3_stmt *stmt = prepare(db, "SELECT name, origin FROM temp.pragma_index_list(?1) WHERE \"unique\" AND origin <> 'pk'",
                                 table);

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        g_autofree char *name = g_strdup((const char *) sqlite3_column_text(stmt, 0));
        gboolean is_named = g_strcmp0((const char *) sqlite3_column_text(stmt, 1), "c") == 0; /* SQLite names that of a UNIQUE */
        char *quoted = sqlite3_mprintf("index '%q'", name);
        g_autoptr(GPtrArray) columns = read_names(db, "SELECT name FROM temp.pragma_index_info(?1) ORDER BY seqno", name);

        if (g_strcmp0(quoted, text) == 0)
            add_candidate(self, table, name, g_ptr_array_ref(columns));
        else
            add_columns(self, table, is_named ? name : NULL, columns, text);
        sqlite3_free(quoted);
    }
    (void) sqlite3_finalize(stmt);
}

/* What follows the words that SQLite begins such an error with; all of it when it does not. */
static const char *
skip_words(const char *message, const char *words)
{
    return g_str_has_prefix(message, words) ? message + strlen(words) : message;
}

/* Of these errors SQLite tells no table: it is known when there is one only. */
static void
find_only_table(Found *self, char *const *tables, const char *name)
{
    if (tables[0] != NULL && tables[1] == NULL)
        add_candidate(self, tables[0], NULL, g_ptr_array_new_with_free_func(g_free));
    self->n_names = name != NULL ? 1 : 0;
    g_free(self->name);
    self->name = g_strdup(name);
}

/* How a text is read as "table.a, table.b": names may have commas and dots. */
typedef struct Reading {
    const char *table;
    const GPtrArray *columns; /* of the table */
    GPtrArray *chosen;        /* so far */
    GPtrArray *found;         /* (element-type utf8): of the last way */
    guint n_ways;
    guint n_tries;
} Reading;

/* Up to two ways, since only one way is a result. */
static void
read_columns(Reading *self, const char *text)
{
    const char *start = skip_words(text, self->table);

    if (start == text || *start != '.' || ++self->n_tries > MAX_TRIES)
        return;
    for (guint i = 0; i < self->columns->len && self->n_ways < 2; i++) {
        const char *rest = skip_words(start + 1, self->columns->pdata[i]);

        if (rest == start + 1 || (*rest != '\0' && !g_str_has_prefix(rest, ", ")))
            continue;
        g_ptr_array_add(self->chosen, self->columns->pdata[i]);
        if (*rest != '\0') {
            read_columns(self, rest + strlen(", "));
        } else {
            self->n_ways++;
            g_ptr_array_set_size(self->found, 0);
            for (guint k = 0; k < self->chosen->len; k++)
                g_ptr_array_add(self->found, g_strdup(self->chosen->pdata[k]));
        }
        g_ptr_array_set_size(self->chosen, (gint) self->chosen->len - 1);
    }
}

/* CREATE UNIQUE INDEX over equal rows: no such index is in the schema. One of expressions is named, in quotes. */
static void
find_new_index(Found *self, sqlite3 *db, char *const *tables, const char *text)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    gsize n = strlen(text);

    if (g_str_has_prefix(text, "index '") && n > strlen("index ''") && text[n - 1] == '\'') {
        g_autoptr(GString) name = g_string_new_len(text + strlen("index '"), (gssize) (n - strlen("index ''")));

        (void) g_string_replace(name, "''", "'", 0);
        find_only_table(self, tables, name->str);
        return;
    }
    for (; *tables != NULL; tables++) {
        g_autoptr(GPtrArray) columns = read_names(db, "SELECT name FROM temp.pragma_table_xinfo(?1)", *tables);
        Reading reading = { .table = *tables, .columns = columns, .chosen = chosen, .found = found };

        read_columns(&reading, text);
        if (reading.n_ways == 1 && reading.n_tries <= MAX_TRIES)
            add_candidate(self, *tables, NULL, g_ptr_array_ref(found));
    }
}

/* @text ends with "table.column", and that is all of it when @whole. */
static void
find_column(Found *self, sqlite3 *db, const char *table, const char *text, gboolean whole)
{
    g_autoptr(GPtrArray) columns = read_names(db, "SELECT name FROM temp.pragma_table_xinfo(?1)", table);

    for (guint i = 0; i < columns->len; i++) {
        g_autofree char *own = g_strdup_printf("%s%s.%s", whole ? "" : " column ", table, (const char *) columns->pdata[i]);
        g_autoptr(GPtrArray) one = g_ptr_array_new_with_free_func(g_free);

        if (!(whole ? g_str_equal(text, own) : g_str_has_suffix(text, own)))
            continue;
        g_ptr_array_add(one, g_strdup(columns->pdata[i]));
        add_candidate(self, table, NULL, g_steal_pointer(&one));
    }
}

/* It is known when one of the written tables only is virtual. */
static void
find_virtual_table(Found *self, sqlite3 *db, char *const *tables)
{
    for (; *tables != NULL; tables++) {
        g_autoptr(GPtrArray) names = read_names(db, "SELECT name FROM temp.pragma_table_list(?1) WHERE type = 'virtual'", *tables);

        if (names->len > 0)
            add_candidate(self, *tables, NULL, g_ptr_array_new_with_free_func(g_free));
    }
}

static gboolean
has_name(char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (g_ascii_strcasecmp(*names, name) == 0)
            return TRUE;
    return FALSE;
}

/* The keys of the written tables, and those that refer to them. */
static void
find_foreign_keys(Found *self, sqlite3 *db, char *const *tables)
{
    sqlite3_stmt *stmt = prepare(db,
                                 "SELECT m.name, f.\"table\", f.\"from\", f.seq FROM sqlite_schema AS m,"
                                 " temp.pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' ORDER BY m.rowid, f.id, f.seq",
                                 NULL);
    gboolean is_candidate = FALSE;

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *child = (const char *) sqlite3_column_text(stmt, 0);
        const char *parent = (const char *) sqlite3_column_text(stmt, 1);
        const char *column = (const char *) sqlite3_column_text(stmt, 2);

        if (sqlite3_column_int(stmt, 3) == 0) {
            is_candidate = has_name(tables, child) || has_name(tables, parent);
            if (is_candidate)
                add_candidate(self, child, NULL, g_ptr_array_new_with_free_func(g_free));
        }
        if (is_candidate)
            g_ptr_array_add(self->columns, g_strdup(column));
    }
    (void) sqlite3_finalize(stmt);
}

/* Details ------------------------------------------------------------------------------------------------------------------ */

static void
tell(const Found *self, GError *error)
{
    if (self->name != NULL && self->n_names == 1)
        qd_error_add_detail(error, QD_CONSTRAINT_NAME, self->name);
    if (self->n_tables != 1)
        return;
    qd_error_add_detail(error, QD_CONSTRAINT_TABLE, self->table);
    for (guint i = 0; i < self->columns->len; i++)
        qd_error_add_detail(error, QD_CONSTRAINT_COLUMN, self->columns->pdata[i]);
}

static void
find(Found *self, sqlite3 *db, int result, const char *message, char *const *tables)
{
    const char *unique = skip_words(message, "UNIQUE constraint failed: ");

    switch (result) {
    case SQLITE_CONSTRAINT_CHECK:
        find_only_table(self, tables, skip_words(message, "CHECK constraint failed: "));
        return;
    case SQLITE_MISMATCH:
        find_only_table(self, tables, NULL);
        return;
    case SQLITE_CONSTRAINT_VTAB:
        find_virtual_table(self, db, tables);
        return;
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        find_foreign_keys(self, db, tables);
        return;
    default: /* SQLite's numbers, not our enum */
        break;
    }
    for (char *const *table = tables; *table != NULL; table++) {
        if (result == SQLITE_CONSTRAINT_UNIQUE)
            find_index(self, db, *table, unique);
        else if (result == SQLITE_CONSTRAINT_PRIMARYKEY)
            find_key(self, db, *table, unique);
        else if (result == SQLITE_CONSTRAINT_ROWID)
            find_rowid(self, *table, unique);
        else if (result == SQLITE_CONSTRAINT_NOTNULL)
            find_column(self, db, *table, skip_words(message, "NOT NULL constraint failed: "), TRUE);
        else if (result == SQLITE_CONSTRAINT_DATATYPE)
            find_column(self, db, *table, message, FALSE);
    }
    if (result == SQLITE_CONSTRAINT_UNIQUE && self->n_names == 0)
        find_new_index(self, db, tables, unique);
}

static void
describe(QdConnection *connection, int result, char *const *tables, GError *error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    gboolean is_nameless = sqlite3_extended_errcode(db) == SQLITE_ERROR; /* of ALTER TABLE, whose words name nothing */
    g_autofree char *message = g_strdup(sqlite3_errmsg(db));
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    g_auto(Found) found = { .columns = g_ptr_array_new_with_free_func(g_free) };

    if (is_nameless)
        find_only_table(&found, tables, NULL);
    else
        find(&found, db, result, message, tables);
    (void) qd_connection_set_policy(connection, policy);
    if (found.n_names > 1 && result == SQLITE_CONSTRAINT_FOREIGNKEY) /* of one table, perhaps; which key is not known */
        g_ptr_array_set_size(found.columns, 0);
    tell(&found, error);
}

void
qd_constraint_describe(QdConnection *connection, char *const *tables, GError *error)
{
    static const char *const key[] = { QD_CONSTRAINT_KIND, "foreign-key" };
    char **details = qd_error_get_details(error);
    int result = qd_sqlite_get_constraint(qd_connection_get_db(connection));

    if (details != NULL && g_str_equal(details[0], key[0]) && g_str_equal(details[1], key[1]))
        describe(connection, SQLITE_CONSTRAINT_FOREIGNKEY, tables, error); /* RESTRICT has another code */
    else if (qd_sqlite_get_constraint_kind(result) != NULL)
        describe(connection, result, tables, error);
}

void
qd_constraint_describe_key(QdConnection *connection, char *const *tables, GError *error)
{
    qd_error_add_detail(error, QD_CONSTRAINT_KIND, qd_sqlite_get_constraint_kind(SQLITE_CONSTRAINT_FOREIGNKEY));
    describe(connection, SQLITE_CONSTRAINT_FOREIGNKEY, tables, error);
}
