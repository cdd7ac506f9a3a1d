/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms of a statement, and what each makes of a row.
 */
#include "daemon/read/row-source.h"

#include "daemon/plan/compile.h"
#include "daemon/read/bind.h"
#include "daemon/read/packing.h"
#include "daemon/read/pool.h"
#include "daemon/read/rdf-encoder.h"
#include "daemon/read/row-encoder.h"
#include "daemon/read/run.h"
#include "daemon/read/shape.h"

/* A result that was begun with fewer instructions than these may begin again in another form. */
#define FEW_STEPS 5000
/* So many a statement makes at most that is then compiled again: Init and Transaction. One that has done something makes more. */
#define COMPILE_STEPS 2
/* A condition that one row of so many passes is evaluated on pages. */
#define MANY_ROWS 4
/* A result of so many bytes makes the next run of its statement a packed one from the start. */
#define MUCH_BYTES (256 * 1024)
/* A scan of so long makes the next run of its statement one in ranges. */
#define LONG_USEC 10000
/* Where other programs have the cores, ranges take longer: so many runs are by one thread then. */
#define N_PAUSES 16

static gboolean
is_packed(const QdRowSource *self)
{
    return self->stmt != self->compiled->stmt;
}

gboolean
qd_row_source_set_compiled(QdRowSource *self, QdCompiled *compiled)
{
    self->compiled = compiled;
    self->stmt = compiled != NULL ? compiled->stmt : NULL;
    return compiled != NULL;
}

gboolean
qd_row_source_compile(QdRowSource *self, const QdRunText *what, QdPolicy policy, GError **error)
{
    QdConnection *connection = self->reader->connection;
    QdSchemaWatch *schema = qd_connection_get_schema(connection);
    gboolean outside = sqlite3_get_autocommit(qd_connection_get_db(connection));
    QdCompiled *compiled;

    schema->keeps = what->is_executed && self->pool != NULL;
    if (what->is_described)
        qd_schema_watch_follow(schema, TRUE);
    compiled = what->is_generated ? qd_connection_compile_generated(connection, what->text, self->limits, error)
                                  : qd_connection_compile(connection, what->text, what->n_bytes, policy, self->limits, error);
    schema->keeps = FALSE;
    self->holds = self->holds || (outside && !sqlite3_get_autocommit(qd_connection_get_db(connection)));
    return qd_row_source_set_compiled(self, compiled);
}

/* Values ---------------------------------------------------------------------------------------------------------------- */

static gboolean
bind(QdRowSource *self, GError **error)
{
    return self->row.data != NULL ? qd_bind_row(self->stmt, &self->row, error)
                                  : qd_bind_parameters(self->stmt, self->parameters, error);
}

gboolean
qd_row_source_bind_row(QdRowSource *self, const QwPageReader *row, GError **error)
{
    self->row = row != NULL ? *row : (QwPageReader){ 0 };
    self->parameters = NULL;
    return bind(self, error);
}

gboolean
qd_row_source_bind_parameters(QdRowSource *self, const QdParameters *parameters, GError **error)
{
    self->row = (QwPageReader){ 0 };
    self->parameters = parameters;
    return bind(self, error);
}

/* Whether the next scan with a condition pays. */
static void
note_share(QdRowSource *self, uint64_t n_rows, uint64_t n_seen)
{
    self->compiled->wrapped.gives_most = n_rows >= n_seen / MANY_ROWS;
}

/* Forms ----------------------------------------------------------------------------------------------------------------- */

static void
begin_packing(QdRowSource *self, QwPageWriter *writer)
{
    uint64_t max_row_bytes = qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES) + QW_PAGE_SIZE_MAX;

    writer->n_columns = (uint32_t) self->compiled->n_columns;
    max_row_bytes = MIN(max_row_bytes, QW_ROWS_SIZE_MAX);
    qd_packer_begin(self->reader->packer, writer, (size_t) max_row_bytes);
    if (self->ranges != NULL)
        qd_scan_ranges_begin_fill(self->ranges, writer, (size_t) max_row_bytes);
}

static void
end_packing(QdRowSource *self)
{
    if (!is_packed(self))
        return;

    self->scan = qd_table_scan_free(self->scan);
    self->scans = FALSE;
    self->ranges = qd_scan_ranges_free(self->ranges);
    (void) sqlite3_reset(self->stmt);
    (void) sqlite3_clear_bindings(self->stmt);
    qd_packer_end(self->reader->packer);
    qd_connection_get_guard(self->reader->connection)->packing = FALSE;
    self->stmt = self->compiled->stmt;
}

