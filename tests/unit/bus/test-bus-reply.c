/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows into messages: RDF terms, names that are no text, pages that lie, replies that get too large.
 */
#include "daemon/bus/bus-reply.h"

#include <errno.h>

#include "client-lib/wire/wire-page-writer.h"
#include "daemon/call/call-classes.h"
#include "tests/unit/bus/bus-fixture.h"

typedef struct Fixture {
    sd_bus *bus;
    sd_bus_message *message;
    QdCall *call;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->bus = bus_fixture_new_message_bus();
    self->message = bus_fixture_new_message(self->bus);
    self->call = qd_call_new(&qd_query_call, NULL);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    sd_bus_message_unref(self->message);
    (void) qd_call_free(self->call);
    sd_bus_close_unref(self->bus);
}

static void
add_column(Fixture *self, const char *name)
{
    QdCallColumn column = { .name = g_strdup(name), .decl_type = g_strdup("") };

    g_array_append_val(self->call->result.columns, column);
}

static void
add_page(Fixture *self, const QwValue *values, guint n_values, uint32_t n_rows)
{
    gsize capacity = 4096;
    g_autofree guint8 *data = NULL;
    QwPageWriter writer;

    for (guint i = 0; i < n_values; i++)
        capacity += values[i].type > QW_TYPE_FLOAT ? values[i].n_bytes : 8;
    data = g_malloc0(capacity);
    qw_page_writer_init(&writer, data, capacity, n_values);
    g_assert_cmpint(qw_row_begin(&writer), ==, 0);
    for (guint i = 0; i < n_values; i++)
        g_assert_cmpint(qw_row_put_value(&writer, &values[i]), ==, 0);
    g_assert_cmpint(qw_row_end(&writer), ==, 0);
    g_ptr_array_add(self->call->result.pages, g_bytes_new(data + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE));
    g_array_append_val(self->call->result.page_rows, n_rows);
}

static void
assert_term(sd_bus_message *message, const char *lexical, const char *datatype, const char *language)
{
    const char *got[3];

    g_assert_cmpint(sd_bus_message_read(message, "v", "(sss)", &got[0], &got[1], &got[2]), >, 0);
    g_assert_cmpstr(got[0], ==, lexical);
    g_assert_cmpstr(got[1], ==, datatype);
    g_assert_cmpstr(got[2], ==, language);
}

static void
test_terms(Fixture *self, gconstpointer data)
{
    const QwValue values[] = {
        { .type = QW_TYPE_IRI, .data = "urn:x", .n_bytes = 5 },
        { .type = QW_TYPE_BNODE, .data = "b1", .n_bytes = 2 },
        { .type = QW_TYPE_LITERAL_LANG, .data = "hi", .n_bytes = 2, .tag = "en", .n_tag_bytes = 2 },
        { .type = QW_TYPE_LITERAL_TYPED, .data = "\xff", .n_bytes = 1, .tag = "urn:t", .n_tag_bytes = 5 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        add_column(self, "c");
    add_page(self, values, G_N_ELEMENTS(values), 1);
    g_assert_cmpint(qd_bus_append_rows(self->message, self->call), >=, 0);
    bus_fixture_seal(self->message);
    g_assert_cmpint(sd_bus_message_enter_container(self->message, 'a', "av"), >, 0);
    g_assert_cmpint(sd_bus_message_enter_container(self->message, 'a', "v"), >, 0);
    assert_term(self->message, "urn:x", "@id", "");
    assert_term(self->message, "b1", "@bnode", "");
    assert_term(self->message, "hi", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en");
    assert_term(self->message, "\xef\xbf\xbd", "urn:t", "");
}

static void
test_names(Fixture *self, gconstpointer data)
{
    const char *names[2];

    add_column(self, "a\xff");
    add_column(self, "");
    g_assert_cmpint(qd_bus_append_column_names(self->message, self->call->result.columns), >=, 0);
    bus_fixture_seal(self->message);
    g_assert_cmpint(sd_bus_message_read(self->message, "as", 2, &names[0], &names[1]), >, 0);
    g_assert_cmpstr(names[0], ==, "a\xef\xbf\xbd");
    g_assert_cmpstr(names[1], ==, "");
}

static void
test_bad_page(Fixture *self, gconstpointer data)
{
    const QwValue value = { .type = QW_TYPE_INTEGER, .integer = 1 };

    add_column(self, "c");
    add_page(self, &value, 1, 2); /* it holds one row */
    g_assert_cmpint(qd_bus_append_rows(self->message, self->call), ==, -EBADMSG);
}

static void
test_too_large(Fixture *self, gconstpointer data)
{
    gsize n_bytes = 30 * 1024 * 1024;
    g_autofree char *blob = g_malloc0(n_bytes);
    const QwValue value = { .type = QW_TYPE_BLOB, .data = blob, .n_bytes = (uint32_t) n_bytes };

    add_column(self, "c");
    for (guint i = 0; i < 5; i++)
        add_page(self, &value, 1, 1);
    g_assert_cmpint(qd_bus_append_rows(self->message, self->call), ==, -EMSGSIZE);
}

static void
test_no_columns(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(qd_bus_append_column_names(self->message, self->call->result.columns), >=, 0);
    g_assert_cmpint(qd_bus_append_rows(self->message, self->call), >=, 0);
    bus_fixture_seal(self->message);
    g_assert_cmpstr(sd_bus_message_get_signature(self->message, TRUE), ==, "asaav");
}

#define ADD(path, func) g_test_add("/bus/reply/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("terms", test_terms);
    ADD("names", test_names);
    ADD("bad-page", test_bad_page);
    ADD("too-large", test_too_large);
    ADD("no-columns", test_no_columns);
    return g_test_run();
}
