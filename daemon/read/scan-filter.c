/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operations as SQLite's: https://www.sqlite.org/opcode.html, and https://www.sqlite.org/datatype3.html for comparisons.
 */
#include "daemon/read/scan-filter.h"

#include <math.h>
#include <string.h>

#include "daemon/sqlite/builtin/pattern-calls.h"
#include "daemon/sqlite/page-cells.h"

/* Flags of a comparison. */
#define AFFINITY_MASK 0x47
#define AFFINITY_NUMERIC 0x43 /* and those above it */
#define JUMP_IF_NULL 0x10
#define NULL_IS_EQUAL 0x80

/* A number of 16 digits is that near to the one that it was printed from. */
#define ROUNDING 1e-15

void
qd_scan_state_clear(QdScanState *self)
{
    sqlite3_free(self->text);
    self->text = NULL;
}

gboolean
qd_scan_filter_knows_patterns(void)
{
    return !sqlite3_compileoption_used("CASE_SENSITIVE_LIKE") && !sqlite3_compileoption_used("ENABLE_ICU");
}

/* Values -------------------------------------------------------------------------------------------------------------------- */

static void
load_number(QdScanValue *value, guint32 type, const guint8 *p)
{
    gint64 integer = type == 8 || type == 9 ? type - 8 : qd_page_get_int64(p, qd_record_get_field_size(type));

    value->type = QD_SCAN_INTEGER;
    value->is_rounded = FALSE;
    value->integer = integer;
    if (type != 7)
        return;
    memcpy(&value->real, &integer, sizeof integer);
    value->type = isnan(value->real) ? QD_SCAN_NULL : QD_SCAN_FLOAT; /* as in SQLite */
}

static void
load_field(QdScanValue *value, const QdScanRow *row, gint32 field)
{
    guint32 type = row->fields[field].type;
    const guint8 *p = row->record + row->fields[field].offset;

    if (type >= QD_RECORD_BLOB) {
        value->type = (type & 1) != 0 ? QD_SCAN_TEXT : QD_SCAN_BLOB;
        value->is_terminated = FALSE;
        value->data = p;
        value->n_bytes = (type - QD_RECORD_BLOB) / 2;
    } else if (type > 0 && type < 10) {
        load_number(value, type, p);
    } else {
        value->type = type == 0 ? QD_SCAN_NULL : QD_SCAN_UNKNOWN;
    }
}

static void
make_real(QdScanValue *value)
{
    if (value->type != QD_SCAN_INTEGER)
        return;
    value->real = (double) value->integer;
    value->type = QD_SCAN_FLOAT;
    value->is_rounded = FALSE;
}

/* Comparisons --------------------------------------------------------------------------------------------------------------- */

static int
compare_integers(gint64 a, gint64 b)
{
    return (a > b) - (a < b);
}

/* Exactly, also where a floating-point number has no place for all digits of an integer. */
static int
compare_integer_with_real(gint64 a, double b)
{
    int order;

    if (b < -9223372036854775808.0)
        return 1;
    if (b >= 9223372036854775808.0)
        return -1;
    order = compare_integers(a, (gint64) b);
    return order != 0 ? order : ((double) a > b) - ((double) a < b);
}

static double
get_real(const QdScanValue *value)
{
    return value->type == QD_SCAN_FLOAT ? value->real : (double) value->integer;
}

/* FALSE: one of them is only known to 16 digits, and they are too near. */
static gboolean
compare_numbers(const QdScanValue *a, const QdScanValue *b, int *ret_order)
{
    if ((a->type == QD_SCAN_FLOAT && a->is_rounded) || (b->type == QD_SCAN_FLOAT && b->is_rounded)) {
        double x = get_real(a);
        double y = get_real(b);

        if (!(fabs(x - y) > ROUNDING * MAX(fabs(x), fabs(y))) && (x != 0 || y != 0))
            return FALSE;
    }
    if (a->type == QD_SCAN_INTEGER && b->type == QD_SCAN_INTEGER)
        *ret_order = compare_integers(a->integer, b->integer);
    else if (a->type == QD_SCAN_INTEGER)
        *ret_order = compare_integer_with_real(a->integer, b->real);
    else if (b->type == QD_SCAN_INTEGER)
        *ret_order = -compare_integer_with_real(b->integer, a->real);
    else
        *ret_order = (a->real > b->real) - (a->real < b->real);
    return TRUE;
}