/* The values of parameters that the condition names. */
static gboolean
set_constants(QdRowSource *self, const QdScanProgram *program)
{
    const QdShape shape = qd_shape_from_stmt(self->stmt);
    g_autofree const QwValue **values = NULL;

    if (self->row.data == NULL && shape.n_parameters > 0)
        values = qd_bind_resolve(&shape, self->parameters, NULL);
    for (guint32 i = 0; i < program->n_constants; i++) {
        const QdScanConstant *constant = &program->constants[i];
        QwValue value;

        if (constant->parameter == 0)
            continue;
        if (constant->parameter > shape.n_parameters || (self->row.data == NULL && values == NULL))
            return FALSE;
        if (self->row.data != NULL)
            qw_page_reader_get(&self->row, constant->parameter - 1, &value);
        else
            value = *values[constant->parameter - 1];
        if (!qd_table_scan_set_constant(self->scan, constant, &value))
            return FALSE;
    }
    return TRUE;
}

/* The scan gives all rows, so that SQLite does not look for the first one. */
static gboolean
begin_filtering(QdRowSource *self, const QdScanProgram *program)
{
    QdConnection *connection = self->reader->connection;

    if (!set_constants(self, program) || !sqlite3_get_autocommit(qd_connection_get_db(connection)) ||
        !qd_connection_begin(connection, NULL))
        return FALSE;
    self->holds = TRUE;
    return qd_connection_get_schema_version(connection) == (gint64) program->schema_version && qd_table_scan_begin(self->scan);
}

/* Passing over a row takes as long as it takes SQLite. What is won are the rows that are given. */
static void
prepare_scan(QdRowSource *self)
{
    const QdScanProgram *program = self->compiled->wrapped.scan;

    if (program == NULL || (program->n_steps > 0 && !self->compiled->wrapped.gives_most))
        return;
    self->scan = qd_table_scan_new(qd_connection_get_db(self->reader->connection), program);
    if (self->scan != NULL && qd_table_scan_filters(self->scan) && !begin_filtering(self, program))
        self->scan = qd_table_scan_free(self->scan);
}

/* Before a packed form is stepped, from its beginning. */
static void
start_packed(QdRowSource *self, QwPageWriter *writer)
{
    (void) sqlite3_reset(self->compiled->stmt);
    self->stepped = FALSE;
    writer->used = QW_HEADER_SIZE;
    writer->n_rows = 0;
    qd_connection_get_guard(self->reader->connection)->packing = TRUE;
    begin_packing(self, writer);
}

/* What another thread can bind, too. FALSE: not so. */
static gboolean
encode_parameters(const QdRowSource *self, QwPageReader *ret_row, GBytes **ret_bytes)
{
    const QdShape shape = qd_shape_from_stmt(self->compiled->stmt);
    gsize n_bytes = 0;
    const uint8_t *data;

    *ret_row = self->row;
    if (self->row.data != NULL || shape.n_parameters == 0)
        return TRUE;
    *ret_bytes = qd_bind_encode_row(&shape, self->parameters, NULL);
    if (*ret_bytes == NULL)
        return FALSE;
    data = g_bytes_get_data(*ret_bytes, &n_bytes);
    return qw_page_reader_init(ret_row, data, n_bytes, 1, shape.n_parameters) == 0 && qw_page_reader_next(ret_row);
}

/* The statement is executed in ranges from now on. FALSE: another form is better, or there is no such form. */
static gboolean
try_ranges(QdRowSource *self, QwPageWriter *writer)
{
    QdWrapped *wrapped = &self->compiled->wrapped;
    g_autoptr(GBytes) bytes = NULL;
    QdScanSetup setup = { self->pool, self->reader, self->compiled, self->limits, self->help, { 0 }, NULL };
    const QdScanProgram *program;

    if (self->help.func == NULL || !wrapped->ranged.pays || !self->help.func(self->help.data, NULL) ||
        !qd_packing_find(self->reader->connection, self->compiled, self->limits))
        return FALSE;
    if (wrapped->ranged.n_pauses > 0) {
        wrapped->ranged.n_pauses--;
        return FALSE;
    }
    program = wrapped->by_values ? NULL : wrapped->scan;
    if ((program != NULL && (program->n_steps == 0 || wrapped->gives_most)) || !encode_parameters(self, &setup.parameters, &bytes))
        return FALSE;
    setup.bytes = bytes;
    self->ranges = qd_scan_ranges_new(&setup);
    if (self->ranges == NULL)
        return FALSE;
    self->holds = TRUE;
    self->stmt = wrapped->ranged.stmt;
    start_packed(self, writer);
    return TRUE;
}

