/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * read-rdf FORMAT BASE FILE...: what our reader makes of each document, as N-Quads, for tests/e2e/test_serd.py.
 *
 * After the quads of each file is a line "# ok", or "# " and the error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdf-writer.h"

static gssize
read_input(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    gssize n = read(*(int *) data, buffer, n_bytes);

    if (n < 0)
        qd_error_set_errno(error, errno, "cannot read");
    return n;
}

static gboolean
write_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    return qd_rdf_writer_put(data, s, p, o, g, error);
}

static void
read_file(QdRdfFormat format, const char *base, const char *path, const QdLimits *limits)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRdfWriter) writer = qd_rdf_writer_new(QD_RDF_NQUADS, NULL, out);
    g_autoptr(GError) error = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const QdRdfReading reading = {
        .format = format,
        .base = base,
        .read_func = read_input,
        .read_data = &fd,
        .quad_func = write_quad,
        .data = writer,
        .limits = limits,
    };

    (void) qd_rdf_read(&reading, &error);
    (void) fwrite(out->str, 1, out->len, stdout);
    printf("# %s\n", error != NULL ? error->message : "ok");
    if (fd >= 0)
        (void) close(fd);
}

int
main(int argc, char **argv)
{
    QdRdfFormat format;
    QdLimits limits;

    if (argc < 3 || !qd_rdf_format_from_name(argv[1], &format)) {
        fprintf(stderr, "usage: read-rdf FORMAT BASE FILE...\n");
        return 2;
    }
    qd_limits_init(&limits);
    for (int i = 3; i < argc; i++)
        read_file(format, argv[2], argv[i], &limits);
    return 0;
}
