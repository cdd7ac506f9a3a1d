/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Our own tables hold the same facts more than once. So here, and here only, an altered row can be distinguished from a good
 * one.
 *
 * A quad stands in three whole trees (the table and two indexes): it is believed when two of them have it. A term is believed
 * when its key, computed again, is the one that was stored with it. What can be computed is computed: keys, statistics,
 * counters.
 */

#include "daemon/quads/dictionary.h"
#include "daemon/quads/quads.h"
#include "daemon/rdf/term-id.h"
#include "daemon/recover/salvage-private.h"
#include "daemon/sqlite/schema.h"
#include "daemon/sqlite/sqlite-error.h"

#define N_TREES 3
#define N_JUDGED 1000u

/* Where s, p, o and g stand in the records of a tree. */
typedef struct QuadTree {
    const char *type;
    const char *name;
    guint8 order[4];
} QuadTree;

static const QuadTree quad_trees[N_TREES] = {
    { "table", "queryd_quad", { 0, 1, 2, 3 } },
    { "index", "queryd_quad_posg", { 2, 0, 1, 3 } },
    { "index", "queryd_quad_ospg", { 1, 2, 0, 3 } },
};

/* Quads ------------------------------------------------------------------------------------------------------------------ */

typedef struct Ballot {
    QdSalvage *salvage;
    const QuadTree *tree;
    sqlite3_stmt *insert;
} Ballot;

static gboolean
put_quad(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    Ballot *self = data;
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    int r;

    if (qd_salvage_is_cancelled(self->salvage, error))
        return FALSE;
    *ret_good = qd_record_parse(row->data, row->n_bytes, fields) && fields->len == G_N_ELEMENTS(self->tree->order);
    for (guint i = 0; *ret_good && i < fields->len; i++) {
        const QdField *field = &g_array_index(fields, QdField, self->tree->order[i]);

        *ret_good = qd_field_is_integer(field);
        (void) sqlite3_bind_int64(self->insert, (int) i + 1, qd_field_get_int64(field));
    }
    if (!*ret_good)
        return TRUE;
    r = sqlite3_step(self->insert);
    (void) sqlite3_reset(self->insert);
    if (r == SQLITE_DONE)
        return TRUE;
    qd_sqlite_set_error(error, qd_connection_get_db(self->salvage->connection), r, NULL, 0, NULL);
    return FALSE;
}

/* One tree's quads into a table of their own. @ret_damaged: whether it has lost any */
static gboolean
collect_votes(QdSalvage *self, guint which, gboolean *ret_damaged, GError **error)
{
    const QuadTree *tree = &quad_trees[which];
    const QdSalvageEntry *entry = qd_salvage_find_entry(self, tree->type, tree->name);
    g_autofree char *insert = g_strdup_printf("INSERT OR IGNORE INTO queryd_vote%u VALUES(?, ?, ?, ?)", which);
    sqlite3 *db = qd_connection_get_db(self->connection);
    Ballot ballot = { .salvage = self, .tree = tree };
    QdTreeResult result;
    gboolean ok = TRUE;

    if (!qd_salvage_execute(self, error, "CREATE TEMP TABLE queryd_vote%u(s, p, o, g, PRIMARY KEY(s, p, o, g)) WITHOUT ROWID",
                            which))
        return FALSE;
    *ret_damaged = entry == NULL || entry->root == 0;
    if (*ret_damaged)
        return TRUE;
    if (sqlite3_prepare_v2(db, insert, -1, &ballot.insert, NULL) != SQLITE_OK) {
        qd_sqlite_set_error(error, db, sqlite3_errcode(db), NULL, 0, NULL);
        return FALSE;
    }
    qd_tree_result_init(&result);
    ok = qd_tree_scan_run(self->scan, entry->root, FALSE, &result, put_quad, &ballot, error);
    *ret_damaged = result.losses->len > 0 || result.n_lost_rows > 0;
    if (*ret_damaged)
        qd_salvage_report_note(self->report, "%s '%s': %u pages and %" G_GUINT64_FORMAT " rows lost", tree->type, tree->name,
                               result.losses->len, result.n_lost_rows);
    qd_tree_result_clear(&result);
    (void) sqlite3_finalize(ballot.insert);
    return ok;
}

#define SAME(other) "EXISTS (SELECT 1 FROM queryd_vote" other " w WHERE w.s=v.s AND w.p=v.p AND w.o=v.o AND w.g=v.g)"
#define ELECT(tree, condition) "INSERT OR IGNORE INTO queryd_quad SELECT s, p, o, g FROM queryd_vote" tree " v WHERE " condition

