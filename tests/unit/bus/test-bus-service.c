/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every method through the bus service: what comes back, and which errors. The engine has tests of its own.
 */
#include "daemon/bus/bus-service.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "tests/unit/bus/bus-fixture.h"

static sd_bus_message *
new_call(BusFixture *self, const char *member)
{
    return bus_fixture_new_call(self, BUS_FIXTURE_INTERFACE, member);
}

static sd_bus_message *
new_statement_call(BusFixture *self, const char *member, const char *text)
{
    sd_bus_message *call = new_call(self, member);

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", "sql", text, 0, 0), >=, 0);
    return call;
}

static void
assert_read(int r)
{
    g_assert_cmpint(r, >, 0);
}

static void
test_query_values(BusFixture *self, gconstpointer data)
{
    sd_bus_message *reply;
    const char *names[8];
    const char *null;
    const char *text;
    const void *bytes;
    gsize n_bytes;
    int64_t integer;
    double real;
    int truncated;

    reply = bus_fixture_call_ok(self, new_statement_call(self, "Query",
                                                         "select 9223372036854775807 a, 1.5 b, 'x\xc3\xa9' c, x'00ff' d, null e, "
                                                         "'a'||char(0)||'b' f, cast(x'ff' as text) g, char(65534) h"));
    assert_read(sd_bus_message_read(reply, "as", 8, &names[0], &names[1], &names[2], &names[3], &names[4], &names[5], &names[6],
                                    &names[7]));
    g_assert_cmpstr(names[0], ==, "a");
    g_assert_cmpstr(names[7], ==, "h");
    assert_read(sd_bus_message_enter_container(reply, 'a', "av"));
    assert_read(sd_bus_message_enter_container(reply, 'a', "v"));
    assert_read(sd_bus_message_read(reply, "v", "x", &integer));
    g_assert_cmpint(integer, ==, INT64_MAX);
    assert_read(sd_bus_message_read(reply, "v", "d", &real));
    g_assert_cmpfloat(real, ==, 1.5);
    assert_read(sd_bus_message_read(reply, "v", "s", &text));
    g_assert_cmpstr(text, ==, "x\xc3\xa9");
    assert_read(sd_bus_message_enter_container(reply, 'v', "ay"));
    assert_read(sd_bus_message_read_array(reply, 'y', &bytes, &n_bytes));
    g_assert_cmpmem(bytes, n_bytes, "\x00\xff", 2);
    assert_read(sd_bus_message_exit_container(reply));
    assert_read(sd_bus_message_read(reply, "v", "g", &null));
    g_assert_cmpstr(null, ==, "");

    for (guint i = 0; i < 3; i++) {
        static const char *const expected[] = { "a\0b", "\xff", "\xef\xbf\xbe" };
        static const gsize sizes[] = { 3, 1, 3 };

        assert_read(sd_bus_message_enter_container(reply, 'v', "ay"));
        assert_read(sd_bus_message_read_array(reply, 'y', &bytes, &n_bytes));
        g_assert_cmpmem(bytes, n_bytes, expected[i], sizes[i]);
        assert_read(sd_bus_message_exit_container(reply));
    }
    assert_read(sd_bus_message_exit_container(reply));
    assert_read(sd_bus_message_exit_container(reply));
    assert_read(sd_bus_message_read(reply, "b", &truncated));
    g_assert_false(truncated);
    sd_bus_message_unref(reply);
}

static void
test_query_truncated(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Query");
    sd_bus_message *reply;
    guint n_rows = 0;
    int truncated;

    g_assert_cmpint(
        sd_bus_message_append(call, "ssa{sv}a{sv}", "sql",
                              "with recursive n(i) as (values(1) union all select i+1 from n where i<:m) select i from n", 1, ":m",
                              "u", 50, 1, "max_rows", "u", 7),
        >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_skip(reply, "as"));
    assert_read(sd_bus_message_enter_container(reply, 'a', "av"));
    while (sd_bus_message_skip(reply, "av") > 0)
        n_rows++;
    g_assert_cmpuint(n_rows, ==, 7);
    assert_read(sd_bus_message_exit_container(reply));
    assert_read(sd_bus_message_read(reply, "b", &truncated));
    g_assert_true(truncated);
    sd_bus_message_unref(reply);
}

