/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's files on a memory disk, in the manner of SQLite's own VFS for Unix: the same locks, shared memory and sector size.
 * It syncs the directory in the same places, too. What has nothing to do with files is the Unix VFS's.
 *
 * Locks and shared memory belong to the name of the disk that was inserted, and so to this process. Each call is counted for
 * faults; a write that fails leaves its first half.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/crash/memory-disk.h"

#define SECTOR_BYTES 4096

/* What connections to one file share. */
typedef struct Node {
    MemoryDisk *disk;
    guint file;
    guint n_handles;
    int n_shared;
    gboolean reserved;
    gboolean pending;
    gboolean exclusive;
    GPtrArray *regions;              /* shared memory */
    guint n_mapped;                  /* handles that use it */
    int shm_locks[SQLITE_SHM_NLOCK]; /* -1: exclusive; else the number of shared ones */
} Node;

typedef struct Handle {
    sqlite3_file base;
    MemoryDisk *disk;
    guint file;
    Node *node; /* (nullable): of a file with a name */
    int level;
    gboolean is_new_journal; /* its name is not durable before its first sync */
    gboolean is_temporary;
    gboolean persist_wal;
    gboolean mapped;
    guint16 shm_shared;
    guint16 shm_exclusive;
} Handle;

static pthread_mutex_t vfs_mutex = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *nodes;
static MemoryDisk *_Atomic inserted;

static void
node_free(gpointer data)
{
    Node *node = data;

    g_ptr_array_unref(node->regions);
    g_free(node);
}

static Node *
node_acquire(MemoryDisk *disk, guint file)
{
    Node *node = NULL;

    pthread_mutex_lock(&vfs_mutex);
    for (guint i = 0; i < nodes->len && node == NULL; i++) {
        Node *candidate = nodes->pdata[i];

        if (candidate->disk == disk && candidate->file == file)
            node = candidate;
    }
    if (node == NULL) {
        node = g_new0(Node, 1);
        *node = (Node){ .disk = disk, .file = file, .regions = g_ptr_array_new_with_free_func(g_free) };
        g_ptr_array_add(nodes, node);
    }
    node->n_handles++;
    pthread_mutex_unlock(&vfs_mutex);
    return node;
}

static void
node_release(Node *node)
{
    pthread_mutex_lock(&vfs_mutex);
    if (--node->n_handles == 0)
        g_ptr_array_remove_fast(nodes, node);
    pthread_mutex_unlock(&vfs_mutex);
}

/* Reading and writing --------------------------------------------------------------------------------------------------- */

static int
vfs_read(sqlite3_file *file, void *buffer, int n_bytes, sqlite3_int64 offset)
{
    Handle *self = (Handle *) file;
    gsize n;

    if (memory_disk_takes_fault(self->disk))
        return SQLITE_IOERR_READ;
    n = memory_disk_read(self->disk, self->file, buffer, (gsize) n_bytes, (uint64_t) offset);
    if (n == (gsize) n_bytes)
        return SQLITE_OK;
    memset((char *) buffer + n, 0, (gsize) n_bytes - n);
    return SQLITE_IOERR_SHORT_READ;
}

static int
vfs_write(sqlite3_file *file, const void *data, int n_bytes, sqlite3_int64 offset)
{
    Handle *self = (Handle *) file;
    gboolean fails = memory_disk_takes_fault(self->disk);

    if (!memory_disk_write(self->disk, self->file, data, (gsize) (fails ? n_bytes / 2 : n_bytes), (uint64_t) offset))
        return SQLITE_FULL;
    return fails ? SQLITE_FULL : SQLITE_OK;
}

static int
vfs_truncate(sqlite3_file *file, sqlite3_int64 n_bytes)
{
    Handle *self = (Handle *) file;

    if (memory_disk_takes_fault(self->disk))
        return SQLITE_IOERR_TRUNCATE;
    memory_disk_truncate(self->disk, self->file, (uint64_t) n_bytes);
    return SQLITE_OK;
}

static int
vfs_sync(sqlite3_file *file, int flags)
{
    Handle *self = (Handle *) file;

    if (self->is_temporary)
        return SQLITE_OK;
    if (memory_disk_takes_fault(self->disk))
        return SQLITE_IOERR_FSYNC;
    memory_disk_sync(self->disk, self->file);
    if (self->is_new_journal)
        memory_disk_sync_directory(self->disk, "");
    self->is_new_journal = FALSE;
    return SQLITE_OK;
}

static int
vfs_file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    Handle *self = (Handle *) file;

    *ret_size = (sqlite3_int64) memory_disk_get_size(self->disk, self->file);
    return SQLITE_OK;
}

static int
vfs_file_control(sqlite3_file *file, int op, void *arg)
{
    Handle *self = (Handle *) file;
    int *value = arg;

    if (op != SQLITE_FCNTL_PERSIST_WAL)
        return SQLITE_NOTFOUND;
    if (*value < 0)
        *value = self->persist_wal;
    else
        self->persist_wal = *value != 0;
    return SQLITE_OK;
}

