/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of frames. A reader that runs out of bytes leaves the frame as it was and is called again with more.
 */
#include "daemon/tracker/tracker-frame.h"

#include <string.h>

#include "daemon/base/error.h"

#define KIND_SPARQL 0
#define KIND_RDF 1

typedef struct Reader {
    QdTrackerFrame *frame;
    const guint8 *data;
    gsize n_bytes;
    gsize at;
    gboolean is_short; /* bytes are missing */
    GError **error;
} Reader;

void
qd_tracker_frame_init(QdTrackerFrame *self, gboolean is_array, gsize n_max)
{
    *self = (QdTrackerFrame){ .is_array = is_array, .n_max = n_max, .has_count = !is_array, .n_left = is_array ? 0 : 1 };
}

static gboolean
read_word(Reader *self, guint32 *ret_word)
{
    self->is_short = self->n_bytes - self->at < sizeof *ret_word;
    if (self->is_short)
        return FALSE;
    memcpy(ret_word, self->data + self->at, sizeof *ret_word);
    self->at += sizeof *ret_word;
    return TRUE;
}

/* A length, and so many bytes. */
static gboolean
read_bytes(Reader *self, const char **ret_bytes, gsize *ret_n_bytes)
{
    guint32 length;

    if (!read_word(self, &length))
        return FALSE;
    if (length > G_MAXINT32) {
        qd_error_set(self->error, QW_ERROR_BAD_PARAMETER, "an update of %d bytes", (int) (gint32) length);
        return FALSE;
    }
    if (length > self->frame->n_max - MIN(self->at, self->frame->n_max)) {
        qd_error_set(self->error, QW_ERROR_TOO_BIG, "updates of more than %zu bytes (limit batch_bytes)", self->frame->n_max);
        return FALSE;
    }
    self->is_short = self->n_bytes - self->at < length;
    if (self->is_short)
        return FALSE;
    *ret_bytes = (const char *) self->data + self->at;
    *ret_n_bytes = length;
    self->at += length;
    return TRUE;
}

/* 3.5: the text, then perhaps a NUL and the parameters. */
static void
split_parameters(QdTrackerOperation *operation)
{
    const char *nul = memchr(operation->text, '\0', operation->n_text);

    if (nul == NULL)
        return;
    operation->parameters = nul + 1;
    operation->n_parameters = operation->n_text - (gsize) (nul + 1 - operation->text);
    operation->n_text = (gsize) (nul - operation->text);
}

static gboolean
read_tagged(Reader *self, QdTrackerOperation *ret)
{
    guint32 kind;
    guint32 flags;

    if (!read_word(self, &kind))
        return FALSE;
    ret->is_rdf = kind == KIND_RDF;
    if (kind == KIND_SPARQL)
        return read_bytes(self, &ret->text, &ret->n_text) && read_bytes(self, &ret->parameters, &ret->n_parameters);
    if (kind == KIND_RDF)
        return read_word(self, &flags) && read_word(self, &ret->format) && read_bytes(self, &ret->graph, &ret->n_graph) &&
               read_bytes(self, &ret->text, &ret->n_text);

    qd_error_set(self->error, QW_ERROR_BAD_PARAMETER, "an update of the kind %u, which is not known", kind);
    return FALSE;
}

static gboolean
read_operation(Reader *self, QdTrackerOperation *ret)
{
    QdTrackerFrame *frame = self->frame;
    guint32 word;

    if (!frame->has_kind) {
        /* 0 and 1 are kinds; no update is as short as that */
        if (!read_word(self, &word))
            return FALSE;
        self->at -= sizeof word;
        frame->is_tagged = word <= KIND_RDF;
        frame->has_kind = TRUE;
    }
    if (frame->is_tagged)
        return read_tagged(self, ret);
    if (!read_bytes(self, &ret->text, &ret->n_text))
        return FALSE;
    split_parameters(ret);
    return TRUE;
}

static gboolean
read_count(Reader *self)
{
    QdTrackerFrame *frame = self->frame;

    if (frame->has_count)
        return TRUE;
    if (!read_word(self, &frame->n_left))
        return FALSE;
    frame->has_count = TRUE;
    frame->at = self->at;
    if (frame->n_left <= frame->n_max / sizeof(guint32))
        return TRUE;

    qd_error_set(self->error, QW_ERROR_TOO_BIG, "%u updates at once are too many (limit batch_bytes)", frame->n_left);
    return FALSE;
}

QdTrackerFrameStatus
qd_tracker_frame_next(QdTrackerFrame *self, const guint8 *data, gsize n_bytes, QdTrackerOperation *ret, GError **error)
{
    Reader reader = { .frame = self, .data = data, .n_bytes = n_bytes, .at = self->at, .error = error };
    QdTrackerOperation operation = { 0 };

    if (!read_count(&reader))
        return reader.is_short ? QD_TRACKER_FRAME_MORE : QD_TRACKER_FRAME_FAILED;
    if (self->n_left == 0)
        return QD_TRACKER_FRAME_END;
    if (!read_operation(&reader, &operation))
        return reader.is_short ? QD_TRACKER_FRAME_MORE : QD_TRACKER_FRAME_FAILED;

    self->at = reader.at;
    self->n_left--;
    *ret = operation;
    return QD_TRACKER_FRAME_OPERATION;
}
