/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The virtual table: the program is run when a statement begins to read it. The rows are those of its result.
 */
#include "daemon/tally/tally.h"

#include <stdlib.h>

#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/virtual-table.h"
#include "daemon/tally/tally-program.h"
#include "daemon/tally/tally-sql.h"
#include "daemon/tally/tally-texts.h"

#define ALL_ARGUMENTS 3u
#define STATED_ROWS 1000
#define IDS_MAX 100 /* numbers of two digits */

enum { COLUMN_VALUE, COLUMN_N, COLUMN_OTHER, COLUMN_PROGRAM = COLUMN_OTHER + QD_TALLY_ASKED_MAX, COLUMN_IDS };

/* Of one connection. */
struct QdTallyTerms {
    guint64 cache_bytes;
    struct Cursor *current; /* (nullable): that which moved last */
    QdTallyTaking *taking;  /* (nullable): a column that is being read */
};

typedef struct Table {
    QdVirtualTable base; /* its data: QdTallyTerms */
    QdTallyReader *reader;
    sqlite3 *db;
} Table;

typedef struct Cursor {
    sqlite3_vtab_cursor base;
    QdTallyResult result;
    QdTallyReading reading; /* of a vector */
    sqlite3_stmt *rows;     /* (nullable): by SQL, instead of a result */
    gboolean is_at_end;     /* of these */
} Cursor;

static QdTallyTerms *
get_terms(const sqlite3_vtab_cursor *cursor)
{
    return ((const QdVirtualTable *) cursor->pVtab)->data;
}

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    QdTallyTerms *terms = data;
    int r = sqlite3_declare_vtab(db, "CREATE TABLE x(value, n, other, third, fourth, fifth, sixth, program HIDDEN, ids HIDDEN)");
    Table *self;

    if (r != SQLITE_OK)
        return r;
    self = g_new0(Table, 1);
    self->base.data = data;
    self->db = db;
    self->reader = qd_tally_reader_new(db, terms->cache_bytes, &terms->taking);
    *ret_table = &self->base.base;
    return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *table)
{
    Table *self = (Table *) table;

    (void) qd_tally_reader_free(self->reader);
    g_free(self);
    return SQLITE_OK;
}

/* Nothing without both arguments. Values come in their order. */
static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    guint found = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int argument = info->aConstraint[i].iColumn - COLUMN_PROGRAM;

        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || argument < 0)
            continue;
        info->aConstraintUsage[i].argvIndex = argument + 1;
        info->aConstraintUsage[i].omit = 1;
        found |= 1u << argument;
    }
    info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn == COLUMN_VALUE && info->aOrderBy[0].desc == 0;
    info->estimatedCost = STATED_ROWS;
    info->estimatedRows = STATED_ROWS;
    return found == ALL_ARGUMENTS ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    *ret_cursor = &self->base;
    return SQLITE_OK;
}

static void
forget_rows(Cursor *self)
{
    QdTallyTerms *terms = get_terms(&self->base);

    if (terms->current == self)
        terms->current = NULL;
    (void) sqlite3_finalize(self->rows);
    self->rows = NULL;
    qd_tally_reading_clear(&self->reading);
    qd_tally_result_clear(&self->result);
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;

    forget_rows(self);
    g_free(self);
    return SQLITE_OK;
}

/* What SQLite says itself of its errors stays. Of what is too big it would say that a value is. Returns: the code for SQLite */
static int
fail(sqlite3_vtab *table, int r)
{
    const char *message = r == SQLITE_RANGE ? "queryd_tally: not a program and its ids"
                          : r == SQLITE_TOOBIG
                              ? "a pattern has more than 9223372036854775807 solutions: count fewer, or distinct values"
                              : NULL;

    sqlite3_free(table->zErrMsg);
    table->zErrMsg = message != NULL ? sqlite3_mprintf("%s", message) : NULL;
    return message != NULL ? SQLITE_RANGE : r;
}

