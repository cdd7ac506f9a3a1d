/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run is sorted by radix, byte by byte from the least; bytes that are the same in all rows (most are) cost nothing. Radix sorting
 * is stable: rows that are sorted by (s, p, o) need only be sorted by o to be sorted by (o, s, p). Each order has its own runs.
 */
#include "daemon/quads/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define N_COUNTS 256
#define MERGE_BYTES (16 * 1024 * 1024)
#define MIN_PIECE_ROWS 128

typedef struct Run {
    off_t next; /* in the file */
    off_t end;
    gint64 *rows; /* the piece in memory */
    gsize n;
    gsize pos;
} Run;

struct QdSorter {
    guint n_columns;
    QdSorterOrder orders[QD_SORTER_MAX_ORDERS];
    guint n_orders;
    guint order; /* that rows are read in */
    gsize row_bytes;
    gsize max_rows;
    gsize capacity; /* rows that `rows` has room for: grows */
    gint64 *rows;
    gsize n;
    guint64 n_rows;
    char *directory;
    int fd; /* -1: all is in memory */
    off_t file_bytes;
    GArray *runs; /* of Run: one for each order, again and again */

    /* reading */
    gsize pos;   /* all in memory */
    guint *heap; /* indexes of the order's runs, the least row first */
    guint n_heap;
    gsize piece_rows;
    gboolean started; /* the heap's first run still stands on the row that was given */
};

/* Without the first column of @order both are the same. */
static gboolean
follows(const QdSorterOrder *order, const QdSorterOrder *previous, guint n_columns)
{
    guint k = 1;

    for (guint i = 0; i < n_columns; i++)
        if (previous->columns[i] != order->columns[0] && (k >= n_columns || previous->columns[i] != order->columns[k++]))
            return FALSE;
    return k == n_columns;
}

QdSorter *
qd_sorter_new(guint n_columns, const QdSorterOrder *orders, guint n_orders, gsize n_memory_rows, const char *directory)
{
    static const QdSorterOrder natural = { { 0, 1, 2, 3 } };
    QdSorter *self = g_new0(QdSorter, 1);

    g_assert(n_columns >= 1 && n_columns <= QD_SORTER_MAX_COLUMNS && n_memory_rows >= 2 && n_orders <= QD_SORTER_MAX_ORDERS);
    self->n_columns = n_columns;
    self->n_orders = orders != NULL ? n_orders : 1;
    for (guint i = 0; i < self->n_orders; i++) {
        self->orders[i] = orders != NULL ? orders[i] : natural;
        g_assert(i == 0 || follows(&self->orders[i], &self->orders[i - 1], n_columns));
    }
    self->row_bytes = n_columns * sizeof(gint64);
    self->max_rows = n_memory_rows;
    self->directory = g_strdup(directory);
    self->fd = -1;
    self->runs = g_array_new(FALSE, TRUE, sizeof(Run));
    return self;
}

QdSorter *
qd_sorter_free(QdSorter *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->runs->len; i++)
        g_free(g_array_index(self->runs, Run, i).rows);
    g_array_unref(self->runs);
    self->fd = qd_fd_close(self->fd);
    g_free(self->heap);
    g_free(self->directory);
    g_free(self->rows);
    g_free(self);
    return NULL;
}

/* Sorting --------------------------------------------------------------------------------------------------------------- */

/* The key's byte: the sign bit is turned, so that negative numbers come first. */
static inline guint
get_byte(const gint64 *row, guint column, guint shift)
{
    return (guint) (((guint64) row[column] ^ G_GUINT64_CONSTANT(0x8000000000000000)) >> shift) & 0xff;
}

/* One stable pass over a byte, from @from to @to. */
static void
sort_byte(const QdSorter *self, const gint64 *from, gint64 *to, guint column, guint shift)
{
    gsize places[N_COUNTS] = { 0 };
    gsize total = 0;

    for (gsize i = 0; i < self->n; i++)
        places[get_byte(from + i * self->n_columns, column, shift)]++;
    for (guint i = 0; i < N_COUNTS; i++) {
        gsize n = places[i];

        places[i] = total;
        total += n;
    }
    for (gsize i = 0; i < self->n; i++) {
        const gint64 *row = from + i * self->n_columns;

        memcpy(to + places[get_byte(row, column, shift)]++ * self->n_columns, row, self->row_bytes);
    }
}

