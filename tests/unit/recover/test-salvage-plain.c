/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Definitions that call what is not ours: the rows come through, and the report counts and names what was left out.
 */
#include <string.h>

#include "tests/unit/recover/salvage-fixture.h"

#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000) "

static void
be_first(sqlite3_context *context, int n, sqlite3_value **values)
{
    sqlite3_result_value(context, values[0]);
}

static int
collate(void *data, int n_a, const void *a, int n_b, const void *b)
{
    return n_a != n_b ? n_a - n_b : memcmp(a, b, (gsize) n_a);
}

/* As a program with functions of its own does it. */
static void
execute_as_third_program(SalvageFixture *self, const char *sql)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(self->source, &db), ==, SQLITE_OK);
    (void) sqlite3_create_function(db, "theirs", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, be_first, NULL, NULL);
    (void) sqlite3_create_collation(db, "their_order", SQLITE_UTF8, NULL, collate);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    (void) sqlite3_close(db);
}

static void
test_check(SalvageFixture *self, gconstpointer data)
{
    execute_as_third_program(self,
                             "CREATE TABLE \"odd \"\" name\"(id INTEGER PRIMARY KEY, \"a \"\"b\" TEXT NOT NULL COLLATE NOCASE,"
                             " c DEFAULT (1+1), d VARCHAR(20) UNIQUE, CHECK(theirs(c)>0));"
                             "CREATE TABLE other(x)");
    execute_as_third_program(self, NUMBERS "INSERT INTO \"odd \"\" name\" SELECT i, 'T' || i, i, 'd' || i FROM n");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM \"odd \"\" name\" WHERE \"a \"\"b\"='t' || id AND c=id"), ==,
                    1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM pragma_table_xinfo('odd \" name') WHERE (name='d' AND"
                                              " type='VARCHAR(20)') OR (\"notnull\" AND name='a \"b') OR dflt_value='1+1' OR pk"),
                    ==, 4);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM pragma_index_list('odd \" name') WHERE \"unique\""), ==, 1);
    g_assert_cmpuint(self->report->n_rows, ==, 1000);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
    g_assert_cmpuint(self->report->n_left_out, ==, 1);
    g_assert_true(salvage_fixture_is_reported(self, "1 definitions could not be made"));
    g_assert_true(salvage_fixture_is_reported(self, "'odd \" name' is made without its CHECK constraints and generated columns"));
    g_assert_true(salvage_fixture_is_reported(self, "theirs"));
}

static void
test_generated(SalvageFixture *self, gconstpointer data)
{
    execute_as_third_program(self, "CREATE TABLE p(x PRIMARY KEY, y, UNIQUE(y, x)); INSERT INTO p VALUES(1, 2);"
                                   "CREATE TABLE g(v AS (theirs(a)) VIRTUAL, a INT, s INT AS (theirs(a)+1) STORED, b REFERENCES p,"
                                   " FOREIGN KEY(a, b) REFERENCES p(y, x) ON DELETE CASCADE);"
                                   "CREATE TABLE w(v AS (theirs(k)), x, s AS (theirs(x)) STORED, k TEXT, PRIMARY KEY(k, x))"
                                   " WITHOUT ROWID;"
                                   "CREATE TABLE d(k INTEGER PRIMARY KEY DESC, x CHECK(theirs(x)))");
    execute_as_third_program(self, NUMBERS "INSERT INTO g(a, b) SELECT i, 'b' || i FROM n;"
                                           "INSERT INTO w(k, x) SELECT 'k' || a, a FROM g;"
                                           "INSERT INTO d(rowid, k, x) VALUES(5, 6, 7)");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM g WHERE s=a+1 AND b='b' || a"), ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM pragma_foreign_key_list('g')"), ==, 3);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM w WHERE s=x AND k='k' || x"), ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT wr FROM pragma_table_list('w')"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM d WHERE rowid=5 AND k=6 AND x=7"), ==, 1);
    g_assert_cmpuint(self->report->n_left_out, ==, 5); /* three tables, and two columns that are computed where they are read */
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
}

