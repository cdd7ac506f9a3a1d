/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One block of bytes for all texts, and two ends for each key: of its lexical form, and of its qualifier after that.
 */
#include "daemon/tally/tally-texts.h"

#include <string.h>

#include "daemon/rdf/term-id.h"
#include "daemon/tally/tally-cache.h"

#define BYTES_MIN 65536
#define NEW_SHARE 16 /* of the keys of a later column so few may have no text */
#define SHARE 2      /* texts of a column take at most this part of the cache */
#define ENDS_PER_KEY 2

struct QdTallyTexts {
    gint n_users; /* atomic */
    gsize n;      /* keys */
    gint64 *keys; /* once all are there */
    guint32 *ends;
    char *bytes;
    gsize n_used;
    gsize n_capacity;
    guint64 n_charged;
};

/* --- texts -------------------------------------------------------------------------------------------------------------- */

QdTallyTexts *
qd_tally_texts_free(QdTallyTexts *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->n_users))
        return NULL;
    qd_tally_cache_discharge(self->n_charged);
    g_free(self->keys);
    g_free(self->ends);
    g_free(self->bytes);
    g_free(self);
    return NULL;
}

static gboolean
charge(QdTallyTexts *self, gsize n_bytes, const QdTallyReading *reading)
{
    if (self->n_charged + n_bytes > reading->cache_bytes / SHARE || !qd_tally_cache_charge(n_bytes, reading->n_bytes_max))
        return FALSE;
    self->n_charged += n_bytes;
    return TRUE;
}

/* NULL: there is no room. */
static QdTallyTexts *
texts_new(const QdTallyReading *reading)
{
    const gsize n_bytes = reading->vector->n * ENDS_PER_KEY * sizeof(guint32);
    QdTallyTexts *self = g_new0(QdTallyTexts, 1);

    self->n_users = 1;
    if (charge(self, n_bytes, reading))
        self->ends = g_try_malloc(n_bytes);
    return self->ends != NULL ? self : qd_tally_texts_free(self);
}

static gboolean
reserve(QdTallyTexts *self, gsize n_more, const QdTallyReading *reading)
{
    const guint64 n_free = reading->cache_bytes / SHARE - MIN(reading->cache_bytes / SHARE, self->n_charged);
    gsize n_capacity = MAX(BYTES_MIN, self->n_capacity);
    char *bytes;

    while (n_capacity < self->n_used + n_more)
        n_capacity *= 2;
    if (n_capacity == self->n_capacity)
        return TRUE;
    n_capacity = MIN(n_capacity, self->n_capacity + n_free); /* the last step may be a small one */
    if (n_capacity < self->n_used + n_more || !charge(self, n_capacity - self->n_capacity, reading))
        return FALSE;
    bytes = g_try_realloc(self->bytes, n_capacity);
    if (bytes == NULL)
        return FALSE;
    self->bytes = bytes;
    self->n_capacity = n_capacity;
    return TRUE;
}

static gboolean
texts_add(QdTallyTexts *self, const char *lexical, gsize n_lexical, const char *qualifier, gsize n_qualifier,
          const QdTallyReading *reading)
{
    if (n_lexical + n_qualifier > G_MAXUINT32 - self->n_used || !reserve(self, n_lexical + n_qualifier, reading))
        return FALSE;
    if (n_lexical > 0)
        memcpy(self->bytes + self->n_used, lexical, n_lexical);
    self->n_used += n_lexical;
    self->ends[ENDS_PER_KEY * self->n] = (guint32) self->n_used;
    if (n_qualifier > 0)
        memcpy(self->bytes + self->n_used, qualifier, n_qualifier);
    self->n_used += n_qualifier;
    self->ends[ENDS_PER_KEY * self->n + 1] = (guint32) self->n_used;
    self->n++;
    return TRUE;
}

static void
texts_get(const QdTallyTexts *self, gsize i, gint64 id, QdTerm *ret_term)
{
    const guint32 begin = i > 0 ? self->ends[ENDS_PER_KEY * i - 1] : 0;
    const guint32 middle = self->ends[ENDS_PER_KEY * i];
    const guint32 end = self->ends[ENDS_PER_KEY * i + 1];

    *ret_term = (QdTerm){
        .kind = qd_term_id_get_kind(id),
        .lexical = self->bytes + begin,
        .n_lexical = middle - begin,
        .qualifier = end > middle ? self->bytes + middle : NULL,
        .n_qualifier = end - middle,
    };
}

/* What was reserved and is not used. */
static void
trim(QdTallyTexts *self)
{
    const gsize n_capacity = MAX(self->n_used, 1);
    char *bytes = n_capacity < self->n_capacity ? g_try_realloc(self->bytes, n_capacity) : NULL;

    if (bytes == NULL)
        return;
    qd_tally_cache_discharge(self->n_capacity - n_capacity);
    self->n_charged -= self->n_capacity - n_capacity;
    self->bytes = bytes;
    self->n_capacity = n_capacity;
}

