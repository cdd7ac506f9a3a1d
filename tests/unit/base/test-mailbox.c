/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mailbox: everything posted runs once, in each sender's order, and the descriptor tells when something waits.
 */
#include "daemon/base/mailbox.h"

#include <poll.h>

#define N_THREADS 4u
#define N_MAILS 5000u

typedef struct Letter {
    guint *counter; /* of its thread */
    guint number;
} Letter;

typedef struct Sender {
    QdMailbox *mailbox;
    guint counter;
    Letter letters[N_MAILS];
} Sender;

static void
on_letter(void *data)
{
    const Letter *letter = data;

    g_assert_cmpuint(*letter->counter, ==, letter->number);
    (*letter->counter)++;
}

static gpointer
send_all(gpointer data)
{
    Sender *self = data;

    for (guint i = 0; i < N_MAILS; i++) {
        self->letters[i] = (Letter){ .counter = &self->counter, .number = i };
        qd_mailbox_post(self->mailbox, on_letter, &self->letters[i]);
    }
    return NULL;
}

static gboolean
wait_for_mail(const QdMailbox *mailbox, int timeout_msec)
{
    struct pollfd item = { .fd = qd_mailbox_get_fd(mailbox), .events = POLLIN };

    return poll(&item, 1, timeout_msec) == 1;
}

static void
test_threads(void)
{
    g_autoptr(QdMailbox) mailbox = qd_mailbox_new(NULL);
    g_autofree Sender *senders = g_new0(Sender, N_THREADS);
    GThread *threads[N_THREADS];
    guint n_received = 0;

    for (guint i = 0; i < N_THREADS; i++) {
        senders[i].mailbox = mailbox;
        threads[i] = g_thread_new("sender", send_all, &senders[i]);
    }
    while (n_received < N_THREADS * N_MAILS) {
        g_assert_true(wait_for_mail(mailbox, 10000));
        qd_mailbox_dispatch(mailbox);
        n_received = 0;
        for (guint i = 0; i < N_THREADS; i++)
            n_received += senders[i].counter;
    }
    for (guint i = 0; i < N_THREADS; i++)
        g_thread_join(threads[i]);
    g_assert_false(wait_for_mail(mailbox, 0));
}

static void
post_again(void *data)
{
    QdMailbox **mailbox = data;
    QdMailbox *target = g_steal_pointer(mailbox);

    if (target != NULL)
        qd_mailbox_post(target, post_again, mailbox);
}

static void
test_post_from_within(void)
{
    g_autoptr(QdMailbox) mailbox = qd_mailbox_new(NULL);
    QdMailbox *once = mailbox;

    qd_mailbox_post(mailbox, post_again, &once);
    qd_mailbox_dispatch(mailbox);
    g_assert_null(once);
    g_assert_true(wait_for_mail(mailbox, 0));
    qd_mailbox_dispatch(mailbox);
    g_assert_false(wait_for_mail(mailbox, 0));
}

static void
test_free_runs_what_waits(void)
{
    QdMailbox *mailbox = qd_mailbox_new(NULL);
    guint counter = 0;
    Letter letter = { .counter = &counter };

    qd_mailbox_post(mailbox, on_letter, &letter);
    (void) qd_mailbox_free(mailbox);
    g_assert_cmpuint(counter, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/mailbox/threads", test_threads);
    g_test_add_func("/base/mailbox/post-from-within", test_post_from_within);
    g_test_add_func("/base/mailbox/free-runs-what-waits", test_free_runs_what_waits);
    return g_test_run();
}
