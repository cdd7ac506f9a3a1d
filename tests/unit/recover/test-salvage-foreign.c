/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of other trees in tables WITHOUT ROWID, where neither the order of their own keys nor their depth is that of the table. No
 * row appears without a word in the report, and no other table loses any.
 */
#include "daemon/sqlite/page-cells.h"
#include "tests/unit/recover/salvage-fixture.h"

#define N_ROWS 1500
#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" G_STRINGIFY(N_ROWS) ") "
#define LEAF_OF(name) "SELECT pageno FROM dbstat WHERE pagetype='leaf' AND name='" name "' ORDER BY path"
#define INNER_OF(name) "SELECT pageno FROM dbstat WHERE pagetype='internal' AND path<>'/' AND name='" name "' ORDER BY path"
#define MIDDLE " LIMIT 1 OFFSET 12"

static const char *const keys[] = { "k DESC", "k DESC, n", "k DESC, n DESC", "k COLLATE NOCASE DESC", "k COLLATE RTRIM DESC, n" };

static const char fill_others[] =
    "CREATE TABLE plain(id INTEGER PRIMARY KEY, v); CREATE INDEX up ON plain(v); CREATE INDEX down ON plain(v DESC);"
    "CREATE TABLE other(k, n, x, PRIMARY KEY(k)) WITHOUT ROWID;" NUMBERS
    "INSERT INTO plain SELECT i, printf('k%05d of an index', i) FROM n;" NUMBERS
    "INSERT INTO other SELECT printf('k%05d', i), i, 'not mine ' || i FROM n";

/* Rows of table t have 'mine' in x. @width: of the texts in the key */
static void
fill(SalvageFixture *self, const char *key, guint width)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA page_size=512; CREATE TABLE t(x, n, k, PRIMARY KEY(%s)) WITHOUT ROWID;" NUMBERS
                                           "INSERT INTO t SELECT 'mine', i, printf('k%%05d%%.*c', i, %u, 'z') FROM n;%s",
                                           key, width, fill_others);

    salvage_fixture_execute(self, sql);
}

static gint64
count_mine(SalvageFixture *self)
{
    return salvage_fixture_ask(self, "SELECT count(*) FROM t WHERE x='mine'");
}

static gint64
count_invented(SalvageFixture *self)
{
    return salvage_fixture_ask(self, "SELECT count(*) FROM t WHERE x IS NOT 'mine'");
}

static void
assert_others(SalvageFixture *self)
{
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM other WHERE x LIKE 'not mine %'"), ==, N_ROWS);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM plain WHERE v LIKE 'k%'"), ==, N_ROWS);
}

static void
restart(SalvageFixture *self)
{
    salvage_fixture_tear_down(self, NULL);
    *self = (SalvageFixture){ 0 };
    salvage_fixture_set_up(self, NULL);
}

/* A leaf in the other order, within the bounds or not, in the place of the first, the last, and others. */
static void
test_leaf_in_another_order(SalvageFixture *self, gconstpointer data)
{
    static const char *const sources[] = { LEAF_OF("up") MIDDLE, LEAF_OF("other") MIDDLE, LEAF_OF("up") " LIMIT 1",
                                           LEAF_OF("plain") MIDDLE };
    static const char *const targets[] = { LEAF_OF("t") MIDDLE, LEAF_OF("t") " LIMIT 1", LEAF_OF("t") " DESC LIMIT 1" };

    for (guint i = 0; i < G_N_ELEMENTS(keys) * G_N_ELEMENTS(sources) * G_N_ELEMENTS(targets); i++) {
        restart(self);
        fill(self, keys[i % G_N_ELEMENTS(keys)], 0);
        salvage_fixture_misplace_page(self, sources[i / G_N_ELEMENTS(keys) % G_N_ELEMENTS(sources)],
                                      targets[i / G_N_ELEMENTS(keys) / G_N_ELEMENTS(sources)]);
        salvage_fixture_run(self);
        g_assert_cmpint(count_invented(self), ==, 0);
        g_assert_cmpint(count_mine(self), >, N_ROWS - 40);
        g_assert_cmpint(count_mine(self), <, N_ROWS);
        g_assert_cmpuint(self->report->n_lost_pages, ==, 1);
        assert_others(self);
    }
}

/* A leaf in the place of a page above leaves, also one of the table itself. */
static void
test_leaf_above_leaves(SalvageFixture *self, gconstpointer data)
{
    static const char *const sources[] = { LEAF_OF("up") MIDDLE, LEAF_OF("down") MIDDLE, LEAF_OF("other") MIDDLE,
                                           LEAF_OF("t") MIDDLE };

    for (guint i = 0; i < G_N_ELEMENTS(sources); i++) {
        restart(self);
        fill(self, "k DESC", 0);
        salvage_fixture_misplace_page(self, sources[i], INNER_OF("t") " LIMIT 1 OFFSET 1");
        salvage_fixture_run(self);
        g_assert_cmpint(count_invented(self), ==, 0);
        g_assert_cmpint(count_mine(self), >, N_ROWS / 4);
        g_assert_cmpuint(self->report->n_lost_pages, >, 0);
        g_assert_true(salvage_fixture_is_reported(self, "pages of indexes or tables WITHOUT ROWID are in none"));
        assert_others(self);
    }
}

