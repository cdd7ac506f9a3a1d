/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk through the tree, and records to rows. The format: https://www.sqlite.org/fileformat2.html, "B-tree Pages" and
 * "Record Format".
 */
#include "daemon/read/table-scan.h"

#include <math.h>
#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/page-cells.h"
#include "daemon/sqlite/snapshot.h"

#define MAX_DEPTH 20 /* SQLite's own */
#define MAX_RECORD_BYTES (1 << 30)
#define MAX_RECORD_HEADER_BYTES 98307
/* Pages of a long row between two questions whether it shall end. */
#define POLL_PAGES 64
/* Of the first row, which SQLite keeps as long as the scan runs. With a longer one SQLite reads all rows: the query would need the
 * memory of two. */
#define MAX_KEPT_BYTES (1 << 20)
/* A longer parameter is for SQLite. */
#define MAX_CONSTANT_BYTES 65536
/* What is needed of a record does not stand in its page alone. */
#define IS_ELSEWHERE (-2)
/* The row is not one of the result. */
#define FAILS (-3)

typedef struct Level {
    guint32 number;
    const guint8 *page; /* (nullable): of the snapshot */
    guint8 *buffer;     /* (owned) for a page that is not mapped */
    QdPageCells cells;
    guint32 next; /* cell */
} Level;

struct QdTableScan {
    QdSnapshot snapshot;
    const QdScanProgram *program;
    guint32 n_visited; /* pages: a tree has no more than the file */
    guint depth;
    Level levels[MAX_DEPTH];
    guint8 *long_record; /* (owned) (nullable) SQLite's memory, which is charged to the query */
    guint64 n_long_bytes;
    guint64 max_value_bytes;
    guint64 n_rows;
    guint64 n_seen;
    QdScanState *filter;   /* (owned) (nullable) */
    GStringChunk *strings; /* (owned) (nullable): values of parameters */

    /* the row */
    gint64 rowid;
    const guint8 *record;
    guint64 n_bytes;  /* of the whole record */
    guint64 n_here;   /* of those, at @record */
    guint32 n_fields; /* that are known, */
    guint64 header;   /* where the next one's type stands, */
    guint64 n_header;
    guint64 body; /* and where its value does */
    QdScanField fields[];
};

QdTableScan *
qd_table_scan_new(sqlite3 *db, const QdScanProgram *program)
{
    guint32 n_fields = MAX(program->n_fields, program->n_filter_fields);
    QdTableScan *self = g_malloc0(sizeof *self + n_fields * sizeof(QdScanField));

    self->program = program;
    self->max_value_bytes = (guint64) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    if (program->n_steps > 0) {
        self->filter = g_new0(QdScanState, 1);
        self->filter->max_pattern_bytes = (gsize) sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
        for (guint32 i = 0; i < program->n_constants; i++)
            self->filter->registers[program->constants[i].target] = program->constants[i].value;
    }
    return qd_snapshot_prepare(&self->snapshot, db) ? self : qd_table_scan_free(self);
}

static void
leave_page(QdTableScan *self, Level *level)
{
    qd_snapshot_release_page(&self->snapshot, level->number, level->buffer, level->page);
    level->page = NULL;
}

QdTableScan *
qd_table_scan_free(QdTableScan *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < MAX_DEPTH; i++) {
        leave_page(self, &self->levels[i]);
        g_free(self->levels[i].buffer);
    }
    sqlite3_free(self->long_record);
    if (self->filter != NULL)
        qd_scan_state_clear(self->filter);
    g_free(self->filter);
    g_clear_pointer(&self->strings, g_string_chunk_free);
    g_free(self);
    return NULL;
}

