/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Salvage: damage at random takes what was on the damaged pages and nothing else; a wrong row shows.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/recover/page-file.h"
#include "daemon/recover/schema-copy.h"
#include "daemon/sqlite/page-cells.h"
#include "tests/unit/recover/filled-store.h"

#define N_DAMAGES 500

typedef struct Damage {
    guint32 first_page;
    guint32 last_page;
    const char *what;
} Damage;

typedef struct Known {
    GHashTable *item_pages; /* id → page */
    GHashTable *facts;      /* what questions about our own tables may answer */
    gboolean has_copy;      /* of the schema */
    guint64 schema_pages;   /* bits, of the first 64 */
    guint32 page_size;
    guint64 n_rows; /* away from the damage, in all cases where the schema was whole */
    guint64 n_survived;
    guint n_failed;
    guint n_cases;
    double worst;
} Known;

/* Single flips, torn sectors, lost pages, a file cut short. */
static Damage
damage_file(const FilledStore *self, GRand *random, guint32 page_size)
{
    gsize n_bytes = 0;
    const guint8 *whole = g_bytes_get_data(self->whole, &n_bytes);
    g_autofree guint8 *bytes = g_memdup2(whole, n_bytes);
    gsize at = (gsize) g_rand_double_range(random, 0, (double) n_bytes);
    gsize start = at - at % page_size;
    Damage damage = { (guint32) (at / page_size) + 1, (guint32) (at / page_size) + 1, NULL };

    switch (g_rand_int_range(random, 0, 5)) {
    case 0:
        damage.what = "a bit";
        bytes[at] ^= (guint8) (1u << g_rand_int_range(random, 0, 8));
        break;
    case 1:
        damage.what = "some bytes";
        for (gsize i = at; i < MIN(at + 20, start + page_size); i++)
            bytes[i] = (guint8) g_rand_int(random);
        break;
    case 2:
        damage.what = "a sector of zeros";
        memset(bytes + at - at % 512, 0, 512);
        break;
    case 3:
        damage.what = "a page of noise";
        for (gsize i = start; i < start + page_size; i++)
            bytes[i] = (guint8) g_rand_int(random);
        break;
    default:
        damage.what = "an end";
        n_bytes = MAX(at, n_bytes / 2);
        damage.first_page = (guint32) (n_bytes / page_size) + 1;
        damage.last_page = G_MAXUINT32;
        break;
    }
    g_assert_true(g_file_set_contents(self->source, (const char *) bytes, (gssize) n_bytes, NULL));
    return damage;
}

static gboolean
is_hit(const Damage *damage, gpointer page)
{
    return GPOINTER_TO_UINT(page) >= damage->first_page && GPOINTER_TO_UINT(page) <= damage->last_page;
}

static const char *const own_questions[] = {
    "SELECT 'q' || s || ' ' || p || ' ' || o || ' ' || g FROM queryd_quad",
    "SELECT 't' || id || ' ' || ifnull(datatype, '') || ' ' || lexical FROM queryd_term",
    "SELECT 'p' || prefix || ' ' || iri FROM queryd_prefix",
};

static void
learn_facts(Known *known, sqlite3 *db)
{
    for (guint i = 0; i < G_N_ELEMENTS(own_questions); i++) {
        sqlite3_stmt *stmt = NULL;

        g_assert_cmpint(sqlite3_prepare_v2(db, own_questions[i], -1, &stmt, NULL), ==, SQLITE_OK);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            g_hash_table_add(known->facts, g_strdup((const char *) sqlite3_column_text(stmt, 0)));
        (void) sqlite3_finalize(stmt);
    }
}

