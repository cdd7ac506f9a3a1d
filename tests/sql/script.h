/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A script: steps one after the other, each with the way by which queryd executes it. Read from sqllogictest's format, or made by
 * generator.h.
 *
 * Place: tests/sql.
 */
#pragma once

#include <glib.h>

typedef enum StepKind {
    STEP_QUERY,
    STEP_UPDATE,
    STEP_BEGIN, /* a QueryTransaction */
    STEP_COMMIT,
    STEP_ROLLBACK,
    STEP_BATCH,     /* the updates up to END are one batch */
    STEP_END_BATCH, /* executes it */
    STEP_MARK,      /* changes() and its like are asked for by the updates of one channel */
} StepKind;

typedef struct Step {
    StepKind kind;
    guint32 way;       /* a number that the runner reduces to a way */
    char *text;        /* (owned) (nullable) */
    GVariant *bound;   /* (owned) (nullable) a{sv}: the parameters, as for D-Bus */
    gboolean fails;    /* a script's statement that should: "statement error" */
    char *expectation; /* (owned) (nullable): values that the script names, one a line */
    char *sort;        /* (owned) (nullable): how the script's values are sorted */
} Step;

typedef struct Script {
    GPtrArray *steps; /* of Step */
    gboolean counts;  /* it calls changes(), total_changes() or last_insert_rowid(): one channel does all */
} Script;

Script *script_new(void);
Script *script_free(Script *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Script, script_free)
/* @text: (transfer full) (nullable) */
Step *script_add(Script *self, StepKind kind, guint32 way, char *text);
/* Those steps that @keep (of as many bytes) names. */
Script *script_pick(const Script *self, const guint8 *keep);
/* As it can be read again. */
char *script_print(const Script *self);
/* (transfer full) (nullable): NULL with @error when the file cannot be read or is not of the format */
Script *script_read(const char *path, GError **error);
