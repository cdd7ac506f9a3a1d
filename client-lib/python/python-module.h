/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd._client: libquery-client as CPython sees it, without a call per value.
 *
 * Place: an extension module on top of the public library. The package queryd in this folder is what people import; its Python
 * files decide (PEP 249's rules, when a transaction begins), these types only carry.
 * Threads: each call that may wait gives up the GIL. An object other than a connection belongs to one thread at a time.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>

#include "client-lib/query-client.h"

/* Of queryd.errors and queryd.values, by python-module.c. They live as long as the interpreter. */
typedef struct QpyHooks {
    PyObject *create_error; /* (code, message, line, column, constraint) → an exception */
    PyObject *adapt;        /* a value of another type → one that can be bound */
    PyObject *from_literal; /* (lexical, datatype, language) → a value of a result */
    PyObject *iri, *blank_node, *literal;
} QpyHooks;

extern QpyHooks qpy_hooks;
extern PyTypeObject *qpy_result_type;
extern PyTypeObject *qpy_statement_type;
extern PyTypeObject *qpy_transaction_type;

/* By python-hold.c: one call of a connection at a time, in any thread. */
typedef struct QpyHold {
    pthread_mutex_t mutex; /* of what follows, for some instructions */
    pthread_cond_t is_free;
    gboolean is_held;
    guint n_waiting;
    GSList *dropped; /* of QueryCursor: freed while it is held */
    guint n_forks;   /* of the process before it was made */
} QpyHold;

/* What a connection's objects share: its calls are cancelled together, and run one after the other. */
typedef struct QpyConnection {
    PyObject_HEAD QueryConnection *connection; /* (nullable): closed */
    GCancellable *cancellable;                 /* of the calls that run now */
    QpyHold hold;
} QpyConnection;

/* Returns: FALSE when there is no memory. Once, before the first connection */
gboolean qpy_hold_watch_forks(void);
void qpy_hold_init(QpyHold *self);
/* No thread holds it, and nothing was dropped. */
void qpy_hold_clear(QpyHold *self);
/* Waits for the call that runs. Without the GIL, which that call's thread may wait for. */
void qpy_hold_take(QpyHold *self);
/* Frees what was dropped meanwhile. Without the GIL */
void qpy_hold_leave(QpyHold *self);
/* Closes and frees @cursor (transfer full), or has the call that runs now do so at its end. Without the GIL; waits for no call */
void qpy_hold_drop(QpyHold *self, QueryCursor *cursor);

/* (transfer full): for a call that begins now */
GCancellable *qpy_connection_get_cancellable(QpyConnection *self);

/* Sets the Python exception for @error, which it frees. Returns NULL. */
PyObject *qpy_raise(GError *error);
/* Sets an exception of one of PEP 249's classes for a mistake of the caller. Returns NULL. */
PyObject *qpy_raise_code(int code, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * The UTF-8 of @string, which has to be a str. @subject, @name: for the message, one after the other. @n_bytes: (nullable):
 * without it a NUL is an error, too, since no length goes with the text. Returns: (transfer none) (nullable): NULL with an
 * exception
 */
const char *qpy_get_utf8(PyObject *string, const char *subject, const char *name, Py_ssize_t *n_bytes);

/* The row that @cursor is on. Returns: (nullable) a new tuple */
PyObject *qpy_row_new(QueryCursor *cursor, guint n_columns);

/* Binds one value to the parameter with that name. Returns: FALSE with an exception */
gboolean qpy_bind(QueryStatement *statement, const char *name, PyObject *value);
/* Binds a sequence or a mapping; None for no values. Returns: FALSE with an exception */
gboolean qpy_bind_all(QueryStatement *statement, PyObject *values);

/* @cursor: (transfer full) */
PyObject *qpy_result_new(QpyConnection *connection, QueryCursor *cursor);
/* @statement: (transfer full) */
PyObject *qpy_statement_new(QpyConnection *connection, QueryStatement *statement);
/* @transaction: (transfer full) */
PyObject *qpy_transaction_new(QpyConnection *connection, QueryTransaction *transaction);
/* (transfer full) (nullable): NULL with an exception when it is no transaction, or it is over */
QueryTransaction *qpy_transaction_get(PyObject *object);

/* Each adds its types to @module. Returns: FALSE with an exception */
gboolean qpy_connection_add_types(PyObject *module);
gboolean qpy_result_add_types(PyObject *module);
gboolean qpy_statement_add_types(PyObject *module);
gboolean qpy_transaction_add_types(PyObject *module);
