/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values: of a row as Python's own types, and of Python as parameters of a statement.
 *
 * NULL, INTEGER, FLOAT, TEXT and BLOB are None, int, float, str and bytes; RDF terms are the types of queryd.values.
 */
#include "client-lib/python/python-module.h"

/* Reading -------------------------------------------------------------------------------------------------------------- */

static PyObject *
text_new(QueryCursor *cursor, guint column)
{
    gsize n_bytes;
    const char *text = query_cursor_get_string(cursor, column, &n_bytes);
    PyObject *string = PyUnicode_DecodeUTF8(text, (Py_ssize_t) n_bytes, NULL);

    if (string == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        return qpy_raise_code(QUERY_ERROR_TOO_BIG, "the text in column '%s' is not UTF-8; select CAST(… AS BLOB) to get its bytes",
                              query_cursor_get_column_name(cursor, column));
    }
    return string;
}

static PyObject *
bytes_new(QueryCursor *cursor, guint column)
{
    gsize n_bytes;
    const guint8 *data = query_cursor_get_data(cursor, column, &n_bytes);

    return PyBytes_FromStringAndSize((const char *) data, (Py_ssize_t) n_bytes);
}

/* A str subclass, of IRIs and blank nodes. */
static PyObject *
term_new(PyObject *type, QueryCursor *cursor, guint column)
{
    PyObject *text = text_new(cursor, column);
    PyObject *term = text != NULL ? PyObject_CallOneArg(type, text) : NULL;

    Py_XDECREF(text);
    return term;
}

static PyObject *
literal_new(QueryCursor *cursor, guint column)
{
    PyObject *text = text_new(cursor, column);

    if (text == NULL)
        return NULL;
    return PyObject_CallFunction(qpy_hooks.from_literal, "Nzz", text, query_cursor_get_datatype(cursor, column),
                                 query_cursor_get_language(cursor, column));
}

static PyObject *
value_new(QueryCursor *cursor, guint column)
{
    switch (query_cursor_get_value_type(cursor, column)) {
    case QUERY_VALUE_TYPE_INTEGER:
        return PyLong_FromLongLong(query_cursor_get_int64(cursor, column));
    case QUERY_VALUE_TYPE_FLOAT:
        return PyFloat_FromDouble(query_cursor_get_double(cursor, column));
    case QUERY_VALUE_TYPE_TEXT:
        return text_new(cursor, column);
    case QUERY_VALUE_TYPE_BLOB:
        return bytes_new(cursor, column);
    case QUERY_VALUE_TYPE_IRI:
        return term_new(qpy_hooks.iri, cursor, column);
    case QUERY_VALUE_TYPE_BNODE:
        return term_new(qpy_hooks.blank_node, cursor, column);
    case QUERY_VALUE_TYPE_LITERAL_LANG:
    case QUERY_VALUE_TYPE_LITERAL_TYPED:
        return literal_new(cursor, column);
    case QUERY_VALUE_TYPE_NULL:
        break;
    }
    Py_RETURN_NONE;
}

PyObject *
qpy_row_new(QueryCursor *cursor, guint n_columns)
{
    PyObject *row = PyTuple_New((Py_ssize_t) n_columns);

    for (guint i = 0; row != NULL && i < n_columns; i++) {
        PyObject *value = value_new(cursor, i);

        if (value == NULL)
            Py_CLEAR(row);
        else
            PyTuple_SET_ITEM(row, (Py_ssize_t) i, value);
    }
    return row;
}

/* Binding -------------------------------------------------------------------------------------------------------------- */

static gboolean
check(gboolean ok, GError *error)
{
    if (!ok)
        (void) qpy_raise(error);
    return ok;
}

static gboolean
bind_integer(QueryStatement *statement, const char *name, PyObject *value)
{
    GError *error = NULL;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);

    if (overflow != 0) {
        (void) qpy_raise_code(QUERY_ERROR_TOO_BIG, "the value of parameter %s needs more than 64 bits; bind it as a str", name);
        return FALSE;
    }
    return check(query_statement_bind_int64(statement, name, number, &error), error);
}

