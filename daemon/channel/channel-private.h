/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The channel itself, for the files that make it up. channel.c: the loop; channel-table.c; channel-open.c; channel-owner.c: its
 * owner; channel-session.c: its session. channel-input.c: requests; channel-chunks.c: large ones; channel-output.c: records;
 * channel-ring.c: shared memory. channel-serve.c: what a request does; channel-tell.c: its end by the interrupter. channel-write.c:
 * updates; channel-transaction.c: BEGIN to COMMIT.
 */
#pragma once

#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-spin.h"
#include "daemon/channel/channel.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"
#include "daemon/sqlite/guard/policy.h"
#include "daemon/write/writer.h"

#define QD_CHANNEL_OWNED 1u
#define QD_CHANNEL_PENDING 2u
#define QD_CHANNEL_FREE 4u /* a slot without a channel: not to be taken for one */
/* After so much work, with others waiting, it is their turn. */
#define QD_CHANNEL_SLICE_USEC 2000
/* Room after a page for the terminal record, so that a small result is one send(). */
#define QD_CHANNEL_OUT_SLACK 8192

/*
 * The owner of a channel. The owner sets it before it gives the channel away; qd_channel_set_state() knows what may follow
 * what:
 *
 *                       open                        destroy
 *            none ─────────────────▸ served ─────────────────▸ none
 *
 *     event, or taken out of the queue         nothing to do; output waits
 *     idle, blocked, queued, kicked ──▸ served ──▸ idle, blocked
 *
 *     no slot is free, the slice is over       a kick, from any thread
 *     served ─────────────────▸ queued         idle, blocked, queued, kicked ──▸ kicked
 *
 *     waits awake for the next request         hands updates over, or BEGIN
 *     served ─────────────────▸ lingering      served, answered ──▸ writing
 *     lingering ──────────────▸ served
 *
 *     all were refused       the writer is done         it is done, and its thread leads the group
 *     writing ──▸ served     writing ──▸ kicked         writing ──▸ answered ──▸ idle, queued, kicked, writing
 */
typedef enum QdChannelState {
    QD_CHANNEL_NONE,      /* a slot of the table without a channel */
    QD_CHANNEL_SERVED,    /* a thread works on it: channel.c */
    QD_CHANNEL_IDLE,      /* without an owner: an event of the descriptor, as a request, or a kick makes it served */
    QD_CHANNEL_BLOCKED,   /* the same, but its peer does not take what it is sent */
    QD_CHANNEL_QUEUED,    /* the workers' queue has it, until there is a slot, a deadline or an event */
    QD_CHANNEL_KICKED,    /* the queue has it, but it needs no slot: something may be over, or has an answer */
    QD_CHANNEL_LINGERING, /* a thread without a slot waits awake for its next request */
    QD_CHANNEL_WRITING,   /* the writer has its updates or its BEGIN; the thread that ends the last one has the channel */
    QD_CHANNEL_ANSWERED,  /* the leader of a write group has it, answers it, and perhaps waits for its next update */
} QdChannelState;
#define QD_N_CHANNEL_STATES (QD_CHANNEL_ANSWERED + 1)

/* What has been seen of the peer; it only grows. */
typedef enum QdPeerState {
    QD_PEER_TALKS,
    QD_PEER_SILENT, /* it has shut its writing side, or we read no more: what it has sent is served */
    QD_PEER_GONE,   /* hang-up: nothing more can be sent */
} QdPeerState;

typedef struct QdChannel QdChannel;
typedef struct QdReader QdReader;
typedef struct QdScanShare QdScanShare;
typedef struct QdRing QdRing;
typedef struct QdRun QdRun;
typedef struct QdSealedPages QdSealedPages;
typedef struct QwPageWriter QwPageWriter;
typedef struct QdChannelTransaction QdChannelTransaction;

typedef struct QdRequest {
    uint8_t kind;
    gboolean cancelled;
    uint32_t count;
    uint32_t serial;
    uint64_t received_usec;
    uint64_t begun_usec; /* since when its deadline passes: for the first one the call of Prepare counts */
    uint8_t *body;       /* (owned) */
    gsize n_bytes;
    gsize n_charged; /* bytes */
    gboolean came_in_pieces;
    gsize n_body_bytes; /* of one that came in pieces: what @body has room for */
    GError *error;      /* (owned) (nullable): it was not taken in: its answer */
} QdRequest;

