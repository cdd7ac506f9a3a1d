/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite writes each frame of its log by two calls, of 24 bytes and of a page. That is 34 for a row of 64 KiB, which took a
 * fifth of the writer's time (docs/decisions/payload-speed.md). Here they are gathered, up to what the VFS below writes by one
 * call.
 *
 * A frame that ends a commit says so in its header. With its page all that was gathered is written, so that an error is
 * reported to the commit that it belongs to. Frames are not needed before that: readers see those of commits. What this
 * connection reads, cuts, syncs or measures is written first.
 *
 * A row that was just written is read from the log: 17 calls for one of 64 KiB. They are spared by a mapping. It reaches beyond
 * the file's end, so that it need not grow with it. SQLite reads no frame that is not there, and cuts the log only without
 * readers.
 *
 * Where a transaction has written a page twice, its commit makes the checksums of its frames once more. It reads each frame, and
 * writes its header. For 500 MB that takes 0.3 s, so it asks whether the commit shall end.
 *
 * A sync of a file that has grown waits for its file system's journal, too. A small commit takes twice the time. So a log grows by
 * as much as it has, with zeros, which are no frame. A daemon that has just started, or rested, has a new log.
 *
 * Another program may shorten the file. A frame after its end would leave a hole, which a checkpoint copies into the database as
 * pages of zeros. And a checkpoint that finds some of the frames leaves half of a transaction there. So the size is compared
 * before the first frame of a commit is written, and before each sync: a checkpoint begins with one.
 */
#include "daemon/sqlite/vfs/log-file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/vfs/database-file.h"
#include "daemon/sqlite/vfs/index-blocks.h"
#include "daemon/sqlite/vfs/log-index.h"
#include "daemon/sqlite/vfs/temp-files.h"

/* SQLite's own VFS takes no more at once: its lengths have 17 bits. */
#define GATHERED_BYTES 0x1ffff
/* A quarter of a second of a disk that takes 8 MiB/s, as a deadline may be late. */
#define PACE_BYTES (2 << 20)
#define MIN_GROWTH_BYTES (1 << 14)
#define MAX_GROWTH_BYTES (1 << 20)
#define ZEROS_BYTES (1 << 16)
#define REWRITTEN_PER_POLL 64 /* a read of the page, its checksum and a write */
#define VFS_NAME "queryd-log"

typedef struct LogFile {
    sqlite3_file base;
    sqlite3_file *file; /* of the VFS below, after this struct */
    char *gathered;     /* (nullable): from the first frame on */
    int n_gathered;
    sqlite3_int64 offset;        /* of what is gathered */
    sqlite3_int64 end;           /* of the pages written; a header before it is rewritten, without its page */
    int ends_commit;             /* the frame whose header came last */
    bool is_continued;           /* what comes at the end, or before it, leaves no hole */
    sqlite3_file *database;      /* (nullable): whose log this is */
    sqlite3_int64 n_grown_bytes; /* of the file, with zeros after the frames */
    const char *map;             /* (nullable) */
    sqlite3_int64 n_map_bytes;
    sqlite3_int64 n_known_bytes; /* of the file, when it was last asked */
    const char *path;            /* (nullable): SQLite's, as long as the file is open */
    int pace_fd;                 /* -1: not opened */
    int n_unpaced_bytes;         /* written since the disk was last waited for */
    unsigned n_rewritten;        /* headers of frames that were there */
} LogFile;

_Static_assert(QD_TEMP_FILE_BYTES <= QD_DATABASE_FILE_BYTES, "temporary files have the room of databases");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_vfs log_vfs;

static sqlite3_vfs *
get_below(void)
{
    return log_vfs.pAppData;
}

