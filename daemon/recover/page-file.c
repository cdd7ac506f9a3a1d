/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header, the log, the pages. The format: https://www.sqlite.org/fileformat2.html
 */
#include "daemon/recover/page-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/page-cells.h"
#include "daemon/sqlite/vfs/log-index.h"

#define MAGIC "SQLite format 3" /* with its NUL */
#define MIN_PAGE_BYTES 512u
#define MAX_PAGE_BYTES 65536u
#define MIN_USABLE_BYTES 480u
#define SAMPLE_PAGES 64u
/* Another size than the header says: so many times as many pages look like it, and so many of all. */
#define MUCH_BETTER 2
#define LEAST_QUALITY 0.25
#define FILL_SHARE 16u /* of a page at its end: some cell reaches into it */

/* A disk may fail for a moment, or at one place, or as a whole. */
#define READ_TRIES 3
#define READ_PAUSE_USEC 50000
#define PAUSES_MAX 40u /* of one file */

#define LOG_MAGIC 0x377f0682u /* its last bit: checksums are of big-endian words */
#define LOG_VERSION 3007000u

struct QdPageFile {
    int fd;
    int log_fd;       /* -1: none */
    GHashTable *logs; /* page number → offset in the log, in frames from 1 */
    QdPageFileInfo info;
    int good_fd; /* and an offset: from where the disk has given something; -1: it has not */
    off_t good_offset;
    guint n_pauses;
    int last_errno; /* of a read; 0: none has failed */
    guint n_unreadable;
    gboolean is_gone;
};

QdPageFile *
qd_page_file_free(QdPageFile *self)
{
    if (self == NULL)
        return NULL;

    if (self->fd >= 0)
        (void) close(self->fd);
    if (self->log_fd >= 0)
        (void) close(self->log_fd);
    g_hash_table_unref(self->logs);
    g_free(self);
    return NULL;
}

/* FALSE with errno 0 beyond the end of the file. */
static gboolean
read_all(QdPageFile *self, int fd, void *buffer, gsize n_bytes, off_t offset)
{
    guint8 *p = buffer;
    guint n_tries = 1;

    while (n_bytes > 0) {
        ssize_t n = pread(fd, p, n_bytes, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && n_tries++ < READ_TRIES && self->n_pauses < PAUSES_MAX) {
            self->n_pauses++;
            g_usleep(READ_PAUSE_USEC);
            continue;
        }
        if (n < 0)
            self->last_errno = errno;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            return FALSE;
        self->good_fd = fd;
        self->good_offset = offset;
        p += n;
        offset += n;
        n_bytes -= (gsize) n;
    }
    return TRUE;
}

/* What it has given before. */
static gboolean
answers(QdPageFile *self)
{
    guint8 byte;

    return self->good_fd >= 0 && read_all(self, self->good_fd, &byte, 1, self->good_offset);
}

static gboolean
is_page_size(guint32 n_bytes)
{
    return n_bytes >= MIN_PAGE_BYTES && n_bytes <= MAX_PAGE_BYTES && (n_bytes & (n_bytes - 1)) == 0;
}

/* The log ------------------------------------------------------------------------------------------------------------------ */

typedef struct Checksum {
    guint32 a;
    guint32 b;
    gboolean big_endian;
} Checksum;

static void
add_to_checksum(Checksum *self, const guint8 *p, gsize n_bytes)
{
    for (gsize i = 0; i + 8 <= n_bytes; i += 8) {
        guint32 x = qd_page_get_u32(p + i);
        guint32 y = qd_page_get_u32(p + i + 4);

        self->a += (self->big_endian ? x : GUINT32_SWAP_LE_BE(x)) + self->b;
        self->b += (self->big_endian ? y : GUINT32_SWAP_LE_BE(y)) + self->a;
    }
}