/* One that comes in pieces has room for so much at first. */
#define QD_CHUNKS_FIRST_BYTES (256 * (gsize) 1024)

/* A request that comes in pieces. */
typedef struct QdChain {
    QwChunks chunks;
    uint8_t *data;       /* (owned) */
    gsize n_charged;     /* bytes: as many as @data has */
    gboolean is_refused; /* it has its answer; the rest is dropped */
    guint n_requests;    /* that have come so */
    gboolean is_held;    /* the next record begins another one, which waits for their end */
} QdChain;

/* How its executions were; only one that takes long asks the result memory. */
typedef enum QdPace {
    QD_PACE_UNKNOWN, /* there was none yet */
    QD_PACE_QUICK,   /* or its results cannot be kept */
    QD_PACE_LONG,
} QdPace;

typedef struct QdStatement {
    gboolean prepared;
    QdLanguage language;
    char *text; /* (owned) */
    gsize n_text_bytes;
    gsize n_charged;    /* bytes of it, as of a request */
    char *base;         /* (owned) (nullable) SPARQL */
    char *dataset;      /* (owned) (nullable) SPARQL */
    uint64_t signature; /* of the columns that the client knows */
    uint32_t n_parameters;
    gboolean writes;
    QdControl control;
    QdPace pace;
    QdExecutionOptions execution;
} QdStatement;

/* What comes from the peer. */
typedef struct QdChannelInput {
    GByteArray *bytes;     /* of a record that is not whole yet */
    gboolean is_large;     /* more than the default page: their memory is given back when there are none */
    gsize n_dropped;       /* bytes to come, of a record that was refused */
    gsize n_begun_bytes;   /* atomic: of both; others begin with a record. The interrupter reads it */
    uint64_t awaited_usec; /* atomic: when the last bytes of an unfinished request came; 0: none is awaited */
    QdChain chain;
    gboolean waits_for_room; /* the next record is a request, which waits for the end of those before it */
    GQueue requests;         /* of QdRequest */
    gsize n_request_bytes;   /* of those */
    gsize n_live_bytes;      /* of all that have no answer yet */
    gboolean readable;       /* something happened: it is to be read */
    QdPeerState peer;
} QdChannelInput;

/* What may be remembered of the run. */
typedef struct QdChannelFill {
    GBytes *key;         /* (owned) (nullable): by which it would be found */
    GByteArray *pages;   /* (owned) (nullable): it is being kept */
    QdSealedPages *file; /* (owned) (nullable): where these have gone, since they are many */
    uint64_t number;     /* of the last change before it was read */
} QdChannelFill;

enum {
    QD_TOLD_NOTHING,
    QD_TOLD_SENDING, /* one of two threads sends */
    QD_TOLD_ALL,     /* the request has its terminal record */
};

/* What the interrupter has sent for the request in work. */
typedef struct QdTold {
    gint state; /* atomic: QD_TOLD_… */
    uint64_t since_usec;
    gboolean is_cut;
} QdTold;

/* The request in work, if it reads. */
typedef struct QdChannelWork {
    QdRequest *request;           /* (owned) (nullable) */
    QdRun *run;                   /* (owned) (nullable) */
    QdRun *prepared;              /* (owned) (nullable): that of PREPARE, until the FETCH that came with it takes it over */
    uint64_t prepared_generation; /* read before that was made */
    gboolean schema_waits;        /* for the first page of that FETCH, to leave with it */
    const QdReader *last_reader;  /* a hint, may be gone */
    gboolean first_fill;
    QwPageWriter *page; /* while the run fills it */
    uint64_t slice_end_usec;
    uint64_t free_usec; /* when the FETCH or the like before was over: those that had come by then have waited for it */
    gboolean is_late;   /* the request's deadline has come while it waited */
    QdChannelFill fill;
    QdTold told;
} QdChannelWork;