static void
sort_column(QdSorter *self, guint column, guint64 differing, gint64 **other)
{
    for (guint shift = 0; shift < 64; shift += 8) {
        gint64 *sorted = *other;

        if ((differing >> shift & 0xff) == 0)
            continue;
        sort_byte(self, self->rows, sorted, column, shift);
        *other = self->rows;
        self->rows = sorted;
        self->capacity = self->n;
    }
}

/* Brings the rows, which are in the order before, into this one. */
static void
sort_rows(QdSorter *self, guint order)
{
    const guint8 *columns = self->orders[order].columns;
    guint64 differing[QD_SORTER_MAX_COLUMNS] = { 0 };
    gint64 *other = g_malloc_n(MAX(self->n, 1), self->row_bytes);

    for (gsize i = 1; i < self->n; i++)
        for (guint c = 0; c < self->n_columns; c++)
            differing[c] |= (guint64) (self->rows[i * self->n_columns + c] ^ self->rows[c]);
    for (guint i = order == 0 ? self->n_columns : 1; i-- > 0;)
        sort_column(self, columns[i], differing[columns[i]], &other);
    g_free(other);
}

/* Runs ------------------------------------------------------------------------------------------------------------------ */

static gboolean
write_all(QdSorter *self, GError **error)
{
    const char *p = (const char *) self->rows;
    gsize n_bytes = self->n * self->row_bytes;

    while (n_bytes > 0) {
        ssize_t n = pwrite(self->fd, p, n_bytes, self->file_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            qd_error_set_errno(error, n < 0 ? errno : ENOSPC, "cannot write a temporary file in '%s'", self->directory);
            return FALSE;
        }
        p += n;
        n_bytes -= (gsize) n;
        self->file_bytes += n;
    }
    return TRUE;
}

