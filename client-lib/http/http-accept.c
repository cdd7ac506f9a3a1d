/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of formats, and the choice among them.
 */
#include "client-lib/http/http-accept.h"

#include <string.h>

#define IS(kind) (1u << QHTTP_KIND_##kind)
/* A longer list is looked at each time. */
#define LAST_BYTES 128
#define RESULTS (IS(SOLUTIONS) | IS(BOOLEAN))

/* The first of a kind is what a client gets that takes everything. */
static const QhttpFormat formats[] = {
    { "application/sparql-results+json", "application/sparql-results+json", RESULTS, .results = QD_RESULTS_JSON },
    { "application/sparql-results+xml", "application/sparql-results+xml", RESULTS, .results = QD_RESULTS_XML },
    { "text/csv", "text/csv; charset=utf-8; header=present", RESULTS, .results = QD_RESULTS_CSV },
    { "text/tab-separated-values", "text/tab-separated-values; charset=utf-8", RESULTS, .results = QD_RESULTS_TSV },
    { "application/json", "application/json", RESULTS, .results = QD_RESULTS_JSON },
    { "application/xml", "application/xml", RESULTS, .results = QD_RESULTS_XML },
    { "text/xml", "text/xml", RESULTS, .results = QD_RESULTS_XML },
    { "text/turtle", "text/turtle; charset=utf-8", IS(GRAPH), true, .rdf = QD_RDF_TURTLE },
    { "application/n-triples", "application/n-triples", IS(GRAPH), true, .rdf = QD_RDF_NTRIPLES },
    { "application/rdf+xml", "application/rdf+xml", IS(GRAPH), true, .rdf = QD_RDF_XML },
    { "application/ld+json", "application/ld+json", IS(GRAPH), true, .rdf = QD_RDF_JSONLD },
    { "application/trig", "application/trig", IS(GRAPH), true, .rdf = QD_RDF_TRIG },
    { "application/n-quads", "application/n-quads", IS(GRAPH), true, .rdf = QD_RDF_NQUADS },
    { "application/x-turtle", "application/x-turtle; charset=utf-8", IS(GRAPH), true, .rdf = QD_RDF_TURTLE },
    { "text/plain", "text/plain; charset=utf-8", IS(GRAPH), true, .rdf = QD_RDF_NTRIPLES },
    { "application/json", "application/json", IS(ROWS), .text = QD_TEXT_FORMAT_JSON },
    { "text/csv", "text/csv; charset=utf-8; header=present", IS(ROWS), .text = QD_TEXT_FORMAT_CSV },
    { "text/tab-separated-values", "text/tab-separated-values; charset=utf-8", IS(ROWS), .text = QD_TEXT_FORMAT_TSV },
    { "application/x-ndjson", "application/x-ndjson", IS(ROWS), .text = QD_TEXT_FORMAT_JSONL },
    { "text/plain", "text/plain; charset=utf-8", IS(PAGE) },
    { "text/html", "text/html; charset=utf-8", IS(PAGE) },
    { "application/problem+json", "application/problem+json", IS(PROBLEM) },
    { "text/plain", "text/plain; charset=utf-8", IS(PROBLEM) },
};

/* The next element of a list, without the spaces around it; NULL at the end. No media type has a comma. */
static const char *
next_element(const char **list, gsize *ret_n_bytes)
{
    const char *start = *list + strspn(*list, " \t,");
    gsize n = strcspn(start, ",");

    *list = start + n;
    while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\t'))
        n--;
    *ret_n_bytes = n;
    return n > 0 ? start : NULL;
}

/* In thousandths; what is malformed counts as 1. */
static guint
get_quality(const char *element, gsize n_bytes)
{
    const char *end = element + n_bytes;
    guint quality = 0;
    guint unit = 100;

    for (const char *p = memchr(element, ';', n_bytes); p != NULL; p = memchr(p, ';', (gsize) (end - p))) {
        for (p++; p < end && (*p == ' ' || *p == '\t'); p++)
            continue;
        if (end - p < 3 || g_ascii_tolower(p[0]) != 'q' || p[1] != '=')
            continue;
        if (p[2] != '0')
            return 1000;
        for (p += 3; p < end && *p == '.'; p++)
            continue;
        for (; p < end && g_ascii_isdigit(*p); p++, unit /= 10)
            quality += unit * (guint) (*p - '0');
        return quality;
    }
    return 1000;
}

/* 3: the very type, 2: its first half, 1: anything, 0: not meant. */
static guint
get_match(const char *element, gsize n_bytes, const char *media_type)
{
    const char *parameters = memchr(element, ';', n_bytes);
    gsize n = parameters != NULL ? (gsize) (parameters - element) : n_bytes;
    gsize n_half = (gsize) (strchr(media_type, '/') - media_type) + 1;

    while (n > 0 && (element[n - 1] == ' ' || element[n - 1] == '\t'))
        n--;
    if (n == 3 && memcmp(element, "*/*", 3) == 0)
        return 1;
    if (n == n_half + 1 && element[n_half] == '*' && g_ascii_strncasecmp(element, media_type, n_half) == 0)
        return 2;
    return n == strlen(media_type) && g_ascii_strncasecmp(element, media_type, n) == 0 ? 3 : 0;
}

static guint
rate(const char *accept, const char *media_type)
{
    const char *element;
    gsize n_bytes;
    guint best_match = 0;
    guint quality = 0;

    while ((element = next_element(&accept, &n_bytes)) != NULL) {
        guint match = get_match(element, n_bytes, media_type);

        if (match > best_match) {
            best_match = match;
            quality = get_quality(element, n_bytes);
        }
    }
    return quality;
}

static const QhttpFormat *
choose(const char *accept, QhttpKind kind)
{
    const QhttpFormat *best = NULL;
    guint best_quality = 0;

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        guint quality;

        if ((formats[i].kinds & (1u << kind)) == 0)
            continue;
        quality = accept != NULL && accept[0] != '\0' ? rate(accept, formats[i].media_type) : 1000;
        if (quality > best_quality) {
            best_quality = quality;
            best = &formats[i];
        }
    }
    return best;
}

/* A client asks for the same again and again. */
const QhttpFormat *
qhttp_accept_choose(const char *accept, QhttpKind kind)
{
    static char last_accept[LAST_BYTES];
    static QhttpKind last_kind;
    static const QhttpFormat *last;
    gsize n_bytes = accept != NULL ? strlen(accept) + 1 : LAST_BYTES + 1;

    if (n_bytes > LAST_BYTES)
        return choose(accept, kind);
    if (last == NULL || last_kind != kind || memcmp(last_accept, accept, n_bytes) != 0) {
        last = choose(accept, kind);
        last_kind = kind;
        memcpy(last_accept, accept, n_bytes);
    }
    return last;
}

char *
qhttp_accept_list(QhttpKind kind)
{
    g_autoptr(GPtrArray) types = g_ptr_array_new();

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if ((formats[i].kinds & (1u << kind)) != 0)
            g_ptr_array_add(types, (gpointer) formats[i].media_type);
    g_ptr_array_add(types, NULL);
    return g_strjoinv(", ", (char **) types->pdata);
}

const QhttpFormat *
qhttp_accept_find_rdf(const char *media_type)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].is_rdf && g_ascii_strcasecmp(formats[i].media_type, media_type) == 0)
            return &formats[i];
    return NULL;
}
