/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite alone, as an application would: contents in rows; or in files, each written under another name, synced and renamed before
 * its row is committed. One job after the other: an application has one connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/items.h"

#define NAME_BYTES 32

typedef struct Alone {
    sqlite3 *db;
    sqlite3_stmt *insert;
    sqlite3_stmt *update;
    int dir_fd;
} Alone;

static void
run_sql(ItemsRun *run, const char *sql)
{
    sqlite3 *db = ((Alone *) run->state)->db;

    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(run->bench, "%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3_stmt *
prepare(ItemsRun *run, const char *sql)
{
    sqlite3 *db = ((Alone *) run->state)->db;
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        bench_fail(run->bench, "%s: %s", sql, sqlite3_errmsg(db));
    return stmt;
}

static void
step(ItemsRun *run, sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        bench_fail(run->bench, "%s: %s", sqlite3_sql(stmt), sqlite3_errmsg(((Alone *) run->state)->db));
    (void) sqlite3_reset(stmt);
}

static void
open_alone(ItemsRun *run)
{
    Alone *self = g_new0(Alone, 1);
    g_autofree char *path = g_build_filename(run->folder, "alone.db", NULL);

    run->state = self;
    self->dir_fd = open(run->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->dir_fd < 0 || sqlite3_open_v2(path, &self->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        bench_fail(run->bench, "cannot open '%s'", path);
    run_sql(run, "PRAGMA journal_mode=WAL; PRAGMA secure_delete=OFF; PRAGMA cache_size=-4096;"
                 "CREATE TABLE item(id INTEGER PRIMARY KEY, size INTEGER NOT NULL, created INTEGER NOT NULL, content BLOB)");
    run_sql(run, run->relaxed ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL");
    self->insert = prepare(run, "INSERT INTO item VALUES(?1, ?2, 0, ?3)");
    self->update = prepare(run, "UPDATE item SET size=?2, content=?3 WHERE id=?1");
}

static void
close_alone(ItemsRun *run)
{
    Alone *self = run->state;

    (void) sqlite3_finalize(self->insert);
    (void) sqlite3_finalize(self->update);
    (void) sqlite3_close(self->db);
    (void) close(self->dir_fd);
    g_free(self);
}

/* Rows ------------------------------------------------------------------------------------------------------------------ */

static void
write_rows(ItemsRun *run, sqlite3_stmt *stmt, guint version)
{
    for (guint i = 0; i < run->n; i++) {
        items_fill(run, i, version);
        (void) sqlite3_bind_int64(stmt, 1, i);
        (void) sqlite3_bind_int64(stmt, 2, (sqlite3_int64) run->size);
        (void) sqlite3_bind_blob(stmt, 3, run->content, (int) run->size, SQLITE_STATIC);
        step(run, stmt);
    }
}

static void
row_create(ItemsRun *run)
{
    write_rows(run, ((Alone *) run->state)->insert, 1);
}

static void
row_modify(ItemsRun *run)
{
    write_rows(run, ((Alone *) run->state)->update, 2);
}

static void
row_fetch(ItemsRun *run)
{
    sqlite3_stmt *stmt = prepare(run, "SELECT id, content FROM item");

    while (sqlite3_step(stmt) == SQLITE_ROW)
        items_read(run, sqlite3_column_blob(stmt, 1), (gsize) sqlite3_column_bytes(stmt, 1));
    (void) sqlite3_finalize(stmt);
}

static void
row_remove(ItemsRun *run)
{
    run_sql(run, "DELETE FROM item");
}

static guint64
get_disk_bytes(ItemsRun *run)
{
    Alone *self = run->state;
    guint64 n_bytes = items_get_table_bytes(run, self->db, "item");

    for (guint i = 0; i < run->n; i++) {
        char name[NAME_BYTES];
        struct stat st;

        (void) snprintf(name, sizeof name, "%u", i);
        if (fstatat(self->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            n_bytes += (guint64) st.st_blocks * 512;
    }
    return n_bytes;
}

const ItemsWay items_row = { open_alone, row_create, row_modify, row_fetch, row_remove, get_disk_bytes, close_alone, NULL };

/* Files ----------------------------------------------------------------------------------------------------------------- */

static void
write_file(ItemsRun *run, guint number)
{
    const Alone *self = run->state;
    char name[NAME_BYTES];
    gboolean ok;
    int fd;

    (void) snprintf(name, sizeof name, "%u", number);
    fd = openat(self->dir_fd, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ok = fd >= 0 && write(fd, run->content, run->size) == (ssize_t) run->size && (run->relaxed || fdatasync(fd) == 0);
    if (fd >= 0)
        (void) close(fd);
    ok = ok && renameat(self->dir_fd, "new", self->dir_fd, name) == 0 && (run->relaxed || fsync(self->dir_fd) == 0);
    if (!ok)
        bench_fail(run->bench, "cannot write a file: %s", g_strerror(errno));
}

static void
write_files(ItemsRun *run, sqlite3_stmt *stmt, guint version)
{
    for (guint i = 0; i < run->n; i++) {
        items_fill(run, i, version);
        write_file(run, i);
        (void) sqlite3_bind_int64(stmt, 1, i);
        (void) sqlite3_bind_int64(stmt, 2, (sqlite3_int64) run->size);
        step(run, stmt);
    }
}

static void
file_create(ItemsRun *run)
{
    write_files(run, ((Alone *) run->state)->insert, 1);
}

static void
file_modify(ItemsRun *run)
{
    write_files(run, ((Alone *) run->state)->update, 2);
}

static void
file_fetch(ItemsRun *run)
{
    const Alone *self = run->state;
    sqlite3_stmt *stmt = prepare(run, "SELECT id, size FROM item");
    g_autofree guint8 *buffer = g_malloc(run->size);

    while (sqlite3_step(stmt) == SQLITE_ROW) {
        char name[NAME_BYTES];
        int fd;

        (void) snprintf(name, sizeof name, "%d", sqlite3_column_int(stmt, 0));
        fd = openat(self->dir_fd, name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, buffer, run->size) != (ssize_t) run->size)
            bench_fail(run->bench, "cannot read '%s': %s", name, g_strerror(errno));
        items_read(run, buffer, run->size);
        (void) close(fd);
    }
    (void) sqlite3_finalize(stmt);
}

static void
file_remove(ItemsRun *run)
{
    const Alone *self = run->state;

    run_sql(run, "DELETE FROM item");
    for (guint i = 0; i < run->n; i++) {
        char name[NAME_BYTES];

        (void) snprintf(name, sizeof name, "%u", i);
        (void) unlinkat(self->dir_fd, name, 0);
    }
}

const ItemsWay items_file = { open_alone, file_create, file_modify, file_fetch, file_remove, get_disk_bytes, close_alone, NULL };