static void
test_query_text(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "QueryText");
    sd_bus_message *reply;
    const char *content_type;
    const char *text;
    int truncated;

    g_assert_cmpint(sd_bus_message_append(call, "sssa{sv}", "sql", "select 1 a, char(65535) b", "csv", 1, "header", "b", FALSE), >=,
                    0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "ssb", &content_type, &text, &truncated));
    g_assert_true(g_str_has_prefix(content_type, "text/csv"));
    g_assert_true(g_str_has_prefix(text, "1,\xef\xbf\xbd"));
    sd_bus_message_unref(reply);

    call = new_call(self, "QueryText");
    g_assert_cmpint(sd_bus_message_append(call, "sssa{sv}", "sql", "select 1", "xlsx", 0), >=, 0);
    bus_fixture_call_error(self, call, "BadParameter", "xlsx");
}

static void
test_update(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Update");
    sd_bus_message *reply;
    uint64_t changes;
    uint64_t generation;
    int64_t rowid;

    bus_fixture_update(self, "create table t(id integer primary key, x)");
    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", "sql", "insert into t values(:id, :x)", 2, ":id", "y", 9, ":x", "g",
                                          "", 1, "durability", "s", "relaxed"),
                    >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "txt", &changes, &rowid, &generation));
    g_assert_cmpuint(changes, ==, 1);
    g_assert_cmpint(rowid, ==, 9);
    g_assert_cmpuint(generation, ==, qd_engine_get_generation(self->engine));
    sd_bus_message_unref(reply);

    bus_fixture_call_error(self, new_statement_call(self, "Update", "insert into t values(9, 1)"), "Constraint", "t.id");
}

static void
test_batch(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Batch");
    sd_bus_message *reply;
    uint64_t changes[3];
    uint64_t generation;

    bus_fixture_update(self, "create table t(x)");
    g_assert_cmpint(sd_bus_message_append(call, "a(ssa{sv})a{sv}", 3, "sql", "insert into t values(1),(2)", 0, "sql",
                                          "insert into t values(?)", 1, "1", "s", "x", "sql", "delete from t", 0, 0),
                    >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "at", 3, &changes[0], &changes[1], &changes[2]));
    assert_read(sd_bus_message_read(reply, "t", &generation));
    g_assert_cmpuint(changes[0], ==, 2);
    g_assert_cmpuint(changes[1], ==, 1);
    g_assert_cmpuint(changes[2], ==, 3);
    sd_bus_message_unref(reply);

    call = new_call(self, "Batch");
    g_assert_cmpint(sd_bus_message_append(call, "a(ssa{sv})a{sv}", 0, 0), >=, 0);
    bus_fixture_call_error(self, call, "BadParameter", "the batch is empty");
}

static void
assert_info(sd_bus_message *reply, const char *transport, guint page_size)
{
    assert_read(sd_bus_message_enter_container(reply, 'a', "{sv}"));
    while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
        const char *key;
        const char *text;
        uint32_t number;
        int flag;

        assert_read(sd_bus_message_read(reply, "s", &key));
        if (g_str_equal(key, "transport")) {
            assert_read(sd_bus_message_read(reply, "v", "s", &text));
            g_assert_cmpstr(text, ==, transport);
        } else if (g_str_equal(key, "page_size") || g_str_equal(key, "version")) {
            assert_read(sd_bus_message_read(reply, "v", "u", &number));
            g_assert_cmpuint(number, ==, g_str_equal(key, "version") ? 1 : page_size);
        } else if (g_str_equal(key, "parameters")) {
            assert_read(sd_bus_message_read(reply, "v", "a(us)", 1, &number, &text));
            g_assert_cmpuint(number, ==, 1);
            g_assert_cmpstr(text, ==, ":p");
        } else {
            assert_read(sd_bus_message_read(reply, "v", "b", &flag));
            g_assert_cmpint(flag, ==, g_str_equal(key, "stable"));
        }
        assert_read(sd_bus_message_exit_container(reply));
    }
    assert_read(sd_bus_message_exit_container(reply));
}

