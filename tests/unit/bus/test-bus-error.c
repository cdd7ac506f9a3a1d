/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts: what qd_bus_is_text() allows is what sd-bus takes, for every code point and for bytes that are none.
 */
#include "daemon/bus/bus-error.h"

#include "daemon/base/error.h"
#include "tests/unit/bus/bus-fixture.h"

static gboolean
sd_bus_takes(sd_bus *bus, const char *text)
{
    sd_bus_message *message = bus_fixture_new_message(bus);
    int r;

    r = sd_bus_message_append_basic(message, 's', text);
    sd_bus_message_unref(message);
    return r >= 0;
}

static void
test_every_code_point(void)
{
    sd_bus *bus = bus_fixture_new_message_bus();

    for (gunichar c = 1; c < 0x110000; c++) {
        char text[8] = "";
        int n_bytes;

        /* All of the first plane, and the edges of the others. */
        if (c > 0x10100 && (c & 0xffff) > 0x100 && (c & 0xffff) < 0xff00)
            continue;
        n_bytes = g_unichar_to_utf8(c, text);
        if (qd_bus_is_text(text, (gsize) n_bytes) != sd_bus_takes(bus, text))
            g_error("U+%04X: sd-bus thinks otherwise", c);
    }
    sd_bus_close_unref(bus);
}

static void
test_bad_bytes(void)
{
    static const char *const cases[] = { "\xff",         "a\xc3",       "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                         "\xef\xbf\xbf", "\xef\xb7\x90" };
    sd_bus *bus = bus_fixture_new_message_bus();

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *made = qd_bus_make_text(cases[i], strlen(cases[i]));

        g_assert_false(qd_bus_is_text(cases[i], strlen(cases[i])));
        g_assert_false(sd_bus_takes(bus, cases[i]));
        g_assert_true(sd_bus_takes(bus, made));
        g_assert_nonnull(strstr(made, "\xef\xbf\xbd"));
    }
    sd_bus_close_unref(bus);
}

static void
test_nul(void)
{
    g_autofree char *made = qd_bus_make_text("a\0b", 3);

    g_assert_false(qd_bus_is_text("a\0b", 3));
    g_assert_true(qd_bus_is_text("", 0));
    g_assert_cmpstr(made, ==,
                    "a\xef\xbf\xbd"
                    "b");
}

/* Texts are looked at eight bytes at a time. */
static void
test_bad_byte_at_each_place(void)
{
    static const char bad_bytes[] = { '\0', '\x80', '\xff' };

    for (gsize n = 1; n <= 40; n++) {
        g_autofree char *text = g_strnfill(n, 'a');

        g_assert_true(qd_bus_is_text(text, n));
        for (gsize i = 0; i < n; i++) {
            for (gsize k = 0; k < sizeof bad_bytes; k++) {
                text[i] = bad_bytes[k];
                g_assert_false(qd_bus_is_text(text, n));
            }
            text[i] = i % 2 == 0 ? '\x01' : '\x7f';
            g_assert_true(qd_bus_is_text(text, n));
        }
    }
}

static void
test_return_error(void)
{
    g_autoptr(GError) error = NULL;
    sd_bus_error bus_error = SD_BUS_ERROR_NULL;

    qd_error_set(&error, QW_ERROR_CONSTRAINT, "%s", "bad \xef\xbf\xbe and \xff");
    g_assert_cmpint(qd_bus_return_error(&bus_error, error), <, 0);
    g_assert_cmpstr(bus_error.name, ==, "org.queryd.Query1.Error.Constraint");
    g_assert_cmpstr(bus_error.message, ==, "bad \xef\xbf\xbd and \xef\xbf\xbd");
    sd_bus_error_free(&bus_error);

    g_assert_cmpint(qd_bus_return_error(&bus_error, NULL), <, 0);
    g_assert_cmpstr(bus_error.name, ==, "org.queryd.Query1.Error.Internal");
    sd_bus_error_free(&bus_error);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bus/error/every-code-point", test_every_code_point);
    g_test_add_func("/bus/error/bad-bytes", test_bad_bytes);
    g_test_add_func("/bus/error/nul", test_nul);
    g_test_add_func("/bus/error/bad-byte-at-each-place", test_bad_byte_at_each_place);
    g_test_add_func("/bus/error/return-error", test_return_error);
    return g_test_run();
}
