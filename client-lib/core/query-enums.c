/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The enumerations of the public headers as types of GObject, for properties and language bindings.
 */
#include "client-lib/query-client.h"

#define VALUE(name, nick) \
    {                     \
        name, #name, nick \
    }

/* Defines PREFIX_get_type() for the type TYPE with these values. */
#define DEFINE_ENUM(TYPE, prefix, values)                                                            \
    GType prefix##_get_type(void)                                                                    \
    {                                                                                                \
        static gsize type;                                                                           \
                                                                                                     \
        if (g_once_init_enter(&type))                                                                \
            g_once_init_leave(&type, g_enum_register_static(g_intern_static_string(#TYPE), values)); \
        return type;                                                                                 \
    }

static const GEnumValue language_values[] = {
    VALUE(QUERY_LANGUAGE_SQL, "sql"),
    VALUE(QUERY_LANGUAGE_SPARQL, "sparql"),
    { 0, NULL, NULL },
};

DEFINE_ENUM(QueryLanguage, query_language, language_values)

static const GEnumValue transport_values[] = {
    VALUE(QUERY_TRANSPORT_AUTO, "auto"),
    VALUE(QUERY_TRANSPORT_SOCKETPAIR, "socketpair"),
    VALUE(QUERY_TRANSPORT_RING, "ring"),
    { 0, NULL, NULL },
};

DEFINE_ENUM(QueryTransport, query_transport, transport_values)

static const GEnumValue durability_values[] = {
    VALUE(QUERY_DURABILITY_FULL, "full"),
    VALUE(QUERY_DURABILITY_RELAXED, "relaxed"),
    { 0, NULL, NULL },
};

DEFINE_ENUM(QueryDurability, query_durability, durability_values)

static const GEnumValue value_type_values[] = {
    VALUE(QUERY_VALUE_TYPE_NULL, "null"),
    VALUE(QUERY_VALUE_TYPE_INTEGER, "integer"),
    VALUE(QUERY_VALUE_TYPE_FLOAT, "float"),
    VALUE(QUERY_VALUE_TYPE_TEXT, "text"),
    VALUE(QUERY_VALUE_TYPE_BLOB, "blob"),
    VALUE(QUERY_VALUE_TYPE_IRI, "iri"),
    VALUE(QUERY_VALUE_TYPE_BNODE, "bnode"),
    VALUE(QUERY_VALUE_TYPE_LITERAL_LANG, "literal-lang"),
    VALUE(QUERY_VALUE_TYPE_LITERAL_TYPED, "literal-typed"),
    { 0, NULL, NULL },
};

DEFINE_ENUM(QueryValueType, query_value_type, value_type_values)

static const GEnumValue constraint_kind_values[] = {
    VALUE(QUERY_CONSTRAINT_OTHER, "other"),
    VALUE(QUERY_CONSTRAINT_UNIQUE, "unique"),
    VALUE(QUERY_CONSTRAINT_PRIMARY_KEY, "primary-key"),
    VALUE(QUERY_CONSTRAINT_ROWID, "rowid"),
    VALUE(QUERY_CONSTRAINT_NOT_NULL, "not-null"),
    VALUE(QUERY_CONSTRAINT_CHECK, "check"),
    VALUE(QUERY_CONSTRAINT_FOREIGN_KEY, "foreign-key"),
    VALUE(QUERY_CONSTRAINT_DATATYPE, "datatype"),
    VALUE(QUERY_CONSTRAINT_TRIGGER, "trigger"),
    VALUE(QUERY_CONSTRAINT_VIRTUAL_TABLE, "virtual-table"),
    VALUE(QUERY_CONSTRAINT_GRAPH, "graph"),
    { 0, NULL, NULL },
};

DEFINE_ENUM(QueryConstraintKind, query_constraint_kind, constraint_kind_values)
