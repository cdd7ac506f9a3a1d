/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One mutex for all: it is the order of the operations.
 */
#include "tests/crash/memory-disk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define PAGE_BYTES 4096

typedef struct Page {
    gint n_refs; /* atomic */
    uint8_t bytes[PAGE_BYTES];
} Page;

typedef struct File {
    GPtrArray *pages; /* of Page; NULL: a hole */
    uint64_t size;
    gboolean nameless; /* not logged */
} File;

struct MemoryDisk {
    pthread_mutex_t mutex;
    GPtrArray *files;    /* of File */
    GHashTable *names;   /* char * → file + 1 */
    GArray *log;         /* (nullable) of DiskOp */
    _Atomic guint n_ops; /* length of the log */
    guint sync_usec;

    guint fault_nth;
    gboolean fault_sticky;
    guint n_counted;
    guint n_failed;

    gboolean limited;
    gint64 n_free; /* pages */
    guint n_full;
};

/* Files ----------------------------------------------------------------------------------------------------------------- */

static void
page_unref(gpointer data)
{
    Page *page = data;

    if (page != NULL && g_atomic_int_dec_and_test(&page->n_refs))
        g_free(page);
}

static void
file_free(gpointer data)
{
    File *file = data;

    g_ptr_array_unref(file->pages);
    g_free(file);
}

static File *
file_new(void)
{
    File *file = g_new0(File, 1);

    file->pages = g_ptr_array_new_with_free_func(page_unref);
    return file;
}

static File *
file_copy(const File *from)
{
    File *file = file_new();

    file->size = from->size;
    file->nameless = from->nameless;
    g_ptr_array_set_size(file->pages, (gint) from->pages->len);
    for (guint i = 0; i < from->pages->len; i++) {
        Page *page = from->pages->pdata[i];

        if (page != NULL)
            g_atomic_int_inc(&page->n_refs);
        file->pages->pdata[i] = page;
    }
    return file;
}

/* A page that is this file's own. */
static Page *
file_own_page(File *file, guint index)
{
    Page *shared = file->pages->pdata[index];
    Page *page;

    if (shared != NULL && g_atomic_int_get(&shared->n_refs) == 1)
        return shared;

    page = g_new(Page, 1);
    page->n_refs = 1;
    if (shared != NULL)
        memcpy(page->bytes, shared->bytes, PAGE_BYTES);
    else
        memset(page->bytes, 0, PAGE_BYTES);
    page_unref(shared);
    file->pages->pdata[index] = page;
    return page;
}

static void
file_resize(File *file, uint64_t size)
{
    guint n_pages = (guint) ((size + PAGE_BYTES - 1) / PAGE_BYTES);

    if (size < file->size && size % PAGE_BYTES != 0)
        memset(file_own_page(file, n_pages - 1)->bytes + size % PAGE_BYTES, 0, PAGE_BYTES - size % PAGE_BYTES);
    g_ptr_array_set_size(file->pages, (gint) n_pages);
    file->size = size;
}

static void
file_write(File *file, const uint8_t *data, gsize n_bytes, uint64_t offset)
{
    if (offset + n_bytes > file->size)
        file_resize(file, offset + n_bytes);
    while (n_bytes > 0) {
        gsize start = (gsize) (offset % PAGE_BYTES);
        gsize n = MIN(n_bytes, PAGE_BYTES - start);

        memcpy(file_own_page(file, (guint) (offset / PAGE_BYTES))->bytes + start, data, n);
        data += n;
        offset += n;
        n_bytes -= n;
    }
}

static gsize
file_read(const File *file, uint8_t *buffer, gsize n_bytes, uint64_t offset)
{
    gsize n_total = offset < file->size ? (gsize) MIN(n_bytes, file->size - offset) : 0;

    for (gsize done = 0; done < n_total;) {
        const Page *page = file->pages->pdata[(offset + done) / PAGE_BYTES];
        gsize start = (gsize) ((offset + done) % PAGE_BYTES);
        gsize n = MIN(n_total - done, PAGE_BYTES - start);

        if (page != NULL)
            memcpy(buffer + done, page->bytes + start, n);
        else
            memset(buffer + done, 0, n);
        done += n;
    }
    return n_total;
}

