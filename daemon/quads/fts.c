/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects of quads that come or go are collected, and looked at together: should the literal be in the index, and is it? The
 * view answers the first question, FTS5's table of sizes the second. So it does not matter how often or in which order a quad
 * comes and goes.
 */
#include "daemon/quads/fts.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/quads/quads.h"
#include "daemon/rdf/iri.h"
#include "daemon/rdf/term-id.h"
#include "daemon/sqlite/sqlite-error.h"

/* Literals that wait; more are worked off at once. */
#define PENDING_MAX 16384
/* Id in queryd_fulltext that stands for every predicate. */
#define EVERY_PREDICATE 0

typedef enum Statement { STATEMENT_LIST, STATEMENT_ADD, STATEMENT_DROP, N_STATEMENTS } Statement;

#define IS_INDEXED "EXISTS(SELECT 1 FROM queryd_fts_docsize WHERE id=t.id)"
#define IS_WANTED "EXISTS(SELECT 1 FROM queryd_fts_content WHERE id=t.id)"
#define ADD "INSERT INTO queryd_fts(rowid, lexical) SELECT id, lexical FROM queryd_fts_content AS t WHERE NOT " IS_INDEXED
#define DROP                                                                                                \
    "INSERT INTO queryd_fts(queryd_fts, rowid, lexical) SELECT 'delete', id, lexical FROM queryd_term AS t" \
    " WHERE (id&3) IN (1, 2) AND " IS_INDEXED " AND NOT " IS_WANTED

static const char *const statement_texts[N_STATEMENTS] = {
    [STATEMENT_LIST] = "SELECT id FROM queryd_fulltext",
    [STATEMENT_ADD] = ADD " AND id IN (SELECT value FROM temp.json_each(?1))",
    [STATEMENT_DROP] = DROP " AND id IN (SELECT value FROM temp.json_each(?1))",
};

static const struct {
    const char *name;
    const char *option; /* of FTS5 */
} tokenizers[] = {
    { "unicode61", "unicode61 remove_diacritics 2" },
    { "porter", "porter unicode61 remove_diacritics 2" },
    { "trigram", "trigram" },
};

struct QdFts {
    QdConnection *connection;
    sqlite3_stmt *statements[N_STATEMENTS]; /* each compiled at first use: without an index there is no table */
    GHashTable *predicates;                 /* set of gint64 */
    GHashTable *pending;                    /* set of gint64: literals */
};

/* Life ------------------------------------------------------------------------------------------------------------------ */

static void
fts_free(gpointer data)
{
    QdFts *self = data;

    for (guint i = 0; i < N_STATEMENTS; i++)
        (void) sqlite3_finalize(self->statements[i]);
    g_hash_table_unref(self->predicates);
    g_hash_table_unref(self->pending);
    g_free(self);
}

QdFts *
qd_fts_get(QdConnection *connection, GError **error)
{
    QdFts *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_FTS);

    if (self != NULL)
        return self;

    self = g_new0(QdFts, 1);
    self->connection = connection;
    self->predicates = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    self->pending = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    qd_connection_set_attachment(connection, QD_ATTACHMENT_FTS, self, fts_free);
    return self;
}

/* Work ------------------------------------------------------------------------------------------------------------------ */

static gboolean
prepare(QdFts *self, Statement which, GError **error)
{
    sqlite3 *db = qd_connection_get_db(self->connection);
    int r = SQLITE_OK;

    if (self->statements[which] == NULL)
        r = sqlite3_prepare_v3(db, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT, &self->statements[which], NULL);
    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_OK;
}

static gboolean
end(QdFts *self, Statement which, int r, GError **error)
{
    (void) sqlite3_reset(self->statements[which]);
    (void) sqlite3_clear_bindings(self->statements[which]);
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, qd_connection_get_db(self->connection), r, NULL, 0, NULL);
    return r == SQLITE_DONE;
}

static void
add_id(GHashTable *set, gint64 id)
{
    if (!g_hash_table_contains(set, &id))
        g_hash_table_add(set, g_memdup2(&id, sizeof id));
}

static gboolean
read_predicates(QdFts *self, GError **error)
{
    sqlite3_stmt *stmt;
    int r;

    g_hash_table_remove_all(self->predicates);
    if (!prepare(self, STATEMENT_LIST, error))
        return FALSE;
    stmt = self->statements[STATEMENT_LIST];
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
        add_id(self->predicates, sqlite3_column_int64(stmt, 0));
    return end(self, STATEMENT_LIST, r, error);
}

gboolean
qd_fts_begin(QdFts *self, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    gboolean ok = read_predicates(self, error);

    g_hash_table_remove_all(self->pending);
    (void) qd_connection_set_policy(self->connection, policy);
    return ok;
}

