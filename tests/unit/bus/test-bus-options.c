/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options a{sv}: what each method knows, and the errors for all the rest. The XML's table is held against the code's.
 */
#include <stdarg.h>

#include "daemon/base/error.h"
#include "daemon/bus/bus-args.h"
#include "daemon/call/call-classes.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/bus/bus-fixture.h"

typedef struct Fixture {
    sd_bus *bus;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->bus = bus_fixture_new_message_bus();
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    sd_bus_close_unref(self->bus);
}

/* @types and the rest as for sd_bus_message_append(). */
static QdCall *
read_options(Fixture *self, const QdCallClass *class, GError **error, const char *types, ...)
{
    sd_bus_message *message = bus_fixture_new_message(self->bus);
    QdCall *call = qd_call_new(class, NULL);
    va_list args;

    va_start(args, types);
    g_assert_cmpint(sd_bus_message_appendv(message, types, args), >=, 0);
    va_end(args);
    bus_fixture_seal(message);
    if (!qd_bus_read_options(message, call, error))
        call = qd_call_free(call);
    sd_bus_message_unref(message);
    return call;
}

static void
test_defaults(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdCall) call = read_options(self, &qd_query_text_call, &error, "a{sv}", 0);

    g_assert_no_error(error);
    g_assert_true(call->options.transfer.header);
    g_assert_true(call->options.quick);
    g_assert_false(call->options.execution.access_write);
    g_assert_false(call->options.execution.has_timeout);
    g_assert_cmpint(call->options.channel.transport, ==, QD_TRANSPORT_SOCKETPAIR);
    g_assert_cmpuint(call->options.channel.page_size, ==, 0);
}

static void
test_prepare(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdCall) call = read_options(self, &qd_prepare_call, &error, "a{sv}", 8, "transport", "s", "pipe", "page_size", "u",
                                          1048576, "access", "s", "write", "timeout_ms", "u", 0, "max_rows", "u", 5, "max_bytes",
                                          "u", UINT32_MAX, "durability", "s", "relaxed", "requested_usec", "t", UINT64_MAX);

    g_assert_no_error(error);
    g_assert_cmpint(call->options.channel.transport, ==, QD_TRANSPORT_PIPE);
    g_assert_cmpuint(call->options.channel.page_size, ==, 1048576);
    g_assert_true(call->options.execution.access_write);
    g_assert_true(call->options.execution.has_timeout);
    g_assert_cmpuint(call->options.execution.timeout_msec, ==, 0);
    g_assert_cmpuint(call->options.execution.max_rows, ==, 5);
    g_assert_cmpuint(call->options.execution.max_bytes, ==, UINT32_MAX);
    g_assert_true(call->options.execution.relaxed_durability);
    g_assert_cmpuint(call->options.channel.requested_usec, ==, UINT64_MAX);
}

static void
test_import(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdCall) call = read_options(self, &qd_import_call, &error, "a{sv}", 3, "table", "s", "t", "create", "b", TRUE,
                                          "header", "b", FALSE);

    g_assert_no_error(error);
    g_assert_cmpstr(call->options.transfer.table, ==, "t");
    g_assert_true(call->options.transfer.create);
    g_assert_false(call->options.transfer.header);
}

static void
test_page_sizes(Fixture *self, gconstpointer data)
{
    static const guint bad[] = { 0, 1, 4095, 2048, 5000, 65537, 2097152, UINT32_MAX };

    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(read_options(self, &qd_prepare_call, &error, "a{sv}", 1, "page_size", "u", bad[i]));
        g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
        g_assert_nonnull(strstr(error->message, "'page_size'"));
    }
    for (guint size = 4096; size <= 1048576; size *= 2) {
        g_autoptr(QdCall) call = read_options(self, &qd_prepare_call, NULL, "a{sv}", 1, "page_size", "u", size);

        g_assert_cmpuint(call->options.channel.page_size, ==, size);
    }
}