/* Numbers beyond 64 bits are REAL, or an error of sum(): the only one of its kind in these statements. */
static int
step_rows(Cursor *self)
{
    int r = sqlite3_step(self->rows);

    self->is_at_end = r != SQLITE_ROW;
    if (r == SQLITE_ROW)
        return sqlite3_column_type(self->rows, COLUMN_N) == SQLITE_INTEGER ? SQLITE_OK : SQLITE_TOOBIG;
    return r == SQLITE_ERROR ? SQLITE_TOOBIG : r == SQLITE_DONE ? SQLITE_OK : r;
}

/* What did not fit into memory is joined by SQLite. */
static int
begin_rows(Cursor *self, const QdTallyProgram *program)
{
    g_autofree char *sql = qd_tally_program_to_sql(program);
    int r;

    if (sql == NULL)
        return SQLITE_NOMEM;
    r = sqlite3_prepare_v2(((const Table *) self->base.pVtab)->db, sql, -1, &self->rows, NULL);
    if (r == SQLITE_OK && sqlite3_bind_parameter_count(self->rows) > 0)
        r = sqlite3_bind_blob64(self->rows, 1, program->ids, program->n_ids * sizeof(gint64), SQLITE_TRANSIENT);
    return r == SQLITE_OK ? step_rows(self) : r;
}

static gboolean
has_vector(const Cursor *self)
{
    return self->rows == NULL && self->result.pairs == NULL && self->result.walk == NULL;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    Cursor *self = (Cursor *) cursor;
    const QdTallyProgram program = {
        .text = (const char *) sqlite3_value_text(args[0]),
        .ids = sqlite3_value_blob(args[1]),
        .n_ids = (gsize) sqlite3_value_bytes(args[1]) / sizeof(gint64),
    };
    int r = SQLITE_RANGE;

    forget_rows(self);
    if (program.text != NULL)
        r = qd_tally_program_run(&program, ((Table *) cursor->pVtab)->reader, &self->result);
    if (r == SQLITE_NOMEM)
        r = begin_rows(self, &program);
    if (r != SQLITE_OK)
        return fail(cursor->pVtab, r);
    if (has_vector(self))
        qd_tally_reading_init(&self->reading, &self->result.vector, get_terms(cursor)->cache_bytes);
    get_terms(cursor)->current = self;
    return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;

    get_terms(cursor)->current = self;
    if (!has_vector(self)) {
        int r = self->rows != NULL           ? step_rows(self)
                : self->result.pairs != NULL ? qd_tally_pairs_advance(self->result.pairs)
                                             : qd_tally_walk_advance(self->result.walk);

        return r == SQLITE_OK ? r : fail(cursor->pVtab, r);
    }
    qd_tally_reading_advance(&self->reading);
    return SQLITE_OK;
}

static int
is_at_end(sqlite3_vtab_cursor *cursor)
{
    const Cursor *self = (const Cursor *) cursor;
    gint64 value, other;
    guint64 n;

    if (self->rows != NULL)
        return self->is_at_end;
    if (self->result.walk != NULL)
        return qd_tally_walk_is_at_end(self->result.walk);
    if (self->result.pairs != NULL)
        return !qd_tally_pairs_get(self->result.pairs, &value, &other, &n);
    return self->reading.position >= self->result.vector.n;
}