static gboolean
indexes(QdFts *self, gint64 p)
{
    const gint64 every = EVERY_PREDICATE;

    return g_hash_table_contains(self->predicates, &p) || g_hash_table_contains(self->predicates, &every);
}

gboolean
qd_fts_note(QdFts *self, gint64 p, gint64 o, GError **error)
{
    if (g_hash_table_size(self->predicates) == 0 || o <= 0 ||
        (qd_term_id_get_kind(o) != QD_TERM_STRING && qd_term_id_get_kind(o) != QD_TERM_LANG_STRING) || !indexes(self, p))
        return TRUE;

    add_id(self->pending, o);
    return g_hash_table_size(self->pending) < PENDING_MAX || qd_fts_finish(self, error);
}

/* @ids: an array in JSON */
static gboolean
run_for(QdFts *self, Statement which, const GString *ids, GError **error)
{
    if (!prepare(self, which, error))
        return FALSE;
    (void) sqlite3_bind_text64(self->statements[which], 1, ids->str, ids->len, SQLITE_STATIC, SQLITE_UTF8);
    return end(self, which, sqlite3_step(self->statements[which]), error);
}

/* One statement for all: FTS5 writes a segment for each statement that may write more than one row. */
gboolean
qd_fts_finish(QdFts *self, GError **error)
{
    g_autoptr(GString) ids = NULL;
    GHashTableIter iter;
    gpointer key;
    QdPolicy policy;
    gboolean ok;

    if (g_hash_table_size(self->pending) == 0)
        return TRUE;

    ids = g_string_new(NULL);
    g_hash_table_iter_init(&iter, self->pending);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        g_string_append_printf(ids, "%c%" G_GINT64_FORMAT, ids->len > 0 ? ',' : '[', *(const gint64 *) key);
    g_string_append_c(ids, ']');
    g_hash_table_remove_all(self->pending);
    policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    ok = run_for(self, STATEMENT_ADD, ids, error) && run_for(self, STATEMENT_DROP, ids, error);
    (void) qd_connection_set_policy(self->connection, policy);
    return ok;
}

gboolean
qd_fts_catch_up(QdFts *self, GError **error)
{
    g_hash_table_remove_all(self->pending);
    return g_hash_table_size(self->predicates) == 0 || qd_connection_execute(self->connection, ADD ";" DROP, error);
}

gboolean
qd_fts_clear(QdFts *self, GError **error)
{
    g_hash_table_remove_all(self->pending);
    return g_hash_table_size(self->predicates) == 0 ||
           qd_connection_execute(self->connection, "INSERT INTO queryd_fts(queryd_fts) VALUES('delete-all')", error);
}

/* Settings -------------------------------------------------------------------------------------------------------------- */

static gboolean
set_predicate(QdFts *self, gint64 id, gboolean indexed, GError **error)
{
    g_autofree char *sql = g_strdup_printf(indexed ? "INSERT OR IGNORE INTO queryd_fulltext(id) VALUES(%" G_GINT64_FORMAT ")"
                                                   : "DELETE FROM queryd_fulltext WHERE id=%" G_GINT64_FORMAT,
                                           id);

    return qd_connection_execute(self->connection, sql, error);
}

static gboolean
add_predicate(QdFts *self, QdDictionary *dictionary, const char *iri, GError **error)
{
    const QdTerm term = { .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = strlen(iri) };
    gint64 id;

    if (!qd_iri_is_absolute(iri, term.n_lexical) || !qd_iri_check(iri, term.n_lexical)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "predicate '%.200s' is no absolute IRI", iri);
        return FALSE;
    }
    return qd_dictionary_intern(dictionary, &term, &id, error) && set_predicate(self, id, TRUE, error);
}

static gboolean
remove_predicate(QdFts *self, QdDictionary *dictionary, const char *iri, GError **error)
{
    const QdTerm term = { .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = strlen(iri) };
    g_autoptr(GError) failure = NULL;
    gint64 id;

    if (qd_dictionary_find_id(dictionary, &term, &id, &failure) && g_hash_table_contains(self->predicates, &id))
        return set_predicate(self, id, FALSE, error);
    if (failure != NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    else
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "predicate <%.200s> is not in the full-text index", iri);
    return FALSE;
}

static gboolean
set_tokenizer(QdFts *self, const char *name, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(tokenizers); i++) {
        g_autofree char *sql = g_strdup_printf("DROP TABLE IF EXISTS queryd_fts;"
                                               "INSERT OR REPLACE INTO queryd_meta VALUES('fulltext_tokenizer', '%s')",
                                               tokenizers[i].name);

        if (g_str_equal(tokenizers[i].name, name))
            return qd_connection_execute(self->connection, sql, error);
    }
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "tokenizer '%.40s' is unknown: unicode61, porter and trigram are known", name);
    return FALSE;
}

