/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * WHERE into a temporary table, then the templates over its rows: first all deletions, then all insertions (SPARQL 1.1 Update
 * §3.1.3). Operations on graphs copy through the same tables.
 */
#include "daemon/write/sparql-update.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/base/name-set.h"
#include "daemon/notify/changes.h"
#include "daemon/plan/compile.h"
#include "daemon/quads/quads.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"
#include "daemon/read/evaluation.h"
#include "daemon/sqlite/constraint.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/write/update-events.h"

typedef struct Update {
    QdConnection *connection;
    sqlite3 *db;
    const QdLimits *limits;
    QdQuads *quads;
    QdDictionary *dictionary;
    GHashTable *parameters;
    GHashTable *fresh; /* id of a blank node that WHERE computed → its stored id, both gint64 */
    QdChanges *changed;
    guint64 n_changes;
    QdUpdateEvents *events; /* (nullable): what GraphUpdated tells */
} Update;

typedef struct Quad {
    gint64 s, p, o, g;
} Quad;

static gboolean
fail(Update *self, int r, const char *sql, GError **error)
{
    qd_sqlite_set_error(error, self->db, r, sql, strlen(sql), self->limits);
    return FALSE;
}

static void
statement_clear(sqlite3_stmt **stmt)
{
    (void) sqlite3_finalize(*stmt);
}
#define g_auto_stmt __attribute__((cleanup(statement_clear))) sqlite3_stmt *

static gboolean
prepare(Update *self, const char *sql, sqlite3_stmt **ret_stmt, GError **error)
{
    int r = sqlite3_prepare_v2(self->db, sql, -1, ret_stmt, NULL);

    return r == SQLITE_OK || fail(self, r, sql, error);
}

/* --- solutions -------------------------------------------------------------------------------------------------------- */

/* An empty temporary table of @n_columns, which empty_table() has to be called for: (transfer full) its name. */
static char *
make_table(Update *self, guint n_columns, GError **error)
{
    g_autofree char *name = g_strdup_printf("temp.queryd_solution_%u", n_columns);
    g_autoptr(GString) sql = g_string_new(NULL);
    guint n_max = (guint) sqlite3_limit(self->db, SQLITE_LIMIT_COLUMN, -1) - 1; /* n is one more */

    if (n_columns > n_max) {
        qd_error_set(error, QW_ERROR_TOO_COMPLEX, "the templates have %u variables: SQLite takes %u", n_columns, n_max);
        return NULL;
    }
    g_string_printf(sql, "CREATE TABLE IF NOT EXISTS %s(n INTEGER PRIMARY KEY", name);
    for (guint i = 0; i < n_columns; i++)
        g_string_append_printf(sql, ",c%u", i);
    g_string_append_c(sql, ')');
    return qd_connection_execute(self->connection, sql->str, error) ? g_steal_pointer(&name) : NULL;
}

/* After a failure it is the caller's rollback that empties it. */
static gboolean
empty_table(Update *self, const char *table, GError **error)
{
    g_autofree char *sql = g_strdup_printf("DELETE FROM %s", table);

    return qd_connection_execute(self->connection, sql, error);
}

/* Runs the WHERE to its end. */
static gboolean
spool(Update *self, const QdSparqlOperation *operation, const char *table, GError **error)
{
    g_autoptr(GString) sql = g_string_new(NULL);
    g_auto_stmt stmt = NULL;
    int r;

    g_string_printf(sql, "INSERT INTO %s(", table);
    for (guint i = 0; i < operation->n_columns; i++)
        g_string_append_printf(sql, "%sc%u", i > 0 ? "," : "", i);
    /* without columns the rows still count, for blank nodes */
    g_string_append_printf(sql, "%s) SELECT %s FROM (%s)", operation->n_columns > 0 ? "" : "n",
                           operation->n_columns > 0 ? "*" : "NULL", operation->where.sql);
    if (!prepare(self, sql->str, &stmt, error) ||
        !qd_evaluation_bind(self->connection, stmt, &operation->where, self->parameters, error))
        return FALSE;
    r = sqlite3_step(stmt);
    return r == SQLITE_DONE || fail(self, r, sql->str, error);
}

