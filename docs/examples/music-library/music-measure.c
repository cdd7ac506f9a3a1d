/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the test looks at: how soon rows are painted, whether a frame shows a row without values, memory, search and changes.
 *
 * All is driven by the frame clock. After each frame the rows within the visible part are looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docs/examples/music-library/music-library.h"

#define PAGES_PER_SECOND 100.0
#define SCROLL_USEC (3 * G_USEC_PER_SEC)
#define PATIENCE_USEC (30 * G_USEC_PER_SEC) /* of one step; songs that others add are waited for, too */

typedef enum Step { WARM, OPEN, COUNT, SCROLL, JUMP, SEARCH, BACK, LIVE, CHANGE, DONE } Step;

typedef struct Measure {
    MusicLibrary *library;
    Step step;
    gint64 began_usec;
    gint64 last_usec; /* of the frame before */
    guint n_frames;
    guint n_blank_frames;
    guint n_rows_seen;
    guint n_before;
    glong before_kib;
} Measure;

static glong
get_memory_kib(void)
{
    g_autofree char *status = NULL;
    const char *line;

    if (!g_file_get_contents("/proc/self/status", &status, NULL, NULL))
        return 0;
    line = strstr(status, "RssAnon:");
    return line != NULL ? strtol(line + strlen("RssAnon:"), NULL, 10) : 0;
}

/* Rows in the visible part: all, and those without values. */
static void
look(Measure *self, guint *ret_n_shown, guint *ret_n_blank)
{
    GHashTableIter iter;
    gpointer item;
    const double height = gtk_widget_get_height(self->library->scrolled);

    *ret_n_shown = *ret_n_blank = 0;
    g_hash_table_iter_init(&iter, self->library->bound);
    while (g_hash_table_iter_next(&iter, &item, NULL)) {
        GtkWidget *child = gtk_list_item_get_child(item);
        graphene_rect_t bounds;

        if (!gtk_widget_get_mapped(child) || !gtk_widget_compute_bounds(child, self->library->scrolled, &bounds) ||
            bounds.origin.y + bounds.size.height <= 0 || bounds.origin.y >= height)
            continue;
        (*ret_n_shown)++;
        if (!query_row_is_loaded(gtk_list_item_get_item(item)))
            (*ret_n_blank)++;
    }
}

static GtkAdjustment *
get_adjustment(Measure *self)
{
    return gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->library->scrolled));
}

static guint
get_n(const Measure *self)
{
    return g_list_model_get_n_items(G_LIST_MODEL(self->library->list));
}

static void
begin(Measure *self, Step step)
{
    self->step = step;
    self->began_usec = self->last_usec = g_get_monotonic_time();
    self->n_frames = self->n_blank_frames = 0;
    self->n_before = get_n(self);
}

static double
get_msec(const Measure *self)
{
    return (double) (g_get_monotonic_time() - self->began_usec) / 1000;
}

static void
save_picture(Measure *self)
{
    GtkWidget *window = self->library->window;
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(window);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    g_autoptr(GskRenderNode) node = NULL;
    g_autoptr(GdkTexture) texture = NULL;

    gdk_paintable_snapshot(paintable, snapshot, gtk_widget_get_width(window), gtk_widget_get_height(window));
    node = gtk_snapshot_free_to_node(snapshot);
    texture = gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), node, NULL);
    if (!gdk_texture_save_to_png(texture, self->library->picture))
        g_printerr("music-library: cannot write '%s'\n", self->library->picture);
}

static void
change_one_row(Measure *self)
{
    g_autoptr(GError) error = NULL;

    if (query_connection_update(self->library->connection, QUERY_LANGUAGE_SQL,
                                "UPDATE song SET year = year + 1 WHERE id = (SELECT id FROM song ORDER BY artist, title LIMIT 1)",
                                NULL, NULL, &error) < 0)
        g_printerr("music-library: %s\n", error->message);
}

/* Before a frame: what the user would do. */
static void
scroll(Measure *self)
{
    GtkAdjustment *adjustment = get_adjustment(self);
    gint64 now_usec = g_get_monotonic_time();
    double pages = PAGES_PER_SECOND * (double) (now_usec - self->last_usec) / G_USEC_PER_SEC;

    self->last_usec = now_usec;
    gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + pages * gtk_adjustment_get_page_size(adjustment));
}

