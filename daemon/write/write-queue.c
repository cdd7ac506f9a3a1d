/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lanes in a ring. A lane lives in its client, so that nothing is looked up or allocated.
 */
#include "daemon/write/write-queue.h"

#include "daemon/base/error.h"
#include "daemon/read/client.h"
#include "daemon/write/writer.h"

/* A CANCEL that comes while an item waits is seen so often. */
#define CANCEL_CHECK_USEC 50000

void
qd_write_queue_init(QdWriteQueue *self)
{
    *self = (QdWriteQueue){ 0 };
    self->end = &self->first;
}

static void
append_lane(QdWriteQueue *self, QdWriteLane *lane)
{
    lane->next = NULL;
    *self->end = lane;
    self->end = &lane->next;
}

/* @link: what points to the lane */
static QdWriteLane *
unlink_lane(QdWriteQueue *self, QdWriteLane **link)
{
    QdWriteLane *lane = *link;

    *link = lane->next;
    if (self->end == &lane->next)
        self->end = link;
    return lane;
}

/* The lane of @item, which is in the ring, and which counts it. */
static QdWriteLane *
enter_lane(QdWriteQueue *self, const QdWriteItem *item)
{
    QdWriteLane *lane = item->client != NULL ? &item->client->write_lane : &self->nobody;

    if (lane->first == NULL) {
        lane->end = &lane->first;
        append_lane(self, lane);
    }
    lane->n++;
    self->n++;
    self->n_durable += item->relaxed ? 0 : 1;
    return lane;
}

void
qd_write_queue_push(QdWriteQueue *self, QdWriteItem *item)
{
    QdWriteLane *lane = enter_lane(self, item);

    item->next = NULL;
    *lane->end = item;
    lane->end = &item->next;
}

void
qd_write_queue_push_back(QdWriteQueue *self, QdWriteItem *item)
{
    QdWriteLane *lane = enter_lane(self, item);

    item->next = lane->first;
    lane->first = item;
    if (item->next == NULL)
        lane->end = &item->next;
}

QdWriteItem *
qd_write_queue_peek(const QdWriteQueue *self)
{
    return self->first != NULL ? self->first->first : NULL;
}

/* @link: what points to the item */
static QdWriteItem *
unlink_item(QdWriteQueue *self, QdWriteLane *lane, QdWriteItem **link)
{
    QdWriteItem *item = *link;

    *link = item->next;
    if (lane->end == &item->next)
        lane->end = link;
    item->next = NULL;
    lane->n--;
    self->n--;
    self->n_durable -= item->relaxed ? 0 : 1;
    return item;
}

QdWriteItem *
qd_write_queue_pop(QdWriteQueue *self)
{
    QdWriteLane *lane;
    QdWriteItem *item;

    if (self->first == NULL)
        return NULL;

    lane = unlink_lane(self, &self->first);
    item = unlink_item(self, lane, &lane->first);
    if (lane->first != NULL)
        append_lane(self, lane);
    self->holder = lane;
    self->holder_usec = (uint64_t) g_get_monotonic_time();
    if (item->times.begun_usec == 0)
        item->times.begun_usec = self->holder_usec; /* it runs next */
    return item;
}

gboolean
qd_write_queue_has_waited(const QdWriteQueue *self, uint64_t before_usec)
{
    for (const QdWriteLane *lane = self->first; lane != NULL; lane = lane->next)
        if (lane != self->holder && lane->first->times.submitted_usec < before_usec)
            return TRUE;
    return FALSE;
}

/* No other thread reads the bytes of a channel while its items wait. */
void
qd_write_queue_look_for_cancels(QdWriteQueue *self, uint64_t now_usec)
{
    if (now_usec < self->cancel_check_usec)
        return;
    self->cancel_check_usec = now_usec + CANCEL_CHECK_USEC;
    for (const QdWriteLane *lane = self->first; lane != NULL; lane = lane->next)
        for (QdWriteItem *item = lane->first; item != NULL; item = item->next)
            if (item->finds_cancel != NULL && item->finds_cancel(item))
                g_atomic_int_set(&item->is_cancelled, TRUE);
}

static gboolean
is_late(QdWriteItem *item, uint64_t now_usec)
{
    if ((item->cancelled != NULL && g_atomic_int_get(item->cancelled)) || g_atomic_int_get(&item->is_cancelled)) {
        qd_error_set(&item->outcome.error, QW_ERROR_CANCELLED, "update was cancelled");
        return TRUE;
    }
    /* another thread may have submitted it after @now_usec */
    if (item->times.timeout_msec == 0 || now_usec <= item->times.submitted_usec + 1000 * item->times.timeout_msec)
        return FALSE;

    qd_error_set(&item->outcome.error, QW_ERROR_TIMEOUT,
                 "update waited for the writer for longer than its %" G_GUINT64_FORMAT
                 " ms ('update_timeout_ms' or the caller's 'timeout_ms')",
                 item->times.timeout_msec);
    return TRUE;
}

QdWriteItem *
qd_write_queue_pop_late(QdWriteQueue *self, uint64_t now_usec)
{
    for (QdWriteLane **lane_link = &self->first; *lane_link != NULL; lane_link = &(*lane_link)->next) {
        QdWriteLane *lane = *lane_link;

        for (QdWriteItem **link = &lane->first; *link != NULL; link = &(*link)->next) {
            QdWriteItem *item;

            if (!is_late(*link, now_usec))
                continue;
            item = unlink_item(self, lane, link);
            if (lane->first == NULL)
                (void) unlink_lane(self, lane_link);
            return item;
        }
    }
    return NULL;
}
