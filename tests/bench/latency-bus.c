/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look-up, or nothing, by a method call through the message bus.
 */
#include <stdlib.h>

#include "tests/bench/latency.h"
#include "tests/bench/reference-gdbus.h"
#include "tests/bench/reference-sd-bus.h"
#include "tests/demo/store-control.h"

void
latency_sd_bus_open(LatencyRun *run)
{
    sd_bus *bus = NULL;
    GPid pid;
    int r;

    (void) reference_sd_bus_start(run->path, NULL, &pid);
    r = sd_bus_open_user(&bus);
    if (r < 0)
        bench_fail(run->bench, "session bus: %s", g_strerror(-r));
    run->state = bus;
}

void
latency_copy_sd_row(LatencyRun *run, sd_bus_message *reply)
{
    const char *text;
    int r = sd_bus_message_enter_container(reply, 'a', "s");

    if (r > 0)
        r = sd_bus_message_read_basic(reply, 's', &text);
    if (r <= 0)
        bench_fail(run->bench, "no row in the answer");
    cell_sink_put_int64(&run->sink, g_ascii_strtoll(text, NULL, 10));
    while (sd_bus_message_read_basic(reply, 's', &text) > 0)
        cell_sink_put(&run->sink, text, strlen(text));
    cell_sink_end_row(&run->sink);
}

void
latency_sd_bus_call(LatencyRun *run, gint64 id)
{
    gboolean is_ping = g_str_equal(run->probe->variant, "Ping");
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r = sd_bus_call_method(run->state, REFERENCE_SD_BUS_NAME, REFERENCE_PATH, REFERENCE_INTERFACE, run->probe->variant, &error,
                               &reply, is_ping ? "" : "x", id);

    if (r < 0)
        bench_fail(run->bench, "sd-bus: %s", error.message != NULL ? error.message : g_strerror(-r));
    if (!is_ping)
        latency_copy_sd_row(run, reply);
    sd_bus_message_unref(reply);
}

void
latency_gdbus_open(LatencyRun *run)
{
    g_autoptr(GError) error = NULL;
    GPid pid;

    (void) reference_gdbus_start(run->path, &pid);
    run->state = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    die_on_error(error, "session bus");
}

void
latency_gdbus_call(LatencyRun *run, gint64 id)
{
    gboolean is_ping = g_str_equal(run->probe->variant, "Ping");
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) reply = NULL;
    g_autoptr(GVariantIter) iter = NULL;
    const char *text;

    reply = g_dbus_connection_call_sync(run->state, REFERENCE_GDBUS_NAME, REFERENCE_PATH, REFERENCE_INTERFACE, run->probe->variant,
                                        is_ping ? NULL : g_variant_new("(x)", id), G_VARIANT_TYPE(is_ping ? "()" : "(as)"),
                                        G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    die_on_error(error, run->probe->variant);
    if (is_ping)
        return;

    g_variant_get(reply, "(as)", &iter);
    (void) g_variant_iter_next(iter, "&s", &text);
    cell_sink_put_int64(&run->sink, g_ascii_strtoll(text, NULL, 10));
    while (g_variant_iter_next(iter, "&s", &text))
        cell_sink_put(&run->sink, text, strlen(text));
    cell_sink_end_row(&run->sink);
}