/* Disk ------------------------------------------------------------------------------------------------------------------ */

static void
op_clear(gpointer data)
{
    DiskOp *op = data;

    g_free(op->data);
    g_free(op->name);
    g_free(op->new_name);
}

MemoryDisk *
memory_disk_new(void)
{
    MemoryDisk *self = g_new0(MemoryDisk, 1);

    pthread_mutex_init(&self->mutex, NULL);
    self->files = g_ptr_array_new_with_free_func(file_free);
    self->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return self;
}

MemoryDisk *
memory_disk_copy(MemoryDisk *self)
{
    MemoryDisk *copy = memory_disk_new();
    GHashTableIter iter;
    gpointer name, file;

    pthread_mutex_lock(&self->mutex);
    for (guint i = 0; i < self->files->len; i++)
        g_ptr_array_add(copy->files, file_copy(self->files->pdata[i]));
    g_hash_table_iter_init(&iter, self->names);
    while (g_hash_table_iter_next(&iter, &name, &file))
        g_hash_table_insert(copy->names, g_strdup(name), file);
    pthread_mutex_unlock(&self->mutex);
    return copy;
}

MemoryDisk *
memory_disk_free(MemoryDisk *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->files);
    g_hash_table_unref(self->names);
    g_clear_pointer(&self->log, g_array_unref);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

void
memory_disk_start_log(MemoryDisk *self, guint sync_usec)
{
    self->log = g_array_new(FALSE, TRUE, sizeof(DiskOp));
    g_array_set_clear_func(self->log, op_clear);
    self->sync_usec = sync_usec;
}

guint
memory_disk_get_n_ops(MemoryDisk *self)
{
    return atomic_load(&self->n_ops);
}

const DiskOp *
memory_disk_get_op(const MemoryDisk *self, guint index)
{
    return &g_array_index(self->log, DiskOp, index);
}

/* The lock is held, here and below. */
static DiskOp *
log_op(MemoryDisk *self, DiskOpKind kind, guint file)
{
    DiskOp op = { .kind = kind, .file = file };

    if (self->log == NULL)
        return NULL;
    g_array_append_val(self->log, op);
    atomic_store(&self->n_ops, self->log->len);
    return &g_array_index(self->log, DiskOp, self->log->len - 1);
}

static File *
get_file(MemoryDisk *self, guint file)
{
    while (self->files->len <= file)
        g_ptr_array_add(self->files, file_new());
    return self->files->pdata[file];
}

static void
rename_in_table(MemoryDisk *self, const char *name, const char *new_name, guint file)
{
    g_hash_table_insert(self->names, g_strdup(new_name), GUINT_TO_POINTER(file + 1));
    g_hash_table_remove(self->names, name);
}

void
memory_disk_apply(MemoryDisk *self, const DiskOp *op, gsize skip_bytes, gsize n_bytes)
{
    switch (op->kind) {
    case DISK_OP_CREATE:
        (void) get_file(self, op->file);
        g_hash_table_insert(self->names, g_strdup(op->name), GUINT_TO_POINTER(op->file + 1));
        break;
    case DISK_OP_DELETE:
        g_hash_table_remove(self->names, op->name);
        break;
    case DISK_OP_RENAME:
        rename_in_table(self, op->name, op->new_name, op->file);
        break;
    case DISK_OP_WRITE:
        file_write(get_file(self, op->file), op->data + skip_bytes, n_bytes, op->offset + skip_bytes);
        break;
    case DISK_OP_TRUNCATE:
        file_resize(get_file(self, op->file), op->offset);
        break;
    case DISK_OP_SYNC:
    case DISK_OP_SYNC_DIRECTORY:
        break;
    }
}

gboolean
memory_disk_find(MemoryDisk *self, const char *name, guint *ret_file)
{
    gpointer file;

    pthread_mutex_lock(&self->mutex);
    file = g_hash_table_lookup(self->names, name);
    pthread_mutex_unlock(&self->mutex);
    if (file == NULL)
        return FALSE;
    *ret_file = GPOINTER_TO_UINT(file) - 1;
    return TRUE;
}

