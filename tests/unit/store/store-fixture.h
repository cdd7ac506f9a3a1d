/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store in a folder of its own, for the tests of all rooms from sqlite to engine.
 *
 * Place: tests. Real SQLite, real files; all of them are removed.
 */
#pragma once

#include "daemon/store/database.h"

typedef struct StoreFixture {
    char *dir;
    QdLimits limits;
    QdDatabase *database;
    QdConnection *writer; /* (nullable): stolen from @database */
} StoreFixture;

/* The store is open for writing afterwards. For g_test_add(). */
void store_fixture_set_up(StoreFixture *self, gconstpointer data);
void store_fixture_tear_down(StoreFixture *self, gconstpointer data);

void store_fixture_open(StoreFixture *self);
void store_fixture_close(StoreFixture *self);
QdConnection *store_fixture_open_reader(StoreFixture *self);

/* Our own statements, which must succeed. */
void store_execute(QdConnection *connection, const char *sql);
gint64 store_get_int64(QdConnection *connection, const char *sql);

/* Compiles a client's statement; NULL with @error. */
QdCompiled *store_compile(StoreFixture *self, QdConnection *connection, const char *text, QdPolicy policy, GError **error);

/* What is in a folder below @dir, which need not exist. */
guint store_count_files(const char *dir, const char *folder);

/* Whether the file system of @dir can do what it takes to take a payload's file over. */
gboolean store_can_adopt(const char *dir);

/* Removes a folder and what is in it. */
void store_remove_folder(const char *dir);

/* Runs @func in a process of another user, as root may write everywhere. Skips the test where that cannot be, or @path not reached.
 */
void store_run_as_other_user(const char *path, void (*func)(gpointer data), gpointer data);

/* An error of QD_ERROR with this code, whose message contains @words. */
void store_assert_error(const GError *error, QwError code, const char *words);
