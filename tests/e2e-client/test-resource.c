/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryNamespaces and QueryResource with the real daemon on a private bus: what was stored is what is read, with any string.
 */
#include <math.h>
#include <string.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SPARQL QUERY_LANGUAGE_SPARQL
#define EX "http://example.org/"
#define N_STRINGS 400u

static PrivateBus *bus;

static QueryNamespaces *
make_namespaces(void)
{
    g_autoptr(GError) error = NULL;
    QueryNamespaces *namespaces = query_namespaces_new();

    (void) query_namespaces_add(namespaces, "ex", EX, &error);
    g_assert_no_error(error);
    (void) query_namespaces_add(namespaces, "", EX "deep/", &error);
    g_assert_no_error(error);
    return namespaces;
}

static void
store(QueryResource *resource, QueryConnection *connection, const char *graph)
{
    g_autoptr(GError) error = NULL;

    (void) query_resource_store(resource, connection, graph, NULL, &error);
    g_assert_no_error(error);
}

static QueryResource *
read_back(QueryConnection *connection, const char *name, const char *graph)
{
    g_autoptr(QueryNamespaces) namespaces = make_namespaces();
    g_autoptr(GError) error = NULL;
    QueryResource *resource = query_resource_read(connection, name, graph, namespaces, NULL, &error);

    g_assert_no_error(error);
    return resource;
}

