/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A disk in memory that remembers each operation in order, for power cuts (power-cut.h) and for faults.
 *
 * Files are arrays of pages that copies share until one of them writes, so a copy of a disk costs a pointer for each page.
 * Invariant: what the log says, applied in order to an empty disk, gives the disk.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct MemoryDisk MemoryDisk;

typedef enum DiskOpKind {
    DISK_OP_CREATE,         /* name → file */
    DISK_OP_DELETE,         /* name */
    DISK_OP_SYNC_DIRECTORY, /* names in it from before are durable */
    DISK_OP_WRITE,
    DISK_OP_TRUNCATE, /* to offset bytes */
    DISK_OP_SYNC,     /* writes to the file before it are durable */
    DISK_OP_RENAME,   /* name → new name */
} DiskOpKind;

typedef struct DiskOp {
    DiskOpKind kind;
    guint file;
    uint64_t offset;
    gsize n_bytes;
    uint8_t *data;  /* (owned) WRITE */
    char *name;     /* (owned) CREATE, DELETE, RENAME; SYNC_DIRECTORY: of the directory */
    char *new_name; /* (owned) RENAME, of file */
} DiskOp;

MemoryDisk *memory_disk_new(void);
/* A disk of the same content with an empty log. */
MemoryDisk *memory_disk_copy(MemoryDisk *self);
MemoryDisk *memory_disk_free(MemoryDisk *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemoryDisk, memory_disk_free)

/* Keep a log from now on; each sync takes @sync_usec, as on a real disk. */
void memory_disk_start_log(MemoryDisk *self, guint sync_usec);
/* Operations so far: of any thread. */
guint memory_disk_get_n_ops(MemoryDisk *self);
/* There must be no writer meanwhile. (transfer none) */
const DiskOp *memory_disk_get_op(const MemoryDisk *self, guint index);

/* Does what the log says, or the first @n_bytes of a write, from @skip_bytes on. */
void memory_disk_apply(MemoryDisk *self, const DiskOp *op, gsize skip_bytes, gsize n_bytes);

/* Files by name; a number stays that file's when it is deleted. */
gboolean memory_disk_find(MemoryDisk *self, const char *name, guint *ret_file);
/* @name: (nullable): NULL makes a file without one, which is not in the log. */
guint memory_disk_create(MemoryDisk *self, const char *name);
/* A file that has had none gets its first name: the log learns of it now. */
void memory_disk_link(MemoryDisk *self, guint file, const char *name);
gboolean memory_disk_delete(MemoryDisk *self, const char *name);
gboolean memory_disk_rename(MemoryDisk *self, const char *name, const char *new_name);
/* @directory: what its names begin with; "": those without a slash. */
void memory_disk_sync_directory(MemoryDisk *self, const char *directory);
typedef void (*MemoryDiskNameFunc)(const char *name, guint file, void *user_data);
void memory_disk_foreach_name(MemoryDisk *self, MemoryDiskNameFunc func, void *user_data);

/* Files by number. */
gsize memory_disk_read(MemoryDisk *self, guint file, void *buffer, gsize n_bytes, uint64_t offset);
/* Returns: false when the disk is full, and then nothing is written */
gboolean memory_disk_write(MemoryDisk *self, guint file, const void *data, gsize n_bytes, uint64_t offset);
/* The last process that had it without a name has closed it: its room is free. Nothing happens to one that has got a name. */
void memory_disk_drop_nameless(MemoryDisk *self, guint file);
void memory_disk_truncate(MemoryDisk *self, guint file, uint64_t n_bytes);
void memory_disk_sync(MemoryDisk *self, guint file);
uint64_t memory_disk_get_size(MemoryDisk *self, guint file);

/* Faults: the @nth operation from now on fails, from 1, and if @sticky all after it. 0: none. */
void memory_disk_set_fault(MemoryDisk *self, guint nth, gboolean sticky);
/* From now on files may grow by @n_pages of 4 KiB; what is deleted or truncated gives room. -1: without end. */
void memory_disk_set_space(MemoryDisk *self, gint64 n_pages);
/* How often there was no room since then. */
guint memory_disk_get_n_full(MemoryDisk *self);
/* Counts an operation. Returns: true when it has to fail. */
gboolean memory_disk_takes_fault(MemoryDisk *self);
/* How many operations were counted, and how many of them have failed. */
guint memory_disk_get_n_counted(MemoryDisk *self);
guint memory_disk_get_n_failed(MemoryDisk *self);

/* memory-vfs.c: makes SQLite, where nothing else is asked for, use the disk that was inserted last. */
void memory_vfs_insert(MemoryDisk *disk);
