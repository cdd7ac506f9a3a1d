/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of memory, and trees of JSON in them.
 */
#include "daemon/jsonld/json-value.h"

#include <string.h>

#define BLOCK_BYTES (32 * 1024)
#define ALIGNMENT 8

typedef struct Block Block;
struct Block {
    Block *next;
    gsize n_bytes;
    gsize used;
    guint64 data[];
};

typedef struct Owned {
    gpointer data;
    GDestroyNotify free_func;
} Owned;

struct QdJsonArena {
    const QdLimits *limits;
    Block *blocks;
    gsize n_bytes;
    GArray *owned; /* of Owned */
};

QdJsonArena *
qd_json_arena_new(const QdLimits *limits)
{
    QdJsonArena *self = g_new0(QdJsonArena, 1);

    self->limits = limits;
    self->owned = g_array_new(FALSE, FALSE, sizeof(Owned));
    return self;
}

QdJsonArena *
qd_json_arena_free(QdJsonArena *self)
{
    if (self == NULL)
        return NULL;

    qd_json_arena_clear(self);
    g_free(self->blocks);
    g_array_unref(self->owned);
    g_free(self);
    return NULL;
}

void
qd_json_arena_clear(QdJsonArena *self)
{
    for (guint i = 0; i < self->owned->len; i++) {
        const Owned *owned = &g_array_index(self->owned, Owned, i);

        owned->free_func(owned->data);
    }
    g_array_set_size(self->owned, 0);
    /* one block of the usual size stays for the next record */
    while (self->blocks != NULL && (self->blocks->next != NULL || self->blocks->n_bytes != BLOCK_BYTES)) {
        Block *next = self->blocks->next;

        g_free(self->blocks);
        self->blocks = next;
    }
    if (self->blocks != NULL)
        self->blocks->used = 0;
    self->n_bytes = 0;
}

gpointer
qd_json_arena_alloc(QdJsonArena *self, gsize n_bytes)
{
    Block *block = self->blocks;
    gsize size = (n_bytes + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
    gpointer result;

    if (block == NULL || block->n_bytes - block->used < size) {
        gsize capacity = MAX(size, BLOCK_BYTES);

        block = g_malloc(sizeof *block + capacity);
        *block = (Block){ .next = self->blocks, .n_bytes = capacity };
        self->blocks = block;
    }
    result = (char *) block->data + block->used;
    block->used += size;
    self->n_bytes += size;
    return memset(result, 0, size);
}

char *
qd_json_arena_copy(QdJsonArena *self, const char *text, gsize n_bytes)
{
    char *copy = qd_json_arena_alloc(self, n_bytes + 1);

    if (n_bytes > 0)
        memcpy(copy, text, n_bytes);
    return copy;
}

void
qd_json_arena_own(QdJsonArena *self, gpointer data, GDestroyNotify free_func)
{
    Owned owned = { data, free_func };

    g_array_append_val(self->owned, owned);
    self->n_bytes += sizeof owned;
}

gsize
qd_json_arena_get_bytes(const QdJsonArena *self)
{
    return self->n_bytes;
}

gboolean
qd_json_arena_check(const QdJsonArena *self, GError **error)
{
    if (self->n_bytes <= qd_limits_get(self->limits, QD_LIMIT_JSONLD_RECORD_BYTES))
        return TRUE;

    qd_limit_set_error(
        error, self->limits, QD_LIMIT_JSONLD_RECORD_BYTES,
        "too large for one record of JSON-LD: a large document is an array of objects, or '@context' and then '@graph' "
        "as the only members of one object");
    return FALSE;
}

/* Values ---------------------------------------------------------------------------------------------------------------- */

const QdJson *
qd_json_get(const QdJson *object, const char *name)
{
    if (object == NULL || object->kind != QD_JSON_OBJECT)
        return NULL;
    for (const QdJson *member = object->first; member != NULL; member = member->next)
        if (g_str_equal(member->name, name))
            return member;
    return NULL;
}

gboolean
qd_json_is_string(const QdJson *self, const char *text)
{
    return self != NULL && self->kind == QD_JSON_STRING && strlen(text) == self->n_text &&
           memcmp(self->text, text, self->n_text) == 0;
}

static gboolean
members_equal(const QdJson *a, const QdJson *b)
{
    g_autoptr(GHashTable) members = g_hash_table_new(g_str_hash, g_str_equal);
    guint n = 0;

    for (const QdJson *member = a->first; member != NULL; member = member->next)
        (void) g_hash_table_insert(members, (gpointer) member->name, (gpointer) member);
    for (const QdJson *member = b->first; member != NULL; member = member->next, n++) {
        const QdJson *other = g_hash_table_lookup(members, member->name);

        if (other == NULL || !qd_json_equal(member, other))
            return FALSE;
    }
    return n == g_hash_table_size(members);
}

gboolean
qd_json_equal(const QdJson *a, const QdJson *b)
{
    const QdJson *item;
    const QdJson *other;

    if (a == NULL || b == NULL || a->kind != b->kind)
        return a == b;
    if (a->n_text != b->n_text || (a->n_text > 0 && memcmp(a->text, b->text, a->n_text) != 0))
        return FALSE;
    if (a->kind == QD_JSON_OBJECT)
        return members_equal(a, b);
    for (item = a->first, other = b->first; item != NULL && other != NULL; item = item->next, other = other->next)
        if (!qd_json_equal(item, other))
            return FALSE;
    return item == other;
}
