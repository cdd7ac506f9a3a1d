/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pipe is opened once more (runtime/transport.h): its reader here never waits, regardless of the flags of the caller's own end.
 */
#include "daemon/bus/bus-tracker-input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-private.h"
#include "daemon/read/client.h"
#include "daemon/runtime/transport.h"
#include "daemon/tracker/tracker-frame.h"

#define PIECE_BYTES (64 * (gsize) 1024)

struct QdTrackerInputs {
    QdBusService *service;
    GQueue inputs; /* of Input */
};

typedef struct Input {
    GList link; /* data is the Input */
    QdTrackerInputs *inputs;
    sd_bus_message *message;
    QdClient *client;
    QdTrackerInputFunc func;
    QdTrackerFrame frame;
    GByteArray *bytes;
    gsize n_charged;
    int fd;
    sd_event_source *io_source;
    sd_event_source *timer;
} Input;

static void
input_free(Input *self)
{
    g_queue_unlink(&self->inputs->inputs, &self->link);
    sd_event_source_disable_unref(self->io_source);
    sd_event_source_disable_unref(self->timer);
    (void) qd_fd_close(self->fd);
    if (self->n_charged > 0)
        qd_engine_discharge_request(self->inputs->service->engine, self->client, self->n_charged);
    qd_client_unref(self->client);
    g_clear_pointer(&self->bytes, g_byte_array_unref);
    sd_bus_message_unref(self->message);
    g_free(self);
}

static void
input_fail(Input *self, const GError *error)
{
    QdBusService *service = self->inputs->service;

    qd_bus_reply_error(self->message, error);
    input_free(self);
    if (service->hooks.activity != NULL)
        service->hooks.activity(service->hooks.user_data);
}

static void
input_finish(Input *self)
{
    g_autoptr(GBytes) bytes = g_byte_array_free_to_bytes(g_steal_pointer(&self->bytes));

    self->func(self->inputs->service, self->message, bytes);
    input_free(self);
}

/* Room for one more piece. */
static gboolean
charge(Input *self, GError **error)
{
    gsize wanted = self->bytes->len + PIECE_BYTES;

    if (wanted <= self->n_charged)
        return TRUE;
    if (!qd_engine_charge_request(self->inputs->service->engine, self->client, wanted - self->n_charged, error))
        return FALSE;
    self->n_charged = wanted;
    return TRUE;
}

/* Returns: bytes read; 0 at the end; -1: none now, or @error */
static gssize
read_piece(Input *self, GError **error)
{
    guint used = self->bytes->len;
    ssize_t n;

    if (!charge(self, error))
        return -1;
    g_byte_array_set_size(self->bytes, used + (guint) PIECE_BYTES);
    do
        n = read(self->fd, self->bytes->data + used, PIECE_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN)
        qd_error_set_errno(error, errno, "cannot read from the pipe");
    g_byte_array_set_size(self->bytes, used + (guint) MAX(n, 0));
    return n;
}

/* All operations that are there are passed over; their contents are the worker's business. */
static QdTrackerFrameStatus
look(Input *self, GError **error)
{
    QdTrackerOperation operation;
    QdTrackerFrameStatus status;

    do
        status = qd_tracker_frame_next(&self->frame, self->bytes->data, self->bytes->len, &operation, error);
    while (status == QD_TRACKER_FRAME_OPERATION);
    return status;
}

static uint64_t
get_idle_usec(const Input *self)
{
    return 1000 * qd_limits_get(qd_engine_get_limits(self->inputs->service->engine), QD_LIMIT_REQUEST_IDLE_MSEC);
}

static int
on_readable(sd_event_source *source, int fd, uint32_t events, void *user_data)
{
    Input *self = user_data;
    g_autoptr(GError) error = NULL;
    gssize n = read_piece(self, &error);
    QdTrackerFrameStatus status = n > 0 ? look(self, &error) : QD_TRACKER_FRAME_MORE;

    if (n == 0)
        qd_error_set(&error, QW_ERROR_BAD_PARAMETER, "the pipe ended within an update, after %u bytes", self->bytes->len);
    if (error != NULL)
        input_fail(self, error);
    else if (status == QD_TRACKER_FRAME_END)
        input_finish(self);
    else
        (void) sd_event_source_set_time_relative(self->timer, get_idle_usec(self));
    return 0;
}

static int
on_idle(sd_event_source *source, uint64_t usec, void *user_data)
{
    Input *self = user_data;
    g_autoptr(GError) error = NULL;

    qd_limit_set_error(&error, qd_engine_get_limits(self->inputs->service->engine), QD_LIMIT_REQUEST_IDLE_MSEC,
                       "nothing more came of an update");
    input_fail(self, error);
    return 0;
}

static gboolean
input_start(Input *self, GError **error)
{
    sd_event *event = self->inputs->service->event;
    int fd = -1;
    int r;

    if (sd_bus_message_read_basic(self->message, 'h', &fd) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the call brought no descriptor");
        return FALSE;
    }
    self->fd = qd_transport_open_pipe_of(fd, O_RDONLY, FALSE, error);
    if (self->fd < 0 || !charge(self, error))
        return FALSE;

    r = sd_event_add_io(event, &self->io_source, self->fd, EPOLLIN, on_readable, self);
    if (r >= 0)
        r = sd_event_add_time_relative(event, &self->timer, CLOCK_MONOTONIC, get_idle_usec(self), 0, on_idle, self);
    if (r >= 0)
        r = sd_event_source_set_enabled(self->timer, SD_EVENT_ON);
    if (r < 0)
        qd_error_set_errno(error, -r, "cannot watch a pipe");
    return r >= 0;
}

void
qd_tracker_inputs_start(QdTrackerInputs *self, sd_bus_message *message, QdClient *client, gboolean is_array,
                        QdTrackerInputFunc func)
{
    g_autoptr(GError) error = NULL;
    Input *input = g_new0(Input, 1);

    input->link.data = input;
    input->inputs = self;
    input->message = sd_bus_message_ref(message);
    input->client = qd_client_ref(client);
    input->func = func;
    input->bytes = g_byte_array_new();
    input->fd = -1;
    qd_tracker_frame_init(&input->frame, is_array,
                          qd_limits_get(qd_engine_get_limits(self->service->engine), QD_LIMIT_BATCH_BYTES));
    g_queue_push_tail_link(&self->inputs, &input->link);
    if (!input_start(input, &error))
        input_fail(input, error);
}

QdTrackerInputs *
qd_tracker_inputs_new(QdBusService *service)
{
    QdTrackerInputs *self = g_new0(QdTrackerInputs, 1);

    self->service = service;
    return self;
}

QdTrackerInputs *
qd_tracker_inputs_free(QdTrackerInputs *self)
{
    if (self == NULL)
        return NULL;

    qd_tracker_inputs_cancel(self, NULL);
    g_free(self);
    return NULL;
}

void
qd_tracker_inputs_cancel(QdTrackerInputs *self, const char *sender)
{
    g_autoptr(GError) error = NULL;
    GList *link = self->inputs.head;

    qd_error_set(&error, QW_ERROR_CANCELLED, "the update was not read to its end");
    while (link != NULL) {
        Input *input = link->data;

        link = link->next;
        if (sender == NULL || g_strcmp0(sd_bus_message_get_sender(input->message), sender[0] != '\0' ? sender : NULL) == 0)
            input_fail(input, error);
    }
}

guint
qd_tracker_inputs_get_n(const QdTrackerInputs *self)
{
    return self->inputs.length;
}