/* A tree's word alone is enough where both others have lost something. */
static gboolean
elect_quads(QdSalvage *self, const gboolean *damaged, GError **error)
{
    return qd_salvage_execute(
        self, error, ELECT("0", SAME("1") " OR " SAME("2") " OR %d") ";" ELECT("1", SAME("2") " OR %d") ";" ELECT("2", "%d"),
        damaged[1] && damaged[2], damaged[0] && damaged[2], damaged[0] && damaged[1]);
}

gboolean
qd_salvage_vote_quads(QdSalvage *self, GError **error)
{
    QdSalvageEntry *entry = qd_salvage_find_entry(self, "table", "queryd_quad");
    gboolean damaged[N_TREES];
    QdSalvageTable *table;
    gint64 n_all = 0;
    gint64 n_elected = 0;

    if (entry == NULL || !entry->made)
        return TRUE;
    for (guint i = 0; i < N_TREES; i++)
        if (!collect_votes(self, i, &damaged[i], error))
            return FALSE;
    if (!elect_quads(self, damaged, error) ||
        !qd_connection_get_int64(self->connection, "SELECT count(*) FROM queryd_quad", &n_elected, error) ||
        !qd_connection_get_int64(self->connection,
                                 "SELECT count(*) FROM (SELECT * FROM queryd_vote0 UNION SELECT * FROM queryd_vote1"
                                 " UNION SELECT * FROM queryd_vote2)",
                                 &n_all, error))
        return FALSE;
    table = qd_salvage_report_get_table(self->report, "queryd_quad");
    table->n_rows = (guint64) n_elected;
    table->n_refused_rows = (guint64) (n_all - n_elected);
    return qd_salvage_execute(self, error, "DROP TABLE queryd_vote0; DROP TABLE queryd_vote1; DROP TABLE queryd_vote2");
}

/* What every store has ----------------------------------------------------------------------------------------------- */

/* From the schema of an empty store: what the damaged one has lost of it. */
static gboolean
copy_missing(QdSalvage *self, sqlite3 *model, const char *query, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(model, query, -1, &stmt, NULL);
    gboolean ok = r == SQLITE_OK;

    while (ok && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *) sqlite3_column_text(stmt, 0);
        char *probe = sqlite3_mprintf("SELECT count(*) FROM sqlite_schema WHERE name=%Q", name);
        gint64 n = 0;

        ok = qd_connection_get_int64(self->connection, probe, &n, error) &&
             (n > 0 || qd_salvage_try(self, name, (const char *) sqlite3_column_text(stmt, 1), error));
        sqlite3_free(probe);
        if (ok && n == 0)
            qd_salvage_report_note(self->report, "'%s' was lost and is rebuilt", name);
    }
    (void) sqlite3_finalize(stmt);
    return ok;
}

#define OWN_NAMES " FROM sqlite_schema WHERE sql IS NOT NULL AND name LIKE 'queryd\\_%' ESCAPE '\\' ORDER BY rowid"

/* An empty store. */
static QdConnection *
open_model(QdSalvage *self, GError **error)
{
    const QdConnectionInfo info = { .path = ":memory:" };
    g_autoptr(QdConnection) model = qd_connection_open(&info, QD_CONNECTION_WRITER, self->options->limits, error);

    return model != NULL && qd_schema_migrate(model, error) ? g_steal_pointer(&model) : NULL;
}

gboolean
qd_salvage_define_own(QdSalvage *self, GError **error)
{
    g_autoptr(QdConnection) model = open_model(self, error);
    sqlite3_stmt *stmt = NULL;
    int r;

    if (model == NULL)
        return FALSE;

    r = sqlite3_prepare_v2(qd_connection_get_db(model), "SELECT type, name, sql" OWN_NAMES, -1, &stmt, NULL);
    while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *sql = (const char *) sqlite3_column_text(stmt, 2);
        QdSalvageEntry *entry = qd_salvage_find_entry(self, (const char *) sqlite3_column_text(stmt, 0),
                                                      (const char *) sqlite3_column_text(stmt, 1));

        if (entry == NULL || g_strcmp0(entry->sql, sql) == 0)
            continue;
        qd_salvage_report_note(self->report, "'%s' was defined otherwise than queryd defines it", entry->name);
        g_free(entry->sql);
        entry->sql = g_strdup(sql);
    }
    (void) sqlite3_finalize(stmt);
    return TRUE;
}

