/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of calls of TinySPARQL's clients, as call-classes.h has those of ours.
 *
 * Place: room tracker. Their names have a prefix in the log and in ListQueries only; on the bus they are those of the interface.
 */
#pragma once

#include "daemon/call/call.h"

/* The statement's rows go to the call's descriptor; the call is done when they have begun. */
extern const QdCallClass qd_tracker_query_call;
/* The same with triples in the format that the call names. */
extern const QdCallClass qd_tracker_serialize_call;
/* The updates of the call's input, in one transaction. */
extern const QdCallClass qd_tracker_update_call;
extern const QdCallClass qd_tracker_update_array_call;
/* `messages` of the result are labels of blank nodes and the IRIs that they have got. */
extern const QdCallClass qd_tracker_update_blank_call;
