/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of each kind of table come through a salvage as they were, short records with their defaults. What a constraint refuses
 * is counted and no row.
 */
#include "tests/unit/recover/salvage-fixture.h"

#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000) "

/* A record that is older than a column ends before it, in a table of either kind. */
static void
test_added_columns(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self,
                            "CREATE TABLE rowids(a, b); CREATE TABLE keys(b INT, a TEXT, c, PRIMARY KEY(a, b)) WITHOUT ROWID");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO rowids SELECT i, 'b' || i FROM n");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO keys SELECT i, 'a' || i, i*2 FROM n");
    salvage_fixture_execute(self, "ALTER TABLE rowids ADD COLUMN late DEFAULT 'default';"
                                  "ALTER TABLE keys ADD COLUMN late NOT NULL DEFAULT 7; ALTER TABLE keys ADD COLUMN last;"
                                  "INSERT INTO rowids VALUES(0, 0, 'own'); INSERT INTO keys VALUES(0, 'a0', 0, 8, 'own')");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM rowids WHERE b='b' || a AND late='default'"), ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM rowids WHERE late='own'"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM keys WHERE a='a' || b AND c=2*b AND late=7 AND last IS NULL"),
                    ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM keys WHERE late=8 AND last='own'"), ==, 1);
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
}

static void
test_generated_columns(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE g(v AS (a*2) VIRTUAL, a INT, s INT AS (a*3) STORED, b);"
                                  "CREATE TABLE w(v AS (k+1) VIRTUAL, x, s AS (k+x) STORED, k INTEGER PRIMARY KEY) WITHOUT ROWID");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO g(a, b) SELECT i, 'b' || i FROM n");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO w(k, x) SELECT i, i*10 FROM n");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM g WHERE v=2*a AND s=3*a AND b='b' || a"), ==, 1000);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM w WHERE v=k+1 AND x=10*k AND s=11*k"), ==, 1000);
}

/* The rowid is a column, has a name of its own, or has none because columns took them all. */
static void
test_rowids(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self,
                            "CREATE TABLE alias(a, id INTEGER PRIMARY KEY); CREATE TABLE taken(rowid, oid);"
                            "CREATE TABLE all_taken(rowid, oid, _rowid_); CREATE TABLE no_alias(id INTEGER PRIMARY KEY DESC, a);"
                            "INSERT INTO alias VALUES('x', 7), ('y', -9000000000);"
                            "INSERT INTO taken(_rowid_, rowid, oid) VALUES(77, 'r', 'o');"
                            "INSERT INTO all_taken VALUES(1, 2, 3); INSERT INTO no_alias(rowid, id, a) VALUES(5, 6, 'a')");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM alias WHERE (a, id) IN (('x', 7), ('y', -9000000000))"), ==, 2);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM taken WHERE _rowid_=77 AND rowid='r' AND oid='o'"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM all_taken WHERE rowid=1 AND oid=2 AND _rowid_=3"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM no_alias WHERE rowid=5 AND id=6 AND a='a'"), ==, 1);
}

static void
test_values(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE v(id INTEGER PRIMARY KEY, x);"
                                  "INSERT INTO v(x) VALUES(NULL), (0), (1), (-1), (-129), (32768), (-8388609), (2147483648),"
                                  " (-140737488355329), (9223372036854775807), (-9223372036854775808), (0.5), (-1e308), (9e999),"
                                  " (''), (x''), ('a' || char(0) || 'b'), (x'00ff00'), ('ä漢🂡'), (zeroblob(100000));"
                                  "CREATE TABLE t(id INTEGER PRIMARY KEY, type, text)");
    salvage_fixture_execute(self, "INSERT INTO t SELECT id, typeof(x), quote(x) FROM v");
    salvage_fixture_run(self);
    g_assert_cmpint(
        salvage_fixture_ask(self, "SELECT count(*) FROM v JOIN t USING(id) WHERE typeof(x)=type AND quote(x)=text AND id<=20"), ==,
        20);
}

