/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * While a file is in WAL mode, SQLite makes a rollback journal only to switch the mode. That one has page 1 alone, of which the
 * header changes, and the file keeps its length. In another mode the program that left it may have made any journal.
 *
 * The format: https://www.sqlite.org/fileformat2.html#the_rollback_journal. Each part of a journal begins with a header, in a
 * sector of its own. It says how many pages the database had: also without records, SQLite makes the file as long as that.
 */
#include "daemon/store/rollback-journal.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/recover/page-file.h"
#include "daemon/recover/replace.h"
#include "daemon/sqlite/page-cells.h"

#define MAGIC "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
#define MAGIC_BYTES 8
#define HEADER_BYTES 28
#define TO_THE_END G_MAXUINT32
#define MIN_SECTOR_BYTES 32u
#define MIN_PAGE_BYTES 512u
#define MAX_BYTES 65536u /* of both */
#define NUMBER_BYTES 4   /* of a page, before it; its checksum follows it */
#define RECORD_BYTES(page_size) (NUMBER_BYTES + (gsize) (page_size) + 4)
#define CHECKSUM_STEP 200

#define MODE_WAL 2 /* bytes 18 and 19 of the database */

typedef struct Journal {
    int fd;
    guint32 n_records; /* or TO_THE_END */
    guint32 nonce;
    guint32 n_pages; /* of the database before the transaction */
    guint32 sector_size;
    guint32 page_size; /* 0: SQLite before 3.5.8 */
} Journal;

static gboolean
read_at(int fd, void *buffer, gsize n_bytes, off_t offset)
{
    return pread(fd, buffer, n_bytes, offset) == (ssize_t) n_bytes;
}

static gboolean
is_size(guint32 n_bytes, guint32 min)
{
    return n_bytes >= min && n_bytes <= MAX_BYTES && (n_bytes & (n_bytes - 1)) == 0;
}

/* Returns: whether SQLite would go on to the records */
static gboolean
read_header(int fd, off_t offset, Journal *ret_journal)
{
    guint8 header[HEADER_BYTES];

    if (!read_at(fd, header, sizeof header, offset) || memcmp(header, MAGIC, MAGIC_BYTES) != 0)
        return FALSE;
    *ret_journal = (Journal){
        .fd = fd,
        .n_records = qd_page_get_u32(header + 8),
        .nonce = qd_page_get_u32(header + 12),
        .n_pages = qd_page_get_u32(header + 16),
        .sector_size = qd_page_get_u32(header + 20),
        .page_size = qd_page_get_u32(header + 24),
    };
    return is_size(ret_journal->sector_size, MIN_SECTOR_BYTES) &&
           (ret_journal->page_size == 0 || is_size(ret_journal->page_size, MIN_PAGE_BYTES));
}

/* What was not written in full, or is left of an older journal, does not fit its checksum. */
static gboolean
read_record(const Journal *self, guint index, guint8 *record)
{
    gsize n_bytes = RECORD_BYTES(self->page_size);
    guint32 checksum = self->nonce;

    if (!read_at(self->fd, record, n_bytes, (off_t) (self->sector_size + index * n_bytes)))
        return FALSE;
    for (guint32 i = self->page_size - CHECKSUM_STEP; i > 0 && i < self->page_size; i -= CHECKSUM_STEP)
        checksum += record[NUMBER_BYTES + i];
    return qd_page_get_u32(record) != 0 && qd_page_get_u32(record + NUMBER_BYTES + self->page_size) == checksum;
}

static gboolean
has_second_header(const Journal *self)
{
    gsize end = self->sector_size + self->n_records * RECORD_BYTES(self->page_size);
    Journal second;

    return read_header(self->fd, (off_t) ((end + self->sector_size - 1) / self->sector_size * self->sector_size), &second);
}

/* But for the mode, the count of changes and that of pages, the count that the latter is valid for, and SQLite's version. */
static gboolean
is_same_page(const guint8 *a, const guint8 *b, guint32 page_size)
{
    return memcmp(a, b, 18) == 0 && memcmp(a + 20, b + 20, 4) == 0 && memcmp(a + 32, b + 32, 60) == 0 &&
           memcmp(a + QD_PAGE_HEADER_BYTES, b + QD_PAGE_HEADER_BYTES, page_size - QD_PAGE_HEADER_BYTES) == 0;
}

static gboolean
is_of_switch(const Journal *self, const guint8 *page)
{
    g_autofree guint8 *record = g_malloc(RECORD_BYTES(self->page_size));

    if (self->n_records != TO_THE_END && (self->n_records > 1 || has_second_header(self)))
        return FALSE;
    if (self->n_records == 0 || !read_record(self, 0, record))
        return TRUE;
    if (qd_page_get_u32(record) != 1 || !is_same_page(record + NUMBER_BYTES, page, self->page_size))
        return FALSE;
    return self->n_records == 1 || !read_record(self, 1, record);
}

/* A file without a schema has nothing to lose: a new one has a journal, too, until it is in WAL mode. */
static gboolean
is_foreign(const Journal *self, const char *path)
{
    g_auto(QdFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    guint8 header[QD_PAGE_HEADER_BYTES];
    g_autofree guint8 *page = NULL;
    struct stat st;
    guint32 page_size;
    guint32 n_ignored;

    if (fd < 0 || fstat(fd, &st) < 0 || !read_at(fd, header, sizeof header, 0) || header[18] != MODE_WAL ||
        header[19] != MODE_WAL || !qd_page_header_parse(header, &page_size, &n_ignored) ||
        qd_page_header_get_schema_cookie(header) == 0)
        return FALSE;
    if (self->page_size != page_size || self->n_pages != (st.st_size + page_size - 1) / page_size)
        return TRUE;

    page = g_malloc(page_size);
    return read_at(fd, page, page_size, 0) && !is_of_switch(self, page);
}

QdRollbackJournal
qd_rollback_journal_find(const char *path)
{
    g_autofree char *name = g_strconcat(path, QD_REPLACE_JOURNAL_SUFFIX, NULL);
    g_auto(QdFd) fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Journal journal;

    if (fd < 0 || !read_header(fd, 0, &journal))
        return QD_ROLLBACK_JOURNAL_NONE;
    return is_foreign(&journal, path) ? QD_ROLLBACK_JOURNAL_FOREIGN : QD_ROLLBACK_JOURNAL_OWN;
}
