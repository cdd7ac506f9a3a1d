/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * It polls the descriptor of a cancellable, which GLib keeps for this, and calls nothing.
 */
#include "client-lib/core/query-cancel-source.h"

typedef struct CancelSource {
    GSource source;
    GCancellable *cancellable;
    gpointer tag; /* (nullable): of its descriptor */
} CancelSource;

static gboolean
on_cancel_check(GSource *source)
{
    gpointer tag = ((CancelSource *) source)->tag;

    return tag != NULL && g_source_query_unix_fd(source, tag) != 0;
}

static gboolean
on_cancel_dispatch(GSource *source, GSourceFunc callback, gpointer user_data)
{
    return G_SOURCE_CONTINUE;
}

static void
on_cancel_finalize(GSource *source)
{
    CancelSource *self = (CancelSource *) source;

    if (self->tag != NULL)
        g_cancellable_release_fd(self->cancellable);
    g_clear_object(&self->cancellable);
}

static GSourceFuncs cancel_source_funcs = { .check = on_cancel_check,
                                            .dispatch = on_cancel_dispatch,
                                            .finalize = on_cancel_finalize };

GSource *
query_cancel_source_new(GCancellable *cancellable)
{
    GSource *source = g_source_new(&cancel_source_funcs, sizeof(CancelSource));
    CancelSource *self = (CancelSource *) source;
    GPollFD poll_fd;

    if (cancellable == NULL || !g_cancellable_make_pollfd(cancellable, &poll_fd))
        return source;
    self->cancellable = g_object_ref(cancellable);
    self->tag = g_source_add_unix_fd(source, poll_fd.fd, G_IO_IN);
    return source;
}
