/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms of ids that come from outside.
 */
#include "daemon/base/error.h"
#include "daemon/quads/dictionary.h"

/* Whether there is a row of @id, or a quad that has it; -1: reading failed. */
static int
count(const QdDictionary *self, const char *sql, gint64 id)
{
    sqlite3_stmt *stmt = NULL;
    int n = -1;

    if (sqlite3_prepare_v2(qd_dictionary_get_db(self), sql, -1, &stmt, NULL) == SQLITE_OK) {
        (void) sqlite3_bind_int64(stmt, 1, id);
        if (sqlite3_step(stmt) == SQLITE_ROW)
            n = sqlite3_column_int(stmt, 0);
    }
    (void) sqlite3_finalize(stmt);
    return n;
}

gboolean
qd_dictionary_get_given_term(QdDictionary *self, gint64 id, QdTerm *ret_term, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (qd_dictionary_get_term(self, id, ret_term, &failure))
        return TRUE;

    if (qd_error_get_code(failure) == QW_ERROR_CORRUPT && count(self, "SELECT count(*) FROM queryd_term WHERE id=?1", id) == 0 &&
        count(self,
              "SELECT EXISTS(SELECT 1 FROM queryd_quad WHERE s=?1) OR EXISTS(SELECT 1 FROM queryd_quad WHERE p=?1)"
              " OR EXISTS(SELECT 1 FROM queryd_quad WHERE o=?1) OR EXISTS(SELECT 1 FROM queryd_quad WHERE g=?1 AND g<>0)",
              id) == 0)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "no term has the id %" G_GINT64_FORMAT, id);
    else
        g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}