static void
test_namespaces(void)
{
    g_autoptr(QueryNamespaces) namespaces = make_namespaces();
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) prefixes = query_namespaces_list_prefixes(namespaces);
    g_autofree char *listed = g_strjoinv(" ", prefixes);
    g_autofree char *sparql = query_namespaces_to_sparql(namespaces);
    const struct {
        const char *name, *iri, *compact;
    } cases[] = {
        { "ex:a", EX "a", "ex:a" },
        { ":b", EX "deep/b", ":b" },
        { "ex:deep/c", EX "deep/c", ":c" },
        { "<http://other.org/x>", "http://other.org/x", "<http://other.org/x>" },
        { "urn:a:b", "urn:a:b", "<urn:a:b>" },
        { "ex:a.b", EX "a.b", "<" EX "a.b>" },
        { "rdf:type", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "rdf:type" },
    };
    const char *const bad[] = { "nothing", "", "unknown", "ex:a b", "ex:<", "http://a\nb", "ex:\"" };

    g_assert_cmpstr(listed, ==, " ex rdf rdfs xsd");
    g_assert_true(g_str_has_prefix(sparql, "PREFIX : <" EX "deep/>\nPREFIX ex: <" EX ">\n"));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *iri = query_namespaces_expand(namespaces, cases[i].name, &error);
        g_autofree char *compact = iri != NULL ? query_namespaces_compact(namespaces, iri) : NULL;

        g_assert_no_error(error);
        g_assert_cmpstr(iri, ==, cases[i].iri);
        g_assert_cmpstr(compact, ==, cases[i].compact);
    }
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_null(query_namespaces_expand(namespaces, bad[i], &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_clear_error(&error);
    }
    g_assert_false(query_namespaces_add(namespaces, "a b", EX, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_assert_true(query_namespaces_remove(namespaces, "ex"));
    g_assert_false(query_namespaces_remove(namespaces, "ex"));
}

static void
test_stored_namespaces(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryNamespaces) namespaces = NULL;
    g_autoptr(GAsyncResult) result = NULL;
    g_autoptr(GError) error = NULL;

    query_namespaces_new_from_store_async(connection, NULL, client_keep_result, &result);
    (void) client_wait_for(&result);
    namespaces = query_namespaces_new_from_store_finish(result, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(query_namespaces_lookup(namespaces, "xsd"), ==, "http://www.w3.org/2001/XMLSchema#");
}

/* What text formats trip over, and random code points. */
static char *
make_string(guint i)
{
    const char *const bad[] = { "",
                                "\"",
                                "\\",
                                "\n\r\t\f\b\v",
                                "\"\"\"",
                                "'''",
                                "\\u0041",
                                "\\",
                                "} } ; DROP ALL #",
                                "<x> ?y $z",
                                "\x7f\x01\x1f",
                                "\xc2\x80\xc2\xa0",
                                "@en",
                                "^^<x>",
                                "\xf4\x8f\xbf\xbf",
                                "\xef\xbf\xbd\xef\xbb\xbf",
                                "a\\",
                                "\\\"",
                                "%s%n",
                                " \n" };
    GString *text = g_string_new(i < G_N_ELEMENTS(bad) ? bad[i] : NULL);

    for (guint n = i < G_N_ELEMENTS(bad) ? 0 : (guint) g_test_rand_int_range(1, 30); n > 0; n--) {
        gunichar c = (gunichar) (g_test_rand_bit() ? g_test_rand_int_range(1, 0x80) : g_test_rand_int_range(1, 0x110000));

        g_string_append_unichar(text, c >= 0xd800 && c < 0xe000 ? '"' : c);
    }
    return g_string_free(text, FALSE);
}

static void
test_hostile_strings(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryNamespaces) namespaces = make_namespaces();
    g_autoptr(QueryResource) resource = query_resource_new("ex:hostile", namespaces);
    g_autoptr(QueryResource) found = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *turtle = NULL;

    for (guint i = 0; i < N_STRINGS; i++) {
        g_autofree char *property = g_strdup_printf("ex:p%u", i);
        g_autofree char *text = make_string(i);

        if (i % 3 == 0)
            (void) query_resource_add_string(resource, property, text, &error);
        else
            (void) query_resource_add_literal(resource, property, text, i % 3 == 1 ? "ex:type" : NULL, i % 3 == 2 ? "de-at" : NULL,
                                              &error);
        g_assert_no_error(error);
    }
    store(resource, connection, NULL);
    found = read_back(connection, "ex:hostile", NULL);
    for (guint i = 0; i < N_STRINGS; i++) {
        g_autofree char *property = g_strdup_printf("ex:p%u", i);
        g_autoptr(GVariant) before = query_resource_get_value(resource, property, 0);
        g_autoptr(GVariant) after = query_resource_get_value(found, property, 0);

        g_assert_cmpuint(query_resource_get_n_values(found, property), ==, 1);
        g_assert_cmpvariant(before, after);
    }

    /* its Turtle says the same to the daemon */
    turtle = query_resource_to_turtle(resource, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(turtle, "PREFIX ex: <" EX ">"));
    g_assert_nonnull(strstr(turtle, "ex:hostile ex:p0 \"\" ."));
}

static void
test_values(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryNamespaces) namespaces = make_namespaces();
    g_autoptr(QueryResource) song = query_resource_new("ex:song", namespaces);
    g_autoptr(QueryResource) artist = query_resource_new("ex:artist", namespaces);
    g_autoptr(QueryResource) cover = query_resource_new(NULL, namespaces);
    g_autoptr(GDateTime) time = g_date_time_new_utc(2026, 11, 23, 10, 30, 1);
    g_autoptr(QueryResource) found = NULL;
    g_autoptr(QueryResource) found_artist = NULL;
    g_autoptr(GVariant) number = NULL;
    g_auto(GStrv) names = NULL;

    g_assert_true(query_resource_set_string(song, "ex:title", "Blue Rivers", NULL));
    g_assert_true(query_resource_add_int64(song, "ex:number", G_MININT64, NULL));
    g_assert_true(query_resource_add_double(song, "ex:gain", -INFINITY, NULL));
    g_assert_true(query_resource_add_boolean(song, "ex:liked", TRUE, NULL));
    g_assert_true(query_resource_add_date_time(song, "ex:added", time, NULL));
    g_assert_true(query_resource_add_iri(song, "rdf:type", "ex:Song", NULL));
    g_assert_true(query_resource_add_resource(song, "ex:by", artist, NULL));
    g_assert_true(query_resource_add_resource(song, "ex:cover", cover, NULL));
    g_assert_true(query_resource_add_resource(artist, "ex:photo", cover, NULL)); /* one blank node of two */
    g_assert_true(query_resource_add_resource(artist, "ex:hit", song, NULL));    /* a circle */
    g_assert_true(query_resource_add_int64(cover, "ex:width", 500, NULL));
    for (int i = 0; i < 3; i++)
        g_assert_true(query_resource_add_int64(song, "ex:track", i, NULL));
    store(song, connection, EX "music");

    found = read_back(connection, "ex:song", EX "music");
    names = query_resource_list_properties(found);
    g_assert_cmpuint(g_strv_length(names), ==, 9);
    g_assert_cmpstr(query_resource_get_string(found, "ex:number", 0), ==, "-9223372036854775808");
    number = query_resource_get_value(found, "ex:gain", 0);
    g_assert_cmpstr(query_resource_get_string(found, "ex:gain", 0), ==, "-INF");
    g_assert_cmpstr(query_resource_get_string(found, "ex:liked", 0), ==, "true");
    g_assert_cmpstr(query_resource_get_string(found, "ex:added", 0), ==, "2026-11-23T10:30:01Z");
    g_assert_cmpstr(query_resource_get_string(found, "rdf:type", 0), ==, EX "Song");
    g_assert_cmpuint(query_resource_get_n_values(found, "ex:track"), ==, 3);
    g_assert_null(query_resource_get_resource(found, "ex:by", 0));
    g_assert_cmpstr(query_resource_get_string(query_resource_get_resource(found, "ex:cover", 0), "ex:width", 0), ==, "500");
    found_artist = read_back(connection, "ex:artist", EX "music");
    g_assert_cmpuint(query_resource_get_n_values(found_artist, "ex:photo"), ==, 1);
    g_assert_cmpuint(query_resource_get_n_values(found, "ex:nothing"), ==, 0);
    (void) query_resource_clear(artist, "ex:hit", NULL); /* the circle of references */
}

