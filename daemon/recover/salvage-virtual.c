/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Virtual tables of users. Such a table is a name over ordinary tables of its module, whose rows have come through apart from each
 * other. The module decides how they are made to fit again.
 */
#include "daemon/recover/salvage-private.h"

typedef struct Definition {
    const QdSalvageEntry *entry;
    char *module; /* (owned) (nullable) */
} Definition;

static int
note_module(void *data, int action, const char *name, const char *module, const char *schema, const char *trigger)
{
    Definition *self = data;

    if (action == SQLITE_CREATE_VTABLE && self->module == NULL && g_strcmp0(name, self->entry->name) == 0)
        self->module = g_ascii_strdown(module, -1);
    return SQLITE_OK;
}

/* (transfer full) (nullable): in small letters, as SQLite reads the definition, which is not executed */
static char *
get_module(const QdSalvageEntry *entry)
{
    Definition definition = { .entry = entry };
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;

    if (sqlite3_open(":memory:", &db) == SQLITE_OK) {
        (void) sqlite3_set_authorizer(db, note_module, &definition);
        (void) sqlite3_prepare_v2(db, entry->sql, -1, &stmt, NULL);
        (void) sqlite3_finalize(stmt);
    }
    (void) sqlite3_close(db);
    return definition.module;
}

static gboolean
mend(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    static const char *const texts[] = { "fts3", "fts4", "fts5", NULL };
    g_autofree char *module = get_module(entry);

    if (module == NULL)
        return TRUE;
    if (g_strv_contains(texts, module))
        qd_salvage_mend_text(self, entry);
    else if (g_str_equal(module, "rtree") || g_str_equal(module, "rtree_i32"))
        return qd_salvage_mend_rtree(self, entry, g_str_equal(module, "rtree_i32"), error);
    return TRUE;
}

gboolean
qd_salvage_mend_virtual_tables(QdSalvage *self, GError **error)
{
    for (guint i = 0; i < self->entries->len; i++) {
        const QdSalvageEntry *entry = self->entries->pdata[i];

        if (qd_salvage_is_cancelled(self, error) || (qd_salvage_is_virtual(entry) && !mend(self, entry, error)))
            return FALSE;
    }
    return TRUE;
}
