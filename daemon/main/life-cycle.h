/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the daemon ends, and how: no request is lost by an idle exit, no stream is cut without an error by a stop.
 *
 * Place: room main. The order matters: STOPPING=1, release the name, wait for the bus to confirm, answer all calls that came
 * until then, drain the channels, exit. A call made during the drain without STOPPING=1 before would hang.
 */
#pragma once

#include <glib.h>

typedef struct QdLifeCycle QdLifeCycle;
struct QdService;

/**
 * qd_life_cycle_new:
 * @service: (transfer none): outlives the result
 *
 * Thread: main, as everything here.
 *
 * Returns: (transfer full): a daemon that runs and has not been idle yet
 */
QdLifeCycle *qd_life_cycle_new(struct QdService *service);

/**
 * qd_life_cycle_free:
 * @self: (nullable) (transfer full): the life cycle
 *
 * Returns: NULL
 */
QdLifeCycle *qd_life_cycle_free(QdLifeCycle *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdLifeCycle, qd_life_cycle_free)

/**
 * qd_life_cycle_note_activity:
 * @self: (nullable): the life cycle
 *
 * Something began or ended: the idle time restarts when nothing is left to do. Cheap.
 */
void qd_life_cycle_note_activity(QdLifeCycle *self);

/**
 * qd_life_cycle_stop:
 * @self: the life cycle
 * @reason: (transfer none): for the log and the status line
 * @exit_code: of the process
 *
 * Ends the daemon as on SIGTERM: what runs may finish within a few seconds and is cancelled then. The second call cancels at
 * once.
 */
void qd_life_cycle_stop(QdLifeCycle *self, const char *reason, int exit_code);

/**
 * qd_life_cycle_end_without:
 * @self: the life cycle
 *
 * A statement does not end, and its client has been answered. Ends the daemon as soon as all others have their answers, and in any
 * case soon.
 */
void qd_life_cycle_end_without(QdLifeCycle *self);

/**
 * qd_life_cycle_is_stopping:
 * @self: the life cycle
 *
 * Returns: whether the end has begun
 */
gboolean qd_life_cycle_is_stopping(const QdLifeCycle *self);
