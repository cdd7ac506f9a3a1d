/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A method call from its handler to its answer: find the caller, check its rights, submit, reply.
 *
 * Place: room bus. Invariant: a QdBusCall is in its service's queue until it is answered, and is answered once.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-service.h"
#include "daemon/call/call.h"

/* Appends the results of a call that succeeded; negative errno on failure, when the reply is dropped. */
typedef int (*QdBusFillFunc)(sd_bus_message *reply, QdCall *call);

/* Makes an object of what a call has found out. Returns: (transfer none) (nullable): its path */
typedef const char *(*QdBusObjectFunc)(QdBusService *service, const char *sender, QdCall *call, GError **error);

/* Takes what the object will need before its call runs: a refusal costs nothing. What it has taken is given back if nothing is
 * made. */
typedef gboolean (*QdBusReserveFunc)(QdBusService *service, QdCall *call, GError **error);
typedef struct QdBusMaker {
    QdBusReserveFunc reserve;
    void (*release)(QdCall *call);
    QdBusObjectFunc make; /* owns what was reserved when it has succeeded */
} QdBusMaker;

/* A method that the engine has no call for: answers @message itself. */
typedef void (*QdBusActFunc)(QdBusService *service, sd_bus_message *message, const QdPeer *peer);

/* An argument of a method, see bus-args.h. */
typedef gboolean (*QdBusReadFunc)(sd_bus_message *message, QdCall *call, GError **error);

/* A method that reads its arguments in order and is a call of the engine. */
typedef struct QdBusMethod {
    const QdCallClass *class;
    QdBusReadFunc arguments[4];
    QdBusFillFunc fill; /* (nullable): then the answer is the path of a job */
} QdBusMethod;

/* For a handler to return: runs @method for the sender of @message and replies. BadParameter for an argument. Thread: main. */
int qd_bus_method_serve(const QdBusMethod *method, sd_bus_message *message, QdBusService *service, sd_bus_error *ret_error);

/**
 * qd_bus_call_start:
 * @service: the service
 * @message: (transfer none): the method call
 * @call: (transfer full): filled but for its client and `done`
 * @fill: makes the answer
 *
 * Runs @call for the sender of @message and replies. Thread: main.
 *
 * Returns: 1, for the handler to return
 */
int qd_bus_call_start(QdBusService *service, sd_bus_message *message, QdCall *call, QdBusFillFunc fill);

/**
 * qd_bus_call_start_object:
 * @service: the service
 * @message: (transfer none): the method call
 * @call: (transfer full): filled but for its client and `done`
 * @maker: (static): `make` is called when @call has succeeded and the sender is still there; its error is answered as one of the
 * call
 *
 * As qd_bus_call_start(), but answers with the path of an object. Thread: main.
 *
 * Returns: 1, for the handler to return
 */
int qd_bus_call_start_object(QdBusService *service, sd_bus_message *message, QdCall *call, const QdBusMaker *maker);

/**
 * qd_bus_call_act:
 * @service: the service
 * @message: (transfer none): the method call
 * @act: answers it
 *
 * Calls @act when the sender is known and not sandboxed; answers AccessDenied when it is. Thread: main.
 *
 * Returns: 1, for the handler to return
 */
int qd_bus_call_act(QdBusService *service, sd_bus_message *message, QdBusActFunc act);
/* The same for all callers; @act looks itself at what @peer may do. */
int qd_bus_call_act_for_all(QdBusService *service, sd_bus_message *message, QdBusActFunc act);
/* The same for sandboxed applications that are known; they need no grant; BAD_PARAMETER for all else. */
int qd_bus_call_act_for_application(QdBusService *service, sd_bus_message *message, QdBusActFunc act);

/**
 * qd_bus_calls_cancel:
 * @service: the service
 * @sender: (nullable): only its calls that read; NULL: all calls
 *
 * Asks the engine to end calls. An update of a caller that left is executed all the same. Thread: main.
 */
void qd_bus_calls_cancel(QdBusService *service, const char *sender);

/* Of @sender (nullable without a bus): the call whose message has @serial, if it is not answered yet. Updates, too. */
void qd_bus_calls_cancel_one(QdBusService *service, const char *sender, uint64_t serial);

/* Large answers that have waited: as long as the bus takes them at once, or all of them. */
void qd_bus_calls_answer_late(QdBusService *service, gboolean even_if_busy);

/**
 * qd_bus_call_log:
 * @call: (transfer none): a call that is done
 * @sender: (nullable): the bus name that made it
 * @started_usec: g_get_monotonic_time() of its arrival
 *
 * The one record of a call in the log: at debug level, but failures that are ours at warning level.
 */
void qd_bus_call_log(const QdCall *call, const char *sender, gint64 started_usec);
