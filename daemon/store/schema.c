/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps. docs/rdf-store.md describes the tables of RDF.
 */
#include "daemon/store/schema.h"

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
};

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

gboolean
qd_schema_migrate(QdConnection *connection, GError **error)
{
    gint64 version = 0;

    if (!qd_schema_get_version(connection, &version, error))
        return FALSE;
    while (version < QD_SCHEMA_VERSION)
        if (!run_step(connection, ++version, error))
            return FALSE;
    return TRUE;
}
