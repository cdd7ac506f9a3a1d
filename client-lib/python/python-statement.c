/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statement: prepared once; values are bound and it is executed in one call, within a transaction or outside.
 */
#include "client-lib/python/python-module.h"

typedef struct QpyStatement {
    PyObject_HEAD QpyConnection *connection;
    QueryStatement *statement;
    gboolean has_row_left; /* the values bound now are a row of add_rows() that did not fit into the last message */
} QpyStatement;

PyTypeObject *qpy_statement_type;

PyObject *
qpy_statement_new(QpyConnection *connection, QueryStatement *statement)
{
    QpyStatement *self = PyObject_New(QpyStatement, qpy_statement_type);

    if (self == NULL) {
        g_object_unref(statement);
        return NULL;
    }
    self->connection = connection;
    Py_INCREF(connection);
    self->statement = statement;
    self->has_row_left = FALSE;
    return (PyObject *) self;
}

static void
dealloc(PyObject *object)
{
    QpyStatement *self = (QpyStatement *) object;
    PyTypeObject *type = Py_TYPE(object);

    g_object_unref(self->statement);
    Py_DECREF(self->connection);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* @transaction: (transfer full) (nullable) */
static PyObject *
run(QpyStatement *self, QueryTransaction *transaction)
{
    GCancellable *cancellable = qpy_connection_get_cancellable(self->connection);
    GError *error = NULL;
    QueryCursor *cursor;

    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->connection->hold);
    if (transaction != NULL)
        cursor = query_transaction_execute(transaction, self->statement, cancellable, &error);
    else
        cursor = query_statement_execute(self->statement, cancellable, &error);
    g_clear_object(&transaction);
    qpy_hold_leave(&self->connection->hold);
    Py_END_ALLOW_THREADS;
    g_object_unref(cancellable);
    return cursor != NULL ? qpy_result_new(self->connection, cursor) : qpy_raise(error);
}

/* @object: a transaction or None; @ret_transaction: (transfer full) (nullable). Returns: FALSE with an exception */
static gboolean
get_transaction(PyObject *object, QueryTransaction **ret_transaction)
{
    *ret_transaction = object != Py_None ? qpy_transaction_get(object) : NULL;
    return object == Py_None || *ret_transaction != NULL;
}

static PyObject *
execute(PyObject *object, PyObject *arguments)
{
    QpyStatement *self = (QpyStatement *) object;
    PyObject *values, *within;
    QueryTransaction *transaction;

    if (!PyArg_ParseTuple(arguments, "OO:execute", &values, &within) || !qpy_bind_all(self->statement, values))
        return NULL;
    return get_transaction(within, &transaction) ? run(self, transaction) : NULL; /* a value's own method may have ended it */
}

static PyObject *
execute_rows(PyObject *object, PyObject *within)
{
    QueryTransaction *transaction;

    return get_transaction(within, &transaction) ? run((QpyStatement *) object, transaction) : NULL;
}

typedef enum Added {
    ADDED,
    ADDED_NONE_FITS, /* in this message */
    ADDED_NONE_LEFT,
    ADDED_FAILED, /* with an exception */
} Added;

/* Binds the next row of @iterator. */
static Added
bind_row(QpyStatement *self, PyObject *iterator)
{
    PyObject *values = PyIter_Next(iterator);
    gboolean ok;

    if (values == NULL)
        return PyErr_Occurred() != NULL ? ADDED_FAILED : ADDED_NONE_LEFT;
    ok = qpy_bind_all(self->statement, values);
    Py_DECREF(values);
    return ok ? ADDED : ADDED_FAILED;
}

static Added
add_row(QpyStatement *self, PyObject *iterator, gboolean is_first)
{
    Added bound = self->has_row_left ? ADDED : bind_row(self, iterator);
    GError *error = NULL;

    self->has_row_left = FALSE;
    if (bound != ADDED || query_statement_add_row(self->statement, &error))
        return bound;
    if (!is_first && g_error_matches(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG)) {
        g_clear_error(&error);
        self->has_row_left = TRUE;
        return ADDED_NONE_FITS;
    }
    (void) qpy_raise(error);
    return ADDED_FAILED;
}

static PyObject *
add_rows(PyObject *object, PyObject *arguments)
{
    QpyStatement *self = (QpyStatement *) object;
    PyObject *iterator;
    Py_ssize_t n_max, n = 0;
    Added added = ADDED;

    if (!PyArg_ParseTuple(arguments, "On:add_rows", &iterator, &n_max))
        return NULL;
    if (!PyIter_Check(iterator)) {
        PyErr_SetString(PyExc_TypeError, "add_rows() takes an iterator");
        return NULL;
    }
    while (n < n_max && (added = add_row(self, iterator, n == 0)) == ADDED)
        n++;
    return added != ADDED_FAILED ? Py_BuildValue("(nN)", n, PyBool_FromLong(added != ADDED_NONE_LEFT)) : NULL;
}

static PyObject *
get_n_parameters(PyObject *object, void *unused)
{
    return PyLong_FromUnsignedLong(query_statement_get_n_parameters(((QpyStatement *) object)->statement));
}

static PyMethodDef methods[] = {
    { "execute", execute, METH_VARARGS, "execute(values, transaction or None) -> Result" },
    { "execute_rows", execute_rows, METH_O,
      "execute_rows(transaction or None) -> Result: once for each row of add_rows(), all or none" },
    { "add_rows", add_rows, METH_VARARGS,
      "add_rows(iterator, n_max) -> (number, may be more): keeps so many rows of values, fewer if they take 64 MiB" },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef properties[] = {
    { "n_parameters", get_n_parameters, NULL, "number of parameters", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "A prepared statement." },
    { Py_tp_dealloc, dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, properties },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "queryd._client.Statement",
    .basicsize = sizeof(QpyStatement),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

gboolean
qpy_statement_add_types(PyObject *module)
{
    qpy_statement_type = (PyTypeObject *) PyType_FromSpec(&spec);
    return qpy_statement_type != NULL && PyModule_AddType(module, qpy_statement_type) == 0;
}
