/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The health of the store's file: checks in idle time and on suspicion, what they found, and what follows from it.
 *
 * Place: room engine, the engine's. A file that is found damaged is not mended under its readers: the daemon ends in order (the
 * engine's `damaged` hook). The next call starts it again, and it salvages the file.
 */
#pragma once

#include <glib.h>

typedef struct QdEngine QdEngine;
typedef struct QdHealth QdHealth;
typedef struct QdDatabaseRepair QdDatabaseRepair;
typedef struct QdMaintenance QdMaintenance;

QdMaintenance *qd_maintenance_new(QdEngine *engine);
/* No check may be running: qd_maintenance_stop(), then wait for the engine's calls. */
QdMaintenance *qd_maintenance_free(QdMaintenance *self);

/* Main thread, as all but what is said to be for any. */

/* Before the database is opened. Returns: whether it is known to be damaged */
gboolean qd_maintenance_begin(QdMaintenance *self);
/* It is open for writing. @repair: the work that it needed. @is_new: the store was made just now */
void qd_maintenance_note_open(QdMaintenance *self, const QdDatabaseRepair *repair, gboolean is_new);
/* It is closed in order. */
void qd_maintenance_note_closed(QdMaintenance *self);

/* Starts a check if one is due. Returns: whether one is running now */
gboolean qd_maintenance_start_if_due(QdMaintenance *self);
/* Ends a running check soon. Any thread. */
void qd_maintenance_stop(QdMaintenance *self);
/* A statement met an error that only damage explains: a check follows. Any thread. */
void qd_maintenance_suspect(QdMaintenance *self);
/* A check that a client asked for has found damage. Any thread. */
void qd_maintenance_report(QdMaintenance *self, const char *message);

const QdHealth *qd_maintenance_get_health(const QdMaintenance *self);
