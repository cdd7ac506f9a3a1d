/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps. docs/rdf-store.md describes the tables of RDF.
 */
#include "daemon/sqlite/schema.h"

#include "daemon/base/error.h"
#include "daemon/sqlite/sqlite-error.h"

static const char *const steps[QD_SCHEMA_VERSION] = {
    "CREATE TABLE IF NOT EXISTS queryd_meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO queryd_meta VALUES('schema_version', 0), ('start_counter', 0);",

    "CREATE TABLE queryd_term(id INTEGER PRIMARY KEY, datatype, lexical TEXT NOT NULL, num REAL);"
    "CREATE TABLE queryd_term_hash(h INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(h, id)) WITHOUT ROWID;"
    "CREATE TABLE queryd_quad(s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, g INTEGER NOT NULL,"
    " PRIMARY KEY(s, p, o, g)) WITHOUT ROWID;"
    "CREATE INDEX queryd_quad_posg ON queryd_quad(p, o, s, g);"
    "CREATE INDEX queryd_quad_ospg ON queryd_quad(o, s, p, g);"
    "CREATE INDEX queryd_quad_gspo ON queryd_quad(g, s, p, o) WHERE g<>0;"
    "CREATE TABLE queryd_graph(id INTEGER PRIMARY KEY, n_quads INTEGER NOT NULL, explicit INTEGER NOT NULL);"
    "CREATE TABLE queryd_predicate(id INTEGER PRIMARY KEY, n_quads INTEGER NOT NULL, n_subjects INTEGER NOT NULL,"
    " n_objects INTEGER NOT NULL, tags INTEGER NOT NULL);"
    "CREATE TABLE queryd_prefix(prefix TEXT PRIMARY KEY, iri TEXT NOT NULL) WITHOUT ROWID;"
    "INSERT INTO queryd_prefix VALUES"
    "('rdf', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'), ('rdfs', 'http://www.w3.org/2000/01/rdf-schema#'),"
    "('xsd', 'http://www.w3.org/2001/XMLSchema#'), ('owl', 'http://www.w3.org/2002/07/owl#');"
    "INSERT INTO queryd_meta VALUES('term_sequence', 0), ('bnode_serial', 0), ('term_secret', randomblob(16));",

    /* content: NULL when it is in a file. An id is never used again: applications keep them. */
    "CREATE TABLE queryd_payload(id INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER NOT NULL, hash BLOB NOT NULL, media_type TEXT,"
    " created INTEGER NOT NULL, content BLOB);"
    "CREATE INDEX queryd_payload_file ON queryd_payload(hash) WHERE content IS NULL;",
    /* predicates whose string literals are indexed, 0: every; and what is in the index (fts.h) */
    "CREATE TABLE queryd_fulltext(id INTEGER PRIMARY KEY);"
    "CREATE VIEW queryd_fts_content(id, lexical) AS SELECT id, lexical FROM queryd_term WHERE (id&3) IN (1, 2) AND"
    " (EXISTS(SELECT 1 FROM queryd_fulltext WHERE id=0) AND EXISTS(SELECT 1 FROM queryd_quad WHERE o=queryd_term.id)"
    " OR EXISTS(SELECT 1 FROM queryd_fulltext AS f CROSS JOIN queryd_quad AS q ON q.p=f.id AND q.o=queryd_term.id));",

    /* hash: empty when the content is in the row; what older daemons have stored keeps its hash. An index that asks for the content
     * would have SQLite read what is to be replaced. */
    "DROP INDEX queryd_payload_file; CREATE INDEX queryd_payload_file ON queryd_payload(hash) WHERE hash<>x'';",

    "CREATE TABLE queryd_term_key(tag INTEGER NOT NULL); CREATE INDEX queryd_term_key_tag ON "
    "queryd_term_key(tag);" QD_TERM_KEY_MOVE,

    /* random; each change of a predicate's quads gives it another (daemon/tally/tally-cache.h) */
    "ALTER TABLE queryd_predicate ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0; UPDATE queryd_predicate SET stamp=random();",

    /* columns of predicates, made of the quads (daemon/tally/tally-file.h) */
    "CREATE TABLE queryd_column(p INTEGER NOT NULL, ord INTEGER NOT NULL, part INTEGER NOT NULL, mark INTEGER NOT NULL,"
    " body BLOB NOT NULL, PRIMARY KEY(p, ord, part)) WITHOUT ROWID;",
};

