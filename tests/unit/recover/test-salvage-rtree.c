/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * R-trees after damage to any of the tables that they lie in. Each row that a scan gives is found by its id and by its place.
 */
#include <unistd.h>

#include "tests/unit/recover/salvage-fixture.h"

#define N_ROWS 3000
#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" G_STRINGIFY(N_ROWS) ") "
#define WITH_OTHERS "CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1, +name, +data)"

static void
fill(SalvageFixture *self, const char *create)
{
    salvage_fixture_execute(self, create);
    salvage_fixture_execute(self, NUMBERS "INSERT INTO box(id, x0, x1, y0, y1) SELECT i, i%60, i%60+1, i/60, i/60+2 FROM n");
    if (g_str_equal(create, WITH_OTHERS))
        salvage_fixture_execute(self, "UPDATE box SET name='name of ' || id, data=iif(id%2, x'00ff', id)");
}

/* A row is what it was, and is found in each way; the tree takes changes. Returns: how many rows there are */
static gint64
assert_fits(SalvageFixture *self)
{
    gint64 n_rows = salvage_fixture_ask(self, "SELECT count(*) FROM box");

    g_assert_cmpint(salvage_fixture_ask(self, "SELECT rtreecheck('main', 'box')='ok'"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM box WHERE x0=id%60 AND x1=id%60+1 AND y0=id/60 AND y1=id/60+2"),
                    ==, n_rows);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM (SELECT id FROM box LIMIT -1) a JOIN box b ON b.id=a.id"), ==,
                    n_rows);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM box WHERE x0>=-9 AND x1<=99 AND y0>=-9 AND y1<=99"), ==,
                    n_rows);
    g_assert_cmpint(sqlite3_exec(self->after,
                                 "DELETE FROM box WHERE id%2; INSERT INTO box(id, x0, x1, y0, y1) VALUES(-5, 1, 2, 3, 4);"
                                 "UPDATE box SET x1=70 WHERE id%3=0",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT rtreecheck('main', 'box')='ok'"), ==, 1);
    return n_rows;
}

static void
test_whole(SalvageFixture *self, gconstpointer data)
{
    fill(self, data);
    salvage_fixture_run(self);
    g_assert_false(salvage_fixture_is_reported(self, "was damaged"));
    g_assert_false(salvage_fixture_is_reported(self, "auxiliary"));
    g_assert_cmpuint(self->report->n_lost_rows, ==, 0);
    if (g_str_equal(data, WITH_OTHERS))
        g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM box WHERE name='name of ' || id AND"
                                                  " data IS iif(id%2, x'00ff', id)"),
                        ==, N_ROWS);
    g_assert_cmpint(assert_fits(self), ==, N_ROWS);
}

/* Pages of the one table, the lowest of its tree. Rows are lost with pages of nodes only. */
static void
test_lost_pages(SalvageFixture *self, gconstpointer data)
{
    static const char *const suffixes[] = { "node", "rowid", "parent" };

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        for (guint skip = 0; skip < 2; skip++) {
            g_autofree char *page = g_strdup_printf(
                "SELECT pageno FROM dbstat WHERE name='box_%s' AND pagetype='leaf' ORDER BY path LIMIT 1 OFFSET %u", suffixes[i],
                skip * (i == 0   ? 9
                        : i == 1 ? 3
                                 : 0));
            gint64 n_rows;
            gint64 n_found;

            fill(self, data);
            salvage_fixture_lose_page(self, page);
            salvage_fixture_run(self);
            n_found = salvage_fixture_ask(self, "SELECT count(*) FROM box WHERE +x0=id%60");
            n_rows = assert_fits(self);
            g_test_message("box_%s: %" G_GINT64_FORMAT " rows", suffixes[i], n_rows);
            g_assert_cmpint(n_found, ==, n_rows);
            g_assert_true(salvage_fixture_is_reported(self, "R-tree 'box' was damaged"));
            if (i == 0) {
                g_autofree char *losses = g_strdup_printf("table 'box': %" G_GINT64_FORMAT " rows; %" G_GINT64_FORMAT " rows lost",
                                                          n_rows, N_ROWS - n_rows);

                g_assert_cmpint(n_rows, >, N_ROWS - 500);
                g_assert_true(salvage_fixture_is_reported(self, losses) || n_rows == N_ROWS);
            } else {
                g_assert_cmpint(n_rows, ==, N_ROWS);
            }
            g_assert_cmpint(unlink(self->source), ==, 0);
        }
    }
}

