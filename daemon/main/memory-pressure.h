/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the machine, or the control group of this process, has too little memory.
 *
 * Place: room main. The protocol is systemd's: MEMORY_PRESSURE_WATCH names a file of the kernel's, a FIFO or a socket,
 * MEMORY_PRESSURE_WRITE has in base64 what is written there first. Without these variables the group's own file is watched, else
 * that of the machine: a fifth of a second lost in two seconds.
 */
#pragma once

#include <systemd/sd-event.h>

typedef struct QdMemoryPressure QdMemoryPressure;
typedef void (*QdMemoryPressureFunc)(void *user_data);

/* (transfer full) (nullable): calls @func on the thread of @event; NULL: nothing can be watched, or shall be */
QdMemoryPressure *qd_memory_pressure_new(sd_event *event, QdMemoryPressureFunc func, void *user_data);
QdMemoryPressure *qd_memory_pressure_free(QdMemoryPressure *self);