/* A request that the writer has or had. It is used again and again: making one takes as long as running a small update. */
typedef struct QdChannelWrite {
    GList link; /* of the queue that it is in */
    QdChannel *channel;
    QdRequest *request; /* (owned) */
    QdWriteItem item;
    QdWriteStatement statement;
    GArray statements; /* refers to that one: an array that needs no memory of its own */
    GArray *batch;     /* (nullable) instead of that: the statements of a BATCH */
    char *base;        /* (nullable) of these */
    char *dataset;     /* (nullable) of these */
    GBytes *schema;    /* (nullable) body of a SCHEMA to precede the rows: they have other columns than the client knows */
    uint32_t n_columns;
    uint64_t signature;
} QdChannelWrite;

/* They are answered in this order. */
typedef struct QdChannelWrites {
    GQueue queue;    /* of QdChannelWrite */
    GQueue spare;    /* of QdChannelWrite: used before */
    gint n_pending;  /* atomic: the writer is not done with; until then it owns the channel */
    guint next_page; /* of the first of them */
    char *shown;     /* (owned) (nullable): the text that ListQueries shows of a BATCH */
} QdChannelWrites;

/* What goes to the peer: the buffer, then the pieces of `large`, then `trailer`. */
typedef struct QdChannelOutput {
    uint8_t *buffer;
    uint8_t *region; /* (nullable): vmsplice: what the buffer goes round in */
    gsize n_region_bytes;
    gsize capacity; /* of the buffer */
    gsize used;
    gsize sent;
    uint8_t *large; /* (owned): body of a record that is larger than a page */
    gsize n_large_bytes;
    gsize large_sent;
    QwHeader large_header;
    GDestroyNotify large_free;
    GByteArray *trailer;
    struct QdCursorOutput *cursor; /* (nullable): all else here is unused then */
    QdRing *ring;                  /* (nullable): of the result that runs */
    uint64_t ring_after_bytes;     /* of this result: not before */
    gboolean page_in_ring;         /* where qd_channel_begin_page() has begun it */
    uint64_t blocked_usec;         /* atomic: since when; 0: not blocked */
} QdChannelOutput;

/* Waits for the next request. */
typedef struct QdChannelWaits {
    guint n_awake;   /* since it was asked who has the core */
    uint64_t n_lost; /* how often the thread had lost the core then */
    guint n_yields;  /* the client was on the thread's core: so many waits leave it to the client */
} QdChannelWaits;

struct QdChannel {
    QdContext *context;
    guint index;
    uint64_t ownership;   /* atomic: generation << 32 | flags */
    QdChannelState state; /* atomic for threads that do not own it */
    int fd;
    QdTransport transport;
    gsize page_size;
    gboolean error_details;   /* ERROR records have them */
    gboolean schema_details;  /* flags of SCHEMA that readers of before refuse */
    gboolean whole_results;   /* the peer maps whole results */
    gboolean refuses_control; /* BEGIN, COMMIT and ROLLBACK by text */
    QdClient *client;         /* (owned reference) */
    QdTask task;
    QdEntry entry;

    QdStatement statement;
    QdSession *session;      /* counts what its updates have done */
    uint64_t session_number; /* 0: the session is its own */
    QdSessionSettings settings;
    uint64_t first_spent_usec; /* QdChannelSetup.spent_usec until the first request has come; 0 then */
    QdChannelInput input;
    QdChannelWork work;
    QdChannelWrites writes;
    QdChannelTransaction *transaction; /* (nullable): from BEGIN until COMMIT or ROLLBACK */
    uint64_t transaction_due_usec;     /* atomic: when it ends by itself; 0: there is none */
    QdChannelOutput output;

    /* between requests */
    QwSpin spin;
    QdChannelWaits waits;
    uint64_t answered_usec; /* when the last request ended; 0: there was none */
};

