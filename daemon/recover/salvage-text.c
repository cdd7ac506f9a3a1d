/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Full-text indexes (FTS4, FTS5) of users.
 *
 * Such a table is a name over ordinary tables of its module: its texts, and their index. The rows of these have come through as
 * far as they could be read. The index is rebuilt from the texts. Where that fails, or leaves an index that is not whole, the
 * table is made again, too. If its own tables lack what the module wants, it could not even be dropped.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/recover/salvage-private.h"

/* A statement about @name, which stands in it as %w; whether it worked. */
static gboolean
try_statement(QdSalvage *self, const char *format, const char *name, GError **error)
{
    char *sql = sqlite3_mprintf(format, name, name, name);
    gboolean ok = sql != NULL && qd_connection_execute(self->connection, sql, error);

    sqlite3_free(sql);
    return ok;
}

static gboolean
is_whole(QdSalvage *self, const char *name)
{
    return try_statement(self, "INSERT INTO \"%w\"(\"%w\") VALUES('integrity-check'); SELECT 1 FROM \"%w\" LIMIT 1", name, NULL);
}

/* No view: an index over texts of others has one. */
static gboolean
is_table(QdSalvage *self, const char *name)
{
    return sqlite3_table_column_metadata(qd_connection_get_db(self->connection), NULL, name, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

/* Its texts, if it has any, stay under this name when they do not fit. */
#define SAVED "_content_salvaged"

static void
remake(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    static const char *const suffixes[] = { "data", "idx", "content", "docsize", "config", "segments", "segdir", "stat" };
    g_autofree char *content = g_strdup_printf("%s_content", entry->name);
    gboolean has_texts;

    if (!qd_salvage_is_one_create(self, entry->sql)) {
        qd_error_set(error, QW_ERROR_CORRUPT, "its text is not one plain CREATE statement");
        return;
    }
    has_texts = is_table(self, content) &&
                try_statement(self, "CREATE TABLE \"%w" SAVED "\" AS SELECT * FROM \"%w_content\"", entry->name, NULL);
    if (!try_statement(self,
                       "PRAGMA writable_schema=ON; DELETE FROM sqlite_schema WHERE type='table' AND name='%q';"
                       "PRAGMA writable_schema=RESET",
                       entry->name, error))
        return;
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strdup_printf("%s_%s", entry->name, suffixes[i]);

        if (is_table(self, name) && !try_statement(self, "DROP TABLE IF EXISTS \"%w\"", name, error))
            return;
    }
    if (!qd_connection_execute(self->connection, entry->sql, error))
        return;
    if (has_texts && try_statement(self, "INSERT OR IGNORE INTO \"%w_content\" SELECT * FROM \"%w" SAVED "\"", entry->name, error))
        (void) try_statement(self, "DROP TABLE \"%w" SAVED "\"", entry->name, error);
}

void
qd_salvage_mend_text(QdSalvage *self, const QdSalvageEntry *entry)
{
    static const char rebuild[] = "INSERT INTO \"%w\"(\"%w\") VALUES('rebuild')";
    g_autoptr(GError) first = NULL;
    g_autoptr(GError) second = NULL;
    gboolean rebuilt = try_statement(self, rebuild, entry->name, &first);

    if (is_whole(self, entry->name)) {
        if (!rebuilt)
            qd_salvage_report_note(self->report, "full-text index '%s' keeps what could be read of it, it cannot be rebuilt: %s",
                                   entry->name, first->message);
        return;
    }
    remake(self, entry, &second);
    if (second == NULL && try_statement(self, rebuild, entry->name, &second))
        qd_salvage_report_note(
            self->report, "full-text index '%s' was damaged; it is rebuilt from its texts, with default settings", entry->name);
    else
        qd_salvage_report_note(self->report, "full-text index '%s' was damaged; it is rebuilt and is empty: %s", entry->name,
                               second->message);
}
