/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One statement for each pattern of bound positions, each on the index that has them in front.
 */
#include "daemon/quads/store-catalog.h"

#include <string.h>

#include "daemon/quads/dictionary.h"
#include "daemon/sqlite/sqlite-error.h"

enum {
    BOUND_S = 1,
    BOUND_P = 2,
    BOUND_O = 4,
    N_PATTERNS = 8,
};

#define LIST(where) "SELECT s, p, o FROM queryd_quad " where
#define COUNT(where) "SELECT count(*) FROM (SELECT 1 FROM queryd_quad " where " LIMIT ?)"
#define BY_SUBJECT "NOT INDEXED WHERE "
#define BY_PREDICATE "INDEXED BY queryd_quad_posg WHERE "
#define BY_OBJECT "INDEXED BY queryd_quad_ospg WHERE "

#define TEXTS(where)              \
    {                             \
        COUNT(where), LIST(where) \
    }

static const struct {
    const char *count;
    const char *list;
} texts[N_PATTERNS] = {
    [0] = TEXTS("NOT INDEXED"),
    [BOUND_S] = TEXTS(BY_SUBJECT "s=?"),
    [BOUND_P] = TEXTS(BY_PREDICATE "p=?"),
    [BOUND_S | BOUND_P] = TEXTS(BY_SUBJECT "s=? AND p=?"),
    [BOUND_O] = TEXTS(BY_OBJECT "o=?"),
    [BOUND_S | BOUND_O] = TEXTS(BY_OBJECT "s=? AND o=?"),
    [BOUND_P | BOUND_O] = TEXTS(BY_PREDICATE "p=? AND o=?"),
    [BOUND_S | BOUND_P | BOUND_O] = TEXTS(BY_SUBJECT "s=? AND p=? AND o=?"),
};

#define N_REMEMBERED 256 /* predicates, and counts, since the last load */
#define N_REMEMBERED_GRAPHS 16
#define AVERAGED_GRAPHS 200 /* each compilation reads them once, for GRAPH ?g */

typedef struct RememberedPredicate {
    guint64 hash; /* 0: nothing */
    gboolean found;
    QdPredicateStatistics statistics;
} RememberedPredicate;

typedef struct RememberedCount {
    guint64 hash; /* 0: nothing */
    guint64 n_quads;
    guint64 cap;
} RememberedCount;

typedef struct StoreCatalog {
    QdDictionary *dictionary;
    sqlite3_stmt *totals;
    sqlite3_stmt *predicate;
    sqlite3_stmt *prefix;
    sqlite3_stmt *counts[N_PATTERNS];
    sqlite3_stmt *lists[N_PATTERNS];              /* compiled at first use */
    RememberedPredicate predicates[N_REMEMBERED]; /* by hash */
    RememberedCount remembered_counts[N_REMEMBERED];
    QdConnection *connection;
    RememberedCount remembered_graphs[N_REMEMBERED_GRAPHS];
    sqlite3_stmt *graph; /* compiled at first use, as the next ones: not every store has their tables */
    sqlite3_stmt *graphs;
    sqlite3_stmt *matches;
    sqlite3_stmt *indexed;
} StoreCatalog;

static void
store_catalog_free(gpointer data)
{
    StoreCatalog *self = data;

    (void) sqlite3_finalize(self->totals);
    (void) sqlite3_finalize(self->predicate);
    (void) sqlite3_finalize(self->prefix);
    for (guint i = 0; i < N_PATTERNS; i++) {
        (void) sqlite3_finalize(self->counts[i]);
        (void) sqlite3_finalize(self->lists[i]);
    }
    (void) sqlite3_finalize(self->graph);
    (void) sqlite3_finalize(self->graphs);
    (void) sqlite3_finalize(self->matches);
    (void) sqlite3_finalize(self->indexed);
    g_free(self);
}

