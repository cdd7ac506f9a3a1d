/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stack of idle connections: the most recently used one is the warmest.
 */
#include "daemon/read/pool.h"

#include <pthread.h>
#include <sys/stat.h>

#include "daemon/read/evaluation.h"
#include "daemon/read/packing.h"
#include "daemon/read/plans.h"
#include "daemon/sqlite/memory.h"

/* Idle connections kept open; beyond that they are closed when they come back. */
#define KEEP_IDLE 8
/* The one that is never closed for being idle spares a lone client the opening. */
#define KEEP_ALWAYS 1
#define IDLE_USEC 2000000

struct QdPool {
    char *path;
    QdConnectionInfo info; /* its path is ours */
    const QdLimits *limits;
    ino_t inode; /* of the file; in an application only */
    pthread_mutex_t mutex;
    GPtrArray *idle; /* of QdReader */
    guint n_leased;
    guint n_opened;            /* atomic: since the last rest */
    guint64 schema_generation; /* atomic */
    uint64_t last_lease_usec;
    QdPlanCounters plan_counters;
    QdInterrupter *interrupter; /* (nullable) not owned */
};

QdPool *
qd_pool_new(const QdConnectionInfo *info, const QdLimits *limits)
{
    QdPool *self = g_new0(QdPool, 1);

    self->path = g_strdup(info->path);
    self->info = *info;
    self->info.path = self->path;
    self->info.setup = qd_evaluation_register;
    if (!info->in_application) /* there changes are not reported */
        self->info.schema_generation = &self->schema_generation;
    self->limits = limits;
    self->idle = g_ptr_array_new();
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

static void
reader_free(QdReader *reader)
{
    qd_connection_free(reader->connection);
    g_free(reader);
}

QdPool *
qd_pool_free(QdPool *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->idle->len; i++)
        reader_free(self->idle->pdata[i]);
    g_ptr_array_unref(self->idle);
    pthread_mutex_destroy(&self->mutex);
    g_free(self->path);
    g_free(self);
    return NULL;
}

QdPlanCounters *
qd_pool_get_plan_counters(QdPool *self)
{
    return &self->plan_counters;
}

void
qd_pool_note_schema(QdPool *self)
{
    __atomic_add_fetch(&self->schema_generation, 1, __ATOMIC_SEQ_CST);
}

void
qd_pool_set_interrupter(QdPool *self, QdInterrupter *interrupter)
{
    self->interrupter = interrupter;
}

gboolean
qd_pool_equip(QdPool *self, QdConnection *connection, GError **error)
{
    if (!qd_evaluation_register(connection, self->limits, error))
        return FALSE;

    qd_plans_set_counters(connection, &self->plan_counters);
    if (self->interrupter != NULL)
        qd_evaluation_set_interrupter(connection, self->interrupter);
    return TRUE;
}

QdConnection *
qd_pool_open_connection(QdPool *self, QdConnectionRole role, GError **error)
{
    g_autoptr(QdConnection) connection = qd_connection_open(&self->info, role, self->limits, error);

    __atomic_add_fetch(&self->n_opened, role == QD_CONNECTION_READER ? 1 : 0, __ATOMIC_RELAXED);

    if (connection == NULL || !qd_pool_equip(self, connection, error))
        return NULL;

    return g_steal_pointer(&connection);
}

/* Under the mutex. NULL when another connection has to be opened. */
static QdReader *
take_idle(QdPool *self, const QdReader *preferred)
{
    for (guint i = self->idle->len; i > 0 && preferred != NULL; i--)
        if (self->idle->pdata[i - 1] == preferred)
            return g_ptr_array_steal_index(self->idle, i - 1);

    return self->idle->len > 0 ? g_ptr_array_steal_index(self->idle, self->idle->len - 1) : NULL;
}

/* Takes an idle connection too, if there is one. */
static gboolean
charge_lease(QdPool *self, QdClient *client, const QdReader *preferred, QdReader **ret_reader, GError **error)
{
    gboolean full;

    if (!qd_client_charge(client, QD_CHARGE_SNAPSHOT, qd_limits_get(self->limits, QD_LIMIT_SNAPSHOTS_PER_CLIENT))) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_SNAPSHOTS_PER_CLIENT, "too many unfinished results of client '%s'",
                           client->label);
        return FALSE;
    }

    pthread_mutex_lock(&self->mutex);
    full = self->n_leased >= qd_limits_get(self->limits, QD_LIMIT_SNAPSHOTS);
    if (!full) {
        self->n_leased++;
        *ret_reader = take_idle(self, preferred);
    }
    pthread_mutex_unlock(&self->mutex);
    if (full) {
        qd_client_discharge(client, QD_CHARGE_SNAPSHOT);
        qd_limit_set_error(error, self->limits, QD_LIMIT_SNAPSHOTS, "too many unfinished results");
        return FALSE;
    }
    return TRUE;
}

/* @reader: (nullable): kept if there are not enough. Returns: whether it was */
static gboolean
give_lease(QdPool *self, QdReader *reader)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    gboolean keep;

    if (reader != NULL)
        reader->idle_since_usec = now;
    pthread_mutex_lock(&self->mutex);
    self->n_leased--;
    self->last_lease_usec = now;
    keep = reader != NULL && self->idle->len < KEEP_IDLE;
    if (keep)
        g_ptr_array_add(self->idle, reader);
    pthread_mutex_unlock(&self->mutex);
    return keep;
}