static const char *
get_value_utf8(const char *name, PyObject *string, Py_ssize_t *n_bytes)
{
    return qpy_get_utf8(string, "the value of parameter ", name, n_bytes);
}

static gboolean
bind_string(QueryStatement *statement, const char *name, PyObject *value)
{
    GError *error = NULL;
    Py_ssize_t n_bytes;
    const char *text = get_value_utf8(name, value, &n_bytes);

    return text != NULL && check(query_statement_bind_string(statement, name, text, n_bytes, &error), error);
}

static gboolean
bind_iri(QueryStatement *statement, const char *name, PyObject *value)
{
    GError *error = NULL;
    const char *text = get_value_utf8(name, value, NULL);

    return text != NULL && check(query_statement_bind_iri(statement, name, text, &error), error);
}

/* @string: a str or None. Returns: FALSE with an exception */
static gboolean
get_optional(const char *name, PyObject *string, const char **ret_text)
{
    *ret_text = string != Py_None ? get_value_utf8(name, string, NULL) : NULL;
    return string == Py_None || *ret_text != NULL;
}

static gboolean
bind_literal(QueryStatement *statement, const char *name, PyObject *value)
{
    PyObject *parts[3];
    const char *lexical, *datatype, *language;
    GError *error = NULL;

    if (!PyArg_ParseTuple(value, "UOO:Literal", &parts[0], &parts[1], &parts[2]))
        return FALSE;
    if (parts[1] == Py_None && parts[2] == Py_None) /* as a str, which may have NULs */
        return bind_string(statement, name, parts[0]);
    lexical = get_value_utf8(name, parts[0], NULL);
    if (lexical == NULL || !get_optional(name, parts[1], &datatype) || !get_optional(name, parts[2], &language))
        return FALSE;
    if (datatype != NULL && language != NULL) {
        (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "the literal of parameter %s has both a datatype and a language", name);
        return FALSE;
    }
    return check(query_statement_bind_literal(statement, name, lexical, datatype, language, &error), error);
}

static gboolean
bind_buffer(QueryStatement *statement, const char *name, PyObject *value)
{
    GError *error = NULL;
    Py_buffer view;
    GBytes *bytes;
    gboolean ok;

    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0)
        return FALSE;
    bytes = g_bytes_new(view.buf, (gsize) view.len);
    PyBuffer_Release(&view);
    ok = query_statement_bind_bytes(statement, name, bytes, &error);
    g_bytes_unref(bytes);
    return check(ok, error);
}

static gboolean
bind_adapted(QueryStatement *statement, const char *name, PyObject *value)
{
    PyObject *adapted = PyObject_CallOneArg(qpy_hooks.adapt, value);
    gboolean ok = FALSE;

    if (adapted == value)
        (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "parameter %s has the type %s, which cannot be bound", name,
                              Py_TYPE(value)->tp_name);
    else if (adapted != NULL)
        ok = qpy_bind(statement, name, adapted);
    Py_XDECREF(adapted);
    return ok;
}

gboolean
qpy_bind(QueryStatement *statement, const char *name, PyObject *value)
{
    GError *error = NULL;

    if (value == Py_None)
        return check(query_statement_bind_null(statement, name, &error), error);
    if (PyLong_CheckExact(value) || PyBool_Check(value))
        return bind_integer(statement, name, value);
    if (PyUnicode_CheckExact(value))
        return bind_string(statement, name, value);
    if (PyFloat_CheckExact(value))
        return check(query_statement_bind_double(statement, name, PyFloat_AS_DOUBLE(value), &error), error);
    if (PyObject_TypeCheck(value, (PyTypeObject *) qpy_hooks.iri))
        return bind_iri(statement, name, value);
    if (PyObject_TypeCheck(value, (PyTypeObject *) qpy_hooks.literal))
        return bind_literal(statement, name, value);
    if (PyBytes_Check(value) || PyByteArray_Check(value) || PyMemoryView_Check(value))
        return bind_buffer(statement, name, value);
    return bind_adapted(statement, name, value);
}

/* By the name without its sigil, or with it. Returns: (nullable): a new reference */
static PyObject *
get_named(PyObject *mapping, const char *name)
{
    PyObject *value = PyMapping_GetItemString(mapping, name + 1);

    if (value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        value = PyMapping_GetItemString(mapping, name);
    }
    if (value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        return qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "there is no value for the parameter %s", name);
    }
    return value;
}

