/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a batch, a transaction or a session has set by pragmas: it holds for that one only. A session is a channel that takes
 * BEGIN by text. What it has set outside of a transaction holds for its updates and transactions until it ends.
 *
 * Place: room sqlite. They belong to a connection, which all clients share; the guard keeps SQLite from running these pragmas
 * itself. Invariant: between two updates, transactions or runs all is as connection.c has opened it.
 */
#pragma once

#include <glib.h>

typedef struct QdConnection QdConnection;

typedef enum QdSetting {
    QD_SETTING_NONE,
    QD_SETTING_FOREIGN_KEYS,
    QD_SETTING_LEGACY_ALTER_TABLE,
    QD_SETTING_DEFER_FOREIGN_KEYS,
    QD_SETTING_RECURSIVE_TRIGGERS,
} QdSetting;

/* Of a session: a bit for each setting that is not the default. */
typedef guint QdSessionSettings;

typedef struct QdSettings {
    guint changed;  /* a bit for each setting that is not as it is between transactions */
    gboolean begun; /* a statement has been executed: foreign_keys cannot be set any more, as within a transaction of SQLite */
} QdSettings;

/* How it is between transactions. */
static inline gboolean
qd_setting_get_default(QdSetting which)
{
    return which == QD_SETTING_FOREIGN_KEYS;
}

/* The session's pragma, outside of a transaction. */
void qd_settings_remember(QdSessionSettings *session, QdSetting which, gboolean on);
/* After an update or a transaction: defer_foreign_keys ends with it, as in SQLite. */
void qd_settings_note_end(QdSessionSettings *session);
/* An update, a transaction or a run of @session begins. qd_settings_reset() ends it. */
void qd_settings_begin(QdConnection *connection, QdSessionSettings session);
/* The client's pragma, in its batch or transaction. */
void qd_settings_apply(QdConnection *connection, QdSetting which, gboolean on);
/* A statement is executed: from now on it is as within a transaction of SQLite. */
void qd_settings_note_begun(QdConnection *connection);
/* The batch, transaction or run is over. */
void qd_settings_reset(QdConnection *connection);
