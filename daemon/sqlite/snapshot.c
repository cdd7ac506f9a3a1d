/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header of the index, the frame of a page, and where its bytes are.
 *
 * A transaction keeps frames that it needs from being overwritten, and pages of the file from getting later content, by a lock
 * in the index. Which frames are in the file already only grows meanwhile, so an older number of them is right, too.
 */
#include "daemon/sqlite/snapshot.h"

#include <string.h>

#include "daemon/sqlite/page-cells.h"
#include "daemon/sqlite/vfs/log-file.h"
#include "daemon/sqlite/vfs/log-index.h"

/* The index: two copies of the header, how far the file is filled, then blocks of 32 KiB. */
#define BLOCK_HASH_SLOTS 8192u
#define INDEX_VERSION 3007000u
#define AT_VERSION 0
#define AT_IS_INIT 12 /* bytes */
#define AT_N_FRAMES 4
#define AT_N_PAGES 5
#define AT_N_FILLED (2 * QD_SNAPSHOT_HEADER_WORDS)

/* The file: https://www.sqlite.org/fileformat2.html#the_database_header */
#define MIN_PAGE_BYTES 512
#define MAX_PAGE_BYTES 65536
#define MIN_USABLE_BYTES 480
#define AT_PAGE_SIZE 16
#define AT_RESERVED 20
#define AT_ENCODING 56
#define ENCODING_UTF8 1

/* The index ---------------------------------------------------------------------------------------------------------------- */

/* NULL: it is not there, or it is not shared memory that all connections write. */
static const guint32 *
get_block(const QdSnapshot *self, guint32 i)
{
    void volatile *block = NULL;

    if (self->file->pMethods->iVersion < 2 ||
        self->file->pMethods->xShmMap(self->file, (int) i, QD_LOG_INDEX_BLOCK_BYTES, 0, &block) != SQLITE_OK)
        return NULL;
    return (const guint32 *) block;
}

/* A commit writes the second copy, then the first. FALSE: one is being written, or there is none. */
static gboolean
read_header(const guint32 *index, guint32 header[QD_SNAPSHOT_HEADER_WORDS])
{
    gboolean equal = TRUE;

    for (guint i = 0; i < QD_SNAPSHOT_HEADER_WORDS; i++)
        header[i] = __atomic_load_n(&index[i], __ATOMIC_ACQUIRE);
    for (guint i = 0; i < QD_SNAPSHOT_HEADER_WORDS; i++)
        equal = equal && header[i] == __atomic_load_n(&index[QD_SNAPSHOT_HEADER_WORDS + i], __ATOMIC_ACQUIRE);
    return equal && header[AT_VERSION] == INDEX_VERSION && ((const guint8 *) header)[AT_IS_INIT] == 1;
}

static guint32
get_block_of(guint32 frame)
{
    return (frame + QD_LOG_INDEX_BLOCK_FRAMES - QD_LOG_INDEX_FIRST_BLOCK_FRAMES - 1) / QD_LOG_INDEX_BLOCK_FRAMES;
}

static gboolean
find_blocks(QdSnapshot *self)
{
    guint32 last = get_block_of(self->n_frames);

    if (last >= QD_SNAPSHOT_MAX_BLOCKS)
        return FALSE;
    for (guint32 i = get_block_of(self->n_filled + 1); i <= last; i++) {
        self->blocks[i] = get_block(self, i);
        if (self->blocks[i] == NULL)
            return FALSE;
    }
    return TRUE;
}

/* The last frame of the page in a block. Later commits add to its table meanwhile: their frames are passed over. 0: none */
static guint32
find_in_block(const QdSnapshot *self, guint32 i, guint32 number)
{
    const guint32 *block = self->blocks[i];
    const guint32 *pages = i == 0 ? block + (QD_LOG_INDEX_BLOCK_FRAMES - QD_LOG_INDEX_FIRST_BLOCK_FRAMES) : block;
    const guint16 *slots = (const guint16 *) (block + QD_LOG_INDEX_BLOCK_FRAMES);
    guint32 before = i == 0 ? 0 : QD_LOG_INDEX_FIRST_BLOCK_FRAMES + (i - 1) * QD_LOG_INDEX_BLOCK_FRAMES;
    guint32 key = (number * 383) & (BLOCK_HASH_SLOTS - 1);
    guint32 found = 0;

    for (guint n = 0; n < BLOCK_HASH_SLOTS; n++, key = (key + 1) & (BLOCK_HASH_SLOTS - 1)) {
        guint16 slot = __atomic_load_n(&slots[key], __ATOMIC_ACQUIRE);
        guint32 frame = before + slot;

        if (slot == 0)
            break;
        if (slot <= (i == 0 ? QD_LOG_INDEX_FIRST_BLOCK_FRAMES : QD_LOG_INDEX_BLOCK_FRAMES) && frame <= self->n_frames &&
            frame > self->n_filled && __atomic_load_n(&pages[slot - 1], __ATOMIC_RELAXED) == number)
            found = frame;
    }
    return found;
}

static guint32
find_frame(const QdSnapshot *self, guint32 number)
{
    guint32 first = get_block_of(self->n_filled + 1);

    if (self->n_frames == 0)
        return 0;
    for (guint32 i = get_block_of(self->n_frames) + 1; i-- > first;) {
        guint32 frame = find_in_block(self, i, number);

        if (frame != 0)
            return frame;
    }
    return 0;
}

