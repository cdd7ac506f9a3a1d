/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results as a tree of GVariants, which is how GDBus wants them.
 */
#include "tests/bench/reference-gdbus.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/reference-database.h"
#include "tests/bench/reference-sd-bus.h"
#include "tests/demo/helper.h"
#include "tests/demo/store-control.h"

static const char
    introspection[] = "<node><interface name='" REFERENCE_INTERFACE "'>"
                      "<method name='Prepare'><arg type='s' direction='in'/></method>"
                      "<method name='Fetch'><arg type='u' direction='in'/><arg type='aas' direction='out'/></method>"
                      "<method name='Lookup'><arg type='x' direction='in'/><arg type='as' direction='out'/></method>"
                      "<method name='Ping'/>"
                      "<method name='GetInteger'><arg type='u' direction='in'/><arg type='ai' direction='out'/></method>"
                      "</interface></node>";

static GVariant *
build_row(sqlite3_stmt *stmt)
{
    GVariantBuilder builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("as"));
    int n_columns = sqlite3_column_count(stmt);

    for (int i = 0; i < n_columns; i++)
        g_variant_builder_add_value(&builder, g_variant_new_string((const char *) sqlite3_column_text(stmt, i)));
    return g_variant_builder_end(&builder);
}

static GVariant *
fetch(ReferenceDatabase *database, GVariant *parameters)
{
    GVariantBuilder builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aas"));
    guint32 n_rows;

    g_variant_get(parameters, "(u)", &n_rows);
    while (n_rows-- > 0 && reference_database_step(database))
        g_variant_builder_add_value(&builder, build_row(database->stmt));
    return g_variant_new("(aas)", &builder);
}

static GVariant *
look_up(ReferenceDatabase *database, GVariant *parameters)
{
    GVariant *row = NULL;
    gint64 id;

    g_variant_get(parameters, "(x)", &id);
    if (reference_database_look_up(database, id))
        row = g_variant_new("(@as)", build_row(database->lookup));
    (void) sqlite3_reset(database->lookup);
    return row;
}

static GVariant *
get_integers(GVariant *parameters)
{
    GVariantBuilder builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("ai"));
    guint32 n;

    g_variant_get(parameters, "(u)", &n);
    for (guint32 i = 0; i < MIN(n, REFERENCE_INTEGERS_MAX); i++)
        g_variant_builder_add(&builder, "i", (gint32) i);
    return g_variant_new("(ai)", &builder);
}

static void
handle_call(GDBusConnection *connection, const char *sender, const char *path, const char *interface, const char *method,
            GVariant *parameters, GDBusMethodInvocation *invocation, gpointer user_data)
{
    ReferenceDatabase *database = user_data;
    const char *sql;
    GVariant *reply = NULL;

    if (g_str_equal(method, "Prepare")) {
        g_variant_get(parameters, "(&s)", &sql);
        if (!reference_database_prepare(database, sql)) {
            g_dbus_method_invocation_return_dbus_error(invocation, REFERENCE_INTERFACE ".Failed", sqlite3_errmsg(database->db));
            return;
        }
    } else if (g_str_equal(method, "Fetch")) {
        reply = fetch(database, parameters);
    } else if (g_str_equal(method, "Lookup")) {
        reply = look_up(database, parameters);
    } else if (g_str_equal(method, "GetInteger")) {
        reply = get_integers(parameters);
    }
    g_dbus_method_invocation_return_value(invocation, reply);
}

static void
on_name_acquired(GDBusConnection *connection, const char *name, gpointer user_data)
{
    helper_say_in_position();
}

int
reference_gdbus_serve(int argc, char **argv)
{
    static const GDBusInterfaceVTable vtable = { .method_call = handle_call };
    g_autoptr(GError) error = NULL;
    g_autoptr(GDBusConnection) connection = NULL;
    g_autoptr(GDBusNodeInfo) node = NULL;
    ReferenceDatabase database;

    helper_end_with_input();
    reference_database_open(&database, argc > 2 ? argv[2] : "");
    connection = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    die_on_error(error, "session bus");
    node = g_dbus_node_info_new_for_xml(introspection, &error);
    die_on_error(error, "introspection");
    (void) g_dbus_connection_register_object(connection, REFERENCE_PATH, node->interfaces[0], &vtable, &database, NULL, &error);
    die_on_error(error, REFERENCE_PATH);
    (void) g_bus_own_name_on_connection(connection, REFERENCE_GDBUS_NAME, G_BUS_NAME_OWNER_FLAGS_NONE, on_name_acquired, NULL, NULL,
                                        NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    return 0;
}

GPtrArray *
reference_gdbus_start(const char *path, GPid *ret_pid)
{
    GPtrArray *helpers = helpers_start(1, (const char *[]){ REFERENCE_GDBUS_ROLE, path, NULL });

    *ret_pid = (GPid) atoi(g_subprocess_get_identifier(helpers->pdata[0]));
    return helpers;
}
