/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The real bus service and the real engine on a socketpair: no bus daemon, no other process.
 *
 * Both ends live in one thread and one event loop, so that a test sees every step in order.
 */
#pragma once

#include <glib.h>
#include <sys/resource.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "daemon/base/mailbox.h"
#include "daemon/bus/bus-service.h"
#include "daemon/engine/engine.h"

#define BUS_FIXTURE_PATH "/org/queryd/Query1"
#define BUS_FIXTURE_INTERFACE "org.queryd.Query1"
#define BUS_FIXTURE_MANAGER "org.queryd.Query1.Manager"
#define BUS_FIXTURE_JOB "org.queryd.Query1.Job"

typedef struct BusFixture {
    char *dir;
    guint n_fds; /* open before */
    sd_event *event;
    sd_bus *server;
    sd_bus *client;
    QdMailbox *mailbox;
    QdEngine *engine;
    QdBusService *service;
    guint n_reloads;
    gboolean refuse_reload;
} BusFixture;

/* For g_test_add(). Tear-down asserts that no descriptor is left. */
void bus_fixture_set_up(BusFixture *self, gconstpointer data);
void bus_fixture_tear_down(BusFixture *self, gconstpointer data);

/* One turn of the loop; fails the test when nothing happens for ten seconds. */
void bus_fixture_run(BusFixture *self);

/* A method call of the main object, to be filled. */
sd_bus_message *bus_fixture_new_call(BusFixture *self, const char *interface, const char *member);

/* (transfer full) @call: sends it and runs the loop until it is answered, be it by an error. */
sd_bus_message *bus_fixture_call(BusFixture *self, sd_bus_message *call);

/* As above, and asserts that the answer is no error. */
sd_bus_message *bus_fixture_call_ok(BusFixture *self, sd_bus_message *call);

/* As above, and asserts the error's name (last part) and a part of its message. */
void bus_fixture_call_error(BusFixture *self, sd_bus_message *call, const char *name, const char *part);

/* So many descriptors can be opened until bus_fixture_free_descriptors(). Returns the limit before. */
rlim_t bus_fixture_leave_descriptors(guint n);
void bus_fixture_free_descriptors(rlim_t before);

/* Update of one statement without parameters. */
void bus_fixture_update(BusFixture *self, const char *text);

/* (transfer full): a connection that messages can be made for; nothing is ever sent. */
sd_bus *bus_fixture_new_message_bus(void);

/* (transfer full): a method call of @bus, to be filled and then sealed. */
sd_bus_message *bus_fixture_new_message(sd_bus *bus);

/* Ends the building of @message: it is then read like one that came in. */
void bus_fixture_seal(sd_bus_message *message);

/* Descriptors of this process. */
guint bus_fixture_count_fds(void);
