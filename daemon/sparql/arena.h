/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdArena: memory of one compilation, freed at once.
 *
 * Place: room sparql, under the AST, the algebra and the SQL generator.
 */
#pragma once

#include <glib.h>

typedef struct QdArena QdArena;

QdArena *qd_arena_new(void);

/* Returns NULL; takes NULL. */
QdArena *qd_arena_free(QdArena *self);

/* Of all its blocks. */
gsize qd_arena_get_size(const QdArena *self);

/* Zeroed memory, aligned for anything, valid as long as the arena. Never NULL. */
gpointer qd_arena_alloc(QdArena *self, gsize n_bytes);

/* The same, not zeroed; never NULL, also for no bytes. */
gpointer qd_arena_take(QdArena *self, gsize n_bytes);

/* A copy, NUL-terminated. */
char *qd_arena_strndup(QdArena *self, const char *text, gsize n_bytes);

/* Texts one after the other; the last argument is NULL. */
char *qd_arena_concat(QdArena *self, const char *first, ...) G_GNUC_NULL_TERMINATED;

/* printf into the arena, with %s, %.*s, %u, %d, %c and 64-bit numbers: in less time than vsnprintf() takes. */
char *qd_arena_printf(QdArena *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

#define qd_arena_new0(arena, type) ((type *) qd_arena_alloc((arena), sizeof(type)))
#define qd_arena_array0(arena, type, n) ((type *) qd_arena_alloc((arena), sizeof(type) * (n)))

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdArena, qd_arena_free)
