/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a packed statement, when it is one scan: https://www.sqlite.org/opcode.html
 *
 *     Init · OpenRead · Rewind · condition · ( Rowid | Column | RealAffinity )* · Function · ResultRow · Next · Halt ·
 *     Transaction · constants · Goto
 *
 * A condition reads columns, compares them, and jumps forward: within itself, to its end, or to Next. Anything else, in any
 * other order, is for SQLite.
 */
#include "daemon/read/table-scan.h"

#include <string.h>

#include "daemon/sqlite/operation.h"

#define MAX_STEPS 1024
#define MAX_COLUMN 32767 /* SQLite's own */
#define MAX_CONSTANT_TEXT_BYTES 65536
/* Flags of Column: only the length is asked for, or only the type. */
#define LENGTH_ONLY 0x40
#define TYPE_ONLY 0x80
/* Those that are known. */
#define COMPARISON_FLAGS 0xd7

typedef enum State { BEFORE_LOOP, IN_ROW, HAS_ROW, HAS_RESULT, AFTER_LOOP } State;

typedef struct Reading {
    const char *function;
    guint32 n_columns;
    State state;
    int cursor;
    int loop_start;
    int next; /* address */
    guint32 root;
    guint32 schema_version;
    GArray *steps;     /* of QdScanStep: the row's; jumps have addresses as targets. Then columns are taken out at their end */
    guint n_condition; /* of @steps, up to the last that is no column */
    GArray *constants; /* of QdScanConstant, whose texts are offsets in @texts */
    GByteArray *texts;
} Reading;

/* Steps --------------------------------------------------------------------------------------------------------------------- */

typedef struct Jump {
    const char *name;
    QdScanAction action;
} Jump;

static const Jump jumps[] = {
    { "Eq", QD_SCAN_EQ },          { "Ne", QD_SCAN_NE },
    { "Lt", QD_SCAN_LT },          { "Le", QD_SCAN_LE },
    { "Gt", QD_SCAN_GT },          { "Ge", QD_SCAN_GE },
    { "If", QD_SCAN_IF },          { "IfNot", QD_SCAN_IF_NOT },
    { "IsNull", QD_SCAN_IS_NULL }, { "NotNull", QD_SCAN_NOT_NULL },
    { "Goto", QD_SCAN_GOTO },
};

static gboolean
is_comparison(QdScanAction action)
{
    return action >= QD_SCAN_EQ && action <= QD_SCAN_GE;
}

static gboolean
is_register(int number)
{
    return number >= 0 && number < QD_SCAN_MAX_REGISTERS;
}

static gboolean
add_step(Reading *self, QdScanStep step, gboolean is_condition)
{
    if (self->steps->len >= MAX_STEPS || step.a < 0 || step.b < 0)
        return FALSE;
    g_array_append_val(self->steps, step);
    if (is_condition)
        self->n_condition = self->steps->len;
    return TRUE;
}

/* p4 of a Column: the value of rows that were written before the column was added */
static gboolean
read_column(Reading *self, const QdOperation *op)
{
    gboolean is_rowid = strcmp(op->name, "Rowid") == 0;
    QdScanStep step = { QD_SCAN_FIELD, .a = op->p2, .b = op->p3, .flags = (guint8) op->p5 };

    if (is_rowid)
        step = (QdScanStep){ QD_SCAN_ROWID, .b = op->p2 };
    return op->p1 == self->cursor && op->p4 == NULL && (op->p5 == 0 || op->p5 == LENGTH_ONLY || op->p5 == TYPE_ONLY) &&
           op->p2 >= 0 && op->p2 <= MAX_COLUMN && add_step(self, step, FALSE);
}

static gboolean
read_collation(const char *name, QdScanStep *step)
{
    step->folds = g_strcmp0(name, "NOCASE-8") == 0;
    return name == NULL || step->folds || strcmp(name, "BINARY-8") == 0;
}

static gboolean
read_jump(Reading *self, const QdOperation *op, QdScanAction action)
{
    QdScanStep step = { action, .a = op->p1, .target = (guint32) op->p2, .on_null = op->p3 != 0 };

    if (op->p2 <= op->address)
        return FALSE;
    if (is_comparison(action)) {
        step.a = op->p3;
        step.b = op->p1;
        step.flags = (guint8) op->p5;
        if (!read_collation(op->p4, &step) || (op->p5 & ~COMPARISON_FLAGS) != 0)
            return FALSE;
    }
    return add_step(self, step, TRUE);
}

static gboolean
read_function(Reading *self, const QdOperation *op)
{
    QdScanStep step = { QD_SCAN_LENGTH, .a = op->p2, .b = op->p3 };
    gboolean is_glob = g_strcmp0(op->p4, "glob(2)") == 0;

    if (is_glob || g_strcmp0(op->p4, "like(2)") == 0) {
        if (!qd_scan_filter_knows_patterns())
            return FALSE;
        step.action = is_glob ? QD_SCAN_GLOB : QD_SCAN_LIKE;
    } else if (g_strcmp0(op->p4, "length(1)") != 0) {
        return FALSE;
    }
    return is_register(op->p2 + 1) && add_step(self, step, TRUE);
}

