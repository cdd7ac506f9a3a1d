/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The function, and the proof that SQLite flattened the wrapper: EXPLAIN of both statements.
 *
 * Where SQLite does not flatten it, the statement runs as a co-routine, and packing costs more than it spares. The programs
 * then differ: other operations, or the function anywhere but before a ResultRow.
 */
#include "daemon/read/packing.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/read/bind.h"
#include "daemon/read/row-encoder.h"
#include "daemon/read/table-scan.h"
#include "daemon/sqlite/operation.h"
#include "daemon/sqlite/sqlite-error.h"

#define FUNCTION_NAME QD_PACKING_FUNCTION
/* SQLite's limit for arguments of a function. */
#define MAX_COLUMNS 127
/* A longer text is compiled long, too. */
#define MAX_TEXT_BYTES 16384
/* Between two pages one row is kept; a larger block is given back. */
#define KEEP_SPILL_BYTES 65536

struct QdPacker {
    QwPageWriter *writer; /* (nullable) not owned: the page of the run that steps */
    size_t max_row_bytes;
    uint8_t *spill; /* (owned) a page of the one row that did not fit */
    size_t spill_capacity;
    size_t spill_used; /* by the row and a record's header; 0: there is none, or it is too large to be kept */
    size_t row_size;   /* what qd_packer_get_row_size() says */
};

/* The function --------------------------------------------------------------------------------------------------------- */

static void
packer_free(void *data)
{
    QdPacker *self = data;

    g_free(self->spill);
    g_free(self);
}

/* The function is called once for a row: what finds no room in the page has to be kept. */
static int
spill_row(QdPacker *self, sqlite3_value **values, uint32_t n_values)
{
    QwPageWriter writer;

    self->row_size = qd_row_get_values_size(values, n_values);
    if (self->row_size > self->max_row_bytes)
        return 0;

    if (self->row_size > self->spill_capacity) {
        g_free(self->spill);
        self->spill = g_try_malloc(self->row_size);
        self->spill_capacity = self->spill != NULL ? self->row_size : 0;
        if (self->spill == NULL)
            return -ENOMEM;
    }
    qw_page_writer_init(&writer, self->spill, self->spill_capacity, n_values);
    if (qd_row_encode_values(&writer, values) < 0)
        return -ENOMEM;

    self->spill_used = writer.used;
    return 0;
}

static void
function_pack(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdPacker *self = sqlite3_user_data(context);
    int r;

    if (self->writer == NULL || (uint32_t) n_args != self->writer->n_columns || self->row_size > 0) {
        sqlite3_result_error(context, FUNCTION_NAME "() is not for statements", -1);
        return;
    }
    r = qd_row_encode_values(self->writer, args);
    if (r == -ENOBUFS)
        r = spill_row(self, args, (uint32_t) n_args);
    if (r < 0)
        sqlite3_result_error_nomem(context);
}

QdPacker *
qd_packer_register(sqlite3 *db, GError **error)
{
    QdPacker *self = g_new0(QdPacker, 1);
    int r = sqlite3_create_function_v2(db, FUNCTION_NAME, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, self, function_pack, NULL, NULL,
                                       packer_free);

    if (r != SQLITE_OK) { /* it has freed @self */
        qd_sqlite_set_call_error(error, db, r, "cannot register function '%s'", FUNCTION_NAME);
        return NULL;
    }
    return self;
}

void
qd_packer_begin(QdPacker *self, QwPageWriter *writer, size_t max_row_bytes)
{
    self->writer = writer;
    self->max_row_bytes = max_row_bytes;
}

void
qd_packer_drop_row(QdPacker *self)
{
    self->row_size = 0;
    self->spill_used = 0;
    if (self->spill_capacity > KEEP_SPILL_BYTES) {
        g_clear_pointer(&self->spill, g_free);
        self->spill_capacity = 0;
    }
}

void
qd_packer_end(QdPacker *self)
{
    qd_packer_drop_row(self);
    self->writer = NULL;
}

int
qd_packer_take_row(QdPacker *self, QwPageWriter *writer)
{
    if (self->row_size == 0)
        return 0;
    if (self->spill_used == 0 || qw_page_put_row(writer, self->spill + QW_HEADER_SIZE, self->spill_used - QW_HEADER_SIZE) < 0)
        return -ENOBUFS;

    qd_packer_drop_row(self);
    return 0;
}

size_t
qd_packer_get_row_size(const QdPacker *self)
{
    return self->row_size;
}

/* The statement -------------------------------------------------------------------------------------------------------- */

char *
qd_packing_write_text(const QdCompiled *compiled, const char *tables)
{
    g_autoptr(GString) columns = g_string_new("c0");
    gsize n_bytes = compiled->n_text_bytes;

    for (int i = 1; i < compiled->n_columns; i++)
        g_string_append_printf(columns, ",c%d", i);
    while (n_bytes > 0 && (compiled->text[n_bytes - 1] == ';' || g_ascii_isspace(compiled->text[n_bytes - 1])))
        n_bytes--;
    /* the line's end closes a comment; one that nothing closes makes a text that SQLite refuses */
    return g_strdup_printf("WITH queryd_rows(%s) AS (%.*s\n)%s SELECT " FUNCTION_NAME "(%s) FROM queryd_rows", columns->str,
                           (int) n_bytes, compiled->text, tables, columns->str);
}

