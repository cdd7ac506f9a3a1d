/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two programs that EXPLAIN shows, compared: https://www.sqlite.org/opcode.html
 *
 *     packed:     Init · OpenRead · Rewind · row · Next · Halt · Transaction · constants · Goto
 *     in a range: Init · OpenRead · SeekGE · Variable · Rowid · Gt · row · Next · Halt · Transaction · Variable · constants · Goto
 *
 * The bounds and the rowid have the first three registers. So all others are moved by three, and all jumps of the row by three
 * addresses. What an operation means by its numbers is in a table; an operation that is not there is not proven.
 */
#include "daemon/read/ranges/range-statement.h"

#include <string.h>

#include "daemon/sqlite/operation.h"

#define N_BEFORE_ROW 3 /* of the packed statement */
#define N_ADDED 3      /* operations before the row, and registers */
#define LOW 1          /* registers */
#define HIGH 2
#define ROWID 3
/* Of Gt: compares numbers, and jumps if one is NULL, which a rowid is not. */
#define GT_FLAGS 0x53

/* What a number means: r a register, 0 none of them; j an address; c the cursor; - a number that is the same. */
typedef struct Known {
    const char *name;
    const char *numbers; /* p1 to p3 */
} Known;

static const Known known[] = {
    { "Column", "c-r" },     { "Rowid", "cr-" },    { "RealAffinity", "r--" }, { "Affinity", "r--" },  { "Function", "-rr" },
    { "ClrSubtype", "r--" }, { "CollSeq", "r--" },  { "Cast", "r--" },         { "ResultRow", "r--" }, { "Goto", "-j-" },
    { "If", "rj-" },         { "IfNot", "rj-" },    { "IsNull", "rj-" },       { "NotNull", "rj-" },   { "Eq", "rjr" },
    { "Ne", "rjr" },         { "Lt", "rjr" },       { "Le", "rjr" },           { "Gt", "rjr" },        { "Ge", "rjr" },
    { "Add", "rrr" },        { "Subtract", "rrr" }, { "Multiply", "rrr" },     { "Divide", "rrr" },    { "Remainder", "rrr" },
    { "Concat", "rrr" },     { "BitAnd", "rrr" },   { "BitOr", "rrr" },        { "ShiftLeft", "rrr" }, { "ShiftRight", "rrr" },
    { "And", "rrr" },        { "Or", "rrr" },       { "Not", "rr-" },          { "BitNot", "rr-" },    { "IsTrue", "rr-" },
    { "ZeroOrNull", "rrr" }, { "Copy", "rr-" },     { "SCopy", "rr-" },        { "Null", "-rr" },      { "Integer", "-r-" },
    { "Int64", "-r-" },      { "Real", "-r-" },     { "String8", "-r-" },      { "Blob", "-r-" },      { "Variable", "-r-" },
    { "Next", "cj-" },       { "Halt", "---" },     { "Transaction", "---" },
};

/* They give the same for the same arguments, on each connection and at any time. */
static const char *const functions[] = {
    "abs",          "char",        "coalesce",   "format",     "glob",       "hex",
    "ifnull",       "iif",         "instr",      "json",       "json_array", "json_array_length",
    "json_extract", "json_object", "json_quote", "json_type",  "json_valid", "->",
    "->>",          "length",      "like",       "likelihood", "likely",     "lower",
    "ltrim",        "max",         "min",        "nullif",     "printf",     "quote",
    "replace",      "round",       "rtrim",      "sign",       "substr",     "substring",
    "trim",         "typeof",      "unicode",    "unlikely",   "upper",      "ceil",
    "ceiling",      "floor",       "trunc",      "ln",         "log",        "log10",
    "log2",         "exp",         "pow",        "power",      "mod",        "sqrt",
    "zeroblob",
};

/* Reading ------------------------------------------------------------------------------------------------------------------- */

static void
operation_free(gpointer data)
{
    QdOperation *self = data;

    g_free((char *) self->name);
    g_free((char *) self->p4);
    g_free(self);
}

