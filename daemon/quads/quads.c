/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each insertion and deletion asks whether (s, p) and (p, o) are there in other quads; the answers change the distinct counts.
 * What changes is collected in memory and written by finish: a row for each predicate and graph that was touched.
 */
#include "daemon/quads/quads.h"

#include "daemon/quads/fts.h"
#include "daemon/rdf/term-id.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/tally/tally-changes.h"

/* A graph is deleted in portions, so that the list of what to delete stays small. */
#define PORTION 4096

typedef enum Statement {
    STATEMENT_INSERT,
    STATEMENT_DELETE,
    STATEMENT_HAS_SUBJECT,
    STATEMENT_HAS_OBJECT,
    STATEMENT_LIST_DEFAULT,
    STATEMENT_LIST_NAMED,
    STATEMENT_PUT_PREDICATE,
    STATEMENT_GET_STAMP,
    STATEMENT_DROP_PREDICATE,
    STATEMENT_GET_GRAPH,
    STATEMENT_PUT_GRAPH,
    STATEMENT_EXPLICIT_GRAPH,
    STATEMENT_DROP_GRAPH,
    N_STATEMENTS,
} Statement;

static const char *const statement_texts[N_STATEMENTS] = {
    [STATEMENT_INSERT] = "INSERT OR IGNORE INTO queryd_quad(s, p, o, g) VALUES(?, ?, ?, ?)",
    [STATEMENT_DELETE] = "DELETE FROM queryd_quad WHERE s=? AND p=? AND o=? AND g=?",
    [STATEMENT_HAS_SUBJECT] = "SELECT 1 FROM queryd_quad WHERE s=? AND p=? LIMIT 1 OFFSET ?",
    [STATEMENT_HAS_OBJECT] = "SELECT 1 FROM queryd_quad INDEXED BY queryd_quad_posg WHERE p=? AND o=? LIMIT 1 OFFSET ?",
    [STATEMENT_LIST_DEFAULT] = "SELECT s, p, o FROM queryd_quad WHERE g=? LIMIT ?",
    [STATEMENT_LIST_NAMED] = "SELECT s, p, o FROM queryd_quad INDEXED BY queryd_quad_gspo WHERE g=? AND g<>0 LIMIT ?",
    [STATEMENT_PUT_PREDICATE] = "INSERT INTO queryd_predicate(id, n_quads, n_subjects, n_objects, tags, stamp)"
                                " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
                                " ON CONFLICT(id) DO UPDATE SET n_quads=n_quads+?2, n_subjects=n_subjects+?3,"
                                " n_objects=n_objects+?4, tags=tags|?5, stamp=excluded.stamp",
    [STATEMENT_GET_STAMP] = "SELECT stamp FROM queryd_predicate WHERE id=?",
    [STATEMENT_DROP_PREDICATE] = "DELETE FROM queryd_predicate WHERE id=? AND n_quads<=0",
    [STATEMENT_GET_GRAPH] = "SELECT 1 FROM queryd_graph WHERE id=?1 AND (explicit<>0 OR n_quads+?2>0)",
    [STATEMENT_PUT_GRAPH] = "INSERT INTO queryd_graph(id, n_quads, explicit) VALUES(?1, ?2, 0)"
                            " ON CONFLICT(id) DO UPDATE SET n_quads=n_quads+?2",
    [STATEMENT_EXPLICIT_GRAPH] = "INSERT INTO queryd_graph(id, n_quads, explicit) VALUES(?1, 0, ?2)"
                                 " ON CONFLICT(id) DO UPDATE SET explicit=?2",
    [STATEMENT_DROP_GRAPH] = "DELETE FROM queryd_graph WHERE id=? AND n_quads<=0 AND explicit=0",
};

/* What has changed of a predicate. */
typedef struct Change {
    gint64 id;
    gint64 n_quads;
    gint64 n_subjects;
    gint64 n_objects;
    guint64 tags;
    GArray *pairs; /* (nullable) of QdTallyPairChange: those of the default graph, as long as @has_all */
    gboolean has_all;
} Change;

struct QdQuads {
    QdConnection *connection;
    sqlite3 *db;
    QdDictionary *dictionary;
    QdFts *fts;
    sqlite3_stmt *statements[N_STATEMENTS];
    GHashTable *predicates; /* id → Change */
    GHashTable *graphs;     /* id → Change, of which n_quads counts */
    Change *last_predicate; /* the one that was asked for last */
    gboolean default_graph; /* it was touched; it has no count */
    gboolean notes_pairs;   /* columns are kept, which changes can be added to */
};