gboolean
qd_table_scan_set_constant(QdTableScan *self, const QdScanConstant *constant, const QwValue *value)
{
    QdScanValue *target = &self->filter->registers[constant->target];

    *target = (QdScanValue){ .type = QD_SCAN_NULL };
    switch (value->type) {
    case QW_TYPE_NULL:
        return TRUE;
    case QW_TYPE_INTEGER:
        target->type = QD_SCAN_INTEGER;
        target->integer = value->integer;
        return TRUE;
    case QW_TYPE_FLOAT:
        target->type = isnan(value->real) ? QD_SCAN_NULL : QD_SCAN_FLOAT;
        target->real = value->real;
        return TRUE;
    case QW_TYPE_TEXT:
    case QW_TYPE_BLOB:
        break;
    default:
        return FALSE;
    }
    if (value->n_bytes > MAX_CONSTANT_BYTES)
        return FALSE;
    if (self->strings == NULL)
        self->strings = g_string_chunk_new(256);
    target->type = value->type == QW_TYPE_TEXT ? QD_SCAN_TEXT : QD_SCAN_BLOB;
    target->is_terminated = TRUE;
    target->n_bytes = value->n_bytes;
    target->data = (const guint8 *) g_string_chunk_insert_len(self->strings, value->data, value->n_bytes);
    return TRUE;
}

gboolean
qd_table_scan_filters(const QdTableScan *self)
{
    return self->filter != NULL;
}

guint64
qd_table_scan_get_n_rows(const QdTableScan *self)
{
    return self->n_rows;
}

guint64
qd_table_scan_get_n_seen(const QdTableScan *self)
{
    return self->n_seen;
}

/* Pages --------------------------------------------------------------------------------------------------------------------- */

static gboolean
is_leaf(const Level *level)
{
    return !qd_page_cells_is_interior(&level->cells);
}

static int
enter_page(QdTableScan *self, guint32 number)
{
    Level *level = &self->levels[self->depth];
    int r;

    if (++self->n_visited > self->snapshot.n_pages)
        return SQLITE_CORRUPT;
    if (level->buffer == NULL)
        level->buffer = g_malloc(self->snapshot.page_size);
    r = qd_snapshot_get_page(&self->snapshot, number, level->buffer, &level->page);
    if (r != SQLITE_OK) {
        level->page = NULL;
        return r;
    }
    level->number = number;
    level->next = 0;
    if (!qd_page_cells_init(&level->cells, level->page, number, self->snapshot.usable_size) ||
        !qd_page_cells_is_of_table(&level->cells))
        return SQLITE_CORRUPT;
    self->depth++;
    return SQLITE_OK;
}

static int
enter_next_child(QdTableScan *self, Level *level)
{
    guint32 i = level->next++;
    QdPageCell cell = { .child = level->cells.last_child };

    if (self->depth == MAX_DEPTH || (i < level->cells.n_cells && !qd_page_cells_get(&level->cells, i, &cell)))
        return SQLITE_CORRUPT;
    return enter_page(self, cell.child);
}

/* To the next leaf that has a cell left. DONE: there is none. */
static int
find_leaf(QdTableScan *self)
{
    while (self->depth > 0) {
        Level *level = &self->levels[self->depth - 1];
        int r = SQLITE_OK;

        if (is_leaf(level) && level->next < level->cells.n_cells)
            return SQLITE_OK;
        if (!is_leaf(level) && level->next <= level->cells.n_cells) {
            r = enter_next_child(self, level);
        } else {
            leave_page(self, level);
            self->depth--;
        }
        if (r != SQLITE_OK)
            return r;
        if (qd_interrupt_poll())
            return SQLITE_INTERRUPT;
    }
    return SQLITE_DONE;
}

gboolean
qd_table_scan_begin(QdTableScan *self)
{
    Level *level;
    QdPageCell cell;

    if (!qd_snapshot_begin(&self->snapshot) || enter_page(self, self->program->root) != SQLITE_OK || find_leaf(self) != SQLITE_OK)
        return FALSE;
    level = &self->levels[self->depth - 1];
    level->next = self->filter == NULL ? 1 : 0;
    return self->filter != NULL || (qd_page_cells_get(&level->cells, 0, &cell) && cell.n_bytes <= MAX_KEPT_BYTES);
}

/* Records ------------------------------------------------------------------------------------------------------------------- */

