/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resolution works on borrowed pieces of the two texts; only the merged path is copied.
 */
#include "daemon/rdf/iri.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/code-point.h"

typedef struct Piece {
    const char *text; /* NULL: not there, which is not the same as empty */
    gsize n_bytes;
} Piece;

typedef struct Parts {
    Piece scheme;    /* without ":" */
    Piece authority; /* without "//" */
    Piece path;
    Piece query; /* without "?" */
    Piece fragment;
} Parts;

static gsize
scheme_length(const char *iri, gsize n_bytes)
{
    gsize i = 0;

    if (n_bytes == 0 || !g_ascii_isalpha(iri[0]))
        return 0;
    while (i < n_bytes && (g_ascii_isalnum(iri[i]) || iri[i] == '+' || iri[i] == '-' || iri[i] == '.'))
        i++;
    return i < n_bytes && iri[i] == ':' ? i : 0;
}

gboolean
qd_iri_is_absolute(const char *iri, gsize n_bytes)
{
    return scheme_length(iri, n_bytes) > 0;
}

gboolean
qd_iri_check(const char *iri, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++) {
        if ((guchar) iri[i] <= 0x20 || strchr("<>\"{}|^`\\", iri[i]) != NULL)
            return FALSE;
    }
    return qd_code_point_check(iri, n_bytes, NULL);
}

gboolean
qd_iri_check_base(gsize n_bytes, GError **error)
{
    if (n_bytes <= QD_IRI_BASE_BYTES_MAX)
        return TRUE;

    qd_error_set(error, QW_ERROR_TOO_BIG, "the base IRI has %" G_GSIZE_FORMAT " bytes, at most %d are allowed", n_bytes,
                 QD_IRI_BASE_BYTES_MAX);
    return FALSE;
}

/* What stands before any of @stops. */
static Piece
take_until(const char **p, const char *end, const char *stops)
{
    Piece piece = { *p, (gsize) (end - *p) };

    for (; *stops != '\0'; stops++) {
        const char *stop = piece.n_bytes > 0 ? memchr(piece.text, *stops, piece.n_bytes) : NULL;

        if (stop != NULL)
            piece.n_bytes = (gsize) (stop - piece.text);
    }
    *p += piece.n_bytes;
    return piece;
}

static Parts
split(const char *iri, gsize n_bytes)
{
    Parts parts = { 0 };
    const char *p = iri;
    const char *end = iri + n_bytes;
    gsize n_scheme = scheme_length(iri, n_bytes);

    if (n_scheme > 0) {
        parts.scheme = (Piece){ iri, n_scheme };
        p += n_scheme + 1;
    }
    if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
        p += 2;
        parts.authority = take_until(&p, end, "/?#");
    }
    parts.path = take_until(&p, end, "?#");
    if (p < end && *p == '?') {
        p++;
        parts.query = take_until(&p, end, "#");
    }
    if (p < end)
        parts.fragment = (Piece){ p + 1, (gsize) (end - p - 1) };
    return parts;
}

static void
append(GString *out, const char *before, Piece piece, const char *after)
{
    if (piece.text == NULL)
        return;
    g_string_append(out, before);
    g_string_append_len(out, piece.text, (gssize) piece.n_bytes);
    g_string_append(out, after);
}

/* Where a path that ends with @to ends without its last segment and the slash before that. */
static char *
drop_segment(char *from, char *to)
{
    char *slash = to > from ? memrchr(from, '/', (gsize) (to - from)) : NULL;

    return slash != NULL ? slash : from;
}

/* RFC 3986 §5.2.4, in place on what follows @start: one pass, as what is written never overtakes what is read. */
static void
remove_dot_segments(GString *out, gsize start)
{
    char *const first = out->str + start;
    char *const end = out->str + out->len;
    char *to = first;
    const char *p = first;

    while (p < end) {
        const char *next = memchr(p + 1, '/', (gsize) (end - p - 1));
        gsize n;

        if (next == NULL)
            next = end;
        n = (gsize) (next - p);
        if (n == 2 && p[0] == '/' && p[1] == '.') {
            if (next == end)
                *to++ = '/';
        } else if (n == 3 && p[0] == '/' && p[1] == '.' && p[2] == '.') {
            to = drop_segment(first, to);
            if (next == end)
                *to++ = '/';
        } else if (!(p == first && ((n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.')))) {
            memmove(to, p, n);
            to += n;
        } else if (next < end) {
            next++; /* a leading "./" or "../" goes with its slash */
        }
        p = next;
    }
    g_string_truncate(out, (gsize) (to - out->str));
}

static void
append_path(GString *out, const Parts *base, const Parts *reference)
{
    gsize start = out->len;

    if (reference->path.text[0] == '/' || reference->authority.text != NULL) {
        append(out, "", reference->path, "");
    } else {
        gsize n = base->path.n_bytes;

        while (n > 0 && base->path.text[n - 1] != '/')
            n--;
        if (base->authority.text != NULL && base->path.n_bytes == 0)
            g_string_append_c(out, '/');
        g_string_append_len(out, base->path.text, (gssize) n);
        append(out, "", reference->path, "");
    }
    remove_dot_segments(out, start);
}

gboolean
qd_iri_resolve(const char *base, gsize n_base, const char *reference, gsize n_reference, GString *out)
{
    Parts from;
    Parts to;

    if (qd_iri_is_absolute(reference, n_reference) || base == NULL || n_base == 0) {
        g_string_append_len(out, reference, (gssize) n_reference);
        return qd_iri_is_absolute(reference, n_reference);
    }

    from = split(base, n_base);
    to = split(reference, n_reference);
    append(out, "", from.scheme, ":");
    append(out, "//", to.authority.text != NULL ? to.authority : from.authority, "");
    if (to.authority.text != NULL || to.path.n_bytes > 0) {
        if (to.path.n_bytes > 0)
            append_path(out, &from, &to);
        append(out, "?", to.query, "");
    } else {
        append(out, "", from.path, "");
        append(out, "?", to.query.text != NULL ? to.query : from.query, "");
    }
    append(out, "#", to.fragment, "");
    return from.scheme.text != NULL;
}
