/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A virtual table's arguments mean what its module says. Each word of them that could be the name of a table is taken for one.
 * The table need not exist yet: it may be made later.
 */
#include "daemon/notify/virtual-dependencies.h"

#include <string.h>

#include "daemon/sqlite/sqlite-error.h"

/* As SQLite writes it, not as the user did. */
#define IS_VIEW "CREATE VIEW"
#define IS_VIRTUAL "CREATE VIRTUAL TABLE"

static void
add_name(GPtrArray *tables, const char *name)
{
    for (guint i = 0; i < tables->len; i++)
        if (g_ascii_strcasecmp(tables->pdata[i], name) == 0)
            return;
    if (name[0] != '\0')
        g_ptr_array_add(tables, g_strdup(name));
}

static gboolean
is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* Takes the quoted name at *@at; a quote within is doubled. */
static char *
take_quoted(const char **at)
{
    char end = **at == '[' ? ']' : **at;
    GString *name = g_string_new(NULL);
    const char *p = *at + 1;

    for (; *p != '\0' && (*p != end || (p[1] == end && end != ']')); p++) {
        p += *p == end ? 1 : 0;
        g_string_append_c(name, *p);
    }
    *at = *p != '\0' ? p + 1 : p;
    return g_string_free(name, FALSE);
}

static const char *
skip_comment(const char *at)
{
    gboolean line = at[0] == '-';
    const char *end = strstr(at + 2, line ? "\n" : "*/");

    return end == NULL ? at + strlen(at) : end + (line ? 1 : 2);
}

static void
add_words(GPtrArray *tables, const char *sql)
{
    const char *at = sql;

    while (*at != '\0') {
        g_autofree char *name = NULL;
        const char *begin = at;

        if (g_str_has_prefix(at, "--") || g_str_has_prefix(at, "/*")) {
            at = skip_comment(at);
        } else if (strchr("'\"`[", *at) != NULL) {
            name = take_quoted(&at);
        } else {
            while (is_word(*at))
                at++;
            name = g_strndup(begin, (gsize) (at - begin));
            at += at == begin ? 1 : 0;
        }
        if (name != NULL)
            add_name(tables, name);
    }
}

/* @found is @name, or the virtual table that would keep data under this name; @sql made it. */
static void
add_reads_of(GPtrArray *tables, const char *name, const char *found, const char *sql, gboolean is_hidden)
{
    gboolean is_virtual = g_ascii_strncasecmp(sql, IS_VIRTUAL, strlen(IS_VIRTUAL)) == 0;

    if (g_ascii_strcasecmp(found, name) != 0 && is_virtual)
        add_name(tables, found);
    else if (is_virtual && strchr(sql, '(') != NULL)
        add_words(tables, strchr(sql, '('));
    else if (is_hidden && g_ascii_strncasecmp(sql, IS_VIEW, strlen(IS_VIEW)) == 0)
        add_words(tables, sql + strlen(IS_VIEW));
}

static gboolean
look_up(sqlite3_stmt *stmt, guint index, guint n_named, GPtrArray *tables)
{
    const char *name = tables->pdata[index];
    const char *last = strrchr(name, '_');
    int r;

    (void) sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    (void) sqlite3_bind_text(stmt, 2, name, last != NULL ? (int) (last - name) : 0, SQLITE_STATIC);
    for (r = sqlite3_step(stmt); r == SQLITE_ROW; r = sqlite3_step(stmt))
        add_reads_of(tables, name, (const char *) sqlite3_column_text(stmt, 0), (const char *) sqlite3_column_text(stmt, 1),
                     index >= n_named);
    return sqlite3_reset(stmt) == SQLITE_OK;
}

gboolean
qd_virtual_dependencies_add(QdConnection *connection, GPtrArray *tables, GError **error)
{
    static const char
        text[] = "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name COLLATE NOCASE IN (?, ?)";
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3 *db = qd_connection_get_db(connection);
    sqlite3_stmt *stmt = NULL;
    gboolean ok = sqlite3_prepare_v2(db, text, -1, &stmt, NULL) == SQLITE_OK;
    guint n_named = tables->len;

    for (guint i = 0; ok && i < tables->len; i++)
        ok = look_up(stmt, i, n_named, tables);
    if (!ok)
        qd_sqlite_set_error(error, db, sqlite3_errcode(db), NULL, 0, NULL);
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    return ok;
}