typedef struct Program {
    gboolean packs; /* the function is called before each ResultRow with its register, and nowhere else */
    uint64_t sum;   /* of hashes of the other operations: constants may come elsewhere */
} Program;

static uint64_t
hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *p = text; *p != '\0'; p++)
        hash = (hash ^ (unsigned char) *p) * UINT64_C(0x100000001b3);
    return hash;
}

static gboolean
read_program(sqlite3_stmt *explain, Program *ret_program)
{
    Program program = { .packs = TRUE };
    int result_register = -1; /* of the function that has just been called */
    QdOperation op;
    int r;

    while ((r = qd_operation_next(&op, explain)) == SQLITE_ROW) {
        if (op.p4 != NULL && g_str_has_prefix(op.p4, FUNCTION_NAME "(")) {
            program.packs = program.packs && qd_operation_is(&op, "Function") && result_register < 0;
            result_register = op.p3;
            continue;
        }
        if (qd_operation_is(&op, "ResultRow"))
            program.packs = program.packs && op.p1 == result_register;
        else if (result_register >= 0)
            program.packs = FALSE;
        result_register = -1;
        if (!qd_operation_is(&op, "ClrSubtype")) /* what functions give other functions */
            program.sum += hash_text(op.name);
    }
    *ret_program = program;
    return r == SQLITE_DONE;
}

typedef struct Explaining {
    QdConnection *connection;
    const QdCompiled *compiled;
    const QdLimits *limits;
    const QwPageReader *values; /* (nullable) */
} Explaining;

static gboolean
explain_text(const Explaining *self, const char *text, Program *ret_program)
{
    sqlite3_stmt *explain = qd_connection_prepare(self->connection, text, self->compiled->policy, self->compiled->is_generated,
                                                  self->limits);
    gboolean ok = explain != NULL && (self->values == NULL || qd_bind_first(explain, self->values, NULL)) &&
                  read_program(explain, ret_program);

    (void) sqlite3_finalize(explain);
    return ok;
}

/* What the wrapped statement's program scans, if it does nothing else. */
static QdScanProgram *
find_scan(QdConnection *connection, const char *text, const QdCompiled *compiled, const QdLimits *limits)
{
    sqlite3_stmt *explain = qd_connection_prepare(connection, text, compiled->policy, compiled->is_generated, limits);
    QdScanProgram *program = explain != NULL ? qd_scan_program_read(explain, FUNCTION_NAME, (guint) compiled->n_columns) : NULL;

    (void) sqlite3_finalize(explain);
    return program;
}

static gboolean
makes_same(const Explaining *self, const char *wrapped_text)
{
    g_autofree char *plain_text = g_strdup_printf("EXPLAIN %s", self->compiled->text);
    Program plain;
    Program wrapped;

    return explain_text(self, plain_text, &plain) && explain_text(self, wrapped_text, &wrapped) && wrapped.packs &&
           wrapped.sum == plain.sum;
}

static sqlite3_stmt *
prepare_wrapped(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits)
{
    const Explaining explaining = { connection, compiled, limits, NULL };
    g_autofree char *text = qd_packing_write_text(compiled, "");
    g_autofree char *wrapped_text = g_strconcat("EXPLAIN ", text, NULL);

    if (!makes_same(&explaining, wrapped_text))
        return NULL;

    g_free(compiled->wrapped.scan);
    compiled->wrapped.scan = find_scan(connection, wrapped_text, compiled, limits);
    return qd_connection_prepare(connection, text, compiled->policy, compiled->is_generated, limits);
}

static sqlite3_stmt *
prepare(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits)
{
    QdGuard *guard = qd_connection_get_guard(connection);
    sqlite3_stmt *stmt;

    if (compiled->n_columns < 1 || compiled->n_columns > MAX_COLUMNS || compiled->n_text_bytes > MAX_TEXT_BYTES ||
        compiled->writes || sqlite3_stmt_isexplain(compiled->stmt))
        return NULL;

    guard->packing = TRUE;
    stmt = prepare_wrapped(connection, compiled, limits);
    guard->packing = FALSE;
    if (stmt != NULL && sqlite3_bind_parameter_count(stmt) == compiled->n_parameters)
        return stmt;

    (void) sqlite3_finalize(stmt);
    return NULL;
}

gboolean
qd_packing_find(QdConnection *connection, QdCompiled *compiled, const QdLimits *limits)
{
    if (!compiled->wrapped.is_tried) {
        compiled->wrapped.stmt = prepare(connection, compiled, limits);
        compiled->wrapped.is_tried = compiled->wrapped.stmt != NULL || !qd_interrupt_poll(); /* EXPLAIN may have been interrupted */
    }
    return compiled->wrapped.stmt != NULL;
}

gboolean
qd_packing_holds(QdConnection *connection, const QdCompiled *compiled, const QdLimits *limits, const QwPageReader *values)
{
    const Explaining explaining = { connection, compiled, limits, values };
    g_autofree char *text = qd_packing_write_text(compiled, "");
    g_autofree char *wrapped_text = g_strconcat("EXPLAIN ", text, NULL);

    return makes_same(&explaining, wrapped_text);
}
