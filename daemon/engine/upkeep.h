/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The health of the store's file: checks in idle time and on suspicion, what they found, and what follows from it.
 *
 * Place: room engine, the engine's. A file that is found damaged is not mended under its readers: the daemon ends in order (the
 * engine's `damaged` hook), and salvages when it is started again, which the next call does.
 */
#pragma once

#include "daemon/engine/engine-private.h"
#include "daemon/recover/health.h"
#include "daemon/recover/recovery.h"

typedef struct QdUpkeep QdUpkeep;

QdUpkeep *qd_upkeep_new(QdEngine *engine);
/* No check may be running: qd_upkeep_stop(), then wait for the engine's calls. */
QdUpkeep *qd_upkeep_free(QdUpkeep *self);

/* Main thread, as all but what is said to be for any. */

/* Before the database is opened. Returns: whether it is known to be damaged */
gboolean qd_upkeep_begin(QdUpkeep *self);
/* It is open for writing. @recovery: what was salvaged, if anything. @is_new: the store was made just now */
void qd_upkeep_note_open(QdUpkeep *self, const QdRecoveryResult *recovery, gboolean is_new);
/* It is closed in order. */
void qd_upkeep_note_closed(QdUpkeep *self);

/* Starts a check if one is due. Returns: whether one is running now */
gboolean qd_upkeep_start_if_due(QdUpkeep *self);
/* Ends a running check soon. Any thread. */
void qd_upkeep_stop(QdUpkeep *self);
/* Somebody met an error that only damage explains: a check follows. Any thread. */
void qd_upkeep_suspect(QdUpkeep *self);
/* A check that a client asked for has found damage. Any thread. */
void qd_upkeep_report(QdUpkeep *self, const char *message);

const QdHealth *qd_upkeep_get_health(const QdUpkeep *self);