/* The row callback takes the columns that were read last. */
static gboolean
call_packer(Reading *self, const QdOperation *op)
{
    guint32 n_read = 0;

    for (guint i = self->n_condition; i < self->steps->len; i++) {
        const QdScanStep *step = &g_array_index(self->steps, QdScanStep, i);

        if (step->action == QD_SCAN_REAL ? n_read == 0 || step->a != op->p2 + (int) n_read - 1
                                         : step->b != op->p2 + (int) n_read++ || step->flags != 0)
            return FALSE;
    }
    self->state = HAS_ROW;
    return n_read == self->n_columns;
}

static gboolean
is_packer(const Reading *self, const QdOperation *op)
{
    gsize n = strlen(self->function);

    return op->p4 != NULL && strncmp(op->p4, self->function, n) == 0 && op->p4[n] == '(';
}

static gboolean
read_row(Reading *self, const QdOperation *op)
{
    if (strcmp(op->name, "Column") == 0 || strcmp(op->name, "Rowid") == 0)
        return read_column(self, op);
    if (strcmp(op->name, "RealAffinity") == 0)
        return add_step(self, (QdScanStep){ QD_SCAN_REAL, .a = op->p1 }, FALSE);
    if (strcmp(op->name, "Function") == 0)
        return is_packer(self, op) ? call_packer(self, op) : read_function(self, op);
    for (gsize i = 0; i < G_N_ELEMENTS(jumps); i++)
        if (strcmp(op->name, jumps[i].name) == 0)
            return read_jump(self, op, jumps[i].action);
    return FALSE;
}

/* Constants ----------------------------------------------------------------------------------------------------------------- */

static gboolean
set_text(Reading *self, const char *text, QdScanValue *value)
{
    gsize n = strlen(text);

    value->type = QD_SCAN_TEXT;
    value->is_terminated = TRUE;
    value->n_bytes = (guint32) n;
    value->integer = self->texts->len;
    g_byte_array_append(self->texts, (const guint8 *) text, (guint) n + 1);
    return self->texts->len <= MAX_CONSTANT_TEXT_BYTES;
}

static gboolean
read_constant(Reading *self, const QdOperation *op)
{
    QdScanConstant constant = { .target = (guint32) op->p2, .value = { .type = QD_SCAN_INTEGER, .integer = op->p1 } };

    if (strcmp(op->name, "Variable") == 0) {
        constant.parameter = (guint32) op->p1;
    } else if (strcmp(op->name, "Null") == 0) {
        constant.value.type = QD_SCAN_NULL;
        if (op->p3 > op->p2)
            return FALSE;
    } else if (strcmp(op->name, "Integer") != 0) {
        if (op->p4 == NULL)
            return FALSE;
        if (strcmp(op->name, "Int64") == 0) {
            constant.value.integer = g_ascii_strtoll(op->p4, NULL, 10);
        } else if (strcmp(op->name, "Real") == 0) {
            constant.value.type = QD_SCAN_FLOAT;
            constant.value.is_rounded = TRUE;
            constant.value.real = g_ascii_strtod(op->p4, NULL);
        } else if (strcmp(op->name, "String8") != 0 || !set_text(self, op->p4, &constant.value)) {
            return FALSE;
        }
    }
    g_array_append_val(self->constants, constant);
    return TRUE;
}

static gboolean
read_end(Reading *self, const QdOperation *op)
{
    if (strcmp(op->name, "Transaction") == 0) {
        self->schema_version = (guint32) op->p3;
        return op->p1 == 0;
    }
    return strcmp(op->name, "Halt") == 0 || strcmp(op->name, "Goto") == 0 || read_constant(self, op);
}

/* Operations ---------------------------------------------------------------------------------------------------------------- */

static gboolean
open_table(Reading *self, const QdOperation *op)
{
    if (self->cursor >= 0 || !qd_operation_opens_table(op))
        return FALSE;
    self->root = (guint32) op->p2;
    self->cursor = op->p1;
    return TRUE;
}

static gboolean
read_operation(Reading *self, const QdOperation *op)
{
    const char *name = op->name;

    switch (self->state) {
    case BEFORE_LOOP:
        if (qd_operation_is(op, "OpenRead"))
            return open_table(self, op);
        if (strcmp(name, "Rewind") != 0)
            return strcmp(name, "Init") == 0;
        self->state = IN_ROW;
        self->loop_start = op->address + 1;
        return op->p1 == self->cursor;
    case IN_ROW:
        return read_row(self, op);
    case HAS_ROW:
        self->state = HAS_RESULT;
        return strcmp(name, "ResultRow") == 0 && op->p2 == 1;
    case HAS_RESULT:
        self->state = AFTER_LOOP;
        self->next = op->address;
        return strcmp(name, "Next") == 0 && op->p1 == self->cursor && op->p2 == self->loop_start;
    case AFTER_LOOP:
        return read_end(self, op);
    }
    g_assert_not_reached();
}

