/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes from the network, checked to be UTF-8, to a reader.
 */
#include "client-lib/remote-module/remote-input.h"

#include <string.h>

#include "client-lib/remote-module/remote-graph.h"
#include "client-lib/text/text-utf8.h"

#define READ_BYTES (128u * 1024u)
/* Rows of fewer bytes wait for more that are here already. */
#define EARLY_BYTES (32u * 1024u)

typedef struct Input {
    RemoteRows *rows;
    RemoteAnswer *answer;
    const gint *is_wanted;
    GCancellable *cancellable;
    guint64 n_read;
    char *data;
    gsize capacity;
    gsize start;   /* of what the reader has not done */
    gsize checked; /* up to here it is UTF-8 */
    gsize end;
} Input;

static const struct {
    const char *media_type;
    const RemoteReaderClass *klass;
} formats[] = {
    { "application/sparql-results+json", &remote_json_class },
    { "application/json", &remote_json_class },
    { "text/tab-separated-values", &remote_tsv_class },
    { "application/sparql-results+xml", &remote_xml_class },
    { "application/xml", &remote_xml_class },
    { "text/xml", &remote_xml_class },
};

gboolean
remote_input_is_tsv(const RemoteAnswer *answer)
{
    return g_str_equal(answer->media_type, "text/tab-separated-values");
}

static const RemoteReaderClass *
find_class(const RemoteAnswer *answer)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (g_str_equal(formats[i].media_type, answer->media_type))
            return formats[i].klass;
    return NULL;
}

/* What is here already is read before an application that waits gets a small page. */
static gboolean
is_readable(const Input *self)
{
    GPollableInputStream *stream = G_IS_POLLABLE_INPUT_STREAM(self->answer->body) ? G_POLLABLE_INPUT_STREAM(self->answer->body)
                                                                                  : NULL;

    return stream != NULL && g_pollable_input_stream_can_poll(stream) && g_pollable_input_stream_is_readable(stream);
}

/* Returns: the number of bytes, 0 at the end, -1 with @error set, or not set when no more rows are wanted */
static gssize
read_some(Input *self, char *buffer, gsize n_bytes, GError **error)
{
    const QwPageWriter *page = &self->rows->page;
    gboolean waits = self->is_wanted != NULL && g_atomic_int_get(self->is_wanted) != 0;
    GError *failure = NULL;
    gssize n;

    if (waits && page->data != NULL && page->n_rows > 0 && (page->used >= EARLY_BYTES || !is_readable(self)) &&
        !remote_rows_flush(self->rows))
        return -1;
    n = g_input_stream_read(self->answer->body, buffer, n_bytes, self->cancellable, &failure);
    if (n < 0)
        remote_http_take_error(error, failure, self->answer->message);
    if (n > 0)
        self->n_read += (guint64) n;
    if (self->answer->bytes_max > 0 && self->n_read > self->answer->bytes_max) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG,
                    "the endpoint's answer has more than %s, which is %" G_GUINT64_FORMAT " bytes: ask for less, or raise it",
                    self->answer->names->answer_bytes, self->answer->bytes_max);
        return -1;
    }
    return n;
}

static gssize
read_for_graph(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    return read_some(data, buffer, n_bytes, error);
}

/* Room for READ_BYTES more. */
static gboolean
make_room(Input *self, GError **error)
{
    if (self->start > 0) {
        memmove(self->data, self->data + self->start, self->end - self->start);
        self->end -= self->start;
        self->checked -= self->start;
        self->start = 0;
    }
    if (self->capacity - self->end >= READ_BYTES)
        return TRUE;
    if (self->end > self->rows->row_bytes) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG,
                    "a row of the result has more than row_bytes, which is %" G_GSIZE_FORMAT, self->rows->row_bytes);
        return FALSE;
    }
    self->capacity = MAX(2 * self->capacity, 2 * READ_BYTES);
    self->data = g_realloc(self->data, self->capacity);
    return TRUE;
}

/* A character that is cut by the end of the bytes waits for its rest. */
static gboolean
check_text(Input *self, gboolean is_end, GError **error)
{
    const char *p = self->data + self->checked;
    gsize n = self->end - self->checked;
    gsize n_good;

    if (n > 0 && memchr(p, '\0', n) != NULL)
        return remote_rows_set_malformed(self->rows, error, "it has a NUL");
    n_good = qw_text_span_utf8(p, n);
    self->checked += n_good;
    if (n_good == n || (!is_end && n - n_good < 4 && (guchar) p[n_good] >= 0xc2))
        return TRUE;
    return remote_rows_set_malformed(self->rows, error, "it is not UTF-8");
}

static gboolean
read_with(Input *self, RemoteReader *reader, GError **error)
{
    gboolean is_end = FALSE;

    while (!is_end) {
        GError *failure = NULL;
        gsize used = 0;
        gssize n;

        if (!make_room(self, error))
            return FALSE;
        n = read_some(self, self->data + self->end, self->capacity - self->end, error);
        if (n < 0)
            return FALSE;
        is_end = n == 0;
        self->end += (gsize) n;
        if (!check_text(self, is_end, error))
            return FALSE;
        if (!reader->klass->read(reader, self->data + self->start, self->checked - self->start, is_end, &used, &failure)) {
            if (failure != NULL)
                g_propagate_error(error, failure);
            return FALSE;
        }
        self->start += used;
    }
    return TRUE;
}

static gboolean
read_results(Input *self, const RemoteReaderClass *klass, GError **error)
{
    RemoteReader *reader = klass->create(self->rows);
    gboolean ok = read_with(self, reader, error);

    klass->free(reader);
    g_free(self->data);
    return ok;
}

static gboolean
read_graph(Input *self, QdRdfFormat format, GError **error)
{
    g_autofree char *base = g_uri_to_string(soup_message_get_uri(self->answer->message));

    return remote_graph_read(self->rows, format, base, read_for_graph, self, error);
}

gboolean
remote_input_read(RemoteRows *rows, RemoteAnswer *answer, const gint *is_wanted, GCancellable *cancellable, GError **error)
{
    Input input = { .rows = rows, .answer = answer, .is_wanted = is_wanted, .cancellable = cancellable };
    const RemoteReaderClass *klass = find_class(answer);
    QdRdfFormat format = QD_RDF_XML;

    if (klass == NULL && !remote_graph_find_format(answer->media_type, &format)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED,
                    "the endpoint answers with '%.100s', which is no format of SPARQL results or RDF: is it a SPARQL endpoint?",
                    answer->media_type);
        return FALSE;
    }
    if (!answer->is_end_marked &&
        (klass == &remote_tsv_class || (klass == NULL && format != QD_RDF_XML && format != QD_RDF_JSONLD))) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL,
                            "the endpoint sends neither length nor chunks: a result that is cut would look whole");
        return FALSE;
    }
    answer->was_read = klass != NULL ? read_results(&input, klass, error) : read_graph(&input, format, error);
    if (answer->was_read && (klass == NULL || klass == &remote_tsv_class) && remote_answer_is_cut(answer)) {
        answer->was_read = FALSE;
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED,
                            "the connection to the endpoint was lost amid the result");
    }
    return answer->was_read;
}
