/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text that the readers of RDF get in pieces.
 *
 * Place: tests.
 */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct TextInput {
    const char *text;
    gsize n;
    gsize pos;
    gsize piece; /* bytes a call */
} TextInput;

/* A QdRdfReadFunc. @data: begins with a TextInput */
static inline gssize
text_input_read(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    TextInput *self = data;
    gsize n = MIN(MIN(n_bytes, self->piece), self->n - self->pos);

    memcpy(buffer, self->text + self->pos, n);
    self->pos += n;
    return (gssize) n;
}