gboolean
qd_schema_count_reserved_names(QdConnection *connection, gint64 *ret_n, GError **error)
{
    return qd_connection_get_int64(
        connection, "SELECT count(*) FROM sqlite_schema WHERE substr(name, 1, 7)='queryd_' COLLATE NOCASE", ret_n, error);
}

/* An identifier has no escapes: the definition has the name as it is. */
gboolean
qd_schema_count_reserved_parents(QdConnection *connection, gint64 *ret_n, GError **error)
{
    return qd_connection_get_int64(connection,
                                   "SELECT count(*) FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS f WHERE"
                                   " m.type='table' AND m.sql LIKE '%queryd\\_%' ESCAPE '\\' AND"
                                   " substr(f.\"table\", 1, 7)='queryd_' COLLATE NOCASE AND NOT"
                                   " (f.\"table\"='queryd_payload' COLLATE NOCASE AND f.seq=0 AND"
                                   " coalesce(f.\"to\", 'id')='id' COLLATE NOCASE)",
                                   ret_n, error);
}

gboolean
qd_schema_get_version(QdConnection *connection, gint64 *ret_version, GError **error)
{
    gint64 n_tables = 0;

    if (!qd_connection_get_int64(connection, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_meta'", &n_tables, error))
        return FALSE;
    *ret_version = 0;
    return n_tables == 0 ||
           qd_connection_get_int64(connection, "SELECT value FROM queryd_meta WHERE key='schema_version'", ret_version, error);
}

/* A store without its version is none that may be begun again. */
static gboolean
check_beginning(QdConnection *connection, gint64 version, GError **error)
{
    gint64 n_tables = 0;

    if (version > 0)
        return TRUE;
    if (!qd_connection_get_int64(connection, "SELECT count(*) FROM sqlite_schema WHERE name IN ('queryd_meta', 'queryd_quad')",
                                 &n_tables, error))
        return FALSE;
    if (n_tables > 0)
        qd_error_set(error, QW_ERROR_SYNTAX, "queryd_meta is missing, or lacks the row schema_version");
    return n_tables == 0;
}

static gboolean
run_step(QdConnection *connection, gint64 version, GError **error)
{
    g_autofree char *note = g_strdup_printf("UPDATE queryd_meta SET value=%" G_GINT64_FORMAT " WHERE key='schema_version'",
                                            version);

    if (qd_connection_execute(connection, "BEGIN IMMEDIATE", error) &&
        qd_connection_execute(connection, steps[version - 1], error) && qd_connection_execute(connection, note, error) &&
        qd_connection_execute(connection, "COMMIT", error))
        return TRUE;

    if (!sqlite3_get_autocommit(qd_connection_get_db(connection)))
        (void) qd_connection_execute(connection, "ROLLBACK", NULL);
    g_prefix_error(error, "cannot bring the schema to version %" G_GINT64_FORMAT ": ", version);
    return FALSE;
}

static const char
    list[] = "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name IN ('queryd_meta', 'queryd_term',"
             " 'queryd_term_hash', 'queryd_quad', 'queryd_quad_posg', 'queryd_quad_ospg', 'queryd_quad_gspo',"
             " 'queryd_graph', 'queryd_predicate', 'queryd_prefix', 'queryd_payload', 'queryd_payload_file',"
             " 'queryd_fulltext', 'queryd_fts_content', 'queryd_term_key', 'queryd_term_key_tag', 'queryd_column') ORDER BY name";

/* What is wrong, where something is. Each of these looks at a few rows only. */
static const char find_loss[] =
    "SELECT 'queryd_meta lacks the row '||column1 FROM (VALUES('schema_version'), ('start_counter'), ('term_sequence'),"
    " ('bnode_serial')) WHERE NOT EXISTS (SELECT 1 FROM queryd_meta WHERE key=column1 AND typeof(value)='integer' AND value>=0)"
    " UNION ALL SELECT 'queryd_term_key lacks a row, or has lost its rowids' WHERE " QD_TERM_KEY_HALF(
        "0") " IS NULL OR"
             " " QD_TERM_KEY_HALF(
                 "1") " IS NULL OR (SELECT count(*) FROM queryd_term_key)<>2"
                      " UNION ALL SELECT 'term_sequence in queryd_meta is below the ids of terms' WHERE"
                      " (SELECT max(id)>>2 FROM queryd_term)>(SELECT value FROM queryd_meta WHERE key='term_sequence')"
                      " UNION ALL SELECT column1||' is empty, and there are quads' FROM (VALUES"
                      "('queryd_term', EXISTS(SELECT 1 FROM queryd_term)), ('queryd_predicate', EXISTS(SELECT 1 FROM "
                      "queryd_predicate)))"
                      " WHERE NOT column2 AND EXISTS(SELECT 1 FROM queryd_quad)"
                      " UNION ALL SELECT 'queryd_term_hash is empty, and there are terms' WHERE EXISTS(SELECT 1 FROM queryd_term) "
                      "AND"
                      " NOT EXISTS(SELECT 1 FROM queryd_term_hash)";

/* FNV-1a */
uint64_t
qd_schema_get_fingerprint(QdConnection *connection)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(qd_connection_get_db(connection), list, -1, &stmt, NULL) == SQLITE_OK)
        while (sqlite3_step(stmt) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(stmt); i++) {
                for (const unsigned char *p = sqlite3_column_text(stmt, i); p != NULL && *p != '\0'; p++)
                    hash = (hash ^ *p) * UINT64_C(0x100000001b3);
                hash = (hash ^ 0x1ff) * UINT64_C(0x100000001b3);
            }
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    return hash;
}

