/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Service Description, with the sizes of the graphs in the vocabulary VoID.
 *
 * It is the result of a query for these sizes, whose encoder writes the description instead of rows.
 */
#include <stdlib.h>
#include <string.h>

#include "client-lib/http/http-result.h"
#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"
#include "daemon/rdfio/rdf-writer.h"

#define GRAPH_SIZES "SELECT ?g (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } GROUP BY ?g"
#define RDF_TYPE QD_RDF_NAMESPACE "type"
#define SD "http://www.w3.org/ns/sparql-service-description#"
#define VOID "http://rdfs.org/ns/void#"
#define FORMATS "http://www.w3.org/ns/formats/"

typedef struct Description {
    QdRdfWriter *writer;
    guint n_graphs;
    guint64 n_default;
    guint64 n_triples; /* of all graphs */
} Description;

static QdTerm
make_term(QdTermKind kind, const char *text)
{
    return (QdTerm){ .kind = kind, .lexical = text, .n_lexical = strlen(text) };
}

static void
put(Description *self, const char *subject, const char *predicate, QdTermKind kind, const char *object)
{
    bool is_iri = strchr(subject, ':') != NULL;
    const QdTerm s = make_term(is_iri ? QD_TERM_IRI : QD_TERM_BNODE, subject);
    const QdTerm p = make_term(QD_TERM_IRI, predicate);
    const QdTerm o = make_term(kind, object);

    (void) qd_rdf_writer_put(self->writer, &s, &p, &o, NULL, NULL);
}

static void
put_iri(Description *self, const char *subject, const char *predicate, const char *iri)
{
    put(self, subject, predicate, QD_TERM_IRI, iri);
}

static void
put_number(Description *self, const char *subject, const char *predicate, guint64 number)
{
    g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, number);
    const QdTerm s = make_term(QD_TERM_BNODE, subject);
    const QdTerm p = make_term(QD_TERM_IRI, predicate);
    QdTerm o;

    qd_term_init_literal(&o, digits, strlen(digits), QD_XSD_NAMESPACE "integer", strlen(QD_XSD_NAMESPACE "integer"));
    (void) qd_rdf_writer_put(self->writer, &s, &p, &o, NULL, NULL);
}

static void
put_service(Description *self, QhttpExchange *exchange)
{
    static const char *const results[] = {
        "SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV", "Turtle", "N-Triples", "RDF_XML"
    };
    static const char *const inputs[] = { "Turtle", "N-Triples", "RDF_XML" };
    g_autofree char *url = qhttp_exchange_get_url(exchange);

    put_iri(self, "service", RDF_TYPE, SD "Service");
    put_iri(self, "service", SD "endpoint", url);
    put_iri(self, "service", SD "supportedLanguage", SD "SPARQL11Query");
    if (qhttp_service_get_options(exchange->service)->may_write)
        put_iri(self, "service", SD "supportedLanguage", SD "SPARQL11Update");
    for (guint i = 0; i < G_N_ELEMENTS(results); i++) {
        g_autofree char *iri = g_strconcat(FORMATS, results[i], NULL);

        put_iri(self, "service", SD "resultFormat", iri);
    }
    for (guint i = 0; i < G_N_ELEMENTS(inputs); i++) {
        g_autofree char *iri = g_strconcat(FORMATS, inputs[i], NULL);

        put_iri(self, "service", SD "inputFormat", iri);
    }
    put(self, "service", SD "defaultDataset", QD_TERM_BNODE, "dataset");
}

static gboolean
put_graph(gpointer data, const QwValue *values, GString *out, GError **error)
{
    Description *self = data;
    g_autofree char *digits = values[1].n_bytes > 0 ? g_strndup(values[1].data, values[1].n_bytes) : NULL;
    guint64 n = values[1].type == QW_TYPE_INTEGER ? (guint64) values[1].integer : digits != NULL ? strtoull(digits, NULL, 10) : 0;
    g_autofree char *named = g_strdup_printf("named%u", self->n_graphs);
    g_autofree char *graph = g_strdup_printf("graph%u", self->n_graphs);
    g_autofree char *iri = NULL;

    self->n_triples += n;
    if (values[0].type == QW_TYPE_NULL) {
        self->n_default = n;
        return TRUE;
    }

    iri = g_strndup(values[0].data, values[0].n_bytes);
    put(self, "dataset", SD "namedGraph", QD_TERM_BNODE, named);
    put_iri(self, named, RDF_TYPE, SD "NamedGraph");
    put(self, named, SD "name", values[0].type == QW_TYPE_BNODE ? QD_TERM_BNODE : QD_TERM_IRI, iri);
    put(self, named, SD "graph", QD_TERM_BNODE, graph);
    put_iri(self, graph, RDF_TYPE, SD "Graph");
    put_number(self, graph, VOID "triples", n);
    self->n_graphs++;
    return TRUE;
}

static void
end_description(gpointer data, QueryCursor *cursor, GString *out)
{
    Description *self = data;

    put_iri(self, "dataset", RDF_TYPE, SD "Dataset");
    put_iri(self, "dataset", RDF_TYPE, VOID "Dataset");
    put_number(self, "dataset", VOID "triples", self->n_triples);
    put(self, "dataset", SD "defaultGraph", QD_TERM_BNODE, "default");
    put_iri(self, "default", RDF_TYPE, SD "Graph");
    put_number(self, "default", VOID "triples", self->n_default);
    qd_rdf_writer_finish(self->writer);
}

static void
description_free(gpointer data)
{
    Description *self = data;

    (void) qd_rdf_writer_free(self->writer);
    g_free(self);
}

static gboolean
encode_description(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder)
{
    const QhttpFormat *format = qhttp_accept_choose(qhttp_exchange_get_header(exchange, "Accept"), QHTTP_KIND_GRAPH);
    g_autofree char *types = NULL;
    Description *self;

    if (format == NULL) {
        types = qhttp_accept_list(QHTTP_KIND_GRAPH);
        qhttp_exchange_fail(exchange, 406, "the description of the service is there as %s", types);
        return FALSE;
    }

    self = g_new0(Description, 1);
    self->writer = qd_rdf_writer_new(format->rdf, NULL, out);
    put_service(self, exchange);
    *ret_encoder = (QhttpEncoder){ put_graph, end_description, description_free, self, format->content_type };
    return TRUE;
}

void
qhttp_describe_service(QhttpExchange *exchange)
{
    qhttp_result_run(exchange, &(QhttpQuery){ .language = QUERY_LANGUAGE_SPARQL,
                                              .text = GRAPH_SIZES,
                                              .encoder_func = encode_description,
                                              .is_tagged = true });
}