static StoreCatalog *
store_catalog_new(QdConnection *connection, GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    QdDictionary *dictionary = qd_dictionary_get(connection, error);
    StoreCatalog *self;
    QdPolicy policy;
    int r;

    if (dictionary == NULL)
        return NULL;

    self = g_new0(StoreCatalog, 1);
    self->dictionary = dictionary;
    self->connection = connection;
    policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    r = sqlite3_prepare_v3(db, "SELECT sum(n_quads), count(*) FROM queryd_predicate", -1, SQLITE_PREPARE_PERSISTENT, &self->totals,
                           NULL);
    if (r == SQLITE_OK)
        r = sqlite3_prepare_v3(db, "SELECT n_quads, n_subjects, n_objects, tags FROM queryd_predicate WHERE id=?", -1,
                               SQLITE_PREPARE_PERSISTENT, &self->predicate, NULL);
    if (r == SQLITE_OK)
        r = sqlite3_prepare_v3(db, "SELECT iri FROM queryd_prefix WHERE prefix=?", -1, SQLITE_PREPARE_PERSISTENT, &self->prefix,
                               NULL);
    for (guint i = 0; i < N_PATTERNS && r == SQLITE_OK; i++)
        r = sqlite3_prepare_v3(db, texts[i].count, -1, SQLITE_PREPARE_PERSISTENT, &self->counts[i], NULL);
    (void) qd_connection_set_policy(connection, policy);
    if (r == SQLITE_OK)
        return self;

    qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    store_catalog_free(self);
    return NULL;
}

static gboolean
read_predicate(gpointer data, const QdTerm *predicate, QdPredicateStatistics *ret_statistics)
{
    StoreCatalog *self = data;
    sqlite3_stmt *stmt = self->predicate;
    gboolean found = FALSE;
    gint64 id;

    if (!qd_dictionary_find_id(self->dictionary, predicate, &id, NULL))
        return FALSE;
    (void) sqlite3_bind_int64(stmt, 1, id);
    found = sqlite3_step(stmt) == SQLITE_ROW;
    if (found)
        *ret_statistics = (QdPredicateStatistics){
            .n_quads = (guint64) sqlite3_column_int64(stmt, 0),
            .n_subjects = (guint64) sqlite3_column_int64(stmt, 1),
            .n_objects = (guint64) sqlite3_column_int64(stmt, 2),
            .tags = (guint64) sqlite3_column_int64(stmt, 3),
        };
    (void) sqlite3_reset(stmt);
    return found;
}

/* Each compilation asks for the same few predicates: two look-ups in the dictionary and one here take 5 µs. */
static gboolean
get_predicate(gpointer data, const QdTerm *predicate, QdPredicateStatistics *ret_statistics)
{
    StoreCatalog *self = data;
    guint64 hash = MAX(qd_term_hash(predicate), 1);
    RememberedPredicate *remembered = &self->predicates[hash % N_REMEMBERED];

    if (remembered->hash != hash) {
        *remembered = (RememberedPredicate){ .hash = hash };
        remembered->found = read_predicate(data, predicate, &remembered->statistics);
    }
    if (remembered->found)
        *ret_statistics = remembered->statistics;
    return remembered->found;
}

static guint64
read_count(gpointer data, const QdTerm *s, const QdTerm *p, const QdTerm *o, guint64 cap)
{
    StoreCatalog *self = data;
    const QdTerm *terms[] = { s, p, o };
    sqlite3_stmt *stmt = self->counts[(s != NULL ? BOUND_S : 0) | (p != NULL ? BOUND_P : 0) | (o != NULL ? BOUND_O : 0)];
    guint64 n_quads = 0;
    int index = 0;
    gint64 id;

    for (guint i = 0; i < G_N_ELEMENTS(terms); i++) {
        if (terms[i] == NULL)
            continue;
        if (!qd_dictionary_find_id(self->dictionary, terms[i], &id, NULL))
            return 0;
        (void) sqlite3_bind_int64(stmt, ++index, id);
    }
    (void) sqlite3_bind_int64(stmt, ++index, (gint64) MIN(cap, (guint64) G_MAXINT64));
    if (sqlite3_step(stmt) == SQLITE_ROW)
        n_quads = (guint64) sqlite3_column_int64(stmt, 0);
    (void) sqlite3_reset(stmt);
    return n_quads;
}

