/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks from the heap, given out from front to back.
 */
#include "daemon/sparql/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES ((gsize) 16384)
#define ALIGNMENT ((gsize) 16)

typedef struct Block {
    struct Block *next;
    gsize n_bytes; /* behind the header */
} Block;

struct QdArena {
    Block *blocks;
    char *free;
    gsize n_free;
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

gpointer
qd_arena_alloc(QdArena *self, gsize n_bytes)
{
    gpointer result;

    g_assert(n_bytes <= G_MAXSSIZE - 2 * ALIGNMENT);
    n_bytes = (n_bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (n_bytes > self->n_free) {
        gsize n_block = MAX(n_bytes, BLOCK_BYTES);
        Block *block = g_malloc0(sizeof(Block) + n_block);

        block->next = self->blocks;
        block->n_bytes = n_block;
        self->blocks = block;
        self->free = (char *) (block + 1);
        self->n_free = n_block;
    }
    result = self->free;
    self->free += n_bytes;
    self->n_free -= n_bytes;
    return result;
}

char *
qd_arena_strndup(QdArena *self, const char *text, gsize n_bytes)
{
    char *copy = qd_arena_alloc(self, n_bytes + 1);

    if (n_bytes > 0)
        memcpy(copy, text, n_bytes);
    return copy;
}

char *
qd_arena_printf(QdArena *self, const char *format, ...)
{
    char *text = self->free;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, self->n_free, format, args);
    va_end(args);
    g_assert(n >= 0);
    if ((gsize) n < self->n_free)
        return qd_arena_alloc(self, (gsize) n + 1);

    /* cut off: what was written stays behind in the old block, of which nothing is given out any more */
    text = qd_arena_alloc(self, (gsize) n + 1);
    va_start(args, format);
    (void) vsnprintf(text, (gsize) n + 1, format, args);
    va_end(args);
    return text;
}