/* What a row of NAME_rowid alone had is lost with it, and said. */
static void
test_lost_others(SalvageFixture *self, gconstpointer data)
{
    gint64 n_left;

    fill(self, WITH_OTHERS);
    salvage_fixture_lose_page(
        self, "SELECT pageno FROM dbstat WHERE name='box_rowid' AND pagetype='leaf' ORDER BY path LIMIT 1 OFFSET 3");
    salvage_fixture_run(self);
    n_left = salvage_fixture_ask(self, "SELECT count(*) FROM box WHERE name='name of ' || id AND data IS iif(id%2, x'00ff', id)");
    g_assert_cmpint(n_left, >, N_ROWS - 500);
    g_assert_cmpint(n_left, ==, N_ROWS - salvage_fixture_ask(self, "SELECT count(*) FROM box WHERE name IS NULL AND data IS NULL"));
    g_assert_true(salvage_fixture_is_reported(self, "have lost their auxiliary columns"));
    g_assert_cmpint(assert_fits(self), ==, N_ROWS);
}

typedef struct Lie {
    const char *path;
    const char *sql;
    gint64 n_lost; /* -1: some node's cells */
} Lie;

#define SET_DATA(hex, from) "UPDATE box_node SET data=CAST(x'" hex "' || substr(data, " from ") AS BLOB) "

static const Lie lies[] = {
    { "depth", SET_DATA("ffff", "3") "WHERE nodeno=1", 0 },
    { "no-depth", SET_DATA("0000", "3") "WHERE nodeno=1", 0 },
    { "too-many-cells", "UPDATE box_node SET data=CAST(substr(data, 1, 2) || x'ffff' || substr(data, 5) AS BLOB) WHERE nodeno=1",
      0 },
    { "no-cells", SET_DATA("00000000", "5") "WHERE nodeno=(SELECT nodeno FROM box_rowid WHERE rowid=7)", -1 },
    { "no-nodes", "DELETE FROM box_node", N_ROWS },
    { "no-root", "DELETE FROM box_node WHERE nodeno=1", 0 },
    { "short-node", "UPDATE box_node SET data=x'00' WHERE nodeno=(SELECT nodeno FROM box_rowid WHERE rowid=7)", -1 },
    { "text", "UPDATE box_node SET data='no blob' WHERE nodeno=(SELECT nodeno FROM box_rowid WHERE rowid=7)", -1 },
    { "cycle",
      "UPDATE box_node SET data=CAST(substr(data, 1, 4) || x'0000000000000001' || substr(data, 13) AS BLOB) WHERE nodeno=1", 0 },
    { "wrong-nodes", "UPDATE box_rowid SET nodeno=nodeno+1 WHERE rowid%3=0; UPDATE box_parent SET parentnode=999", 0 },
    { "no-rowids", "DELETE FROM box_rowid WHERE rowid<=7", 7 },
    { "swapped",
      "UPDATE box_node SET data=(SELECT data FROM box_node WHERE nodeno=1) WHERE nodeno="
      "(SELECT nodeno FROM box_rowid WHERE rowid=7)",
      -1 },
    { "wrong-sides",
      "UPDATE box_node SET data=CAST(substr(data, 1, 12) || x'7f000000' || substr(data, 17) AS BLOB) WHERE nodeno="
      "(SELECT nodeno FROM box_rowid WHERE rowid=7)",
      1 },
    { "no-number",
      "UPDATE box_node SET data=CAST(substr(data, 1, 12) || x'7fc00000' || substr(data, 17) AS BLOB) WHERE nodeno="
      "(SELECT nodeno FROM box_rowid WHERE rowid=7)",
      1 },
};

