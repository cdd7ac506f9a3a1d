/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which URLs and addresses a list of endpoints allows.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/service/service-allow.h"

static const char *const entries[] = { "https://example.org/sparql",
                                       "http://example.com",
                                       "http://127.0.0.1:3030/ds/",
                                       "http://LOCALHOST:1",
                                       "http://[::1]:2/",
                                       "http://example.net/.well-known/sparql",
                                       NULL };
static const char *const hosts[] = { "intern.example.com", NULL };

static ServiceAllow *
make(const char *const *urls)
{
    g_autofree char *bad = NULL;
    ServiceAllow *allow = service_allow_new(urls, hosts, &bad);

    g_assert_null(bad);
    return allow;
}

static gboolean
allows(const ServiceAllow *allow, const char *url)
{
    g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_SCHEME_NORMALIZE | G_URI_FLAGS_ENCODED_PATH, NULL);
    g_autoptr(GError) error = NULL;
    gboolean ok;

    g_assert_nonnull(uri);
    ok = service_allow_check_url(allow, uri, &error);
    if (!ok)
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED);
    return ok;
}

static gboolean
reaches(const ServiceAllow *allow, const char *url, const char *address)
{
    g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_SCHEME_NORMALIZE | G_URI_FLAGS_ENCODED_PATH, NULL);
    g_autoptr(GInetAddress) inet = g_inet_address_new_from_string(address);
    g_autoptr(GError) error = NULL;

    g_assert_nonnull(inet);
    return service_allow_check_address(allow, uri, inet, &error);
}

static void
test_urls(void)
{
    static const char *const good[] = {
        "https://example.org/sparql",     "https://EXAMPLE.org:443/sparql", "https://example.org/sparql/x",
        "https://example.org/sparql?a=b", "http://example.com/any",         "http://example.com",
        "http://127.0.0.1:3030/ds/query", "http://localhost:1/x",           "http://example.net/.well-known/sparql",
    };
    static const char *const bad[] = {
        "http://example.org/sparql",
        "https://example.org/sparqlx",
        "https://example.org/",
        "https://example.org:444/sparql",
        "https://example.org/sparql/../admin",
        "https://example.org/sparql/%2e%2e/x",
        "https://example.org/sparql/x%2f..%2f..%2fadmin",
        "https://example.org/sparql/x%5c..%5C..%5cadmin",
        "https://example.org/sparql/%252e%252e/admin",
        "https://example.org/sparql/..;/admin",
        "https://example.org/sparql%2f",
        "https://example.org/SPARQL",
        "http://example.net/.well-known/sparql/../x",
        "https://example.org./sparql",
        "https://me:secret@example.org/sparql",
        "https://example.org@evil.example/sparql",
        "http://[0:0:0:0:0:0:0:1]:2/",
        "http://[::ffff:127.0.0.1]:3030/ds/query",
        "http://2130706433:3030/ds/query",
        "http://127.1:3030/ds/query",
        "http://127.0.0.1.:3030/ds/query",
        "https://example.org.evil/sparql",
        "http://127.0.0.1:3030/ds",
        "http://127.0.0.1/",
        "https://evil/https://example.org/sparql",
        "ftp://example.com/",
    };
    ServiceAllow *allow = make(entries);
    ServiceAllow *none = make(NULL);

    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        g_test_message("%s", good[i]);
        g_assert_true(allows(allow, good[i]));
        g_assert_false(allows(none, good[i]));
    }
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("%s", bad[i]);
        g_assert_false(allows(allow, bad[i]));
    }
    service_allow_free(allow);
    service_allow_free(none);
}

static void
test_addresses(void)
{
    static const char *const private[] = {
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "::ffff:0:127.0.0.1",
        "2002:7f00:1::",
        "2002:c0a8:101::1",
        "64:ff9b:1::1",
        "fec0::1",
    };
    static const char *const public[] = { "1.1.1.1",        "172.32.0.1",      "2606:4700::1111",
                                          "::ffff:1.1.1.1", "2002:101:101::1", "64:ff9b::101:101" };
    ServiceAllow *allow = make(entries);

    for (guint i = 0; i < G_N_ELEMENTS(private); i++) {
        g_test_message("%s", private[i]);
        g_assert_false(reaches(allow, "https://example.org/sparql", private[i]));
        g_assert_true(reaches(allow, "http://intern.example.com/", private[i]));
    }
    for (guint i = 0; i < G_N_ELEMENTS(public); i++)
        g_assert_true(reaches(allow, "https://example.org/sparql", public[i]));
    g_assert_true(reaches(allow, "http://127.0.0.1:3030/ds/", "127.0.0.1"));
    g_assert_true(reaches(allow, "http://localhost:1/", "::1"));
    g_assert_false(reaches(allow, "http://127.0.0.1:99/", "127.0.0.1"));
    service_allow_free(allow);
}

static void
test_entries(void)
{
    static const char *const odd[] = { "*", "example.org", "https://a:b@example.org/", "ftp://x/", "https://x/?q", NULL };
    g_autofree char *bad = NULL;
    ServiceAllow *allow = service_allow_new(odd, NULL, &bad);

    g_assert_cmpstr(bad, ==, "example.org");
    g_assert_true(allows(allow, "https://anywhere.example/x"));
    g_assert_false(reaches(allow, "https://anywhere.example/x", "192.168.0.1"));
    g_assert_false(reaches(allow, "http://127.0.0.1/", "127.0.0.1"));
    service_allow_free(allow);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/service-allow/urls", test_urls);
    g_test_add_func("/service-allow/addresses", test_addresses);
    g_test_add_func("/service-allow/entries", test_entries);
    return g_test_run();
}