/* Its children are those of another table, which keeps them. */
static void
test_page_above_as_leaf(SalvageFixture *self, gconstpointer data)
{
    static const char *const sources[] = { INNER_OF("up") " LIMIT 1 OFFSET 1", INNER_OF("other") " LIMIT 1 OFFSET 1",
                                           INNER_OF("t") " LIMIT 1 OFFSET 1" };

    for (guint i = 0; i < 2 * G_N_ELEMENTS(sources); i++) {
        restart(self);
        fill(self, "k DESC", 0);
        salvage_fixture_misplace_page(self, sources[i / 2], i % 2 == 0 ? LEAF_OF("t") MIDDLE : LEAF_OF("t") " LIMIT 1");
        salvage_fixture_run(self);
        g_assert_cmpint(count_invented(self), ==, 0);
        g_assert_cmpint(count_mine(self), >, N_ROWS - 40);
        g_assert_cmpuint(self->report->n_lost_pages, ==, 1);
        assert_others(self);
    }
}

static void
test_page_above_in_another_order(SalvageFixture *self, gconstpointer data)
{
    fill(self, "k DESC", 0);
    salvage_fixture_misplace_page(self, INNER_OF("other") " LIMIT 1 OFFSET 1", INNER_OF("t") " LIMIT 1 OFFSET 1");
    salvage_fixture_run(self);
    g_assert_cmpint(count_invented(self), ==, 0);
    g_assert_cmpint(count_mine(self), >, N_ROWS / 4);
    g_assert_cmpuint(self->report->n_lost_pages, >, 0);
    assert_others(self);
}

/* Its only page: nothing says what it was, but it stands in the other table, too. */
static void
test_only_page(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "PRAGMA page_size=512; CREATE TABLE t(x, n, k, PRIMARY KEY(n)) WITHOUT ROWID;"
                                  "INSERT INTO t VALUES('mine', 1, 2)");
    salvage_fixture_execute(self, fill_others);
    salvage_fixture_misplace_page(self, LEAF_OF("other") MIDDLE, LEAF_OF("t"));
    salvage_fixture_run(self);
    g_assert_cmpint(count_invented(self), >, 0);
    g_assert_cmpuint(self->report->n_doubtful_rows, ==, 2 * (guint64) count_invented(self)); /* in both */
    g_assert_true(salvage_fixture_is_reported(self, "of the rows saved are doubtful"));
    assert_others(self);
}

/* Keys of which a page has the beginning only: that decides. */
static void
test_cut_keys(SalvageFixture *self, gconstpointer data)
{
    static const char *const sources[] = { LEAF_OF("up") MIDDLE, LEAF_OF("other") MIDDLE, LEAF_OF("down") " LIMIT 1 OFFSET 30" };

    for (guint i = 0; i < 2 * G_N_ELEMENTS(sources); i++) {
        restart(self);
        fill(self, i % 2 == 0 ? "k DESC" : "k COLLATE NOCASE DESC, n", 600);
        salvage_fixture_misplace_page(self, sources[i / 2], LEAF_OF("t") MIDDLE);
        salvage_fixture_run(self);
        g_assert_cmpint(count_invented(self), ==, 0);
        g_assert_cmpint(count_mine(self), >, N_ROWS - 10);
        g_assert_cmpuint(self->report->n_lost_pages, ==, 1);
        assert_others(self);
    }
}

/* DESC is in the definition alone. */
static void
test_old_format(SalvageFixture *self, gconstpointer data)
{
    const gboolean is_damaged = data != NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(self->source, &db), ==, SQLITE_OK);
    (void) sqlite3_db_config(db, SQLITE_DBCONFIG_LEGACY_FILE_FORMAT, 1, NULL);
    g_assert_cmpint(sqlite3_exec(db,
                                 "PRAGMA page_size=512; CREATE TABLE t(x, n, k, PRIMARY KEY(k DESC)) WITHOUT ROWID;" NUMBERS
                                 "INSERT INTO t SELECT 'mine', i, printf('k%05d', i) FROM n",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    (void) sqlite3_close(db);
    salvage_fixture_execute(self, fill_others);
    if (is_damaged)
        salvage_fixture_misplace_page(self, LEAF_OF("other") " LIMIT 1 OFFSET 40", LEAF_OF("t") MIDDLE);
    salvage_fixture_run(self);
    g_assert_cmpint(count_invented(self), ==, 0);
    g_assert_cmpint(count_mine(self), >, N_ROWS - 40);
    g_assert_cmpuint(self->report->n_lost_pages, ==, is_damaged ? 1 : 0);
    g_assert_true(is_damaged || (count_mine(self) == N_ROWS && self->report->n_doubtful_rows == 0));
    assert_others(self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) \
    g_test_add("/recover/salvage-foreign/" path, SalvageFixture, data, salvage_fixture_set_up, func, salvage_fixture_tear_down)
    ADD("leaf-in-another-order", NULL, test_leaf_in_another_order);
    ADD("leaf-above-leaves", NULL, test_leaf_above_leaves);
    ADD("page-above-as-leaf", NULL, test_page_above_as_leaf);
    ADD("page-above-in-another-order", NULL, test_page_above_in_another_order);
    ADD("only-page", NULL, test_only_page);
    ADD("cut-keys", NULL, test_cut_keys);
    ADD("old-format/whole", NULL, test_old_format);
    ADD("old-format/damaged", "damaged", test_old_format);
    return g_test_run();
}
