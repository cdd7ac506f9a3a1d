/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoding of forms. libsoup's own keeps one value of a name only.
 */
#include "client-lib/http/http-form.h"

#include <string.h>

typedef struct Pair {
    char *name;
    char *value;
} Pair;

struct QhttpForm {
    GArray *pairs; /* of Pair */
};

static void
pair_clear(gpointer data)
{
    Pair *self = data;

    g_free(self->name);
    g_free(self->value);
}

QhttpForm *
qhttp_form_new(void)
{
    QhttpForm *self = g_new0(QhttpForm, 1);

    self->pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
    g_array_set_clear_func(self->pairs, pair_clear);
    return self;
}

QhttpForm *
qhttp_form_free(QhttpForm *self)
{
    if (self != NULL)
        g_array_unref(self->pairs);
    g_free(self);
    return NULL;
}

/* (transfer full) (nullable): NULL when it is malformed */
static char *
decode(const char *text, gsize n_bytes)
{
    g_autofree char *decoded = g_malloc(n_bytes + 1);
    gsize n = 0;

    for (gsize i = 0; i < n_bytes; i++) {
        char c = text[i];

        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            if (i + 2 >= n_bytes || !g_ascii_isxdigit(text[i + 1]) || !g_ascii_isxdigit(text[i + 2]))
                return NULL;
            c = (char) (g_ascii_xdigit_value(text[i + 1]) * 16 + g_ascii_xdigit_value(text[i + 2]));
            i += 2;
        }
        decoded[n++] = c;
    }
    decoded[n] = '\0';
    return g_utf8_validate_len(decoded, n, NULL) ? g_steal_pointer(&decoded) : NULL;
}

bool
qhttp_form_parse(QhttpForm *self, const char *text, gsize n_bytes)
{
    const char *end = text + n_bytes;

    while (text < end) {
        const char *next = memchr(text, '&', (gsize) (end - text));
        const char *stop = next != NULL ? next : end;
        const char *sign = memchr(text, '=', (gsize) (stop - text));
        const char *name_end = sign != NULL ? sign : stop;
        Pair pair = { 0 };

        pair.name = decode(text, (gsize) (name_end - text));
        pair.value = sign != NULL ? decode(sign + 1, (gsize) (stop - sign - 1)) : g_strdup("");
        if (pair.name == NULL || pair.value == NULL) {
            pair_clear(&pair);
            return false;
        }
        g_array_append_val(self->pairs, pair);
        text = stop + 1;
    }
    return true;
}

guint
qhttp_form_count(const QhttpForm *self, const char *name)
{
    guint n = 0;

    for (guint i = 0; i < self->pairs->len; i++)
        n += g_str_equal(g_array_index(self->pairs, Pair, i).name, name) ? 1 : 0;
    return n;
}

const char *
qhttp_form_get(const QhttpForm *self, const char *name)
{
    for (guint i = 0; i < self->pairs->len; i++)
        if (g_str_equal(g_array_index(self->pairs, Pair, i).name, name))
            return g_array_index(self->pairs, Pair, i).value;
    return NULL;
}

const char **
qhttp_form_list(const QhttpForm *self, const char *name)
{
    const char **values = g_new0(const char *, self->pairs->len + 1);
    guint n = 0;

    for (guint i = 0; i < self->pairs->len; i++)
        if (g_str_equal(g_array_index(self->pairs, Pair, i).name, name))
            values[n++] = g_array_index(self->pairs, Pair, i).value;
    return values;
}
