/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements of an update: compile, bind each row of parameters, step to the end, keep what RETURNING gives. Or a function of
 * ours that does its own.
 */
#include "daemon/write/write-item.h"

#include "daemon/base/error.h"
#include "daemon/base/hot.h"
#include "daemon/base/name-set.h"
#include "daemon/notify/changes.h"
#include "daemon/notify/row-watch.h"
#include "daemon/payload/payload.h"
#include "daemon/plan/compile.h"
#include "daemon/read/bind.h"
#include "daemon/read/client.h"
#include "daemon/read/plans.h"
#include "daemon/read/row-encoder.h"
#include "daemon/read/run.h"
#include "daemon/read/session-counts.h"
#include "daemon/sqlite/constraint.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/schema-size.h"
#include "daemon/sqlite/schema.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/write/sparql-update.h"
#include "daemon/write/write-watch.h"
#include "daemon/write/writer.h"

static void
result_page_clear(gpointer data)
{
    QdResultPage *page = data;

    if (page->data != NULL)
        page->free_func(page->data);
}

void
qd_write_item_init(QdWriteItem *item)
{
    *item = (QdWriteItem){ .page_size = QW_PAGE_SIZE_DEFAULT };
    item->outcome.pages = g_array_new(FALSE, TRUE, sizeof(QdResultPage));
    g_array_set_clear_func(item->outcome.pages, result_page_clear);
    item->outcome.changed = qd_changes_new();
}

void
qd_write_item_clear(QdWriteItem *item)
{
    g_clear_error(&item->outcome.error);
    g_clear_error(&item->told);
    g_clear_pointer(&item->outcome.pages, g_array_unref);
    item->outcome.changed = qd_changes_free(item->outcome.changed);
}

void
qd_write_item_reset(QdWriteItem *item)
{
    g_clear_error(&item->outcome.error);
    g_clear_error(&item->told);
    g_array_set_size(item->outcome.pages, 0);
    qd_changes_clear(item->outcome.changed);
    *item = (QdWriteItem){ .page_size = QW_PAGE_SIZE_DEFAULT,
                           .outcome.pages = item->outcome.pages,
                           .outcome.changed = item->outcome.changed };
}

static void
set_step_error(QdConnection *connection, QdCompiled *compiled, int r, const QdLimits *limits, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (qd_guard_get_denial(qd_connection_get_guard(connection), error))
        return;
    qd_sqlite_set_error(&failure, qd_connection_get_db(connection), r, compiled->text, compiled->n_text_bytes, limits);
    if (g_error_matches(failure, QD_ERROR, (gint) QW_ERROR_CONSTRAINT)) {
        qd_connection_refresh_writes(connection, compiled); /* it may have been compiled again by this step */
        qd_constraint_describe(connection, compiled->write_tables, failure);
    }
    g_propagate_error(error, g_steal_pointer(&failure));
}

/* @failure: (transfer full): of what was interrupted, when it was compiled or ran, it only says so. The watch knows why. */
static void
propagate_failure(const QdWriteItem *item, GError *failure, GError **error)
{
    if (qd_write_watch_get_stop(item->watch, g_error_matches(failure, QD_ERROR, QW_ERROR_CANCELLED), error))
        g_error_free(failure);
    else
        g_propagate_error(error, failure);
}