/* FALSE: NULL. */
static gboolean
get_walked(const QdTallyWalk *walk, int column, gint64 *ret_value)
{
    if (column >= COLUMN_OTHER)
        return qd_tally_walk_get(walk, (guint) (column - COLUMN_OTHER), ret_value);
    *ret_value = column == COLUMN_VALUE ? qd_tally_walk_get_first(walk)
                                        : (gint64) MIN(qd_tally_walk_get_count(walk), (guint64) G_MAXINT64);
    return TRUE;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const Cursor *self = (const Cursor *) cursor;
    gint64 value;
    gint64 other = 0;
    guint64 n;

    if (column >= COLUMN_PROGRAM)
        return SQLITE_OK;
    if (self->result.walk != NULL) {
        if (get_walked(self->result.walk, column, &value))
            sqlite3_result_int64(context, value);
        return SQLITE_OK;
    }
    if (self->rows != NULL) {
        sqlite3_result_value(context, sqlite3_column_value(self->rows, column));
        return SQLITE_OK;
    }
    if (self->result.pairs == NULL) {
        value = self->result.vector.keys[self->reading.position];
        n = qd_tally_vector_get_count(&self->result.vector, self->reading.position);
    } else if (!qd_tally_pairs_get(self->result.pairs, &value, &other, &n)) {
        return SQLITE_OK;
    }
    sqlite3_result_int64(context, column == COLUMN_VALUE   ? value
                                  : column == COLUMN_OTHER ? other
                                                           : (sqlite3_int64) MIN(n, (guint64) G_MAXINT64));
    return SQLITE_OK;
}

static int
get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    *ret_rowid = (sqlite3_int64) ((const Cursor *) cursor)->reading.position;
    return SQLITE_OK;
}

/* queryd_tally_ids(id or set, …): 0, which no term has, stands for a term that is not stored. Sets follow all ids. */
static void
function_ids(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    g_autoptr(GArray) words = g_array_new(FALSE, TRUE, sizeof(gint64));

    if (n_args > IDS_MAX) {
        sqlite3_result_error(context, "queryd_tally_ids: too many arguments", -1);
        return;
    }
    g_array_set_size(words, (guint) n_args);
    for (int i = 0; i < n_args; i++) {
        gint64 n = sqlite3_value_bytes(args[i]) / (gint64) sizeof(gint64);

        switch (sqlite3_value_type(args[i])) {
        case SQLITE_INTEGER:
            g_array_index(words, gint64, i) = sqlite3_value_int64(args[i]);
            break;
        case SQLITE_BLOB:
            g_array_index(words, gint64, i) = (gint64) words->len;
            g_array_append_val(words, n);
            if (n > 0)
                g_array_append_vals(words, sqlite3_value_blob(args[i]), (guint) n);
            break;
        default:
            break;
        }
    }
    sqlite3_result_blob64(context, words->data, words->len * sizeof(gint64), SQLITE_TRANSIENT);
}

static int
compare_ids(const void *a, const void *b)
{
    gint64 x = *(const gint64 *) a;
    gint64 y = *(const gint64 *) b;

    return (x > y) - (x < y);
}

