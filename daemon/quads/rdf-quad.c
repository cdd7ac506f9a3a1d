/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A scan of queryd_quad by the index that has the given positions in front; ids become texts only for the columns that are read.
 *
 * An object's text alone does not say which term is meant (an IRI, a string, a number…). So it is looked up only with its
 * datatype or language: "datatype IS NULL" is an IRI or a blank node. SQLite compares all texts once more itself: nothing is
 * omitted.
 */
#include "daemon/quads/rdf-quad.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/quads/dictionary.h"
#include "daemon/rdf/term-id.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/virtual-table.h"

enum {
    COLUMN_GRAPH,
    COLUMN_SUBJECT,
    COLUMN_PREDICATE,
    COLUMN_OBJECT,
    COLUMN_DATATYPE,
    COLUMN_LANGUAGE,
    COLUMN_GRAPH_ID,
    COLUMN_SUBJECT_ID,
    COLUMN_PREDICATE_ID,
    COLUMN_OBJECT_ID,
    N_COLUMNS,
};

#define DECLARATION                                                                                       \
    "CREATE TABLE x(graph TEXT, subject TEXT, predicate TEXT, object TEXT, datatype TEXT, language TEXT," \
    " graph_id INTEGER HIDDEN, subject_id INTEGER HIDDEN, predicate_id INTEGER HIDDEN, object_id INTEGER HIDDEN)"

/* What a plan is given, as bits of its number, in the order of the arguments. */
enum {
    GIVEN_GRAPH = 1 << 0,
    GIVEN_SUBJECT = 1 << 1,
    GIVEN_PREDICATE = 1 << 2,
    GIVEN_OBJECT = 1 << 3,
    GIVEN_DATATYPE = 1 << 4,
    GIVEN_LANGUAGE = 1 << 5,
    GIVEN_GRAPH_ID = 1 << 6,
    GIVEN_SUBJECT_ID = 1 << 7,
    GIVEN_PREDICATE_ID = 1 << 8,
    GIVEN_OBJECT_ID = 1 << 9,
    GIVEN_NO_GRAPH = 1 << 10,    /* graph IS NULL: the default graph; no argument */
    GIVEN_NO_DATATYPE = 1 << 11, /* datatype IS NULL: no literal; no argument */
};

/* The positions of a quad, as bits; and that the graph is no default graph, for which there is an index. */
enum { BOUND_S = 1, BOUND_P = 2, BOUND_O = 4, BOUND_G = 8, BOUND_NAMED = 16, N_CONDITIONS = 5 };

/* Rough sizes, for SQLite's planner: a subject has few quads, an object some, a predicate many. */
#define ROWS_OF_ALL 1e6
#define ROWS_OF_PREDICATE 1e5
#define ROWS_OF_OBJECT 50
#define ROWS_OF_SUBJECT 20
#define ROWS_OF_TWO 3

typedef struct Cursor {
    QdVirtualCursor base;
    sqlite3_stmt *stmt;
    guint bound; /* positions that @stmt has parameters for */
} Cursor;

/* --- planning ----------------------------------------------------------------------------------------------------------- */

static guint
get_bound(guint given)
{
    const guint literal = GIVEN_DATATYPE | GIVEN_LANGUAGE | GIVEN_NO_DATATYPE;
    guint bound = 0;

    if ((given & (GIVEN_SUBJECT | GIVEN_SUBJECT_ID)) != 0)
        bound |= BOUND_S;
    if ((given & (GIVEN_PREDICATE | GIVEN_PREDICATE_ID)) != 0)
        bound |= BOUND_P;
    if ((given & GIVEN_OBJECT_ID) != 0 || ((given & GIVEN_OBJECT) != 0 && (given & literal) != 0))
        bound |= BOUND_O;
    if ((given & (GIVEN_GRAPH | GIVEN_GRAPH_ID | GIVEN_NO_GRAPH)) != 0)
        bound |= BOUND_G;
    return bound;
}

static double
estimate_rows(guint bound)
{
    guint n_known = ((bound & BOUND_S) != 0) + ((bound & BOUND_P) != 0) + ((bound & BOUND_O) != 0);
    double rows = n_known >= 2             ? ROWS_OF_TWO
                  : (bound & BOUND_S) != 0 ? ROWS_OF_SUBJECT
                  : (bound & BOUND_O) != 0 ? ROWS_OF_OBJECT
                  : (bound & BOUND_P) != 0 ? ROWS_OF_PREDICATE
                                           : ROWS_OF_ALL;

    return (bound & BOUND_G) != 0 ? rows / 2 : rows;
}