/* (nullable): copies of all. */
static GPtrArray *
read_operations(sqlite3_stmt *explain)
{
    g_autoptr(GPtrArray) operations = g_ptr_array_new_with_free_func(operation_free);
    QdOperation op;
    int r;

    while ((r = qd_operation_next(&op, explain)) == SQLITE_ROW) {
        op.name = g_strdup(op.name);
        op.p4 = g_strdup(op.p4);
        g_ptr_array_add(operations, g_memdup2(&op, sizeof op));
    }
    return r == SQLITE_DONE ? g_steal_pointer(&operations) : NULL;
}

/* NULL: there are not so many. */
static const QdOperation *
get(const GPtrArray *operations, guint i)
{
    return i < operations->len ? operations->pdata[i] : NULL;
}

/* The packed statement ------------------------------------------------------------------------------------------------------ */

static gboolean
is_known_function(const char *p4, const char *packer)
{
    const char *end = p4 != NULL ? strchr(p4, '(') : NULL;
    gsize n = end != NULL ? (gsize) (end - p4) : 0;

    if (n == strlen(packer) && strncmp(p4, packer, n) == 0)
        return TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(functions); i++)
        if (n == strlen(functions[i]) && strncmp(p4, functions[i], n) == 0)
            return TRUE;
    return FALSE;
}

static guint
count(const GPtrArray *operations, const char *name)
{
    guint n = 0;

    for (guint i = 0; i < operations->len; i++)
        n += qd_operation_is(operations->pdata[i], name) ? 1 : 0;
    return n;
}

gboolean
qd_range_proof_init(QdRangeProof *self, sqlite3_stmt *explain, const char *function)
{
    const QdOperation *opened;

    *self = (QdRangeProof){ .operations = read_operations(explain) };
    if (self->operations == NULL)
        return FALSE;
    opened = get(self->operations, 1);
    if (!qd_operation_is(get(self->operations, 0), "Init") || !qd_operation_opens_table(opened) ||
        !qd_operation_is(get(self->operations, 2), "Rewind") || count(self->operations, "Next") != 1 ||
        count(self->operations, "Transaction") != 1 || count(self->operations, "ResultRow") != 1)
        return FALSE;
    for (guint i = 0; i < self->operations->len; i++) {
        const QdOperation *op = self->operations->pdata[i];

        if (qd_operation_is(op, "Function") && !is_known_function(op->p4, function))
            return FALSE;
        if (qd_operation_is(op, "Transaction"))
            self->schema_version = (guint32) op->p3;
    }
    self->root = (guint32) opened->p2;
    return TRUE;
}

void
qd_range_proof_clear(QdRangeProof *self)
{
    g_clear_pointer(&self->operations, g_ptr_array_unref);
}

/* The comparison ------------------------------------------------------------------------------------------------------------ */

typedef struct Comparison {
    int cursors[2]; /* of the packed statement, of the one with a range */
    int next[2];    /* addresses */
    gboolean in_row;
} Comparison;

static gboolean
is_same_number(const Comparison *self, char kind, int plain, int ranged)
{
    switch (kind) {
    case 'r':
        return ranged == (plain != 0 ? plain + N_ADDED : 0);
    case 'c':
        return plain == self->cursors[0] && ranged == self->cursors[1];
    case 'j': /* within the row, to Next at the furthest */
        return self->in_row && plain >= N_BEFORE_ROW && plain <= self->next[0] && ranged == plain + N_ADDED;
    default:
        return plain == ranged;
    }
}

static gboolean
is_same(const Comparison *self, const QdOperation *plain, const QdOperation *ranged)
{
    const Known *found = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(known) && found == NULL; i++)
        if (strcmp(plain->name, known[i].name) == 0)
            found = &known[i];
    if (found == NULL || strcmp(plain->name, ranged->name) != 0 || g_strcmp0(plain->p4, ranged->p4) != 0 ||
        (plain->p5 != ranged->p5 && !qd_operation_is(plain, "Next"))) /* of Next: that a scan is counted */
        return FALSE;
    return is_same_number(self, found->numbers[0], plain->p1, ranged->p1) &&
           is_same_number(self, found->numbers[1], plain->p2, ranged->p2) &&
           is_same_number(self, found->numbers[2], plain->p3, ranged->p3);
}

