/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Entries by their key, in the order of their use; those used longest ago make room.
 */
#include "daemon/results/result-memory.h"

#include <pthread.h>
#include <unistd.h>

#include "client-lib/wire/wire-recent.h"
#include "daemon/base/cgroup.h"
#include "daemon/read/client.h"
#include "daemon/results/result-watch.h"

/* What a small result takes beside its pages and its key. */
#define ENTRY_BYTES 256
#define ENTRIES_MAX 4096
/* One result takes this part of what all may, at most. */
#define SHARE_OF_ONE 4
/* Of the machine, for all files. */
#define SHARE_OF_MEMORY 8
/* Of what the control group may take, in which files count as the process itself does. */
#define SHARE_OF_GROUP 4

typedef struct Entry {
    GBytes *key;
    GPtrArray *cells; /* (owned) (nullable): of what it reads, once that is known */
    guint64 watched;  /* that is so as of this change */
    guint64 number;   /* it is right as of this change */
    gboolean is_refused;
    QdRememberedResult result; /* with pages: it is kept */
    QdClient *client;          /* (owned) (nullable): who is charged for them */
} Entry;

struct QdResultMemory {
    const QdLimits *limits;
    guint64 n_group_bytes; /* that the control group may take */
    pthread_mutex_t mutex;
    QdResultWatch *watch;
    GHashTable *entries; /* key → Entry, not owned */
    QwRecent recent;     /* of the entries */
    gint n_entries;      /* atomic */
    QdResultCounters counters;
};

void
qd_remembered_result_clear(QdRememberedResult *self)
{
    g_clear_pointer(&self->pages, g_bytes_unref);
    g_clear_pointer(&self->file, qd_sealed_pages_unref);
}

static void
take_references(QdRememberedResult *self)
{
    if (self->pages != NULL)
        (void) g_bytes_ref(self->pages);
    if (self->file != NULL)
        (void) qd_sealed_pages_ref(self->file);
}

QdResultMemory *
qd_result_memory_new(const char *database_path, const QdLimits *limits)
{
    QdResultMemory *self = g_new0(QdResultMemory, 1);

    self->limits = limits;
    self->n_group_bytes = qd_cgroup_get_memory_max();
    pthread_mutex_init(&self->mutex, NULL);
    self->watch = qd_result_watch_new(database_path);
    self->entries = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    self->recent = (QwRecent){ .items = g_new(void *, ENTRIES_MAX), .max = ENTRIES_MAX };
    return self;
}

/* Entries, under the mutex --------------------------------------------------------------------------------------------------- */

static gsize
get_size(const Entry *entry)
{
    return ENTRY_BYTES + g_bytes_get_size(entry->key) + (entry->result.pages != NULL ? g_bytes_get_size(entry->result.pages) : 0);
}

static gboolean
is_kept(const Entry *entry)
{
    return entry->result.pages != NULL || entry->result.file != NULL;
}

static void
drop_pages(QdResultMemory *self, Entry *entry)
{
    guint n_bytes;

    if (!is_kept(entry))
        return;
    self->counters.n_results--;
    if (entry->result.file != NULL) {
        n_bytes = (guint) qd_sealed_pages_get_size(entry->result.file);
        self->counters.n_shared_bytes -= n_bytes;
        qd_client_discharge_many(entry->client, QD_CHARGE_SHARED_RESULTS, n_bytes);
    } else {
        n_bytes = (guint) g_bytes_get_size(entry->result.pages);
        self->counters.n_bytes -= n_bytes;
        qd_client_discharge_many(entry->client, QD_CHARGE_RESULTS, n_bytes);
    }
    g_clear_pointer(&entry->client, qd_client_unref);
    qd_remembered_result_clear(&entry->result);
}

static void
drop_cells(QdResultMemory *self, Entry *entry)
{
    if (entry->cells != NULL)
        qd_result_watch_release(self->watch, entry->cells);
    entry->cells = NULL;
}

/* It is out of the list. */
static void
drop_entry(QdResultMemory *self, Entry *entry)
{
    drop_pages(self, entry);
    self->counters.n_bytes -= get_size(entry);
    (void) g_hash_table_remove(self->entries, entry->key);
    g_atomic_int_set(&self->n_entries, (gint) g_hash_table_size(self->entries));
    drop_cells(self, entry);
    g_bytes_unref(entry->key);
    g_free(entry);
}

static void
drop_all(QdResultMemory *self)
{
    Entry *entry;

    while ((entry = qw_recent_pop(&self->recent)) != NULL)
        drop_entry(self, entry);
}

