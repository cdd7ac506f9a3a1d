/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What SQLite would count for one connection of a client: of all channels that the client has opened as one session.
 *
 * Place: room read. The thread that leads the writer sets it, workers read it.
 */
#pragma once

#include "daemon/read/counting.h"

QdSession *qd_session_new(void);
/* Nothing refers to it any more. Returns: NULL */
QdSession *qd_session_free(QdSession *self);

/* Thread: any. */
QdCounts qd_session_get_counts(QdSession *self);
void qd_session_set_counts(QdSession *self, const QdCounts *counts);