static gboolean
fail(QdQuads *self, int r, GError **error)
{
    qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
    return FALSE;
}

/* Steps a statement to its end. @ret_row: (nullable): whether it gave a row */
static gboolean
run(QdQuads *self, Statement which, const gint64 *values, int n_values, gboolean *ret_row, GError **error)
{
    sqlite3_stmt *stmt = self->statements[which];
    QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    int r;

    for (int i = 0; i < n_values; i++)
        (void) sqlite3_bind_int64(stmt, i + 1, values[i]);
    r = sqlite3_step(stmt);
    (void) sqlite3_reset(stmt);
    (void) qd_connection_set_policy(self->connection, policy);
    if (r != SQLITE_ROW && r != SQLITE_DONE)
        return fail(self, r, error);
    if (ret_row != NULL)
        *ret_row = r == SQLITE_ROW;
    return TRUE;
}

/* Life ------------------------------------------------------------------------------------------------------------------ */

static void
quads_free(gpointer data)
{
    QdQuads *self = data;

    for (guint i = 0; i < N_STATEMENTS; i++)
        (void) sqlite3_finalize(self->statements[i]);
    g_hash_table_unref(self->predicates);
    g_hash_table_unref(self->graphs);
    g_free(self);
}

static void
change_free(gpointer data)
{
    Change *self = data;

    g_clear_pointer(&self->pairs, g_array_unref);
    g_free(self);
}

static GHashTable *
make_changes(void)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, change_free);
}

QdQuads *
qd_quads_get(QdConnection *connection, GError **error)
{
    QdQuads *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_QUADS);
    QdDictionary *dictionary = qd_dictionary_get(connection, error);
    QdFts *fts = qd_fts_get(connection, error);
    QdPolicy policy;
    int r = SQLITE_OK;

    if (self != NULL || dictionary == NULL || fts == NULL)
        return self;

    self = g_new0(QdQuads, 1);
    self->connection = connection;
    self->db = qd_connection_get_db(connection);
    self->dictionary = dictionary;
    self->fts = fts;
    self->predicates = make_changes();
    self->graphs = make_changes();
    policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    for (guint i = 0; i < N_STATEMENTS && r == SQLITE_OK; i++)
        r = sqlite3_prepare_v3(self->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT, &self->statements[i], NULL);
    (void) qd_connection_set_policy(connection, policy);
    if (r != SQLITE_OK) {
        (void) fail(self, r, error);
        quads_free(self);
        return NULL;
    }
    qd_connection_set_attachment(connection, QD_ATTACHMENT_QUADS, self, quads_free);
    return self;
}

QdDictionary *
qd_quads_get_dictionary(QdQuads *self)
{
    return self->dictionary;
}

/* Statistics ------------------------------------------------------------------------------------------------------------ */

guint64
qd_quads_get_tag_bit(gint64 o)
{
    return G_GUINT64_CONSTANT(1) << (qd_term_id_is_inline(o) ? qd_term_id_get_tag(o) : 32u + (guint) qd_term_id_get_kind(o));
}

static Change *
find_change(GHashTable *changes, gint64 id)
{
    Change *change = g_hash_table_lookup(changes, &id);

    if (change == NULL) {
        change = g_new0(Change, 1);
        change->id = id;
        change->has_all = TRUE;
        g_hash_table_insert(changes, &change->id, change);
    }
    return change;
}

static Change *
find_predicate(QdQuads *self, gint64 p)
{
    if (self->last_predicate == NULL || self->last_predicate->id != p)
        self->last_predicate = find_change(self->predicates, p);
    return self->last_predicate;
}

static void
forget_changes(QdQuads *self)
{
    self->last_predicate = NULL;
    self->default_graph = FALSE;
    g_hash_table_remove_all(self->predicates);
    g_hash_table_remove_all(self->graphs);
}

gboolean
qd_quads_begin(QdQuads *self, GError **error)
{
    forget_changes(self);
    self->notes_pairs = qd_tally_changes_are_wanted();
    return qd_fts_begin(self->fts, error) && qd_dictionary_begin(self->dictionary, error);
}