static int
compare_bytes(const QdScanValue *a, const QdScanValue *b, gboolean folds)
{
    guint32 n = MIN(a->n_bytes, b->n_bytes);
    int order = 0;

    if (n > 0)
        order = folds ? sqlite3_strnicmp((const char *) a->data, (const char *) b->data, (int) n) : memcmp(a->data, b->data, n);
    return order != 0 ? order : compare_integers(a->n_bytes, b->n_bytes);
}

/* Both are values. A text and a number may become alike, which is left to SQLite. FALSE: it is not known. */
static gboolean
compare_values(const QdScanStep *step, const QdScanValue *a, const QdScanValue *b, int *ret_order)
{
    if (a->type == QD_SCAN_BLOB || b->type == QD_SCAN_BLOB) {
        *ret_order = a->type != b->type ? compare_integers(a->type, b->type) : compare_bytes(a, b, FALSE);
        return TRUE;
    }
    if (a->type == QD_SCAN_TEXT && b->type == QD_SCAN_TEXT) {
        *ret_order = compare_bytes(a, b, step->folds);
        return (step->flags & AFFINITY_MASK) < AFFINITY_NUMERIC;
    }
    return a->type != QD_SCAN_TEXT && b->type != QD_SCAN_TEXT && compare_numbers(a, b, ret_order);
}

