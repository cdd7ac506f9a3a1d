/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repeated paths: small graphs by hand, random ones against a recursive common table expression.
 */
#include "daemon/functions/closure/closure.h"

#define N_NODES 40

static sqlite3 *
open_store(void)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_true(qd_closure_register(db, NULL));
    g_assert_cmpint(sqlite3_exec(db,
                                 "CREATE TABLE queryd_quad(s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, "
                                 "g INTEGER NOT NULL, PRIMARY KEY(s,p,o,g)) WITHOUT ROWID;"
                                 "CREATE INDEX queryd_quad_posg ON queryd_quad(p,o,s,g);",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    return db;
}

/* All values of the first column, in order. */
static char *
query(sqlite3 *db, const char *sql)
{
    g_autoptr(GString) out = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    while (r == SQLITE_OK || r == SQLITE_ROW) {
        r = sqlite3_step(stmt);
        if (r == SQLITE_ROW)
            g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", (const char *) sqlite3_column_text(stmt, 0));
    }
    if (r != SQLITE_DONE)
        g_string_append_printf(out, "error: %s", sqlite3_errmsg(db));
    (void) sqlite3_finalize(stmt);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static void
check(sqlite3 *db, const char *sql, const char *expected)
{
    g_autofree char *result = query(db, sql);

    g_test_message("%s", sql);
    g_assert_cmpstr(result, ==, expected);
}

/* 1 → 2 → 3 → 1, 3 → 4, 2 ⇢ 5 by another predicate, and 1 → 6 in another graph. */
static void
test_small(void)
{
    sqlite3 *db = open_store();

    (void) sqlite3_exec(db,
                        "INSERT INTO queryd_quad VALUES (1,100,2,0),(2,100,3,0),(3,100,1,0),(3,100,4,0),(2,200,5,0),(1,100,6,9)",
                        NULL, NULL, NULL);
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('*', 1, 100), 0)", "1 2 3 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0)", "2 3 1 4");
    check(db, "SELECT node FROM queryd_closure(4, queryd_steps('+', 1, 100), 0)", "");
    check(db, "SELECT node FROM queryd_closure(4, queryd_steps('*', 1, 100), 0)", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('?', 1, 100), 0)", "1 2");
    check(db, "SELECT node FROM queryd_closure(4, queryd_steps('+', -1, 100), 0)", "3 2 1");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 1, 200), 0)", "2 3 5 1 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 9)", "6");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, x'00'), 0)", "");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('*', 1, 100), x'00')", "1");
    check(db, "SELECT hex(node) FROM queryd_closure(x'0102', queryd_steps('*', 1, 100), 0)", "0102");
    check(db, "SELECT node FROM queryd_closure(x'0102', queryd_steps('+', 1, 100), 0)", "");
    check(db, "SELECT node FROM queryd_closure(NULL, queryd_steps('*', 1, 100), 0)", "");
    check(db,
          "SELECT v.n || '-' || node FROM (SELECT 1 AS n UNION ALL SELECT 3) AS v "
          "CROSS JOIN queryd_closure(v.n, queryd_steps('?', 1, 100), 0)",
          "1-1 1-2 3-3 3-1 3-4");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* 1 → 2 → 3 → 4 → 5 and 2 ⇢ 6 by another predicate: links that go on from each other are one step. */
static void
test_chains(void)
{
    sqlite3 *db = open_store();

    (void) sqlite3_exec(db, "INSERT INTO queryd_quad VALUES (1,100,2,0),(2,100,3,0),(3,100,4,0),(4,100,5,0),(2,200,6,0)", NULL,
                        NULL, NULL);
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, 100), 0)", "3 5");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('*', 2, 100, 1, 100), 0)", "1 3 5");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('?', 2, 100, 1, 100), 0)", "1 3");
    check(db, "SELECT node FROM queryd_closure(5, queryd_steps('+', -2, 100, -1, 100), 0)", "3 1");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 2, 100, 1, 100), 0)", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, 200, 1, 200), 0)", "6");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 2, 200, -1, 200), 0)", "2 3 4 5");
    check(db, "SELECT node FROM queryd_closure(3, queryd_steps('+', 2, 100, -1, 100), 0)", "3");
    /* a step with a link that is not stored */
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, x'00', 1, 100), 0)", "2 3 4 5");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, x'00', 1, 100), 0)", "");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 2, 100), 0)",
          "error: queryd_closure: not the steps of a path");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* One node is looked for: the search ends where it is found. 1 → 2 → 3 → 1, 3 → 4, 5 → 6. */