static gboolean
log_header_is_whole(const guint8 *header, Checksum *checksum)
{
    guint32 magic = qd_page_get_u32(header);

    *checksum = (Checksum){ .big_endian = (magic & 1) != 0 };
    if ((magic & ~1u) != LOG_MAGIC || qd_page_get_u32(header + 4) != LOG_VERSION || !is_page_size(qd_page_get_u32(header + 8)))
        return FALSE;
    add_to_checksum(checksum, header, 24);
    return checksum->a == qd_page_get_u32(header + 24) && checksum->b == qd_page_get_u32(header + 28);
}

/* The next frame, if it belongs to the log and is whole. */
static gboolean
read_frame(QdPageFile *self, guint frame, guint32 page_size, const guint8 *header, Checksum *checksum, guint8 *buffer)
{
    off_t offset = QD_LOG_HEADER_BYTES + (off_t) (frame - 1) * (off_t) (QD_LOG_FRAME_HEADER_BYTES + page_size);

    if (!read_all(self, self->log_fd, buffer, QD_LOG_FRAME_HEADER_BYTES + page_size, offset) ||
        memcmp(buffer + 8, header + 16, 8) != 0)
        return FALSE;
    add_to_checksum(checksum, buffer, 8);
    add_to_checksum(checksum, buffer + QD_LOG_FRAME_HEADER_BYTES, page_size);
    return checksum->a == qd_page_get_u32(buffer + 16) && checksum->b == qd_page_get_u32(buffer + 20) &&
           qd_page_get_u32(buffer) > 0;
}

/* Frames up to the last that ends a transaction; what follows it was never committed. */
static void
read_log(QdPageFile *self)
{
    g_autoptr(GArray) pending = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autofree guint8 *buffer = NULL;
    guint8 header[QD_LOG_HEADER_BYTES];
    Checksum checksum;
    struct stat st;
    guint32 page_size;
    guint frame;

    if (fstat(self->log_fd, &st) < 0 || st.st_size < QD_LOG_HEADER_BYTES)
        return;
    if (!read_all(self, self->log_fd, header, sizeof header, 0)) {
        self->is_gone = errno != 0;
        return;
    }
    if (!log_header_is_whole(header, &checksum)) {
        self->info.log_damaged = TRUE;
        return;
    }

    page_size = qd_page_get_u32(header + 8);
    buffer = g_malloc(QD_LOG_FRAME_HEADER_BYTES + page_size);
    for (frame = 1; read_frame(self, frame, page_size, header, &checksum, buffer); frame++) {
        guint32 page = qd_page_get_u32(buffer);
        guint32 n_pages = qd_page_get_u32(buffer + 4);

        g_array_append_val(pending, page);
        if (n_pages == 0)
            continue;
        for (guint i = 0; i < pending->len; i++)
            g_hash_table_insert(self->logs, GUINT_TO_POINTER(g_array_index(pending, guint32, i)),
                                GUINT_TO_POINTER(frame + 1 - pending->len + i));
        g_array_set_size(pending, 0);
        self->info.n_known_pages = n_pages;
        self->info.page_size = page_size;
    }
    self->is_gone = self->last_errno != 0 && !answers(self);
    self->info.log_damaged = st.st_size >
                                 QD_LOG_HEADER_BYTES + (off_t) (frame - 1) * (off_t) (QD_LOG_FRAME_HEADER_BYTES + page_size) &&
                             memcmp(buffer + 8, header + 16, 8) == 0;
    self->info.n_log_pages = g_hash_table_size(self->logs);
}

/* The header --------------------------------------------------------------------------------------------------------------- */

gboolean
qd_page_header_parse(const guint8 header[QD_PAGE_HEADER_BYTES], guint32 *ret_page_size, guint32 *ret_n_pages)
{
    guint32 size = qd_page_get_u16(header + 16);

    *ret_page_size = size == 1 ? MAX_PAGE_BYTES : size;
    /* a program that does not keep the number does not keep its stamp either */
    *ret_n_pages = qd_page_get_u32(header + 24) == qd_page_get_u32(header + 92) ? qd_page_get_u32(header + 28) : 0;
    return memcmp(header, MAGIC, sizeof MAGIC) == 0 && is_page_size(*ret_page_size);
}

