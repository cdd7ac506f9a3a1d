/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Result: the rows of one execution as tuples, many at a call.
 */
#include "client-lib/python/python-module.h"

typedef struct QpyResult {
    PyObject_HEAD QpyConnection *connection;
    QueryCursor *cursor;
    guint n_columns;
} QpyResult;

PyTypeObject *qpy_result_type;

PyObject *
qpy_result_new(QpyConnection *connection, QueryCursor *cursor)
{
    QpyResult *self = PyObject_New(QpyResult, qpy_result_type);

    if (self == NULL) {
        g_object_unref(cursor);
        return NULL;
    }
    self->connection = connection;
    Py_INCREF(connection);
    self->cursor = cursor;
    self->n_columns = query_cursor_get_n_columns(cursor);
    return (PyObject *) self;
}

static void
dealloc(PyObject *object)
{
    QpyResult *self = (QpyResult *) object;
    PyTypeObject *type = Py_TYPE(object);

    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_drop(&self->connection->hold, self->cursor); /* may wait for the rest of an update */
    Py_END_ALLOW_THREADS;
    Py_DECREF(self->connection);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Returns: -1 with an exception, 0 at the end, 1 on a row */
static int
step(QpyResult *self, GCancellable *cancellable)
{
    GError *error = NULL;
    gboolean has_row;

    if (query_cursor_get_n_ready(self->cursor) > 0) /* a row that is here: no call */
        return query_cursor_next(self->cursor, NULL, NULL);
    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->connection->hold);
    has_row = query_cursor_next(self->cursor, cancellable, &error);
    qpy_hold_leave(&self->connection->hold);
    Py_END_ALLOW_THREADS;
    if (error != NULL) {
        (void) qpy_raise(error);
        return -1;
    }
    return has_row;
}

static gboolean
append_row(PyObject *rows, QpyResult *self)
{
    PyObject *row = qpy_row_new(self->cursor, self->n_columns);
    gboolean ok = row != NULL && PyList_Append(rows, row) == 0;

    Py_XDECREF(row);
    return ok;
}

static PyObject *
fetch(PyObject *object, PyObject *argument)
{
    QpyResult *self = (QpyResult *) object;
    Py_ssize_t n_max = PyLong_AsSsize_t(argument);
    GCancellable *cancellable;
    PyObject *rows;

    if (n_max == -1 && PyErr_Occurred())
        return NULL;
    cancellable = qpy_connection_get_cancellable(self->connection);
    rows = PyList_New(0);
    while (rows != NULL && (n_max < 0 || PyList_GET_SIZE(rows) < n_max)) {
        int has_row = step(self, cancellable);

        if (has_row == 0)
            break;
        if (has_row < 0 || !append_row(rows, self))
            Py_CLEAR(rows);
    }
    g_object_unref(cancellable);
    return rows;
}

static PyObject *
fetch_one(PyObject *object, PyObject *unused)
{
    QpyResult *self = (QpyResult *) object;
    GCancellable *cancellable = qpy_connection_get_cancellable(self->connection);
    int has_row = step(self, cancellable);

    g_object_unref(cancellable);
    if (has_row < 0)
        return NULL;
    if (has_row == 0)
        Py_RETURN_NONE;
    return qpy_row_new(self->cursor, self->n_columns);
}

static PyObject *
get_columns(PyObject *object, void *unused)
{
    QpyResult *self = (QpyResult *) object;
    PyObject *columns = PyTuple_New((Py_ssize_t) self->n_columns);

    for (guint i = 0; columns != NULL && i < self->n_columns; i++) {
        PyObject *column = Py_BuildValue("(ss)", query_cursor_get_column_name(self->cursor, i),
                                         query_cursor_get_column_type(self->cursor, i));

        if (column == NULL)
            Py_CLEAR(columns);
        else
            PyTuple_SET_ITEM(columns, (Py_ssize_t) i, column);
    }
    return columns;
}

static PyObject *
get_n_changes(PyObject *object, void *unused)
{
    return PyLong_FromLongLong(query_cursor_get_changes(((QpyResult *) object)->cursor));
}

static PyObject *
get_last_insert_rowid(PyObject *object, void *unused)
{
    return PyLong_FromLongLong(query_cursor_get_last_insert_rowid(((QpyResult *) object)->cursor));
}

static PyObject *
get_generation(PyObject *object, void *unused)
{
    return PyLong_FromUnsignedLongLong(query_cursor_get_generation(((QpyResult *) object)->cursor));
}

static PyObject *
close_result(PyObject *object, PyObject *unused)
{
    QpyResult *self = (QpyResult *) object;

    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->connection->hold);
    query_cursor_close(self->cursor);
    qpy_hold_leave(&self->connection->hold);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "fetch", fetch, METH_O, "fetch(n_max) -> list of tuples: the next rows; all that are left if n_max is negative" },
    { "fetch_one", fetch_one, METH_NOARGS, "fetch_one() -> the next row, None at the end" },
    { "close", close_result, METH_NOARGS, "close(): ends the query if it still runs" },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef properties[] = {
    { "columns", get_columns, NULL, "(name, declared type or \"\") of each column", NULL },
    { "n_changes", get_n_changes, NULL, "rows that an update has changed; 0 before the end", NULL },
    { "last_insert_rowid", get_last_insert_rowid, NULL, "rowid that an update inserted last; 0 before the end", NULL },
    { "generation", get_generation, NULL, "generation of the store that was read or made; 0 before the end", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "The rows of one execution." },
    { Py_tp_dealloc, dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, properties },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "queryd._client.Result",
    .basicsize = sizeof(QpyResult),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

gboolean
qpy_result_add_types(PyObject *module)
{
    qpy_result_type = (PyTypeObject *) PyType_FromSpec(&spec);
    return qpy_result_type != NULL && PyModule_AddType(module, qpy_result_type) == 0;
}
