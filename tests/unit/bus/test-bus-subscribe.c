/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subscribe and Stale: which subscriptions are reported, once an interval, also when the schema changes below a query; limits;
 * Close.
 */
#include "daemon/bus/bus-subscribe.h"

#include "daemon/notify/changes.h"
#include "tests/unit/bus/bus-fixture.h"

#define SUBSCRIPTION_INTERFACE BUS_FIXTURE_INTERFACE ".Subscription"

typedef struct Signals {
    GPtrArray *paths;    /* of char*: of each signal, sorted and joined */
    uint64_t generation; /* the last one's */
    uint64_t changed;    /* the last Changed's */
    sd_bus_slot *stale_slot;
    sd_bus_slot *changed_slot;
} Signals;

static int
compare_words(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(char *const *) a, *(char *const *) b);
}

static int
on_stale(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    Signals *self = user_data;
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    const char *path;

    g_assert_cmpint(sd_bus_message_read(message, "t", &self->generation), >, 0);
    g_assert_cmpint(sd_bus_message_enter_container(message, 'a', "o"), >, 0);
    while (sd_bus_message_read(message, "o", &path) > 0)
        g_ptr_array_add(paths, (gpointer) (strrchr(path, '/') + 1));
    g_ptr_array_sort(paths, compare_words);
    g_ptr_array_add(paths, NULL);
    g_ptr_array_add(self->paths, g_strjoinv(" ", (char **) paths->pdata));
    return 0;
}

static int
on_changed(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    g_assert_cmpint(sd_bus_message_read(message, "t", &((Signals *) user_data)->changed), >, 0);
    return 0;
}

static void
signals_watch(Signals *self, BusFixture *fixture)
{
    *self = (Signals){ .paths = g_ptr_array_new_with_free_func(g_free) };
    g_assert_cmpint(sd_bus_match_signal(fixture->client, &self->stale_slot, NULL, BUS_FIXTURE_PATH, BUS_FIXTURE_INTERFACE, "Stale",
                                        on_stale, self),
                    >=, 0);
    g_assert_cmpint(sd_bus_match_signal(fixture->client, &self->changed_slot, NULL, BUS_FIXTURE_PATH, BUS_FIXTURE_INTERFACE,
                                        "Changed", on_changed, self),
                    >=, 0);
}

static void
signals_clear(Signals *self)
{
    sd_bus_slot_unref(self->stale_slot);
    sd_bus_slot_unref(self->changed_slot);
    g_ptr_array_unref(self->paths);
}

static sd_bus_message *
new_subscribe(BusFixture *self, const char *language, const char *text)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_INTERFACE, "Subscribe");

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}", language, text, 0), >=, 0);
    return call;
}

/* (transfer full): the new object's path */
static char *
subscribe(BusFixture *self, const char *language, const char *text)
{
    sd_bus_message *reply = bus_fixture_call_ok(self, new_subscribe(self, language, text));
    const char *path;
    char *copy;

    g_assert_cmpint(sd_bus_message_read(reply, "o", &path), >, 0);
    copy = g_strdup(path);
    sd_bus_message_unref(reply);
    return copy;
}

static void
update(BusFixture *self, const char *language, const char *text)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_INTERFACE, "Update");

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", language, text, 0, 0), >=, 0);
    sd_bus_message_unref(bus_fixture_call_ok(self, call));
}

/* Runs an update and returns which subscriptions were reported stale: numbers, or "". Each Changed comes before its Stale. */
static const char *
told_of(BusFixture *self, Signals *signals, const char *language, const char *text)
{
    uint64_t generation;
    guint n;

    while (signals->changed < qd_engine_get_generation(self->engine))
        bus_fixture_run(self);
    n = signals->paths->len;
    update(self, language, text);
    generation = qd_engine_get_generation(self->engine);
    while (signals->changed < generation)
        bus_fixture_run(self);
    sd_bus_message_unref(bus_fixture_call_ok(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "GetStats")));
    if (signals->paths->len == n)
        return "";
    g_assert_cmpuint(signals->paths->len, ==, n + 1);
    g_assert_cmpuint(signals->generation, ==, generation);
    return signals->paths->pdata[n];
}

static void
test_sql(BusFixture *self, gconstpointer data)
{
    g_autofree char *first = NULL;
    g_autofree char *second = NULL;
    Signals signals;

    signals_watch(&signals, self);
    update(self, "sql", "CREATE TABLE t(a)");
    update(self, "sql", "CREATE TABLE u(a)");
    update(self, "sql", "CREATE VIEW v AS SELECT a FROM u");
    first = subscribe(self, "sql", "SELECT count(*) FROM t");
    second = subscribe(self, "sql", "SELECT * FROM t, v");
    g_assert_cmpstr(first, ==, BUS_FIXTURE_PATH "/subscription/1");

    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO t VALUES(1)"), ==, "1 2");
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO u VALUES(1)"), ==, "2");
    g_assert_cmpstr(told_of(self, &signals, "sql", "CREATE TABLE w(a)"), ==, "");
    g_assert_cmpstr(told_of(self, &signals, "sql", "DELETE FROM t"), ==, "1 2");
    signals_clear(&signals);
}