/* Begin --------------------------------------------------------------------------------------------------------------------- */

gboolean
qd_snapshot_prepare(QdSnapshot *self, sqlite3 *db)
{
    const guint32 *index;

    *self = (QdSnapshot){ 0 };
    if (sqlite3_txn_state(db, "main") != SQLITE_TXN_NONE ||
        sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &self->file) != SQLITE_OK ||
        sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &self->log) != SQLITE_OK || self->file == NULL ||
        self->file->pMethods == NULL || self->log == NULL || !qd_log_file_is_log(self->log))
        return FALSE;
    index = get_block(self, 0);
    self->index = index;
    return index != NULL && read_header(index, self->header);
}

/* The size of a page stays the same as long as the file has a log. */
static gboolean
find_sizes(QdSnapshot *self)
{
    guint8 header[AT_PAGE_SIZE + 2];
    sqlite3_int64 n_bytes = 0;
    guint32 size;

    if (self->file->pMethods->xRead(self->file, header, sizeof header, 0) != SQLITE_OK ||
        self->file->pMethods->xFileSize(self->file, &n_bytes) != SQLITE_OK)
        return FALSE;
    size = qd_page_get_u16(header + AT_PAGE_SIZE);
    self->page_size = size == 1 ? MAX_PAGE_BYTES : size;
    if (self->page_size < MIN_PAGE_BYTES || (self->page_size & (self->page_size - 1)) != 0)
        return FALSE;
    self->n_pages = self->header[AT_N_PAGES]; /* 0: there was no commit since the log was opened */
    if (self->n_pages == 0)
        self->n_pages = (guint32) MIN(n_bytes / self->page_size, G_MAXINT32);
    return TRUE;
}

static gboolean
read_first_page(QdSnapshot *self)
{
    g_autofree guint8 *buffer = g_malloc(self->page_size);
    const guint8 *page;
    gboolean is_utf8;

    if (qd_snapshot_get_page(self, 1, buffer, &page) != SQLITE_OK)
        return FALSE;
    self->usable_size = self->page_size - page[AT_RESERVED];
    is_utf8 = qd_page_get_u32(page + AT_ENCODING) == ENCODING_UTF8;
    qd_snapshot_release_page(self, 1, buffer, page);
    return is_utf8 && self->usable_size >= MIN_USABLE_BYTES;
}

/* What the file is filled with comes first: a log that begins again has another header before that number is 0. */
gboolean
qd_snapshot_begin(QdSnapshot *self)
{
    const guint32 *index = get_block(self, 0);
    guint32 header[QD_SNAPSHOT_HEADER_WORDS];

    if (index == NULL)
        return FALSE;
    self->n_filled = __atomic_load_n(&index[AT_N_FILLED], __ATOMIC_ACQUIRE);
    if (!read_header(index, header) || memcmp(header, self->header, sizeof header) != 0 || !find_sizes(self))
        return FALSE;
    if (self->n_filled < header[AT_N_FRAMES]) {
        self->n_frames = header[AT_N_FRAMES];
        if (!find_blocks(self))
            return FALSE;
    }
    return read_first_page(self);
}

gboolean
qd_snapshot_is_same(const QdSnapshot *self, const QdSnapshot *other)
{
    return self->index == other->index && memcmp(self->header, other->header, sizeof self->header) == 0;
}

/* Pages --------------------------------------------------------------------------------------------------------------------- */

static int
get_from_log(const QdSnapshot *self, guint32 frame, guint8 *buffer, const guint8 **ret_page)
{
    sqlite3_int64 offset = QD_LOG_HEADER_BYTES +
                           (sqlite3_int64) (frame - 1) * (QD_LOG_FRAME_HEADER_BYTES + (sqlite3_int64) self->page_size) +
                           QD_LOG_FRAME_HEADER_BYTES;

    *ret_page = qd_log_file_get_mapped(self->log, offset, (int) self->page_size);
    if (*ret_page != NULL)
        return SQLITE_OK;
    *ret_page = buffer;
    return self->log->pMethods->xRead(self->log, buffer, (int) self->page_size, offset);
}

int
qd_snapshot_get_page(const QdSnapshot *self, guint32 number, guint8 *buffer, const guint8 **ret_page)
{
    const sqlite3_io_methods *methods = self->file->pMethods;
    sqlite3_int64 offset = (sqlite3_int64) (number - 1) * self->page_size;
    void *mapped = NULL;
    guint32 frame;
    int r;

    if (number == 0 || number > self->n_pages)
        return SQLITE_CORRUPT;
    frame = find_frame(self, number);
    if (frame != 0)
        return get_from_log(self, frame, buffer, ret_page);
    r = methods->iVersion >= 3 ? methods->xFetch(self->file, offset, (int) self->page_size, &mapped) : SQLITE_OK;
    if (r == SQLITE_OK && mapped == NULL)
        r = methods->xRead(self->file, buffer, (int) self->page_size, offset);
    *ret_page = mapped != NULL ? mapped : buffer;
    return r == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : r;
}

void
qd_snapshot_release_page(const QdSnapshot *self, guint32 number, const guint8 *buffer, const guint8 *page)
{
    if (page == NULL || page == buffer || qd_log_file_is_mapped(self->log, page))
        return;
    (void) self->file->pMethods->xUnfetch(self->file, (sqlite3_int64) (number - 1) * self->page_size, (void *) page);
}