guint32
qd_page_header_get_schema_cookie(const guint8 header[QD_PAGE_HEADER_BYTES])
{
    guint32 page_size;
    guint32 n_pages;

    return qd_page_header_parse(header, &page_size, &n_pages) ? qd_page_get_u32(header + 40) : 0;
}

/* How many of the first pages look like pages that are of this size, of which the last bytes are reserved. */
static double
judge_page_size(QdPageFile *self, guint32 page_size, guint32 reserved, guint64 n_file_bytes)
{
    g_autofree guint8 *buffer = g_malloc(page_size);
    guint n = (guint) MIN(n_file_bytes / page_size, SAMPLE_PAGES);
    guint n_good = 0;

    for (guint i = 0; i < n; i++) {
        QdPageCells cells;

        if (read_all(self, self->fd, buffer, page_size, (off_t) i * page_size) &&
            qd_page_cells_init(&cells, buffer, i + 1, page_size - reserved) && qd_page_cells_are_whole(&cells) &&
            qd_page_cells_get_end(&cells) > page_size - reserved - page_size / FILL_SHARE)
            n_good++;
    }
    return n > 0 ? (double) n_good / n : 0;
}

/* @said: by the header; 0: it says none. Another size has to be much better. */
static guint32
find_page_size(QdPageFile *self, guint32 said, guint64 n_file_bytes)
{
    guint32 best_size = said;
    double best = said > 0 ? MAX(MUCH_BETTER * judge_page_size(self, said, 0, n_file_bytes), LEAST_QUALITY) : 0;

    for (guint32 size = MIN_PAGE_BYTES; size <= MAX_PAGE_BYTES; size *= 2) {
        double quality = judge_page_size(self, size, 0, n_file_bytes);

        if (quality > best) {
            best = quality;
            best_size = size;
        }
    }
    return best_size;
}

/* Of a page, for payloads: they are always these. */
static gboolean
has_fractions(const guint8 *header)
{
    return header[21] == 64 && header[22] == 32 && header[23] == 32;
}

/* Only extensions reserve bytes, and then no cell reaches into them. */
static guint32
get_reserved(QdPageFile *self, const guint8 *header, guint64 n_file_bytes)
{
    guint32 page_size = self->info.page_size;
    guint32 reserved = has_fractions(header) ? header[20] : 0;

    if (reserved == 0 || page_size - reserved < MIN_USABLE_BYTES ||
        judge_page_size(self, page_size, reserved, n_file_bytes) < judge_page_size(self, page_size, 0, n_file_bytes))
        return 0;
    return reserved;
}

static void
read_fields(QdPageFile *self, const guint8 *header, guint64 n_file_bytes)
{
    QdPageFileInfo *info = &self->info;
    guint32 encoding = qd_page_get_u32(header + 56);
    guint32 page_size;
    guint32 n_pages;

    info->usable_size = info->page_size - get_reserved(self, header, n_file_bytes);
    info->encoding = encoding >= 1 && encoding <= 3 ? encoding : 1;
    info->first_free = qd_page_get_u32(header + 32);
    info->n_free = qd_page_get_u32(header + 36);
    info->auto_vacuum = qd_page_get_u32(header + 52) == 0 ? 0 : (qd_page_get_u32(header + 64) != 0 ? 2 : 1);
    (void) qd_page_header_parse(header, &page_size, &n_pages);
    info->schema_cookie = qd_page_header_get_schema_cookie(header);
    info->schema_format = info->schema_cookie > 0 ? qd_page_get_u32(header + 44) : 0;
    info->has_numbers = info->schema_cookie > 0 || has_fractions(header);
    info->user_version = (gint32) qd_page_get_u32(header + 60);
    info->application_id = (gint32) qd_page_get_u32(header + 68);
    if (info->n_known_pages == 0)
        info->n_known_pages = n_pages;
}

