/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's engine in this process: real workers, writer, jobs and store; this thread is its main thread.
 */
#pragma once

#include "daemon/engine/engine.h"

typedef struct EngineDriver EngineDriver;

/* A store in @directory, with the default limits but for the ones on free disk space and on payloads in rows. */
EngineDriver *engine_driver_new(const char *directory);
EngineDriver *engine_driver_free(EngineDriver *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EngineDriver, engine_driver_free)

/* Whether the store has been opened; false while it is not known. */
gboolean engine_driver_is_open(EngineDriver *self);
QdClient *engine_driver_make_client(EngineDriver *self, const char *label);
/* Consumes @call, whose `done` has to free it. */
void engine_driver_submit(EngineDriver *self, QdCall *call);
/* Waits for calls that end, and ends them. Fails the program when none ends for a minute. */
void engine_driver_iterate(EngineDriver *self);