/* A view is redefined: what the query reads is found out again. */
static void
test_schema(BusFixture *self, gconstpointer data)
{
    g_autofree char *path = NULL;
    Signals signals;

    signals_watch(&signals, self);
    update(self, "sql", "CREATE TABLE t(a)");
    update(self, "sql", "CREATE TABLE u(a)");
    update(self, "sql", "CREATE VIEW v AS SELECT a FROM t");
    path = subscribe(self, "sql", "SELECT * FROM v");
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO u VALUES(1)"), ==, "");

    g_assert_cmpstr(told_of(self, &signals, "sql", "DROP VIEW v"), ==, "1");
    /* the query is an error now: each commit may concern it */
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO u VALUES(1)"), ==, "1");
    g_assert_cmpstr(told_of(self, &signals, "sql", "CREATE VIEW v AS SELECT a FROM u"), ==, "1");
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO u VALUES(1)"), ==, "1");
    while (g_str_equal(told_of(self, &signals, "sql", "INSERT INTO t VALUES(1)"), "1"))
        ; /* until the query has been looked at again */
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO u VALUES(1)"), ==, "1");
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO t VALUES(1)"), ==, "");
    signals_clear(&signals);
}

static void
test_sparql(BusFixture *self, gconstpointer data)
{
    g_autofree char *p = NULL;
    g_autofree char *q = NULL;
    g_autofree char *all = NULL;
    Signals signals;

    signals_watch(&signals, self);
    update(self, "sql", "CREATE TABLE t(a)");
    p = subscribe(self, "sparql", "SELECT * { ?s <x:p> ?o }");
    q = subscribe(self, "sparql", "ASK { GRAPH <x:g> { ?s <x:q> ?o } }");
    all = subscribe(self, "sparql", "SELECT * { ?s ?p ?o }");
    g_assert_cmpstr(told_of(self, &signals, "sparql", "INSERT DATA { <x:a> <x:p> 1 }"), ==, "1 3");
    g_assert_cmpstr(told_of(self, &signals, "sparql", "INSERT DATA { <x:a> <x:r> 1 }"), ==, "3");
    g_assert_cmpstr(told_of(self, &signals, "sparql", "INSERT DATA { GRAPH <x:g> { <x:a> <x:p> 1 ; <x:q> 1 } }"), ==, "2");
    g_assert_cmpstr(told_of(self, &signals, "sparql", "DELETE { ?s <x:p> 1 } WHERE { ?s <x:p> 1 }"), ==, "1 3");
    signals_clear(&signals);
}

/* Many commits within an interval: one signal at once, one at its end. */
static void
test_merged(BusFixture *self, gconstpointer data)
{
    g_autofree char *path = NULL;
    g_autoptr(QdChanges) changes = qd_changes_new();
    Signals signals;

    signals_watch(&signals, self);
    update(self, "sql", "CREATE TABLE t(a)");
    while (signals.changed < qd_engine_get_generation(self->engine))
        bus_fixture_run(self);
    path = subscribe(self, "sql", "SELECT * FROM t");
    qd_changes_add_table(changes, "t");
    for (uint64_t i = 1; i <= 20; i++)
        qd_bus_service_notify_change(self->service, (UINT64_C(1) << 41) + i, changes);
    while (signals.generation < (UINT64_C(1) << 41) + 20)
        bus_fixture_run(self);
    g_assert_cmpuint(signals.paths->len, <=, 2);
    signals_clear(&signals);
}

static uint64_t
get_generation(BusFixture *self, const char *path)
{
    sd_bus_message *call = NULL;
    sd_bus_message *reply;
    uint64_t generation = 0;

    g_assert_cmpint(sd_bus_message_new_method_call(self->client, &call, NULL, path, "org.freedesktop.DBus.Properties", "Get"), >=,
                    0);
    g_assert_cmpint(sd_bus_message_append(call, "ss", SUBSCRIPTION_INTERFACE, "Generation"), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_read(reply, "v", "t", &generation), >, 0);
    sd_bus_message_unref(reply);
    return generation;
}

static void
test_generation_and_close(BusFixture *self, gconstpointer data)
{
    g_autofree char *path = NULL;
    sd_bus_message *call = NULL;
    uint64_t before;
    Signals signals;

    signals_watch(&signals, self);
    update(self, "sql", "CREATE TABLE t(a)");
    path = subscribe(self, "sql", "SELECT * FROM t");
    before = get_generation(self, path);
    g_assert_cmpuint(before, ==, qd_engine_get_generation(self->engine));
    g_assert_cmpstr(told_of(self, &signals, "sql", "CREATE TABLE u(a)"), ==, "");
    g_assert_cmpuint(get_generation(self, path), ==, before);
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO t VALUES(1)"), ==, "1");
    g_assert_cmpuint(get_generation(self, path), ==, before + 2);

    g_assert_cmpint(sd_bus_message_new_method_call(self->client, &call, NULL, path, SUBSCRIPTION_INTERFACE, "Close"), >=, 0);
    sd_bus_message_unref(bus_fixture_call_ok(self, call));
    g_assert_cmpstr(told_of(self, &signals, "sql", "INSERT INTO t VALUES(1)"), ==, "");
    signals_clear(&signals);
}