/* By its name: the connection that opens the log has a lock, so it is not removed. */
static int
open_log(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* Of the log, opened when it is first needed. */
static bool
has_own_fd(LogFile *self)
{
    if (self->pace_fd < 0 && self->path != NULL)
        self->pace_fd = open_log(self->path);
    return self->pace_fd >= 0;
}

/* The disk has taken the piece before the last one; the last one is on its way. Errors are those of the sync that follows: each
 * descriptor learns of them. VACUUM copies the whole database to the log by one operation, which only this ends. It ends it before
 * a write. After the write of a commit's last frame a rollback would be found as a commit when the machine has stopped. */
static int
pace(LogFile *self)
{
    if (self->n_unpaced_bytes < PACE_BYTES)
        return SQLITE_OK;

    self->n_unpaced_bytes = 0;
    if (has_own_fd(self))
        (void) sync_file_range(self->pace_fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
    return qd_interrupt_poll() ? SQLITE_INTERRUPT : SQLITE_OK;
}

/* By lseek(): after an fstat() the next write has to note the time, and the sync after it takes 30 us longer. */
static bool
get_size(LogFile *self, sqlite3_int64 *ret_n_bytes)
{
    if (!has_own_fd(self))
        return self->file->pMethods->xFileSize(self->file, ret_n_bytes) == SQLITE_OK;
    *ret_n_bytes = lseek(self->pace_fd, 0, SEEK_END);
    return *ret_n_bytes >= 0;
}

/* The first frame of a commit, else not asked. */
static bool
leaves_hole(LogFile *self, sqlite3_int64 offset)
{
    sqlite3_int64 n_bytes = 0;

    if (self->is_continued && offset == self->end)
        return false;
    if (!get_size(self, &n_bytes))
        return false;
    self->is_continued = offset <= MAX(n_bytes, self->n_gathered > 0 ? self->offset + self->n_gathered : 0);
    return !self->is_continued;
}

static bool
is_whole(LogFile *self, bool only_needed, sqlite3_int64 *ret_n_bytes, sqlite3_int64 *ret_n_expected)
{
    const void *index = self->database != NULL ? qd_database_file_get_index(self->database) : NULL;
    QdLogIndex before;

    if (index == NULL || !qd_log_index_read(index, &before) || (only_needed && before.n_copied >= before.n_frames) ||
        !get_size(self, ret_n_bytes))
        return true;
    *ret_n_expected = qd_log_index_get_log_bytes(&before);
    return *ret_n_bytes >= *ret_n_expected || !qd_log_index_is_same(index, &before);
}

static int
write_through(LogFile *self, const void *data, int n_bytes, sqlite3_int64 offset)
{
    int r = pace(self);

    if (r != SQLITE_OK)
        return r;
    if (self->database != NULL && !qd_index_blocks_can_write(self->database))
        return SQLITE_FULL;
    self->n_unpaced_bytes += n_bytes;
    return self->file->pMethods->xWrite(self->file, data, n_bytes, offset);
}

static int
write_gathered(LogFile *self)
{
    int n = self->n_gathered;
    int r;

    if (n == 0)
        return SQLITE_OK;

    self->n_gathered = 0;
    r = write_through(self, self->gathered, n, self->offset);
    if (r != SQLITE_OK)
        self->end = 0; /* the transaction is rolled back: these frames come again */
    return r;
}

/* A page, or a header that its page will follow. */
static int
can_gather(LogFile *self, int n_bytes, sqlite3_int64 offset)
{
    if (self->n_gathered > 0 && offset == self->offset + self->n_gathered)
        return n_bytes <= GATHERED_BYTES;
    if (self->n_gathered > 0 || n_bytes != QD_LOG_FRAME_HEADER_BYTES || offset < self->end)
        return 0;
    if (self->gathered == NULL)
        self->gathered = sqlite3_malloc(GATHERED_BYTES);
    return self->gathered != NULL;
}

static int
gather(LogFile *self, const char *data, int n_bytes, sqlite3_int64 offset)
{
    int r = n_bytes > GATHERED_BYTES - self->n_gathered ? write_gathered(self) : SQLITE_OK;

    if (r != SQLITE_OK)
        return r;
    if (self->n_gathered == 0)
        self->offset = offset;
    memcpy(self->gathered + self->n_gathered, data, (size_t) n_bytes);
    self->n_gathered += n_bytes;
    self->end = offset + n_bytes;
    if (n_bytes != QD_LOG_FRAME_HEADER_BYTES) {
        self->is_continued = !self->ends_commit;
        return self->ends_commit ? write_gathered(self) : SQLITE_OK;
    }
    self->ends_commit = memcmp(data + 4, "\0\0\0\0", 4) != 0; /* the pages of the database after a commit */
    return SQLITE_OK;
}

/* Before a sync, so once for each commit. Without room it stays as it is. */
static void
grow(LogFile *self)
{
    static const char zeros[ZEROS_BYTES];
    const sqlite3_io_methods *methods = self->file->pMethods;
    sqlite3_int64 until = self->end + CLAMP(self->end, MIN_GROWTH_BYTES, MAX_GROWTH_BYTES);

    if (self->end <= self->n_grown_bytes || methods->xFileSize(self->file, &self->n_grown_bytes) != SQLITE_OK ||
        self->end < self->n_grown_bytes)
        return;

    self->n_grown_bytes = until;
    for (sqlite3_int64 i = self->end; i < until; i += ZEROS_BYTES)
        if (methods->xWrite(self->file, zeros, (int) MIN(until - i, ZEROS_BYTES), i) != SQLITE_OK) {
            (void) methods->xTruncate(self->file, self->end);
            return;
        }
}

/* Reading --------------------------------------------------------------------------------------------------------------- */

static void
map_log(LogFile *self)
{
    sqlite3_int64 n_bytes = self->path != NULL ? sqlite3_uri_int64(self->path, QD_LOG_FILE_MAP_BYTES, 0) : 0;
    int fd = n_bytes > 0 ? open_log(self->path) : -1;
    void *map;

    if (fd < 0)
        return;

    map = mmap(NULL, (size_t) n_bytes, PROT_READ, MAP_SHARED, fd, 0);
    (void) close(fd);
    if (map == MAP_FAILED)
        return;

    self->map = map;
    self->n_map_bytes = n_bytes;
}

static int
is_mapped(LogFile *self, sqlite3_int64 end)
{
    if (end > self->n_map_bytes)
        return 0;
    if (end > self->n_known_bytes && self->file->pMethods->xFileSize(self->file, &self->n_known_bytes) != SQLITE_OK)
        self->n_known_bytes = 0;
    return end <= self->n_known_bytes;
}

/* The calls of a file --------------------------------------------------------------------------------------------------- */

static int
log_close(sqlite3_file *file)
{
    LogFile *self = (LogFile *) file;

    (void) write_gathered(self); /* of no commit */
    sqlite3_free(self->gathered);
    if (self->pace_fd >= 0)
        (void) close(self->pace_fd);
    if (self->map != NULL)
        (void) munmap((void *) self->map, (size_t) self->n_map_bytes);
    return self->file->pMethods->xClose(self->file);
}

static int
log_read(sqlite3_file *file, void *data, int n_bytes, sqlite3_int64 offset)
{
    LogFile *self = (LogFile *) file;
    int r = offset + n_bytes > self->offset ? write_gathered(self) : SQLITE_OK;

    if (r != SQLITE_OK)
        return r;
    if (!is_mapped(self, offset + n_bytes))
        return self->file->pMethods->xRead(self->file, data, n_bytes, offset);
    memcpy(data, self->map + offset, (size_t) n_bytes);
    return SQLITE_OK;
}

static int
log_write(sqlite3_file *file, const void *data, int n_bytes, sqlite3_int64 offset)
{
    LogFile *self = (LogFile *) file;
    int r;

    if (leaves_hole(self, offset))
        return SQLITE_IOERR_WRITE;
    if (can_gather(self, n_bytes, offset))
        return gather(self, data, n_bytes, offset);

    r = write_gathered(self);
    if (n_bytes != QD_LOG_FRAME_HEADER_BYTES)
        self->end = offset + n_bytes;
    else if (r == SQLITE_OK && ++self->n_rewritten % REWRITTEN_PER_POLL == 0 && qd_interrupt_poll())
        r = SQLITE_INTERRUPT;
    return r == SQLITE_OK ? write_through(self, data, n_bytes, offset) : r;
}

static int
log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    LogFile *self = (LogFile *) file;
    int r = write_gathered(self);

    self->end = 0;
    self->is_continued = false;
    self->n_known_bytes = 0;
    self->n_grown_bytes = 0;
    return r == SQLITE_OK ? self->file->pMethods->xTruncate(self->file, size) : r;
}

static int
log_sync(sqlite3_file *file, int flags)
{
    LogFile *self = (LogFile *) file;
    int r = write_gathered(self);
    sqlite3_int64 n_bytes;
    sqlite3_int64 n_expected;

    self->n_unpaced_bytes = 0;
    self->is_continued = false;
    if (r == SQLITE_OK && !is_whole(self, true, &n_bytes, &n_expected))
        return SQLITE_IOERR_FSYNC;
    if (r == SQLITE_OK)
        grow(self);
    return r == SQLITE_OK ? self->file->pMethods->xSync(self->file, flags) : r;
}

static int
log_file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    LogFile *self = (LogFile *) file;
    int r = write_gathered(self);

    return r == SQLITE_OK ? self->file->pMethods->xFileSize(self->file, ret_size) : r;
}

