/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The condition of a scan, evaluated on a record where it lies in its page.
 *
 * Place: room read, a part of scans of tables (table-scan.h). Steps are SQLite's operations with their registers. They only jump
 * forward. What is evaluated here has the meaning that it has in SQLite: types, affinities, collations, NULL.
 * Invariant: what is not known exactly is UNSURE, and then SQLite evaluates the statement.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#define QD_SCAN_MAX_REGISTERS 128

/* Where a jump goes that passes over the row. One to the number of steps takes the row. */
#define QD_SCAN_NEXT_ROW G_MAXUINT32

typedef enum QdScanAction {
    QD_SCAN_FIELD,
    QD_SCAN_ROWID,
    QD_SCAN_REAL,
    QD_SCAN_EQ,
    QD_SCAN_NE,
    QD_SCAN_LT,
    QD_SCAN_LE,
    QD_SCAN_GT,
    QD_SCAN_GE,
    QD_SCAN_IS_NULL,
    QD_SCAN_NOT_NULL,
    QD_SCAN_IF,
    QD_SCAN_IF_NOT,
    QD_SCAN_GOTO,
    QD_SCAN_LIKE,
    QD_SCAN_GLOB,
    QD_SCAN_LENGTH,
} QdScanAction;

typedef struct QdScanStep {
    QdScanAction action;
    gint32 a;         /* register, or a field; that of functions is the first argument's */
    gint32 b;         /* register that is compared with @a; of field, rowid and functions: that is written */
    guint8 flags;     /* of a comparison: SQLite's */
    gboolean folds;   /* it is NOCASE */
    gboolean on_null; /* of If and IfNot: NULL jumps */
    guint32 target;   /* of a jump */
} QdScanStep;

typedef enum QdScanType {
    QD_SCAN_UNKNOWN,
    QD_SCAN_NULL,
    QD_SCAN_INTEGER,
    QD_SCAN_FLOAT,
    QD_SCAN_TEXT,
    QD_SCAN_BLOB,
} QdScanType;

typedef struct QdScanValue {
    QdScanType type;
    gboolean is_rounded;    /* a floating-point number of 16 digits, as the program shows it */
    gboolean is_terminated; /* a NUL follows the bytes */
    guint32 n_bytes;
    union {
        gint64 integer;
        double real;
        const guint8 *data;
    };
} QdScanValue;

/* What a register holds for all rows. */
typedef struct QdScanConstant {
    guint32 target;    /* register */
    guint32 parameter; /* from 1; 0: it is @value */
    QdScanValue value;
} QdScanConstant;

typedef struct QdScanField {
    guint32 type; /* serial */
    guint32 offset;
} QdScanField;

typedef struct QdScanRow {
    const guint8 *record;
    const QdScanField *fields;
    gint64 rowid;
} QdScanRow;

typedef enum QdScanVerdict {
    QD_SCAN_PASSES,
    QD_SCAN_FAILS,
    QD_SCAN_UNSURE,
    QD_SCAN_ENDS, /* qd_interrupt_poll() says so */
} QdScanVerdict;

/* What an evaluation works with; its registers hold the constants. */
typedef struct QdScanState {
    QdScanValue registers[QD_SCAN_MAX_REGISTERS];
    char *text; /* (owned) of sqlite3_realloc64(): a copy with a NUL */
    gsize n_text_bytes;
    gsize max_pattern_bytes; /* the limit of the connection */
} QdScanState;

void qd_scan_state_clear(QdScanState *self);

/* Whether LIKE and GLOB have the meaning here that they have in this build of SQLite. */
gboolean qd_scan_filter_knows_patterns(void);

/**
 * qd_scan_filter_run:
 * @steps: whose registers are within bounds, and whose jumps go forward
 * @row: with the fields that they name
 *
 * Returns: whether the row is one of the result
 */
QdScanVerdict qd_scan_filter_run(const QdScanStep *steps, guint32 n_steps, const QdScanRow *row, QdScanState *state);
