/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a connection needs to run SPARQL's SQL: our functions on its dictionary, and constants bound in its snapshot.
 *
 * Place: room read. Thread: the one that has the connection.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/functions/resolver.h"

typedef struct QdClient QdClient;
typedef struct QdConnection QdConnection;
typedef struct QdInterrupter QdInterrupter;
typedef struct QdSparqlStatement QdSparqlStatement;
typedef struct QdWatch QdWatch;

/* Registers all SQL functions of ours on @connection, if that was not done when it was opened: a QdConnectionSetup. */
gboolean qd_evaluation_register(QdConnection *connection, const QdLimits *limits, GError **error);

/* @func (nullable) is asked while statements run on @connection, every @n_ops instructions of SQLite and within long functions;
 * not 0 ends them with SQLITE_INTERRUPT. */
void qd_evaluation_watch(QdConnection *connection, int n_ops, int (*func)(void *), void *data);

/* The thread that ends what runs on @connection when it shall end; it outlives the connection. */
void qd_evaluation_set_interrupter(QdConnection *connection, QdInterrupter *interrupter);

/**
 * qd_evaluation_begin_watch:
 * @watch: (not owned): its is_over() and interrupt.look() are set, or NULL; stays where it is until qd_evaluation_end_watch()
 *
 * Until then statements on @connection and long functions of ours end with SQLITE_INTERRUPT once look() says so, and wherever they
 * stand once is_over() does. Without a thread for that (set_interrupter) look() alone is asked, after so many operations of SQLite.
 *
 * Thread: the one that has the connection.
 */
void qd_evaluation_begin_watch(QdConnection *connection, QdWatch *watch);
void qd_evaluation_end_watch(QdConnection *connection, QdWatch *watch);

/* For whom @connection compiles, in turn with others, and asks endpoints by SERVICE from now on; NULL: no client. */
void qd_evaluation_set_client(QdConnection *connection, QdClient *client);
/* Whether that run has asked one. */
gboolean qd_evaluation_has_asked(QdConnection *connection);
/* Whether SERVICE is why the last statement has failed, with its error. */
gboolean qd_evaluation_take_failure(QdConnection *connection, GError **error);

/* The connection's dictionary, for callers that turn ids into terms. */
QdResolver qd_evaluation_get_resolver(QdConnection *connection);

/* The columns that are stored in the file are those of the quads; else a text is added to @messages, and the predicate (gint64) to
 * @wrong. In a transaction of its own. */
gboolean qd_evaluation_check_columns(QdConnection *connection, GPtrArray *messages, GArray *wrong, GError **error);

/* Columns of predicates that this process has read: @stored: those in the file, else those from the index. Thread: any */
guint64 qd_evaluation_get_n_columns(gboolean stored);

/* A new execution on @connection: NOW() is now, blank nodes are fresh. */
void qd_evaluation_start(QdConnection *connection);

/**
 * qd_evaluation_bind:
 * @stmt: compiled from @statement's SQL, reset
 * @parameters: (nullable): terms of the parameters of the statement's, by name
 *
 * Binds the constants: ids where the term is stored or lives in line, else blobs. Call it inside the transaction that reads.
 *
 * Errors: BAD_PARAMETER: a parameter without a value; and SQLite's own
 */
gboolean qd_evaluation_bind(QdConnection *connection, sqlite3_stmt *stmt, const QdSparqlStatement *statement,
                            GHashTable *parameters, GError **error);

/* The value of a term in SQL, bound to parameter @number. */