/* The pages that follow: each begins with the number of the next one. */
static int
read_overflow(QdTableScan *self, guint32 number, guint8 *to, guint64 n_bytes)
{
    g_autofree guint8 *buffer = g_malloc(self->snapshot.page_size);

    for (guint n = 1; n_bytes > 0; n++) {
        guint32 n_here = (guint32) MIN(n_bytes, self->snapshot.usable_size - 4);
        const guint8 *page;
        guint32 next;
        int r = qd_snapshot_get_page(&self->snapshot, number, buffer, &page);

        if (r != SQLITE_OK)
            return r;
        next = qd_page_get_u32(page);
        memcpy(to, page + 4, n_here);
        qd_snapshot_release_page(&self->snapshot, number, buffer, page);
        number = next;
        to += n_here;
        n_bytes -= n_here;
        if (n % POLL_PAGES == 0 && qd_interrupt_poll())
            return SQLITE_INTERRUPT;
    }
    return SQLITE_OK;
}

static int
collect_record(QdTableScan *self, const QdPageCell *cell)
{
    guint64 n_bytes = cell->n_bytes;

    if (n_bytes > self->n_long_bytes) {
        sqlite3_free(self->long_record);
        self->long_record = sqlite3_malloc64(n_bytes);
        self->n_long_bytes = self->long_record != NULL ? n_bytes : 0;
        if (self->long_record == NULL)
            return SQLITE_NOMEM;
    }
    memcpy(self->long_record, cell->local, cell->n_local);
    self->record = self->long_record;
    self->n_here = n_bytes;
    return read_overflow(self, cell->overflow, self->long_record + cell->n_local, n_bytes - cell->n_local);
}

static int
parse_header(QdTableScan *self)
{
    guint64 n_header = 0;
    const guint8 *p = qd_page_get_varint(self->record, self->record + self->n_here, &n_header);

    if (p == NULL || n_header > self->n_bytes || n_header > MAX_RECORD_HEADER_BYTES)
        return SQLITE_CORRUPT;
    self->header = (guint64) (p - self->record);
    self->n_header = self->body = n_header;
    return SQLITE_ROW;
}

/* Where the first @n_fields are. A record that was written before a column was added has fewer: they are NULL. */
static int
parse_record(QdTableScan *self, guint32 n_fields)
{
    const guint8 *p = self->record + self->header;
    const guint8 *end = self->record + self->n_header;
    guint64 body = self->body;
    guint32 i = self->n_fields;

    if (self->n_header > self->n_here)
        return IS_ELSEWHERE;
    for (; i < n_fields && p < end; i++) {
        guint64 type;

        p = qd_page_get_varint(p, end, &type);
        if (p == NULL || body > self->n_bytes)
            return SQLITE_CORRUPT;
        self->fields[i] = (QdScanField){ (guint32) type, (guint32) body };
        body += qd_record_get_field_size(type);
        if (body > self->n_bytes)
            return SQLITE_CORRUPT;
        if (qd_record_get_field_size(type) > self->max_value_bytes)
            return SQLITE_TOOBIG;
    }
    for (; i < n_fields; i++)
        self->fields[i] = (QdScanField){ 0 };
    self->n_fields = i;
    self->header = (guint64) (p - self->record);
    self->body = body;
    return body <= self->n_here ? SQLITE_ROW : IS_ELSEWHERE;
}

/* Its end is read from other pages only where it is needed. */
static inline int
parse_fields(QdTableScan *self, const QdPageCell *cell, guint32 n_fields)
{
    int r = parse_record(self, n_fields);

    if (r != IS_ELSEWHERE)
        return r;
    r = collect_record(self, cell);
    return r == SQLITE_OK ? parse_record(self, n_fields) : r;
}

static int
filter_row(QdTableScan *self)
{
    const QdScanRow row = { self->record, self->fields, self->rowid };

    switch (qd_scan_filter_run(self->program->steps, self->program->n_steps, &row, self->filter)) {
    case QD_SCAN_PASSES:
        return SQLITE_ROW;
    case QD_SCAN_FAILS:
        return FAILS;
    case QD_SCAN_UNSURE:
        return QD_TABLE_SCAN_UNSURE;
    case QD_SCAN_ENDS:
        return SQLITE_INTERRUPT;
    }
    g_assert_not_reached();
}