static guint64
count_quads(gpointer data, const QdTerm *s, const QdTerm *p, const QdTerm *o, guint64 cap)
{
    StoreCatalog *self = data;
    const QdTerm *terms[] = { s, p, o };
    guint64 hash = 1;
    RememberedCount *remembered;

    for (guint i = 0; i < G_N_ELEMENTS(terms); i++)
        hash = hash * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + (terms[i] != NULL ? qd_term_hash(terms[i]) : 0);
    hash = MAX(hash, 1);
    remembered = &self->remembered_counts[hash % N_REMEMBERED];
    if (remembered->hash != hash || (remembered->cap < cap && remembered->n_quads == remembered->cap))
        *remembered = (RememberedCount){ hash, read_count(data, s, p, o, cap), cap };
    return MIN(remembered->n_quads, cap);
}

/* The number that a statement gives; 0 without its tables. @text: (nullable): of a full-text query */
static guint64
ask_number(StoreCatalog *self, sqlite3_stmt **stmt, const char *sql, const QdTerm *text, gint64 number)
{
    QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    guint64 result = 0;

    if (*stmt == NULL)
        (void) sqlite3_prepare_v3(qd_connection_get_db(self->connection), sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (*stmt != NULL) {
        (void) sqlite3_bind_int64(*stmt, 1, number);
        if (text != NULL)
            (void) sqlite3_bind_text64(*stmt, 2, text->lexical, text->n_lexical, SQLITE_STATIC, SQLITE_UTF8);
        if (sqlite3_step(*stmt) == SQLITE_ROW)
            result = (guint64) sqlite3_column_int64(*stmt, 0);
        (void) sqlite3_reset(*stmt);
        (void) sqlite3_clear_bindings(*stmt);
    }
    (void) qd_connection_set_policy(self->connection, policy);
    return result;
}

/* The average is that of the quads in the first graphs: most are looked for in large ones. */
static guint64
read_graph(StoreCatalog *self, const QdTerm *graph)
{
    gint64 id = 0;

    if (graph == NULL)
        return ask_number(
            self, &self->graphs,
            "SELECT sum(1.0*n_quads*n_quads)/sum(n_quads) FROM (SELECT n_quads FROM queryd_graph WHERE id<>0 LIMIT ?1)", NULL,
            AVERAGED_GRAPHS);
    if (!qd_dictionary_find_id(self->dictionary, graph, &id, NULL))
        return 0;
    return ask_number(self, &self->graph, "SELECT n_quads FROM queryd_graph WHERE id=?1", NULL, id);
}

static guint64
count_graph(gpointer data, const QdTerm *graph)
{
    StoreCatalog *self = data;
    guint64 hash = graph != NULL ? MAX(qd_term_hash(graph), 2) : 1;
    RememberedCount *remembered = &self->remembered_graphs[hash % N_REMEMBERED_GRAPHS];

    if (remembered->hash != hash)
        *remembered = (RememberedCount){ .hash = hash, .n_quads = read_graph(self, graph) };
    return remembered->n_quads;
}

static gboolean
find_id(gpointer data, const QdTerm *term, gint64 *ret_id)
{
    StoreCatalog *self = data;

    return qd_dictionary_find_id(self->dictionary, term, ret_id, NULL);
}

static guint
list_quads(gpointer data, const QdQuadIds *pattern, guint stride, guint n_max, QdQuadIds *ret_quads)
{
    StoreCatalog *self = data;
    const gint64 ids[] = { pattern->s, pattern->p, pattern->o };
    guint index = (pattern->s != 0 ? BOUND_S : 0) | (pattern->p != 0 ? BOUND_P : 0) | (pattern->o != 0 ? BOUND_O : 0);
    sqlite3_stmt **stmt = &self->lists[index];
    guint n = 0;
    int n_bound = 0;

    if (*stmt == NULL) {
        QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);

        (void) sqlite3_prepare_v3(qd_connection_get_db(self->connection), texts[index].list, -1, SQLITE_PREPARE_PERSISTENT, stmt,
                                  NULL);
        (void) qd_connection_set_policy(self->connection, policy);
    }
    for (guint i = 0; i < G_N_ELEMENTS(ids) && *stmt != NULL; i++) {
        if (ids[i] != 0)
            (void) sqlite3_bind_int64(*stmt, ++n_bound, ids[i]);
    }
    for (guint i = 1; *stmt != NULL && n < n_max && sqlite3_step(*stmt) == SQLITE_ROW; i++) {
        if (i % stride == 0)
            ret_quads[n++] = (QdQuadIds){ sqlite3_column_int64(*stmt, 0), sqlite3_column_int64(*stmt, 1),
                                          sqlite3_column_int64(*stmt, 2) };
    }
    (void) sqlite3_reset(*stmt);
    return n;
}

