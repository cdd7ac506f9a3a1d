/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL: what the authorizer is asked for while the statement is compiled, and what its program opens. SPARQL: a walk over what was
 * parsed.
 */
#include "daemon/notify/read-set.h"

#include <string.h>

#include "daemon/notify/virtual-dependencies.h"
#include "daemon/payload/payload.h"
#include "daemon/quads/store-catalog.h"
#include "daemon/sparql/parser.h"
#include "daemon/sparql/reads.h"

static QdReadSet *
read_set_new(gboolean is_sparql)
{
    QdReadSet *self = g_new0(QdReadSet, 1);

    self->is_sparql = is_sparql;
    self->tables = qd_name_set_new(0);
    self->predicates = qd_name_set_new(0);
    self->graphs = qd_name_set_new(0);
    return self;
}

QdReadSet *
qd_read_set_free(QdReadSet *self)
{
    if (self == NULL)
        return NULL;

    qd_name_set_free(self->tables);
    qd_name_set_free(self->predicates);
    qd_name_set_free(self->graphs);
    g_free(self);
    return NULL;
}

QdReadSet *
qd_read_set_new_all(gboolean is_sparql)
{
    QdReadSet *self = read_set_new(is_sparql);

    qd_name_set_make_all(self->tables);
    qd_name_set_make_all(self->predicates);
    qd_name_set_make_all(self->graphs);
    return self;
}

char *
qd_read_set_fold(const char *table)
{
    return g_ascii_strdown(table, -1);
}

/* Our tables change together with the RDF data; SQLite's own ones change by many a statement that does not name them. */
static void
add_table(QdNameSet *tables, const char *table)
{
    static const char *const rdf[] = { "queryd_", "rdf_", "sparql_" };
    g_autofree char *name = qd_read_set_fold(table);

    qd_name_set_add(tables, name, strlen(name));
    for (guint i = 0; i < G_N_ELEMENTS(rdf); i++)
        if (g_str_has_prefix(name, rdf[i]) && !g_str_equal(name, QD_PAYLOAD_TABLE))
            qd_name_set_add(tables, QD_READ_SET_RDF, strlen(QD_READ_SET_RDF));
    if (g_str_has_prefix(name, "sqlite_") || g_str_has_prefix(name, "pragma_") || g_str_equal(name, "dbstat"))
        qd_name_set_make_all(tables);
}

/* The first statement of the transaction makes SQLite notice that the schema in its memory is an old one. */
QdReadSet *
qd_read_set_new_for_sql(QdConnection *connection, const char *text, const QdLimits *limits, GError **error)
{
    g_autoptr(QdReadSet) self = read_set_new(FALSE);
    g_autoptr(GPtrArray) tables = NULL;
    gint64 n_tables;

    if (!qd_connection_begin(connection, error))
        return NULL;
    if (qd_connection_get_int64(connection, "SELECT count(*) FROM sqlite_schema", &n_tables, error))
        tables = qd_connection_list_reads(connection, text, strlen(text), limits, error);
    if (tables != NULL && !qd_virtual_dependencies_add(connection, tables, error))
        g_clear_pointer(&tables, g_ptr_array_unref);
    (void) qd_connection_end(connection, NULL);
    if (tables == NULL)
        return NULL;

    for (guint i = 0; i < tables->len; i++)
        add_table(self->tables, tables->pdata[i]);
    return g_steal_pointer(&self);
}

QdReadSet *
qd_read_set_new_for_sparql(QdConnection *connection, const char *text, const char *base, const QdAccess *access,
                           const QdLimits *limits, GError **error)
{
    QdCatalog catalog; /* has the stored prefixes */
    const QdParseOptions options = { .base = base, .limits = limits, .catalog = &catalog, .access = access };
    g_autoptr(QdReadSet) self = read_set_new(TRUE);
    g_autoptr(QdAst) ast = NULL;

    if (!qd_store_catalog_load(connection, &catalog, error))
        return NULL;
    ast = qd_parser_parse(text, strlen(text), FALSE, &options, error);
    if (ast == NULL)
        return NULL;

    qd_sparql_reads_collect(ast, self->predicates, self->graphs);
    return g_steal_pointer(&self);
}

static gboolean
tables_meet(const QdNameSet *reads, const QdNameSet *changed)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(changed);

    if (qd_name_set_is_all(reads) || qd_name_set_is_all(changed))
        return !qd_name_set_is_empty(reads) && !qd_name_set_is_empty(changed);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *name = qd_read_set_fold(names->pdata[i]);

        if (qd_name_set_has(reads, name))
            return TRUE;
    }
    return FALSE;
}

gboolean
qd_read_set_is_touched(const QdReadSet *self, const QdChanges *changes)
{
    gboolean rdf = !qd_name_set_is_empty(changes->graphs);

    if (!self->is_sparql)
        return tables_meet(self->tables, changes->tables) ||
               ((rdf || changes->prefixes) && qd_name_set_has(self->tables, QD_READ_SET_RDF));
    if (changes->prefixes)
        return TRUE;
    /* a graph that came or went has no predicate: it concerns queries that read all of them */
    return rdf && qd_name_set_meets(self->graphs, changes->graphs) &&
           (qd_name_set_is_all(self->predicates) || qd_name_set_meets(self->predicates, changes->predicates));
}
