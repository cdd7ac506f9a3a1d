/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory that values live in, and what ends a query.
 *
 * Memory comes from SQLite's allocator, so that it counts for the query.
 */
#include <stdarg.h>

#include "daemon/base/error.h"
#include "daemon/functions/regex/regex.h"
#include "daemon/functions/value.h"

#define FIRST_BYTES 16384
#define ALIGNMENT 16 /* of __int128 */
/* The memory of one call: several values of the greatest size. */
#define BLOCKS_PER_VALUE 4

QdEvaluation *
qd_evaluation_new(const QdResolver *resolver, QdEvaluationContext *context, gsize max_bytes)
{
    QdEvaluation *self = g_new0(QdEvaluation, 1);

    self->resolver = *resolver;
    self->context = context;
    self->max_bytes = max_bytes;
    self->first = g_malloc(FIRST_BYTES);
    self->key.ev = self;
    self->blocks = g_ptr_array_new();
    return self;
}

QdEvaluation *
qd_evaluation_free(QdEvaluation *self)
{
    if (self == NULL)
        return NULL;

    qd_evaluation_reset(self);
    (void) qd_regex_cache_free(self->regexes);
    g_ptr_array_unref(self->blocks);
    qd_bytes_clear(&self->key);
    g_free(self->first);
    g_free(self);
    return NULL;
}

/* Not by GLib: sqlite3_free() unlocks by a tail call, which ThreadSanitizer takes for one of GLib's, and does not see. */
static void
free_blocks(QdEvaluation *self)
{
    while (self->blocks->len > 0)
        sqlite3_free(g_ptr_array_steal_index_fast(self->blocks, self->blocks->len - 1));
}

void
qd_evaluation_reset(QdEvaluation *self)
{
    free_blocks(self);
    if (self->key.n > 0)
        qd_bytes_empty(&self->key);
    self->used = 0;
    self->n_block_bytes = 0;
    self->fetched_id = 0;
    g_clear_error(&self->error);
}

void
qd_evaluation_trim(QdEvaluation *self)
{
    if (self->blocks->len > 0)
        qd_evaluation_reset(self);
}

gboolean
qd_evaluation_allows(QdEvaluation *self, gsize n_before, gsize n_bytes)
{
    if (self->error != NULL)
        return FALSE;
    if (n_before > self->max_bytes || n_bytes > self->max_bytes - n_before ||
        self->n_block_bytes > BLOCKS_PER_VALUE * self->max_bytes) {
        qd_evaluation_fail(self, QW_ERROR_TOO_BIG, "computed value is too big");
        return FALSE;
    }
    return n_before + n_bytes < QD_VALUE_LARGE_BYTES || !qd_evaluation_is_interrupted(self);
}

void
qd_evaluation_fail_memory(QdEvaluation *self, gsize n_bytes)
{
    qd_evaluation_fail(self, QW_ERROR_NO_MEMORY, "no memory for a computed value of %" G_GSIZE_FORMAT " bytes", n_bytes);
}

void
qd_evaluation_own(QdEvaluation *self, gpointer data, gsize n_bytes)
{
    self->n_block_bytes += n_bytes;
    g_ptr_array_add(self->blocks, data);
}

gpointer
qd_evaluation_alloc(QdEvaluation *self, gsize n_bytes)
{
    gsize aligned = (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    guint8 *block;

    if (n_bytes <= self->max_bytes && aligned <= FIRST_BYTES - self->used) {
        self->used += aligned;
        return self->first + self->used - aligned;
    }
    if (!qd_evaluation_allows(self, 0, n_bytes))
        return NULL;
    block = sqlite3_malloc64(n_bytes + ALIGNMENT); /* SQLite aligns to 8 */
    if (block == NULL) {
        qd_evaluation_fail_memory(self, n_bytes);
        return NULL;
    }
    qd_evaluation_own(self, block, n_bytes);
    return (gpointer) (((gsize) block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void
qd_evaluation_context_start(QdEvaluationContext *self)
{
    self->now_usec = g_get_real_time();
    self->next_bnode = 0;
}

void
qd_evaluation_fail(QdEvaluation *self, QwError code, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    if (self->error != NULL)
        return;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(&self->error, code, "%s", message);
}

uint64_t
qd_evaluation_get_limit(const QdEvaluation *self, QdLimit limit)
{
    const QdLimits *limits = self->context->limits;

    return limits != NULL ? qd_limits_get(limits, limit) : qd_limit_get_info(limit)->value;
}

void
qd_evaluation_fail_limit(QdEvaluation *self, QdLimit limit, const char *what)
{
    const QdLimitInfo *info = qd_limit_get_info(limit);

    qd_evaluation_fail(self, info->error, "%s: the limit '%s' is %" G_GUINT64_FORMAT "%s%s", what, info->name,
                       qd_evaluation_get_limit(self, limit), info->unit[0] != '\0' ? " " : "", info->unit);
}

gboolean
qd_evaluation_is_interrupted(QdEvaluation *self)
{
    if (self->error != NULL)
        return TRUE;
    if (self->context->interrupted == NULL || !self->context->interrupted(self->context->data))
        return FALSE;

    qd_evaluation_fail(self, QW_ERROR_CANCELLED, "interrupted");
    return TRUE;
}