static void
test_prepare(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Prepare");
    sd_bus_message *reply;
    const char *names[2];
    const char *types[2];
    g_auto(QdFd) copy = -1;
    int type = 0;
    socklen_t n_bytes = sizeof type;
    int fd;

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", "sql", "select :p as p, 2 as \"q r\"", 0, 2, "page_size", "u", 8192,
                                          "transport", "s", "auto"),
                    >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "ha(ss)", &fd, 2, &names[0], &types[0], &names[1], &types[1]));
    g_assert_cmpstr(names[1], ==, "q r");
    g_assert_cmpstr(types[1], ==, "");
    assert_info(reply, "ring", 8192);
    copy = qd_fd_dup(fd);
    sd_bus_message_unref(reply);
    g_assert_cmpint(getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &n_bytes), ==, 0);
    g_assert_cmpint(type, ==, SOCK_STREAM);

    bus_fixture_call_error(self, new_statement_call(self, "Prepare", "selekt"), "Syntax", "1:1: near \"selekt\"");
}

static void
test_explain(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Explain");
    sd_bus_message *reply;
    const char *sql;
    const char *plan;

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}", "sql", "select * from sqlite_master", 0), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "ss", &sql, &plan));
    g_assert_cmpstr(sql, ==, "select * from sqlite_master");
    g_assert_nonnull(strstr(plan, "SCAN"));
    sd_bus_message_unref(reply);
}

static int
make_file(const char *text)
{
    FILE *file = tmpfile();
    int fd;

    g_assert_nonnull(file);
    g_assert_cmpint(fputs(text, file), >=, 0);
    g_assert_cmpint(fflush(file), ==, 0);
    fd = qd_fd_dup(fileno(file));
    (void) fclose(file);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    return fd;
}

static void
test_export(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Export");
    g_auto(QdFd) fd = make_file("");
    sd_bus_message *reply;
    char text[32] = "";
    uint64_t n_rows;
    uint64_t n_bytes;

    g_assert_cmpint(sd_bus_message_append(call, "sssha{sv}", "sql", "values(1),(2)", "jsonl", fd, 0), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "tt", &n_rows, &n_bytes));
    g_assert_cmpuint(n_rows, ==, 2);
    g_assert_cmpint(pread(fd, text, sizeof text - 1, 0), ==, (gssize) n_bytes);
    g_assert_cmpuint(n_bytes, >, 0);
    sd_bus_message_unref(reply);
}

static void
test_manager(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "Check");
    sd_bus_message *reply;
    guint n = 0;
    int ok;

    g_assert_cmpint(sd_bus_message_append(call, "a{sv}", 1, "quick", "b", FALSE), >=, 0);
    reply = bus_fixture_call_ok(self, call);
    assert_read(sd_bus_message_read(reply, "bas", &ok, 0));
    g_assert_true(ok);
    sd_bus_message_unref(reply);

    call = bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "Optimize");
    g_assert_cmpint(sd_bus_message_append(call, "a{sv}", 0), >=, 0);
    sd_bus_message_unref(bus_fixture_call_ok(self, call));

    reply = bus_fixture_call_ok(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "GetLimits"));
    assert_read(sd_bus_message_enter_container(reply, 'a', "(sttsss)"));
    while (sd_bus_message_skip(reply, "(sttsss)") > 0)
        n++;
    g_assert_cmpuint(n, ==, QD_N_LIMITS);
    sd_bus_message_unref(reply);

    sd_bus_message_unref(bus_fixture_call_ok(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "GetStats")));
    reply = bus_fixture_call_ok(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "ListQueries"));
    assert_read(sd_bus_message_enter_container(reply, 'a', "a{sv}"));
    g_assert_cmpint(sd_bus_message_at_end(reply, FALSE), ==, 1);
    sd_bus_message_unref(reply);

    call = bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "CancelQuery");
    g_assert_cmpint(sd_bus_message_append(call, "t", UINT64_MAX), >=, 0);
    bus_fixture_call_error(self, call, "BadParameter", "no query has the id 18446744073709551615");
}

