/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buckets in two hash tables, and one for watches that read all. A round is the time between two rearms. Watches and buckets
 * remember the round in which they were reported, so nothing has to be reset.
 */
#include "daemon/notify/subscription-index.h"

typedef struct Bucket {
    GPtrArray *watches; /* of QdWatch, not owned */
    guint64 round;      /* in which all of them have been reported */
} Bucket;

struct QdWatch {
    QdReadSet *reads;
    gpointer data;
    guint64 round; /* in which it was reported */
};

struct QdSubscriptionIndex {
    GHashTable *tables;     /* folded name → Bucket */
    GHashTable *predicates; /* IRI → Bucket */
    Bucket *all;            /* of tables or predicates */
    guint64 round;          /* from 1 */
};

static void
bucket_free(gpointer data)
{
    Bucket *self = data;

    g_ptr_array_unref(self->watches);
    g_free(self);
}

static Bucket *
bucket_new(void)
{
    Bucket *self = g_new0(Bucket, 1);

    self->watches = g_ptr_array_new();
    return self;
}

QdSubscriptionIndex *
qd_subscription_index_new(void)
{
    QdSubscriptionIndex *self = g_new0(QdSubscriptionIndex, 1);

    self->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, bucket_free);
    self->predicates = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, bucket_free);
    self->all = bucket_new();
    self->round = 1;
    return self;
}

QdSubscriptionIndex *
qd_subscription_index_free(QdSubscriptionIndex *self)
{
    if (self == NULL)
        return NULL;

    g_assert(g_hash_table_size(self->tables) == 0 && g_hash_table_size(self->predicates) == 0 && self->all->watches->len == 0);
    g_hash_table_unref(self->tables);
    g_hash_table_unref(self->predicates);
    bucket_free(self->all);
    g_free(self);
    return NULL;
}

/* Membership ------------------------------------------------------------------------------------------------------------- */

static const QdNameSet *
get_names(const QdReadSet *reads)
{
    return reads->is_sparql ? reads->predicates : reads->tables;
}

static void
put(QdSubscriptionIndex *self, QdWatch *watch)
{
    GHashTable *buckets = watch->reads->is_sparql ? self->predicates : self->tables;
    g_autoptr(GPtrArray) names = qd_name_set_list(get_names(watch->reads));

    if (qd_name_set_is_all(get_names(watch->reads))) {
        g_ptr_array_add(self->all->watches, watch);
        self->all->round = 0;
    }
    for (guint i = 0; i < names->len; i++) {
        Bucket *bucket = g_hash_table_lookup(buckets, names->pdata[i]);

        if (bucket == NULL) {
            bucket = bucket_new();
            g_hash_table_insert(buckets, g_strdup(names->pdata[i]), bucket);
        }
        g_ptr_array_add(bucket->watches, watch);
        bucket->round = 0;
    }
}

static void
take(QdSubscriptionIndex *self, QdWatch *watch)
{
    GHashTable *buckets = watch->reads->is_sparql ? self->predicates : self->tables;
    g_autoptr(GPtrArray) names = qd_name_set_list(get_names(watch->reads));

    (void) g_ptr_array_remove_fast(self->all->watches, watch);
    for (guint i = 0; i < names->len; i++) {
        Bucket *bucket = g_hash_table_lookup(buckets, names->pdata[i]);

        (void) g_ptr_array_remove_fast(bucket->watches, watch);
        if (bucket->watches->len == 0)
            (void) g_hash_table_remove(buckets, names->pdata[i]);
    }
}

QdWatch *
qd_subscription_index_add(QdSubscriptionIndex *self, QdReadSet *reads, gpointer data)
{
    QdWatch *watch = g_new0(QdWatch, 1);

    watch->reads = reads;
    watch->data = data;
    put(self, watch);
    return watch;
}

void
qd_subscription_index_remove(QdSubscriptionIndex *self, QdWatch *watch)
{
    take(self, watch);
    (void) qd_read_set_free(watch->reads);
    g_free(watch);
}

void
qd_subscription_index_set_reads(QdSubscriptionIndex *self, QdWatch *watch, QdReadSet *reads)
{
    take(self, watch);
    (void) qd_read_set_free(watch->reads);
    watch->reads = reads;
    put(self, watch);
}

const QdReadSet *
qd_watch_get_reads(const QdWatch *self)
{
    return self->reads;
}

/* Commits ---------------------------------------------------------------------------------------------------------------- */

typedef struct Touch {
    QdSubscriptionIndex *index;
    const QdChanges *changes;
    QdWatchFunc func;
    gpointer user_data;
} Touch;

static void
touch_bucket(const Touch *self, Bucket *bucket)
{
    guint64 round = self->index->round;
    guint n_reported = 0;

    if (bucket == NULL || bucket->round == round)
        return;

    for (guint i = 0; i < bucket->watches->len; i++) {
        QdWatch *watch = bucket->watches->pdata[i];

        if (watch->round != round && qd_read_set_is_touched(watch->reads, self->changes)) {
            watch->round = round;
            self->func(watch->data, self->changes, self->user_data);
        }
        n_reported += watch->round == round ? 1 : 0;
    }
    if (n_reported == bucket->watches->len)
        bucket->round = round;
}

static void
touch_every(const Touch *self, GHashTable *buckets)
{
    GHashTableIter iter;
    gpointer bucket;

    g_hash_table_iter_init(&iter, buckets);
    while (g_hash_table_iter_next(&iter, NULL, &bucket))
        touch_bucket(self, bucket);
}

static void
touch_tables(const Touch *self)
{
    const QdNameSet *tables = self->changes->tables;
    g_autoptr(GPtrArray) names = qd_name_set_list(tables);

    if (qd_name_set_is_all(tables))
        touch_every(self, self->index->tables);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *name = qd_read_set_fold(names->pdata[i]);

        touch_bucket(self, g_hash_table_lookup(self->index->tables, name));
    }
    if (!qd_name_set_is_empty(self->changes->graphs) || self->changes->prefixes)
        touch_bucket(self, g_hash_table_lookup(self->index->tables, QD_READ_SET_RDF));
}

static void
touch_predicates(const Touch *self)
{
    const QdNameSet *predicates = self->changes->predicates;
    g_autoptr(GPtrArray) names = qd_name_set_list(predicates);

    if (qd_name_set_is_all(predicates) || self->changes->prefixes)
        touch_every(self, self->index->predicates);
    for (guint i = 0; i < names->len; i++)
        touch_bucket(self, g_hash_table_lookup(self->index->predicates, names->pdata[i]));
}

void
qd_subscription_index_touch(QdSubscriptionIndex *self, const QdChanges *changes, QdWatchFunc func, gpointer user_data)
{
    const Touch touch = { self, changes, func, user_data };

    touch_bucket(&touch, self->all);
    touch_tables(&touch);
    touch_predicates(&touch);
}

void
qd_subscription_index_rearm(QdSubscriptionIndex *self)
{
    self->round++;
}
