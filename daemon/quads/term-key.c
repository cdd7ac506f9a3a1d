/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SipHash-1-3 with 128 bits of result, fed with three pieces: kind and sizes, qualifier, lexical form.
 */
#include "daemon/quads/term-key.h"

#include <string.h>

#define LONGEST_TAG 64

typedef struct State {
    guint64 v0;
    guint64 v1;
    guint64 v2;
    guint64 v3;
} State;

static inline guint64
rotate(guint64 x, guint n)
{
    return x << n | x >> (64 - n);
}

static inline void
mix(State *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static inline void
absorb(State *s, guint64 word)
{
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

/* Zero-padded to whole words: the sizes were absorbed before. */
static void
absorb_bytes(State *s, const char *p, gsize n)
{
    guint64 word;

    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        absorb(s, GUINT64_FROM_LE(word));
    }
    if (n == 0)
        return;
    word = 0;
    memcpy(&word, p, n);
    absorb(s, GUINT64_FROM_LE(word));
}

static void
absorb_tag(State *s, const char *tag, gsize n)
{
    char lower[LONGEST_TAG];

    for (gsize start = 0; start < n; start += sizeof lower) {
        gsize size = MIN(n - start, sizeof lower);

        for (gsize i = 0; i < size; i++)
            lower[i] = g_ascii_tolower(tag[start + i]);
        absorb_bytes(s, lower, size);
    }
}

QdTermKey
qd_term_key_compute(const QdTermKey *secret, const QdTerm *term)
{
    State s = {
        .v0 = secret->low ^ G_GUINT64_CONSTANT(0x736f6d6570736575),
        .v1 = secret->high ^ G_GUINT64_CONSTANT(0x646f72616e646f6d) ^ 0xee,
        .v2 = secret->low ^ G_GUINT64_CONSTANT(0x6c7967656e657261),
        .v3 = secret->high ^ G_GUINT64_CONSTANT(0x7465646279746573),
    };
    gsize n_qualifier = term->kind == QD_TERM_LANG_STRING || term->kind == QD_TERM_TYPED ? term->n_qualifier : 0;
    QdTermKey key;

    absorb(&s, (guint64) term->kind << 56 | n_qualifier);
    absorb(&s, term->n_lexical);
    if (term->kind == QD_TERM_LANG_STRING)
        absorb_tag(&s, term->qualifier, n_qualifier);
    else
        absorb_bytes(&s, term->qualifier, n_qualifier);
    absorb_bytes(&s, term->lexical, term->n_lexical);

    s.v2 ^= 0xee;
    mix(&s);
    mix(&s);
    mix(&s);
    key.low = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    s.v1 ^= 0xdd;
    mix(&s);
    mix(&s);
    mix(&s);
    key.high = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    return key;
}