/* Whether the step has come to its end. @n_shown, @n_blank: rows of the frame. */
static gboolean
is_over(const Measure *self, guint n_shown, guint n_blank)
{
    gint64 usec = g_get_monotonic_time() - self->began_usec;
    gboolean is_painted = n_shown > 0 && n_blank == 0;

    switch (self->step) {
    case WARM: /* the empty window has been painted */
        return self->n_frames >= 10;
    case OPEN:
    case JUMP:
        return is_painted;
    case COUNT:
        return !query_list_model_is_loading(self->library->list);
    case SCROLL:
        return usec >= SCROLL_USEC;
    case SEARCH:
        return get_n(self) != self->n_before && n_blank == 0;
    case BACK:
        return get_n(self) != self->n_before && n_blank == 0 && !query_list_model_is_loading(self->library->list);
    case LIVE:
        return get_n(self) != self->n_before;
    case CHANGE:
        return usec >= G_USEC_PER_SEC;
    case DONE:
        return FALSE;
    }
    return FALSE;
}

/* Prints what the step has measured, and begins the next one. */
static void
finish_step(Measure *self)
{
    GtkAdjustment *adjustment = get_adjustment(self);

    switch (self->step) {
    case WARM:
        self->before_kib = get_memory_kib();
        begin(self, OPEN);
        music_library_open(self->library);
        break;
    case OPEN:
        g_print("first_painted_ms=%.1f\n", get_msec(self));
        self->step = COUNT;
        break;
    case COUNT:
        g_print("n_songs=%u counted_ms=%.1f\n", get_n(self), get_msec(self));
        begin(self, SCROLL);
        break;
    case SCROLL:
        g_print("scroll_frames=%u scroll_blank_frames=%u scroll_rows=%.0f growth_kib=%ld\n", self->n_frames, self->n_blank_frames,
                gtk_adjustment_get_value(adjustment) / gtk_adjustment_get_upper(adjustment) * get_n(self),
                get_memory_kib() - self->before_kib);
        begin(self, JUMP);
        gtk_adjustment_set_value(adjustment, gtk_adjustment_get_upper(adjustment) / 2);
        break;
    case JUMP:
        g_print("jump_ms=%.1f jump_blank_frames=%u\n", get_msec(self), self->n_blank_frames);
        begin(self, SEARCH);
        gtk_editable_set_text(GTK_EDITABLE(self->library->search), "lantern");
        break;
    case SEARCH:
        g_print("search_ms=%.1f\n", get_msec(self)); /* GtkSearchEntry waits 150 ms of it */
        begin(self, BACK);
        gtk_editable_set_text(GTK_EDITABLE(self->library->search), "");
        break;
    case BACK:
        begin(self, LIVE);
        g_print("waiting for songs\n");
        break;
    case LIVE:
        g_print("live_songs=%u\n", get_n(self) - self->n_before);
        begin(self, CHANGE);
        change_one_row(self);
        break;
    case CHANGE:
        save_picture(self);
        self->step = DONE;
        gtk_window_close(GTK_WINDOW(self->library->window));
        break;
    case DONE:
        break;
    }
}

static void
on_items_changed(GListModel *list, guint position, guint n_removed, guint n_added, Measure *self)
{
    if (self->step == OPEN && n_added > 0)
        g_print("first_rows_ms=%.1f\n", get_msec(self));
}

static void
on_after_paint(GdkFrameClock *clock, Measure *self)
{
    guint n_shown;
    guint n_blank;

    look(self, &n_shown, &n_blank);
    self->n_frames++;
    self->n_blank_frames += n_blank > 0 ? 1 : 0;
    if (is_over(self, n_shown, n_blank))
        finish_step(self);
}

static gboolean
on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer user_data)
{
    Measure *self = user_data;

    if (self->step == SCROLL)
        scroll(self);
    gtk_widget_queue_draw(widget); /* so that each frame is painted */
    return self->step != DONE;
}

/* Also when no frame comes. */
static gboolean
on_second(gpointer user_data)
{
    const Measure *self = user_data;

    if (g_get_monotonic_time() - self->began_usec < PATIENCE_USEC)
        return G_SOURCE_CONTINUE;
    g_printerr("music-library: step %d has not ended within %d s\n", (int) self->step, (int) (PATIENCE_USEC / G_USEC_PER_SEC));
    exit(EXIT_FAILURE);
}

void
music_library_measure(MusicLibrary *library)
{
    static Measure self;

    setvbuf(stdout, NULL, _IOLBF, 0);
    self = (Measure){ .library = library };
    begin(&self, WARM);
    (void) g_timeout_add_seconds(1, on_second, &self);
    g_signal_connect(library->list, "items-changed", G_CALLBACK(on_items_changed), &self);
    g_signal_connect_after(gtk_widget_get_frame_clock(library->window), "after-paint", G_CALLBACK(on_after_paint), &self);
    (void) gtk_widget_add_tick_callback(library->window, on_tick, &self, NULL);
}