/* The option of the tokenizer that was chosen, or of the first. */
static gboolean
get_tokenizer(QdFts *self, const char **ret_option, GError **error)
{
    *ret_option = tokenizers[0].option;
    for (guint i = 1; i < G_N_ELEMENTS(tokenizers); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM queryd_meta WHERE key='fulltext_tokenizer' AND value='%s'",
                                               tokenizers[i].name);
        gint64 n = 0;

        if (!qd_connection_get_int64(self->connection, sql, &n, error))
            return FALSE;
        if (n > 0)
            *ret_option = tokenizers[i].option;
    }
    return TRUE;
}

/* The table as the settings want it: none, or one that has all literals. */
static gboolean
apply(QdFts *self, gboolean anew, GError **error)
{
    g_autofree char *create = NULL;
    const char *tokenizer;

    if (!read_predicates(self, error))
        return FALSE;
    if (anew || g_hash_table_size(self->predicates) == 0)
        if (!qd_connection_execute(self->connection, "DROP TABLE IF EXISTS queryd_fts", error))
            return FALSE;
    if (g_hash_table_size(self->predicates) == 0)
        return TRUE;
    if (!get_tokenizer(self, &tokenizer, error))
        return FALSE;
    create = g_strdup_printf("CREATE VIRTUAL TABLE IF NOT EXISTS queryd_fts USING fts5(lexical, content='queryd_fts_content',"
                             " content_rowid='id', tokenize='%s')",
                             tokenizer);
    return qd_connection_execute(self->connection, create, error) && qd_fts_catch_up(self, error);
}

/* FTS5 reads each literal again and says no more than that the index is damaged. */
static gboolean
compare(QdFts *self, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (g_hash_table_size(self->predicates) == 0 ||
        qd_connection_execute(self->connection, "INSERT INTO queryd_fts(queryd_fts, rank) VALUES('integrity-check', 1)", &failure))
        return TRUE;
    if (sqlite3_errcode(qd_connection_get_db(self->connection)) == SQLITE_CORRUPT_VTAB)
        qd_error_set(error, QW_ERROR_CORRUPT, "the full-text index does not fit the literals: rebuild it");
    else
        g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

static gboolean
change_settings(QdFts *self, QdQuads *quads, const QdFtsChange *change, GError **error)
{
    QdDictionary *dictionary = qd_quads_get_dictionary(quads);

    if (change->tokenizer != NULL && !set_tokenizer(self, change->tokenizer, error))
        return FALSE;
    for (char **iri = change->add; iri != NULL && *iri != NULL; iri++)
        if (!add_predicate(self, dictionary, *iri, error))
            return FALSE;
    for (char **iri = change->remove; iri != NULL && *iri != NULL; iri++)
        if (!remove_predicate(self, dictionary, *iri, error))
            return FALSE;
    return !change->has_all || set_predicate(self, EVERY_PREDICATE, change->all, error);
}

gboolean
qd_fts_change(QdConnection *writer, const QdFtsChange *change, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(writer, QD_POLICY_INTERNAL);
    QdFts *self = qd_fts_get(writer, error);
    QdQuads *quads = self != NULL ? qd_quads_get(writer, error) : NULL;
    gboolean ok = quads != NULL && qd_quads_begin(quads, error) && change_settings(self, quads, change, error) &&
                  qd_quads_finish(quads, error) && apply(self, change->rebuild, error) &&
                  (!change->compare || compare(self, error));

    (void) qd_connection_set_policy(writer, policy);
    return ok;
}

/* Check ----------------------------------------------------------------------------------------------------------------- */

gboolean
qd_fts_check(QdConnection *connection, GPtrArray *messages, GError **error)
{
    static const struct {
        const char *sql;
        const char *what;
    } differences[] = {
        { "SELECT count(*) FROM queryd_fts_content AS t WHERE NOT " IS_INDEXED, "lacks" },
        { "SELECT count(*) FROM queryd_fts_docsize AS t WHERE NOT " IS_WANTED, "has too many of" },
    };
    gint64 n = 0;

    if (!qd_connection_get_int64(connection, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_fts'", &n, error))
        return FALSE;
    if (n == 0)
        return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(differences); i++) {
        if (!qd_connection_get_int64(connection, differences[i].sql, &n, error))
            return FALSE;
        if (n > 0)
            g_ptr_array_add(messages, g_strdup_printf("the full-text index %s %" G_GINT64_FORMAT " literals: rebuild it",
                                                      differences[i].what, n));
    }
    return TRUE;
}
