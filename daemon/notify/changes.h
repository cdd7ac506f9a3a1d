/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a commit has changed: tables, and of the RDF data graphs and predicates.
 *
 * Place: room notify. Gathered by each member of a group, merged by the writer when the commit is done, judged on the main thread.
 * Invariant: never too little. Graphs and predicates are bounded; more of them are all of them.
 */
#pragma once

#include "daemon/base/name-set.h"
#include "daemon/notify/resource-events.h"
#include "daemon/notify/row-changes.h"
#include "daemon/sqlite/connection.h"

typedef struct QdChanges {
    QdNameSet *tables;
    QdNameSet *graphs;           /* IRIs; "": the default graph */
    QdNameSet *predicates;       /* IRIs; none when only a graph itself came or went */
    gboolean schema;             /* some of the tables came, went, or have other columns */
    gboolean prefixes;           /* stored prefixes */
    QdResourceEvents *resources; /* (owned) (nullable) of SPARQL updates, as far as resource_events allows */
    QdRowChanges *rows;          /* (owned) (nullable) of the tables; NULL: any rows of them: no subscription had asked */
} QdChanges;

QdChanges *qd_changes_new(void);
QdChanges *qd_changes_free(QdChanges *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdChanges, qd_changes_free)

void qd_changes_clear(QdChanges *self);
gboolean qd_changes_is_empty(const QdChanges *self);

/* What a statement writes, by the authorizer: the update hook is silent for WITHOUT ROWID tables and whole-table deletes. */
void qd_changes_add_statement(QdChanges *self, const QdCompiled *compiled);
/* What the deletion of a payload by us writes: columns may refer to it, with actions. If that cannot be found out: all. @connection
 * is the writer's. */
void qd_changes_add_payload_delete(QdChanges *self, QdConnection *connection, const QdLimits *limits);
/* (transfer none): made when they are first asked for: most commits have none. */
QdResourceEvents *qd_changes_get_resources(QdChanges *self);
void qd_changes_add_table(QdChanges *self, const char *table);
void qd_changes_add_all(QdChanges *self, const QdChanges *other);
/* Everything: another database has taken the place of the old one. */
void qd_changes_make_all(QdChanges *self);