/* A row of queryd_meta is a counter, which repair_counters() sets, or a setting. */
static gboolean
complete_schema(QdSalvage *self, GError **error)
{
    g_autoptr(QdConnection) model = open_model(self, error);
    gint64 version = 0;

    if (model == NULL || !qd_schema_get_version(self->connection, &version, error))
        return FALSE;
    /* one that is no store becomes one when it is opened */
    if (version != 0 && version != QD_SCHEMA_VERSION)
        return TRUE;
    if (version == 0 && qd_salvage_find_entry(self, "table", "queryd_quad") == NULL &&
        qd_salvage_find_entry(self, "table", "queryd_meta") == NULL)
        return TRUE;
    return copy_missing(self, qd_connection_get_db(model), "SELECT name, sql" OWN_NAMES, error) &&
           qd_salvage_execute(self, error,
                              "DELETE FROM queryd_meta WHERE CASE key WHEN 'fulltext_tokenizer' THEN typeof(value)<>'text'"
                              " WHEN 'incarnation' THEN typeof(value)<>'integer' ELSE typeof(value)<>'integer' OR value<0 END;"
                              "INSERT OR IGNORE INTO queryd_meta VALUES('schema_version', %d), ('start_counter', 0),"
                              " ('term_sequence', 0), ('bnode_serial', 0)",
                              QD_SCHEMA_VERSION);
}

/* Terms ------------------------------------------------------------------------------------------------------------------ */

static gboolean
table_exists(QdSalvage *self, const char *name)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM sqlite_schema WHERE type='table' AND name='%s'", name);
    gint64 n = 0;

    return qd_connection_get_int64(self->connection, sql, &n, NULL) && n > 0;
}

typedef struct TermCheck {
    QdSalvage *salvage;
    QdDictionary *dictionary;
    sqlite3_stmt *terms;
    sqlite3_stmt *find_hash;
    sqlite3_stmt *drop;
    sqlite3_stmt *keep;
    gboolean hashes_whole; /* a term without one is then no good */
    guint64 n_dropped;
} TermCheck;

static int
run_with(sqlite3_stmt *stmt, gint64 first, gint64 second)
{
    int r;

    (void) sqlite3_bind_int64(stmt, 1, first);
    (void) sqlite3_bind_int64(stmt, 2, second);
    r = sqlite3_step(stmt);
    (void) sqlite3_reset(stmt);
    return r;
}

static gboolean
term_is_sound(TermCheck *self, gint64 id, gint64 *ret_hash)
{
    QdTerm term;

    if (id <= 0 || sqlite3_column_type(self->terms, 1) != SQLITE_TEXT ||
        !qd_dictionary_get_term(self->dictionary, id, &term, NULL) || !g_utf8_validate_len(term.lexical, term.n_lexical, NULL))
        return FALSE;
    *ret_hash = (gint64) qd_term_key_compute(qd_dictionary_get_secret(self->dictionary), &term).low;
    return !self->hashes_whole || run_with(self->find_hash, *ret_hash, id) == SQLITE_ROW;
}

static gboolean
check_terms(TermCheck *self, GError **error)
{
    int r;

    while ((r = sqlite3_step(self->terms)) == SQLITE_ROW) {
        gint64 id = sqlite3_column_int64(self->terms, 0);
        gint64 hash = 0;
        gboolean sound = term_is_sound(self, id, &hash);

        if (qd_salvage_is_cancelled(self->salvage, error))
            return FALSE;
        self->n_dropped += sound ? 0 : 1;
        r = sound ? run_with(self->keep, hash, id) : run_with(self->drop, id, 0);
        if (r != SQLITE_DONE)
            break;
    }
    if (r == SQLITE_DONE)
        return TRUE;
    qd_sqlite_set_error(error, qd_connection_get_db(self->salvage->connection), r, NULL, 0, NULL);
    return FALSE;
}

