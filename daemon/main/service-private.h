/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service object as service.c and life-cycle.c share it.
 *
 * Place: room main, private.
 */
#pragma once

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "daemon/base/config.h"
#include "daemon/base/mailbox.h"
#include "daemon/bus/bus-service.h"
#include "daemon/engine/engine.h"
#include "daemon/main/life-cycle.h"
#include "daemon/main/memory-pressure.h"
#include "daemon/main/service.h"

typedef struct QdService {
    const QdServiceOptions *options;
    sd_event *event;
    sd_bus *bus;
    QdConfig *config;
    QdMailbox *mailbox;
    QdEngine *engine;          /* from the moment the name is owned */
    QdBusService *bus_service; /* the same */
    QdLifeCycle *life;
    QdMemoryPressure *pressure; /* (nullable) */
    gboolean name_owned;
    gint64 stuck_usec;     /* of the thread of deadlines: since a statement does not end; 0: none */
    guint64 watchdog_usec; /* 0: no watch */
    sd_bus_slot *name_slot;
    sd_bus_slot *name_lost_slot;
    sd_bus_slot *disconnected_slot;
    sd_event_source *mailbox_source;
    sd_event_source *watchdog_source;
} QdService;