/* The row that the statement stands on goes after @page's, which is the last one of @item, or into a new one. */
static gboolean
keep_row(QdWriteItem *item, QdCompiled *compiled, QwPageWriter *page, const QdLimits *limits, GError **error)
{
    gsize capacity = MAX(item->page_size, qd_row_get_size(compiled->stmt, (uint32_t) compiled->n_columns));
    QdResultPage *last = item->outcome.pages->len > 0
                             ? &g_array_index(item->outcome.pages, QdResultPage, item->outcome.pages->len - 1)
                             : NULL;
    QdResultPage fresh = { .n_columns = (uint32_t) compiled->n_columns };

    if (last == NULL || page->data != last->data || qd_row_encode(page, compiled->stmt) < 0) {
        if (item->outcome.n_page_bytes + capacity > qd_limits_get(limits, QD_LIMIT_BATCH_BYTES)) {
            qd_limit_set_error(error, limits, QD_LIMIT_BATCH_BYTES, "update returns too many rows");
            return FALSE;
        }
        /* they wait for a client that may never read them */
        fresh.data = qd_memory_hold(qd_client_get_memory(item->client), NULL, capacity);
        fresh.free_func = qd_memory_drop;
        if (fresh.data == NULL) {
            qd_limit_set_error(error, limits, QD_LIMIT_HEAP_HARD_BYTES, "no memory for rows that the update returns");
            return FALSE;
        }
        item->outcome.n_page_bytes += capacity;
        qw_page_writer_init(page, fresh.data, capacity, fresh.n_columns);
        g_array_append_val(item->outcome.pages, fresh);
        last = &g_array_index(item->outcome.pages, QdResultPage, item->outcome.pages->len - 1);
        if (qd_row_encode(page, compiled->stmt) < 0) {
            qd_limit_set_error(error, limits, QD_LIMIT_HEAP_HARD_BYTES, "out of memory");
            return FALSE;
        }
    }
    last->size = page->used;
    last->n_rows = page->n_rows;
    item->outcome.n_rows++;
    return TRUE;
}

/* Keeps the rows that the statement returns. Returns: what ended it; after SQLITE_ROW the row cannot be kept, and @error is set. */
static QD_HOT int
step_rows(QdWriteItem *item, QdCompiled *compiled, QwPageWriter *page, const QdLimits *limits, GError **error)
{
    int r;

    while ((r = sqlite3_step(compiled->stmt)) == SQLITE_ROW) {
        (void) qd_compiled_refresh(compiled);
        if (item->rows_begin == NULL)
            continue;
        if (item->outcome.pages->len == 0)
            item->rows_begin(item, compiled);
        if (!keep_row(item, compiled, page, limits, error))
            break;
    }
    /* also where it has returned no row its columns may be others than those that it was prepared with */
    if (r == SQLITE_DONE && compiled->n_columns > 0 && item->rows_begin != NULL && item->outcome.pages->len == 0) {
        (void) qd_compiled_refresh(compiled);
        item->rows_begin(item, compiled);
    }
    return r;
}

static QD_HOT gboolean
step_to_end(QdWriteItem *item, QdConnection *connection, QdCompiled *compiled, QwPageWriter *page, const QdLimits *limits,
            GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    gint64 total_before = sqlite3_total_changes64(db);
    int r;

    item->has_begun = TRUE;
    r = step_rows(item, compiled, page, limits, error);
    if (r != SQLITE_DONE && r != SQLITE_ROW) {
        /* OR FAIL leaves the count of rows as it is; ABORT takes them back and sets it to 0. The total also has what functions
         * wrote. */
        item->keeps = (r & 0xff) == SQLITE_CONSTRAINT && sqlite3_total_changes64(db) != total_before && sqlite3_changes64(db) > 0 &&
                      qd_write_item_is_atomic(item);
        set_step_error(connection, compiled, r, limits, error);
    }
    (void) sqlite3_reset(compiled->stmt);
    if (r == SQLITE_DONE && (compiled->counts_rows || sqlite3_total_changes64(db) != total_before))
        item->outcome.changes += (uint64_t) sqlite3_changes64(db);
    return r == SQLITE_DONE;
}

static QD_HOT gboolean
step_each_row(QdWriteItem *item, QdWriteStatement *statement, QdConnection *connection, QdCompiled *compiled,
              const QdLimits *limits, GError **error)
{
    QwPageReader reader = { 0 };
    QwPageWriter page = { 0 };

    if (statement->rows == NULL || statement->n_rows == 0)
        return qd_bind_parameters(compiled->stmt, statement->parameters, error) &&
               step_to_end(item, connection, compiled, &page, limits, error);

    if (qw_page_reader_init(&reader, statement->rows, statement->n_row_bytes, statement->n_rows,
                            (uint32_t) compiled->n_parameters) < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameters do not fit the statement, which has %d", compiled->n_parameters);
        return FALSE;
    }
    while (qw_page_reader_next(&reader))
        if (!qd_bind_first(compiled->stmt, &reader, error) || !step_to_end(item, connection, compiled, &page, limits, error))
            return FALSE;
    return TRUE;
}