static void
set_limit(BusFixture *self, const char *name, uint64_t value)
{
    QdLimits limits = *qd_engine_get_limits(self->engine);

    g_assert_true(qd_limits_set(&limits, name, value, NULL));
    qd_engine_set_limits(self->engine, &limits);
}

static void
test_limits(BusFixture *self, gconstpointer data)
{
    g_autofree char *first G_GNUC_UNUSED = subscribe(self, "sql", "SELECT 1");
    g_autofree char *second = NULL;
    g_autofree char *long_text = g_strnfill(1024, ' ');
    g_autofree char *long_query = g_strconcat("SELECT 2", long_text, NULL);

    set_limit(self, "subscriptions", 1);
    bus_fixture_call_error(self, new_subscribe(self, "sql", "SELECT 1"), "LimitExceeded", "the limit 'subscriptions' is 1");
    set_limit(self, "subscriptions", 10);
    set_limit(self, "subscriptions_per_client", 1);
    bus_fixture_call_error(self, new_subscribe(self, "sql", "SELECT 1"), "LimitExceeded",
                           "the limit 'subscriptions_per_client' is 1");
    set_limit(self, "subscriptions_per_client", 2);
    set_limit(self, "subscription_bytes", 1024);
    bus_fixture_call_error(self, new_subscribe(self, "sql", long_query), "LimitExceeded", "'subscription_bytes' is 1024 bytes");
    second = subscribe(self, "sql", "SELECT 1");
    g_assert_cmpstr(second, ==, BUS_FIXTURE_PATH "/subscription/2");
}

static void
test_errors(BusFixture *self, gconstpointer data)
{
    bus_fixture_call_error(self, new_subscribe(self, "sql", "SELECT * FROM nosuch"), "Syntax", "no such table: nosuch");
    bus_fixture_call_error(self, new_subscribe(self, "sql", "CREATE TABLE t(a)"), "ReadOnly", "");
    bus_fixture_call_error(self, new_subscribe(self, "sparql", "SELECT"), "Syntax", "1:");
    bus_fixture_call_error(self, new_subscribe(self, "sparql", "CLEAR ALL"), "ReadOnly", "");
    bus_fixture_call_error(self, new_subscribe(self, "xquery", "1"), "BadParameter", "xquery");
}

static char *
read_prefixes(BusFixture *self)
{
    sd_bus_message *call = bus_fixture_new_call(self, "org.freedesktop.DBus.Properties", "Get");
    g_autoptr(GString) text = g_string_new(NULL);
    sd_bus_message *reply;
    const char *prefix;
    const char *iri;

    g_assert_cmpint(sd_bus_message_append(call, "ss", BUS_FIXTURE_INTERFACE, "Prefixes"), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    g_assert_cmpint(sd_bus_message_enter_container(reply, 'v', "a{ss}"), >, 0);
    g_assert_cmpint(sd_bus_message_enter_container(reply, 'a', "{ss}"), >, 0);
    while (sd_bus_message_read(reply, "{ss}", &prefix, &iri) > 0)
        g_string_append_printf(text, "%s: <%s> ", prefix, iri);
    sd_bus_message_unref(reply);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static int
on_properties(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    ++*(guint *) user_data;
    return 0;
}

static void
test_prefixes(BusFixture *self, gconstpointer data)
{
    g_autofree char *prefixes = NULL;
    sd_bus_slot *slot = NULL;
    guint n_told = 0;

    g_assert_cmpint(sd_bus_match_signal(self->client, &slot, NULL, BUS_FIXTURE_PATH, "org.freedesktop.DBus.Properties",
                                        "PropertiesChanged", on_properties, &n_told),
                    >=, 0);
    while (n_told == 0)
        bus_fixture_run(self);
    prefixes = read_prefixes(self);
    g_assert_nonnull(strstr(prefixes, "rdfs: <http://www.w3.org/2000/01/rdf-schema#>"));
    sd_bus_slot_unref(slot);
}

#define ADD(path, func) g_test_add("/bus/subscribe/" path, BusFixture, NULL, bus_fixture_set_up, func, bus_fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("sql", test_sql);
    ADD("schema", test_schema);
    ADD("sparql", test_sparql);
    ADD("merged", test_merged);
    ADD("generation-and-close", test_generation_and_close);
    ADD("limits", test_limits);
    ADD("errors", test_errors);
    ADD("prefixes", test_prefixes);
    return g_test_run();
}