static void
give_name(MemoryDisk *self, guint file, const char *name)
{
    DiskOp *op = log_op(self, DISK_OP_CREATE, file);

    g_hash_table_insert(self->names, g_strdup(name), GUINT_TO_POINTER(file + 1));
    if (op != NULL)
        op->name = g_strdup(name);
}

guint
memory_disk_create(MemoryDisk *self, const char *name)
{
    guint file;

    pthread_mutex_lock(&self->mutex);
    file = self->files->len;
    get_file(self, file)->nameless = name == NULL;
    if (name != NULL)
        give_name(self, file, name);
    pthread_mutex_unlock(&self->mutex);
    return file;
}

/* What was written to it before counts as written now, since it was not visible until now. */
void
memory_disk_link(MemoryDisk *self, guint file, const char *name)
{
    File *linked;
    DiskOp *op;

    pthread_mutex_lock(&self->mutex);
    linked = get_file(self, file);
    g_assert(linked->nameless);
    linked->nameless = FALSE;
    op = log_op(self, DISK_OP_WRITE, file);
    if (op != NULL) {
        op->n_bytes = (gsize) linked->size;
        op->data = g_malloc(op->n_bytes);
        (void) file_read(linked, op->data, op->n_bytes, 0);
    }
    give_name(self, file, name);
    pthread_mutex_unlock(&self->mutex);
}

static gint64
count_pages(uint64_t n_bytes)
{
    return (gint64) ((n_bytes + PAGE_BYTES - 1) / PAGE_BYTES);
}

/* The name's file, if there is one, goes, though it may still be open. */
static void
give_room_of(MemoryDisk *self, const char *name)
{
    gpointer file = g_hash_table_lookup(self->names, name);

    if (file != NULL)
        self->n_free += count_pages(get_file(self, GPOINTER_TO_UINT(file) - 1)->size);
}

static gboolean
take_room(MemoryDisk *self, guint file, uint64_t size)
{
    gint64 n_more = count_pages(size) - count_pages(get_file(self, file)->size);

    if (n_more <= 0)
        return TRUE;
    if (self->limited && n_more > self->n_free) {
        self->n_full++;
        return FALSE;
    }
    self->n_free -= n_more;
    return TRUE;
}

gboolean
memory_disk_delete(MemoryDisk *self, const char *name)
{
    gboolean was_there;
    DiskOp *op;

    pthread_mutex_lock(&self->mutex);
    give_room_of(self, name);
    was_there = g_hash_table_remove(self->names, name);
    op = was_there ? log_op(self, DISK_OP_DELETE, 0) : NULL;
    if (op != NULL)
        op->name = g_strdup(name);
    pthread_mutex_unlock(&self->mutex);
    return was_there;
}

gboolean
memory_disk_rename(MemoryDisk *self, const char *name, const char *new_name)
{
    gpointer file;
    DiskOp *op = NULL;

    pthread_mutex_lock(&self->mutex);
    file = g_hash_table_lookup(self->names, name);
    if (file != NULL) {
        give_room_of(self, new_name);
        rename_in_table(self, name, new_name, GPOINTER_TO_UINT(file) - 1);
        op = log_op(self, DISK_OP_RENAME, GPOINTER_TO_UINT(file) - 1);
    }
    if (op != NULL) {
        op->name = g_strdup(name);
        op->new_name = g_strdup(new_name);
    }
    pthread_mutex_unlock(&self->mutex);
    return file != NULL;
}

/* A sync counts from its end: what was written meanwhile may or may not be on the disk. */
static void
sync_and_log(MemoryDisk *self, DiskOpKind kind, guint file, const char *directory)
{
    guint start = memory_disk_get_n_ops(self);
    DiskOp *op;

    if (self->sync_usec > 0)
        g_usleep(self->sync_usec);
    pthread_mutex_lock(&self->mutex);
    op = log_op(self, kind, file);
    if (op != NULL) {
        op->offset = start;
        op->name = g_strdup(directory);
    }
    pthread_mutex_unlock(&self->mutex);
}

void
memory_disk_sync_directory(MemoryDisk *self, const char *directory)
{
    sync_and_log(self, DISK_OP_SYNC_DIRECTORY, 0, directory);
}