/* Addresses become numbers of steps: a row's operations follow one another. */
static gboolean
resolve_condition(Reading *self)
{
    for (guint i = 0; i < self->constants->len && self->n_condition > 0; i++)
        if (!is_register((int) g_array_index(self->constants, QdScanConstant, i).target))
            return FALSE;
    for (guint i = 0; i < self->n_condition; i++) {
        QdScanStep *step = &g_array_index(self->steps, QdScanStep, i);
        guint32 target = step->target - (guint32) self->loop_start;

        if (!is_register(step->b) || (step->action != QD_SCAN_FIELD && !is_register(step->a)))
            return FALSE;
        if (step->target == 0)
            continue;
        if (step->target == (guint32) self->next)
            step->target = QD_SCAN_NEXT_ROW;
        else if (target <= self->n_condition)
            step->target = target;
        else
            return FALSE;
    }
    return TRUE;
}

/* The program ---------------------------------------------------------------------------------------------------------------- */

static guint32
count_fields(const GArray *steps, guint from, guint to)
{
    guint32 n = 0;

    for (guint i = from; i < to; i++) {
        const QdScanStep *step = &g_array_index(steps, QdScanStep, i);

        if (step->action == QD_SCAN_FIELD)
            n = MAX(n, (guint32) step->a + 1);
    }
    return n;
}

static void
fill_columns(const Reading *self, QdScanColumn *columns)
{
    guint32 n = 0;

    for (guint i = self->n_condition; i < self->steps->len; i++) {
        const QdScanStep *step = &g_array_index(self->steps, QdScanStep, i);

        if (step->action == QD_SCAN_REAL)
            columns[n - 1].is_real = TRUE;
        else
            columns[n++] = (QdScanColumn){ .field = step->action == QD_SCAN_ROWID ? -1 : step->a };
    }
}

/* One block: the program, what it points to, and the texts of constants. */
static QdScanProgram *
make_program(const Reading *self)
{
    gsize n_columns_bytes = self->n_columns * sizeof(QdScanColumn);
    gsize n_steps_bytes = self->n_condition * sizeof(QdScanStep);
    guint32 n_constants = self->n_condition > 0 ? self->constants->len : 0;
    gsize n_constants_bytes = n_constants * sizeof(QdScanConstant);
    QdScanProgram *program = g_malloc0(sizeof *program + n_constants_bytes + n_steps_bytes + n_columns_bytes + self->texts->len);
    QdScanConstant *constants = (QdScanConstant *) (program + 1);
    QdScanStep *steps = (QdScanStep *) (constants + n_constants);
    QdScanColumn *columns = (QdScanColumn *) (steps + self->n_condition);
    guint8 *texts = (guint8 *) (columns + self->n_columns);

    *program = (QdScanProgram){ .root = self->root,
                                .schema_version = self->schema_version,
                                .n_columns = self->n_columns,
                                .columns = columns,
                                .n_steps = self->n_condition,
                                .steps = steps,
                                .n_constants = n_constants,
                                .constants = constants };
    program->n_filter_fields = count_fields(self->steps, 0, self->n_condition);
    program->n_fields = count_fields(self->steps, self->n_condition, self->steps->len);
    fill_columns(self, columns);
    if (self->texts->len > 0)
        memcpy(texts, self->texts->data, self->texts->len);
    for (guint32 i = 0; i < self->n_condition; i++)
        steps[i] = g_array_index(self->steps, QdScanStep, i);
    for (guint32 i = 0; i < n_constants; i++) {
        constants[i] = g_array_index(self->constants, QdScanConstant, i);
        if (constants[i].value.type == QD_SCAN_TEXT)
            constants[i].value.data = texts + constants[i].value.integer;
    }
    return program;
}

QdScanProgram *
qd_scan_program_read(sqlite3_stmt *explain, const char *function, guint n_columns)
{
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(QdScanStep));
    g_autoptr(GArray) constants = g_array_new(FALSE, FALSE, sizeof(QdScanConstant));
    g_autoptr(GByteArray) texts = g_byte_array_new();
    Reading reading = {
        .function = function, .n_columns = n_columns, .cursor = -1, .steps = steps, .constants = constants, .texts = texts
    };
    QdOperation op;
    int r;

    while ((r = qd_operation_next(&op, explain)) == SQLITE_ROW)
        if (!read_operation(&reading, &op))
            return NULL;
    return r == SQLITE_DONE && reading.state == AFTER_LOOP && resolve_condition(&reading) ? make_program(&reading) : NULL;
}
