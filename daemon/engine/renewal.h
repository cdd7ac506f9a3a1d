/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns are stored while the daemon has nothing to do: those that queries have missed, and those of a load.
 *
 * Place: room engine, the engine's. Thread: main, but for qd_renewal_stop().
 */
#pragma once

#include <glib.h>

typedef struct QdEngine QdEngine;
typedef struct QdRenewal QdRenewal;

QdRenewal *qd_renewal_new(QdEngine *engine);
/* None may be running: qd_renewal_stop(), then wait for the engine's calls. */
QdRenewal *qd_renewal_free(QdRenewal *self);

/* Of an idle engine: begins if something is to be stored. @at_once: regardless of the share of time. Returns: whether it is running
 */
gboolean qd_renewal_start_if_due(QdRenewal *self, gboolean at_once);
/* Ends what runs soon, for good. Any thread. */
void qd_renewal_stop(QdRenewal *self);