static int
log_lock(sqlite3_file *file, int level)
{
    LogFile *self = (LogFile *) file;

    return self->file->pMethods->xLock(self->file, level);
}

static int
log_unlock(sqlite3_file *file, int level)
{
    LogFile *self = (LogFile *) file;

    return self->file->pMethods->xUnlock(self->file, level);
}

static int
log_check_reserved_lock(sqlite3_file *file, int *ret_locked)
{
    LogFile *self = (LogFile *) file;

    return self->file->pMethods->xCheckReservedLock(self->file, ret_locked);
}

static int
log_file_control(sqlite3_file *file, int op, void *argument)
{
    LogFile *self = (LogFile *) file;

    return self->file->pMethods->xFileControl(self->file, op, argument);
}

static int
log_sector_size(sqlite3_file *file)
{
    LogFile *self = (LogFile *) file;

    return self->file->pMethods->xSectorSize(self->file);
}

static int
log_device_characteristics(sqlite3_file *file)
{
    LogFile *self = (LogFile *) file;

    return self->file->pMethods->xDeviceCharacteristics(self->file);
}

/* Version 1: shared memory and mappings are the database's, not the log's. */
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_file_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_reserved_lock,
    .xFileControl = log_file_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_device_characteristics,
};

bool
qd_log_file_is_log(const sqlite3_file *file)
{
    return file->pMethods == &log_methods;
}