/* What stands in the header of the encoding is put right by the schema, whose texts say "table". */
static void
test_encodings(SalvageFixture *self, gconstpointer data)
{
    const char *encoding = data;
    g_autofree char *pragma = g_strdup_printf("PRAGMA encoding='%s'; CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID", encoding);
    g_autofree char *bytes = NULL;
    gsize n_bytes = 0;

    salvage_fixture_execute(self, pragma);
    salvage_fixture_execute(self, NUMBERS "INSERT INTO t SELECT 'ä🂡' || i, i FROM n");
    for (char wrong = 0; wrong <= 4; wrong++) {
        g_clear_pointer(&bytes, g_free);
        g_assert_true(g_file_get_contents(self->source, &bytes, &n_bytes, NULL));
        bytes[59] = wrong;
        g_assert_true(g_file_set_contents(self->source, bytes, (gssize) n_bytes, NULL));
        salvage_fixture_run(self);
        g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM t WHERE a='ä🂡' || b"), ==, 1000);
    }
}

/* The schema is not the one that the rows were written under, as damage to its text may have it. */
static void
test_refused_rows(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE checked(a); CREATE TABLE longer(a, b, c); CREATE TABLE strict_one(a)");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO checked SELECT i FROM n");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO strict_one SELECT iif(i%4, i, 'no number ' || i) FROM n");
    salvage_fixture_execute(self, "INSERT INTO longer VALUES(1, 2, 3), (4, 5, 6); PRAGMA writable_schema=ON;"
                                  "UPDATE sqlite_schema SET sql='CREATE TABLE checked(a CHECK(a%10))' WHERE name='checked';"
                                  "UPDATE sqlite_schema SET sql='CREATE TABLE longer(a, b)' WHERE name='longer';"
                                  "UPDATE sqlite_schema SET sql='CREATE TABLE strict_one(a INT) STRICT' WHERE name='strict_one'");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM checked"), ==, 900);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM strict_one"), ==, 750);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM longer"), ==, 0);
    g_assert_true(salvage_fixture_is_reported(self, "table 'checked': 900 rows; 100 rows refused"));
    g_assert_true(salvage_fixture_is_reported(self, "table 'strict_one': 750 rows; 250 rows refused"));
    g_assert_true(salvage_fixture_is_reported(self, "table 'longer': 0 rows; 2 rows lost"));
    g_assert_cmpuint(self->report->n_lost_rows, ==, 352);
}

/* A payload that goes on elsewhere is lost with any of its pages, and takes no other row with it. */
static void
test_overflow(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE big(id INTEGER PRIMARY KEY, x)");
    salvage_fixture_execute(self, NUMBERS "INSERT INTO big SELECT i, zeroblob(20000+i) FROM n WHERE i<=40");
    salvage_fixture_lose_page(self, "SELECT pageno FROM dbstat WHERE name='big' AND pagetype='overflow' LIMIT 1 OFFSET 33");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM big WHERE length(x)=20000+id"), ==, 39);
    g_assert_true(salvage_fixture_is_reported(self, "table 'big': 39 rows; 1 rows lost"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) \
    g_test_add("/recover/salvage-table/" path, SalvageFixture, data, salvage_fixture_set_up, func, salvage_fixture_tear_down)
    ADD("added-columns", NULL, test_added_columns);
    ADD("generated-columns", NULL, test_generated_columns);
    ADD("rowids", NULL, test_rowids);
    ADD("values", NULL, test_values);
    ADD("utf-8", "UTF-8", test_encodings);
    ADD("utf-16le", "UTF-16le", test_encodings);
    ADD("utf-16be", "UTF-16be", test_encodings);
    ADD("refused-rows", NULL, test_refused_rows);
    ADD("overflow", NULL, test_overflow);
    return g_test_run();
}