/* queryd_tally_set(id): the ids of all rows, in order, each once. */
static void
step_set(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    GArray **set = sqlite3_aggregate_context(context, sizeof *set);
    gint64 id;

    if (set == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (*set == NULL)
        *set = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (sqlite3_value_type(args[0]) != SQLITE_INTEGER)
        return;
    id = sqlite3_value_int64(args[0]);
    g_array_append_val(*set, id);
}

static void
finish_set(sqlite3_context *context)
{
    GArray **found = sqlite3_aggregate_context(context, 0);
    g_autoptr(GArray) set = found != NULL ? *found : NULL;
    gint64 *ids = set != NULL ? (gint64 *) (void *) set->data : NULL;
    guint n = 0;

    for (guint i = 1; set != NULL && i < set->len && n == 0; i++)
        n = ids[i] <= ids[i - 1] ? i : 0;
    if (n > 0) /* they come in order, as a rule */
        qsort(ids, set->len, sizeof *ids, compare_ids);
    n = 0;
    for (guint i = 0; set != NULL && i < set->len; i++) {
        if (n == 0 || ids[i] != ids[n - 1])
            ids[n++] = ids[i];
    }
    sqlite3_result_blob64(context, n > 0 ? (const void *) ids : "", n * sizeof *ids, SQLITE_TRANSIENT);
}

/* queryd_tally_has(set, id): whether it is one of the set's. A computed term that is not stored is none. */
static void
function_has(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const gint64 *ids = sqlite3_value_blob(args[0]);
    const gsize n = (gsize) sqlite3_value_bytes(args[0]) / sizeof *ids;
    gint64 id = sqlite3_value_int64(args[1]);

    sqlite3_result_int(context, sqlite3_value_type(args[1]) == SQLITE_INTEGER && n > 0 &&
                                    bsearch(&id, ids, n, sizeof *ids, compare_ids) != NULL);
}

QdTallyReader *
qd_tally_terms_make_reader(QdTallyTerms *self, sqlite3 *db)
{
    return qd_tally_reader_new(db, self->cache_bytes, &self->taking);
}

/* Whether @id is what the row has of source @index. */
static gboolean
is_value(const Cursor *cursor, guint index, gint64 id)
{
    gint64 first, second;
    guint64 n;

    if (cursor->result.walk != NULL)
        return get_walked(cursor->result.walk, index == 0 ? COLUMN_VALUE : COLUMN_OTHER + (int) index - 1, &first) && first == id;
    return qd_tally_pairs_get(cursor->result.pairs, &first, &second, &n) && (index == 0 ? first : second) == id;
}

gboolean
qd_tally_terms_find(QdTallyTerms *self, gint64 id, QdTerm *ret_term)
{
    Cursor *cursor = self->current;

    if (cursor == NULL || cursor->rows != NULL)
        return FALSE;
    if (has_vector(cursor))
        return qd_tally_reading_find(&cursor->reading, id, ret_term);
    for (guint i = 0; i < G_N_ELEMENTS(cursor->result.sources); i++) {
        QdTallySource *source = &cursor->result.sources[i];

        if (source->predicate != 0 && is_value(cursor, i, id))
            return qd_tally_source_find(source, ((Table *) cursor->base.pVtab)->reader, self->cache_bytes, id, ret_term);
    }
    return FALSE;
}

gboolean
qd_tally_terms_get_missing(QdTallyTerms *self, gint64 *ret_id)
{
    for (guint i = 0; self->current != NULL && i < G_N_ELEMENTS(self->current->result.sources); i++) {
        if (qd_tally_source_get_missing(&self->current->result.sources[i], ret_id))
            return TRUE;
    }
    return FALSE;
}

void
qd_tally_terms_record_missing(QdTallyTerms *self, const QdTerm *term)
{
    for (guint i = 0; self->current != NULL && i < G_N_ELEMENTS(self->current->result.sources); i++) {
        if (self->current->result.sources[i].is_reading) {
            qd_tally_source_record(&self->current->result.sources[i], term);
            return;
        }
    }
}

void
qd_tally_terms_record(QdTallyTerms *self, gint64 id, const QdTerm *term)
{
    if (self->current != NULL && has_vector(self->current))
        qd_tally_reading_record(&self->current->reading, id, term);
}

gboolean
qd_tally_register(sqlite3 *db, guint64 cache_bytes, QdTallyTerms **ret_terms, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = disconnect_table,
        .xBestIndex = plan_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = is_at_end,
        .xColumn = get_column,
        .xRowid = get_rowid,
    };
    QdTallyTerms *terms = g_new0(QdTallyTerms, 1);
    int r = sqlite3_create_module_v2(db, "queryd_tally", &module, terms, g_free);

    if (r == SQLITE_OK) {
        terms->cache_bytes = cache_bytes;
        *ret_terms = terms;
        r = sqlite3_create_function_v2(db, "queryd_tally_ids", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       function_ids, NULL, NULL, NULL);
    }
    if (r == SQLITE_OK)
        r = sqlite3_create_function_v2(db, "queryd_tally_set", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, NULL, step_set, finish_set,
                                       NULL);
    if (r == SQLITE_OK)
        r = sqlite3_create_function_v2(db, "queryd_tally_has", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       function_has, NULL, NULL, NULL);
    if (r == SQLITE_OK)
        r = qd_tally_reader_register(db, &terms->taking);
    if (r != SQLITE_OK)
        qd_sqlite_set_call_error(error, db, r, "cannot register queryd_tally");
    return r == SQLITE_OK;
}