/* What can be said without the functions stays. */
static void
test_kept(SalvageFixture *self, gconstpointer data)
{
    execute_as_third_program(self,
                             "CREATE TABLE \"a t\"(\"the id\" INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT, CHECK(theirs(b)<>''));"
                             "CREATE TABLE s(a INT, b ANY CHECK(theirs(b)>0)) STRICT;"
                             "CREATE TABLE w(a INT PRIMARY KEY, b INT CHECK(theirs(b)>0)) WITHOUT ROWID, STRICT;"
                             "CREATE TABLE v(a, twice AS (a+a), b CHECK(theirs(b)>0), once AS (theirs(a)))");
    execute_as_third_program(self, NUMBERS "INSERT INTO \"a t\"(b) SELECT 't' || i FROM n; DELETE FROM \"a t\" WHERE b='t1000';"
                                           "INSERT INTO s VALUES(1, 2), (3, 4); INSERT INTO w SELECT * FROM s;"
                                           "INSERT INTO v(a, b) VALUES(1, 1)");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM \"a t\" WHERE b='t' || \"the id\""), ==, 999);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT seq FROM sqlite_sequence WHERE name='a t'"), ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM pragma_table_list WHERE name IN ('s', 'w') AND strict"), ==, 2);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT wr FROM pragma_table_list('w')"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM w JOIN s USING(a, b)"), ==, 2);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
    g_assert_cmpuint(self->report->n_left_out, ==, 6);
    g_assert_true(salvage_fixture_is_reported(self, "column 'twice' of table 'v', computed where it is read, is lost"));
    g_assert_true(salvage_fixture_is_reported(self, "column 'once' of table 'v', computed where it is read, is lost"));
}

/* A name after DEFAULT is a string; only there. */
static void
test_defaults(SalvageFixture *self, gconstpointer data)
{
    static const char *const values[] = { "'bare'", "'d \"\"d'", "'true'", "1", "'s'", "-1", "2", "x'07'", "'c'" };

    execute_as_third_program(self,
                             "CREATE TABLE t(a CHECK(theirs(a)), v0 DEFAULT bare, v1 DEFAULT \"d \"\"\"\"d\","
                             " v2 DEFAULT \"true\", v3 DEFAULT true, v4 DEFAULT 's', v5 DEFAULT -1, v6 DEFAULT (1 + 1 -- two\n),"
                             " v7 DEFAULT x'07', v8 DEFAULT ('c' COLLATE NOCASE) NOT NULL, v9 DEFAULT (1 NOT NULL),"
                             " v10 DEFAULT (theirs(1)), v11 DEFAULT current_date);"
                             "INSERT INTO t(a, v9) VALUES(1, NULL)");
    salvage_fixture_run(self);
    g_assert_cmpint(sqlite3_exec(self->after, "INSERT INTO t(a, v9, v10) VALUES(2, NULL, 1)", NULL, NULL, NULL), ==, SQLITE_OK);
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM t WHERE v%u IS %s", i, values[i]);

        g_assert_cmpint(salvage_fixture_ask(self, sql), ==, 2);
    }
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM t WHERE length(v11)=10 AND v9 IS NULL"), ==, 2);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
    g_assert_cmpuint(self->report->n_left_out, ==, 1);
}

/* A key compares as it did, and one of a column that is lost is left out with it. */
static void
test_keys(SalvageFixture *self, gconstpointer data)
{
    execute_as_third_program(self, "CREATE TABLE p(x PRIMARY KEY);"
                                   "CREATE TABLE t(a TEXT COLLATE NOCASE CHECK(theirs(a)<>''), b TEXT, UNIQUE(a COLLATE BINARY, b),"
                                   " UNIQUE(b COLLATE their_order));"
                                   "CREATE TABLE f(a CHECK(theirs(a)), v AS (a) REFERENCES p, s AS (a) STORED REFERENCES p);"
                                   "INSERT INTO t VALUES('A', 'x'), ('a', 'X'), ('a', 'y'); INSERT INTO f VALUES(1)");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM t"), ==, 3);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM f WHERE a=1 AND s=1"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM pragma_foreign_key_list('f')"), ==, 1);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
}