static void
test_target(void)
{
    sqlite3 *db = open_store();

    (void) sqlite3_exec(db, "INSERT INTO queryd_quad VALUES (1,100,2,0),(2,100,3,0),(3,100,1,0),(3,100,4,0),(5,100,6,0)", NULL,
                        NULL, NULL);
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node=4", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node=1", "1");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node=6", "");
    check(db, "SELECT node FROM queryd_closure(4, queryd_steps('+', 1, 100), 0) WHERE node=4", "");
    check(db, "SELECT node FROM queryd_closure(4, queryd_steps('*', 1, 100), 0) WHERE node=4", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('?', 1, 100), 0) WHERE node=3", "");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('?', 1, 100), 0) WHERE node=2", "2");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, 100), 0) WHERE node=2", "2");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node=4.0", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node=NULL", "");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node BETWEEN 4 AND 4", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node BETWEEN 6 AND 6", "");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node BETWEEN 1 AND 2", "2 1");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node BETWEEN -9 AND x''", "2 3 1 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node>=4 AND node<=4.0", "4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0) WHERE node>=4 AND node<=4 AND node>=2", "4");
    check(db, "SELECT hex(node) FROM queryd_closure(x'07', queryd_steps('*', 1, 100), 0) WHERE node BETWEEN x'07' AND x'07'", "07");
    check(db, "SELECT hex(node) FROM queryd_closure(x'07', queryd_steps('*', 1, 100), 0) WHERE node=x'07'", "07");
    check(db, "SELECT node FROM queryd_closure(x'07', queryd_steps('*', 1, 100), 0) WHERE node=1", "");
    check(
        db,
        "SELECT a.n || '-' || b.n FROM (SELECT 1 AS n UNION ALL SELECT 5) AS a CROSS JOIN (SELECT 2 AS n UNION ALL SELECT 6) AS b "
        "CROSS JOIN queryd_closure(a.n, queryd_steps('+', 1, 100), 0) AS c WHERE c.node=b.n",
        "1-2 5-6");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* Instances of one class, each a step of two links from each other: what is between is looked at once for each seed. */
static void
test_hub(void)
{
    sqlite3 *db = open_store();
    gint64 start;

    (void) sqlite3_exec(db,
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) "
                        "INSERT INTO queryd_quad SELECT i,100,50000,0 FROM n",
                        NULL, NULL, NULL);
    start = g_get_monotonic_time();
    check(db, "SELECT count(*) FROM queryd_closure(1, queryd_steps('+', 2, 100, -1, 100), 0)", "20000");
    g_assert_cmpint(g_get_monotonic_time() - start, <, 5 * G_USEC_PER_SEC); /* 400 million links otherwise */
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/*
 * A chain of 2,000 nodes, of which each seed comes many times, with targets and without: what was searched from it is kept. 800,000
 * searches of some 1,000 nodes each otherwise.
 */
