/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A JSON value as a tree in an arena, with its place in the document.
 *
 * Place: room jsonld. Invariant: a tree lives as long as its arena, and is not changed once it is read. Texts are UTF-8 and end
 * with NUL. They may have other NULs in them, but names of members have none.
 */
#pragma once

#include <glib.h>

#include "daemon/base/limits.h"

typedef enum QdJsonKind {
    QD_JSON_NULL,
    QD_JSON_FALSE,
    QD_JSON_TRUE,
    QD_JSON_NUMBER, /* text: as it is written */
    QD_JSON_STRING,
    QD_JSON_ARRAY,
    QD_JSON_OBJECT,
} QdJsonKind;

typedef struct QdJson QdJson;
struct QdJson {
    QdJsonKind kind;
    guint line; /* from 1 */
    guint column;
    const char *name; /* (nullable) of a member of an object */
    const char *text; /* (nullable) */
    gsize n_text;
    QdJson *first; /* (nullable) item or member */
    QdJson *next;  /* (nullable) in the array or object */
};

/* Memory that is given back as a whole. It counts what it gives. */
typedef struct QdJsonArena QdJsonArena;

QdJsonArena *qd_json_arena_new(const QdLimits *limits);
QdJsonArena *qd_json_arena_free(QdJsonArena *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdJsonArena, qd_json_arena_free)

/* Frees all that was taken; the arena can be used again. */
void qd_json_arena_clear(QdJsonArena *self);

/* Zeroed bytes; never NULL. */
gpointer qd_json_arena_alloc(QdJsonArena *self, gsize n_bytes);
char *qd_json_arena_copy(QdJsonArena *self, const char *text, gsize n_bytes);

/* @data is freed with the arena. */
void qd_json_arena_own(QdJsonArena *self, gpointer data, GDestroyNotify free_func);

/* Bytes taken, and whether they are within the limit jsonld_record_bytes. */
gsize qd_json_arena_get_bytes(const QdJsonArena *self);
gboolean qd_json_arena_check(const QdJsonArena *self, GError **error);

/* (nullable): the member @name of @object; NULL also when @object is none. */
const QdJson *qd_json_get(const QdJson *object, const char *name);

gboolean qd_json_is_string(const QdJson *self, const char *text);

/* The same value; the order of members means nothing. */
gboolean qd_json_equal(const QdJson *a, const QdJson *b);
