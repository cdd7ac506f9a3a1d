/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a statement may do, decided by SQLite's authorizer while it is compiled, and what it writes, recorded there.
 *
 * Place: room sqlite. One guard belongs to one connection and is installed once: installing an authorizer again expires all
 * cached statements. The caller's policy is in the guard's fields; a lease sets them.
 * Invariant: nothing but the allow lists of this folder passes, regardless of the text.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/limits.h"
#include "daemon/sqlite/guard/policy.h"
#include "daemon/sqlite/settings.h"

typedef struct QdAccess QdAccess;

/* What a statement does beside what its rows say. */
typedef struct QdEffects {
    gboolean deletes_payloads; /* rows of the table queryd_payload, whose files then have to be looked for */
    gboolean calls_delete;     /* calls the function that deletes such rows by a statement of its own */
    gboolean changes_schema;   /* tables or views come, go, or change */
    gboolean alters;           /* ALTER TABLE, whose new names SQLite does not tell */
    gboolean defines;          /* changes any part of the schema, or statistics */
    gboolean analyzes;         /* ANALYZE */
    gboolean grows;            /* CREATE, ALTER, ANALYZE, or rows for sqlite_stat1: each connection may have to read more */
    gboolean calls_changes;    /* it, or a trigger of it, calls changes() */
    gboolean is_volatile;      /* it may give another result of the same data: random(), a pragma */
} QdEffects;

/* Single tables that were granted to a client: grants.h. */
typedef struct QdGrants {
    const QdAccess *access; /* (nullable) (not owned): NULL: everything, and nothing below counts */
    guint64 id;             /* of @access; 0: none */
    gboolean is_unsure;     /* recorded: a name may be that of a virtual table that the authorizer has not shown as such */
} QdGrants;

typedef struct QdGuard {
    QdPolicy policy;
    QdGrants grants;    /* of the client whose SQL is compiled or run */
    gboolean vacuuming; /* a VACUUM is being run: it may do what VACUUM does by SQL of its own, and nothing else */
    gboolean packing;   /* one of our wrappers is compiled or run: it calls what statements may not */
    gboolean compiling;
    uint64_t compile_deadline_usec; /* monotonic; used while compiling */
    uint64_t caller_end_usec;       /* monotonic; 0: none; for what is compiled from here on */
    uint64_t caller_msec;           /* for the message */
    uint64_t n_calls;
    uint64_t max_calls;
    uint64_t n_aggregates; /* those called so far */
    uint64_t max_aggregates;
    uint64_t compile_msec; /* for the message */

    gboolean writes;   /* recorded: the statement changes something */
    QdEffects effects; /* recorded */
    gboolean tells;    /* recorded: a pragma that only reads, regardless of sqlite3_stmt_readonly() */
    QdControl control; /* recorded: for the code that runs the statement to do, or to refuse */
    gboolean asks;     /* recorded: a pragma that asks for what is so, or for a setting: SQLite has compiled nothing */
    QdSetting setting; /* recorded: it sets that */
    gboolean setting_on;
    char *rows_written;      /* (nullable) recorded: the first write of rows, perhaps by a virtual table that is connected */
    GPtrArray *write_tables; /* recorded: names of tables, each once */
    GPtrArray *read_tables;  /* (nullable) (not owned): where the names of tables and views that are read are recorded */
    QwError denial_code;     /* 0: nothing was denied */
    char *denial;            /* (owned) why */
} QdGuard;

/* What is compiled takes too long: the error that says which of the two ends has come. */
void qd_guard_set_time_error(const QdGuard *self, GError **error);

/* Installs @self on @db. @self must outlive it. */
void qd_guard_install(QdGuard *self, sqlite3 *db);
void qd_guard_clear(QdGuard *self);

/* Before a statement is compiled: forgets what was recorded, sets policy and limits. */
void qd_guard_begin(QdGuard *self, QdPolicy policy, const QdLimits *limits);
void qd_guard_end(QdGuard *self);
/* After that, when there is a statement: judges the rows that were to be written. Not SQLITE_OK: denied. */
int qd_guard_check_rows(QdGuard *self, sqlite3_stmt *stmt);

/* Before a cached statement that writes is run: what is recorded then is of its recompilation. */
void qd_guard_forget_writes(QdGuard *self);
void qd_guard_forget_denial(QdGuard *self);
/* true, and @error set, when the guard itself denied what has just failed to compile or run. */
gboolean qd_guard_get_denial(const QdGuard *self, GError **error);
