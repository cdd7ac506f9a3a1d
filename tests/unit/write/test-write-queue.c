/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns: no client waits for all that another one has to write.
 */
#include "daemon/write/write-queue.h"

#include "daemon/read/client.h"
#include "daemon/write/writer.h"
#include "tests/unit/store/store-fixture.h"

#define N_ITEMS 12

typedef struct Fixture {
    QdWriteQueue queue;
    QdClient *clients[2];
    QdWriteItem items[N_ITEMS];
} Fixture;

/* Of @plan each letter is an item: a and b of a client, '-' without a client. */
static void
set_up(Fixture *self, const char *plan)
{
    qd_write_queue_init(&self->queue);
    for (guint i = 0; i < G_N_ELEMENTS(self->clients); i++)
        self->clients[i] = qd_client_new("x");
    for (guint i = 0; plan[i] != 0; i++) {
        self->items[i] = (QdWriteItem){ .client = plan[i] == '-' ? NULL : self->clients[plan[i] - 'a'], .relaxed = i % 2 == 0 };
        qd_write_queue_push(&self->queue, &self->items[i]);
    }
}

static void
assert_next(Fixture *self, const char *plan, const char *expected)
{
    for (const char *p = expected; *p != 0; p++) {
        QdWriteItem *item = qd_write_queue_peek(&self->queue);

        g_assert_nonnull(item);
        g_assert_true(qd_write_queue_pop(&self->queue) == item);
        g_assert_cmpint(plan[item - self->items], ==, *p);
    }
}

static void
tear_down(Fixture *self)
{
    g_assert_null(qd_write_queue_peek(&self->queue));
    g_assert_null(qd_write_queue_pop(&self->queue));
    g_assert_cmpuint(self->queue.n, ==, 0);
    g_assert_cmpuint(self->queue.n_durable, ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(self->clients); i++) {
        g_assert_cmpuint(self->clients[i]->write_lane.n, ==, 0);
        qd_client_unref(self->clients[i]);
    }
}

static void
test_turns(void)
{
    static const char plan[] = "aaaaaab--b";
    Fixture self;

    set_up(&self, plan);
    g_assert_cmpuint(self.queue.n, ==, 10);
    g_assert_cmpuint(self.queue.n_durable, ==, 5);
    assert_next(&self, plan, "ab-ab-aaaa");
    tear_down(&self);
}

/* Each client's own come out as they went in. */
static void
test_order(void)
{
    static const char plan[] = "abababab";
    Fixture self;
    const QdWriteItem *last[2] = { NULL };

    set_up(&self, plan);
    for (guint i = 0; plan[i] != 0; i++) {
        const QdWriteItem *item = qd_write_queue_pop(&self.queue);
        guint client = item->client == self.clients[0] ? 0 : 1;

        g_assert_true(item > last[client] || last[client] == NULL);
        last[client] = item;
    }
    tear_down(&self);
}

/* A lane that was empty, or is cut at its end, goes on. */
static void
test_push_again(void)
{
    static const char plan[] = "ab";
    Fixture self;

    set_up(&self, plan);
    assert_next(&self, plan, "ab");
    for (guint i = 0; i < 2; i++) {
        qd_write_queue_push(&self.queue, &self.items[0]);
        qd_write_queue_push(&self.queue, &self.items[1]);
        assert_next(&self, plan, "ab");
    }
    tear_down(&self);
}

static void
test_late(void)
{
    static const char plan[] = "aaab-b";
    Fixture self;
    gint cancelled = 1;

    set_up(&self, plan);
    for (guint i = 0; i < 6; i++)
        self.items[i].times.submitted_usec = 1000000;
    self.items[1].times.timeout_msec = 20;
    self.items[2].times.timeout_msec = 5;
    self.items[3].cancelled = &cancelled;
    self.items[5].times.timeout_msec = 5;
    g_assert_true(qd_write_queue_pop_late(&self.queue, 1000000) == &self.items[3]);
    store_assert_error(self.items[3].outcome.error, QW_ERROR_CANCELLED, "update was cancelled");
    /* by a thread that has read the clock before they were submitted */
    g_assert_null(qd_write_queue_pop_late(&self.queue, 999999));
    g_assert_null(qd_write_queue_pop_late(&self.queue, 1005000));
    g_assert_true(qd_write_queue_pop_late(&self.queue, 1005001) == &self.items[2]);
    store_assert_error(self.items[2].outcome.error, QW_ERROR_TIMEOUT, "waited for the writer for longer than its 5 ms");
    g_assert_true(qd_write_queue_pop_late(&self.queue, 1005001) == &self.items[5]);
    g_assert_null(qd_write_queue_pop_late(&self.queue, 1005001));
    assert_next(&self, plan, "a-a");
    for (guint i = 0; i < 6; i++)
        g_clear_error(&self.items[i].outcome.error);
    tear_down(&self);
}

static gboolean
is_marked(const QdWriteItem *item)
{
    return item->data != NULL;
}

/* However many wait before it, of its own client or of another one. */
static void
test_cancels(void)
{
    enum { N = 600 };
    g_autofree QdWriteItem *items = g_new0(QdWriteItem, N);
    Fixture self;

    set_up(&self, "");
    for (guint i = 0; i < N; i++) {
        items[i].client = self.clients[i == N - 1 ? 1 : 0];
        items[i].finds_cancel = is_marked;
        qd_write_queue_push(&self.queue, &items[i]);
    }
    items[N - 2].data = items[N - 1].data = &self;
    qd_write_queue_look_for_cancels(&self.queue, G_USEC_PER_SEC);
    for (guint i = 0; i < N; i++)
        g_assert_cmpint(items[i].is_cancelled, ==, i >= N - 2);
    for (guint i = 0; i < 2; i++) {
        QdWriteItem *late = qd_write_queue_pop_late(&self.queue, G_USEC_PER_SEC);

        g_assert_true(late == &items[N - 1] || late == &items[N - 2]);
        g_clear_error(&late->outcome.error);
    }
    while (qd_write_queue_pop(&self.queue) != NULL)
        continue;
    tear_down(&self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/write/write-queue/turns", test_turns);
    g_test_add_func("/write/write-queue/order", test_order);
    g_test_add_func("/write/write-queue/push-again", test_push_again);
    g_test_add_func("/write/write-queue/late", test_late);
    g_test_add_func("/write/write-queue/cancels", test_cancels);
    return g_test_run();
}