/* The keys that the texts are of: a later column may have others. */
static gboolean
keep_keys(QdTallyTexts *self, const QdTallyReading *reading)
{
    const gsize n_bytes = self->n * sizeof *self->keys;

    trim(self);
    if (!charge(self, n_bytes, reading))
        return FALSE;
    self->keys = g_try_malloc(n_bytes);
    if (self->keys == NULL)
        return FALSE;
    memcpy(self->keys, reading->vector->keys, n_bytes);
    return TRUE;
}

void
qd_tally_texts_carry(QdTallyColumn *from, QdTallyColumn *to)
{
    QdTallyTexts *texts = g_atomic_pointer_get(&from->texts);

    if (texts == NULL || to->n_keys > texts->n + texts->n / NEW_SHARE)
        return;
    g_atomic_int_inc(&texts->n_users);
    to->texts = texts;
}

gboolean
qd_tally_texts_find(QdTallyColumn *column, gint64 id, gsize *place, QdTerm *ret_term)
{
    const QdTallyTexts *texts = g_atomic_pointer_get(&column->texts);
    gsize begin = 0;
    gsize end = texts != NULL ? texts->n : 0;

    if (*place < end && texts->keys[*place] == id) {
        begin = *place;
    } else {
        while (begin < end) {
            gsize middle = begin + (end - begin) / 2;

            if (texts->keys[middle] < id)
                begin = middle + 1;
            else
                end = middle;
        }
        if (texts == NULL || begin == texts->n || texts->keys[begin] != id)
            return FALSE;
        *place = begin;
    }
    texts_get(texts, begin, id, ret_term);
    return TRUE;
}

/* --- reading ------------------------------------------------------------------------------------------------------------ */

void
qd_tally_reading_init(QdTallyReading *self, const QdTallyVector *vector, guint64 cache_bytes)
{
    QdTallyColumn *column = vector->column;

    *self = (QdTallyReading){ .vector = vector, .n_bytes_max = QD_TALLY_LIVE_FACTOR * cache_bytes, .cache_bytes = cache_bytes };
    self->cannot_record = column == NULL || vector->keys != column->keys || vector->n < QD_TALLY_TEXTS_MIN || column->stamp == 0 ||
                          g_atomic_pointer_get(&column->texts) != NULL;
}

void
qd_tally_reading_clear(QdTallyReading *self)
{
    self->recording = qd_tally_texts_free(self->recording);
    *self = (QdTallyReading){ .cannot_record = TRUE };
}

static void
stop_recording(QdTallyReading *self)
{
    self->recording = qd_tally_texts_free(self->recording);
    self->cannot_record = TRUE;
}

/* Rows before @end that have no text: those of ids in line. Any other was not looked up. */
static gboolean
pass_over(QdTallyReading *self, gsize end)
{
    while (self->recording->n < end) {
        if (!qd_term_id_is_inline(self->vector->keys[self->recording->n]) || !texts_add(self->recording, NULL, 0, NULL, 0, self))
            return FALSE;
    }
    return TRUE;
}

void
qd_tally_reading_advance(QdTallyReading *self)
{
    self->position++;
    if (self->position < self->vector->n || self->recording == NULL)
        return;
    if (pass_over(self, self->position) && keep_keys(self->recording, self))
        qd_tally_cache_add_texts(self->vector->column, g_steal_pointer(&self->recording), self->cache_bytes);
    stop_recording(self);
}

gboolean
qd_tally_reading_find(QdTallyReading *self, gint64 id, QdTerm *ret_term)
{
    QdTallyColumn *column = self->vector != NULL ? self->vector->column : NULL;
    const QdTallyTexts *texts;

    if (column == NULL || self->position >= self->vector->n || self->vector->keys[self->position] != id)
        return FALSE;
    texts = g_atomic_pointer_get(&column->texts);
    if (texts == NULL)
        return FALSE;
    self->place = qd_tally_vector_seek(texts->keys, texts->n, self->place, id);
    if (self->place == texts->n || texts->keys[self->place] != id)
        return FALSE;
    texts_get(texts, self->place, id, ret_term);
    return TRUE;
}

void
qd_tally_reading_record(QdTallyReading *self, gint64 id, const QdTerm *term)
{
    if (self->cannot_record || self->position >= self->vector->n || self->vector->keys[self->position] != id)
        return;
    if (self->recording == NULL)
        self->recording = texts_new(self);
    if (self->recording != NULL && self->recording->n > self->position) /* it is looked up again */
        return;
    if (self->recording == NULL || !pass_over(self, self->position) ||
        !texts_add(self->recording, term->lexical, term->n_lexical, term->qualifier, term->n_qualifier, self))
        stop_recording(self);
}

guint64
qd_tally_texts_get_n_bytes(const QdTallyTexts *self)
{
    return self->n_charged;
}