/* Which page holds which row: SQLite tells the pages, our reader the rows. */
static void
learn(Known *known, FilledStore *self)
{
    sqlite3 *db = filled_store_open(self->source);
    g_autoptr(QdPageFile) file = qd_page_file_open(self->source, NULL);
    g_autofree guint8 *buffer = NULL;
    sqlite3_stmt *stmt = NULL;

    known->page_size = qd_page_file_get_info(file)->page_size;
    known->item_pages = g_hash_table_new(NULL, NULL);
    known->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    known->worst = 1;
    buffer = g_malloc(known->page_size);
    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT pageno, name, pagetype FROM dbstat", -1, &stmt, NULL), ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        guint32 page = (guint32) sqlite3_column_int(stmt, 0);
        const char *name = (const char *) sqlite3_column_text(stmt, 1);
        QdPageCells cells;

        if (g_str_equal(name, "sqlite_schema")) {
            g_assert_cmpuint(page, <, 64);
            known->schema_pages |= G_GUINT64_CONSTANT(1) << page;
        }
        if (!g_str_equal(name, "item") || !g_str_equal((const char *) sqlite3_column_text(stmt, 2), "leaf"))
            continue;
        g_assert_true(qd_page_file_read(file, page, buffer) && qd_page_cells_init(&cells, buffer, page, known->page_size));
        for (guint32 i = 0; i < cells.n_cells; i++) {
            QdPageCell cell;

            g_assert_true(qd_page_cells_get(&cells, i, &cell));
            if (cell.rowid <= FILLED_N_ROWS)
                g_hash_table_insert(known->item_pages, GINT_TO_POINTER(cell.rowid), GUINT_TO_POINTER(page));
        }
    }
    (void) sqlite3_finalize(stmt);
    g_assert_cmpuint(g_hash_table_size(known->item_pages), ==, FILLED_N_ROWS);
    learn_facts(known, db);
    (void) sqlite3_close(db);
}

/* Rows of a user's table: right, unless the damage was on their page. Returns: how many of them, away from it */
static guint
check_items(const Known *known, const Damage *damage, sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    guint n_right = 0;

    if (sqlite3_prepare_v2(db,
                           "SELECT id, name='name of ' || id AND size=id/4.0 AND data=zeroblob(id%100) FROM item WHERE id<>1000000",
                           -1, &stmt, NULL) != SQLITE_OK)
        return 0;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        gpointer id = GINT_TO_POINTER(sqlite3_column_int64(stmt, 0));
        gpointer page = g_hash_table_lookup(known->item_pages, id);
        gboolean right = page != NULL && sqlite3_column_int(stmt, 1) == 1;

        if (page != NULL && is_hit(damage, page))
            continue;
        n_right += right ? 1 : 0;
        /* a rowid that was altered stands on a page that was hit */
        if (!right && page != NULL)
            g_error("%s at page %u: row %d is wrong", damage->what, damage->first_page, GPOINTER_TO_INT(id));
    }
    (void) sqlite3_finalize(stmt);
    return n_right;
}

/* Our own tables say nothing that is not so, after any damage. */
static void
check_facts(const Known *known, const Damage *damage, sqlite3 *db)
{
    for (guint i = 0; i < 2; i++) {
        sqlite3_stmt *stmt = NULL;

        if (sqlite3_prepare_v2(db, own_questions[i], -1, &stmt, NULL) != SQLITE_OK)
            continue;
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *fact = (const char *) sqlite3_column_text(stmt, 0);

            if (!g_hash_table_contains(known->facts, fact))
                g_error("%s at page %u: '%s' is wrong", damage->what, damage->first_page, fact);
        }
        (void) sqlite3_finalize(stmt);
    }
}

static guint
count_away(const Known *known, const Damage *damage)
{
    GHashTableIter iter;
    gpointer page;
    guint n = 0;

    g_hash_table_iter_init(&iter, known->item_pages);
    while (g_hash_table_iter_next(&iter, NULL, &page))
        n += is_hit(damage, page) ? 0 : 1;
    return n;
}

static void
run_case(FilledStore *self, Known *known, GRand *random)
{
    const Damage damage = damage_file(self, random, known->page_size);
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autoptr(GError) error = NULL;
    gboolean schema_lost = !known->has_copy && damage.first_page < 64 && (known->schema_pages >> damage.first_page & 1) != 0;
    guint n_away = count_away(known, &damage);
    guint n_right = 0;

    known->n_cases++;
    if (filled_store_salvage(self, report, &error)) {
        sqlite3 *db = filled_store_open(self->target);

        n_right = check_items(known, &damage, db);
        check_facts(known, &damage, db);
        (void) sqlite3_close(db);
    } else {
        g_assert_error(error, QD_ERROR, (gint) QW_ERROR_CORRUPT);
        g_assert_false(g_file_test(self->target, G_FILE_TEST_EXISTS));
        known->n_failed++;
        if (!schema_lost)
            g_error("%s at page %u: %s", damage.what, damage.first_page, error->message);
    }
    known->n_rows += n_away;
    known->n_survived += n_right;
    if (schema_lost)
        return;
    known->worst = MIN(known->worst, (double) n_right / n_away);
    if (10 * n_right < 9 * n_away)
        g_error("%s at page %u: of %u rows elsewhere only %u survived", damage.what, damage.first_page, n_away, n_right);
}