/* What stands in place of Rewind. */
static gboolean
seeks(const Comparison *self, const GPtrArray *ranged, int high_parameter)
{
    const QdOperation *seek = get(ranged, 2);
    const QdOperation *high = get(ranged, 3);
    const QdOperation *rowid = get(ranged, 4);
    const QdOperation *compare = get(ranged, 5);
    int end = self->next[1] + 1;

    return qd_operation_is(seek, "SeekGE") && seek->p1 == self->cursors[1] && seek->p2 == end && seek->p3 == LOW &&
           qd_operation_is(high, "Variable") && high->p1 == high_parameter && high->p2 == HIGH && qd_operation_is(rowid, "Rowid") &&
           rowid->p1 == self->cursors[1] && rowid->p2 == ROWID && qd_operation_is(compare, "Gt") && compare->p1 == HIGH &&
           compare->p2 == end && compare->p3 == ROWID && compare->p5 == GT_FLAGS;
}

static gboolean
opens_same(const GPtrArray *plain, const GPtrArray *ranged, Comparison *ret)
{
    const QdOperation *a = get(plain, 1);
    const QdOperation *b = get(ranged, 1);

    if (!qd_operation_is(get(ranged, 0), "Init") || !qd_operation_opens_table(b) || a->p2 != b->p2 || strcmp(a->p4, b->p4) != 0)
        return FALSE;
    *ret = (Comparison){ .cursors = { a->p1, b->p1 } };
    for (guint i = 0; i < plain->len; i++)
        if (qd_operation_is(plain->pdata[i], "Next"))
            ret->next[0] = (int) i;
    ret->next[1] = ret->next[0] + N_ADDED;
    return TRUE;
}

/* Both go round the row, and end after it. */
static gboolean
loops_same(const Comparison *self, const GPtrArray *plain, const GPtrArray *ranged)
{
    const QdOperation *rewind = get(plain, 2);
    const QdOperation *a = get(plain, (guint) self->next[0]);
    const QdOperation *b = get(ranged, (guint) self->next[1]);

    return qd_operation_is(b, "Next") && a->p1 == self->cursors[0] && b->p1 == self->cursors[1] && a->p2 == N_BEFORE_ROW &&
           b->p2 == 4 && rewind->p1 == self->cursors[0] && rewind->p2 == self->next[0] + 1;
}

static gboolean
is_lower_bound(const QdOperation *op, int parameter)
{
    return qd_operation_is(op, "Variable") && op->p1 == parameter && op->p2 == LOW;
}

gboolean
qd_range_proof_holds(const QdRangeProof *self, sqlite3_stmt *explain, int first_parameter)
{
    g_autoptr(GPtrArray) ranged = read_operations(explain);
    const GPtrArray *plain = self->operations;
    guint n_bounds = 0;
    Comparison comparison;
    guint k;

    if (ranged == NULL || !opens_same(plain, ranged, &comparison) || !loops_same(&comparison, plain, ranged) ||
        !seeks(&comparison, ranged, first_parameter + 1))
        return FALSE;
    k = N_BEFORE_ROW + N_ADDED;
    for (guint i = N_BEFORE_ROW; i + 1 < plain->len; i++, k++) { /* but for the last Goto, to the first operation */
        comparison.in_row = (int) i < comparison.next[0];
        if ((int) i == comparison.next[0])
            continue;
        if (!comparison.in_row && get(ranged, k) != NULL && is_lower_bound(ranged->pdata[k], first_parameter)) {
            n_bounds++;
            k++;
        }
        if (get(ranged, k) == NULL || !is_same(&comparison, plain->pdata[i], ranged->pdata[k]))
            return FALSE;
    }
    if (get(ranged, k) != NULL && is_lower_bound(ranged->pdata[k], first_parameter)) {
        n_bounds++;
        k++;
    }
    return n_bounds == 1 && k + 1 == ranged->len && qd_operation_is(ranged->pdata[k], "Goto") &&
           ((QdOperation *) ranged->pdata[k])->p2 == 1 && qd_operation_is(plain->pdata[plain->len - 1], "Goto") &&
           ((QdOperation *) plain->pdata[plain->len - 1])->p2 == 1;
}