static void
list_ids(GHashTable *changes, GArray *ids)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, changes);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_array_append_val(ids, ((const Change *) value)->id);
}

void
qd_quads_list_touched(QdQuads *self, GArray *predicates, GArray *graphs)
{
    const gint64 default_graph = 0;

    list_ids(self->predicates, predicates);
    list_ids(self->graphs, graphs);
    if (self->default_graph)
        g_array_append_val(graphs, default_graph);
}

/* 0: it has none. */
static gint64
get_stamp(QdQuads *self, gint64 p)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_GET_STAMP];
    gint64 stamp;

    (void) sqlite3_bind_int64(stmt, 1, p);
    stamp = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    (void) sqlite3_reset(stmt);
    return stamp;
}

static gboolean
put_predicate(QdQuads *self, const Change *change, GError **error)
{
    const gboolean is_known = self->notes_pairs && change->has_all;
    const gint64 before = is_known ? get_stamp(self, change->id) : 0;
    gint64 stamp;

    sqlite3_randomness(sizeof stamp, &stamp);
    {
        const gint64 values[] = {
            change->id, change->n_quads, change->n_subjects, change->n_objects, (gint64) change->tags, stamp
        };

        if (!run(self, STATEMENT_PUT_PREDICATE, values, G_N_ELEMENTS(values), NULL, error) ||
            (change->n_quads < 0 && !run(self, STATEMENT_DROP_PREDICATE, values, 1, NULL, error)))
            return FALSE;
    }
    if (is_known)
        qd_tally_changes_note(before, stamp, change->pairs != NULL ? (const QdTallyPairChange *) change->pairs->data : NULL,
                              change->pairs != NULL ? change->pairs->len : 0);
    return TRUE;
}

gboolean
qd_quads_finish(QdQuads *self, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    GHashTableIter iter;
    gpointer value;
    gboolean ok = qd_dictionary_finish(self->dictionary, error) && qd_fts_finish(self->fts, error);

    g_hash_table_iter_init(&iter, self->predicates);
    while (ok && g_hash_table_iter_next(&iter, NULL, &value)) {
        ok = put_predicate(self, value, error);
    }
    g_hash_table_iter_init(&iter, self->graphs);
    while (ok && g_hash_table_iter_next(&iter, NULL, &value)) {
        const Change *change = value;
        const gint64 values[] = { change->id, change->n_quads };

        ok = run(self, STATEMENT_PUT_GRAPH, values, G_N_ELEMENTS(values), NULL, error) &&
             run(self, STATEMENT_DROP_GRAPH, values, 1, NULL, error);
    }
    forget_changes(self);
    (void) qd_connection_set_policy(self->connection, policy);
    return ok;
}

/* Quads ----------------------------------------------------------------------------------------------------------------- */

/* The quads are known only by their number, or are too many. */
static void
forget_pairs(Change *change)
{
    change->has_all = FALSE;
    g_clear_pointer(&change->pairs, g_array_unref);
}

static void
note_pair(Change *change, gint64 s, gint64 o, gint64 sign)
{
    const QdTallyPairChange pair = { s, o, sign < 0 };

    if (!change->has_all)
        return;
    if (change->pairs == NULL)
        change->pairs = g_array_new(FALSE, FALSE, sizeof pair);
    if (change->pairs->len < QD_TALLY_CHANGES_MAX)
        g_array_append_val(change->pairs, pair);
    else
        forget_pairs(change);
}

/* Counts a quad that has just come (+1) or gone (-1): its subject and object count if no other quad has them. */
static gboolean
count_quad(QdQuads *self, gint64 s, gint64 p, gint64 o, gint64 g, gint64 sign, GError **error)
{
    const gint64 n_own = sign > 0 ? 1 : 0;
    const gint64 subject[] = { s, p, n_own };
    const gint64 object[] = { p, o, n_own };
    gboolean has_subject = FALSE;
    gboolean has_object = FALSE;
    Change *change;

    if (!run(self, STATEMENT_HAS_SUBJECT, subject, 3, &has_subject, error) ||
        !run(self, STATEMENT_HAS_OBJECT, object, 3, &has_object, error))
        return FALSE;

    change = find_predicate(self, p);
    change->n_quads += sign;
    change->n_subjects += has_subject ? 0 : sign;
    change->n_objects += has_object ? 0 : sign;
    if (sign > 0)
        change->tags |= qd_quads_get_tag_bit(o);
    if (g == 0 && self->notes_pairs)
        note_pair(change, s, o, sign);
    if (g != 0)
        find_change(self->graphs, g)->n_quads += sign;
    else
        self->default_graph = TRUE;
    return TRUE;
}

