/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * poll() on the mailbox is the main loop.
 */
#include "tests/crash/engine-driver.h"

#include <poll.h>

#include "daemon/read/client.h"

#define STALL_MSEC 60000

struct EngineDriver {
    QdMailbox *mailbox;
    QdEngine *engine;
};

static void
on_activity(void *user_data)
{
}

EngineDriver *
engine_driver_new(const char *directory)
{
    EngineDriver *self = g_new0(EngineDriver, 1);
    g_autoptr(GError) error = NULL;
    QdEngineConfig config = { .directory = directory, .activity = on_activity };

    qd_limits_init(&config.limits);
    config.limits.values[QD_LIMIT_FREE_DISK_BYTES] = 0;
    config.limits.values[QD_LIMIT_CHECKPOINT_BYTES] = 64 * 1024; /* so that checkpoints are made all the time */
    config.limits.values[QD_LIMIT_CHECKPOINT_HOLD_MSEC] = 0;
    config.limits.values[QD_LIMIT_TALLY_FILE_ROWS] = 0; /* so that Optimize stores all columns */
    config.limits.values[QD_LIMIT_TALLY_FILE_PERCENT] = 1000;
    config.limits.values[QD_LIMIT_PAYLOAD_INLINE_BYTES] = 256; /* so that most have a file */
    self->mailbox = qd_mailbox_new(&error);
    g_assert_no_error(error);
    self->engine = qd_engine_new(&config, self->mailbox, &error);
    g_assert_no_error(error);
    return self;
}

EngineDriver *
engine_driver_free(EngineDriver *self)
{
    if (self == NULL)
        return NULL;

    qd_engine_free(self->engine);
    qd_mailbox_free(self->mailbox);
    g_free(self);
    return NULL;
}

static void
on_fact(const char *name, const char *value, void *user_data)
{
    if (g_str_equal(name, "database_path"))
        *(gboolean *) user_data = TRUE;
}

gboolean
engine_driver_is_open(EngineDriver *self)
{
    gboolean open = FALSE;

    qd_engine_foreach_fact(self->engine, on_fact, &open);
    return open;
}

QdClient *
engine_driver_make_client(EngineDriver *self, const char *label)
{
    return qd_client_new(label);
}

void
engine_driver_submit(EngineDriver *self, QdCall *call)
{
    qd_engine_submit(self->engine, call);
}

void
engine_driver_iterate(EngineDriver *self)
{
    struct pollfd pfd = { .fd = qd_mailbox_get_fd(self->mailbox), .events = POLLIN };

    if (poll(&pfd, 1, STALL_MSEC) == 0)
        g_error("no call has ended for %d s", STALL_MSEC / 1000);
    qd_mailbox_dispatch(self->mailbox);
}
