/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks from the heap, given out from front to back.
 */
#include "daemon/sparql/arena.h"

#include <stdarg.h>
#include <string.h>

#define BLOCK_BYTES ((gsize) 65536)
#define ALIGNMENT ((gsize) 16)

typedef struct Block {
    struct Block *next;
    gsize n_bytes; /* after the header */
} Block;

struct QdArena {
    Block *blocks;
    char *free;
    gsize n_free;
    gsize n_bytes; /* of all blocks */
};

G_STATIC_ASSERT(sizeof(Block) % ALIGNMENT == 0);

QdArena *
qd_arena_new(void)
{
    return g_new0(QdArena, 1);
}

QdArena *
qd_arena_free(QdArena *self)
{
    if (self == NULL)
        return NULL;

    while (self->blocks != NULL) {
        Block *block = self->blocks;

        self->blocks = block->next;
        g_free(block);
    }
    g_free(self);
    return NULL;
}

gsize
qd_arena_get_size(const QdArena *self)
{
    return self->n_bytes;
}

gpointer
qd_arena_take(QdArena *self, gsize n_bytes)
{
    gpointer result;

    g_assert(n_bytes <= G_MAXSSIZE - 2 * ALIGNMENT);
    n_bytes = (n_bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (n_bytes > self->n_free || self->blocks == NULL) {
        gsize n_block = MAX(n_bytes, BLOCK_BYTES);
        Block *block = g_malloc(sizeof(Block) + n_block);

        block->next = self->blocks;
        block->n_bytes = n_block;
        self->blocks = block;
        self->n_bytes += sizeof(Block) + n_block;
        self->free = (char *) (block + 1);
        self->n_free = n_block;
    }
    result = self->free;
    self->free += n_bytes;
    self->n_free -= n_bytes;
    return result;
}

gpointer
qd_arena_alloc(QdArena *self, gsize n_bytes)
{
    return memset(qd_arena_take(self, n_bytes), 0, n_bytes);
}

char *
qd_arena_strndup(QdArena *self, const char *text, gsize n_bytes)
{
    char *copy = qd_arena_take(self, n_bytes + 1);

    if (n_bytes > 0)
        memcpy(copy, text, n_bytes);
    copy[n_bytes] = '\0';
    return copy;
}

char *
qd_arena_concat(QdArena *self, const char *first, ...)
{
    gsize n_text = 0;
    char *text;
    char *p;
    va_list args;

    va_start(args, first);
    for (const char *piece = first; piece != NULL; piece = va_arg(args, const char *))
        n_text += strlen(piece);
    va_end(args);
    p = text = qd_arena_take(self, n_text + 1);
    va_start(args, first);
    for (const char *piece = first; piece != NULL; piece = va_arg(args, const char *))
        p = stpcpy(p, piece);
    va_end(args);
    *p = '\0';
    return text;
}

/* --- texts ------------------------------------------------------------------------------------------------------------ */

/* What is put beyond the end of the room is counted only. */
typedef struct Out {
    char *text;
    gsize n_room;
    gsize n_text;
} Out;

static void
put(Out *out, const char *text, gsize n_bytes)
{
    if (n_bytes > 0 && n_bytes < out->n_room && out->n_text < out->n_room - n_bytes)
        memcpy(out->text + out->n_text, text, n_bytes);
    out->n_text += n_bytes;
}

static void
put_number(Out *out, guint64 number, gboolean negative)
{
    char digits[24];
    guint first = sizeof digits;

    do
        digits[--first] = (char) ('0' + number % 10);
    while ((number /= 10) > 0);
    if (negative)
        digits[--first] = '-';
    put(out, digits + first, sizeof digits - first);
}

static void
put_signed(Out *out, gint64 number)
{
    put_number(out, number < 0 ? -(guint64) number : (guint64) number, number < 0);
}

static const char *
put_long_conversion(Out *out, const char *conversion, va_list *args)
{
    gsize n_bytes;

    if (g_str_has_prefix(conversion, ".*s")) {
        n_bytes = (gsize) va_arg(*args, int);
        put(out, va_arg(*args, const char *), n_bytes);
        return conversion + 3;
    }
    if (g_str_has_prefix(conversion, G_GUINT64_FORMAT)) {
        put_number(out, va_arg(*args, guint64), FALSE);
        return conversion + strlen(G_GUINT64_FORMAT);
    }
    if (g_str_has_prefix(conversion, G_GINT64_FORMAT)) {
        put_signed(out, va_arg(*args, gint64));
        return conversion + strlen(G_GINT64_FORMAT);
    }
    g_assert_not_reached();
}

/* The conversion after a '%'; returns what follows it. */
static const char *
put_conversion(Out *out, const char *conversion, va_list *args)
{
    const char *text;
    char c;

    switch (*conversion) {
    case 's':
        text = va_arg(*args, const char *);
        put(out, text, text != NULL ? strlen(text) : 0); /* after an error there may be none */
        break;
    case 'u':
        put_number(out, va_arg(*args, guint), FALSE);
        break;
    case 'd':
        put_signed(out, va_arg(*args, int));
        break;
    case 'c':
        c = (char) va_arg(*args, int);
        put(out, &c, 1);
        break;
    default:
        return put_long_conversion(out, conversion, args);
    }
    return conversion + 1;
}

static void
put_all(Out *out, const char *format, va_list *args)
{
    while (*format != '\0') {
        const char *percent = strchrnul(format, '%');

        put(out, format, (gsize) (percent - format));
        format = *percent == '%' ? put_conversion(out, percent + 1, args) : percent;
    }
    put(out, "", 1); /* the NUL */
}

char *
qd_arena_printf(QdArena *self, const char *format, ...)
{
    Out out = { self->free, self->n_free + 1, 0 };
    va_list args;
    char *text;

    va_start(args, format);
    put_all(&out, format, &args);
    va_end(args);
    text = qd_arena_take(self, out.n_text);
    if (text == out.text)
        return text;

    /* cut off: what was written stays in the old block, of which nothing is given out any more */
    out = (Out){ text, out.n_text + 1, 0 };
    va_start(args, format);
    put_all(&out, format, &args);
    va_end(args);
    return text;
}