static gint64
count(QueryConnection *connection, const char *pattern)
{
    g_autofree char *text = g_strdup_printf("SELECT (COUNT(*) AS ?n) WHERE { %s }", pattern);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SPARQL, text, NULL, NULL, &error);

    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    return query_cursor_get_int64(cursor, 0);
}

static void
test_changes(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryNamespaces) namespaces = make_namespaces();
    g_autoptr(QueryResource) first = query_resource_new("ex:changed", namespaces);
    g_autoptr(QueryResource) second = NULL;
    g_autoptr(QueryResource) note = query_resource_new(NULL, namespaces);
    g_autoptr(GError) error = NULL;
    g_autofree char *nothing = NULL;

    g_assert_true(query_resource_add_string(first, "ex:name", "one", NULL));
    g_assert_true(query_resource_add_string(first, "ex:name", "two", NULL));
    g_assert_true(query_resource_add_string(first, "ex:kept", "yes", NULL));
    g_assert_true(query_resource_add_resource(first, "ex:note", note, NULL));
    g_assert_true(query_resource_add_string(note, "ex:text", "small", NULL));
    store(first, connection, NULL);
    g_assert_cmpint(count(connection, "<" EX "changed> ?p ?o"), ==, 4);

    second = read_back(connection, "ex:changed", NULL);
    nothing = query_resource_to_update(second, NULL, &error);
    g_assert_cmpstr(nothing, ==, "");
    g_assert_true(query_resource_set_string(second, "ex:name", "three", NULL));
    g_assert_true(query_resource_add_string(second, "ex:more", "four", NULL));
    store(second, connection, NULL);
    g_assert_cmpint(count(connection, "<" EX "changed> <" EX "name> ?o"), ==, 1);
    g_assert_cmpint(count(connection, "<" EX "changed> ?p ?o"), ==, 4);
    g_assert_cmpint(count(connection, "?s <" EX "text> ?o"), ==, 1); /* the blank node was not made again */

    g_assert_true(query_resource_add_string(query_resource_get_resource(second, "ex:note", 0), "ex:text", "large", NULL));
    g_assert_false(query_resource_store(second, connection, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED);
}

static void
test_async(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryResource) resource = query_resource_new(EX "later", NULL);
    g_autoptr(QueryResource) found = NULL;
    g_autoptr(GAsyncResult) stored = NULL;
    g_autoptr(GAsyncResult) result = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_true(query_resource_set_int64(resource, EX "n", 7, NULL));
    query_resource_store_async(resource, connection, NULL, NULL, client_keep_result, &stored);
    (void) client_wait_for(&stored);
    g_assert_true(query_resource_store_finish(resource, stored, &error));
    g_assert_no_error(error);
    query_resource_read_async(connection, EX "later", NULL, NULL, NULL, client_keep_result, &result);
    (void) client_wait_for(&result);
    found = query_resource_read_finish(result, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(query_resource_get_string(found, EX "n", 0), ==, "7");
}

static void
test_errors(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryResource) nameless = query_resource_new("no name", NULL);
    g_autoptr(QueryResource) resource = query_resource_new(EX "errors", NULL);
    g_autoptr(GError) error = NULL;
    const gboolean refused[] = {
        query_resource_add_string(resource, "no property", "x", NULL),
        query_resource_add_string(resource, EX "p", "\xff", NULL),
        query_resource_add_iri(resource, EX "p", "a> <b", NULL),
        query_resource_add_literal(resource, EX "p", "x", NULL, "en us", NULL),
        query_resource_add_literal(resource, EX "p", "x", EX "type", "en", NULL),
        query_resource_add_literal(resource, EX "p", "x", "type\"", NULL, NULL),
        query_resource_add_resource(resource, EX "p", nameless, NULL),
        query_resource_store(resource, connection, "a> { } } ; DROP ALL #", NULL, NULL),
    };

    for (guint i = 0; i < G_N_ELEMENTS(refused); i++)
        g_assert_false(refused[i]);
    g_assert_cmpuint(query_resource_get_n_values(resource, EX "p"), ==, 0);
    g_assert_false(query_resource_store(nameless, connection, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    g_assert_null(query_resource_read(connection, "no name", NULL, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
}

int
main(int argc, char **argv)
{
    int r;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/resource/namespaces", test_namespaces);
    g_test_add_func("/resource/stored-namespaces", test_stored_namespaces);
    g_test_add_func("/resource/hostile-strings", test_hostile_strings);
    g_test_add_func("/resource/values", test_values);
    g_test_add_func("/resource/changes", test_changes);
    g_test_add_func("/resource/async", test_async);
    g_test_add_func("/resource/errors", test_errors);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