/* (transfer full) (nullable): the first of @model's that @connection has not, or has otherwise. */
static char *
find_difference(QdConnection *connection, QdConnection *model)
{
    static const char find[] = "SELECT 1 FROM sqlite_schema WHERE name=?1 AND type=?2 AND tbl_name=?3 AND sql=?4";
    QdPolicy policies[] = { qd_connection_set_policy(connection, QD_POLICY_INTERNAL),
                            qd_connection_set_policy(model, QD_POLICY_INTERNAL) };
    sqlite3_stmt *listed = NULL;
    sqlite3_stmt *found = NULL;
    char *name = NULL;

    if (sqlite3_prepare_v2(qd_connection_get_db(model), list, -1, &listed, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(qd_connection_get_db(connection), find, -1, &found, NULL) == SQLITE_OK)
        while (name == NULL && sqlite3_step(listed) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(listed); i++)
                (void) sqlite3_bind_value(found, i + 1, sqlite3_column_value(listed, i));
            if (sqlite3_step(found) != SQLITE_ROW)
                name = g_strdup((const char *) sqlite3_column_text(listed, 0));
            (void) sqlite3_reset(found);
        }
    (void) sqlite3_finalize(listed);
    (void) sqlite3_finalize(found);
    (void) qd_connection_set_policy(connection, policies[0]);
    (void) qd_connection_set_policy(model, policies[1]);
    return name;
}

/* The model takes a millisecond to make, the fingerprint of the file some microseconds. */
static gboolean
check_definitions(QdConnection *connection, const QdLimits *limits, GError **error)
{
    const QdConnectionInfo info = { .path = ":memory:" };
    g_autoptr(QdConnection) model = NULL;
    g_autofree char *name = NULL;

    if (qd_schema_get_fingerprint(connection) == QD_SCHEMA_FINGERPRINT)
        return TRUE;

    model = qd_connection_open(&info, QD_CONNECTION_WRITER, limits, error);
    if (model == NULL || !qd_schema_migrate(model, error))
        return FALSE;
    name = find_difference(connection, model);
    if (name == NULL)
        return TRUE;
    qd_error_set(error, QW_ERROR_SYNTAX, "%s is missing, or is not defined as queryd defines it", name);
    return FALSE;
}

static gboolean
check_rows(QdConnection *connection, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3 *db = qd_connection_get_db(connection);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, find_loss, -1, &stmt, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    if (r == SQLITE_ROW)
        qd_error_set(error, QW_ERROR_SYNTAX, "%s", sqlite3_column_text(stmt, 0));
    else if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    return r == SQLITE_DONE;
}

gboolean
qd_schema_check(QdConnection *connection, const QdLimits *limits, GError **error)
{
    return check_definitions(connection, limits, error) && check_rows(connection, error);
}

gboolean
qd_schema_migrate(QdConnection *connection, GError **error)
{
    gint64 version = 0;

    if (!qd_schema_get_version(connection, &version, error) || !check_beginning(connection, version, error))
        return FALSE;
    while (version < QD_SCHEMA_VERSION)
        if (!run_step(connection, ++version, error))
            return FALSE;
    return TRUE;
}
