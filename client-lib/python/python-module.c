/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module: its types, and the Python functions and types of the package that they call.
 */
#include "client-lib/python/python-module.h"

QpyHooks qpy_hooks;

/* (transfer full) (nullable): an attribute of a module of the package */
static PyObject *
import_from(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *attribute = module != NULL ? PyObject_GetAttrString(module, name) : NULL;

    Py_XDECREF(module);
    return attribute;
}

/* The first that fails has set the exception. */
static gboolean
import_hooks(void)
{
    return (qpy_hooks.create_error = import_from("queryd.errors", "create_error")) != NULL &&
           (qpy_hooks.adapt = import_from("queryd.values", "adapt")) != NULL &&
           (qpy_hooks.from_literal = import_from("queryd.values", "from_literal")) != NULL &&
           (qpy_hooks.iri = import_from("queryd.values", "Iri")) != NULL &&
           (qpy_hooks.blank_node = import_from("queryd.values", "BlankNode")) != NULL &&
           (qpy_hooks.literal = import_from("queryd.values", "Literal")) != NULL;
}

static gboolean
add_constants(PyObject *module)
{
    return PyModule_AddIntConstant(module, "SQL", QUERY_LANGUAGE_SQL) == 0 &&
           PyModule_AddIntConstant(module, "SPARQL", QUERY_LANGUAGE_SPARQL) == 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "queryd._client",
    .m_doc = "libquery-client for the package queryd.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__client(void); /* what CPython looks for */

PyMODINIT_FUNC
PyInit__client(void)
{
    PyObject *module;

    if (!qpy_hold_watch_forks())
        return PyErr_NoMemory();
    module = import_hooks() ? PyModule_Create(&definition) : NULL;
    if (module == NULL)
        return NULL;
    if (!add_constants(module) || !qpy_connection_add_types(module) || !qpy_statement_add_types(module) ||
        !qpy_transaction_add_types(module) || !qpy_result_add_types(module))
        Py_CLEAR(module);
    return module;
}
