/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transaction: from BEGIN to COMMIT or ROLLBACK; the last reference rolls back.
 */
#include "client-lib/python/python-module.h"

typedef struct QpyTransaction {
    PyObject_HEAD QpyConnection *connection;
    QueryTransaction *transaction; /* (nullable): over */
} QpyTransaction;

PyTypeObject *qpy_transaction_type;

PyObject *
qpy_transaction_new(QpyConnection *connection, QueryTransaction *transaction)
{
    QpyTransaction *self = PyObject_New(QpyTransaction, qpy_transaction_type);

    if (self == NULL) {
        g_object_unref(transaction);
        return NULL;
    }
    self->connection = connection;
    Py_INCREF(connection);
    self->transaction = transaction;
    query_transaction_set_keeps_cursors(transaction, TRUE); /* as PEP 249 has it */
    return (PyObject *) self;
}

static void
drop(QpyTransaction *self)
{
    QueryTransaction *transaction = g_steal_pointer(&self->transaction);

    if (transaction == NULL)
        return;
    Py_BEGIN_ALLOW_THREADS;
    g_object_unref(transaction);
    Py_END_ALLOW_THREADS;
}

static void
dealloc(PyObject *object)
{
    QpyTransaction *self = (QpyTransaction *) object;
    PyTypeObject *type = Py_TYPE(object);

    drop(self);
    Py_DECREF(self->connection);
    PyObject_Free(self);
    Py_DECREF(type);
}

QueryTransaction *
qpy_transaction_get(PyObject *object)
{
    if (!PyObject_TypeCheck(object, qpy_transaction_type)) {
        PyErr_Format(PyExc_TypeError, "a transaction is needed, not %s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    if (((QpyTransaction *) object)->transaction == NULL)
        return (QueryTransaction *) qpy_raise_code(QUERY_ERROR_CLOSED, "the transaction is over");
    return g_object_ref(((QpyTransaction *) object)->transaction); /* the caller waits without the GIL */
}

static PyObject *
prepare(PyObject *object, PyObject *arguments)
{
    QpyTransaction *self = (QpyTransaction *) object;
    QueryTransaction *transaction;
    GError *error = NULL;
    GCancellable *cancellable;
    QueryStatement *statement;
    PyObject *string;
    const char *text;
    int language, writes;

    if (!PyArg_ParseTuple(arguments, "iOp:prepare", &language, &string, &writes))
        return NULL;
    text = qpy_get_utf8(string, "the text of a statement", "", NULL);
    transaction = text != NULL ? qpy_transaction_get(object) : NULL;
    if (transaction == NULL)
        return NULL;
    cancellable = qpy_connection_get_cancellable(self->connection);
    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->connection->hold);
    if (writes)
        statement = query_transaction_prepare_update(transaction, (QueryLanguage) language, text, cancellable, &error);
    else
        statement = query_transaction_prepare(transaction, (QueryLanguage) language, text, cancellable, &error);
    g_object_unref(transaction);
    qpy_hold_leave(&self->connection->hold);
    Py_END_ALLOW_THREADS;
    g_object_unref(cancellable);
    return statement != NULL ? qpy_statement_new(self->connection, statement) : qpy_raise(error);
}

/* It is over then, whether this succeeds or not. */
static PyObject *
end(QpyTransaction *self, gboolean (*how)(QueryTransaction *, GCancellable *, GError **), GCancellable *cancellable)
{
    QueryTransaction *transaction = qpy_transaction_get((PyObject *) self);
    GError *error = NULL;
    gboolean ok;

    if (transaction == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    qpy_hold_take(&self->connection->hold);
    ok = how(transaction, cancellable, &error);
    g_object_unref(transaction);
    qpy_hold_leave(&self->connection->hold);
    Py_END_ALLOW_THREADS;
    drop(self);
    if (!ok)
        return qpy_raise(error);
    Py_RETURN_NONE;
}

static PyObject *
commit(PyObject *object, PyObject *unused)
{
    QpyTransaction *self = (QpyTransaction *) object;
    GCancellable *cancellable = qpy_connection_get_cancellable(self->connection);
    PyObject *result = end(self, query_transaction_commit, cancellable);

    g_object_unref(cancellable);
    return result;
}

static PyObject *
rollback(PyObject *object, PyObject *unused)
{
    return end((QpyTransaction *) object, query_transaction_rollback, NULL);
}

static PyMethodDef methods[] = {
    { "prepare", prepare, METH_VARARGS, "prepare(language, text, writes) -> Statement, of tables that it has made, too" },
    { "commit", commit, METH_NOARGS, "commit(): makes it durable and visible" },
    { "rollback", rollback, METH_NOARGS, "rollback(): undoes it" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "An open transaction." },
    { Py_tp_dealloc, dealloc },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "queryd._client.Transaction",
    .basicsize = sizeof(QpyTransaction),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

gboolean
qpy_transaction_add_types(PyObject *module)
{
    qpy_transaction_type = (PyTypeObject *) PyType_FromSpec(&spec);
    return qpy_transaction_type != NULL && PyModule_AddType(module, qpy_transaction_type) == 0;
}