static gboolean
prepare_check(TermCheck *self, GError **error)
{
    const struct {
        sqlite3_stmt **stmt;
        const char *sql;
    } statements[] = {
        { &self->terms, "SELECT id, lexical FROM queryd_term ORDER BY id" },
        { &self->find_hash, "SELECT 1 FROM queryd_term_hash WHERE h=?1 AND id=?2" },
        { &self->drop, "INSERT OR IGNORE INTO queryd_lost_term VALUES(?1)" },
        { &self->keep, "INSERT OR IGNORE INTO queryd_new_hash VALUES(?1, ?2)" },
    };
    sqlite3 *db = qd_connection_get_db(self->salvage->connection);

    for (guint i = 0; i < G_N_ELEMENTS(statements); i++)
        if (sqlite3_prepare_v2(db, statements[i].sql, -1, statements[i].stmt, NULL) != SQLITE_OK) {
            qd_sqlite_set_error(error, db, sqlite3_errcode(db), NULL, 0, NULL);
            return FALSE;
        }
    return TRUE;
}

/* When most terms do not fit their keys, it is the secret that was altered. */
static gboolean
judge_hashes(TermCheck *self, GError **error)
{
    guint n_seen = 0;
    guint n_sound = 0;
    gint64 hash;
    int r = SQLITE_ROW;

    if (!self->hashes_whole)
        return TRUE;
    while (n_seen < N_JUDGED && (r = sqlite3_step(self->terms)) == SQLITE_ROW) {
        n_seen++;
        n_sound += term_is_sound(self, sqlite3_column_int64(self->terms, 0), &hash) ? 1 : 0;
    }
    (void) sqlite3_reset(self->terms);
    if (r != SQLITE_ROW && r != SQLITE_DONE) {
        qd_sqlite_set_error(error, qd_connection_get_db(self->salvage->connection), r, NULL, 0, NULL);
        return FALSE;
    }
    self->hashes_whole = 2 * n_sound >= n_seen;
    if (!self->hashes_whole)
        qd_salvage_report_note(self->salvage->report,
                               "the secret of the dictionary's keys was altered: its terms cannot be checked");
    return TRUE;
}

static gboolean
make_key(QdSalvage *self, GError **error)
{
    return qd_salvage_execute(self, error, "%s",
                              "DELETE FROM queryd_term_key;"
                              "INSERT OR REPLACE INTO queryd_meta VALUES('term_secret', randomblob(16));" QD_TERM_KEY_MOVE);
}

/* Rows that had been saved: they do not fit the others. */
static void
count_dropped(QdSalvage *self, const char *name, guint64 n)
{
    QdSalvageTable *table = qd_salvage_report_get_table(self->report, name);

    table->n_rows -= MIN(n, table->n_rows);
    table->n_refused_rows += n;
}

/* Terms that are not what their key says go; the keys of the others are rewritten. */
static gboolean
mend_terms(QdSalvage *self, GError **error)
{
    const QdSalvageTable *hashes = qd_salvage_report_get_table(self->report, "queryd_term_hash");
    TermCheck check = { .salvage = self };
    gint64 has_secret = 0;
    gboolean ok;

    if (!qd_connection_get_int64(
            self->connection,
            "SELECT " QD_TERM_KEY_HALF("0") " IS NOT NULL AND " QD_TERM_KEY_HALF("1") " IS NOT NULL AND"
                                                                                      " (SELECT count(*) FROM queryd_term_key)=2",
            &has_secret, error) ||
        (has_secret == 0 && !make_key(self, error)) ||
        !qd_salvage_execute(self, error,
                            "CREATE TEMP TABLE queryd_lost_term(id INTEGER PRIMARY KEY);"
                            "CREATE TEMP TABLE queryd_new_hash(h INTEGER, id INTEGER, PRIMARY KEY(h, id)) WITHOUT ROWID"))
        return FALSE;

    check.hashes_whole = has_secret > 0 && hashes->n_rows > 0 && hashes->losses->len == 0 && hashes->n_lost_rows == 0;
    check.dictionary = qd_dictionary_get(self->connection, error);
    ok = check.dictionary != NULL && prepare_check(&check, error) && judge_hashes(&check, error) && check_terms(&check, error);
    (void) sqlite3_finalize(check.terms);
    (void) sqlite3_finalize(check.find_hash);
    (void) sqlite3_finalize(check.drop);
    (void) sqlite3_finalize(check.keep);
    if (ok && check.n_dropped > 0) {
        count_dropped(self, "queryd_term", check.n_dropped);
        qd_salvage_report_note(self->report, "%" G_GUINT64_FORMAT " terms of the dictionary were altered, and are dropped",
                               check.n_dropped);
    }
    return ok && qd_salvage_execute(self, error,
                                    "DELETE FROM queryd_term WHERE id IN (SELECT id FROM queryd_lost_term);"
                                    "DELETE FROM queryd_term_hash;"
                                    "INSERT INTO queryd_term_hash SELECT h, id FROM queryd_new_hash;"
                                    "DROP TABLE queryd_lost_term; DROP TABLE queryd_new_hash");
}