static int
vfs_sector_size(sqlite3_file *file)
{
    return SECTOR_BYTES;
}

static int
vfs_device_characteristics(sqlite3_file *file)
{
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* Locks ----------------------------------------------------------------------------------------------------------------- */

static int
lock_in_node(Handle *self, Node *node, int level)
{
    gboolean alone = node->n_shared == 1; /* this handle's own */

    switch (level) {
    case SQLITE_LOCK_SHARED:
        if (node->pending || node->exclusive)
            return SQLITE_BUSY;
        node->n_shared++;
        break;
    case SQLITE_LOCK_RESERVED:
        if (node->reserved)
            return SQLITE_BUSY;
        node->reserved = TRUE;
        break;
    default:
        if ((node->reserved && self->level < SQLITE_LOCK_RESERVED) || (node->pending && self->level < SQLITE_LOCK_PENDING))
            return SQLITE_BUSY;
        node->pending = TRUE;
        self->level = SQLITE_LOCK_PENDING;
        if (!alone)
            return SQLITE_BUSY;
        node->exclusive = TRUE;
        break;
    }
    self->level = level;
    return SQLITE_OK;
}

static int
vfs_lock(sqlite3_file *file, int level)
{
    Handle *self = (Handle *) file;
    int r;

    if (level <= self->level || self->node == NULL)
        return SQLITE_OK;
    pthread_mutex_lock(&vfs_mutex);
    r = lock_in_node(self, self->node, level);
    pthread_mutex_unlock(&vfs_mutex);
    return r;
}

static int
vfs_unlock(sqlite3_file *file, int level)
{
    Handle *self = (Handle *) file;
    Node *node = self->node;

    if (self->level <= level || node == NULL)
        return SQLITE_OK;
    pthread_mutex_lock(&vfs_mutex);
    if (self->level == SQLITE_LOCK_EXCLUSIVE)
        node->exclusive = FALSE;
    if (self->level >= SQLITE_LOCK_PENDING)
        node->pending = FALSE;
    if (self->level >= SQLITE_LOCK_RESERVED)
        node->reserved = FALSE;
    if (level == SQLITE_LOCK_NONE)
        node->n_shared--;
    self->level = level;
    pthread_mutex_unlock(&vfs_mutex);
    return SQLITE_OK;
}

static int
vfs_check_reserved_lock(sqlite3_file *file, int *ret_reserved)
{
    Handle *self = (Handle *) file;

    pthread_mutex_lock(&vfs_mutex);
    *ret_reserved = self->node != NULL && self->node->reserved;
    pthread_mutex_unlock(&vfs_mutex);
    return SQLITE_OK;
}

/* Shared memory --------------------------------------------------------------------------------------------------------- */

static int
vfs_shm_map(sqlite3_file *file, int index, int n_bytes, int extend, void volatile **ret_region)
{
    Handle *self = (Handle *) file;

    if (memory_disk_takes_fault(self->disk))
        return SQLITE_IOERR_SHMMAP;
    pthread_mutex_lock(&vfs_mutex);
    if (!self->mapped) {
        self->mapped = TRUE;
        self->node->n_mapped++;
    }
    while (extend && (int) self->node->regions->len <= index)
        g_ptr_array_add(self->node->regions, g_malloc0((gsize) n_bytes));
    *ret_region = index < (int) self->node->regions->len ? self->node->regions->pdata[index] : NULL;
    pthread_mutex_unlock(&vfs_mutex);
    return SQLITE_OK;
}

static gboolean
shm_locks_are_free(const Handle *self, guint16 mask, gboolean exclusive)
{
    for (int i = 0; i < SQLITE_SHM_NLOCK; i++) {
        int held = self->node->shm_locks[i] - ((self->shm_shared >> i) & 1);

        if (((mask >> i) & 1) != 0 && (self->node->shm_locks[i] < 0 || (exclusive && held > 0)))
            return FALSE;
    }
    return TRUE;
}

static int
vfs_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    Handle *self = (Handle *) file;
    guint16 mask = (guint16) ((1u << (offset + n)) - (1u << offset));
    gboolean exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    int r = SQLITE_OK;

    pthread_mutex_lock(&vfs_mutex);
    if ((flags & SQLITE_SHM_LOCK) != 0)
        mask &= exclusive ? ~self->shm_exclusive : ~self->shm_shared;
    else
        mask &= self->shm_exclusive | self->shm_shared;
    if ((flags & SQLITE_SHM_LOCK) != 0 && !shm_locks_are_free(self, mask, exclusive))
        r = SQLITE_BUSY;
    for (int i = 0; r == SQLITE_OK && i < SQLITE_SHM_NLOCK; i++) {
        int *lock = &self->node->shm_locks[i];

        if (((mask >> i) & 1) == 0)
            continue;
        if ((flags & SQLITE_SHM_LOCK) != 0)
            *lock = exclusive ? -1 : *lock + 1;
        else
            *lock = *lock < 0 ? 0 : *lock - 1;
    }
    if (r == SQLITE_OK && (flags & SQLITE_SHM_UNLOCK) != 0) {
        self->shm_exclusive &= ~mask;
        self->shm_shared &= ~mask;
    } else if (r == SQLITE_OK && exclusive) {
        self->shm_exclusive |= mask;
    } else if (r == SQLITE_OK) {
        self->shm_shared |= mask;
    }
    pthread_mutex_unlock(&vfs_mutex);
    return r;
}

