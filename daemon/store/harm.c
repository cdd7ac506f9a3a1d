/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A page that is damaged may be a valid page with fewer rows, or with others. SQLite's check of its table shows that: rows and
 * indexes do not agree, or bytes are lost. A program that uses SQLite leaves a table without such findings.
 */
#include "daemon/store/harm.h"

#include "daemon/base/error.h"
#include "daemon/recover/integrity.h"
#include "daemon/sqlite/sqlite-error.h"

/* That qd_schema_check() reads rows of, small ones first. */
static const char *const tables[] = { "queryd_meta", "queryd_term_key", "queryd_predicate", "queryd_term_hash", "queryd_term" };

void
qd_harm_correct_unknown_format(GError **error)
{
    g_autofree char *message = NULL;

    if (qd_error_get_code(*error) != QW_ERROR_SYNTAX || strstr((*error)->message, "unsupported file format") == NULL)
        return;
    message = g_strdup((*error)->message);
    g_clear_error(error);
    qd_error_set(error, QW_ERROR_CORRUPT, "%s", message);
}

static void
note_damage(const char *message, gpointer data)
{
    char **damage = data;

    if (*damage == NULL && qd_integrity_is_damage(message))
        *damage = g_strdup(message);
}

/* (transfer full) (nullable): the first finding. */
static char *
find_damage(QdConnection *connection)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3 *db = qd_connection_get_db(connection);
    char *damage = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(tables) && damage == NULL; i++) {
        int r = qd_integrity_query(db, tables[i], FALSE, note_damage, &damage);

        if (damage == NULL && qd_sqlite_get_code(r) == QW_ERROR_CORRUPT)
            damage = g_strdup(tables[i]);
    }
    (void) qd_connection_set_policy(connection, policy);
    return damage;
}

gboolean
qd_harm_explain(QdConnection *connection, const char *directory, GError *failure, GError **error)
{
    g_autoptr(GError) first = NULL;
    g_autofree char *damage = NULL;

    qd_harm_correct_unknown_format(&failure);
    first = failure;
    if (qd_error_get_code(first) != QW_ERROR_SYNTAX && qd_error_get_code(first) != QW_ERROR_CONSTRAINT) {
        g_propagate_error(error, g_steal_pointer(&first));
        return FALSE;
    }
    damage = find_damage(connection);
    if (damage != NULL)
        qd_error_set(
            error, QW_ERROR_CORRUPT,
            "database disk image is malformed: %s (%s). To keep the rows that can be read: queryd --salvage --directory '%s'",
            first->message, damage, directory);
    else
        qd_error_set(
            error, QW_ERROR_CORRUPT,
            "another program has changed internal tables of queryd: %s. To put a backup in the place of this file: queryctl "
            "restore FILE. To repair it, which keeps the old file: queryd --salvage --directory '%s'",
            first->message, directory);
    return damage == NULL;
}