static gboolean
find_prefix(gpointer data, const char *prefix, GString *ret_iri)
{
    StoreCatalog *self = data;
    gboolean found;

    (void) sqlite3_bind_text(self->prefix, 1, prefix, -1, SQLITE_STATIC);
    found = sqlite3_step(self->prefix) == SQLITE_ROW;
    if (found)
        g_string_append_len(ret_iri, (const char *) sqlite3_column_text(self->prefix, 0), sqlite3_column_bytes(self->prefix, 0));
    (void) sqlite3_reset(self->prefix);
    (void) sqlite3_clear_bindings(self->prefix);
    return found;
}

static guint64
count_matches(gpointer data, const QdTerm *text, guint64 cap)
{
    StoreCatalog *self = data;

    return ask_number(self, &self->matches, "SELECT count(*) FROM (SELECT 1 FROM queryd_fts WHERE queryd_fts MATCH ?2 LIMIT ?1)",
                      text, (gint64) MIN(cap, (guint64) G_MAXINT64));
}

static gboolean
is_indexed(gpointer data, const QdTerm *predicate)
{
    StoreCatalog *self = data;
    gint64 id = 0;

    if (predicate != NULL && !qd_dictionary_find_id(self->dictionary, predicate, &id, NULL))
        id = -1; /* of no predicate: only an index of every predicate has it */
    return ask_number(self, &self->indexed, "SELECT EXISTS(SELECT 1 FROM queryd_fulltext WHERE id IN (0, ?1) OR ?1=0)", NULL, id) !=
           0;
}

gboolean
qd_store_catalog_load(QdConnection *connection, QdCatalog *ret_catalog, GError **error)
{
    StoreCatalog *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_CATALOG);
    int r;

    if (self == NULL) {
        self = store_catalog_new(connection, error);
        if (self == NULL)
            return FALSE;
        qd_connection_set_attachment(connection, QD_ATTACHMENT_CATALOG, self, store_catalog_free);
    }
    memset(self->predicates, 0, sizeof self->predicates);
    memset(self->remembered_counts, 0, sizeof self->remembered_counts);
    memset(self->remembered_graphs, 0, sizeof self->remembered_graphs);
    r = sqlite3_step(self->totals);
    if (r == SQLITE_ROW)
        *ret_catalog = (QdCatalog){
            .n_quads = (guint64) sqlite3_column_int64(self->totals, 0),
            .n_predicates = (guint64) sqlite3_column_int64(self->totals, 1),
            .get_predicate = get_predicate,
            .count_quads = count_quads,
            .count_graph = count_graph,
            .find_prefix = find_prefix,
            .count_matches = count_matches,
            .is_indexed = is_indexed,
            .find_id = find_id,
            .list_quads = list_quads,
            .data = self,
        };
    else
        qd_sqlite_set_error(error, qd_connection_get_db(connection), r, NULL, 0, NULL);
    (void) sqlite3_reset(self->totals);
    return r == SQLITE_ROW;
}