gboolean
qd_quads_insert(QdQuads *self, gint64 s, gint64 p, gint64 o, gint64 g, gboolean *ret_changed, GError **error)
{
    const gint64 values[] = { s, p, o, g };
    gint64 before = sqlite3_total_changes64(self->db);
    gboolean changed;

    if (!run(self, STATEMENT_INSERT, values, 4, NULL, error))
        return FALSE;
    changed = sqlite3_total_changes64(self->db) != before;
    if (ret_changed != NULL)
        *ret_changed = changed;
    return !changed || (count_quad(self, s, p, o, g, 1, error) && qd_fts_note(self->fts, p, o, error));
}

gboolean
qd_quads_delete(QdQuads *self, gint64 s, gint64 p, gint64 o, gint64 g, gboolean *ret_changed, GError **error)
{
    const gint64 values[] = { s, p, o, g };
    gint64 before = sqlite3_total_changes64(self->db);
    gboolean changed;

    if (!run(self, STATEMENT_DELETE, values, 4, NULL, error))
        return FALSE;
    changed = sqlite3_total_changes64(self->db) != before;
    if (ret_changed != NULL)
        *ret_changed = changed;
    return !changed || (count_quad(self, s, p, o, g, -1, error) && qd_fts_note(self->fts, p, o, error));
}

/* Graphs ---------------------------------------------------------------------------------------------------------------- */

/* Up to PORTION quads of @g, three ids each. */
static gboolean
list_quads(QdQuads *self, gint64 g, GArray *ids, GError **error)
{
    sqlite3_stmt *stmt = self->statements[g == 0 ? STATEMENT_LIST_DEFAULT : STATEMENT_LIST_NAMED];
    int r;

    g_array_set_size(ids, 0);
    (void) sqlite3_bind_int64(stmt, 1, g);
    (void) sqlite3_bind_int64(stmt, 2, PORTION);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
        for (int i = 0; i < 3; i++) {
            gint64 id = sqlite3_column_int64(stmt, i);

            g_array_append_val(ids, id);
        }
    (void) sqlite3_reset(stmt);
    return r == SQLITE_DONE || fail(self, r, error);
}

gboolean
qd_quads_delete_graph(QdQuads *self, gint64 g, gboolean forget, guint64 *ret_n_quads, GError **error)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(gint64));
    const gint64 values[] = { g, 0 };
    guint64 n_quads = 0;

    do {
        if (!list_quads(self, g, ids, error))
            return FALSE;
        for (guint i = 0; i < ids->len; i += 3)
            if (!qd_quads_delete(self, g_array_index(ids, gint64, i), g_array_index(ids, gint64, i + 1),
                                 g_array_index(ids, gint64, i + 2), g, NULL, error))
                return FALSE;
        n_quads += ids->len / 3;
    } while (ids->len > 0);

    if (ret_n_quads != NULL)
        *ret_n_quads = n_quads;
    if (g == 0 || !forget)
        return TRUE;
    /* a change of 0 quads makes finish look at the row */
    (void) find_change(self->graphs, g);
    return run(self, STATEMENT_EXPLICIT_GRAPH, values, 2, NULL, error);
}

gboolean
qd_quads_delete_all(QdQuads *self, guint64 *ret_n_quads, GError **error)
{
    gint64 before = sqlite3_total_changes64(self->db);

    forget_changes(self);
    if (!qd_connection_execute(self->connection, "DELETE FROM queryd_quad", error))
        return FALSE;
    if (ret_n_quads != NULL)
        *ret_n_quads = (guint64) (sqlite3_total_changes64(self->db) - before);
    return qd_connection_execute(self->connection, "DELETE FROM queryd_predicate; DELETE FROM queryd_graph", error) &&
           qd_fts_clear(self->fts, error);
}

gboolean
qd_quads_has_graph(QdQuads *self, gint64 g, gboolean *ret_exists, GError **error)
{
    const Change *change = g_hash_table_lookup(self->graphs, &g);
    const gint64 values[] = { g, change != NULL ? change->n_quads : 0 };
    gboolean exists = FALSE;

    if (!run(self, STATEMENT_GET_GRAPH, values, 2, &exists, error))
        return FALSE;
    *ret_exists = exists || (change != NULL && change->n_quads > 0);
    return TRUE;
}