static void
test_bad_values(Fixture *self, gconstpointer data)
{
    static const struct {
        const QdCallClass *class;
        const char *key;
        const char *value;
        const char *message;
    } cases[] = {
        { &qd_prepare_call, "transport", "ringo",
          "option 'transport' cannot be 'ringo', expected 'socketpair', 'ring', 'pipe', 'vmsplice' or 'auto'" },
        { &qd_prepare_call, "access", "rw", "option 'access' cannot be 'rw', expected 'read' or 'write'" },
        { &qd_update_call, "durability", "", "option 'durability' cannot be '', expected 'full' or 'relaxed'" },
        { &qd_import_call, "table", "", "option 'table' cannot be '', expected the name of a table" },
        { &qd_prepare_call, "page_size", "65536", "option 'page_size' has the type 'u'" },
        { &qd_prepare_call, "requested_usec", "1", "option 'requested_usec' has the type 't'" },
        { &qd_query_call, "requested_usec", "1", "this method has no option 'requested_usec'" },
        { &qd_query_call, "header", "1", "this method has no option 'header'" },
        { &qd_backup_call, "timeout_ms", "1", "this method has no option 'timeout_ms'" },
        { &qd_query_call, "Timeout_ms", "1", "unknown option 'Timeout_ms'" },
        { &qd_query_call, "", "", "unknown option ''" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(read_options(self, cases[i].class, &error, "a{sv}", 1, cases[i].key, "s", cases[i].value));
        g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
}

static void
test_twice(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(read_options(self, &qd_query_call, &error, "a{sv}", 2, "max_rows", "u", 1, "max_rows", "u", 2));
    g_assert_cmpstr(error->message, ==, "option 'max_rows' is given twice");
    g_clear_error(&error);
    /* also when it owns something */
    g_assert_null(read_options(self, &qd_import_call, &error, "a{sv}", 2, "table", "s", "a", "table", "s", "b"));
    g_assert_cmpstr(error->message, ==, "option 'table' is given twice");
}

/* The comment's table in the XML: "key type  text  Method Method…", the type's letter after the key. */
static gboolean
xml_knows(const char *xml, const char *key, const char *type, const char *method)
{
    g_auto(GStrv) lines = g_strsplit(xml, "\n", -1);
    g_autofree char *start = g_strdup_printf("%s %s ", key, type);
    const char *all = g_str_equal(method, "Import") ? "Import" : "all statements";

    for (char **line = lines; *line != NULL; line++) {
        const char *text = g_strchug(*line);

        if (g_str_has_prefix(text, start))
            return strstr(text, method) != NULL || strstr(text, all) != NULL;
    }
    return FALSE;
}

static void
test_xml_table(Fixture *self, gconstpointer data)
{
    static const QdCallClass *const classes[] = { &qd_prepare_call, &qd_query_call,   &qd_query_text_call, &qd_update_call,
                                                  &qd_batch_call,   &qd_explain_call, &qd_export_call,     &qd_import_call };
    static const char *const options[] = { "transport s", "page_size u",      "access s",  "timeout_ms u", "max_rows u",
                                           "max_bytes u", "durability s",     "analyze b", "table s",      "create b",
                                           "header b",    "requested_usec t", "session t" };
    g_autofree char *path = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "data", "org.queryd.Query1.xml", NULL);
    g_autofree char *xml = NULL;

    g_assert_true(g_file_get_contents(path, &xml, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
        g_auto(GStrv) words = g_strsplit(options[i], " ", 2);

        for (guint k = 0; k < G_N_ELEMENTS(classes); k++) {
            g_autoptr(GError) error = NULL;
            /* "Query" is the beginning of other names */
            g_autofree char *method = g_strconcat(classes[k]->name, classes[k] == &qd_query_call ? " " : "", NULL);

            /* A wrong type tells whether the option is known. */
            g_assert_null(read_options(self, classes[k], &error, "a{sv}", 1, words[0], "d", 0.0));
            if (xml_knows(xml, words[0], words[1], method) != (strstr(error->message, "has the type") != NULL))
                g_error("%s of %s: the XML and the code differ", words[0], method);
        }
    }
}

#define ADD(path, func) g_test_add("/bus/options/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("defaults", test_defaults);
    ADD("prepare", test_prepare);
    ADD("import", test_import);
    ADD("page-sizes", test_page_sizes);
    ADD("bad-values", test_bad_values);
    ADD("twice", test_twice);
    ADD("xml-table", test_xml_table);
    return g_test_run();
}