static int
parse_cell(QdTableScan *self, const Level *level, guint32 i)
{
    QdPageCell cell;
    int r;

    if (!qd_page_cells_get(&level->cells, i, &cell) || cell.n_bytes > MAX_RECORD_BYTES ||
        cell.n_bytes > (guint64) self->snapshot.n_pages * self->snapshot.page_size)
        return SQLITE_CORRUPT;
    self->rowid = cell.rowid;
    self->record = cell.local;
    self->n_bytes = cell.n_bytes;
    self->n_here = cell.n_local;
    self->n_fields = 0;
    r = parse_header(self);
    if (r == SQLITE_ROW && self->filter != NULL) {
        r = parse_fields(self, &cell, self->program->n_filter_fields);
        if (r == SQLITE_ROW)
            r = filter_row(self);
    }
    return r == SQLITE_ROW ? parse_fields(self, &cell, self->program->n_fields) : r;
}

int
qd_table_scan_step(QdTableScan *self)
{
    int r;

    do {
        Level *level = self->depth > 0 ? &self->levels[self->depth - 1] : NULL;

        if (level == NULL || !is_leaf(level) || level->next == level->cells.n_cells) {
            r = find_leaf(self);
            if (r != SQLITE_OK)
                return r;
            level = &self->levels[self->depth - 1];
        }
        r = parse_cell(self, level, level->next++);
        self->n_seen++;
    } while (r == FAILS);
    self->n_rows += r == SQLITE_ROW ? 1 : 0;
    return r;
}

/* Rows ---------------------------------------------------------------------------------------------------------------------- */

static int
put_number(QwPageWriter *writer, guint32 type, const guint8 *p, gboolean is_real)
{
    gint64 value = type == 8 || type == 9 ? type - 8 : qd_page_get_int64(p, qd_record_get_field_size(type));
    double real;

    if (type == 7) {
        memcpy(&real, &value, sizeof real);
        if (!isnan(real))
            return qw_row_put_double(writer, real);
        qw_row_put_null(writer); /* as in SQLite */
        return 0;
    }
    return is_real ? qw_row_put_double(writer, (double) value) : qw_row_put_int64(writer, value);
}

static int
put_field(QwPageWriter *writer, const QdTableScan *self, const QdScanColumn *column)
{
    const QdScanField *field = &self->fields[column->field];
    const guint8 *p = self->record + field->offset;

    if (field->type > QD_RECORD_BLOB && (field->type & 1) != 0)
        return qw_row_put_string(writer, QW_TYPE_TEXT, p, (field->type - QD_RECORD_BLOB) / 2);
    if (field->type >= QD_RECORD_BLOB)
        return qw_row_put_blob(writer, p, (field->type - QD_RECORD_BLOB) / 2);
    if (field->type > 0 && field->type < 10)
        return put_number(writer, field->type, p, column->is_real);
    qw_row_put_null(writer);
    return 0;
}

/* Works on a copy of the writer: fields that no other code can see stay in registers. */
int
qd_table_scan_put_row(const QdTableScan *self, QwPageWriter *writer)
{
    const QdScanProgram *program = self->program;
    QwPageWriter local = *writer;
    int r;

    local.n_columns = program->n_columns;
    r = qw_row_begin(&local);
    for (guint32 i = 0; i < program->n_columns && r == 0; i++) {
        const QdScanColumn *column = &program->columns[i];

        r = column->field >= 0 ? put_field(&local, self, column) : qw_row_put_int64(&local, self->rowid);
    }
    r = r == 0 ? qw_row_end(&local) : r;
    if (r == 0)
        *writer = local;
    return r;
}

size_t
qd_table_scan_get_row_size(const QdTableScan *self)
{
    size_t size = QW_HEADER_SIZE + qw_align8(4 + 4 * (size_t) self->program->n_columns);

    for (guint32 i = 0; i < self->program->n_columns; i++) {
        gint32 field = self->program->columns[i].field;
        guint32 type = field >= 0 ? self->fields[field].type : 6;

        if (type >= QD_RECORD_BLOB)
            size += (type - QD_RECORD_BLOB) / 2 + 1;
        else if (type > 0 && type < 10)
            size = qw_align8(size) + 8;
    }
    return qw_align8(size);
}
