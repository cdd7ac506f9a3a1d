/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a packed statement, when it is one scan: https://www.sqlite.org/opcode.html
 *
 *     Init · OpenRead · Rewind · ( Rowid | Column | RealAffinity )* · Function · ResultRow · Next · Halt · Transaction · Goto
 *
 * Anything else, in any other order, is for SQLite.
 */
#include "daemon/read/table-scan.h"

#include <string.h>

typedef enum State { BEFORE_LOOP, IN_ROW, HAS_ROW, HAS_RESULT, AFTER_LOOP } State;

typedef struct Operation {
    const char *name;
    const char *p4; /* (nullable) */
    int p1;
    int p2;
    int p3;
    int p5;
    int address;
} Operation;

typedef struct Reading {
    QdScanProgram *program;
    const char *function;
    State state;
    int cursor;
    int loop_start;
    int *registers; /* of the columns: what they are filled from has one register each */
    guint n_read;
} Reading;

static gboolean
open_table(Reading *self, const Operation *op)
{
    char *end = NULL;

    if (self->cursor >= 0 || op->p3 != 0 || op->p5 != 0 || op->p2 < 1 || op->p4 == NULL)
        return FALSE;
    (void) g_ascii_strtoull(op->p4, &end, 10); /* the number of columns; an index has a description of its keys */
    self->program->root = (guint32) op->p2;
    self->cursor = op->p1;
    return end != op->p4 && *end == '\0';
}

static gboolean
read_column(Reading *self, const Operation *op)
{
    gboolean is_rowid = strcmp(op->name, "Rowid") == 0;
    QdScanColumn *column = &self->program->columns[self->n_read];

    /* p4: the value of rows that were written before the column was added */
    if (self->n_read == self->program->n_columns || op->p1 != self->cursor || op->p4 != NULL || op->p5 != 0 ||
        (!is_rowid && op->p2 < 0))
        return FALSE;
    self->registers[self->n_read++] = is_rowid ? op->p2 : op->p3;
    *column = (QdScanColumn){ .field = is_rowid ? -1 : op->p2 };
    if (!is_rowid)
        self->program->n_fields = MAX(self->program->n_fields, (guint32) op->p2 + 1);
    return TRUE;
}

/* It follows the column that it is about. */
static gboolean
make_real(Reading *self, const Operation *op)
{
    if (self->n_read == 0 || op->p1 != self->registers[self->n_read - 1])
        return FALSE;
    self->program->columns[self->n_read - 1].is_real = TRUE;
    return TRUE;
}

static gboolean
call_function(Reading *self, const Operation *op)
{
    gsize n = strlen(self->function);

    if (op->p4 == NULL || strncmp(op->p4, self->function, n) != 0 || op->p4[n] != '(' || self->n_read != self->program->n_columns)
        return FALSE;
    for (guint i = 0; i < self->n_read; i++)
        if (self->registers[i] != op->p2 + (int) i)
            return FALSE;
    self->state = HAS_ROW;
    return TRUE;
}

static gboolean
read_operation(Reading *self, const Operation *op)
{
    const char *name = op->name;

    switch (self->state) {
    case BEFORE_LOOP:
        if (strcmp(name, "OpenRead") == 0)
            return open_table(self, op);
        if (strcmp(name, "Rewind") != 0)
            return strcmp(name, "Init") == 0;
        self->state = IN_ROW;
        self->loop_start = op->address + 1;
        return op->p1 == self->cursor;
    case IN_ROW:
        if (strcmp(name, "Column") == 0 || strcmp(name, "Rowid") == 0)
            return read_column(self, op);
        return strcmp(name, "RealAffinity") == 0 ? make_real(self, op) : strcmp(name, "Function") == 0 && call_function(self, op);
    case HAS_ROW:
        self->state = HAS_RESULT;
        return strcmp(name, "ResultRow") == 0 && op->p2 == 1;
    case HAS_RESULT:
        self->state = AFTER_LOOP;
        return strcmp(name, "Next") == 0 && op->p1 == self->cursor && op->p2 == self->loop_start;
    case AFTER_LOOP:
        return strcmp(name, "Halt") == 0 || strcmp(name, "Transaction") == 0 || strcmp(name, "Goto") == 0;
    }
    g_assert_not_reached();
}

QdScanProgram *
qd_scan_program_read(sqlite3_stmt *explain, const char *function, guint n_columns)
{
    g_autofree QdScanProgram *program = g_malloc0(sizeof *program + n_columns * sizeof(QdScanColumn));
    g_autofree int *registers = g_new0(int, n_columns);
    Reading reading = { .program = program, .function = function, .cursor = -1, .registers = registers };
    int r;

    program->n_columns = n_columns;
    while ((r = sqlite3_step(explain)) == SQLITE_ROW) {
        const Operation op = { .name = (const char *) sqlite3_column_text(explain, 1),
                               .p4 = (const char *) sqlite3_column_text(explain, 5),
                               .p1 = sqlite3_column_int(explain, 2),
                               .p2 = sqlite3_column_int(explain, 3),
                               .p3 = sqlite3_column_int(explain, 4),
                               .p5 = sqlite3_column_int(explain, 6),
                               .address = sqlite3_column_int(explain, 0) };

        if (op.name == NULL || !read_operation(&reading, &op))
            return NULL;
    }
    return r == SQLITE_DONE && reading.state == AFTER_LOOP ? g_steal_pointer(&program) : NULL;
}