static void
test_seeds_come_again(void)
{
    sqlite3 *db = open_store();
    gint64 start;

    (void) sqlite3_exec(db,
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                        "INSERT INTO queryd_quad SELECT i,100,i+1,0 FROM n",
                        NULL, NULL, NULL);
    start = g_get_monotonic_time();
    check(db,
          "SELECT count(*) FROM queryd_quad AS a CROSS JOIN (SELECT s FROM queryd_quad WHERE s%50=0) AS b "
          "CROSS JOIN queryd_closure(b.s, queryd_steps('+', 1, 100), 0) AS c WHERE a.s<=400 AND c.node=a.s",
          "1400");
    check(db,
          "SELECT count(*) FROM (SELECT 1900+s%7*10 AS s, s AS n FROM queryd_quad) AS b "
          "CROSS JOIN queryd_closure(b.s, queryd_steps('*', 1, 100), 0) AS c WHERE b.n<1000 OR c.node=b.s+1",
          "72929");
    /* more nodes than are kept */
    check(db,
          "SELECT count(*) FROM (SELECT 1 AS n UNION ALL SELECT 2) AS a CROSS JOIN queryd_quad AS b "
          "CROSS JOIN queryd_closure(b.s, queryd_steps('*', 1, 100), 0) AS c",
          "4006000");
    if (g_getenv("QUERYD_SANITIZER") == NULL)
        g_assert_cmpint(g_get_monotonic_time() - start, <, 10 * G_USEC_PER_SEC);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/*
 * A chain of 20,000 nodes that ends in a circle of 100. Which nodes lead to themselves, or to the chain's first one, takes 200
 * million links if each is searched from.
 */
static void
test_circles(void)
{
    sqlite3 *db = open_store();
    gint64 start;

    (void) sqlite3_exec(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) "
        "INSERT INTO queryd_quad SELECT i,100,i+1,0 FROM n; INSERT INTO queryd_quad VALUES (20001,100,19902,0),(7,100,7,0)",
        NULL, NULL, NULL);
    start = g_get_monotonic_time();
    check(
        db,
        "SELECT count(*) FROM queryd_quad AS q CROSS JOIN queryd_closure(q.s, queryd_steps('+', 1, 100), 0) AS c WHERE c.node=q.s",
        "102"); /* 7 has two links */
    check(db,
          "SELECT count(*) FROM queryd_quad AS q CROSS JOIN queryd_closure(q.s, queryd_steps('+', 1, 100), 0) AS c WHERE c.node=1",
          "0");
    if (g_getenv("QUERYD_SANITIZER") == NULL)
        g_assert_cmpint(g_get_monotonic_time() - start, <, 2 * G_USEC_PER_SEC);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* How many nodes there are, in one row for each seed that leads to any. */
static void
test_count(void)
{
    sqlite3 *db = open_store();

    (void) sqlite3_exec(db, "INSERT INTO queryd_quad VALUES (1,100,2,0),(2,100,3,0),(3,100,1,0),(3,100,4,0),(5,100,6,0)", NULL,
                        NULL, NULL);
    check(db, "SELECT n_nodes FROM queryd_closure(1, queryd_steps('+', 1, 100), 0)", "4");
    check(db, "SELECT n_nodes FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, 100), 0)", "4");
    check(db, "SELECT n_nodes FROM queryd_closure(5, queryd_steps('*', 1, 100), 0)", "2");
    check(db, "SELECT n_nodes FROM queryd_closure(1, queryd_steps('?', 2, 100, 1, 100), 0)", "2");
    check(db, "SELECT n_nodes FROM queryd_closure(4, queryd_steps('+', 1, 100), 0)", "");
    check(db, "SELECT n_nodes FROM queryd_closure(x'07', queryd_steps('*', 1, 100), 0)", "1");
    check(db, "SELECT n_nodes FROM queryd_closure(x'07', queryd_steps('+', 1, 100), 0)", "");
    check(db, "SELECT n_nodes FROM queryd_closure(NULL, queryd_steps('+', 1, 100), 0)", "");
    check(db, "SELECT node || ' ' || ifnull(n_nodes, 'none') FROM queryd_closure(5, queryd_steps('+', 1, 100), 0)", "6 none");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* Only some nodes are rows: those with a link, or without one. 1 → 2 → 3 → 1, 3 → 4, 2 ⇢ 5 and 4 ⇢ 6 by another predicate. */
static void
test_conditions(void)
{
    sqlite3 *db = open_store();

    (void) sqlite3_exec(
        db, "INSERT INTO queryd_quad VALUES (1,100,2,0),(2,100,3,0),(3,100,1,0),(3,100,4,0),(2,200,5,0),(4,200,6,0),(1,200,5,9)",
        NULL, NULL, NULL);
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 3, 200), 0)", "2 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('*', 1, 100, 4, 200), 0)", "1 3");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 3, 200, 5, 5), 0)", "2");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 4, 200, 5, 5), 0)", "3 1 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, -3, 100, 5, 3), 0)", "1 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('*', 1, 100, -3, 100, 3, 200), 0)", "2 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, 100, 4, 200), 0)", "3 1");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('?', 1, 100, 4, 200), 0)", "1");
    check(db, "SELECT n_nodes FROM queryd_closure(1, queryd_steps('+', 1, 100, 3, 200), 0)", "2");
    /* of what is not stored there is no link */
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 3, x'00'), 0)", "");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 4, 200, 5, x'00'), 0)", "2 3 1 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 2, 100, 1, x'00', 1, 100, 3, 200), 0)", "2 4");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 3, 100, 1, 100), 0)",
          "error: queryd_closure: not the steps of a path");
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100, 5, 100), 0)",
          "error: queryd_closure: not the steps of a path");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/*
 * Each EXISTS has a cursor of its own: what was read stays for the next one. From each node of a chain of 2,000 whose end is asked
 * for it would be read again, two million links. What changes in between is seen.
 */
