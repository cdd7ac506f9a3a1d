/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By the property "transport", if the library has one: so this builds against any version of it.
 */
#include "tests/bench/bench-transport.h"

#define PROPERTY "transport"

void
transport_select(const Bench *bench, QueryConnection *connection, const char *name)
{
    GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(connection), PROPERTY);

    if (property == NULL)
        bench_skip(bench, "the library lets nobody choose a transport");
    if (G_IS_PARAM_SPEC_ENUM(property)) {
        const GEnumValue *value = g_enum_get_value_by_nick(G_PARAM_SPEC_ENUM(property)->enum_class, name);

        if (value == NULL)
            bench_skip(bench, "the library has no transport '%s'", name);
        g_object_set(connection, PROPERTY, value->value, NULL);
    } else {
        g_object_set(connection, PROPERTY, name, NULL);
    }
}
