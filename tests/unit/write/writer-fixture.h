/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer with its workers on a store, and the members of its groups, for the tests of it.
 *
 * Place: tests. A group is made by holding the writer's role with a job while its members are queued: no test depends on
 * timing. Every acknowledgement looks at the file through a connection of its own: what is acknowledged is there.
 */
#pragma once

#include "daemon/runtime/registry.h"
#include "daemon/write/writer.h"
#include "tests/unit/store/store-fixture.h"
#include "tests/unit/write/hand-over.h"

typedef struct WriterFixture {
    StoreFixture store;
    QdWorkers *workers;
    QdWriter *writer;
    QdPool *pool;
    QdRegistry *registry;
    QdWriterLinger linger; /* those of `late` that have not come */
    QdConnection *reader;
    GPtrArray *members; /* of WriterMember */
    HandOver *done;     /* of WriterMember */
    HandOver *started;  /* the job holds the role */
    HandOver *go;       /* the job may end */
    GPtrArray *late;    /* of WriterMember: those who write again while they are waited for, one at each look */
    guint n_left;       /* so often the waiting ended before all of them had come */
    GPtrArray *commits; /* of char*: "GENERATION-START: TABLES" of each commit */
} WriterFixture;

typedef struct WriterMember {
    WriterFixture *fixture;
    QdWriteItem item;
    char *probe;        /* (nullable) what to ask when it is acknowledged */
    gint64 probe_value; /* and what was the answer */
    gint64 synchronous; /* of the writer's connection then */
    gint cancelled;
} WriterMember;

/* The tables t(a UNIQUE), r(a UNIQUE ON CONFLICT ROLLBACK) and l(a) are there. For g_test_add(). */
void writer_fixture_set_up(WriterFixture *self, gconstpointer data);
void writer_fixture_tear_down(WriterFixture *self, gconstpointer data);

/* Added to the members; not submitted. */
WriterMember *writer_add_member(WriterFixture *self, const char *text);
/* Asks for the count of rows @a of @table when the member is acknowledged. */
WriterMember *writer_add_insert(WriterFixture *self, const char *table, int a);
void writer_add_statement(WriterMember *member, const char *text);

/* All members in one group; returns when the last was acknowledged. */
void writer_run_group(WriterFixture *self);
/* The same; @sweep is called when all wait for the role. */
void writer_run_group_after(WriterFixture *self, gboolean (*sweep)(QdWriter *writer));
/* The main function of a thread: a job that has the role from `started` to `go`. */
gpointer writer_hold_role(gpointer data);

/* Acknowledged without an error, and durable by then. */
void writer_assert_committed(const WriterMember *member);
void writer_assert_failed(const WriterMember *member, QwError code, const char *words);
void writer_assert_commits(const WriterFixture *self, const char *expected);
gint64 writer_count(WriterFixture *self, const char *table);
