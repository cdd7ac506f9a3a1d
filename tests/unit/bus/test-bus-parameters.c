/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters a{sv}: each D-Bus type becomes its value, everything else is an error that names the parameter.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/bus/bus-args.h"
#include "tests/unit/bus/bus-fixture.h"

typedef struct Fixture {
    sd_bus *bus;
    sd_bus_message *message;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->bus = bus_fixture_new_message_bus();
    self->message = bus_fixture_new_message(self->bus);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    sd_bus_message_unref(self->message);
    sd_bus_close_unref(self->bus);
}

static QdParameters *
read_ok(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    QdParameters *parameters;

    bus_fixture_seal(self->message);
    parameters = qd_bus_read_parameters(self->message, QD_LANGUAGE_SQL, &error);
    g_assert_no_error(error);
    return parameters;
}

static void
read_error(Fixture *self, const char *text)
{
    g_autoptr(GError) error = NULL;

    bus_fixture_seal(self->message);
    g_assert_null(qd_bus_read_parameters(self->message, QD_LANGUAGE_SQL, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
    g_assert_cmpstr(error->message, ==, text);
}

static void
test_integers(Fixture *self, gconstpointer data)
{
    static const int64_t expected[] = { 255, 1, -32768, 65535, INT32_MIN, UINT32_MAX, INT64_MIN, INT64_MAX };
    g_autoptr(QdParameters) parameters = NULL;

    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 8, "1", "y", 255, "2", "b", TRUE, "3", "n", -32768, "4", "q",
                                          65535, "5", "i", INT32_MIN, "6", "u", UINT32_MAX, "7", "x", INT64_MIN, "8", "t",
                                          (uint64_t) INT64_MAX),
                    >=, 0);
    parameters = read_ok(self);
    g_assert_cmpuint(qd_parameters_get_n(parameters), ==, 8);
    for (guint i = 0; i < 8; i++) {
        const QwValue *value = qd_parameters_get_value(parameters, i);
        g_autofree char *key = g_strdup_printf("%u", i + 1);

        g_assert_cmpstr(qd_parameters_get_key(parameters, i), ==, key);
        g_assert_cmpint(value->type, ==, QW_TYPE_INTEGER);
        g_assert_cmpint(value->integer, ==, expected[i]);
    }
}

static void
test_booleans_of_sparql(Fixture *self, gconstpointer data)
{
    static const char *const expected[] = { "true", "false" };
    g_autoptr(QdParameters) parameters = NULL;

    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 2, "x", "b", TRUE, "y", "b", FALSE), >=, 0);
    bus_fixture_seal(self->message);
    parameters = qd_bus_read_parameters(self->message, QD_LANGUAGE_SPARQL, NULL);
    g_assert_nonnull(parameters);
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        const QwValue *value = qd_parameters_get_value(parameters, i);

        g_assert_cmpint(value->type, ==, QW_TYPE_LITERAL_TYPED);
        g_assert_cmpmem(value->data, value->n_bytes, expected[i], strlen(expected[i]));
        g_assert_cmpstr(value->tag, ==, "http://www.w3.org/2001/XMLSchema#boolean");
        g_assert_cmpuint(value->n_tag_bytes, ==, strlen(value->tag));
    }
}

static void
test_others(Fixture *self, gconstpointer data)
{
    g_autoptr(QdParameters) parameters = NULL;
    const QwValue *value;

    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 5, ":d", "d", 0.5, ":s", "s", "\xc3\xa9", ":ay", "ay", 3, 0, 1, 2,
                                          ":empty", "ay", 0, ":null", "g", ""),
                    >=, 0);
    parameters = read_ok(self);
    g_assert_cmpuint(qd_parameters_get_n(parameters), ==, 5);
    value = qd_parameters_get_value(parameters, 0);
    g_assert_cmpint(value->type, ==, QW_TYPE_FLOAT);
    g_assert_cmpfloat(value->real, ==, 0.5);
    value = qd_parameters_get_value(parameters, 1);
    g_assert_cmpint(value->type, ==, QW_TYPE_TEXT);
    g_assert_cmpmem(value->data, value->n_bytes, "\xc3\xa9", 2);
    value = qd_parameters_get_value(parameters, 2);
    g_assert_cmpint(value->type, ==, QW_TYPE_BLOB);
    g_assert_cmpmem(value->data, value->n_bytes, "\0\1\2", 3);
    value = qd_parameters_get_value(parameters, 3);
    g_assert_cmpint(value->type, ==, QW_TYPE_BLOB);
    g_assert_cmpuint(value->n_bytes, ==, 0);
    g_assert_cmpint(qd_parameters_get_value(parameters, 4)->type, ==, QW_TYPE_NULL);
}