static void
test_lies(SalvageFixture *self, gconstpointer data)
{
    const Lie *lie = data;
    gint64 n_rows;

    fill(self, WITH_OTHERS);
    salvage_fixture_execute(self, lie->sql);
    salvage_fixture_run(self);
    n_rows = assert_fits(self);
    g_test_message("%" G_GINT64_FORMAT " rows", n_rows);
    if (lie->n_lost >= 0)
        g_assert_cmpint(n_rows, ==, N_ROWS - lie->n_lost);
    else
        g_assert_cmpint(n_rows, >, N_ROWS - 60);
    if (lie->n_lost != 0)
        g_assert_true(salvage_fixture_is_reported(self, "R-tree 'box' was damaged"));
    g_assert_cmpuint(self->report->n_lost_rows, ==, N_ROWS - n_rows);
}

/* The module is the one that SQLite reads in the definition. */
static void
test_definitions(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE VIRTUAL TABLE \"using fts5(\" /* USING x */ USING\n RTREE_i32(id, a, b);"
                                  "INSERT INTO \"using fts5(\" VALUES(1, -2147483648, 2147483647), (1 << 40, 5, 6);"
                                  "DELETE FROM \"using fts5(_rowid\"; DELETE FROM \"using fts5(_parent\";"
                                  "CREATE VIRTUAL TABLE doc USING fts5(body); CREATE VIRTUAL TABLE terms USING fts5vocab(doc, row);"
                                  "CREATE TABLE lost(x)");
    salvage_fixture_lose_page(self, "SELECT rootpage FROM sqlite_schema WHERE name='using fts5(_rowid'");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT rtreecheck('main', 'using fts5(')='ok'"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT a=-2147483648 AND b=2147483647 FROM \"using fts5(\" WHERE id=1"), ==, 1);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT a FROM \"using fts5(\" WHERE id=1<<40"), ==, 5);
    g_assert_false(salvage_fixture_is_reported(self, "'terms' was damaged"));
}

/* Tables that are not what the module makes, or are not there. */
static void
test_other_tables(SalvageFixture *self, gconstpointer data)
{
    fill(self, "CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1)");
    salvage_fixture_execute(self, "DROP TABLE box_parent; PRAGMA writable_schema=ON;"
                                  "UPDATE sqlite_schema SET sql='CREATE TABLE box_rowid(rowid INTEGER PRIMARY KEY, nodeno, more)'"
                                  " WHERE name='box_rowid'");
    salvage_fixture_run(self);
    g_assert_cmpint(assert_fits(self), ==, N_ROWS);

    salvage_fixture_execute(self, "PRAGMA writable_schema=ON;"
                                  "UPDATE sqlite_schema SET sql='CREATE VIRTUAL TABLE box USING rtree(id)' WHERE name='box'");
    salvage_fixture_run(self);
    g_assert_true(salvage_fixture_is_reported(self, "R-tree 'box' cannot be filled again"));
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM box_rowid"), ==, N_ROWS);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) \
    g_test_add("/recover/salvage-rtree/" path, SalvageFixture, data, salvage_fixture_set_up, func, salvage_fixture_tear_down)
    ADD("whole/rtree", "CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1)", test_whole);
    ADD("whole/rtree_i32", "CREATE VIRTUAL TABLE box USING rtree_i32(id, x0, x1, y0, y1)", test_whole);
    ADD("whole/others", WITH_OTHERS, test_whole);
    ADD("lost-pages/rtree", "CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1)", test_lost_pages);
    ADD("lost-pages/rtree_i32", "CREATE VIRTUAL TABLE box USING rtree_i32(id, x0, x1, y0, y1)", test_lost_pages);
    ADD("lost-pages/others", WITH_OTHERS, test_lost_pages);
    ADD("lost-others", NULL, test_lost_others);
    ADD("definitions", NULL, test_definitions);
    ADD("other-tables", NULL, test_other_tables);
    for (guint i = 0; i < G_N_ELEMENTS(lies); i++) {
        g_autofree char *path = g_strconcat("/recover/salvage-rtree/lies/", lies[i].path, NULL);

        g_test_add(path, SalvageFixture, &lies[i], salvage_fixture_set_up, test_lies, salvage_fixture_tear_down);
    }
    return g_test_run();
}
