/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * iconv from a descriptor to a file.
 */
#include "client-lib/queryctl/transfer/encoding.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES ((gsize) 64 * 1024)

typedef struct Conversion {
    GIConv iconv;
    const char *encoding;
    int source;
    int target;
    gsize n_left;    /* bytes at the begin of @input: of a character that has not ended */
    guint64 n_bytes; /* converted */
    char input[PIECE_BYTES];
    char output[PIECE_BYTES];
} Conversion;

const char *
qctl_encoding_find(int fd)
{
    guchar mark[2];

    if (pread(fd, mark, sizeof mark, 0) != sizeof mark)
        return NULL;
    return (mark[0] == 0xff && mark[1] == 0xfe) || (mark[0] == 0xfe && mark[1] == 0xff) ? "UTF-16" : NULL;
}

gboolean
qctl_encoding_is_utf8(int fd, gsize n_bytes)
{
    g_autofree char *text = g_malloc(n_bytes);
    const char *end = NULL;
    ssize_t n = pread(fd, text, n_bytes, 0);

    /* The last one may be cut. A NUL is a character of UTF-8, if not to GLib. */
    return n <= 0 || g_utf8_validate(text, n, &end) || *end == 0 || ((gsize) n == n_bytes && text + n - end < 4);
}

static bool
fail_errno(GError **error, const char *what)
{
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno), "%s: %s", what, g_strerror(errno));
    return false;
}

static bool
write_all(int fd, const char *data, gsize n_bytes, GError **error)
{
    while (n_bytes > 0) {
        ssize_t n = write(fd, data, n_bytes);

        if (n < 0 && errno != EINTR)
            return fail_errno(error, "cannot write a temporary file");
        data += MAX(n, 0);
        n_bytes -= (gsize) MAX(n, 0);
    }
    return true;
}

static bool
fail_character(const Conversion *self, GError **error)
{
    g_set_error(error, G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE, "byte %" G_GUINT64_FORMAT " is no character of %s",
                self->n_bytes + 1, self->encoding);
    return false;
}

/* @n: bytes in @input */
static bool
convert_piece(Conversion *self, gsize n, GError **error)
{
    char *input = self->input;
    gsize n_input = n;

    while (n_input > 0) {
        char *output = self->output;
        gsize n_output = PIECE_BYTES;
        gsize before = n_input;
        int saved = g_iconv(self->iconv, &input, &n_input, &output, &n_output) == (gsize) -1 ? errno : 0;

        self->n_bytes += before - n_input;
        if (!write_all(self->target, self->output, PIECE_BYTES - n_output, error))
            return false;
        if (saved == EILSEQ)
            return fail_character(self, error);
        if (saved == EINVAL)
            break;
    }
    memmove(self->input, input, n_input);
    self->n_left = n_input;
    return true;
}

static bool
convert_all(Conversion *self, GError **error)
{
    ssize_t n = 0;

    while ((n = read(self->source, self->input + self->n_left, PIECE_BYTES - self->n_left)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(error, "cannot read");
        if (!convert_piece(self, self->n_left + (gsize) n, error))
            return false;
    }
    if (self->n_left > 0)
        return fail_character(self, error);
    return lseek(self->target, 0, SEEK_SET) == 0 || fail_errno(error, "cannot read a temporary file");
}

int
qctl_encoding_convert(int fd, const char *encoding, GError **error)
{
    g_autofree Conversion *self = g_new0(Conversion, 1);
    g_autofree char *path = NULL;
    bool ok = false;

    self->iconv = g_iconv_open("UTF-8", encoding);
    if (self->iconv == (GIConv) -1) {
        g_set_error(error, G_CONVERT_ERROR, G_CONVERT_ERROR_NO_CONVERSION,
                    "'%s' is no encoding that is known; 'iconv -l' lists them", encoding);
        return -1;
    }
    self->encoding = encoding;
    self->source = fd;
    path = g_build_filename(g_get_tmp_dir(), "queryctl-XXXXXX", NULL);
    self->target = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
    if (self->target < 0)
        (void) fail_errno(error, "cannot make a temporary file");
    else
        ok = g_unlink(path) == 0 && convert_all(self, error);
    (void) g_iconv_close(self->iconv);
    if (!ok && self->target >= 0)
        (void) close(self->target);
    return ok ? self->target : -1;
}