gboolean
qd_quads_create_graph(QdQuads *self, gint64 g, GError **error)
{
    const gint64 values[] = { g, 1 };

    (void) find_change(self->graphs, g); /* of 0 quads: it was touched */
    return run(self, STATEMENT_EXPLICIT_GRAPH, values, 2, NULL, error);
}

/* Rebuilding all ----------------------------------------------------------------------------------------------------- */

/* Calls @count for each row of two ids; they come in order. */
static gboolean
scan(QdQuads *self, const char *sql, void (*count)(QdQuads *self, gint64 a, gint64 b, gboolean same_a, gboolean same_b),
     GError **error)
{
    sqlite3_stmt *stmt = NULL;
    gint64 last_a = 0;
    gint64 last_b = 0;
    int r = sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL);

    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
            gint64 a = sqlite3_column_int64(stmt, 0);
            gint64 b = sqlite3_column_int64(stmt, 1);

            count(self, a, b, a == last_a, a == last_a && b == last_b);
            last_a = a;
            last_b = b;
        }
    (void) sqlite3_finalize(stmt);
    return r == SQLITE_DONE || fail(self, r, error);
}

static void
count_object(QdQuads *self, gint64 p, gint64 o, gboolean same_p, gboolean same_o)
{
    Change *change = find_predicate(self, p);

    change->n_quads++;
    forget_pairs(change);
    if (same_o)
        return;
    change->n_objects++;
    change->tags |= qd_quads_get_tag_bit(o);
}

static void
count_subject(QdQuads *self, gint64 s, gint64 p, gboolean same_s, gboolean same_p)
{
    if (!same_p)
        find_predicate(self, p)->n_subjects++;
}

void
qd_quads_count_loaded(QdQuads *self, QdQuadTree tree, const gint64 *quad, const gint64 *last)
{
    if (tree == QD_QUAD_TREE_POSG)
        count_object(self, quad[1], quad[2], quad[1] == last[1], quad[1] == last[1] && quad[2] == last[2]);
    if (tree != QD_QUAD_TREE_SPOG)
        return;
    count_subject(self, quad[0], quad[1], quad[0] == last[0], quad[0] == last[0] && quad[1] == last[1]);
    if (quad[3] != 0)
        find_change(self->graphs, quad[3])->n_quads++;
    else
        self->default_graph = TRUE;
}

gboolean
qd_quads_recount(QdQuads *self, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    gboolean ok;

    forget_changes(self);
    ok = scan(self, "SELECT p, o FROM queryd_quad INDEXED BY queryd_quad_posg ORDER BY p, o", count_object, error) &&
         scan(self, "SELECT s, p FROM queryd_quad NOT INDEXED ORDER BY s, p", count_subject, error) &&
         qd_connection_execute(self->connection,
                               "DELETE FROM queryd_predicate; UPDATE queryd_graph SET n_quads=0;"
                               "INSERT INTO queryd_graph(id, n_quads, explicit)"
                               " SELECT g, count(*), 0 FROM queryd_quad INDEXED BY queryd_quad_gspo WHERE g<>0 GROUP BY g"
                               " ON CONFLICT(id) DO UPDATE SET n_quads=excluded.n_quads;"
                               "DELETE FROM queryd_graph WHERE n_quads=0 AND explicit=0",
                               error);
    (void) qd_connection_set_policy(self->connection, policy);
    return ok;
}

gboolean
qd_quads_finish_load(QdQuads *self, gboolean counted, GError **error)
{
    return (counted || qd_quads_recount(self, error)) && qd_fts_catch_up(self->fts, error);
}

gboolean
qd_quads_list_prefixes(QdConnection *connection, QdPrefixMap *prefixes, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = qd_connection_get_db(connection);
    int r = sqlite3_prepare_v2(db, "SELECT prefix, iri FROM queryd_prefix ORDER BY prefix", -1, &stmt, NULL);

    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
            (void) qd_prefix_map_add(prefixes, (const char *) sqlite3_column_text(stmt, 0),
                                     (const char *) sqlite3_column_text(stmt, 1));
    (void) sqlite3_finalize(stmt);
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_DONE;
}