/* channel-table.c has what is of one channel; channels.c what goes over all of them. */
struct QdChannels {
    QdContext *context;
    pthread_mutex_t mutex;
    GPtrArray *slots;     /* of QdChannel, all that ever were; reused, freed at the end */
    GArray *free_slots;   /* of guint */
    GHashTable *sessions; /* channel-session.c */
    guint n_open;
    gint n_pipes;
    gint n_ring_bytes;
    gint n_large_page_bytes; /* atomic */
    gint draining;
    QdWriterLinger *linger; /* (owned) */
    /* atomic (owned) (nullable): what channels have let go; each begins with its size in bytes */
    gsize *spare_buffer;
    gsize *spare_body;
};

/* More has been seen of the peer. */
static inline void
qd_channel_note_peer(QdChannel *self, QdPeerState peer)
{
    self->input.peer = MAX(self->input.peer, peer);
}

/* Names the channel in events of its descriptor. */
static inline uint64_t
qd_channel_get_token(const QdChannel *self)
{
    return (__atomic_load_n(&self->ownership, __ATOMIC_RELAXED) & UINT64_C(0xffffffff00000000)) | self->index;
}

static inline gboolean
qd_channel_has_input(const QdChannel *self)
{
    return self->input.requests.length > 0 || self->input.peer != QD_PEER_TALKS;
}

/* channel-input.c */
/* Reads and parses what is there. @self->peer reports the end afterwards. */
void qd_channel_read(QdChannel *self);
gboolean qd_channel_has_room(const QdChannel *self);
/* Ends a request of which nothing has come for too long. */
void qd_channel_watch_input(QdChannel *self);
/* What was held may come now: qd_channel_read() goes on. */
gboolean qd_channel_can_resume(const QdChannel *self);
/* @body: (transfer full) (nullable). Returns: (transfer none): at the end of the queue */
QdRequest *qd_channel_add_request(QdChannel *self, uint8_t kind, uint32_t count, uint32_t serial, uint8_t *body, gsize n_bytes);
/* The same, charged for what is above a page. FALSE: it would be too much; @body is the caller's still. */
gboolean qd_channel_add_charged_request(QdChannel *self, uint8_t kind, uint32_t count, uint32_t serial, uint8_t *body,
                                        gsize n_bytes, GError **error);
/* Returns: NULL */
QdRequest *qd_channel_free_request(QdChannel *self, QdRequest *request);

/* Whether @request runs a statement that is BEGIN, COMMIT or ROLLBACK by its text. */
gboolean qd_channel_is_control(const QdChannel *self, const QdRequest *request);
/* That of the record, or of its text. */
QwKind qd_channel_get_kind(const QdChannel *self, const QdRequest *request);
/* Whether the next request is an update. */
gboolean qd_channel_next_is_write(const QdChannel *self);

/* channel-chunks.c */
/* Returns: false, with @ret_error, if the piece cannot be taken: the channel ends */
gboolean qd_channel_take_chunk(QdChannel *self, const QwHeader *header, const uint8_t *body, GError **ret_error);
/* Whether a piece is awaited. */
gboolean qd_channel_awaits_chunk(const QdChannel *self);
/* Answers the chain with @error (transfer full), and drops the rest of it as it comes. */
void qd_channel_refuse_chain(QdChannel *self, GError *error);
/* When the channel ends. */
void qd_channel_drop_chain(QdChannel *self);
/* FALSE: it would be too much of the client or in all. */
gboolean qd_channel_charge_request(QdChannel *self, gsize n_bytes, GError **error);
/* A request of so many bytes is over. */
void qd_channel_discharge_request(QdChannel *self, gsize n_bytes);
/* Before the client can see its answer: it may send as much at once. */
void qd_channel_discharge_whole_request(QdChannel *self, QdRequest *request);

/* (transfer full): for QdChannels */
GHashTable *qd_channel_sessions_new(void);
/* @number: of the session; 0: one of its own */
void qd_channel_enter_session(QdChannel *self, uint64_t number);
void qd_channel_leave_session(QdChannel *self);