bool
qd_log_file_is_whole(sqlite3_file *log, bool only_needed, sqlite3_int64 *ret_n_bytes, sqlite3_int64 *ret_n_expected)
{
    return is_whole((LogFile *) log, only_needed, ret_n_bytes, ret_n_expected);
}

const void *
qd_log_file_get_mapped(sqlite3_file *log, sqlite3_int64 offset, int n_bytes)
{
    LogFile *self = (LogFile *) log;

    return is_mapped(self, offset + n_bytes) ? self->map + offset : NULL;
}

bool
qd_log_file_is_mapped(const sqlite3_file *log, const void *data)
{
    const LogFile *self = (const LogFile *) log;
    const char *byte = data;

    return self->map != NULL && byte >= self->map && byte < self->map + self->n_map_bytes;
}

/* The VFS --------------------------------------------------------------------------------------------------------------- */

/* Another VFS than SQLite's may mean something else by a name. */
static bool
is_of_system(void)
{
    return strcmp(get_below()->zName, "unix") == 0;
}

static int
log_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    LogFile *self = (LogFile *) file;
    int r;

    if ((flags & SQLITE_OPEN_WAL) == 0) {
        r = get_below()->xOpen(get_below(), name, file, flags, ret_flags);
        if (r == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 && is_of_system())
            qd_database_file_watch(file, name, get_below()->szOsFile);
        if (r == SQLITE_OK && name == NULL)
            qd_temp_file_watch(file, get_below()->szOsFile);
        return r;
    }

    memset(self, 0, sizeof *self);
    self->file = (sqlite3_file *) (self + 1);
    self->pace_fd = -1;
    if (is_of_system()) {
        self->path = name;
        self->database = name != NULL ? sqlite3_database_file_object(name) : NULL;
    }
    r = get_below()->xOpen(get_below(), name, self->file, flags, ret_flags);
    if (self->file->pMethods != NULL)
        self->base.pMethods = &log_methods;
    if (r == SQLITE_OK)
        map_log(self);
    return r;
}

/* Of all else the functions of the VFS below serve, which look at no more of it than its copied members. */
static void
register_vfs(void)
{
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);

    if (below == NULL)
        return;
    log_vfs = *below;
    log_vfs.pNext = NULL;
    log_vfs.zName = VFS_NAME;
    log_vfs.szOsFile = MAX((int) sizeof(LogFile), QD_DATABASE_FILE_BYTES) + below->szOsFile;
    log_vfs.pAppData = below;
    log_vfs.xOpen = log_vfs_open;
    (void) sqlite3_vfs_register(&log_vfs, 0);
}

const char *
qd_log_file_get_vfs(void)
{
    (void) pthread_once(&once, register_vfs);
    return sqlite3_vfs_find(VFS_NAME) != NULL ? VFS_NAME : NULL;
}