/* In an application no message says that the daemon has put another file in the place of a damaged one. */
static void
notice_other_file(QdPool *self)
{
    struct stat st;

    if (!self->info.in_application || stat(self->path, &st) < 0 || st.st_ino == __atomic_load_n(&self->inode, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&self->inode, st.st_ino, __ATOMIC_RELAXED);
    qd_pool_rest(self);
}

/* Within the memory that the client may have. */
static QdReader *
open_reader(QdPool *self, QdClient *client, GError **error)
{
    QdMemoryUse memory = { .account = qd_client_get_memory(client) };
    g_autoptr(QdConnection) connection = NULL;
    QdPacker *packer = NULL;
    QdReader *reader;

    qd_memory_begin_use(&memory);
    connection = qd_pool_open_connection(self, QD_CONNECTION_READER, error);
    if (connection != NULL)
        packer = qd_packer_register(qd_connection_get_db(connection), error);
    qd_memory_end_use(&memory);
    reader = packer != NULL ? g_new0(QdReader, 1) : NULL;
    if (reader != NULL)
        *reader = (QdReader){ .packer = packer, .connection = g_steal_pointer(&connection), .opened_bytes = memory.n_bytes };
    qd_memory_release_use(&memory);
    return reader;
}

static void
charge(QdReader *reader, int64_t n_bytes)
{
    QdMemoryAccount *account = qd_client_get_memory(reader->client);

    if (account != NULL && n_bytes != reader->charged_bytes)
        __atomic_add_fetch(&account->n_bytes, n_bytes - reader->charged_bytes, __ATOMIC_RELAXED);
    reader->charged_bytes = n_bytes;
}

void
qd_pool_charge_memory(QdReader *reader)
{
    int64_t n_plan_bytes = (int64_t) qd_plans_get_size(reader->connection);

    charge(reader, n_plan_bytes + MAX(reader->opened_bytes + qd_connection_get_schema(reader->connection)->held_bytes, 0));
}

QdReader *
qd_pool_lease(QdPool *self, QdClient *client, const QdReader *preferred, GError **error)
{
    QdReader *reader = NULL;

    notice_other_file(self);
    if (!charge_lease(self, client, preferred, &reader, error))
        return NULL;

    if (reader == NULL)
        reader = open_reader(self, client, error);
    if (reader == NULL) {
        (void) give_lease(self, NULL);
        qd_client_discharge(client, QD_CHARGE_SNAPSHOT);
        return NULL;
    }
    reader->client = qd_client_ref(client);
    qd_pool_charge_memory(reader);
    reader->is_discharged = FALSE;
    return reader;
}

void
qd_pool_discharge(QdReader *reader)
{
    if (!reader->is_discharged)
        qd_client_discharge(reader->client, QD_CHARGE_SNAPSHOT);
    reader->is_discharged = TRUE;
}

/* For its next lease. */
static void
settle(QdConnection *connection)
{
    qd_settings_reset(connection);
    if (qd_memory_is_above_soft_limit()) {
        qd_connection_trim(connection);
        qd_plans_trim(connection);
    } else {
        qd_connection_bound_statements(connection);
    }
}

void
qd_pool_release(QdPool *self, QdReader *reader)
{
    QdClient *client;

    reader->is_stale = reader->is_stale || qd_connection_is_spoilt(reader->connection);
    if (!reader->is_stale)
        settle(reader->connection);

    qd_pool_discharge(reader);
    charge(reader, 0);
    client = g_steal_pointer(&reader->client);
    if (!give_lease(self, reader->is_stale ? NULL : reader))
        reader_free(reader);
    qd_client_unref(client);
}

/* Under the mutex: the connection that has been idle the longest, if that is long. */
static QdReader *
steal_stale(QdPool *self, uint64_t now)
{
    if (self->idle->len <= KEEP_ALWAYS || now < ((QdReader *) self->idle->pdata[0])->idle_since_usec + IDLE_USEC)
        return NULL;

    return g_ptr_array_steal_index(self->idle, 0);
}

/* Under the mutex. */
static QdPoolState
pool_judge(QdPool *self, gboolean wants_rest, uint64_t now)
{
    if (!wants_rest && __atomic_load_n(&self->n_opened, __ATOMIC_RELAXED) <= KEEP_ALWAYS)
        return QD_POOL_QUIET;
    if (self->n_leased > 0 || now < self->last_lease_usec + IDLE_USEC)
        return QD_POOL_BUSY;
    return QD_POOL_AT_REST;
}

QdPoolState
qd_pool_trim(QdPool *self, gboolean wants_rest)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    QdReader *reader;
    QdPoolState state;

    do {
        pthread_mutex_lock(&self->mutex);
        reader = steal_stale(self, now);
        state = pool_judge(self, wants_rest, now);
        pthread_mutex_unlock(&self->mutex);
        if (reader != NULL)
            reader_free(reader);
    } while (reader != NULL);
    return state;
}

void
qd_pool_rest(QdPool *self)
{
    QdReader *reader;

    __atomic_store_n(&self->n_opened, 0, __ATOMIC_RELAXED);
    do {
        pthread_mutex_lock(&self->mutex);
        reader = self->idle->len > 0 ? g_ptr_array_steal_index_fast(self->idle, self->idle->len - 1) : NULL;
        pthread_mutex_unlock(&self->mutex);
        if (reader != NULL)
            reader_free(reader);
    } while (reader != NULL);
}

guint
qd_pool_get_n_leased(QdPool *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_leased;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

guint
qd_pool_get_n_open(QdPool *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_leased + self->idle->len;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