static gboolean
holds(QdScanAction action, int order)
{
    switch (action) {
    case QD_SCAN_EQ:
        return order == 0;
    case QD_SCAN_NE:
        return order != 0;
    case QD_SCAN_LT:
        return order < 0;
    case QD_SCAN_LE:
        return order <= 0;
    case QD_SCAN_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

/* FALSE: it is not known. */
static gboolean
compare(const QdScanStep *step, const QdScanValue *a, const QdScanValue *b, gboolean *ret_jumps)
{
    int order = 0;

    if (a->type == QD_SCAN_UNKNOWN || b->type == QD_SCAN_UNKNOWN)
        return FALSE;
    if (a->type != QD_SCAN_NULL && b->type != QD_SCAN_NULL) {
        if (!compare_values(step, a, b, &order))
            return FALSE;
    } else if ((step->flags & NULL_IS_EQUAL) != 0) {
        order = a->type == b->type ? 0 : 1;
    } else {
        *ret_jumps = (step->flags & JUMP_IF_NULL) != 0;
        return TRUE;
    }
    *ret_jumps = holds(step->action, order);
    return TRUE;
}

/* FALSE: it is not known. */
static gboolean
test(const QdScanStep *step, const QdScanValue *value, gboolean *ret_jumps)
{
    gboolean is_true;

    if (value->type == QD_SCAN_NULL) {
        *ret_jumps = step->on_null;
        return TRUE;
    }
    if (value->type != QD_SCAN_INTEGER && value->type != QD_SCAN_FLOAT)
        return FALSE;
    is_true = value->type == QD_SCAN_INTEGER ? value->integer != 0 : value->real != 0;
    *ret_jumps = is_true == (step->action == QD_SCAN_IF);
    return TRUE;
}

/* Functions ----------------------------------------------------------------------------------------------------------------- */

static gboolean
copy_text(QdScanState *state, const QdScanValue *text)
{
    if (text->n_bytes >= state->n_text_bytes) {
        gsize size = MAX(2 * (gsize) text->n_bytes, 256);
        char *larger = sqlite3_realloc64(state->text, size);

        if (larger == NULL)
            return FALSE;
        state->text = larger;
        state->n_text_bytes = size;
    }
    memcpy(state->text, text->data, text->n_bytes);
    state->text[text->n_bytes] = '\0';
    return TRUE;
}

static QdScanVerdict
match(const QdScanStep *step, QdScanState *state)
{
    const QdScanValue *pattern = &state->registers[step->a];
    const QdScanValue *text = pattern + 1;
    QdScanValue *result = &state->registers[step->b];
    int r;

    if (pattern->type == QD_SCAN_NULL || text->type == QD_SCAN_NULL) {
        result->type = QD_SCAN_NULL;
        return pattern->type == QD_SCAN_UNKNOWN || text->type == QD_SCAN_UNKNOWN ? QD_SCAN_UNSURE : QD_SCAN_PASSES;
    }
    if (pattern->type != QD_SCAN_TEXT || text->type != QD_SCAN_TEXT || !pattern->is_terminated ||
        pattern->n_bytes > state->max_pattern_bytes || !copy_text(state, text))
        return QD_SCAN_UNSURE;
    r = qd_pattern_match(step->action == QD_SCAN_GLOB, (const char *) pattern->data, state->text);
    *result = (QdScanValue){ .type = QD_SCAN_INTEGER, .integer = r };
    return r >= 0 ? QD_SCAN_PASSES : QD_SCAN_ENDS;
}

/* Characters up to a NUL, malformed ones as SQLite counts them; bytes of a BLOB. */
static QdScanVerdict
measure(const QdScanStep *step, QdScanState *state)
{
    const QdScanValue value = state->registers[step->a];
    const guint8 *end = value.data + value.n_bytes;
    QdScanValue result = { .type = QD_SCAN_INTEGER };

    if (value.type == QD_SCAN_NULL) {
        result.type = QD_SCAN_NULL;
    } else if (value.type == QD_SCAN_BLOB) {
        result.integer = value.n_bytes;
    } else if (value.type == QD_SCAN_TEXT) {
        for (const guint8 *p = value.data; p < end && *p != '\0'; result.integer++)
            if (*p++ >= 0xc0)
                while (p < end && (*p & 0xc0) == 0x80)
                    p++;
    } else {
        return QD_SCAN_UNSURE;
    }
    state->registers[step->b] = result;
    return QD_SCAN_PASSES;
}

/* Steps --------------------------------------------------------------------------------------------------------------------- */

/* PASSES: @ret_jumps says how it goes on. */
static QdScanVerdict
run_step(const QdScanStep *step, const QdScanRow *row, QdScanState *state, gboolean *ret_jumps)
{
    QdScanValue *a = &state->registers[step->action != QD_SCAN_FIELD ? step->a : 0];

    switch (step->action) {
    case QD_SCAN_FIELD:
        load_field(&state->registers[step->b], row, step->a);
        return QD_SCAN_PASSES;
    case QD_SCAN_ROWID:
        state->registers[step->b] = (QdScanValue){ .type = QD_SCAN_INTEGER, .integer = row->rowid };
        return QD_SCAN_PASSES;
    case QD_SCAN_REAL:
        make_real(a);
        return QD_SCAN_PASSES;
    case QD_SCAN_EQ:
    case QD_SCAN_NE:
    case QD_SCAN_LT:
    case QD_SCAN_LE:
    case QD_SCAN_GT:
    case QD_SCAN_GE:
        return compare(step, a, &state->registers[step->b], ret_jumps) ? QD_SCAN_PASSES : QD_SCAN_UNSURE;
    case QD_SCAN_IS_NULL:
    case QD_SCAN_NOT_NULL:
        *ret_jumps = (a->type == QD_SCAN_NULL) == (step->action == QD_SCAN_IS_NULL);
        return a->type != QD_SCAN_UNKNOWN ? QD_SCAN_PASSES : QD_SCAN_UNSURE;
    case QD_SCAN_IF:
    case QD_SCAN_IF_NOT:
        return test(step, a, ret_jumps) ? QD_SCAN_PASSES : QD_SCAN_UNSURE;
    case QD_SCAN_GOTO:
        *ret_jumps = TRUE;
        return QD_SCAN_PASSES;
    case QD_SCAN_LIKE:
    case QD_SCAN_GLOB:
        return match(step, state);
    case QD_SCAN_LENGTH:
        return measure(step, state);
    }
    g_assert_not_reached();
}

static gboolean
writes(const QdScanStep *step)
{
    return step->action <= QD_SCAN_ROWID || step->action >= QD_SCAN_LIKE;
}

QdScanVerdict
qd_scan_filter_run(const QdScanStep *steps, guint32 n_steps, const QdScanRow *row, QdScanState *state)
{
    guint32 i = 0;

    for (guint32 k = 0; k < n_steps; k++) /* nothing of the row before is read */
        if (writes(&steps[k]))
            state->registers[steps[k].b].type = QD_SCAN_UNKNOWN;
    while (i < n_steps) {
        const QdScanStep *step = &steps[i];
        gboolean jumps = FALSE;
        QdScanVerdict verdict = run_step(step, row, state, &jumps);

        if (verdict != QD_SCAN_PASSES)
            return verdict;
        i = jumps ? step->target : i + 1;
    }
    return i == QD_SCAN_NEXT_ROW ? QD_SCAN_FAILS : QD_SCAN_PASSES;
}