static int
plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    int place[N_COLUMNS];
    guint given = 0;
    int n_args = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        unsigned char op = info->aConstraint[i].op;

        if (!info->aConstraint[i].usable || column < 0 || column >= N_COLUMNS)
            continue;
        if (op == SQLITE_INDEX_CONSTRAINT_ISNULL && column == COLUMN_GRAPH)
            given |= GIVEN_NO_GRAPH;
        else if (op == SQLITE_INDEX_CONSTRAINT_ISNULL && column == COLUMN_DATATYPE)
            given |= GIVEN_NO_DATATYPE;
        if (op != SQLITE_INDEX_CONSTRAINT_EQ || (given & (1u << column)) != 0 ||
            strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        given |= 1u << column;
        place[column] = i;
    }
    for (int column = 0; column < N_COLUMNS; column++)
        if ((given & (1u << column)) != 0)
            info->aConstraintUsage[place[column]].argvIndex = ++n_args;
    info->idxNum = (int) given;
    info->estimatedRows = (sqlite3_int64) estimate_rows(get_bound(given)) + 1;
    info->estimatedCost = 2 * estimate_rows(get_bound(given)) + 10;
    return SQLITE_OK;
}

/* --- reading ------------------------------------------------------------------------------------------------------------ */

static int
fail(Cursor *self, const GError *error, int r)
{
    sqlite3_vtab *table = self->base.base.pVtab;

    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf(
        "rdf_quad: %s", error != NULL ? error->message : sqlite3_errmsg(qd_connection_get_db(((QdVirtualTable *) table)->data)));
    return r != SQLITE_OK ? r : SQLITE_ERROR;
}

static const char *
choose_index(guint bound)
{
    switch (bound & (BOUND_S | BOUND_P | BOUND_O)) {
    case BOUND_P:
    case BOUND_P | BOUND_O:
        return "INDEXED BY queryd_quad_posg";
    case BOUND_O:
    case BOUND_S | BOUND_O:
        return "INDEXED BY queryd_quad_ospg";
    case 0:
        return (bound & BOUND_NAMED) != 0 ? "INDEXED BY queryd_quad_gspo" : "NOT INDEXED";
    default: /* a subject in front: the primary key */
        return "NOT INDEXED";
    }
}

/* One condition for each bit; the index is named, since there are no statistics that SQLite could choose by. */
static int
prepare(Cursor *self, guint bound)
{
    QdConnection *connection = qd_virtual_cursor_get_data(&self->base.base);
    static const char *const conditions[N_CONDITIONS] = { " AND s=?1", " AND p=?2", " AND o=?3", " AND g=?4", " AND g<>0" };
    g_autoptr(GString) sql = g_string_new("SELECT s, p, o, g FROM queryd_quad ");
    QdPolicy policy;
    int r;

    if (self->stmt != NULL && bound == self->bound)
        return SQLITE_OK;
    g_string_append_printf(sql, "%s WHERE 1", choose_index(bound));
    for (guint i = 0; i < N_CONDITIONS; i++)
        if ((bound & (1u << i)) != 0)
            g_string_append(sql, conditions[i]);
    (void) sqlite3_finalize(g_steal_pointer(&self->stmt));
    self->bound = bound;
    policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    r = sqlite3_prepare_v2(qd_connection_get_db(connection), sql->str, -1, &self->stmt, NULL);
    (void) qd_connection_set_policy(connection, policy);
    return r == SQLITE_OK ? SQLITE_OK : fail(self, NULL, r);
}

static int
step(Cursor *self)
{
    int r = sqlite3_step(self->stmt);

    self->base.row++;
    self->base.is_at_end = r != SQLITE_ROW;
    return r == SQLITE_ROW || r == SQLITE_DONE ? SQLITE_OK : fail(self, NULL, r);
}

/* --- ids of what was given ------------------------------------------------------------------------------------------------ */

typedef struct Lookup {
    Cursor *cursor;
    QdDictionary *dictionary;
    sqlite3_value *values[N_COLUMNS];
    gboolean is_empty; /* something is not stored: there are no rows */
    GError *error;
} Lookup;

