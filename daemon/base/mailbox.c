/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue under a pthread mutex (TSan knows those) and an eventfd that is written when the queue stops being empty.
 */
#include "daemon/base/mailbox.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/error.h"

typedef struct Mail {
    QdMailFunc func;
    void *data;
} Mail;

struct QdMailbox {
    pthread_mutex_t mutex;
    GArray *mails; /* of Mail */
    int event_fd;
};

QdMailbox *
qd_mailbox_new(GError **error)
{
    QdMailbox *self;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0) {
        qd_error_set_errno(error, errno, "cannot create an eventfd");
        return NULL;
    }

    self = g_new0(QdMailbox, 1);
    self->event_fd = fd;
    self->mails = g_array_new(FALSE, FALSE, sizeof(Mail));
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdMailbox *
qd_mailbox_free(QdMailbox *self)
{
    if (self == NULL)
        return NULL;

    qd_mailbox_dispatch(self);
    g_array_unref(self->mails);
    pthread_mutex_destroy(&self->mutex);
    (void) close(self->event_fd);
    g_free(self);
    return NULL;
}

int
qd_mailbox_get_fd(const QdMailbox *self)
{
    return self->event_fd;
}

void
qd_mailbox_post(QdMailbox *self, QdMailFunc func, void *data)
{
    Mail mail = { .func = func, .data = data };
    gboolean was_empty;

    pthread_mutex_lock(&self->mutex);
    was_empty = self->mails->len == 0;
    g_array_append_val(self->mails, mail);
    pthread_mutex_unlock(&self->mutex);

    if (was_empty)
        (void) eventfd_write(self->event_fd, 1);
}

void
qd_mailbox_dispatch(QdMailbox *self)
{
    g_autoptr(GArray) mails = NULL;
    eventfd_t ignored;

    (void) eventfd_read(self->event_fd, &ignored);

    pthread_mutex_lock(&self->mutex);
    mails = self->mails;
    self->mails = g_array_new(FALSE, FALSE, sizeof(Mail));
    pthread_mutex_unlock(&self->mutex);

    for (guint i = 0; i < mails->len; i++) {
        Mail *mail = &g_array_index(mails, Mail, i);

        mail->func(mail->data);
    }
}
