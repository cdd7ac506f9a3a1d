/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pragmas a statement may ask, and with which values: an allow list.
 */
#include <string.h>

#include "daemon/sqlite/guard/guard-private.h"

typedef enum Rule {
    TELLS,    /* its value, or a list */
    TELLS_OF, /* an object that is its argument */
    WRITES,   /* a number in the file's header, as a part of the transaction */
    SETS,     /* what holds until the end of a batch or transaction */
    STANDS,   /* it may ask for what is so anyway */
    TUNES,    /* it may ask for anything: how the daemon works is not for clients to say */
} Rule;

/* Without an argument each of them tells. */
static const struct Pragma {
    const char *name;
    Rule rule;
    const char *values; /* STANDS: between blanks */
    const char *hint;   /* (nullable): what to do instead */
    QdSetting setting;
} pragmas[] = {
    { "application_id", WRITES, NULL, NULL, QD_SETTING_NONE },
    { "auto_vacuum", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "busy_timeout", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "cache_size", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "cache_spill", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "collation_list", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "compile_options", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "data_version", TELLS, NULL, NULL, QD_SETTING_NONE }, /* FTS5 asks for it */
    { "database_list", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "defer_foreign_keys", SETS, NULL, NULL, QD_SETTING_DEFER_FOREIGN_KEYS },
    { "encoding", STANDS, " utf-8 utf8 ", "a store keeps the encoding that it was made with", QD_SETTING_NONE },
    { "foreign_key_check", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "foreign_key_list", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "foreign_keys", SETS, NULL, NULL, QD_SETTING_FOREIGN_KEYS },
    { "freelist_count", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "function_list", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "index_info", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "index_list", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "index_xinfo", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "integrity_check", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "journal_mode", STANDS, " wal ", "a store is kept in the journal mode WAL", QD_SETTING_NONE },
    { "journal_size_limit", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "legacy_alter_table", SETS, NULL, NULL, QD_SETTING_LEGACY_ALTER_TABLE },
    { "module_list", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "page_count", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "page_size", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "pragma_list", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "quick_check", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "recursive_triggers", SETS, NULL, NULL, QD_SETTING_RECURSIVE_TRIGGERS },
    { "schema_version", TELLS, NULL, NULL, QD_SETTING_NONE },
    { "synchronous", STANDS, " 1 2 3 normal full extra ", "every commit is durable, unless the option 'durability' is 'relaxed'",
      QD_SETTING_NONE },
    { "table_info", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "table_list", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "table_xinfo", TELLS_OF, NULL, NULL, QD_SETTING_NONE },
    { "temp_store", TUNES, NULL, NULL, QD_SETTING_NONE },
    { "user_version", WRITES, NULL, NULL, QD_SETTING_NONE },
    { "wal_autocheckpoint", TUNES, NULL, NULL, QD_SETTING_NONE },
};

/* What is asked for often. */
static const struct {
    const char *name;
    const char *hint;
} refused_pragmas[] = {
    { "optimize", "say ANALYZE, or 'queryctl optimize'" },
    { "query_only", "a statement is opened for reading or for writing" },
    { "wal_checkpoint", "the daemon writes the log back by itself, 'queryctl optimize' does it now" },
    { "writable_schema", "the schema is changed by CREATE, ALTER and DROP; a file that sqlite3 has made of its own dump is taken "
                         "by 'queryctl store import'" },
};

/* As SQLite reads it: a number is one of 31 bits, of which it keeps the lowest eight. */
static gboolean
is_true(const char *argument)
{
    gboolean is_hexadecimal = argument[0] == '0' && g_ascii_tolower(argument[1]) == 'x';

    if (g_ascii_isdigit(argument[0])) {
        guint64 number = g_ascii_strtoull(argument, NULL, is_hexadecimal ? 16 : 10);

        return number <= G_MAXINT32 && (number & 0xff) != 0;
    }
    return g_ascii_strcasecmp(argument, "on") == 0 || g_ascii_strcasecmp(argument, "yes") == 0 ||
           g_ascii_strcasecmp(argument, "true") == 0;
}

static int
deny_pragma(QdGuard *self, const char *name)
{
    const char *hint = "docs/transactions.md lists the pragmas";

    for (gsize i = 0; i < G_N_ELEMENTS(refused_pragmas); i++)
        if (g_ascii_strcasecmp(refused_pragmas[i].name, name) == 0)
            hint = refused_pragmas[i].hint;
    return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "PRAGMA %s is not allowed: %s", name, hint);
}

/* PRAGMA foreign_keys=OFF and its like: SQLite compiles nothing, the code that runs the statement applies it (settings.h). */
static int
check_setting(QdGuard *self, const struct Pragma *pragma, const char *argument)
{
    gboolean on = is_true(argument);

    self->tells = TRUE;
    self->setting = pragma->setting;
    self->setting_on = on;
    if (self->policy == QD_POLICY_WRITE) {
        self->writes = TRUE;
    } else if (qd_setting_get_default(pragma->setting) != on) {
        return qd_guard_deny(self, QW_ERROR_READ_ONLY,
                             "PRAGMA %s=%s" QD_GUARD_FOR_READING "; it holds for a batch, a transaction or a channel", pragma->name,
                             argument);
    }
    self->asks = TRUE;
    return SQLITE_IGNORE;
}

static int
check_standing(QdGuard *self, const struct Pragma *pragma, const char *argument)
{
    g_autofree char *word = g_ascii_strdown(argument, -1);
    g_autofree char *among = g_strdup_printf(" %s ", word);

    if (strstr(pragma->values, among) == NULL)
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "PRAGMA %s=%s is not allowed: %s", pragma->name, argument, pragma->hint);

    self->tells = self->asks = TRUE;
    return g_str_equal(pragma->name, "journal_mode") ? SQLITE_OK : SQLITE_IGNORE; /* it gives a row */
}

static int
check_pragma_argument(QdGuard *self, const struct Pragma *pragma, const char *argument, const char *database)
{
    switch (pragma->rule) {
    case TELLS:
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "PRAGMA %s with a value is not allowed: it only tells", pragma->name);
    case TELLS_OF:
        self->tells = TRUE;
        return SQLITE_OK;
    case WRITES:
        if (g_strcmp0(database, "temp") == 0)
            return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, QD_GUARD_NO_TEMPORARY);
        if (self->policy == QD_POLICY_READ)
            return qd_guard_deny(self, QW_ERROR_READ_ONLY, "PRAGMA %s with a value" QD_GUARD_FOR_READING, pragma->name);
        self->writes = self->effects.changes_schema = TRUE;
        return SQLITE_OK;
    case SETS:
        return check_setting(self, pragma, argument);
    case STANDS:
        return check_standing(self, pragma, argument);
    case TUNES:
        self->tells = self->asks = TRUE;
        return SQLITE_IGNORE;
    }
    g_assert_not_reached();
}

int
qd_guard_check_pragma(QdGuard *self, const char *name, const char *argument, const char *database)
{
    /* else a virtual table asks, which is connected by the statement */
    self->effects.is_volatile = self->effects.is_volatile || self->n_calls == 1;
    for (gsize i = 0; i < G_N_ELEMENTS(pragmas); i++) {
        if (g_ascii_strcasecmp(pragmas[i].name, name) != 0)
            continue;
        if (argument != NULL)
            return check_pragma_argument(self, &pragmas[i], argument, database);
        self->tells = TRUE;
        return SQLITE_OK;
    }
    return deny_pragma(self, name);
}