void
memory_disk_foreach_name(MemoryDisk *self, MemoryDiskNameFunc func, void *user_data)
{
    GHashTableIter iter;
    gpointer name, file;

    g_hash_table_iter_init(&iter, self->names);
    while (g_hash_table_iter_next(&iter, &name, &file))
        func(name, GPOINTER_TO_UINT(file) - 1, user_data);
}

gsize
memory_disk_read(MemoryDisk *self, guint file, void *buffer, gsize n_bytes, uint64_t offset)
{
    gsize n;

    pthread_mutex_lock(&self->mutex);
    n = file_read(get_file(self, file), buffer, n_bytes, offset);
    pthread_mutex_unlock(&self->mutex);
    return n;
}

gboolean
memory_disk_write(MemoryDisk *self, guint file, const void *data, gsize n_bytes, uint64_t offset)
{
    DiskOp *op;

    pthread_mutex_lock(&self->mutex);
    if (!take_room(self, file, offset + n_bytes)) {
        pthread_mutex_unlock(&self->mutex);
        return FALSE;
    }
    file_write(get_file(self, file), data, n_bytes, offset);
    op = get_file(self, file)->nameless ? NULL : log_op(self, DISK_OP_WRITE, file);
    if (op != NULL) {
        op->offset = offset;
        op->n_bytes = n_bytes;
        op->data = g_memdup2(data, n_bytes);
    }
    pthread_mutex_unlock(&self->mutex);
    return TRUE;
}

void
memory_disk_truncate(MemoryDisk *self, guint file, uint64_t n_bytes)
{
    DiskOp *op;

    pthread_mutex_lock(&self->mutex);
    self->n_free += count_pages(get_file(self, file)->size) - count_pages(n_bytes);
    file_resize(get_file(self, file), n_bytes);
    op = get_file(self, file)->nameless ? NULL : log_op(self, DISK_OP_TRUNCATE, file);
    if (op != NULL)
        op->offset = n_bytes;
    pthread_mutex_unlock(&self->mutex);
}

void
memory_disk_drop_nameless(MemoryDisk *self, guint file)
{
    File *dropped;

    pthread_mutex_lock(&self->mutex);
    dropped = get_file(self, file);
    if (dropped->nameless) {
        self->n_free += count_pages(dropped->size);
        file_resize(dropped, 0);
    }
    pthread_mutex_unlock(&self->mutex);
}

void
memory_disk_sync(MemoryDisk *self, guint file)
{
    sync_and_log(self, DISK_OP_SYNC, file, NULL);
}

uint64_t
memory_disk_get_size(MemoryDisk *self, guint file)
{
    uint64_t size;

    pthread_mutex_lock(&self->mutex);
    size = get_file(self, file)->size;
    pthread_mutex_unlock(&self->mutex);
    return size;
}

/* Faults ---------------------------------------------------------------------------------------------------------------- */

void
memory_disk_set_fault(MemoryDisk *self, guint nth, gboolean sticky)
{
    pthread_mutex_lock(&self->mutex);
    self->fault_nth = nth;
    self->fault_sticky = sticky;
    self->n_counted = 0;
    self->n_failed = 0;
    pthread_mutex_unlock(&self->mutex);
}

void
memory_disk_set_space(MemoryDisk *self, gint64 n_pages)
{
    pthread_mutex_lock(&self->mutex);
    self->limited = n_pages >= 0;
    self->n_free = n_pages;
    self->n_full = 0;
    pthread_mutex_unlock(&self->mutex);
}

guint
memory_disk_get_n_full(MemoryDisk *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_full;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

gboolean
memory_disk_takes_fault(MemoryDisk *self)
{
    gboolean fails;

    pthread_mutex_lock(&self->mutex);
    self->n_counted++;
    fails = self->fault_nth > 0 &&
            (self->n_counted == self->fault_nth || (self->fault_sticky && self->n_counted > self->fault_nth));
    self->n_failed += fails ? 1 : 0;
    pthread_mutex_unlock(&self->mutex);
    return fails;
}

guint
memory_disk_get_n_counted(MemoryDisk *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_counted;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

guint
memory_disk_get_n_failed(MemoryDisk *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n_failed;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