/* channel-output.c */
/* Returns: 1 all sent, 0 the peer is slow, -1 the peer is gone. */
int qd_channel_flush(QdChannel *self);
void qd_channel_put_record(QdChannel *self, QwKind kind, uint32_t count, uint32_t serial, const uint8_t *body, gsize n_bytes);
/* The body of a SCHEMA record. */
GBytes *qd_channel_encode_schema(const QdChannel *self, const QdShape *shape);
void qd_channel_put_schema(QdChannel *self, const QdShape *shape, uint32_t serial);
void qd_channel_put_end(QdChannel *self, const QwEnd *end, uint32_t serial);
void qd_channel_put_error(QdChannel *self, const GError *error, uint32_t serial);
/* From within a fill, and from any thread: what waits and the error, if the socket takes both at once. */
gboolean qd_channel_send_error_now(const QdChannel *self, const GError *error, uint32_t serial);
/* Takes @data over: a whole record of @size bytes, header included, larger than a page. */
void qd_channel_put_large(QdChannel *self, uint8_t *data, gsize size, GDestroyNotify free_func, uint32_t n_rows, uint32_t serial);
/* A page writer on a slot of the ring, or on what is free of the output buffer. */
void qd_channel_begin_page(QdChannel *self, QwPageWriter *writer, uint32_t n_columns);
/* Puts the page begun, which has rows, into the output. Returns: its size in bytes. */
gsize qd_channel_put_page(QdChannel *self, QwPageWriter *writer, uint32_t serial);
void qd_channel_clear_output(QdChannel *self);
gboolean qd_channel_output_is_empty(const QdChannel *self);

/* channel-tell.c */
/* Around what the owner sends from within a fill. FALSE: nothing may be sent now. */
gboolean qd_channel_begin_early(QdChannel *self);
void qd_channel_end_early(QdChannel *self);
/* A QdRunTellFunc. @data: the channel */
gboolean qd_channel_tell(void *data, const GError *error);
/* The same of an update. FALSE also while one before it has no answer. */
gboolean qd_channel_tell_write(const QdWriteItem *item, const GError *error);
/* On the thread that ticks, while the request in work or the update runs: for a CANCEL of it that no thread has read. */
void qd_channel_look_for_cancel(QdChannel *self);
gboolean qd_channel_finds_cancel(const QdWriteItem *item);
/* After a fill: its request has its answer. Then qd_channel_end_told() ends it. */
gboolean qd_channel_was_told(const QdChannel *self);
void qd_channel_end_told(QdChannel *self);
/* The next request is another one. */
void qd_channel_forget_told(QdChannel *self);

/* channel-wait.c */
/* What to wait for besides a hang-up: requests, as long as there is room for them. */
uint32_t qd_channel_get_input_events(const QdChannel *self);
/* Before the channel goes into the queue: there it hears of CANCEL and of a hang-up, and its time passes. */
void qd_channel_begin_wait(QdChannel *self);
/* It is out of the queue, with a slot or without. */
void qd_channel_end_wait(QdChannel *self);
/* Of the request that waits or runs: since when its deadline passes, and what of it is gone. 0: there is none */
uint64_t qd_channel_get_begun_usec(const QdChannel *self);
uint64_t qd_channel_get_spent_usec(const QdChannel *self);

/* channel-ring.c */
/* From here on the result goes through shared memory, if it is one of those and there is enough. The output is empty. */
void qd_channel_try_ring(QdChannel *self);
/* The result is over. */
void qd_channel_drop_ring(QdChannel *self);

/* channel-recall.c */
/* Before a query runs: TRUE: it is answered from the result memory. */
gboolean qd_channel_recall(QdChannel *self);
/* A page of the run, while @self->work.fill has pages. */
void qd_channel_fill_page(QdChannel *self, const uint8_t *record, gsize size);
/* The run has ended well, after so long. */
void qd_channel_remember(QdChannel *self, uint64_t cost_usec);
/* What was begun is not kept. */
void qd_channel_drop_fill(QdChannel *self);

/* channel-help.c */
/* QdRunHelpFunc, of a channel. */
gboolean qd_channel_help_scan(void *data, QdScanShare *share);