/* --- templates -------------------------------------------------------------------------------------------------------- */

/* A blank node that BNODE() made in the WHERE becomes a stored one, the same for each use. */
static gint64
keep_fresh(Update *self, gint64 id)
{
    gint64 *known = g_hash_table_lookup(self->fresh, &id);
    gint64 *copies;

    if (known != NULL)
        return *known;
    copies = g_new(gint64, 2);
    copies[0] = id;
    copies[1] = qd_dictionary_make_bnode(self->dictionary);
    g_hash_table_insert(self->fresh, copies, copies + 1);
    return copies[1];
}

/* FALSE without an error: nothing that could be (or is) stored. */
static gboolean
resolve_term(Update *self, const QdTerm *term, gboolean intern, gint64 *ret_id, GError **error)
{
    return intern ? qd_dictionary_intern(self->dictionary, term, ret_id, error)
                  : qd_dictionary_find_id(self->dictionary, term, ret_id, error);
}

/* @row: NULL: the solution that binds nothing */
static gboolean
resolve_column(Update *self, sqlite3_stmt *row, int column, gboolean intern, gint64 *ret_id, GError **error)
{
    sqlite3_value *value;
    QdTerm term;

    if (row == NULL)
        return FALSE; /* unbound */
    value = sqlite3_column_value(row, column);
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *ret_id = sqlite3_value_int64(value);
        if (qd_term_id_is_inline(*ret_id) && qd_term_id_get_tag(*ret_id) == QD_TAG_BNODE_FRESH) {
            if (!intern)
                return FALSE;
            *ret_id = keep_fresh(self, *ret_id);
        }
        return TRUE;
    case SQLITE_BLOB:
        return qd_term_blob_parse(sqlite3_value_blob(value), (gsize) sqlite3_value_bytes(value), &term) &&
               resolve_term(self, &term, intern, ret_id, error);
    default:
        return FALSE; /* unbound */
    }
}

static gboolean
resolve_cell(Update *self, const QdTemplateCell *cell, sqlite3_stmt *row, const gint64 *blank_nodes, gboolean intern,
             gint64 *ret_id, GError **error)
{
    switch (cell->kind) {
    case QD_TEMPLATE_NONE:
        *ret_id = 0;
        return TRUE;
    case QD_TEMPLATE_TERM:
        return resolve_term(self, cell->term, intern, ret_id, error);
    case QD_TEMPLATE_COLUMN:
        return resolve_column(self, row, (int) cell->index + 1, intern, ret_id, error);
    case QD_TEMPLATE_BLANK_NODE:
        *ret_id = blank_nodes[cell->index];
        return TRUE;
    }
    return FALSE;
}

/* What RDF allows: no literal as subject, only IRIs as predicates and graphs. */
static gboolean
is_quad(const Quad *quad)
{
    return !qd_term_id_is_literal(quad->s) && quad->p > 0 && qd_term_id_get_kind(quad->p) == QD_TERM_IRI &&
           (quad->g == 0 || (quad->g > 0 && qd_term_id_get_kind(quad->g) == QD_TERM_IRI));
}

static gboolean
change_quad(Update *self, const QdTemplateQuad *template, sqlite3_stmt *row, const gint64 *blank_nodes, gboolean insert,
            GError **error)
{
    g_autoptr(GError) failure = NULL;
    gboolean changed = FALSE;
    Quad quad;
    gboolean made = resolve_cell(self, &template->g, row, blank_nodes, insert, &quad.g, &failure) &&
                    resolve_cell(self, &template->s, row, blank_nodes, insert, &quad.s, &failure) &&
                    resolve_cell(self, &template->p, row, blank_nodes, insert, &quad.p, &failure) &&
                    resolve_cell(self, &template->o, row, blank_nodes, insert, &quad.o, &failure);

    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    if (!made || !is_quad(&quad))
        return TRUE;
    if (insert ? !qd_quads_insert(self->quads, quad.s, quad.p, quad.o, quad.g, &changed, error)
               : !qd_quads_delete(self->quads, quad.s, quad.p, quad.o, quad.g, &changed, error))
        return FALSE;
    self->n_changes += changed ? 1 : 0;
    if (changed && self->events != NULL)
        qd_update_events_count(self->events, quad.g, quad.s, insert);
    return TRUE;
}