/* By its keys(), as a mapping need have no length. Returns: -1 with an exception */
static Py_ssize_t
count_keys(PyObject *mapping)
{
    PyObject *keys;
    Py_ssize_t n;

    if (PyDict_CheckExact(mapping))
        return PyDict_Size(mapping);
    keys = PyMapping_Keys(mapping);
    n = keys != NULL ? PyList_GET_SIZE(keys) : -1;
    Py_XDECREF(keys);
    return n;
}

static gboolean
bind_mapping(QueryStatement *statement, PyObject *mapping)
{
    guint n = query_statement_get_n_parameters(statement);
    Py_ssize_t n_values = count_keys(mapping);

    if (n_values < 0)
        return FALSE;
    if (n_values > (Py_ssize_t) n) {
        (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "the statement has %u parameters, %zd values were given", n, n_values);
        return FALSE;
    }
    for (guint i = 0; i < n; i++) {
        const char *name = query_statement_get_parameter_name(statement, i);
        PyObject *value;
        gboolean ok;

        if (name == NULL || name[0] == '?') {
            (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "parameter %u has no name: give a sequence of values, not a mapping",
                                  i + 1);
            return FALSE;
        }
        value = get_named(mapping, name);
        ok = value != NULL && qpy_bind(statement, name, value);
        Py_XDECREF(value);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

static gboolean
check_n_values(guint n, Py_ssize_t n_values)
{
    if (n_values == (Py_ssize_t) n)
        return TRUE;
    (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "the statement has %u parameters, %zd values were given", n, n_values);
    return FALSE;
}

/* Before memory is taken for so many as __len__ tells. An iterable without one is counted later. */
static gboolean
check_length(QueryStatement *statement, PyObject *values)
{
    Py_ssize_t n_values;

    if (!PyObject_HasAttrString(values, "__len__"))
        return TRUE;
    n_values = PyObject_Size(values);
    return n_values >= 0 && check_n_values(query_statement_get_n_parameters(statement), n_values);
}

/* Of a tuple: an adapter of the program may change a list while its values are bound. */
static gboolean
bind_tuple(QueryStatement *statement, PyObject *values)
{
    guint n = query_statement_get_n_parameters(statement);

    if (!check_n_values(n, PyTuple_GET_SIZE(values)))
        return FALSE;
    for (guint i = 0; i < n; i++) {
        char name[G_N_ELEMENTS("4294967295")];

        g_snprintf(name, sizeof name, "%u", i + 1);
        if (!qpy_bind(statement, name, PyTuple_GET_ITEM(values, i)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
bind_sequence(QueryStatement *statement, PyObject *values)
{
    PyObject *tuple;
    gboolean ok;

    if (!check_length(statement, values))
        return FALSE;
    tuple = PySequence_Tuple(values);
    if (tuple == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_SetString(PyExc_TypeError, "values of parameters are a sequence or a mapping");
    if (tuple == NULL)
        return FALSE;
    ok = bind_tuple(statement, tuple);
    Py_DECREF(tuple);
    return ok;
}

static gboolean
bind_none(QueryStatement *statement)
{
    if (query_statement_get_n_parameters(statement) == 0)
        return TRUE;
    (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "the statement has %u parameters, no values were given",
                          query_statement_get_n_parameters(statement));
    return FALSE;
}

gboolean
qpy_bind_all(QueryStatement *statement, PyObject *values)
{
    if (PyTuple_Check(values) || PyList_Check(values))
        return bind_sequence(statement, values);
    if (values == Py_None)
        return bind_none(statement);
    if (PyUnicode_Check(values) || PyBytes_Check(values)) {
        (void) qpy_raise_code(QUERY_ERROR_BAD_PARAMETER, "values of parameters are a sequence or a mapping, not %s",
                              Py_TYPE(values)->tp_name);
        return FALSE;
    }
    return PyObject_HasAttrString(values, "keys") ? bind_mapping(statement, values) : bind_sequence(statement, values);
}
