/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of the library become the exceptions of queryd.errors, with the place in the text and the constraint.
 */
#include <stdarg.h>
#include <string.h>

#include "client-lib/python/python-module.h"

static PyObject *
columns_new(const QueryConstraint *constraint)
{
    const char *const *columns = query_constraint_get_columns(constraint);
    Py_ssize_t n = columns != NULL ? (Py_ssize_t) g_strv_length((char **) columns) : 0;
    PyObject *tuple = PyTuple_New(n);

    for (Py_ssize_t i = 0; tuple != NULL && i < n; i++) {
        PyObject *name = PyUnicode_FromString(columns[i]);

        if (name == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, name);
    }
    return tuple;
}

/* None, or (kind, table, columns, name) */
static PyObject *
constraint_new(const GError *error)
{
    QueryConstraint *constraint = query_error_get_constraint(error);
    PyObject *columns, *tuple = NULL;

    if (constraint == NULL)
        Py_RETURN_NONE;
    columns = columns_new(constraint);
    if (columns != NULL)
        tuple = Py_BuildValue("(izNz)", (int) query_constraint_get_kind(constraint), query_constraint_get_table(constraint),
                              columns, query_constraint_get_name(constraint));
    query_constraint_unref(constraint);
    return tuple;
}

/* @constraint: (nullable): without it an exception is set already */
static void
set_exception(int code, const char *message, guint line, guint column, PyObject *constraint)
{
    PyObject *text = constraint != NULL ? PyUnicode_DecodeUTF8(message, (Py_ssize_t) strlen(message), "replace") : NULL;
    PyObject *exception = NULL;

    if (text != NULL)
        exception = PyObject_CallFunction(qpy_hooks.create_error, "iOIIO", code, text, line, column, constraint);
    if (exception != NULL)
        PyErr_SetObject((PyObject *) Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    Py_XDECREF(text);
}

PyObject *
qpy_raise(GError *error)
{
    gboolean is_ours = error->domain == QUERY_ERROR;
    gboolean is_cancelled = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    guint line = 0, column = 0;
    PyObject *constraint = constraint_new(error);

    (void) query_error_get_place(error, &line, &column);
    if (is_ours)
        set_exception(error->code, error->message, line, column, constraint);
    else
        set_exception(is_cancelled ? QUERY_ERROR_CANCELLED : QUERY_ERROR_INTERNAL, error->message, 0, 0, constraint);
    Py_XDECREF(constraint);
    g_error_free(error);
    return NULL;
}

const char *
qpy_get_utf8(PyObject *string, const char *subject, const char *name, Py_ssize_t *n_bytes)
{
    Py_ssize_t n = 0;
    const char *text = NULL;

    if (PyUnicode_Check(string))
        text = PyUnicode_AsUTF8AndSize(string, &n);
    else
        PyErr_Format(PyExc_TypeError, "%s%s is a str, not %s", subject, name, Py_TYPE(string)->tp_name);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        (void) qpy_raise_code(QUERY_ERROR_TOO_BIG, "%s%s has a lone surrogate, which UTF-8 cannot express", subject, name);
    } else if (text != NULL && n_bytes == NULL && strlen(text) != (size_t) n) {
        (void) qpy_raise_code(QUERY_ERROR_TOO_BIG, "%s%s has the character NUL, which cannot be in it", subject, name);
        text = NULL;
    }
    if (n_bytes != NULL)
        *n_bytes = n;
    return text;
}

PyObject *
qpy_raise_code(int code, const char *format, ...)
{
    va_list arguments;
    char *message;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    set_exception(code, message, 0, 0, Py_None);
    g_free(message);
    return NULL;
}