static gboolean
read_header(QdPageFile *self, const char *path, GError **error)
{
    QdPageFileInfo *info = &self->info;
    g_autofree guint8 *first = NULL;
    guint8 header[QD_PAGE_HEADER_BYTES] = { 0 };
    struct stat st = { 0 };
    guint32 size;
    guint32 n_pages;

    if (self->fd >= 0 && fstat(self->fd, &st) < 0) {
        qd_error_set_errno(error, errno, "cannot look at '%s'", path);
        return FALSE;
    }
    if (self->fd >= 0)
        (void) read_all(self, self->fd, header, sizeof header, 0);
    info->header_damaged = !qd_page_header_parse(header, &size, &n_pages);
    if (info->page_size == 0) {
        info->page_size = find_page_size(self, info->header_damaged ? 0 : size, (guint64) st.st_size);
        info->header_damaged = info->header_damaged || info->page_size != size;
    }
    if (info->page_size == 0 && self->last_errno != 0) {
        qd_error_set_errno(error, self->last_errno, "cannot read '%s'", path);
        return FALSE;
    }
    if (info->page_size == 0) {
        qd_error_set(error, QW_ERROR_CORRUPT, "nothing in '%s' looks like a page of a database", path);
        return FALSE;
    }
    info->n_pages = (guint32) MIN((guint64) st.st_size / info->page_size, G_MAXUINT32 - 1);

    /* of the log, if it is there */
    first = g_malloc0(info->page_size);
    if (qd_page_file_read(self, 1, first))
        memcpy(header, first, sizeof header);
    read_fields(self, header, (guint64) st.st_size);
    info->n_pages = MAX(info->n_pages, MIN(info->n_known_pages, info->n_pages + info->n_log_pages));
    if (info->n_known_pages > info->n_pages + info->n_log_pages) /* cut short, or a wrong number */
        info->header_damaged = info->header_damaged || info->n_known_pages / 2 > info->n_pages;
    return TRUE;
}

QdPageFile *
qd_page_file_open(const char *path, GError **error)
{
    g_autoptr(QdPageFile) self = g_new0(QdPageFile, 1);
    g_autofree char *log_path = g_strconcat(path, "-wal", NULL);

    self->logs = g_hash_table_new(NULL, NULL);
    self->log_fd = -1;
    self->good_fd = -1;
    self->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (self->fd < 0 && errno != ENOENT) {
        qd_error_set_errno(error, errno, "cannot open '%s'", path);
        return NULL;
    }
    self->log_fd = open(log_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (self->log_fd < 0 && errno != ENOENT) {
        qd_error_set_errno(error, errno, "cannot open '%s'", log_path);
        return NULL;
    }
    if (self->log_fd >= 0)
        read_log(self);
    if (self->fd < 0 && self->info.n_log_pages == 0) {
        qd_error_set_errno(error, ENOENT, "cannot open '%s'", path);
        return NULL;
    }
    if (!read_header(self, path, error))
        return NULL;

    return g_steal_pointer(&self);
}

const QdPageFileInfo *
qd_page_file_get_info(const QdPageFile *self)
{
    return &self->info;
}

gboolean
qd_page_file_read(QdPageFile *self, guint32 number, guint8 *buffer)
{
    guint32 page_size = self->info.page_size;
    gpointer frame = g_hash_table_lookup(self->logs, GUINT_TO_POINTER(number));
    int fd = frame != NULL ? self->log_fd : self->fd;
    off_t offset = (off_t) (number - 1) * page_size;

    if (number == 0 || fd < 0 || self->is_gone)
        return FALSE;
    if (frame != NULL)
        offset = QD_LOG_HEADER_BYTES + QD_LOG_FRAME_HEADER_BYTES +
                 (off_t) (GPOINTER_TO_UINT(frame) - 1) * (off_t) (QD_LOG_FRAME_HEADER_BYTES + page_size);
    if (read_all(self, fd, buffer, page_size, offset))
        return TRUE;
    if (errno != 0) {
        self->n_unreadable++;
        self->is_gone = !answers(self);
    }
    return FALSE;
}

guint
qd_page_file_get_n_unreadable(const QdPageFile *self, gboolean *ret_is_gone)
{
    *ret_is_gone = self->is_gone;
    return self->n_unreadable;
}