/* Nothing of others comes between the rows of one statement, so SQLite itself counts from one to the next. */
static gboolean
execute_rows(QdWriteItem *item, QdWriteStatement *statement, QdConnection *connection, QdCompiled *compiled, const QdLimits *limits,
             GError **error)
{
    QdCounts *counters = &item->counts.own;
    gboolean ok;

    qd_counting_begin(connection, counters, compiled);
    ok = step_each_row(item, statement, connection, compiled, limits, error);
    qd_counting_end(connection, counters, compiled);
    if (ok)
        item->outcome.last_insert_rowid = counters->last_insert_rowid;
    return ok;
}

typedef struct Reserved {
    gint64 n_names;
    gint64 n_parents;
} Reserved;

static gboolean
count_reserved(QdConnection *connection, Reserved *ret_reserved, GError **error)
{
    return qd_schema_count_reserved_names(connection, &ret_reserved->n_names, error) &&
           qd_schema_count_reserved_parents(connection, &ret_reserved->n_parents, error);
}

/*
 * ALTER TABLE t RENAME TO …: SQLite's authorizer hears the old name only, and a virtual table renames tables of its own. Of a
 * foreign key it hears nothing. One that referred to a table of ours would let a client's triggers run within our own statements,
 * or make these fail. So the schema is looked at afterwards; the caller undoes what has failed.
 */
static gboolean
execute_definition(QdWriteItem *item, QdWriteStatement *statement, QdConnection *connection, QdCompiled *compiled,
                   const QdLimits *limits, GError **error)
{
    Reserved before, after;

    if (!count_reserved(connection, &before, error) || !execute_rows(item, statement, connection, compiled, limits, error) ||
        !count_reserved(connection, &after, error))
        return FALSE;
    if (compiled->effects.alters && after.n_names != before.n_names) {
        qd_error_set(error, QW_ERROR_ACCESS_DENIED,
                     "ALTER TABLE is not allowed to make such a name: names that begin with 'queryd_' are reserved");
        return FALSE;
    }
    if (after.n_parents > before.n_parents) {
        qd_error_set(error, QW_ERROR_ACCESS_DENIED,
                     "a foreign key is not allowed to refer to such a table: names that begin with 'queryd_' are reserved, but for"
                     " queryd_payload(id)");
        return FALSE;
    }
    return TRUE;
}

/* Without the memory to read it SQLite has ended the transaction. */
static gboolean
read_version(QdConnection *connection, const QdLimits *limits, gint64 *ret_version, GError **error)
{
    *ret_version = qd_connection_get_schema_version(connection);
    if (*ret_version < 0)
        qd_limit_set_error(error, limits, QD_LIMIT_HEAP_HARD_BYTES, "no memory to read the version of the schema: try again");
    return *ret_version >= 0;
}

/* What every connection would have to read is bounded; the caller undoes what has failed. CREATE … IF NOT EXISTS changes nothing.
 */
static gboolean
execute_bounded(QdWriteItem *item, QdWriteStatement *statement, QdConnection *connection, QdCompiled *compiled,
                const QdLimits *limits, GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    gboolean grows = compiled->effects.grows;
    gint64 n_changes = sqlite3_total_changes64(db);
    gint64 before = 0;
    gint64 after = 0;

    if (grows && !read_version(connection, limits, &before, error))
        return FALSE;
    if (!(compiled->effects.changes_schema ? execute_definition : execute_rows)(item, statement, connection, compiled, limits,
                                                                                error))
        return FALSE;
    if (grows && !read_version(connection, limits, &after, error))
        return FALSE;
    return (after == before && sqlite3_total_changes64(db) == n_changes && !compiled->effects.analyzes) || !grows ||
           qd_schema_size_check(connection, limits, error);
}

/* SPARQL ---------------------------------------------------------------------------------------------------------------- */