/* channel-serve.c */
/* Makes the first waiting request the current one, unless there is one already. */
void qd_channel_take_request(QdChannel *self);
/* Starts the first waiting request, a slot is held. Returns: false when the writer owns the channel now; *ret_leads as below. */
gboolean qd_channel_start_request(QdChannel *self, gboolean *ret_leads);
/* Goes on with the run, a slot is held. Returns: false when it should yield. */
gboolean qd_channel_continue_run(QdChannel *self);
/* Ends the request in work with @error; the snapshot is given back. */
void qd_channel_fail_request(QdChannel *self, const GError *error);
void qd_channel_end_request(QdChannel *self);
void qd_channel_clear_statement(QdChannel *self);
/* The texts of a statement are charged as a request for as long as the channel has them, if they are larger than a page. */
gboolean qd_channel_charge_statement(QdChannel *self, gsize n_text_bytes, const char *base, const char *dataset, GError **error);
/* Options as PREPARE and BATCH carry them; strings are views of the body. */
gboolean qd_channel_parse_options(QwBodyReader *body, uint32_t n, QdCallOptions *options, GError **error);

/*
 * channel-batch.c: the statements of a BATCH, which refer to @request.
 *
 * Returns: (transfer full) (nullable): of QdWriteStatement; NULL: BAD_PARAMETER, LIMIT_EXCEEDED
 */
GArray *qd_channel_parse_batch(const QdRequest *request, const QdLimits *limits, QdCallOptions *ret_options, GError **error);
/* After success: pages of rows with one column, how many rows each statement has changed, in place of what the item returned. */
void qd_channel_encode_batch_counts(QdWriteItem *item);

/* channel-write.c */
/*
 * Hands all updates that are next in the queue to the writer. Returns: false when the writer owns the channel now.
 * @ret_leads: (inout): set when the caller has to call qd_writer_lead(), with no slot held
 */
gboolean qd_channel_start_writes(QdChannel *self, gboolean *ret_leads);
/* The writer is done with them: puts answers into the output, which is empty, as far as they have room. */
void qd_channel_continue_writes(QdChannel *self);
void qd_channel_drop_writes(QdChannel *self);
/* When the channel ends. */
void qd_channel_free_spare_writes(QdChannel *self);
/* The updates that are next in the queue, in the open transaction. */
void qd_channel_run_writes(QdChannel *self);
/* (transfer full): of no channel yet */
QdWriterLinger *qd_channel_linger_new(void);
void qd_channel_linger_free(QdWriterLinger *linger);

/* channel-transaction.c */
/* BEGIN, the current request. Returns: false when the writer owns the channel now; *ret_leads as in qd_channel_start_writes(). */
gboolean qd_channel_begin_transaction(QdChannel *self, gboolean *ret_leads);
/* The writer is done with BEGIN: answers it. Returns: false when there was none. */
gboolean qd_channel_answer_begin(QdChannel *self);
/* COMMIT or ROLLBACK, the current request. */
void qd_channel_end_transaction(QdChannel *self);
/*
 * The current request is not begun, for @error. A COMMIT has kept nothing then, as after any error: the client counts on it that
 * the transaction is over. A ROLLBACK is done all the same.
 */
void qd_channel_refuse_request(QdChannel *self, const GError *error);
/* FALSE: the transaction has ended before its time; @error says why. Also TRUE when there is none. */
gboolean qd_channel_check_transaction(const QdChannel *self, GError **error);
/* (transfer full): @error as that of a request which has ended the transaction with it */
GError *qd_channel_explain_end(const GError *error);
/* Its connection has lost memory within a call of SQLite: it ends as soon as the request has. */
gboolean qd_channel_has_spoilt_transaction(const QdChannel *self);
/* Ends it when its time is over. */
void qd_channel_watch_transaction(QdChannel *self);
/* (nullable): atomic, monotonic µs: when it has to be over; NULL: there is none. */
const uint64_t *qd_channel_get_transaction_end(const QdChannel *self);
/* Others have waited for long: it ends now. */
void qd_channel_yield_transaction(QdChannel *self);
/* Something was done in it: its idle time restarts. */
void qd_channel_touch_transaction(QdChannel *self);
/* Runs an update in it, which may end it. */
void qd_channel_transaction_execute(QdChannel *self, QdWriteItem *item);
/* (nullable): the connection of the open transaction. */
QdReader *qd_channel_get_transaction_reader(const QdChannel *self);
/* Rolls back. */
void qd_channel_drop_transaction(QdChannel *self);