/* From now on the packed statement is stepped, from its beginning. FALSE: there is none, nothing has changed. */
static gboolean
try_packing(QdRowSource *self, QwPageWriter *writer)
{
    QdCompiled *compiled = self->compiled;

    if (compiled->wrapped.by_values || !qd_packing_find(self->reader->connection, self->compiled, self->limits))
        return FALSE;

    self->stmt = compiled->wrapped.stmt;
    if (!bind(self, NULL)) {
        self->stmt = compiled->stmt;
        return FALSE;
    }
    start_packed(self, writer);
    prepare_scan(self);
    return TRUE;
}

static gboolean
can_be_packed(const QdRowSource *self)
{
    return self->may_pack && self->plan == NULL && !is_packed(self);
}

/* SQLite reads the schema once more. Without a snapshot it may have to do so again, as often as others change it meanwhile. */
static gboolean
hold_schema(QdRowSource *self)
{
    QdConnection *connection = self->reader->connection;

    if (!qd_schema_watch_is_behind(qd_connection_get_schema(connection)))
        return FALSE;
    if (sqlite3_get_autocommit(qd_connection_get_db(connection)))
        self->holds = qd_connection_begin(connection, NULL);
    return TRUE;
}

void
qd_row_source_begin_fill(QdRowSource *self, QwPageWriter *writer)
{
    self->writer = writer;
    if (is_packed(self)) {
        begin_packing(self, writer);
        return;
    }
    if (self->stepped)
        return;

    (void) sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
    (void) sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    if (hold_schema(self) || !can_be_packed(self) || try_ranges(self, writer))
        return;
    if ((self->compiled->wrapped.gives_much || self->compiled->wrapped.stmt != NULL))
        (void) try_packing(self, writer);
}

/*
 * A whole table's scan gives many rows: if none of them has left yet, and few steps were made, it starts again packed. What an
 * index finds is packed when an earlier run has given much.
 */
gboolean
qd_row_source_start_packing(QdRowSource *self, QwPageWriter *writer, uint64_t n_rows)
{
    uint64_t n_seen;

    if (!can_be_packed(self) || writer->n_rows != n_rows ||
        sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_VM_STEP, 0) >= FEW_STEPS)
        return FALSE;
    n_seen = (uint64_t) sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    if (n_seen > 0)
        note_share(self, n_rows, n_seen);
    return n_seen > 0 && try_packing(self, writer);
}

void
qd_row_source_begin_scan(QdRowSource *self, int r)
{
    if (self->scan != NULL && !qd_table_scan_filters(self->scan) && (r != SQLITE_ROW || !qd_table_scan_begin(self->scan)))
        self->scan = qd_table_scan_free(self->scan);
}

/* Rows ------------------------------------------------------------------------------------------------------------------- */

/*
 * A statement that has expired is compiled again within its first step, by the schema that the connection knows. SQLite compares
 * that with the file's for some errors only, so a query that failed between two changes would fail after the second one, too.
 */
int
qd_row_source_step_first(QdRowSource *self)
{
    int r = qd_row_source_step(self);

    if ((r & 0xff) != SQLITE_ERROR || is_packed(self) ||
        sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_VM_STEP, 0) > COMPILE_STEPS)
        return r;
    qd_guard_forget_denial(qd_connection_get_guard(self->reader->connection));
    qd_schema_watch_follow(qd_connection_get_schema(self->reader->connection), TRUE);
    (void) sqlite3_reset(self->stmt);
    return sqlite3_step(self->stmt);
}

/* Also when it was compiled once more, so that the two programs have not been compared. */
gboolean
qd_row_source_give_up_packing(QdRowSource *self, int r, QwPageWriter *writer, size_t used_before)
{
    gboolean by_values = (r == SQLITE_ROW || r == SQLITE_DONE) && self->ranges == NULL;

    if (!is_packed(self) || (r & 0xff) == SQLITE_INTERRUPT ||
        ((r == SQLITE_ROW || r == SQLITE_DONE) && sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_REPREPARE, 0) == 0))
        return FALSE;

    qd_row_source_drop_row(self, writer, used_before);
    end_packing(self);
    self->compiled->wrapped.by_values = by_values;
    if (!by_values)
        qd_compiled_drop_wrapped(self->compiled);
    qd_guard_forget_denial(qd_connection_get_guard(self->reader->connection));
    return TRUE;
}