/* The values of one execution by name; @row (nullable) or else those that came with the statement. */
static GHashTable *
take_terms(const QdWriteStatement *statement, const QdSparqlPlan *plan, const QwPageReader *row, GError **error)
{
    const QdShape shape = qd_shape_from_plan(plan);
    g_autoptr(GHashTable) terms = qd_plans_new_parameters();
    g_autofree const QwValue **values = row == NULL ? qd_bind_resolve(&shape, statement->parameters, error) : NULL;
    guint n = row != NULL ? row->n_columns : qd_shape_get_n_names(&shape);

    if (row == NULL && values == NULL)
        return NULL;
    for (guint i = 0; i < n; i++) {
        QwValue value = { .type = QW_TYPE_NULL };

        if (row != NULL)
            qw_page_reader_get(row, i, &value);
        else if (values[i] != NULL)
            value = *values[i];
        if (!qd_plans_add_parameter(terms, qd_shape_get_parameter_name(&shape, i), &value, error))
            return NULL;
    }
    return g_steal_pointer(&terms);
}

/* (nullable): what its client was granted */
static const QdAccess *
get_access(const QdWriteItem *item)
{
    return item->client != NULL ? qd_client_get_access(item->client) : NULL;
}

static QdPlanText
make_plan_text(const QdWriteItem *item, const QdWriteStatement *statement)
{
    return (QdPlanText){
        .text = statement->text,
        .n_bytes = statement->n_text_bytes,
        .base = statement->base,
        .dataset = statement->dataset,
        .is_update = TRUE,
        .access = get_access(item),
    };
}

static gboolean
run_update(QdWriteItem *item, const QdWriteStatement *statement, QdConnection *connection, const QwPageReader *row,
           const QdLimits *limits, GError **error)
{
    const QdPlanText what = make_plan_text(item, statement);
    const QdSparqlPlan *plan = qd_plans_get(connection, &what, NULL, limits, error);
    g_autoptr(GHashTable) terms = plan != NULL ? take_terms(statement, plan, row, error) : NULL;
    guint64 n_changes = 0;

    if (terms != NULL && g_hash_table_size(terms) > 0)
        plan = qd_plans_get(connection, &what, terms, limits, error);
    if (terms == NULL || plan == NULL)
        return FALSE;
    if (!qd_sparql_update_run(connection, plan, limits, terms, item->outcome.changed, &n_changes, error))
        return FALSE;
    item->outcome.changes += n_changes;
    return TRUE;
}

static gboolean
execute_update(QdWriteItem *item, QdWriteStatement *statement, QdConnection *connection, const QdLimits *limits, GError **error)
{
    uint64_t before = item->outcome.changes;
    const QdPlanText what = make_plan_text(item, statement);
    QwPageReader reader = { 0 };
    const QdSparqlPlan *plan;

    if (!qd_sparql_is_update(statement->text, statement->n_text_bytes, TRUE)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement changes nothing: run it as a query");
        return FALSE;
    }
    if (statement->rows == NULL || statement->n_rows == 0) {
        if (!run_update(item, statement, connection, NULL, limits, error))
            return FALSE;
    } else {
        plan = qd_plans_get(connection, &what, NULL, limits, error);
        if (plan == NULL)
            return FALSE;
        if (qw_page_reader_init(&reader, statement->rows, statement->n_row_bytes, statement->n_rows, plan->n_parameters) < 0) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameters do not fit the statement, which has %u", plan->n_parameters);
            return FALSE;
        }
        while (qw_page_reader_next(&reader))
            if (!run_update(item, statement, connection, &reader, limits, error))
                return FALSE;
    }
    statement->changes = item->outcome.changes - before;
    return TRUE;
}

void
qd_write_item_note_run(QdWriteItem *item, QdConnection *connection, QdCompiled *compiled, const QdLimits *limits)
{
    qd_connection_refresh_writes(connection, compiled);
    qd_row_watch_note_tables(connection, compiled->write_tables);
    qd_changes_add_statement(item->outcome.changed, compiled);
    if (compiled->effects.calls_delete)
        qd_changes_add_payload_delete(item->outcome.changed, connection, limits);
    if (compiled->effects.deletes_payloads)
        qd_payloads_note_deleted(connection);
}