/* channel.c */
/* Before its first push. */
void qd_channel_init_task(QdChannel *self);
/* All but the slot, which has no owner. */
void qd_channel_clear(QdChannel *self);
/* The owner ends the channel; its slot gets a new generation, which makes all old events void. */
void qd_channel_destroy(QdChannel *self);

/* channel-owner.c */
/* TRUE: the caller owns the channel, which may have been in the queue. FALSE: gone, or its owner will look again. */
gboolean qd_channel_seize(QdChannel *self, uint64_t generation);
/* The owner: @state is another one than what the channel is in, and one that may follow it, or it is an error of ours. */
void qd_channel_set_state(QdChannel *self, QdChannelState state);
gboolean qd_channel_state_may_follow(QdChannelState state, QdChannelState before);
/* The states of something, and for each the set (1 << state) of those that may follow it. */
typedef struct QdStates {
    const char *what;
    const char *const *names;
    const uint16_t *following;
} QdStates;
void qd_channel_check_state(const QdStates *states, guint state, guint before);
/* describe() of QdEntry. */
const char *qd_channel_describe_entry(const QdEntry *entry);
/* The owner gives it to the queue, which waits for a slot. */
void qd_channel_push(QdChannel *self, gboolean wake);
/* The same without a slot, for one that has something to say: others' queries may hold all slots for as long as they may run. */
void qd_channel_push_answer(QdChannel *self);
/* The first for what was not accepted yet. FALSE: the queue is full, the caller still has the channel. */
gboolean qd_channel_try_push(QdChannel *self);
/* From any thread: makes a worker look at the channel, unless its owner does. Also when its client has no slot left: what is over
 * ends all the same. */
void qd_channel_kick(QdChannel *self, uint64_t generation);
void qd_channel_kick_entry(QdEntry *entry);
/* Arms the descriptor and lets go. @blocked: output waits. Returns: false when there is something to do already. */
gboolean qd_channel_let_go(QdChannel *self, gboolean blocked);
/* The owner lets go of an idle channel, or leaves it to the queue. */
void qd_channel_park(QdChannel *self);

/* channel-table.c */
/* (nullable): the slot with this number, with a channel or without. Thread: any. */
QdChannel *qd_channels_get(QdChannels *self, guint index);
gboolean qd_channels_is_draining(QdChannels *self);
/* One more channel of @client. FALSE: LIMIT_EXCEEDED */
gboolean qd_channels_charge(QdChannels *self, QdClient *client, GError **error);
void qd_channels_discharge(QdChannels *self, QdClient *client);
/* For the memory of pages of @page_size. */
gboolean qd_channels_charge_pages(QdChannels *self, QdClient *client, gsize page_size, GError **error);
void qd_channels_discharge_pages(QdChannels *self, QdClient *client, gsize page_size);
gboolean qd_channels_open_transport(QdChannels *self, const QdChannelSetup *setup, int ret_fds[2], GError **error);
void qd_channels_discharge_transport(QdChannels *self, QdTransport transport);
/*
 * A buffer of @n_bytes, not cleared, and back; any thread. One is kept: to free and to take as much by malloc() costs 2,000
 * instructions, a seventh of a look-up of a row.
 */
gpointer qd_channels_take_buffer(QdChannels *self, gsize n_bytes);
void qd_channels_give_buffer(QdChannels *self, gpointer buffer, gsize n_bytes);
/*
 * The body of an earlier request that came in pieces, with room for @n_bytes to twice as many. None is kept of the size that a
 * first piece gets. Returns: (nullable)
 */
gpointer qd_channels_take_body(QdChannels *self, gsize n_bytes, gsize *ret_n_bytes);
void qd_channels_give_body(QdChannels *self, gpointer body, gsize n_bytes);
/* A slot without a channel, for one that is charged; and back, with that charge of all channels. */
QdChannel *qd_channels_take_slot(QdChannels *self);
void qd_channels_give_slot(QdChannels *self, QdChannel *channel);