static void
test_index(SalvageFixture *self, gconstpointer data)
{
    execute_as_third_program(self, "CREATE TABLE t(a, b); CREATE INDEX by_call ON t(theirs(a));"
                                   "CREATE INDEX in_part ON t(b) WHERE theirs(a); CREATE INDEX plain ON t(a);"
                                   "CREATE INDEX ordered ON t(a COLLATE their_order);"
                                   "CREATE VIEW v AS SELECT theirs(a) FROM t;"
                                   "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT theirs(1); END;"
                                   "CREATE TABLE c(a TEXT COLLATE their_order PRIMARY KEY, b COLLATE RTRIM) WITHOUT ROWID;"
                                   "INSERT INTO c VALUES('x', 'y'), ('z', 'a')");
    execute_as_third_program(self, NUMBERS "INSERT INTO t SELECT i, i FROM n");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM t WHERE a=b"), ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM c WHERE (a, b) IN (('x', 'y '), ('z', 'a'))"), ==, 2);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM sqlite_schema WHERE name IN ('plain', 'v', 'g')"), ==, 3);
    g_assert_cmpuint(self->report->n_left_out, ==, 4);
    g_assert_true(salvage_fixture_is_reported(self, "index 'by_call' is lost"));
    g_assert_true(salvage_fixture_is_reported(self, "index 'in_part' is lost"));
}

/* Rows with rowids tell how many columns they have. */
static void
test_unreadable(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE t(a, id INTEGER PRIMARY KEY, b); CREATE TABLE empty(a);"
                                  "CREATE INDEX i ON t(b); ALTER TABLE t ADD COLUMN late");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO t SELECT 'a' || i, i + 7, i, NULL FROM n");
    salvage_fixture_execute(self, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE ' || name || '('"
                                  " WHERE type='table'");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM t WHERE c1='a' || c3 AND c2 IS NULL AND rowid=c3+7"), ==, 1000);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
    g_assert_cmpuint(self->report->n_left_out, ==, 3);
    g_assert_true(salvage_fixture_is_reported(self, "the columns of table 't' are not known, they are c1 to c4"));
    g_assert_true(salvage_fixture_is_reported(self, "table 'empty' is lost"));
    g_assert_true(salvage_fixture_is_reported(self, "index 'i' is lost"));
}

/* A text that does more than to create a table is not run. */
static void
test_lost_rows_are_counted(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE t(a); CREATE TABLE kept(a); INSERT INTO kept VALUES(1)");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO t SELECT i FROM n");
    salvage_fixture_execute(self,
                            "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE t(a); SELECT 1' WHERE name='t'");
    salvage_fixture_run(self);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 1000);
    g_assert_cmpuint(self->report->n_left_out, ==, 1);
    g_assert_true(salvage_fixture_is_reported(self, "table 't' is lost"));
}

int
main(int argc, char *argv[])
{
    static const struct {
        const char *path;
        void (*test)(SalvageFixture *, gconstpointer);
    } tests[] = {
        { "/recover/salvage-plain/check", test_check },
        { "/recover/salvage-plain/defaults", test_defaults },
        { "/recover/salvage-plain/generated", test_generated },
        { "/recover/salvage-plain/index", test_index },
        { "/recover/salvage-plain/kept", test_kept },
        { "/recover/salvage-plain/keys", test_keys },
        { "/recover/salvage-plain/lost-rows-are-counted", test_lost_rows_are_counted },
        { "/recover/salvage-plain/unreadable", test_unreadable },
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, SalvageFixture, NULL, salvage_fixture_set_up, tests[i].test, salvage_fixture_tear_down);
    return g_test_run();
}
