/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a batch or a transaction has set by pragmas: it holds until its end, and never for anybody else.
 *
 * Place: room sqlite. They belong to the writer's connection, which all clients share; the guard keeps SQLite from running these
 * pragmas itself. Invariant: between two transactions all is as connection.c has opened it.
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

typedef struct QdSettings {
    guint changed;  /* a bit for each setting that is not as it is between transactions */
    gboolean begun; /* a statement has been executed: foreign_keys cannot be set any more, as within a transaction of SQLite */
} QdSettings;

/* Whether it is so between transactions. */
gboolean qd_setting_is_so(QdSetting which, gboolean on);
/* The client's pragma, in its batch or transaction. */
void qd_settings_apply(QdConnection *connection, QdSetting which, gboolean on);
/* A statement is executed: from now on it is as within a transaction of SQLite. */
void qd_settings_note_begun(QdConnection *connection);
/* The batch or transaction is over. */
void qd_settings_reset(QdConnection *connection);
