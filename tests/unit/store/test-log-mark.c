/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/log-mark.h"

#include <sqlite3.h>
#include <string.h>

#include "tests/unit/store/store-fixture.h"

static void
test_commits(void)
{
    g_autofree char *dir = g_dir_make_tmp("queryd-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "t.db", NULL);
    QdLogMark before, after;
    sqlite3 *db = NULL;

    g_assert_false(qd_log_mark_read(path).is_known);
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "PRAGMA journal_mode=wal; CREATE TABLE t(a)", NULL, NULL, NULL), ==, SQLITE_OK);
    before = qd_log_mark_read(path);
    g_assert_true(before.is_known);

    g_assert_cmpint(sqlite3_exec(db, "SELECT * FROM t; BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL), ==, SQLITE_OK);
    after = qd_log_mark_read(path);
    g_assert_cmpmem(after.bytes, sizeof after.bytes, before.bytes, sizeof before.bytes);

    g_assert_cmpint(sqlite3_exec(db, "INSERT INTO t VALUES(1)", NULL, NULL, NULL), ==, SQLITE_OK);
    after = qd_log_mark_read(path);
    g_assert_true(after.is_known);
    g_assert_cmpint(memcmp(after.bytes, before.bytes, sizeof after.bytes), !=, 0);

    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    store_remove_folder(dir);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store/log-mark/commits", test_commits);
    return g_test_run();
}
