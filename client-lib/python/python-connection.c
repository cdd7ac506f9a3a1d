/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connection: opens a store, prepares statements, begins transactions, and interrupts what runs.
 */
#include "client-lib/python/python-module.h"

static PyTypeObject *connection_type;

GCancellable *
qpy_connection_get_cancellable(QpyConnection *self)
{
    if (g_cancellable_is_cancelled(self->cancellable)) { /* it was for the calls before this one */
        g_object_unref(self->cancellable);
        self->cancellable = g_cancellable_new();
    }
    return g_object_ref(self->cancellable);
}

static QueryConnection *
open_connection(const char *store, const char *path, gboolean is_direct, GError **error)
{
    if (is_direct)
        return query_connection_new_direct(path, NULL, error);
    return query_connection_new_for_store(store, NULL, error);
}

/* @path: a path or None. Returns: FALSE with an exception */
static gboolean
encode_path(PyObject *path, PyObject **ret_bytes)
{
    if (path == Py_None || PyUnicode_FSConverter(path, ret_bytes))
        return TRUE;
    if (PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        (void) qpy_raise_code(QUERY_ERROR_TOO_BIG, "the path has the character NUL, or one that file names cannot have");
    }
    return FALSE;
}

static PyObject *
create(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = { "store", "path", "direct", NULL };
    PyObject *store_string, *path_object = Py_None, *path = NULL;
    const char *store = NULL;
    int is_direct = 0;
    QpyConnection *self;
    QueryConnection *connection;
    GError *error = NULL;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|Op:Connection", names, &store_string, &path_object, &is_direct))
        return NULL;
    if (store_string != Py_None) {
        store = qpy_get_utf8(store_string, "the name of a store", "", NULL);
        if (store == NULL)
            return NULL;
    }
    if (!encode_path(path_object, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    connection = open_connection(store, path != NULL ? PyBytes_AS_STRING(path) : NULL, is_direct, &error);
    Py_END_ALLOW_THREADS;
    Py_XDECREF(path);
    if (connection == NULL)
        return qpy_raise(error);
    self = (QpyConnection *) type->tp_alloc(type, 0);
    if (self == NULL) {
        g_object_unref(connection);
        return NULL;
    }
    self->connection = connection;
    self->cancellable = g_cancellable_new();
    qpy_hold_init(&self->hold);
    return (PyObject *) self;
}

static void
dealloc(PyObject *object)
{
    QpyConnection *self = (QpyConnection *) object;
    PyTypeObject *type = Py_TYPE(object);

    g_clear_object(&self->connection);
    g_clear_object(&self->cancellable);
    qpy_hold_clear(&self->hold);
    type->tp_free(object);
    Py_DECREF(type);
}

/* (transfer full) (nullable): NULL with an exception when it is closed */
static QueryConnection *
get_connection(QpyConnection *self)
{
    if (self->connection == NULL)
        return (QueryConnection *) qpy_raise_code(QUERY_ERROR_CLOSED, "the connection is closed");
    return g_object_ref(self->connection);
}

static PyObject *
prepare(PyObject *object, PyObject *arguments)
{
    QpyConnection *self = (QpyConnection *) object;
    GError *error = NULL;
    QueryConnection *connection;
    GCancellable *cancellable;
    QueryStatement *statement;
    PyObject *string;
    const char *text;
    int language, writes;

    if (!PyArg_ParseTuple(arguments, "iOp:prepare", &language, &string, &writes))
        return NULL;
    text = qpy_get_utf8(string, "the text of a statement", "", NULL);
    connection = text != NULL ? get_connection(self) : NULL;
    if (connection == NULL)
        return NULL;
    cancellable = qpy_connection_get_cancellable(self);
    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->hold);
    if (writes)
        statement = query_connection_prepare_update(connection, (QueryLanguage) language, text, cancellable, &error);
    else
        statement = query_connection_prepare(connection, (QueryLanguage) language, text, cancellable, &error);
    g_object_unref(connection);
    qpy_hold_leave(&self->hold);
    Py_END_ALLOW_THREADS;
    g_object_unref(cancellable);
    return statement != NULL ? qpy_statement_new(self, statement) : qpy_raise(error);
}

static PyObject *
begin(PyObject *object, PyObject *unused)
{
    QpyConnection *self = (QpyConnection *) object;
    QueryConnection *connection = get_connection(self);
    GError *error = NULL;
    GCancellable *cancellable;
    QueryTransaction *transaction;

    if (connection == NULL)
        return NULL;
    cancellable = qpy_connection_get_cancellable(self);
    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->hold);
    transaction = query_connection_begin(connection, cancellable, &error);
    g_object_unref(connection);
    qpy_hold_leave(&self->hold);
    Py_END_ALLOW_THREADS;
    g_object_unref(cancellable);
    return transaction != NULL ? qpy_transaction_new(self, transaction) : qpy_raise(error);
}

static PyObject *
interrupt(PyObject *object, PyObject *unused)
{
    g_cancellable_cancel(((QpyConnection *) object)->cancellable);
    Py_RETURN_NONE;
}

static PyObject *
close_connection(PyObject *object, PyObject *unused)
{
    QpyConnection *self = (QpyConnection *) object;
    QueryConnection *connection = g_steal_pointer(&self->connection);

    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->hold);
    g_clear_object(&connection);
    qpy_hold_leave(&self->hold);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *
set_options(PyObject *object, PyObject *arguments)
{
    unsigned int timeout_msec;
    int is_relaxed;
    QueryConnection *connection;

    if (!PyArg_ParseTuple(arguments, "Ip:set_options", &timeout_msec, &is_relaxed))
        return NULL;
    connection = get_connection((QpyConnection *) object);
    if (connection == NULL)
        return NULL;
    query_connection_set_timeout_msec(connection, timeout_msec);
    query_connection_set_durability(connection, is_relaxed ? QUERY_DURABILITY_RELAXED : QUERY_DURABILITY_FULL);
    g_object_unref(connection);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "prepare", prepare, METH_VARARGS, "prepare(language, text, writes) -> Statement" },
    { "begin", begin, METH_NOARGS, "begin() -> Transaction" },
    { "interrupt", interrupt, METH_NOARGS, "interrupt(): cancels the calls that run now; from any thread" },
    { "set_options", set_options, METH_VARARGS,
      "set_options(timeout_msec or 0, relaxed): of statements that are prepared after it" },
    { "close", close_connection, METH_NOARGS, "close(): later calls fail" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "Connection(store or None, path=None, direct=False): a store of the daemon, or a file without it" },
    { Py_tp_new, create },
    { Py_tp_dealloc, dealloc },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "queryd._client.Connection",
    .basicsize = sizeof(QpyConnection),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

gboolean
qpy_connection_add_types(PyObject *module)
{
    connection_type = (PyTypeObject *) PyType_FromSpec(&spec);
    return connection_type != NULL && PyModule_AddType(module, connection_type) == 0;
}
