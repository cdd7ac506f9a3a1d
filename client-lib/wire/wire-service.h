/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon and queryd-service, its helper for SERVICE, say to each other over a UNIX socket.
 *
 * Place: room wire, included by both. The daemon sends PREPARE: language "sparql", the query for the endpoint, and the options
 * below. The helper answers with SCHEMA, ROWS any number of times, and END; or with ERROR at any place. A record has any size up to
 * QW_SERVICE_RECORD_MAX, without CHUNKs. Then the next PREPARE may follow on the same socket. Who hangs up amid an answer ends it.
 */
#pragma once

#include "client-lib/wire/wire-message.h"

/* Options of PREPARE. */
#define QW_SERVICE_ENDPOINT "endpoint"         /* an IRI */
#define QW_SERVICE_TIMEOUT_MSEC "timeout_ms"   /* decimal */
#define QW_SERVICE_ANSWER_BYTES "answer_bytes" /* decimal: of the body of the endpoint's answer */
#define QW_SERVICE_N_OPTIONS 3u

#define QW_SERVICE_RECORD_MAX ((size_t) QW_ROWS_SIZE_MAX)

/* Below the user's runtime directory. */
#define QW_SERVICE_SOCKET "queryd-service/socket"