/* What it asks for is so, or becomes so for what comes after it in a batch, a transaction or a session. */
static gboolean
execute_pragma(QdWriteItem *item, QdConnection *connection, const QdCompiled *compiled, GError **error)
{
    gboolean alone = !item->is_part && item->statements->len == 1;

    if (alone && compiled->setting != QD_SETTING_NONE && item->settings != NULL) {
        qd_settings_remember(item->settings, compiled->setting, compiled->setting_on);
        return TRUE;
    }
    if (alone && compiled->setting != QD_SETTING_NONE && qd_setting_get_default(compiled->setting) != compiled->setting_on) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "this pragma holds for a batch, a transaction or a channel of one's own: put it before the statements of one");
        return FALSE;
    }
    qd_settings_apply(connection, compiled->setting, compiled->setting_on);
    return TRUE;
}

static gboolean
check_control(QdWriteItem *item, const QdCompiled *compiled, GError **error)
{
    if (compiled->control == QD_CONTROL_SAVEPOINT && item->is_part && item->is_bare)
        return TRUE;

    item->runs_alone = compiled->control == QD_CONTROL_SAVEPOINT && item->is_part && item->statements->len == 1;
    if (compiled->control != QD_CONTROL_SAVEPOINT)
        return qd_shape_check_control(&(QdShape){ .control = compiled->control }, error);
    qd_error_set(error, QW_ERROR_ACCESS_DENIED, "SAVEPOINT is allowed in a transaction only: begin one before it");
    return FALSE;
}

static gboolean
execute_statement(QdWriteItem *item, QdWriteStatement *statement, QdConnection *connection, const QdLimits *limits, GError **error)
{
    uint64_t before = item->outcome.changes;
    QdCompiled *compiled = qd_connection_compile(connection, statement->text, statement->n_text_bytes, QD_POLICY_WRITE, limits,
                                                 error);
    gboolean ok;

    if (compiled == NULL)
        return FALSE;
    if (compiled->asks)
        return execute_pragma(item, connection, compiled, error);
    if (!compiled->writes && sqlite3_column_count(compiled->stmt) > 0) { /* a REINDEX without an index has neither */
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement changes nothing: run it as a query");
        return FALSE;
    }
    if (compiled->control != QD_CONTROL_NONE && !check_control(item, compiled, error))
        return FALSE;
    if (compiled->runs_alone && !sqlite3_get_autocommit(qd_connection_get_db(connection))) {
        item->runs_alone = item->statements->len == 1;
        qd_error_set(error, QW_ERROR_UNSUPPORTED, "VACUUM has to be the only statement of its update, outside of a transaction");
        return FALSE;
    }

    qd_connection_get_guard(connection)->vacuuming = compiled->runs_alone;
    qd_guard_forget_writes(qd_connection_get_guard(connection));
    qd_settings_note_begun(connection);
    qd_row_watch_note_tables(connection, compiled->write_tables);
    ok = execute_bounded(item, statement, connection, compiled, limits, error);
    qd_connection_get_guard(connection)->vacuuming = FALSE;
    (void) sqlite3_clear_bindings(compiled->stmt);
    statement->changes = item->outcome.changes - before;
    if (ok && compiled->effects.analyzes)
        ok = qd_connection_spread_statistics(connection, error);
    if (compiled->effects.defines)
        qd_schema_watch_forget(qd_connection_get_schema(connection));
    qd_write_item_note_run(item, connection, compiled, limits);
    qd_connection_bound_statements(connection);
    return ok;
}

/* As in SQLite a statement by itself that fails for them has changed nothing; but what its triggers did stays in the total. */
static void
take_counts_back(QdWriteItem *item)
{
    QdCounts counts;

    if (item->counts.session == NULL || item->statements == NULL || item->statements->len != 1)
        return;
    counts = qd_session_get_counts(item->counts.session);
    counts.total_changes -= counts.changes;
    counts.changes = 0;
    qd_session_set_counts(item->counts.session, &counts);
}