/* A run for each order. */
static gboolean
end_runs(QdSorter *self, GError **error)
{
    if (self->fd < 0)
        self->fd = open(self->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (self->fd < 0) {
        qd_error_set_errno(error, errno, "cannot make a temporary file in '%s'", self->directory);
        return FALSE;
    }
    for (guint order = 0; order < self->n_orders; order++) {
        Run run = { .next = self->file_bytes };

        sort_rows(self, order);
        if (!write_all(self, error))
            return FALSE;
        run.end = self->file_bytes;
        g_array_append_val(self->runs, run);
    }
    self->n = 0;
    return TRUE;
}

gboolean
qd_sorter_add(QdSorter *self, const gint64 *row, GError **error)
{
    if (self->n == self->max_rows && !end_runs(self, error))
        return FALSE;
    if (self->n == self->capacity) {
        self->capacity = MIN(MAX(2 * self->capacity, 1024), self->max_rows);
        self->rows = g_realloc_n(self->rows, self->capacity, self->row_bytes);
    }
    memcpy(self->rows + self->n * self->n_columns, row, self->row_bytes);
    self->n++;
    self->n_rows++;
    return TRUE;
}

guint64
qd_sorter_get_n_rows(const QdSorter *self)
{
    return self->n_rows;
}

guint64
qd_sorter_get_file_bytes(const QdSorter *self)
{
    return (guint64) self->file_bytes;
}

/* Merging --------------------------------------------------------------------------------------------------------------- */

static gboolean
fill_run(QdSorter *self, Run *run, GError **error)
{
    gsize n_bytes = MIN(self->piece_rows * self->row_bytes, (gsize) (run->end - run->next));
    gsize done = 0;

    while (done < n_bytes) {
        ssize_t n = pread(self->fd, (char *) run->rows + done, n_bytes - done, run->next + (off_t) done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            qd_error_set_errno(error, n < 0 ? errno : EIO, "cannot read a temporary file in '%s'", self->directory);
            return FALSE;
        }
        done += (gsize) n;
    }
    run->next += (off_t) n_bytes;
    run->n = n_bytes / self->row_bytes;
    run->pos = 0;
    return TRUE;
}

static Run *
get_run(const QdSorter *self, guint index)
{
    return &g_array_index(self->runs, Run, index * self->n_orders + self->order);
}

static const gint64 *
get_head(const QdSorter *self, guint heap_index)
{
    const Run *run = get_run(self, self->heap[heap_index]);

    return run->rows + run->pos * self->n_columns;
}

static gboolean
is_less(const QdSorter *self, guint a, guint b)
{
    const gint64 *row_a = get_head(self, a);
    const gint64 *row_b = get_head(self, b);
    const guint8 *columns = self->orders[self->order].columns;

    for (guint i = 0; i < self->n_columns; i++)
        if (row_a[columns[i]] != row_b[columns[i]])
            return row_a[columns[i]] < row_b[columns[i]];
    return FALSE;
}

static void
sift_down(QdSorter *self, guint i)
{
    for (;;) {
        guint least = i;
        guint saved;

        for (guint child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < self->n_heap && is_less(self, child, least))
                least = child;
        if (least == i)
            return;
        saved = self->heap[i];
        self->heap[i] = self->heap[least];
        self->heap[least] = saved;
        i = least;
    }
}

static gboolean
begin_merge(QdSorter *self, GError **error)
{
    self->started = FALSE;
    self->n_heap = self->runs->len / self->n_orders;
    for (guint i = 0; i < self->n_heap; i++) {
        Run *run = get_run(self, i);

        self->heap[i] = i;
        run->rows = g_malloc_n(self->piece_rows, self->row_bytes);
        if (!fill_run(self, run, error))
            return FALSE;
    }
    for (guint i = self->n_heap; i-- > 0;)
        sift_down(self, i);
    return TRUE;
}

static gboolean
begin_reading(QdSorter *self, GError **error)
{
    self->pos = 0;
    if (self->runs->len > 0)
        return begin_merge(self, error);
    sort_rows(self, self->order);
    return TRUE;
}

gboolean
qd_sorter_finish(QdSorter *self, GError **error)
{
    if (self->runs->len > 0) {
        if (self->n > 0 && !end_runs(self, error))
            return FALSE;
        g_clear_pointer(&self->rows, g_free);
        self->heap = g_new(guint, self->runs->len / self->n_orders);
        self->piece_rows = MAX(MERGE_BYTES / self->row_bytes / (self->runs->len / self->n_orders), MIN_PIECE_ROWS);
    }
    self->order = 0;
    return begin_reading(self, error);
}

gboolean
qd_sorter_turn(QdSorter *self, GError **error)
{
    g_assert(self->order + 1 < self->n_orders);
    for (guint i = 0; i < self->runs->len / self->n_orders; i++)
        g_clear_pointer(&get_run(self, i)->rows, g_free);
    self->order++;
    return begin_reading(self, error);
}

/* The row that was given is used up. */
static gboolean
step(QdSorter *self, GError **error)
{
    Run *run = get_run(self, self->heap[0]);

    run->pos++;
    if (run->pos == run->n && run->next < run->end && !fill_run(self, run, error))
        return FALSE;
    if (run->pos == run->n)
        self->heap[0] = self->heap[--self->n_heap];
    if (self->n_heap > 0)
        sift_down(self, 0);
    return TRUE;
}

gboolean
qd_sorter_next(QdSorter *self, const gint64 **ret_row, GError **error)
{
    if (self->runs->len == 0) {
        *ret_row = self->pos < self->n ? self->rows + self->pos++ * self->n_columns : NULL;
        return TRUE;
    }
    if (self->started && self->n_heap > 0 && !step(self, error))
        return FALSE;
    self->started = TRUE;
    *ret_row = self->n_heap > 0 ? get_head(self, 0) : NULL;
    return TRUE;
}
