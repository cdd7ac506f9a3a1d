/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The references of a look-up: SQLite in the process, a bare socketpair, and SQLite at the other end of one.
 *
 * The server does nothing but read(), look up, write(): what any server with a process of its own costs at least.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/latency.h"
#include "tests/bench/reference-database.h"

#define ECHO_BYTES 64
#define ROW_BYTES 4096

/* An id comes in; out goes the row: u32 end offset[n_columns], texts. */
static gsize
pack_row(sqlite3_stmt *stmt, guint8 *ret)
{
    guint32 n_columns = FOUNDING_TEXTS + 1;
    gsize used = sizeof(guint32) * n_columns;

    for (guint32 i = 0; i < n_columns; i++) {
        const unsigned char *text = sqlite3_column_text(stmt, (int) i);
        gsize n_bytes = (gsize) sqlite3_column_bytes(stmt, (int) i) + 1;
        guint32 end;

        if (used + n_bytes > ROW_BYTES)
            _exit(1);
        memcpy(ret + used, text, n_bytes);
        used += n_bytes;
        end = (guint32) used;
        memcpy(ret + sizeof end * i, &end, sizeof end);
    }
    return used;
}

static G_GNUC_NORETURN void
serve(int fd, const char *path)
{
    ReferenceDatabase database = { 0 };
    guint8 buffer[ROW_BYTES];
    gssize n;

    if (path != NULL)
        reference_database_open(&database, path);
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        gint64 id;

        if (path != NULL) {
            memcpy(&id, buffer, sizeof id);
            if (!reference_database_look_up(&database, id))
                _exit(1);
            n = (gssize) pack_row(database.lookup, buffer);
            (void) sqlite3_reset(database.lookup);
        }
        if (write(fd, buffer, (gsize) n) != n)
            break;
    }
    _exit(0);
}

void
latency_socket_open(LatencyRun *run)
{
    int fds[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        bench_fail(run->bench, "socketpair: %s", g_strerror(errno));
    pid = fork();
    if (pid < 0)
        bench_fail(run->bench, "fork: %s", g_strerror(errno));
    if (pid == 0) {
        (void) close(fds[0]);
        serve(fds[1], g_str_equal(run->probe->variant, "echo") ? NULL : run->path);
    }
    (void) close(fds[1]);
    run->state = GINT_TO_POINTER(fds[0]);
}

static gsize
exchange(LatencyRun *run, gint64 id, guint8 *buffer)
{
    int fd = GPOINTER_TO_INT(run->state);
    gssize n;

    memset(buffer, 0, ECHO_BYTES);
    memcpy(buffer, &id, sizeof id);
    if (write(fd, buffer, ECHO_BYTES) != ECHO_BYTES)
        bench_fail(run->bench, "write: %s", g_strerror(errno));
    n = read(fd, buffer, ROW_BYTES);
    if (n <= 0)
        bench_fail(run->bench, "the server has gone");
    return (gsize) n;
}

void
latency_echo_call(LatencyRun *run, gint64 id)
{
    guint8 buffer[ROW_BYTES];

    if (exchange(run, id, buffer) != ECHO_BYTES)
        bench_fail(run->bench, "half an answer");
}

void
latency_socket_call(LatencyRun *run, gint64 id)
{
    guint8 buffer[ROW_BYTES];
    gsize n = exchange(run, id, buffer);
    guint32 start = sizeof(guint32) * (FOUNDING_TEXTS + 1);

    for (guint32 i = 0; i <= FOUNDING_TEXTS; i++) {
        guint32 end;

        memcpy(&end, buffer + sizeof end * i, sizeof end);
        if (end > n)
            bench_fail(run->bench, "half an answer");
        if (i == 0)
            cell_sink_put_int64(&run->sink, g_ascii_strtoll((const char *) buffer + start, NULL, 10));
        else
            cell_sink_put(&run->sink, buffer + start, end - start - 1);
        start = end;
    }
    cell_sink_end_row(&run->sink);
}

void
latency_direct_open(LatencyRun *run)
{
    ReferenceDatabase *database = g_new0(ReferenceDatabase, 1);

    reference_database_open(database, run->path);
    run->state = database;
}

void
latency_direct_call(LatencyRun *run, gint64 id)
{
    ReferenceDatabase *database = run->state;

    if (!reference_database_look_up(database, id))
        bench_fail(run->bench, "the row is not there");
    cell_sink_put_int64(&run->sink, sqlite3_column_int64(database->lookup, 0));
    for (int i = 1; i <= FOUNDING_TEXTS; i++) {
        const unsigned char *text = sqlite3_column_text(database->lookup, i);

        cell_sink_put(&run->sink, text, (gsize) sqlite3_column_bytes(database->lookup, i));
    }
    cell_sink_end_row(&run->sink);
    (void) sqlite3_reset(database->lookup);
}