static void
damage_at_random(FilledStore *self, gboolean has_copy, guint n_cases)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(20);
    Known known = { .has_copy = has_copy };

    learn(&known, self);
    for (guint i = 0; i < n_cases; i++)
        run_case(self, &known, random);
    g_test_message("%u cases: %.3f %% of the rows away from the damage survived, in the worst %.1f %%; %u files without a schema",
                   known.n_cases, 100.0 * (double) known.n_survived / (double) known.n_rows, 100 * known.worst, known.n_failed);
    g_assert_cmpuint(100 * known.n_survived, >, 90 * known.n_rows);
    g_hash_table_unref(known.item_pages);
    g_hash_table_unref(known.facts);
}

static void
test_random(FilledStore *self, gconstpointer data)
{
    damage_at_random(self, TRUE, N_DAMAGES);
}

static void
test_random_without_copy(FilledStore *self, gconstpointer data)
{
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);

    g_assert_cmpint(g_unlink(copy), ==, 0);
    damage_at_random(self, FALSE, N_DAMAGES / 2);
}

/* All of its pages are zeros: with the copy only its rows are missed, which are there. */
static void
test_no_schema(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autoptr(GError) error = NULL;
    Known known = { 0 };
    sqlite3 *db;
    int fd;

    learn(&known, self);
    fd = g_open(self->source, O_WRONLY | O_CLOEXEC, 0);
    for (guint page = 1; page < 64; page++) {
        g_autofree guint8 *zeros = g_malloc0(known.page_size);

        if ((known.schema_pages >> page & 1) != 0)
            g_assert_cmpint(pwrite(fd, zeros, known.page_size, (off_t) (page - 1) * known.page_size), ==, known.page_size);
    }
    (void) close(fd);

    g_assert_true(filled_store_salvage(self, report, &error));
    g_assert_no_error(error);
    db = filled_store_open(self->target);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM item"), ==, FILLED_N_ROWS + 1);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM plain WHERE z='z'"), ==, 500);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM words WHERE words MATCH 'some'"), ==, 200);
    g_assert_cmpint(filled_store_ask(db, "SELECT user_version FROM pragma_user_version"), ==, 7);
    (void) sqlite3_close(db);

    g_assert_cmpint(g_unlink(copy), ==, 0);
    g_assert_false(filled_store_salvage(self, report, &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_CORRUPT);
    g_hash_table_unref(known.item_pages);
    g_hash_table_unref(known.facts);
}

/* Of another schema, or of another file: the pages are believed. */
static void
test_old_copy(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autofree char *content = NULL;
    g_autoptr(GError) error = NULL;
    gsize n_bytes = 0;
    sqlite3 *db;

    g_assert_true(g_file_get_contents(copy, &content, &n_bytes, NULL));
    store_fixture_open(&self->store);
    store_execute(self->store.writer, "ALTER TABLE item RENAME TO renamed");
    store_fixture_close(&self->store);
    g_assert_true(g_file_set_contents(copy, content, (gssize) n_bytes, NULL));
    g_assert_true(filled_store_salvage(self, report, &error));
    g_assert_no_error(error);
    db = filled_store_open(self->target);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM renamed"), ==, FILLED_N_ROWS + 1);
    (void) sqlite3_close(db);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/recover/salvage-random/" path, FilledStore, NULL, filled_store_set_up, func, filled_store_tear_down)
    ADD("no-schema", test_no_schema);
    ADD("old-copy", test_old_copy);
    ADD("random", test_random);
    ADD("random-without-copy", test_random_without_copy);
    return g_test_run();
}