static void
test_terms(Fixture *self, gconstpointer data)
{
    static const struct {
        const char *datatype;
        const char *language;
        QwType type;
        const char *tag;
    } cases[] = {
        { "@id", "", QW_TYPE_IRI, NULL },
        { "@bnode", "", QW_TYPE_BNODE, NULL },
        { "", "", QW_TYPE_TEXT, NULL },
        { "", "en", QW_TYPE_LITERAL_LANG, "en" },
        { "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "de", QW_TYPE_LITERAL_LANG, "de" },
        { "urn:t", "", QW_TYPE_LITERAL_TYPED, "urn:t" },
    };
    g_autoptr(QdParameters) parameters = NULL;

    g_assert_cmpint(sd_bus_message_open_container(self->message, 'a', "{sv}"), >=, 0);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *key = g_strdup_printf("%u", i);

        g_assert_cmpint(sd_bus_message_append(self->message, "{sv}", key, "(sss)", "lex", cases[i].datatype, cases[i].language), >=,
                        0);
    }
    g_assert_cmpint(sd_bus_message_close_container(self->message), >=, 0);

    parameters = read_ok(self);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const QwValue *value = qd_parameters_get_value(parameters, i);

        g_assert_cmpint(value->type, ==, cases[i].type);
        g_assert_cmpmem(value->data, value->n_bytes, "lex", 3);
        g_assert_cmpstr(value->tag, ==, cases[i].tag);
        g_assert_cmpuint(value->n_tag_bytes, ==, cases[i].tag != NULL ? strlen(cases[i].tag) : 0);
    }
}

static void
test_none(Fixture *self, gconstpointer data)
{
    g_autoptr(QdParameters) parameters = NULL;

    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 0), >=, 0);
    parameters = read_ok(self);
    g_assert_cmpuint(qd_parameters_get_n(parameters), ==, 0);
}

static void
test_too_large(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 1, ":big", "t", (uint64_t) INT64_MAX + 1), >=, 0);
    read_error(self, "parameter ':big': 9223372036854775808 is above the largest integer of SQL");
}

static void
test_signature_value(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 1, ":g", "g", "as"), >=, 0);
    read_error(self, "parameter ':g': the only value of type 'g' is the empty one, for NULL");
}

static void
test_wrong_type(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 1, ":as", "as", 1, "x"), >=, 0);
    read_error(self, "parameter ':as': no value can have the type 'as'; there are b y n q i u x t d s ay, g and (sss)");
}

static void
test_variant_in_variant(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 1, ":v", "v", "s", "x"), >=, 0);
    read_error(self, "parameter ':v': no value can have the type 'v'; there are b y n q i u x t d s ay, g and (sss)");
}

static void
test_twice(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sd_bus_message_append(self->message, "a{sv}", 2, ":a", "i", 1, ":a", "i", 2), >=, 0);
    read_error(self, "parameter ':a' is given twice");
}

#define ADD(path, func) g_test_add("/bus/parameters/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("integers", test_integers);
    ADD("booleans-of-sparql", test_booleans_of_sparql);
    ADD("others", test_others);
    ADD("terms", test_terms);
    ADD("none", test_none);
    ADD("too-large", test_too_large);
    ADD("signature-value", test_signature_value);
    ADD("wrong-type", test_wrong_type);
    ADD("variant-in-variant", test_variant_in_variant);
    ADD("twice", test_twice);
    return g_test_run();
}
