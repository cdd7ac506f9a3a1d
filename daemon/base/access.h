/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a sandboxed application may read and write in the store of this daemon.
 *
 * Place: room base; made by the configuration, held by a client. A client without one may do everything.
 * Invariants: nothing is granted that was not named. An object never changes once it was handed out; what may be written may be
 * read, too.
 */
#pragma once

#include <glib.h>

typedef struct QdAccess QdAccess;

/* The store of an application is called app.ID: it may do everything there. */
#define QD_ACCESS_OWN_STORE_PREFIX "app."

/* How a list of grants names the default graph. */
#define QD_ACCESS_DEFAULT_GRAPH ""

typedef enum QdAccessKind {
    QD_ACCESS_READ,
    QD_ACCESS_WRITE,
} QdAccessKind;

/**
 * qd_access_new:
 * @application: its id, for messages
 *
 * Returns: (transfer full): access to nothing
 */
QdAccess *qd_access_new(const char *application);
QdAccess *qd_access_ref(QdAccess *self);
void qd_access_unref(QdAccess *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdAccess, qd_access_unref)

/**
 * qd_access_grant:
 * @self: not handed out yet
 * @kind: what is granted; writing includes reading
 * @list: "*" for the whole store, or a list of table:NAME, graph:IRI and graph:default, with ';' between
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER with the word that is wrong; then some of the list may have been granted: drop @self.
 *
 * Returns: whether the whole list was understood
 */
gboolean qd_access_grant(QdAccess *self, QdAccessKind kind, const char *list, GError **error);

/* A number that no other object of this process has; never 0. */
guint64 qd_access_get_id(const QdAccess *self);
const char *qd_access_get_application(const QdAccess *self);
/* Whether both grant the same to the same application. */
gboolean qd_access_is_equal(const QdAccess *self, const QdAccess *other);
/* Whether all that @other grants is granted. */
gboolean qd_access_covers(const QdAccess *self, const QdAccess *other);

/* Whether the whole store, anything of it, this table (any case), or this graph is granted. */
gboolean qd_access_has_all(const QdAccess *self, QdAccessKind kind);
gboolean qd_access_has_any(const QdAccess *self, QdAccessKind kind);
gboolean qd_access_has_table(const QdAccess *self, QdAccessKind kind, const char *table);
gboolean qd_access_has_graph(const QdAccess *self, QdAccessKind kind, const char *graph);
/* Whether any table, or any graph. */
gboolean qd_access_has_tables(const QdAccess *self, QdAccessKind kind);
gboolean qd_access_has_graphs(const QdAccess *self, QdAccessKind kind);
/* (transfer container): of IRIs, sorted, without the default graph. */
GPtrArray *qd_access_list_graphs(const QdAccess *self, QdAccessKind kind);

/**
 * qd_access_is_application:
 * @name: a name
 *
 * Returns: whether it is an application's id as Flatpak has them, org.example.Music, and short enough for the name of a store
 */
gboolean qd_access_is_application(const char *name);

/* ACCESS_DENIED: "application 'ID' may not …". Returns: FALSE */
gboolean qd_access_deny(const QdAccess *self, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