/* (nullable): it was used just now. */
static Entry *
find(QdResultMemory *self, GBytes *key)
{
    Entry *entry = g_hash_table_lookup(self->entries, key);

    for (guint i = self->recent.n; entry != NULL && i > 0; i--)
        if (self->recent.items[i - 1] == entry) {
            qw_recent_use(&self->recent, i - 1);
            break;
        }
    return entry;
}

static void
make_room(QdResultMemory *self, gsize n_bytes)
{
    gsize max = qd_limits_get(self->limits, QD_LIMIT_RESULT_MEMORY_BYTES);

    while (self->recent.n > 0 && self->counters.n_bytes + n_bytes > max)
        drop_entry(self, qw_recent_pop(&self->recent));
}

QdResultMemory *
qd_result_memory_free(QdResultMemory *self)
{
    if (self == NULL)
        return NULL;

    drop_all(self);
    g_hash_table_unref(self->entries);
    g_free(self->recent.items);
    (void) qd_result_watch_free(self->watch);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

/* Asking --------------------------------------------------------------------------------------------------------------------- */

gboolean
qd_result_memory_may_have(QdResultMemory *self)
{
    return g_atomic_int_get(&self->n_entries) > 0;
}

guint64
qd_result_memory_get_number(const QdResultMemory *self)
{
    return qd_result_watch_get_number(self->watch);
}

gsize
qd_result_memory_get_room(const QdResultMemory *self)
{
    return qd_limits_get(self->limits, QD_LIMIT_RESULT_MEMORY_BYTES) / SHARE_OF_ONE;
}

/* What it has read may have changed: the next time that it is asked for without a change between it is worth keeping. */
static QdRecall
judge(QdResultMemory *self, Entry *entry, const QdResultKey *key, QdRememberedResult *ret_result)
{
    if (entry->is_refused || !qd_result_watch_catch_up(self->watch))
        return QD_RECALL_NOTHING;
    if (entry->cells != NULL && qd_result_watch_all_changed(self->watch, entry->watched)) {
        drop_pages(self, entry);
        drop_cells(self, entry);
    }
    if (entry->cells == NULL)
        return QD_RECALL_NOTED;
    if (!qd_result_watch_is_unchanged(self->watch, entry->cells, entry->number)) {
        drop_pages(self, entry);
        entry->number = qd_result_watch_get_number(self->watch);
        return QD_RECALL_NOTHING;
    }
    if (!is_kept(entry) || entry->result.signature != key->signature)
        return QD_RECALL_WORTHY;

    *ret_result = entry->result;
    take_references(ret_result);
    return QD_RECALL_FOUND;
}

QdRecall
qd_result_memory_recall(QdResultMemory *self, const QdResultKey *key, QdRememberedResult *ret_result)
{
    QdRecall recall = QD_RECALL_NOTHING;
    Entry *entry;

    pthread_mutex_lock(&self->mutex);
    entry = find(self, key->bytes);
    if (entry != NULL)
        recall = judge(self, entry, key, ret_result);
    if (recall == QD_RECALL_FOUND) {
        self->counters.n_hits++;
        self->counters.saved_usec += entry->result.cost_usec;
    } else if (entry != NULL) {
        self->counters.n_misses++;
    }
    pthread_mutex_unlock(&self->mutex);
    return recall;
}

void
qd_result_memory_note(QdResultMemory *self, GBytes *key)
{
    Entry *entry;

    pthread_mutex_lock(&self->mutex);
    if (qd_limits_get(self->limits, QD_LIMIT_RESULT_MEMORY_BYTES) == 0) {
        drop_all(self); /* the limit may be a new one */
    } else if (find(self, key) == NULL) {
        entry = g_new0(Entry, 1);
        entry->key = g_bytes_ref(key);
        make_room(self, get_size(entry));
        if (self->recent.n == self->recent.max)
            drop_entry(self, qw_recent_pop(&self->recent));
        (void) qw_recent_add(&self->recent, entry);
        (void) g_hash_table_insert(self->entries, entry->key, entry);
        self->counters.n_bytes += get_size(entry);
        g_atomic_int_set(&self->n_entries, (gint) g_hash_table_size(self->entries));
    }
    pthread_mutex_unlock(&self->mutex);
}

gboolean
qd_result_memory_watch(QdResultMemory *self, GBytes *key, guint64 number, const QdReadSet *reads)
{
    Entry *entry;

    pthread_mutex_lock(&self->mutex);
    entry = find(self, key);
    if (entry != NULL && reads == NULL) {
        drop_pages(self, entry);
        entry->is_refused = TRUE;
    } else if (entry != NULL && entry->cells == NULL) {
        entry->cells = qd_result_watch_take_cells(self->watch, reads);
        entry->watched = number;
        entry->number = qd_result_watch_get_number(self->watch);
    }
    pthread_mutex_unlock(&self->mutex);
    return entry != NULL && reads != NULL;
}

static gboolean
charge(const QdResultMemory *self, QdClient *client, const QdRememberedResult *result)
{
    if (result->file != NULL)
        return qd_client_charge_many(client, QD_CHARGE_SHARED_RESULTS, (guint) qd_sealed_pages_get_size(result->file),
                                     qd_limits_get(self->limits, QD_LIMIT_RESULT_SHARED_BYTES));
    return qd_client_charge_many(client, QD_CHARGE_RESULTS, (guint) g_bytes_get_size(result->pages),
                                 qd_limits_get(self->limits, QD_LIMIT_RESULT_MEMORY_PER_CLIENT_BYTES));
}

void
qd_result_memory_keep(QdResultMemory *self, QdClient *client, GBytes *key, guint64 number, const QdRememberedResult *result)
{
    gsize n_bytes = result->file == NULL ? g_bytes_get_size(result->pages) : 0;
    gboolean is_over = TRUE;
    Entry *entry;

    pthread_mutex_lock(&self->mutex);
    if (find(self, key) != NULL) /* the one used last: room is made by others */
        make_room(self, n_bytes);
    entry = find(self, key);
    if (entry != NULL && entry->cells != NULL && !entry->is_refused && !is_kept(entry) && charge(self, client, result)) {
        entry->result = *result;
        take_references(&entry->result);
        entry->client = qd_client_ref(client);
        entry->number = number;
        self->counters.n_bytes += n_bytes;
        self->counters.n_results++;
        is_over = FALSE;
    }
    if (is_over && result->file != NULL)
        self->counters.n_shared_bytes -= qd_sealed_pages_get_size(result->file);
    pthread_mutex_unlock(&self->mutex);
}

/* Shared memory -------------------------------------------------------------------------------------------------------------- */

static guint64
get_max_shared(const QdResultMemory *self)
{
    guint64 n_memory_bytes = (guint64) sysconf(_SC_PHYS_PAGES) * (guint64) sysconf(_SC_PAGESIZE);
    guint64 max = MIN(n_memory_bytes / SHARE_OF_MEMORY, self->n_group_bytes / SHARE_OF_GROUP);

    return MIN(qd_limits_get(self->limits, QD_LIMIT_RESULT_SHARED_BYTES), max);
}

/* FALSE: there is none. */
static gboolean
drop_oldest_file(QdResultMemory *self)
{
    for (guint i = 0; i < self->recent.n; i++) {
        Entry *entry = self->recent.items[i];

        if (entry->result.file == NULL)
            continue;
        drop_pages(self, entry);
        return TRUE;
    }
    return FALSE;
}

gboolean
qd_result_memory_take_shared(QdResultMemory *self, gsize n_bytes)
{
    guint64 max = get_max_shared(self);
    gboolean is_room = TRUE;

    pthread_mutex_lock(&self->mutex);
    while (is_room && self->counters.n_shared_bytes + n_bytes > max)
        is_room = drop_oldest_file(self);
    if (is_room)
        self->counters.n_shared_bytes += n_bytes;
    pthread_mutex_unlock(&self->mutex);
    return is_room;
}

void
qd_result_memory_give_shared(QdResultMemory *self, gsize n_bytes)
{
    pthread_mutex_lock(&self->mutex);
    self->counters.n_shared_bytes -= n_bytes;
    pthread_mutex_unlock(&self->mutex);
}

void
qd_result_memory_clear(QdResultMemory *self)
{
    pthread_mutex_lock(&self->mutex);
    drop_all(self);
    qd_result_watch_forget(self->watch);
    pthread_mutex_unlock(&self->mutex);
}

QdResultCounters
qd_result_memory_get_counters(QdResultMemory *self)
{
    QdResultCounters counters;

    pthread_mutex_lock(&self->mutex);
    counters = self->counters;
    pthread_mutex_unlock(&self->mutex);
    return counters;
}

/* Writes ------------------------------------------------------------------------------------------------------------------- */

void
qd_result_memory_begin_write(QdResultMemory *self)
{
    pthread_mutex_lock(&self->mutex);
    qd_result_watch_begin_write(self->watch);
    pthread_mutex_unlock(&self->mutex);
}

void
qd_result_memory_end_write(QdResultMemory *self, const QdChanges *changes, gboolean is_logged)
{
    pthread_mutex_lock(&self->mutex);
    qd_result_watch_end_write(self->watch, changes, is_logged);
    pthread_mutex_unlock(&self->mutex);
}