/* Dangling ids and counters ---------------------------------------------------------------------------------------------- */

#define NO_TERM(column) column ">0 AND NOT EXISTS (SELECT 1 FROM queryd_term t WHERE t.id=" column ")"

static gboolean
drop_dangling(QdSalvage *self, GError **error)
{
    sqlite3 *db = qd_connection_get_db(self->connection);
    gint64 n_dropped;

    if (!qd_salvage_execute(self, error,
                            "DELETE FROM queryd_quad WHERE p<=0 OR s=0 OR o=0 OR (s>0 AND s&3<>0) OR p&3<>0 OR (g>0 AND g&3<>0)"
                            " OR " NO_TERM("s") " OR " NO_TERM("p") " OR " NO_TERM("o") " OR " NO_TERM("g")))
        return FALSE;
    n_dropped = sqlite3_changes64(db);
    if (n_dropped > 0) {
        count_dropped(self, "queryd_quad", (guint64) n_dropped);
        qd_salvage_report_note(self->report, "%" G_GINT64_FORMAT " quads are dropped, since they name terms that are lost",
                               n_dropped);
    }
    return qd_salvage_execute(self, error, "DELETE FROM queryd_graph WHERE " NO_TERM("id"));
}

/* Numbers are never given twice: the counters are above all that is in use, and may be above that. */
static gboolean
repair_counters(QdSalvage *self, GError **error)
{
    gint64 lowest = qd_term_id_get_tag_min(QD_TAG_BNODE);
    gint64 highest = qd_term_id_get_tag_max(QD_TAG_BNODE);
    g_autofree char *sql = g_strdup_printf(
        "SELECT max(id) FROM (SELECT max(s) AS id FROM queryd_quad WHERE s BETWEEN %" G_GINT64_FORMAT " AND %" G_GINT64_FORMAT
        " UNION ALL SELECT max(o) FROM queryd_quad INDEXED BY queryd_quad_ospg WHERE o BETWEEN %" G_GINT64_FORMAT
        " AND %" G_GINT64_FORMAT ")",
        lowest, highest, lowest, highest);
    gint64 bnode = 0;

    if (!qd_connection_get_int64(self->connection, sql, &bnode, error))
        return FALSE;
    return qd_salvage_execute(
        self, error,
        "UPDATE queryd_meta SET value=max(CAST(value AS INTEGER), %" G_GUINT64_FORMAT ") WHERE key='start_counter';"
        "UPDATE queryd_meta SET value=max(CAST(value AS INTEGER), ifnull((SELECT max(id) >> 2 FROM queryd_term), 0))"
        " WHERE key='term_sequence';"
        "UPDATE queryd_meta SET value=max(CAST(value AS INTEGER), %" G_GINT64_FORMAT ") WHERE key='bnode_serial'",
        self->options->start_counter, bnode != 0 ? qd_term_id_get_payload(bnode) : 0);
}

/* What keeps an older file from being stepped up is lost: then it is completed like one without a version. */
static gboolean
step_up(QdSalvage *self, GError **error)
{
    gint64 version = 0;

    if (!qd_schema_get_version(self->connection, &version, error))
        return FALSE;
    if (version <= 0 || version >= QD_SCHEMA_VERSION || qd_schema_migrate(self->connection, NULL))
        return TRUE;
    return qd_salvage_execute(self, error, "DELETE FROM queryd_meta WHERE key='schema_version'");
}

gboolean
qd_salvage_mend_rdf(QdSalvage *self, GError **error)
{
    QdQuads *quads;

    if (!step_up(self, error) || !qd_salvage_execute(self, error, "BEGIN") || !complete_schema(self, error))
        return FALSE;
    if (!table_exists(self, "queryd_quad") || !table_exists(self, "queryd_term") || !table_exists(self, "queryd_meta"))
        return qd_salvage_execute(self, error, "COMMIT");
    if (!mend_terms(self, error) || !drop_dangling(self, error) || !repair_counters(self, error))
        return FALSE;
    quads = qd_quads_get(self->connection, error);
    return quads != NULL && qd_quads_begin(quads, error) && qd_quads_recount(quads, error) && qd_quads_finish(quads, error) &&
           qd_salvage_execute(self, error, "COMMIT");
}
