/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonld-convert to-rdf|from-rdf [OPTION...]: a document on standard input in the other form on standard output, for jsonld.py.
 *
 * The options are those of the specification that the tests set.
 */
#include <stdio.h>
#include <unistd.h>

#include "daemon/jsonld/jsonld-reader.h"
#include "daemon/jsonld/jsonld-writer.h"
#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdf-writer.h"

static const char *arg_base;
static const char *arg_direction;
static const char *arg_expand_context;
static const char *arg_root;
static const char *arg_root_iri;
static gboolean arg_1_0;
static gboolean arg_native_types;
static gboolean arg_rdf_type;

static const GOptionEntry entries[] = {
    { "base", 0, 0, G_OPTION_ARG_STRING, &arg_base, NULL, NULL },
    { "direction", 0, 0, G_OPTION_ARG_STRING, &arg_direction, NULL, NULL },
    { "expand-context", 0, 0, G_OPTION_ARG_STRING, &arg_expand_context, NULL, NULL },
    { "root", 0, 0, G_OPTION_ARG_STRING, &arg_root, NULL, NULL },
    { "root-iri", 0, 0, G_OPTION_ARG_STRING, &arg_root_iri, NULL, NULL },
    { "json-ld-1.0", 0, 0, G_OPTION_ARG_NONE, &arg_1_0, NULL, NULL },
    { "native-types", 0, 0, G_OPTION_ARG_NONE, &arg_native_types, NULL, NULL },
    { "rdf-type", 0, 0, G_OPTION_ARG_NONE, &arg_rdf_type, NULL, NULL },
    G_OPTION_ENTRY_NULL,
};

static gssize
read_input(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    return (gssize) fread(buffer, 1, n_bytes, stdin);
}

static gboolean
put_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    return qd_rdf_writer_put(data, s, p, o, g, error);
}

static gboolean
put_quad_jsonld(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    return qd_jsonld_writer_put(data, s, p, o, g, error);
}

/* Contexts under the IRI of the tests are files in their folder. */
static GBytes *
find_context(const char *iri, gpointer data, GError **error)
{
    g_autofree char *path = NULL;
    char *text;
    gsize n;

    if (arg_root_iri == NULL || !g_str_has_prefix(iri, arg_root_iri)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "'%s' is not given", iri);
        return NULL;
    }
    path = g_build_filename(arg_root, iri + strlen(arg_root_iri), NULL);
    return g_file_get_contents(path, &text, &n, error) ? g_bytes_new_take(text, n) : NULL;
}

static QdLdDirection
get_direction(void)
{
    if (arg_direction == NULL)
        return QD_LD_DIRECTION_NONE;
    return g_str_equal(arg_direction, "i18n-datatype") ? QD_LD_DIRECTION_I18N : QD_LD_DIRECTION_COMPOUND;
}

static gboolean
convert(gboolean to_rdf, GString *out, GError **error)
{
    QdLimits limits;
    g_autofree char *context = NULL;
    g_autoptr(QdRdfWriter) quads = qd_rdf_writer_new(QD_RDF_NQUADS, NULL, out);
    const QdJsonLdWriting writing = {
        .direction = get_direction(),
        .is_expanded = TRUE,
        .native_types = arg_native_types,
        .rdf_type = arg_rdf_type,
    };
    g_autoptr(QdJsonLdWriter) writer = qd_jsonld_writer_new(&writing, NULL, out);
    QdJsonLdReading options = { .direction = get_direction(), .is_1_0 = arg_1_0, .context_func = find_context };
    QdRdfReading reading = {
        .format = to_rdf ? QD_RDF_JSONLD : QD_RDF_NQUADS,
        .base = arg_base,
        .read_func = read_input,
        .quad_func = to_rdf ? put_quad : put_quad_jsonld,
        .data = to_rdf ? (gpointer) quads : (gpointer) writer,
        .limits = &limits,
        .jsonld = &options,
    };

    qd_limits_init(&limits);
    if (arg_expand_context != NULL && !g_file_get_contents(arg_expand_context, &context, NULL, error))
        return FALSE;
    options.expand_context = context;
    return qd_rdf_read(&reading, error) && (to_rdf || qd_jsonld_writer_finish(writer, error));
}

int
main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new("to-rdf|from-rdf");
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 2) {
        fprintf(stderr, "%s\n", error != NULL ? error->message : "jsonld-convert: to-rdf or from-rdf");
        return 2;
    }
    if (!convert(g_str_equal(argv[1], "to-rdf"), out, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    return fwrite(out->str, 1, out->len, stdout) == out->len ? 0 : 2;
}
