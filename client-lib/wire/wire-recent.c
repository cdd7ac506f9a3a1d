/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caches are small and their hits are mostly the entry used last: then nothing is moved.
 */
#include "client-lib/wire/wire-recent.h"

#include <stddef.h>

void *
qw_recent_remove(QwRecent *self, uint32_t index)
{
    void *item = self->items[index];

    self->n--;
    for (uint32_t i = index; i < self->n; i++)
        self->items[i] = self->items[i + 1];
    return item;
}

void *
qw_recent_add(QwRecent *self, void *item)
{
    void *out = self->n == self->max ? qw_recent_remove(self, 0) : NULL;

    self->items[self->n++] = item;
    return out;
}

void
qw_recent_use(QwRecent *self, uint32_t index)
{
    if (index + 1 < self->n)
        (void) qw_recent_add(self, qw_recent_remove(self, index));
}

void *
qw_recent_pop(QwRecent *self)
{
    return self->n > 0 ? qw_recent_remove(self, 0) : NULL;
}
