/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a form: each is parsed in its own format and written as N-Triples.
 */
#include "client-lib/http/http-multipart.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/http/http-service.h"
#include "daemon/base/limits.h"
#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdf-writer.h"

typedef struct Merge {
    GString *out;
    guint part;
    const char *data; /* what is left of the part */
    gsize n_bytes;
} Merge;

static gssize
read_part(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Merge *self = data;
    gsize n = MIN(n_bytes, self->n_bytes);

    memcpy(buffer, self->data, n);
    self->data += n;
    self->n_bytes -= n;
    return (gssize) n;
}

static void
put_term(Merge *self, const QdTerm *term)
{
    if (term->kind == QD_TERM_BNODE)
        g_string_append_printf(self->out, "_:p%u", self->part);
    if (term->kind == QD_TERM_BNODE)
        g_string_append_len(self->out, term->lexical, (gssize) term->n_lexical);
    else
        qd_rdf_append_term(self->out, term);
}

static gboolean
put_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    Merge *self = data;

    if (g != NULL) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the document has a named graph");
        return FALSE;
    }
    put_term(self, s);
    g_string_append_c(self->out, ' ');
    put_term(self, p);
    g_string_append_c(self->out, ' ');
    put_term(self, o);
    g_string_append(self->out, " .\n");
    return TRUE;
}

static bool
merge_part(QhttpExchange *exchange, SoupMultipart *multipart, Merge *merge, const QdLimits *limits)
{
    g_autofree char *url = qhttp_exchange_get_url(exchange);
    SoupMessageHeaders *headers = NULL;
    GBytes *body = NULL;
    const char *type;
    const QhttpFormat *format;
    g_autoptr(GError) error = NULL;
    QdRdfReading reading = {
        .base = url, .read_func = read_part, .read_data = merge, .quad_func = put_quad, .data = merge, .limits = limits
    };

    if (!soup_multipart_get_part(multipart, (int) merge->part, &headers, &body))
        return false;
    type = soup_message_headers_get_content_type(headers, NULL);
    format = type != NULL ? qhttp_accept_find_rdf(type) : NULL;
    if (format == NULL || qd_rdf_format_is_for_graphs(format->rdf)) {
        qhttp_exchange_fail(exchange, 415,
                            "part %u is none of text/turtle, application/n-triples, application/rdf+xml and "
                            "application/ld+json",
                            merge->part + 1);
        return false;
    }
    reading.format = format->rdf;
    merge->data = g_bytes_get_data(body, &merge->n_bytes);
    if (qd_rdf_read(&reading, &error))
        return true;

    qhttp_exchange_fail(exchange, 400, "part %u: %s", merge->part + 1, error->message);
    return false;
}

/* (transfer full) (nullable): NULL: answered */
static GBytes *
read_body(QhttpExchange *exchange)
{
    guint64 n_max = qhttp_service_get_limit(exchange->service, QHTTP_LIMIT_BODY_BYTES);
    g_autofree char *data = NULL;
    ssize_t n;

    if (exchange->n_body_bytes > n_max) {
        qhttp_exchange_fail(exchange, 413, "a form of documents is held in memory: limit '%s' of %" G_GUINT64_FORMAT,
                            qhttp_limit_get_name(QHTTP_LIMIT_BODY_BYTES), n_max);
        return NULL;
    }
    data = g_malloc(exchange->n_body_bytes + 1);
    data[exchange->n_body_bytes] = '\0'; /* libsoup 3.2 looks for the boundary with strstr() */
    n = pread(exchange->body_fd, data, exchange->n_body_bytes, 0);
    if (n == (ssize_t) exchange->n_body_bytes)
        return g_bytes_new_take(g_steal_pointer(&data), (gsize) n);

    qhttp_exchange_fail(exchange, 500, "cannot read the document again: %s", g_strerror(errno));
    return NULL;
}

static bool
keep(QhttpExchange *exchange, const GString *text)
{
    if (ftruncate(exchange->body_fd, 0) == 0 && pwrite(exchange->body_fd, text->str, text->len, 0) == (ssize_t) text->len &&
        lseek(exchange->body_fd, 0, SEEK_SET) == 0)
        return true;

    qhttp_exchange_fail(exchange, 507, "cannot keep the document in '%s': %s", g_get_tmp_dir(), g_strerror(errno));
    return false;
}

bool
qhttp_multipart_merge(QhttpExchange *exchange)
{
    g_autoptr(GBytes) body = read_body(exchange);
    g_autoptr(SoupMultipart) multipart = NULL;
    g_autoptr(GString) out = g_string_new(NULL);
    Merge merge = { .out = out };
    QdLimits limits;

    if (body == NULL)
        return false;
    multipart = soup_multipart_new_from_message(exchange->request_headers, body);
    if (multipart == NULL) {
        qhttp_exchange_fail(exchange, 400, "the body is not multipart/form-data with the boundary of its Content-Type");
        return false;
    }
    qd_limits_init(&limits);
    for (; merge.part < (guint) soup_multipart_get_length(multipart); merge.part++)
        if (!merge_part(exchange, multipart, &merge, &limits))
            return false;
    return keep(exchange, out);
}