static QdTerm
make_term(QdTermKind kind, sqlite3_value *value)
{
    const char *text = (const char *) sqlite3_value_text(value);

    return (QdTerm){ .kind = kind, .lexical = text != NULL ? text : "", .n_lexical = (gsize) sqlite3_value_bytes(value) };
}

/* An IRI, or a blank node as "_:label". */
static QdTerm
make_resource(sqlite3_value *value)
{
    QdTerm term = make_term(QD_TERM_IRI, value);

    if (term.n_lexical > 2 && memcmp(term.lexical, "_:", 2) == 0)
        term = (QdTerm){ .kind = QD_TERM_BNODE, .lexical = term.lexical + 2, .n_lexical = term.n_lexical - 2 };
    return term;
}

static void
bind_id(Lookup *self, int position, gint64 id)
{
    (void) sqlite3_bind_int64(self->cursor->stmt, position, id);
}

static void
bind_term(Lookup *self, int position, const QdTerm *term)
{
    gint64 id = 0;

    if (self->error != NULL)
        return;
    if (qd_dictionary_find_id(self->dictionary, term, &id, &self->error))
        bind_id(self, position, id);
    else
        self->is_empty = TRUE;
}

/* A position that is given by its id, else by its text. */
static void
bind_position(Lookup *self, int position, int column, int id_column)
{
    QdTerm term;

    if (self->values[id_column] != NULL) {
        bind_id(self, position, sqlite3_value_int64(self->values[id_column]));
    } else if (self->values[column] != NULL) {
        term = make_resource(self->values[column]);
        bind_term(self, position, &term);
    }
}

static void
bind_object(Lookup *self, guint given)
{
    QdTerm term;

    if (self->values[COLUMN_OBJECT_ID] != NULL) {
        bind_id(self, 3, sqlite3_value_int64(self->values[COLUMN_OBJECT_ID]));
        return;
    }
    if ((given & GIVEN_NO_DATATYPE) != 0) {
        term = make_resource(self->values[COLUMN_OBJECT]);
    } else if (self->values[COLUMN_LANGUAGE] != NULL) {
        const QdTerm language = make_term(QD_TERM_STRING, self->values[COLUMN_LANGUAGE]);

        term = make_term(QD_TERM_LANG_STRING, self->values[COLUMN_OBJECT]);
        term.qualifier = language.lexical;
        term.n_qualifier = language.n_lexical;
    } else {
        const QdTerm datatype = make_term(QD_TERM_IRI, self->values[COLUMN_DATATYPE]);
        const QdTerm text = make_term(QD_TERM_STRING, self->values[COLUMN_OBJECT]);

        qd_term_init_literal(&term, text.lexical, text.n_lexical, datatype.lexical, datatype.n_lexical);
    }
    bind_term(self, 3, &term);
}

/* Without a language a language string cannot be looked up: its datatype alone does not say which. */
static gboolean
is_any_language(const Lookup *self, guint given)
{
    static const char lang_string[] = QD_RDF_NAMESPACE "langString";
    QdTerm datatype;

    if ((given & GIVEN_DATATYPE) == 0 || (given & (GIVEN_LANGUAGE | GIVEN_OBJECT_ID | GIVEN_NO_DATATYPE)) != 0)
        return FALSE;
    datatype = make_term(QD_TERM_IRI, self->values[COLUMN_DATATYPE]);
    return datatype.n_lexical == strlen(lang_string) && memcmp(datatype.lexical, lang_string, datatype.n_lexical) == 0;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    Cursor *self = (Cursor *) cursor;
    guint given = (guint) index;
    guint bound = get_bound(given);
    Lookup lookup = { .cursor = self };
    int n = 0;
    int r;

    for (int column = 0; column < N_COLUMNS && n < n_args; column++)
        if ((given & (1u << column)) != 0)
            lookup.values[column] = args[n++];
    for (int column = 0; column < N_COLUMNS; column++)
        lookup.is_empty |= lookup.values[column] != NULL && sqlite3_value_type(lookup.values[column]) == SQLITE_NULL;
    if ((bound & BOUND_O) != 0 && is_any_language(&lookup, given))
        bound &= ~(guint) BOUND_O;

    if (lookup.values[COLUMN_GRAPH] != NULL ||
        (lookup.values[COLUMN_GRAPH_ID] != NULL && sqlite3_value_int64(lookup.values[COLUMN_GRAPH_ID]) != 0))
        bound |= BOUND_NAMED;

    r = prepare(self, bound);
    if (r != SQLITE_OK)
        return r;
    (void) sqlite3_reset(self->stmt);
    lookup.dictionary = qd_dictionary_get(qd_virtual_cursor_get_data(cursor), &lookup.error);
    if (lookup.dictionary != NULL && !lookup.is_empty) {
        bind_position(&lookup, 1, COLUMN_SUBJECT, COLUMN_SUBJECT_ID);
        bind_position(&lookup, 2, COLUMN_PREDICATE, COLUMN_PREDICATE_ID);
        bind_position(&lookup, 4, COLUMN_GRAPH, COLUMN_GRAPH_ID);
        if ((bound & BOUND_O) != 0)
            bind_object(&lookup, given);
        if ((given & GIVEN_NO_GRAPH) != 0)
            bind_id(&lookup, 4, 0);
    }
    self->base.is_at_end = lookup.is_empty;
    if (lookup.error == NULL)
        return self->base.is_at_end ? SQLITE_OK : step(self);
    r = fail(self, lookup.error, qd_sqlite_from_code(qd_error_get_code(lookup.error)));
    g_error_free(lookup.error);
    return r;
}

