/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A row of EXPLAIN: one operation of a program, https://www.sqlite.org/opcode.html
 *
 * Place: room sqlite, for all that prove something from a statement's program. No decision: that is theirs.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>
#include <string.h>

typedef struct QdOperation {
    const char *name; /* texts are the statement's, until its next step */
    const char *p4;   /* (nullable) */
    int address;
    int p1;
    int p2;
    int p3;
    int p5;
} QdOperation;

/* Steps @explain. Returns: as sqlite3_step(); NOMEM where the row has no name */
static inline int
qd_operation_next(QdOperation *self, sqlite3_stmt *explain)
{
    int r = sqlite3_step(explain);

    if (r != SQLITE_ROW)
        return r;
    *self = (QdOperation){ .name = (const char *) sqlite3_column_text(explain, 1),
                           .p4 = (const char *) sqlite3_column_text(explain, 5),
                           .address = sqlite3_column_int(explain, 0),
                           .p1 = sqlite3_column_int(explain, 2),
                           .p2 = sqlite3_column_int(explain, 3),
                           .p3 = sqlite3_column_int(explain, 4),
                           .p5 = sqlite3_column_int(explain, 6) };
    return self->name != NULL ? SQLITE_ROW : SQLITE_NOMEM;
}

static inline gboolean
qd_operation_is(const QdOperation *self, const char *name)
{
    return self != NULL && strcmp(self->name, name) == 0;
}

/* Opens a table of the main database to be read. p4 is the number of columns; an index has a description of its keys there. */
static inline gboolean
qd_operation_opens_table(const QdOperation *self)
{
    char *end = NULL;

    if (!qd_operation_is(self, "OpenRead") || self->p3 != 0 || self->p5 != 0 || self->p2 < 1 || self->p4 == NULL)
        return FALSE;
    (void) g_ascii_strtoull(self->p4, &end, 10);
    return end != self->p4 && *end == '\0';
}
