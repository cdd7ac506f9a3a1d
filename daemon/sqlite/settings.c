/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two of them are options of the connection, which SQLite lets change within a transaction; the others are pragmas.
 */
#include "daemon/sqlite/settings.h"

#include "daemon/sqlite/connection.h"

#define N_SETTINGS (QD_SETTING_RECURSIVE_TRIGGERS + 1)

static void
set(QdConnection *connection, QdSetting which, gboolean on)
{
    sqlite3 *db = qd_connection_get_db(connection);

    switch (which) {
    case QD_SETTING_NONE:
        break;
    case QD_SETTING_FOREIGN_KEYS:
        (void) sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, on ? 1 : 0, NULL);
        break;
    case QD_SETTING_LEGACY_ALTER_TABLE:
        (void) sqlite3_db_config(db, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on ? 1 : 0, NULL);
        break;
    case QD_SETTING_DEFER_FOREIGN_KEYS:
        (void) qd_connection_execute(connection, on ? "PRAGMA defer_foreign_keys=1" : "PRAGMA defer_foreign_keys=0", NULL);
        break;
    case QD_SETTING_RECURSIVE_TRIGGERS:
        (void) qd_connection_execute(connection, on ? "PRAGMA recursive_triggers=1" : "PRAGMA recursive_triggers=0", NULL);
        break;
    }
}

void
qd_settings_remember(QdSessionSettings *session, QdSetting which, gboolean on)
{
    *session &= ~(1u << which);
    if (on != qd_setting_get_default(which))
        *session |= 1u << which;
}

void
qd_settings_note_end(QdSessionSettings *session)
{
    *session &= ~(1u << QD_SETTING_DEFER_FOREIGN_KEYS);
}

void
qd_settings_begin(QdConnection *connection, QdSessionSettings session)
{
    for (guint i = QD_SETTING_FOREIGN_KEYS; session != 0 && i < N_SETTINGS; i++)
        if ((session & (1u << i)) != 0)
            set(connection, (QdSetting) i, !qd_setting_get_default((QdSetting) i));
    qd_connection_get_settings(connection)->changed |= session;
}

void
qd_settings_apply(QdConnection *connection, QdSetting which, gboolean on)
{
    QdSettings *self = qd_connection_get_settings(connection);

    if (which == QD_SETTING_FOREIGN_KEYS && self->begun)
        return;
    set(connection, which, on);
    self->changed &= ~(1u << which);
    if (on != qd_setting_get_default(which))
        self->changed |= 1u << which;
}

void
qd_settings_note_begun(QdConnection *connection)
{
    qd_connection_get_settings(connection)->begun = TRUE;
}

void
qd_settings_reset(QdConnection *connection)
{
    QdSettings *self = qd_connection_get_settings(connection);

    for (guint i = QD_SETTING_FOREIGN_KEYS; self->changed != 0 && i < N_SETTINGS; i++)
        if ((self->changed & (1u << i)) != 0)
            set(connection, (QdSetting) i, qd_setting_get_default((QdSetting) i));
    *self = (QdSettings){ 0 };
}