static void
test_reload(BusFixture *self, gconstpointer data)
{
    sd_bus_message_unref(bus_fixture_call_ok(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "Reload")));
    self->refuse_reload = TRUE;
    bus_fixture_call_error(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "Reload"), "Busy", "not now");
    g_assert_cmpuint(self->n_reloads, ==, 2);
}

static void
test_languages(BusFixture *self, gconstpointer data)
{
    sd_bus_message *call = new_call(self, "Query");

    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", "sparql", "ASK { SERVICE <http://example.org/> {} }", 0, 0), >=, 0);
    bus_fixture_call_error(self, call, "Unsupported", "SERVICE");

    call = new_call(self, "Query");
    g_assert_cmpint(sd_bus_message_append(call, "ssa{sv}a{sv}", "SQL", "select 1", 0, 0), >=, 0);
    bus_fixture_call_error(self, call, "BadParameter", "unknown language 'SQL'");
}

static void
test_list_and_cancel(BusFixture *self, gconstpointer data)
{
    static const char endless[] = "with recursive n(i) as (values(1) union all select i+1 from n) select count(*) from n";
    sd_bus_message *query = new_statement_call(self, "Query", endless);
    sd_bus_message *list = NULL;
    uint64_t id = 0;

    /* Both are sent before the loop runs: the service reads the query first. */
    g_assert_cmpint(sd_bus_send(self->client, query, NULL), >=, 0);
    while (id == 0) {
        list = bus_fixture_call_ok(self, bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "ListQueries"));
        assert_read(sd_bus_message_enter_container(list, 'a', "a{sv}"));
        assert_read(sd_bus_message_enter_container(list, 'a', "{sv}"));
        assert_read(sd_bus_message_enter_container(list, 'e', "sv"));
        assert_read(sd_bus_message_skip(list, "s"));
        assert_read(sd_bus_message_read(list, "v", "t", &id));
        sd_bus_message_unref(list);
    }
    g_assert_cmpuint(qd_bus_service_get_n_calls(self->service), ==, 1);
    g_assert_false(qd_bus_service_is_idle(self->service));

    list = bus_fixture_new_call(self, BUS_FIXTURE_MANAGER, "CancelQuery");
    g_assert_cmpint(sd_bus_message_append(list, "t", id), >=, 0);
    sd_bus_message_unref(bus_fixture_call_ok(self, list));
    while (!qd_bus_service_is_idle(self->service))
        bus_fixture_run(self);
    sd_bus_message_unref(query);
}

/* A service that ends answers what is still running. */
static void
test_end_with_calls(BusFixture *self, gconstpointer data)
{
    static const char endless[] = "with recursive n(i) as (values(1) union all select i+1 from n) select count(*) from n";
    sd_bus_message *query = new_statement_call(self, "Query", endless);

    g_assert_cmpint(sd_bus_send(self->client, query, NULL), >=, 0);
    sd_bus_message_unref(query);
    while (qd_bus_service_get_n_calls(self->service) == 0)
        bus_fixture_run(self);
    qd_bus_service_cancel_calls(self->service);
}

#define ADD(path, func) g_test_add("/bus/service/" path, BusFixture, NULL, bus_fixture_set_up, func, bus_fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("query-values", test_query_values);
    ADD("query-truncated", test_query_truncated);
    ADD("query-text", test_query_text);
    ADD("update", test_update);
    ADD("batch", test_batch);
    ADD("prepare", test_prepare);
    ADD("explain", test_explain);
    ADD("export", test_export);
    ADD("manager", test_manager);
    ADD("reload", test_reload);
    ADD("languages", test_languages);
    ADD("list-and-cancel", test_list_and_cancel);
    ADD("end-with-calls", test_end_with_calls);
    return g_test_run();
}