/* --- columns ------------------------------------------------------------------------------------------------------------ */

static void
put_text(sqlite3_context *context, const char *text, gsize n_bytes)
{
    sqlite3_result_text64(context, text, n_bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void
put_lexical(sqlite3_context *context, const QdTerm *term)
{
    if (term->kind == QD_TERM_BNODE)
        sqlite3_result_text(context, sqlite3_mprintf("_:%.*s", (int) term->n_lexical, term->lexical), -1, sqlite3_free);
    else
        put_text(context, term->lexical, term->n_lexical);
}

static void
put_datatype(sqlite3_context *context, const QdTerm *term)
{
    switch (term->kind) {
    case QD_TERM_STRING:
        sqlite3_result_text(context, QD_XSD_NAMESPACE "string", -1, SQLITE_STATIC);
        return;
    case QD_TERM_LANG_STRING:
        sqlite3_result_text(context, QD_RDF_NAMESPACE "langString", -1, SQLITE_STATIC);
        return;
    case QD_TERM_TYPED:
        put_text(context, term->qualifier, term->n_qualifier);
        return;
    case QD_TERM_IRI:
    case QD_TERM_BNODE:
        return;
    }
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    static const int positions[N_COLUMNS] = { 3, 0, 1, 2, 2, 2, 3, 0, 1, 2 }; /* in the SELECT */
    Cursor *self = (Cursor *) cursor;
    gint64 id = sqlite3_column_int64(self->stmt, positions[column]);
    g_autoptr(GError) error = NULL;
    QdDictionary *dictionary;
    QdTerm term;

    if (column >= COLUMN_GRAPH_ID) {
        sqlite3_result_int64(context, id);
        return SQLITE_OK;
    }
    if (column == COLUMN_GRAPH && id == 0)
        return SQLITE_OK;
    dictionary = qd_dictionary_get(qd_virtual_cursor_get_data(cursor), &error);
    if (dictionary == NULL || !qd_dictionary_get_term(dictionary, id, &term, &error))
        return fail(self, error, qd_sqlite_from_code(qd_error_get_code(error)));
    if (column == COLUMN_DATATYPE)
        put_datatype(context, &term);
    else if (column != COLUMN_LANGUAGE)
        put_lexical(context, &term);
    else if (term.kind == QD_TERM_LANG_STRING)
        put_text(context, term.qualifier, term.n_qualifier);
    qd_dictionary_release(dictionary);
    return SQLITE_OK;
}

/* --- the virtual table -------------------------------------------------------------------------------------------------- */

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    int r = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); /* for views of clients */

    return r == SQLITE_OK ? qd_virtual_table_connect(db, DECLARATION, data, ret_table) : r;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    *ret_cursor = &self->base.base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;

    (void) sqlite3_finalize(self->stmt);
    g_free(self);
    return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *cursor)
{
    return step((Cursor *) cursor);
}

gboolean
qd_rdf_quad_register(QdConnection *connection, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = qd_virtual_table_disconnect,
        .xBestIndex = plan,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = qd_virtual_cursor_is_at_end,
        .xColumn = get_column,
        .xRowid = qd_virtual_cursor_get_rowid,
    };
    sqlite3 *db = qd_connection_get_db(connection);
    int r = sqlite3_create_module_v2(db, "rdf_quad", &module, connection, NULL);

    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_OK;
}
