/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of the room results share: sets of names, and commits of another program.
 *
 * Place: tests of the room results.
 */
#pragma once

#include <string.h>

#include "daemon/notify/read-set.h"
#include "tests/unit/store/store-fixture.h"

/* @names: apart by spaces; "*": all */
static inline void
add_names(QdNameSet *set, const char *names)
{
    g_auto(GStrv) parts = g_strsplit(names, " ", -1);

    for (char **part = parts; *part != NULL; part++) {
        if (g_str_equal(*part, "*"))
            qd_name_set_make_all(set);
        else if (**part != '\0')
            qd_name_set_add(set, *part, strlen(*part));
    }
}

static inline QdReadSet *
make_reads(gboolean is_sparql, const char *names)
{
    QdReadSet *reads = qd_read_set_new_all(is_sparql);

    qd_name_set_clear(reads->tables);
    qd_name_set_clear(reads->predicates);
    add_names(is_sparql ? reads->predicates : reads->tables, names);
    return reads;
}

/* @tables, @predicates: as above; with a predicate the default graph has changed, too. */
static inline QdChanges *
make_changes(const char *tables, const char *predicates)
{
    QdChanges *changes = qd_changes_new();

    add_names(changes->tables, tables);
    add_names(changes->predicates, predicates);
    if (predicates[0] != '\0')
        qd_name_set_add(changes->graphs, "", 0);
    return changes;
}

/* A connection that is none of the daemon's; it stays open. */
static inline sqlite3 *
open_elsewhere(const StoreFixture *store)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(qd_database_get_path(store->database), &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_busy_timeout(db, 10000), ==, SQLITE_OK);
    return db;
}

static inline void
execute_elsewhere(sqlite3 *db, const char *sql)
{
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}
