/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signal Changed: at once after a quiet time, merged and spaced after that, and none is missing at the end.
 */
#include "daemon/bus/bus-changes.h"

#include "daemon/notify/changes.h"
#include "tests/unit/bus/bus-fixture.h"

#define INTERVAL_USEC 40000

/* The far end reads a signal later than it is sent, by another delay each time: so times count from before the first change. */
typedef struct Signals {
    gint64 start_usec;
    GArray *times;       /* of gint64: when each came */
    GPtrArray *tables;   /* of char*: of each, joined */
    uint64_t generation; /* the last one's */
    sd_bus_slot *slot;
} Signals;

static int
on_changed(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    Signals *self = user_data;
    g_autoptr(GString) tables = g_string_new(NULL);
    gint64 now = g_get_monotonic_time();
    const char *name;

    g_assert_cmpint(sd_bus_message_read(message, "t", &self->generation), >, 0);
    g_assert_cmpint(sd_bus_message_enter_container(message, 'a', "s"), >, 0);
    while (sd_bus_message_read(message, "s", &name) > 0)
        g_string_append_printf(tables, "%s ", name);
    g_assert_cmpint(sd_bus_message_exit_container(message), >, 0);
    g_assert_cmpint(sd_bus_message_read(message, "as", 0), >=, 0);

    g_array_append_val(self->times, now);
    g_ptr_array_add(self->tables, g_strdup(tables->str));
    return 0;
}

static void
signals_watch(Signals *self, BusFixture *fixture)
{
    self->start_usec = g_get_monotonic_time();
    self->times = g_array_new(FALSE, FALSE, sizeof(gint64));
    self->tables = g_ptr_array_new_with_free_func(g_free);
    g_assert_cmpint(sd_bus_match_signal(fixture->client, &self->slot, NULL, BUS_FIXTURE_PATH, BUS_FIXTURE_INTERFACE, "Changed",
                                        on_changed, self),
                    >=, 0);
}

static void
signals_clear(Signals *self)
{
    sd_bus_slot_unref(self->slot);
    g_array_unref(self->times);
    g_ptr_array_unref(self->tables);
}

static void
notify(BusFixture *self, uint64_t generation, const char *table)
{
    g_autoptr(QdChanges) changes = qd_changes_new();

    qd_changes_add_table(changes, table);
    qd_bus_service_notify_change(self->service, generation, changes);
}

static void
test_merged(BusFixture *self, gconstpointer data)
{
    Signals signals = { 0 };

    signals_watch(&signals, self);
    notify(self, 1, "a");
    for (uint64_t i = 2; i <= 20; i++)
        notify(self, i, i % 2 == 0 ? "c" : "b");
    while (signals.generation < 20)
        bus_fixture_run(self);

    g_assert_cmpuint(signals.times->len, ==, 2);
    g_assert_cmpstr(signals.tables->pdata[0], ==, "a ");
    g_assert_cmpstr(signals.tables->pdata[1], ==, "b c ");
    g_assert_cmpint(g_array_index(signals.times, gint64, 1) - signals.start_usec, >=, INTERVAL_USEC);
    signals_clear(&signals);
}

static void
test_after_commits(BusFixture *self, gconstpointer data)
{
    Signals signals = { 0 };
    gint64 usec;

    signals_watch(&signals, self);
    bus_fixture_update(self, "create table t(x)");
    for (guint i = 0; i < 200; i++)
        bus_fixture_update(self, "insert into t values(1)");
    while (signals.generation < qd_engine_get_generation(self->engine))
        bus_fixture_run(self);

    usec = g_array_index(signals.times, gint64, signals.times->len - 1) - signals.start_usec;
    g_assert_cmpint(signals.times->len, <=, 1 + usec / INTERVAL_USEC);
    g_assert_nonnull(strstr(signals.tables->pdata[signals.tables->len - 1], "t "));
    signals_clear(&signals);
}

static void
test_odd_name(BusFixture *self, gconstpointer data)
{
    Signals signals = { 0 };

    signals_watch(&signals, self);
    notify(self, 7, "a\xff");
    while (signals.generation < 7)
        bus_fixture_run(self);
    g_assert_cmpstr(signals.tables->pdata[0], ==, "a\xef\xbf\xbd ");
    signals_clear(&signals);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/bus/changes/merged", BusFixture, NULL, bus_fixture_set_up, test_merged, bus_fixture_tear_down);
    g_test_add("/bus/changes/after-commits", BusFixture, NULL, bus_fixture_set_up, test_after_commits, bus_fixture_tear_down);
    g_test_add("/bus/changes/odd-name", BusFixture, NULL, bus_fixture_set_up, test_odd_name, bus_fixture_tear_down);
    return g_test_run();
}
