/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results through the message bus, by calls of Fetch(n): what a service costs that passes no descriptor.
 *
 * The service runs and the client is connected before the clock starts.
 */
#include <stdlib.h>

#include "tests/bench/fetch.h"
#include "tests/bench/reference-gdbus.h"
#include "tests/bench/reference-sd-bus.h"
#include "tests/demo/store-control.h"

/* The founding report's. */
#define ROWS_PER_CALL 75000u

static void
check(FetchRun *run, int r, const sd_bus_error *error)
{
    if (r < 0)
        bench_fail(run->bench, "sd-bus: %s", error != NULL && error->message != NULL ? error->message : g_strerror(-r));
}

void
fetch_sd_bus_open(FetchRun *run)
{
    sd_bus *bus = NULL;

    (void) reference_sd_bus_start(run->path, NULL, &run->server);
    check(run, sd_bus_open_user(&bus), NULL);
    run->state = bus;
}

static void
copy_sd_row(FetchRun *run, sd_bus_message *reply, CellSink *sink)
{
    const char *text;
    gboolean is_first = TRUE;
    int r;

    while ((r = sd_bus_message_read_basic(reply, 's', &text)) > 0) {
        if (is_first)
            cell_sink_put_int64(sink, atoll(text));
        else
            cell_sink_put(sink, text, strlen(text));
        is_first = FALSE;
    }
    check(run, r, NULL);
    cell_sink_end_row(sink);
}

static gboolean
fetch_sd_rows(FetchRun *run, CellSink *sink)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *call = NULL;
    sd_bus_message *reply = NULL;
    guint64 before = sink->result.n_rows;
    int r;

    check(run,
          sd_bus_message_new_method_call(run->state, &call, REFERENCE_SD_BUS_NAME, REFERENCE_PATH, REFERENCE_INTERFACE, "Fetch"),
          NULL);
    check(run, sd_bus_message_append(call, "u", ROWS_PER_CALL), NULL);
    check(run, sd_bus_call(run->state, call, REFERENCE_CALL_USEC, &error, &reply), &error);
    check(run, sd_bus_message_enter_container(reply, 'a', "as"), NULL);
    while ((r = sd_bus_message_enter_container(reply, 'a', "s")) > 0) {
        copy_sd_row(run, reply, sink);
        check(run, sd_bus_message_exit_container(reply), NULL);
    }
    check(run, r, NULL);
    sd_bus_message_unref(reply);
    sd_bus_message_unref(call);
    return sink->result.n_rows - before == ROWS_PER_CALL;
}

void
fetch_sd_bus_read(FetchRun *run, const char *sql, CellSink *sink)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;

    check(run,
          sd_bus_call_method(run->state, REFERENCE_SD_BUS_NAME, REFERENCE_PATH, REFERENCE_INTERFACE, "Prepare", &error, NULL, "s",
                             sql),
          &error);
    while (fetch_sd_rows(run, sink))
        ;
}

void
fetch_gdbus_open(FetchRun *run)
{
    g_autoptr(GError) error = NULL;

    (void) reference_gdbus_start(run->path, &run->server);
    run->state = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    die_on_error(error, "session bus");
}

static GVariant *
call_gdbus(FetchRun *run, const char *method, GVariant *arguments, const char *type)
{
    g_autoptr(GError) error = NULL;
    GVariant *reply = g_dbus_connection_call_sync(run->state, REFERENCE_GDBUS_NAME, REFERENCE_PATH, REFERENCE_INTERFACE, method,
                                                  arguments, G_VARIANT_TYPE(type), G_DBUS_CALL_FLAGS_NONE,
                                                  REFERENCE_CALL_USEC / 1000, NULL, &error);

    die_on_error(error, method);
    return reply;
}

static void
copy_gdbus_row(GVariant *row, CellSink *sink)
{
    GVariantIter iter;
    const char *text;

    g_variant_iter_init(&iter, row);
    (void) g_variant_iter_next(&iter, "&s", &text);
    cell_sink_put_int64(sink, atoll(text));
    while (g_variant_iter_next(&iter, "&s", &text))
        cell_sink_put(sink, text, strlen(text));
    cell_sink_end_row(sink);
}

static gboolean
fetch_gdbus_rows(FetchRun *run, CellSink *sink)
{
    g_autoptr(GVariant) reply = call_gdbus(run, "Fetch", g_variant_new("(u)", ROWS_PER_CALL), "(aas)");
    g_autoptr(GVariant) rows = g_variant_get_child_value(reply, 0);
    guint64 before = sink->result.n_rows;
    GVariantIter iter;
    GVariant *row;

    g_variant_iter_init(&iter, rows);
    while ((row = g_variant_iter_next_value(&iter)) != NULL) {
        copy_gdbus_row(row, sink);
        g_variant_unref(row);
    }
    return sink->result.n_rows - before == ROWS_PER_CALL;
}

void
fetch_gdbus_read(FetchRun *run, const char *sql, CellSink *sink)
{
    g_variant_unref(call_gdbus(run, "Prepare", g_variant_new("(s)", sql), "()"));
    while (fetch_gdbus_rows(run, sink))
        ;
}
