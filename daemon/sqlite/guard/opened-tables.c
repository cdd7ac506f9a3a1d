/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OpenRead and ReopenIdx name the page where a tree begins. VOpen has an address alone, which says nothing of the virtual table.
 */
#include "daemon/sqlite/guard/opened-tables.h"

#include <string.h>

#include "daemon/sqlite/operation.h"

static const char *const hiding_words[] = { "FULL", "NATURAL", "USING" };

GHashTable *
qd_opened_tables_list_roots(sqlite3 *db)
{
    g_autoptr(GHashTable) roots = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage>0", -1, &stmt, NULL);

    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
            g_hash_table_insert(roots, GINT_TO_POINTER(sqlite3_column_int(stmt, 0)),
                                g_strdup((const char *) sqlite3_column_text(stmt, 1)));
    (void) sqlite3_finalize(stmt);
    return r == SQLITE_DONE ? g_steal_pointer(&roots) : NULL;
}

/* Whether the word stands anywhere: a name that is called so counts, too. */
static gboolean
has_word(const char *text, const char *word)
{
    gsize n = strlen(word);

    for (const char *p = text; *p != '\0'; p++)
        if (g_ascii_strncasecmp(p, word, n) == 0 && (p == text || !g_ascii_isalnum(p[-1])) && !g_ascii_isalnum(p[n]))
            return TRUE;
    return FALSE;
}

gboolean
qd_opened_tables_are_hidden(const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(hiding_words); i++)
        if (has_word(text, hiding_words[i]))
            return TRUE;
    return FALSE;
}

/* A view may have such a join of its own. */
static int
find_hiding_view(sqlite3 *db, gboolean *ret_found)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE type='view'", -1, &stmt, NULL);

    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
            const char *text = (const char *) sqlite3_column_text(stmt, 0);

            *ret_found = *ret_found || text == NULL || qd_opened_tables_are_hidden(text);
        }
    (void) sqlite3_finalize(stmt);
    return r == SQLITE_DONE ? SQLITE_OK : r;
}

static int
read_program(sqlite3_stmt *explain, GHashTable *roots, GPtrArray *tables, gboolean *ret_is_virtual)
{
    QdOperation op;
    int r;

    while ((r = qd_operation_next(&op, explain)) == SQLITE_ROW) {
        if (qd_operation_is(&op, "OpenRead") || qd_operation_is(&op, "ReopenIdx")) {
            const char *table = g_hash_table_lookup(roots, GINT_TO_POINTER(op.p2));

            g_ptr_array_add(tables, g_strdup(table != NULL ? table : QD_OPENED_ANY));
        }
        *ret_is_virtual = *ret_is_virtual || qd_operation_is(&op, "VOpen");
    }
    return r == SQLITE_DONE ? SQLITE_OK : r;
}

int
qd_opened_tables_add(sqlite3 *db, const char *text, GPtrArray *tables)
{
    g_autofree char *explain = g_strconcat("EXPLAIN ", text, NULL);
    g_autoptr(GHashTable) roots = qd_opened_tables_list_roots(db);
    gboolean is_virtual = FALSE;
    gboolean is_hidden = qd_opened_tables_are_hidden(text);
    sqlite3_stmt *stmt = NULL;
    int r = roots != NULL ? sqlite3_prepare_v2(db, explain, -1, &stmt, NULL) : SQLITE_ERROR;

    if (r == SQLITE_OK)
        r = read_program(stmt, roots, tables, &is_virtual);
    (void) sqlite3_finalize(stmt);
    if (r == SQLITE_OK && is_virtual && !is_hidden)
        r = find_hiding_view(db, &is_hidden);
    if (r == SQLITE_OK && is_virtual && is_hidden)
        g_ptr_array_add(tables, g_strdup(QD_OPENED_ANY));
    return r;
}