static void
test_exists(void)
{
    sqlite3 *db = open_store();
    gint64 start;

    (void) sqlite3_exec(db,
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                        "INSERT INTO queryd_quad SELECT i,100,i+1,0 FROM n",
                        NULL, NULL, NULL);
    start = g_get_monotonic_time();
    check(db,
          "SELECT count(*) FROM queryd_quad AS q WHERE EXISTS(SELECT 1 FROM queryd_closure(q.s, queryd_steps('+', 1, 100, -4, "
          "100), 0))",
          "0");
    if (g_getenv("QUERYD_SANITIZER") == NULL)
        g_assert_cmpint(g_get_monotonic_time() - start, <, G_USEC_PER_SEC / 2);
    (void) sqlite3_exec(db, "INSERT INTO queryd_quad VALUES (7,100,9000,0); DELETE FROM queryd_quad WHERE s=10", NULL, NULL, NULL);
    check(db, "SELECT count(*) FROM queryd_closure(5, queryd_steps('+', 1, 100), 0)", "6");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
test_hostile(void)
{
    sqlite3 *db = open_store();

    check(db, "SELECT node FROM queryd_closure(1, NULL, 0)", "error: queryd_closure: not the steps of a path");
    check(db, "SELECT node FROM queryd_closure(1, x'2b01', 0)", "error: queryd_closure: not the steps of a path");
    check(db, "SELECT node FROM queryd_closure(1, zeroblob(100000), 0)", "error: queryd_closure: not the steps of a path");
    check(db, "SELECT node FROM queryd_closure(1, 'x', 0)", "error: queryd_closure: not the steps of a path");
    check(db, "SELECT queryd_steps()", "error: queryd_steps: a kind, then pairs of direction and predicate");
    check(db, "SELECT queryd_steps('*', 1)", "error: queryd_steps: a kind, then pairs of direction and predicate");
    check(db, "SELECT node FROM queryd_closure", "error: no query solution");
    (void) sqlite3_exec(db, "DROP TABLE queryd_quad", NULL, NULL, NULL);
    check(db, "SELECT node FROM queryd_closure(1, queryd_steps('+', 1, 100), 0)", "error: no such table: queryd_quad");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* A step as arguments of queryd_steps(), and as pairs x, y. */
typedef struct Step {
    const char *links;
    const char *pairs;
} Step;

static const Step steps[] = {
    { "1, 1000, -1, 2000",
      "SELECT s AS x, o AS y FROM queryd_quad WHERE p=1000 AND g=0 UNION SELECT o, s FROM queryd_quad WHERE p=2000 AND g=0" },
    { "2, 1000, -1, 2000",
      "SELECT a.s AS x, b.s AS y FROM queryd_quad AS a JOIN queryd_quad AS b ON b.o=a.o WHERE a.p=1000 AND a.g=0 AND b.p=2000 AND "
      "b.g=0" },
    { "2, 1000, 2, 2000, 1, 1000, -1, 2000",
      "SELECT a.s AS x, c.o AS y FROM queryd_quad AS a JOIN queryd_quad AS b ON b.s=a.o JOIN queryd_quad AS c ON c.s=b.o WHERE "
      "a.p=1000 AND a.g=0 AND b.p=2000 AND b.g=0 AND c.p=1000 AND c.g=0 UNION SELECT o, s FROM queryd_quad WHERE p=2000 AND g=0" },
};

#define NODES "(SELECT s AS n FROM queryd_quad UNION SELECT o FROM queryd_quad) AS n"

static void
check_random(sqlite3 *db, char kind, const Step *step)
{
    g_autofree char *closure = g_strdup_printf("SELECT a || '-' || b FROM (SELECT DISTINCT n.n AS a, c.node AS b FROM " NODES
                                               " CROSS JOIN queryd_closure(n.n, queryd_steps('%c', %s), 0) AS c) ORDER BY a, b",
                                               kind, step->links);
    g_autofree char *count = g_strdup_printf("SELECT count(*) = count(DISTINCT n.n * 1000 + c.node) FROM " NODES
                                             " CROSS JOIN queryd_closure(n.n, queryd_steps('%c', %s), 0) AS c",
                                             kind, step->links);
    g_autofree char *recursive = g_strdup_printf(
        "WITH RECURSIVE e(x, y) AS (%s), r(a, b) AS (%s UNION SELECT r.a, e.y FROM r JOIN e ON e.x=r.b) "
        "SELECT a || '-' || b FROM r ORDER BY a, b",
        step->pairs, kind == '*' ? "SELECT s, s FROM queryd_quad UNION SELECT o, o FROM queryd_quad" : "SELECT x, y FROM e");
    /* each pair by itself: circles decide many */
    g_autofree char *targets = g_strdup_printf("SELECT a.n || '-' || b.n FROM (SELECT * FROM " NODES
                                               ") AS a CROSS JOIN (SELECT * FROM " NODES
                                               ") AS b CROSS JOIN queryd_closure(a.n, queryd_steps('%c', %s), 0) AS c "
                                               "WHERE c.node=b.n ORDER BY a.n, b.n",
                                               kind, step->links);
    g_autofree char *sums = g_strdup_printf("SELECT count(*)=0 FROM (SELECT n.n, c.n_nodes FROM " NODES
                                            " CROSS JOIN queryd_closure(n.n, queryd_steps('%c', %s), 0) AS c EXCEPT "
                                            "SELECT n.n, count(c.node) FROM " NODES
                                            " CROSS JOIN queryd_closure(n.n, queryd_steps('%c', %s), 0) AS c GROUP BY n.n)",
                                            kind, step->links, kind, step->links);
    g_autofree char *expected = query(db, recursive);

    check(db, closure, expected);
    check(db, count, "1");
    check(db, targets, expected);
    check(db, sums, "1");
}

/* The same pairs as a recursion over pairs, for each kind and step. */
static void
test_random(void)
{
    for (guint round = 0; round < 120; round++) {
        sqlite3 *db = open_store();

        for (gint i = g_test_rand_int_range(1, 80); i > 0; i--) {
            g_autofree char *insert = g_strdup_printf("INSERT OR IGNORE INTO queryd_quad VALUES (%d,%d,%d,%d)",
                                                      g_test_rand_int_range(1, N_NODES),
                                                      g_test_rand_int_range(0, 2) == 0 ? 1000 : 2000,
                                                      g_test_rand_int_range(1, N_NODES), g_test_rand_int_range(0, 4) == 0 ? 7 : 0);

            g_assert_cmpint(sqlite3_exec(db, insert, NULL, NULL, NULL), ==, SQLITE_OK);
        }
        check_random(db, "*+"[round % 2], &steps[round / 2 % G_N_ELEMENTS(steps)]);
        g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/closure/small", test_small);
    g_test_add_func("/functions/closure/chains", test_chains);
    g_test_add_func("/functions/closure/target", test_target);
    g_test_add_func("/functions/closure/hub", test_hub);
    g_test_add_func("/functions/closure/seeds-come-again", test_seeds_come_again);
    g_test_add_func("/functions/closure/circles", test_circles);
    g_test_add_func("/functions/closure/count", test_count);
    g_test_add_func("/functions/closure/conditions", test_conditions);
    g_test_add_func("/functions/closure/exists", test_exists);
    g_test_add_func("/functions/closure/hostile", test_hostile);
    g_test_add_func("/functions/closure/random", test_random);
    return g_test_run();
}
