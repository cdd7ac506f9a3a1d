/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon says of itself against the XML files in data/, which is the source: every method, signal and property, both ways.
 */
#include <gio/gio.h>

#include "tests/unit/bus/bus-fixture.h"

static char *
introspect(BusFixture *self, const char *path)
{
    sd_bus_message *call = NULL;
    sd_bus_message *reply;
    const char *xml;
    char *copy;

    g_assert_cmpint(
        sd_bus_message_new_method_call(self->client, &call, NULL, path, "org.freedesktop.DBus.Introspectable", "Introspect"), >=,
        0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_read(reply, "s", &xml), >, 0);
    copy = g_strdup(xml);
    sd_bus_message_unref(reply);
    return copy;
}

static GDBusNodeInfo *
parse(const char *xml)
{
    g_autoptr(GError) error = NULL;
    GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(xml, &error);

    g_assert_no_error(error);
    return node;
}

static GDBusNodeInfo *
load(const char *name)
{
    g_autofree char *path = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "data", name, NULL);
    g_autofree char *xml = NULL;
    g_autoptr(GError) error = NULL;

    g_file_get_contents(path, &xml, NULL, &error);
    g_assert_no_error(error);
    return parse(xml);
}

static void
append_args(GString *text, GDBusArgInfo **args)
{
    for (guint i = 0; args != NULL && args[i] != NULL; i++)
        g_string_append_printf(text, " %s:%s", args[i]->name, args[i]->signature);
}

static int
compare_lines(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* One line for each member, sorted: a difference is then seen as one. */
static char *
describe(GDBusInterfaceInfo *info)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; info->methods != NULL && info->methods[i] != NULL; i++) {
        g_autoptr(GString) line = g_string_new("method ");

        g_string_append(line, info->methods[i]->name);
        append_args(line, info->methods[i]->in_args);
        g_string_append(line, " ->");
        append_args(line, info->methods[i]->out_args);
        g_ptr_array_add(lines, g_strdup(line->str));
    }
    for (guint i = 0; info->signals != NULL && info->signals[i] != NULL; i++) {
        g_autoptr(GString) line = g_string_new("signal ");

        g_string_append(line, info->signals[i]->name);
        append_args(line, info->signals[i]->args);
        g_ptr_array_add(lines, g_strdup(line->str));
    }
    for (guint i = 0; info->properties != NULL && info->properties[i] != NULL; i++)
        g_ptr_array_add(lines, g_strdup_printf("property %s %s %u", info->properties[i]->name, info->properties[i]->signature,
                                               info->properties[i]->flags));

    g_ptr_array_sort(lines, compare_lines);
    g_ptr_array_add(lines, NULL);
    return g_strjoinv("\n", (char **) lines->pdata);
}

static void
compare(GDBusNodeInfo *source, GDBusNodeInfo *shown, const char *interface)
{
    GDBusInterfaceInfo *source_info = g_dbus_node_info_lookup_interface(source, interface);
    GDBusInterfaceInfo *shown_info = g_dbus_node_info_lookup_interface(shown, interface);
    g_autofree char *source_text = NULL;
    g_autofree char *shown_text = NULL;

    g_assert_nonnull(source_info);
    g_assert_nonnull(shown_info);
    source_text = describe(source_info);
    shown_text = describe(shown_info);
    g_assert_cmpstr(shown_text, ==, source_text);
}

static void
test_main_object(BusFixture *self, gconstpointer data)
{
    g_autofree char *xml = introspect(self, BUS_FIXTURE_PATH);
    g_autoptr(GDBusNodeInfo) shown = parse(xml);
    g_autoptr(GDBusNodeInfo) source = load("org.queryd.Query1.xml");

    compare(source, shown, BUS_FIXTURE_INTERFACE);
    compare(source, shown, BUS_FIXTURE_MANAGER);
    for (guint i = 0; shown->interfaces[i] != NULL; i++)
        if (g_str_has_prefix(shown->interfaces[i]->name, BUS_FIXTURE_INTERFACE))
            g_assert_nonnull(g_dbus_node_info_lookup_interface(source, shown->interfaces[i]->name));
}

static void
test_job(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "Backup");
    g_autoptr(GDBusNodeInfo) source = load("org.queryd.Query1.Job.xml");
    g_autoptr(GDBusNodeInfo) shown = NULL;
    g_autofree char *xml = NULL;
    sd_bus_message *reply;
    const char *path;

    /* A job that fails is a job, too: standard input is no database file. */
    g_assert_cmpint(sd_bus_message_append(call, "ha{sv}", 0, 0), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_read(reply, "o", &path), >, 0);
    xml = introspect(self, path);
    shown = parse(xml);
    compare(source, shown, BUS_FIXTURE_JOB);
    sd_bus_message_unref(reply);
}

static void
test_subscription(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_INTERFACE, "Subscribe");
    g_autoptr(GDBusNodeInfo) source = load("org.queryd.Query1.Subscription.xml");
    g_autoptr(GDBusNodeInfo) shown = NULL;
    g_autofree char *xml = NULL;
    sd_bus_message *reply;
    const char *path;

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}", "sql", "SELECT 1", 0), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_read(reply, "o", &path), >, 0);
    xml = introspect(self, path);
    shown = parse(xml);
    compare(source, shown, BUS_FIXTURE_INTERFACE ".Subscription");
    sd_bus_message_unref(reply);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/bus/introspection/main-object", BusFixture, NULL, bus_fixture_set_up, test_main_object, bus_fixture_tear_down);
    g_test_add("/bus/introspection/job", BusFixture, NULL, bus_fixture_set_up, test_job, bus_fixture_tear_down);
    g_test_add("/bus/introspection/subscription", BusFixture, NULL, bus_fixture_set_up, test_subscription, bus_fixture_tear_down);
    return g_test_run();
}