/* The quads of one solution. */
static gboolean
change_by_row(Update *self, const QdSparqlOperation *operation, sqlite3_stmt *row, gboolean insert, GError **error)
{
    const QdTemplateQuad *templates = insert ? operation->inserts : operation->deletes;
    guint n_templates = insert ? operation->n_inserts : operation->n_deletes;
    g_autofree gint64 *blank_nodes = g_new0(gint64, operation->n_blank_nodes);

    for (guint i = 0; insert && i < operation->n_blank_nodes; i++)
        blank_nodes[i] = qd_dictionary_make_bnode(self->dictionary);
    for (guint i = 0; i < n_templates; i++) {
        if (!change_quad(self, &templates[i], row, blank_nodes, insert, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
change_quads(Update *self, const QdSparqlOperation *operation, const char *table, gboolean insert, GError **error)
{
    g_autofree char *sql = g_strdup_printf("SELECT * FROM %s", table);
    g_auto_stmt row = NULL;
    int r;

    if ((insert ? operation->n_inserts : operation->n_deletes) == 0)
        return TRUE;
    if (!prepare(self, sql, &row, error))
        return FALSE;
    while ((r = sqlite3_step(row)) == SQLITE_ROW) {
        if (!change_by_row(self, operation, row, insert, error))
            return FALSE;
    }
    return r == SQLITE_DONE || fail(self, r, sql, error);
}

/* Without a WHERE, as INSERT DATA is, there is one solution, which needs no table. */
static gboolean
run_modify(Update *self, const QdSparqlOperation *operation, GError **error)
{
    g_autofree char *table = NULL;

    if (operation->where.sql == NULL)
        return change_by_row(self, operation, NULL, FALSE, error) && change_by_row(self, operation, NULL, TRUE, error);
    table = make_table(self, operation->n_columns, error);
    return table != NULL && spool(self, operation, table, error) && change_quads(self, operation, table, FALSE, error) &&
           change_quads(self, operation, table, TRUE, error) && empty_table(self, table, error);
}

/* --- graphs ----------------------------------------------------------------------------------------------------------- */

/* @ret_exists FALSE: nothing has that name. The default graph is always there. */
static gboolean
find_graph(Update *self, const QdTerm *graph, gint64 *ret_g, gboolean *ret_exists, GError **error)
{
    g_autoptr(GError) failure = NULL;

    *ret_g = 0;
    *ret_exists = TRUE;
    if (graph == NULL)
        return TRUE;
    *ret_exists = qd_dictionary_find_id(self->dictionary, graph, ret_g, &failure);
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    return !*ret_exists || qd_quads_has_graph(self->quads, *ret_g, ret_exists, error);
}

static gboolean
fail_graph(const QdTerm *graph, const char *what, GError **error)
{
    g_autofree char *iri = g_strndup(graph->lexical, graph->n_lexical);
    GError *failure = NULL;

    qd_error_set(&failure, QW_ERROR_CONSTRAINT, "graph <%.200s> %s", iri, what);
    qd_error_add_detail(failure, QD_CONSTRAINT_KIND, "graph");
    qd_error_add_detail(failure, QD_CONSTRAINT_NAME, iri);
    g_propagate_error(error, failure);
    return FALSE;
}

static gboolean
clear_graph(Update *self, gint64 g, gboolean forget, GError **error)
{
    guint64 n_quads = 0;

    if (!qd_quads_delete_graph(self->quads, g, forget, &n_quads, error))
        return FALSE;
    self->n_changes += n_quads;
    return TRUE;
}

/* CLEAR and DROP of more than one graph. */
static gboolean
clear_target(Update *self, QdGraphTarget target, gboolean forget, GError **error)
{
    g_autoptr(GArray) graphs = g_array_new(FALSE, FALSE, sizeof(gint64));
    static const char sql[] = "SELECT id FROM queryd_graph WHERE id<>0";
    g_auto_stmt row = NULL;
    int r;

    if (target != QD_TARGET_NAMED && !clear_graph(self, 0, FALSE, error))
        return FALSE;
    if (target == QD_TARGET_DEFAULT)
        return TRUE;
    if (!prepare(self, sql, &row, error))
        return FALSE;
    while ((r = sqlite3_step(row)) == SQLITE_ROW) {
        gint64 g = sqlite3_column_int64(row, 0);

        g_array_append_val(graphs, g);
    }
    if (r != SQLITE_DONE)
        return fail(self, r, sql, error);
    for (guint i = 0; i < graphs->len; i++) {
        if (!clear_graph(self, g_array_index(graphs, gint64, i), forget, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
run_clear(Update *self, const QdSparqlOperation *operation, GError **error)
{
    gboolean forget = operation->kind == QD_UPDATE_DROP;
    gboolean exists;
    gint64 g;

    if (operation->target != QD_TARGET_GRAPH)
        return clear_target(self, operation->target, forget, error);
    if (!find_graph(self, operation->graph, &g, &exists, error))
        return FALSE;
    if (!exists)
        return operation->silent || fail_graph(operation->graph, "does not exist", error);
    return clear_graph(self, g, forget, error);
}

static gboolean
run_create(Update *self, const QdSparqlOperation *operation, GError **error)
{
    gboolean exists;
    gint64 g;

    if (!find_graph(self, operation->graph, &g, &exists, error))
        return FALSE;
    if (exists)
        return operation->silent || fail_graph(operation->graph, "exists already", error);
    return qd_dictionary_intern(self->dictionary, operation->graph, &g, error) && qd_quads_create_graph(self->quads, g, error);
}

/* Triples of a table of three columns into a graph. */
static gboolean
insert_triples(Update *self, const char *table, gint64 to, GError **error)
{
    g_autofree char *sql = g_strdup_printf("SELECT c0,c1,c2 FROM %s", table);
    g_auto_stmt row = NULL;
    int r;

    if (!prepare(self, sql, &row, error))
        return FALSE;
    while ((r = sqlite3_step(row)) == SQLITE_ROW) {
        gboolean changed = FALSE;

        if (!qd_quads_insert(self->quads, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
                             to, &changed, error))
            return FALSE;
        self->n_changes += changed ? 1 : 0;
    }
    return r == SQLITE_DONE || fail(self, r, sql, error);
}

static gboolean
copy_quads(Update *self, gint64 from, gint64 to, GError **error)
{
    g_autofree char *table = make_table(self, 3, error);
    g_autofree char *insert = NULL;

    if (table == NULL)
        return FALSE;
    insert = g_strdup_printf("INSERT INTO %s(c0,c1,c2) SELECT s,p,o FROM queryd_quad WHERE g=%" G_GINT64_FORMAT, table, from);
    return qd_connection_execute(self->connection, insert, error) && insert_triples(self, table, to, error) &&
           empty_table(self, table, error);
}

/* ADD, COPY, MOVE. */
static gboolean
run_transfer(Update *self, const QdSparqlOperation *operation, GError **error)
{
    gboolean exists;
    gboolean target_exists;
    gint64 from;
    gint64 to;

    if (!find_graph(self, operation->source, &from, &exists, error))
        return FALSE;
    if (!exists)
        return operation->silent || fail_graph(operation->source, "does not exist", error);
    if (!find_graph(self, operation->graph, &to, &target_exists, error))
        return FALSE;
    if (target_exists && from == to)
        return TRUE;
    if (!target_exists && !qd_dictionary_intern(self->dictionary, operation->graph, &to, error))
        return FALSE;
    if (operation->kind != QD_UPDATE_ADD && target_exists && !clear_graph(self, to, FALSE, error))
        return FALSE;
    if (!copy_quads(self, from, to, error))
        return FALSE;
    return operation->kind != QD_UPDATE_MOVE || clear_graph(self, from, TRUE, error);
}

static gboolean
run_load(const QdSparqlOperation *operation, GError **error)
{
    if (operation->silent)
        return TRUE;
    qd_error_set(error, QW_ERROR_UNSUPPORTED, "LOAD <%.*s>: this daemon opens no files and no network for others; use Import",
                 (int) MIN(operation->source->n_lexical, 200), operation->source->lexical);
    return FALSE;
}

/* --- the whole -------------------------------------------------------------------------------------------------------- */

static gboolean
run_operation(Update *self, const QdSparqlOperation *operation, GError **error)
{
    switch (operation->kind) {
    case QD_UPDATE_INSERT_DATA:
    case QD_UPDATE_DELETE_DATA:
    case QD_UPDATE_MODIFY:
        return run_modify(self, operation, error);
    case QD_UPDATE_LOAD:
        return run_load(operation, error);
    case QD_UPDATE_CLEAR:
    case QD_UPDATE_DROP:
        return run_clear(self, operation, error);
    case QD_UPDATE_CREATE:
        return run_create(self, operation, error);
    case QD_UPDATE_ADD:
    case QD_UPDATE_MOVE:
    case QD_UPDATE_COPY:
        return run_transfer(self, operation, error);
    }
    return FALSE;
}

/* Names of what the operation has touched so far, for subscriptions. A set that is all takes no more. */
static gboolean
add_names(Update *self, const GArray *ids, QdNameSet *names, GError **error)
{
    for (guint i = 0; i < ids->len && !qd_name_set_is_all(names); i++) {
        gint64 id = g_array_index(ids, gint64, i);
        QdTerm term = { .lexical = "" };

        if (id != 0 && !qd_dictionary_get_term(self->dictionary, id, &term, error))
            return FALSE;
        qd_name_set_add(names, term.lexical, term.n_lexical);
    }
    return TRUE;
}

static gboolean
tell_touched(Update *self, GError **error)
{
    g_autoptr(GArray) predicates = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) graphs = g_array_new(FALSE, FALSE, sizeof(gint64));

    qd_quads_list_touched(self->quads, predicates, graphs);
    return add_names(self, predicates, self->changed->predicates, error) && add_names(self, graphs, self->changed->graphs, error);
}

static gboolean
run_all(Update *self, const QdSparqlPlan *plan, GError **error)
{
    self->quads = qd_quads_get(self->connection, error);
    if (self->quads == NULL)
        return FALSE;
    self->dictionary = qd_quads_get_dictionary(self->quads);
    qd_evaluation_start(self->connection);
    for (guint i = 0; i < plan->n_operations; i++) {
        /* the next operation sees the counts, and so the graphs, that this one makes */
        if (!qd_quads_begin(self->quads, error) || !run_operation(self, &plan->operations[i], error) ||
            !tell_touched(self, error) || !qd_quads_finish(self->quads, error)) {
            if (plan->n_operations > 1)
                g_prefix_error(error, "operation %u of the update: ", i + 1);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
qd_sparql_update_run(QdConnection *connection, const QdSparqlPlan *plan, const QdLimits *limits, GHashTable *parameters,
                     QdChanges *changed, guint64 *ret_changes, GError **error)
{
    g_autoptr(GHashTable) fresh = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    Update self = {
        .connection = connection,
        .db = qd_connection_get_db(connection),
        .limits = limits,
        .parameters = parameters,
        .fresh = fresh,
        .changed = changed,
    };
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    gboolean ok;

    self.events = qd_update_events_new(limits);
    ok = run_all(&self, plan, error) &&
         (self.events == NULL || self.n_changes == 0 ||
          qd_update_events_tell(self.events, self.db, self.dictionary, qd_changes_get_resources(changed), error));
    self.events = qd_update_events_free(self.events);

    (void) qd_connection_set_policy(connection, policy);
    if (ok)
        *ret_changes = self.n_changes;
    return ok;
}