/* The rows that have been given are passed over, in the same snapshot. The next run of the statement begins so. */
int
qd_row_source_leave_scan(QdRowSource *self)
{
    guint64 n_given = qd_table_scan_get_n_rows(self->scan);
    int r;

    self->scan = qd_table_scan_free(self->scan);
    self->scans = FALSE;
    g_clear_pointer(&self->compiled->wrapped.scan, g_free);
    self->kept_bytes = self->writer->used;
    r = sqlite3_step(self->stmt);
    if (qd_row_source_give_up_packing(self, r, self->writer, self->kept_bytes))
        r = sqlite3_step(self->stmt);
    while (r == SQLITE_ROW && n_given-- > 0) {
        qd_row_source_drop_row(self, self->writer, self->kept_bytes);
        r = sqlite3_step(self->stmt);
    }
    return r;
}

gboolean
qd_row_source_has_new_columns(QdRowSource *self)
{
    uint64_t before = self->compiled->schema_signature;

    return !is_packed(self) && qd_compiled_refresh(self->compiled) && self->plan == NULL &&
           self->compiled->schema_signature != before;
}

int
qd_row_source_put_row(QdRowSource *self, QwPageWriter *writer, GError **error)
{
    if (self->ranges != NULL)
        return qd_scan_ranges_put_row(self->ranges, writer);
    if (self->scans)
        return qd_table_scan_put_row(self->scan, writer);
    if (is_packed(self))
        return qd_packer_take_row(self->reader->packer, writer);

    if (self->encoder != NULL) {
        writer->n_columns = self->plan->n_columns; /* SELECT * of nothing has none, its SQL has one */
        return qd_rdf_encoder_put_row(self->encoder, writer, self->stmt, error);
    }
    writer->n_columns = (uint32_t) self->compiled->n_columns;
    return qd_row_encode(writer, self->stmt);
}

void
qd_row_source_note_emptied(QdRowSource *self, const QwPageWriter *writer)
{
    self->kept_bytes = writer->used;
}

void
qd_row_source_drop_row(QdRowSource *self, QwPageWriter *writer, size_t used_before)
{
    if (writer->used > used_before)
        writer->n_rows--;
    writer->used = used_before;
    if (is_packed(self))
        qd_packer_drop_row(self->reader->packer);
}

size_t
qd_row_source_get_row_size(QdRowSource *self)
{
    if (self->encoder != NULL)
        return qd_rdf_encoder_get_row_size(self->encoder, self->stmt, self->plan->n_columns);
    if (self->scans)
        return qd_table_scan_get_row_size(self->scan);
    if (self->ranges != NULL)
        return qd_scan_ranges_get_row_size(self->ranges);
    if (is_packed(self))
        return qd_packer_get_row_size(self->reader->packer);
    return qd_row_get_size(self->stmt, (uint32_t) self->compiled->n_columns);
}

/* Rows of the table. */
static uint64_t
get_n_seen(const QdRowSource *self)
{
    return self->scan != NULL && qd_table_scan_filters(self->scan)
               ? qd_table_scan_get_n_seen(self->scan)
               : (uint64_t) sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
}

/* Whether the next run pays in ranges. It is more work for the processor: two operations for each row. */
static void
note_time(QdRowSource *self, uint64_t n_seen, uint64_t usec)
{
    QdRanged *ranged = &self->compiled->wrapped.ranged;

    if (self->ranges != NULL) {
        ranged->n_pauses = ranged->usec > 0 && usec > ranged->usec - ranged->usec / 8 ? N_PAUSES : 0;
    } else if (n_seen > 0 && usec >= LONG_USEC) {
        ranged->pays = TRUE;
        ranged->usec = usec;
    }
}

static void
end_transaction(QdRowSource *self)
{
    if (self->holds)
        (void) qd_connection_end(self->reader->connection, NULL);
    self->holds = FALSE;
}

void
qd_row_source_end(QdRowSource *self, uint64_t n_rows, uint64_t n_bytes, uint64_t usec)
{
    uint64_t n_seen;

    if (self->compiled == NULL) {
        end_transaction(self);
        return;
    }

    n_seen = self->ranges == NULL ? get_n_seen(self) : 0;
    if (is_packed(self) && n_bytes >= MUCH_BYTES && self->ranges == NULL)
        note_share(self, n_rows, n_seen);
    note_time(self, n_seen, usec);
    (void) sqlite3_reset(self->compiled->stmt);
    (void) sqlite3_clear_bindings(self->compiled->stmt);
    end_packing(self);
    end_transaction(self);
    if (n_bytes >= MUCH_BYTES)
        self->compiled->wrapped.gives_much = TRUE;
}
