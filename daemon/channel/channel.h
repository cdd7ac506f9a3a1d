/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Channels: the daemon's side of a descriptor that Prepare gave out. A state machine, never a thread.
 *
 * Place: room channel. Channels live in a table of slots; epoll and the registry name them by slot and generation, never by
 * pointer.
 * Invariant: a thread that acts on a channel owns it: the OWNED bit of its state word, set by compare-and-swap. An event for an
 * owned channel sets PENDING, and the owner looks again before it lets go. Only the owner closes the descriptor.
 */
#pragma once

#include "daemon/base/language.h"
#include "daemon/runtime/options.h"

typedef struct QdClient QdClient;
typedef struct QdContext QdContext;
typedef struct QdShape QdShape;
typedef struct QdWriterLinger QdWriterLinger;
typedef struct QdChannels QdChannels;

QdChannels *qd_channels_new(QdContext *context);
/* All workers have ended. */
QdChannels *qd_channels_free(QdChannels *self);

/* The result goes to a caller that waits for an answer until it has begun. */
typedef struct QdCursorSetup {
    int fd;                                           /* (not owned): the end of the caller's pipe that we write to */
    int rdf_format;                                   /* a QdRdfFormat: triples as text; negative: rows */
    void (*started)(const GError *error, void *data); /* cursor-output.h: not called when qd_channels_open() fails */
    void *data;
} QdCursorSetup;

typedef struct QdChannelSetup {
    QdChannelOptions channel;
    QdExecutionOptions execution; /* of the statement */
    uint64_t spent_usec;          /* of the deadline of the first request, before the channel was made */
    gboolean error_details;
    const char *base;    /* (nullable) */
    const char *dataset; /* (nullable) */
    const char *text;
    gsize n_text_bytes;
    QdLanguage language;
    const QdShape *shape;               /* of the statement as compiled just now */
    GBytes *parameters;                 /* (nullable): of a pipe, and of one that fetches: one row */
    const struct QdCursorSetup *cursor; /* for QD_TRANSPORT_CURSOR */
} QdChannelSetup;

/**
 * qd_channels_open:
 * @client: is charged for the channel
 * @ret_fd: (out): the peer's end, CLOEXEC; of a cursor -1
 *
 * Makes a descriptor pair and a channel with a prepared statement. A pipe starts to run at once, and so does one that fetches.
 *
 * Thread: a worker. Errors: LIMIT_EXCEEDED at the limits of channels and descriptors.
 */
gboolean qd_channels_open(QdChannels *self, QdClient *client, const QdChannelSetup *setup, int *ret_fd, GError **error);

/* Shared memory of a result. FALSE: as much as there may be is in use. */
gboolean qd_channels_charge_ring(QdChannels *self, QdClient *client, guint n_bytes);
void qd_channels_discharge_ring(QdChannels *self, QdClient *client, guint n_bytes);

/* Workers: an event of the descriptor with this token. */
void qd_channels_handle_event(QdChannels *self, uint64_t token, uint32_t events);
/* Workers, by timer: ends what has been blocked for too long. */
void qd_channels_sweep(QdChannels *self);
/* Frees what is kept for later requests. Thread: any. */
void qd_channels_give_memory_back(QdChannels *self);
/* (transfer none): the channels that the leader of a write group has answered, and which are likely to write more at once. */
QdWriterLinger *qd_channels_get_linger(QdChannels *self);
/* Main thread: no more requests; what is there is served. */
void qd_channels_drain(QdChannels *self);

guint qd_channels_get_n(QdChannels *self);
