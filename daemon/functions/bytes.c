/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is large grows by a quarter: the kernel moves its pages, and little is counted that is not used.
 */
#include <string.h>

#include "daemon/functions/value.h"

#define FIRST_BYTES 64
#define SMALL_BYTES 1024
#define LARGE_BYTES 1048576

void
qd_bytes_clear(QdBytes *self)
{
    sqlite3_free(self->data);
    self->data = NULL;
    self->n = 0;
    self->capacity = 0;
}

gboolean
qd_bytes_reserve(QdBytes *self, gsize n_bytes)
{
    gsize more = self->capacity < LARGE_BYTES ? self->capacity : self->capacity / 4;
    gsize capacity;
    guint8 *data;

    if (n_bytes <= self->capacity - self->n)
        return self->ev->error == NULL;
    if (!qd_evaluation_allows(self->ev, self->n, n_bytes))
        return FALSE;

    capacity = MIN(MAX(FIRST_BYTES, MAX(self->capacity + more, self->n + n_bytes)), self->ev->max_bytes);
    data = sqlite3_realloc64(self->data, capacity);
    if (data == NULL) {
        qd_evaluation_fail_memory(self->ev, capacity);
        return FALSE;
    }
    self->data = data;
    self->capacity = capacity;
    return TRUE;
}

gboolean
qd_bytes_append(QdBytes *self, gconstpointer bytes, gsize n_bytes)
{
    if (!qd_bytes_reserve(self, n_bytes))
        return FALSE;
    if (n_bytes > 0)
        memcpy(self->data + self->n, bytes, n_bytes);
    self->n += n_bytes;
    return TRUE;
}

guint8 *
qd_bytes_take(QdBytes *self, gsize *ret_n)
{
    guint8 *data;

    if (!qd_bytes_reserve(self, self->data == NULL ? 1 : 0))
        return NULL;

    data = sqlite3_realloc64(self->data, MAX(self->n, 1));
    *ret_n = self->n;
    if (data == NULL)
        data = self->data; /* larger than need be */
    self->data = NULL;
    qd_bytes_clear(self);
    return data;
}

const char *
qd_bytes_keep(QdBytes *self, gsize *ret_n)
{
    guint8 *data;

    if (self->n <= SMALL_BYTES) {
        data = qd_evaluation_alloc(self->ev, self->n);
        *ret_n = self->n;
        if (data != NULL && self->n > 0)
            memcpy(data, self->data, self->n);
        return (const char *) data;
    }
    data = qd_bytes_take(self, ret_n);
    if (data != NULL)
        qd_evaluation_own(self->ev, data, *ret_n);
    return (const char *) data;
}

void
qd_bytes_empty(QdBytes *self)
{
    self->n = 0;
    if (self->capacity > QD_BYTES_KEPT)
        qd_bytes_clear(self);
}
