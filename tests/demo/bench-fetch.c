/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whole results by each transport against SQLite itself, in alternating rounds.
 *
 * The pipe is read as another language would: Prepare by a plain D-Bus call, then records until END.
 */
#include <errno.h>
#include <gio/gunixfdlist.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-record.h"
#include "tests/demo/bench.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define TABLE "fetch"
#define ROUNDS 7
#define RATIO_MAX 0.80
#define BAR_ROWS 300000

static int
open_pipe(GDBusConnection *bus, const char *sql)
{
    g_autoptr(GUnixFDList) fds = NULL;
    g_autoptr(GVariant) reply = NULL;
    g_autoptr(GError) error = NULL;
    GVariantDict options;
    int fd;

    g_variant_dict_init(&options, NULL);
    g_variant_dict_insert(&options, "transport", "s", "pipe");
    reply = g_dbus_connection_call_with_unix_fd_list_sync(
        bus, "org.queryd.Query1", "/org/queryd/Query1", "org.queryd.Query1", "Prepare",
        g_variant_new("(ss@a{sv}@a{sv})", "sql", sql, g_variant_new("a{sv}", NULL), g_variant_dict_end(&options)),
        G_VARIANT_TYPE("(ha(ss)a{sv})"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, &fds, NULL, &error);
    die_on_error(error, "Prepare");
    fd = g_unix_fd_list_get(fds, 0, &error);
    die_on_error(error, "Prepare");
    return fd;
}

static void
read_exactly(int fd, guint8 *data, gsize n_bytes)
{
    while (n_bytes > 0) {
        gssize n = read(fd, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            (void) fprintf(stderr, "the pipe ended before END\n");
            exit(1);
        }
        data += n;
        n_bytes -= (gsize) n;
    }
}

/* Copies the values of one page. Returns the number of bytes copied. */
static guint64
copy_page(const guint8 *body, const QwHeader *header, char *row)
{
    QwPageReader reader;
    guint64 n_bytes = 0;

    if (qw_page_reader_init(&reader, body, header->size - QW_HEADER_SIZE, header->count, FOUNDING_TEXTS + 1) < 0) {
        (void) fprintf(stderr, "the pipe gave a page that is not valid\n");
        exit(1);
    }
    while (qw_page_reader_next(&reader)) {
        gsize used = 0;

        for (guint32 i = 0; i <= FOUNDING_TEXTS; i++) {
            gboolean is_word;
            const void *data;
            gsize n;
            QwValue value;

            qw_page_reader_get(&reader, i, &value);
            is_word = qw_type_is_word(value.type);
            data = is_word ? (const void *) &value.integer : value.data;
            n = is_word ? sizeof value.integer : value.n_bytes;
            memcpy(row + used, data, n);
            used += n;
        }
        n_bytes += used;
    }
    return n_bytes;
}

static ReadResult
read_by_pipe(GDBusConnection *bus, const char *table)
{
    g_autofree char *sql = g_strdup_printf("SELECT * FROM %s", table);
    g_autofree guint8 *page = g_malloc(QW_PAGE_SIZE_DEFAULT);
    ReadResult result = { 0 };
    double start_msec = get_now_msec();
    int fd = open_pipe(bus, sql);
    QwHeader header;
    char row[4096];

    do {
        read_exactly(fd, page, QW_HEADER_SIZE);
        if (qw_header_decode(page, QW_PAGE_SIZE_DEFAULT, QW_TO_CLIENT, &header) < 0) {
            (void) fprintf(stderr, "the pipe gave something that is not a record\n");
            exit(1);
        }
        read_exactly(fd, page + QW_HEADER_SIZE, header.size - QW_HEADER_SIZE);
        if (header.kind != QW_KIND_ROWS)
            continue;
        if (result.n_rows == 0)
            result.first_row_msec = get_now_msec() - start_msec;
        result.n_bytes += copy_page(page + QW_HEADER_SIZE, &header, row);
        result.n_rows += header.count;
    } while (header.kind != QW_KIND_END && header.kind != QW_KIND_ERROR);
    result.msec = get_now_msec() - start_msec;
    (void) close(fd);
    return result;
}

typedef struct Line {
    const char *name;
    Samples msec;
    Samples first_row_msec;
} Line;

static void
line_add(Line *self, ReadResult result, guint n_rows)
{
    if (result.n_rows != n_rows) {
        (void) fprintf(stderr, "%s: %" G_GUINT64_FORMAT " rows of %u\n", self->name, result.n_rows, n_rows);
        exit(1);
    }
    samples_add(&self->msec, result.msec);
    samples_add(&self->first_row_msec, result.first_row_msec);
}

static gboolean
bench_size(QueryConnection *connection, GDBusConnection *bus, guint n_rows)
{
    Line lines[] = {
        { "direct, copied" }, { "queryd, copied" }, { "direct, kept" }, { "queryd, kept" }, { "queryd by pipe, copied" }
    };
    g_autofree char *table = g_strdup_printf(TABLE " LIMIT %u", n_rows);
    g_autofree char *path = get_database_path();
    double ratio;

    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        samples_init(&lines[i].msec);
        samples_init(&lines[i].first_row_msec);
    }
    for (guint round = 0; round < ROUNDS; round++) {
        line_add(&lines[0], founding_table_read_directly(path, table, READ_COPY), n_rows);
        line_add(&lines[1], founding_table_read(connection, table, READ_COPY), n_rows);
        line_add(&lines[2], founding_table_read_directly(path, table, READ_KEEP), n_rows);
        line_add(&lines[3], founding_table_read(connection, table, READ_KEEP), n_rows);
        line_add(&lines[4], read_by_pipe(bus, table), n_rows);
    }
    ratio = samples_get_quantile(&lines[1].msec, 0.5) / samples_get_quantile(&lines[0].msec, 0.5);
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        double against = samples_get_quantile(&lines[i == 2 || i == 3 ? 2 : 0].msec, 0.5);

        (void) printf("  %7u  %-24s %8.2f %8.2f %8.2f   %5.2f   %6.2f\n", n_rows, lines[i].name,
                      samples_get_quantile(&lines[i].msec, 0.5), samples_get_quantile(&lines[i].msec, 0),
                      samples_get_quantile(&lines[i].msec, 1), samples_get_quantile(&lines[i].msec, 0.5) / against,
                      samples_get_quantile(&lines[i].first_row_msec, 0.5));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        samples_clear(&lines[i].msec);
        samples_clear(&lines[i].first_row_msec);
    }
    if (n_rows < BAR_ROWS)
        return TRUE;
    (void) printf("  queryd, copied, to direct: %.2f   bar: at most %.2f, ", ratio, RATIO_MAX);
    return bench_judge(ratio <= RATIO_MAX);
}

gboolean
bench_fetch(void)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(GError) error = NULL;
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    gboolean ok = TRUE;

    die_on_error(error, "session bus");
    (void) founding_table_create(connection, TABLE, BAR_ROWS);
    (void) printf("\nfetch, %d rounds             ms: median      min      max   ratio   first row ms\n", ROUNDS);
    for (guint n_rows = 300; n_rows <= BAR_ROWS; n_rows *= 10)
        ok = bench_size(connection, bus, n_rows) && ok;
    execute(connection, "DROP TABLE " TABLE);
    return ok;
}
