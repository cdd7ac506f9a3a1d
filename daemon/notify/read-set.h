/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a query reads, to be held against what a commit has changed.
 *
 * Place: room notify. Invariant: never too little: a query whose result a commit has changed is touched by it.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/notify/changes.h"

/* The one name for all that is kept for RDF, as an SQL query reads it. */
#define QD_READ_SET_RDF "queryd_"

typedef struct QdAccess QdAccess;
typedef struct QdReadSet {
    gboolean is_sparql;
    QdNameSet *tables;     /* SQL: tables and views, in lower case */
    QdNameSet *predicates; /* SPARQL: IRIs */
    QdNameSet *graphs;     /* SPARQL: IRIs, "" */
} QdReadSet;

/* (transfer full): reads everything. */
QdReadSet *qd_read_set_new_all(gboolean is_sparql);
QdReadSet *qd_read_set_free(QdReadSet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdReadSet, qd_read_set_free)

/**
 * qd_read_set_new_for_sql:
 * @connection: on which it is compiled, by the schema as it is now
 *
 * Errors: those of the statement.
 *
 * Returns: (transfer full) (nullable): tables and views that @text names, and the tables below views and virtual tables
 */
QdReadSet *qd_read_set_new_for_sql(QdConnection *connection, const char *text, const QdLimits *limits, GError **error);

/* (transfer full) (nullable): @base (nullable) is an absolute IRI, @access (nullable) what the client was granted. The text has
 * been compiled before. */
QdReadSet *qd_read_set_new_for_sparql(QdConnection *connection, const char *text, const char *base, const QdAccess *access,
                                      const QdLimits *limits, GError **error);

gboolean qd_read_set_is_touched(const QdReadSet *self, const QdChanges *changes);

/* (transfer full): a name of a table as it stands in QdReadSet.tables. */
char *qd_read_set_fold(const char *table);