static void
vfs_shm_barrier(sqlite3_file *file)
{
    pthread_mutex_lock(&vfs_mutex);
    atomic_thread_fence(memory_order_seq_cst);
    pthread_mutex_unlock(&vfs_mutex);
}

/* The last to leave takes it away: who comes next recovers. */
static int
vfs_shm_unmap(sqlite3_file *file, int delete)
{
    Handle *self = (Handle *) file;

    pthread_mutex_lock(&vfs_mutex);
    if (self->mapped && --self->node->n_mapped == 0)
        g_ptr_array_set_size(self->node->regions, 0);
    self->mapped = FALSE;
    pthread_mutex_unlock(&vfs_mutex);
    return SQLITE_OK;
}

static int
vfs_close(sqlite3_file *file)
{
    Handle *self = (Handle *) file;

    (void) vfs_unlock(file, SQLITE_LOCK_NONE);
    if (self->node != NULL)
        (void) vfs_shm_unmap(file, 0);
    if (self->is_temporary)
        memory_disk_drop_nameless(self->disk, self->file);
    g_clear_pointer(&self->node, node_release);
    return SQLITE_OK;
}

/* The VFS --------------------------------------------------------------------------------------------------------------- */

static const sqlite3_io_methods io_methods = {
    .iVersion = 2,
    .xClose = vfs_close,
    .xRead = vfs_read,
    .xWrite = vfs_write,
    .xTruncate = vfs_truncate,
    .xSync = vfs_sync,
    .xFileSize = vfs_file_size,
    .xLock = vfs_lock,
    .xUnlock = vfs_unlock,
    .xCheckReservedLock = vfs_check_reserved_lock,
    .xFileControl = vfs_file_control,
    .xSectorSize = vfs_sector_size,
    .xDeviceCharacteristics = vfs_device_characteristics,
    .xShmMap = vfs_shm_map,
    .xShmLock = vfs_shm_lock,
    .xShmBarrier = vfs_shm_barrier,
    .xShmUnmap = vfs_shm_unmap,
};

/* On the disk there is one folder, regardless of the store's. */
static const char *
get_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int
vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags)
{
    MemoryDisk *disk = atomic_load(&inserted);
    const char *name = path != NULL ? get_base_name(path) : NULL;
    Handle *self = (Handle *) file;
    gboolean is_journal = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL)) != 0;

    *self = (Handle){ .disk = disk, .is_temporary = name == NULL };
    if (memory_disk_takes_fault(disk))
        return SQLITE_CANTOPEN;
    if (name == NULL || !memory_disk_find(disk, name, &self->file)) {
        if (name != NULL && (flags & SQLITE_OPEN_CREATE) == 0)
            return SQLITE_CANTOPEN;
        self->file = memory_disk_create(disk, name);
        self->is_new_journal = is_journal;
    }
    if (name != NULL)
        self->node = node_acquire(disk, self->file);
    self->base.pMethods = &io_methods;
    if (ret_flags != NULL)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int
vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    MemoryDisk *disk = atomic_load(&inserted);

    if (memory_disk_takes_fault(disk))
        return SQLITE_IOERR_DELETE;
    if (!memory_disk_delete(disk, get_base_name(name)))
        return SQLITE_IOERR_DELETE_NOENT;
    if (sync_directory)
        memory_disk_sync_directory(disk, "");
    return SQLITE_OK;
}

static int
vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_exists)
{
    MemoryDisk *disk = atomic_load(&inserted);
    guint file;

    *ret_exists = memory_disk_find(disk, get_base_name(name), &file) &&
                  (flags != SQLITE_ACCESS_EXISTS || memory_disk_get_size(disk, file) > 0);
    return SQLITE_OK;
}

static int
vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int n_bytes, char *ret_name)
{
    g_strlcpy(ret_name, name, (gsize) n_bytes);
    return SQLITE_OK;
}

void
memory_vfs_insert(MemoryDisk *disk)
{
    static sqlite3_vfs vfs;

    atomic_store(&inserted, disk);
    if (nodes == NULL)
        nodes = g_ptr_array_new_with_free_func(node_free);
    if (g_strcmp0(sqlite3_vfs_find(NULL)->zName, "memory-disk") == 0)
        return;

    vfs = *sqlite3_vfs_find("unix");
    vfs.zName = "memory-disk";
    vfs.szOsFile = sizeof(Handle);
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xAccess = vfs_access;
    vfs.xFullPathname = vfs_full_pathname;
    g_assert_cmpint(sqlite3_vfs_register(&vfs, 1), ==, SQLITE_OK);
}
