/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters, and values of all types that D-Bus has for them.
 */
#include <float.h>
#include <math.h>

#include "tests/sql/generator-private.h"

typedef enum Style {
    STYLE_PLAIN,    /* ? */
    STYLE_NUMBERED, /* ?1 */
    STYLE_COLON,
    STYLE_AT,
    STYLE_DOLLAR,
    N_STYLES,
} Style;

static const gint64 integers[] = {
    0, 1, 2, 3, 7, 10, -1, G_MAXINT64, G_MININT64, G_MAXINT64 - 1, G_MAXUINT32, G_MININT32, G_GINT64_CONSTANT(9007199254740993),
};
static const double doubles[] = { 0.0,   -0.0,     1.5,       2.0,     -0.25,  1e10,
                                  0.1,   DBL_MAX,  -DBL_MAX,  DBL_MIN, 5e-324, 9.2233720368547758e18,
                                  1e300, INFINITY, -INFINITY, NAN };
static const char *const texts[] = {
    "a",    "b",   "A",  "abc",  "",          "10",  "1.5x", "b  ", "\303\234n\303\257",   "2024-02-29",
    "a,b",  "%a_", "\"", " 12 ", "{\"a\":1}", "1e5", "007",  "\n",  "9223372036854775808", "\360\237\230\200",
    "X'61'"
};
static const struct {
    const char *data;
    gsize n_bytes;
} blobs[] = { { "", 0 }, { "\0\377", 2 }, { "abc", 3 }, { "\0", 1 }, { "10", 2 } };

/* (floating) */
static GVariant *
make_value(Generator *self)
{
    guint i;

    switch (generator_pick(self, 10)) {
    case 0:
        return g_variant_new_signature("");
    case 1:
        return g_variant_new_boolean(generator_chance(self, 2));
    case 2:
        return g_variant_new_byte((guint8) (generator_chance(self, 2) ? 255 : 7));
    case 3:
        return g_variant_new_int32(generator_chance(self, 2) ? G_MININT32 : 3);
    case 4:
        return g_variant_new_uint64(generator_chance(self, 2) ? (guint64) G_MAXINT64 : 2);
    case 5:
        i = generator_pick(self, G_N_ELEMENTS(blobs));
        return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, blobs[i].data, blobs[i].n_bytes, 1);
    case 6:
        return g_variant_new_double(doubles[generator_pick(self, G_N_ELEMENTS(doubles))]);
    case 7:
    case 8:
        return g_variant_new_string(texts[generator_pick(self, G_N_ELEMENTS(texts))]);
    default: /* of ten */
        return g_variant_new_int64(integers[generator_pick(self, G_N_ELEMENTS(integers))]);
    }
}

void
generator_begin_parameters(Generator *self)
{
    self->n_bound = 0;
    if (!generator_chance(self, 3))
        return;
    self->bound = g_variant_dict_new(NULL);
    self->style = generator_pick(self, N_STYLES);
}

GVariant *
generator_end_parameters(Generator *self)
{
    g_autoptr(GVariantDict) bound = g_steal_pointer(&self->bound);

    return bound != NULL && self->n_bound > 0 ? g_variant_ref_sink(g_variant_dict_end(bound)) : NULL;
}

void
generator_parameter(Generator *self)
{
    static const char signs[] = {
        [STYLE_PLAIN] = '?', [STYLE_NUMBERED] = '?', [STYLE_COLON] = ':', [STYLE_AT] = '@', [STYLE_DOLLAR] = '$'
    };
    gboolean is_named = self->style >= STYLE_COLON;
    gboolean is_again = self->style != STYLE_PLAIN && self->n_bound > 0 && generator_chance(self, 4);
    guint index = is_again ? 1 + generator_pick(self, self->n_bound) : ++self->n_bound;
    g_autofree char *name = g_strdup_printf(is_named ? "%cp%u" : "%c%u", signs[self->style], index);

    generator_put(self, "%s", self->style == STYLE_PLAIN ? "?" : name);
    if (!is_again)
        g_variant_dict_insert_value(self->bound, is_named && generator_chance(self, 2) ? name : name + 1, make_value(self));
}