gboolean
qd_write_item_check_keys(QdWriteItem *item, QdConnection *connection, GError **error)
{
    g_autoptr(GPtrArray) tables = NULL;
    GError *failure = NULL;
    int unresolved = 0;
    int high;

    (void) sqlite3_db_status(qd_connection_get_db(connection), SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &high, 0);
    if (unresolved == 0)
        return TRUE;

    take_counts_back(item);
    qd_error_set(&failure, QW_ERROR_CONSTRAINT, "FOREIGN KEY constraint failed at %s",
                 item->takes_role ? "COMMIT" : "the end of the update");
    tables = qd_name_set_list(item->outcome.changed->tables);
    g_ptr_array_add(tables, NULL);
    qd_constraint_describe_key(connection, (char **) tables->pdata, failure);
    g_propagate_error(error, failure);
    return FALSE;
}

static gboolean
execute_func(QdWriteItem *item, QdConnection *connection, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    g_autoptr(GError) failure = NULL;
    gboolean ok = item->func(connection, item, item->func_data, &failure);

    (void) qd_connection_set_policy(connection, policy);
    if (!ok)
        propagate_failure(item, g_steal_pointer(&failure), error);
    return ok;
}

static gboolean
execute_statements(QdWriteItem *item, QdConnection *connection, const QdLimits *limits, GError **error)
{
    gboolean ok = TRUE;

    for (guint i = 0; ok && i < item->statements->len; i++) {
        QdWriteStatement *statement = &g_array_index(item->statements, QdWriteStatement, i);
        gboolean is_sparql = statement->language == QD_LANGUAGE_SPARQL;
        g_autoptr(GError) failure = NULL;

        qd_connection_set_access(connection, is_sparql ? NULL : get_access(item));
        ok = (is_sparql ? execute_update : execute_statement)(item, statement, connection, limits, &failure);
        qd_connection_set_access(connection, NULL);
        if (!ok) {
            propagate_failure(item, g_steal_pointer(&failure), error);
            if (item->statements->len > 1)
                g_prefix_error(error, "statement %u of the batch: ", i + 1);
        }
    }
    if (item->counts.session != NULL)
        qd_session_set_counts(item->counts.session, &item->counts.own);
    return ok;
}

gboolean
qd_write_item_execute(QdWriteItem *item, QdConnection *connection, const QdLimits *limits, GError **error)
{
    gboolean ok;

    item->outcome.changes = 0;
    item->outcome.n_rows = 0;
    item->has_begun = FALSE;
    item->runs_alone = FALSE;
    item->keeps = FALSE;
    item->counts.before = item->counts.session != NULL ? qd_session_get_counts(item->counts.session) : (QdCounts){ 0 };
    item->counts.own = item->counts.before;
    g_array_set_size(item->outcome.pages, 0);
    item->outcome.n_page_bytes = 0;
    qd_changes_clear(item->outcome.changed);
    if (item->func != NULL)
        return execute_func(item, connection, error) && qd_write_item_check_keys(item, connection, error);
    qd_row_watch_begin(connection, item->outcome.changed, limits);
    if (item->is_part) {
        ok = execute_statements(item, connection, limits, error);
        qd_row_watch_end(connection);
        return ok;
    }

    if (item->settings != NULL)
        qd_settings_begin(connection, *item->settings);
    ok = execute_statements(item, connection, limits, error) && qd_write_item_check_keys(item, connection, error);
    qd_settings_reset(connection);
    qd_row_watch_end(connection);
    if (item->settings != NULL && item->has_begun)
        qd_settings_note_end(item->settings);
    return ok;
}

gboolean
qd_write_item_is_atomic(const QdWriteItem *item)
{
    const QdWriteStatement *statement;

    if (item->func != NULL || item->statements->len != 1)
        return FALSE;

    statement = &g_array_index(item->statements, QdWriteStatement, 0);
    return statement->language == QD_LANGUAGE_SQL && statement->n_rows <= 1;
}

gboolean
qd_write_item_failed_cleanly(const QdWriteItem *item, QdConnection *connection)
{
    int unresolved = 0;
    int high;

    (void) sqlite3_db_status(qd_connection_get_db(connection), SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &high, 0);
    return unresolved == 0 && (!item->has_begun || g_error_matches(item->outcome.error, QD_ERROR, (gint) QW_ERROR_CONSTRAINT));
}
