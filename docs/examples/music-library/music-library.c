/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A music library of any size: a list with search as you type, in three orders, which other programs may change meanwhile.
 *
 * It is an example of QueryListModel in GTK 4. The table is made when it is missing:
 *
 *     music-library                      the window
 *     music-library --add 1000000        adds songs and ends; the window of another process shows them as they come
 */
#include <stdlib.h>

#include "docs/examples/music-library/music-library.h"

#define QUERY "SELECT id, artist, title, album, year FROM song"
#define COMMIT_SONGS 5000
#define SEARCH QUERY " WHERE artist LIKE ?1 OR title LIKE ?1"

static const char *const ORDERS[][3] = { { "artist", "title", NULL }, { "title", NULL }, { "year DESC", NULL } };

/* One row of the view ----------------------------------------------------------------------------------------------------- */

static void
show_values(GObject *row, GParamSpec *spec, gpointer user_data)
{
    GtkListItem *item = user_data;
    GtkWidget *box = gtk_list_item_get_child(item);
    g_autofree char *artist = query_row_dup_text(QUERY_ROW(row), "artist");
    g_autofree char *title = query_row_dup_text(QUERY_ROW(row), "title");
    g_autofree char *album = query_row_dup_text(QUERY_ROW(row), "album");
    g_autofree char *year = query_row_dup_text(QUERY_ROW(row), "year");
    const char *texts[] = { artist, title, album, year };
    guint i = 0;

    for (GtkWidget *cell = gtk_widget_get_first_child(box); cell != NULL; cell = gtk_widget_get_next_sibling(cell))
        gtk_inscription_set_text(GTK_INSCRIPTION(cell), texts[i++]);
}

static void
on_setup(GtkListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
    static const guint widths[] = { 18, 24, 18, 5 };
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);

    for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
        GtkWidget *cell = gtk_inscription_new(NULL); /* cheaper than a label: its size does not depend on its text */

        gtk_inscription_set_text_overflow(GTK_INSCRIPTION(cell), GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
        gtk_inscription_set_nat_chars(GTK_INSCRIPTION(cell), widths[i]);
        gtk_widget_set_hexpand(cell, i < 3);
        gtk_box_append(GTK_BOX(box), cell);
    }
    gtk_list_item_set_child(item, box);
}

/* The row may not be loaded yet, and it may change later. */
static void
on_bind(GtkListItemFactory *factory, GtkListItem *item, MusicLibrary *self)
{
    GObject *row = gtk_list_item_get_item(item);

    g_signal_connect(row, "notify::values", G_CALLBACK(show_values), item);
    show_values(row, NULL, item);
    g_hash_table_add(self->bound, item);
}

static void
on_unbind(GtkListItemFactory *factory, GtkListItem *item, MusicLibrary *self)
{
    g_signal_handlers_disconnect_by_func(gtk_list_item_get_item(item), show_values, item);
    g_hash_table_remove(self->bound, item);
}

static GtkWidget *
create_view(MusicLibrary *self)
{
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    GtkSelectionModel *selection = GTK_SELECTION_MODEL(gtk_single_selection_new(g_object_ref(G_LIST_MODEL(self->list))));

    g_signal_connect(factory, "setup", G_CALLBACK(on_setup), NULL);
    g_signal_connect(factory, "bind", G_CALLBACK(on_bind), self);
    g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), self);
    return gtk_list_view_new(selection, factory);
}

/* The window -------------------------------------------------------------------------------------------------------------- */

static void
on_search(GtkSearchEntry *entry, MusicLibrary *self)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    g_autofree char *pattern = g_strdup_printf("%%%s%%", text);
    GVariantDict parameters;

    if (text[0] == '\0') {
        query_list_model_set_query(self->list, QUERY_LANGUAGE_SQL, QUERY, NULL);
        return;
    }
    g_variant_dict_init(&parameters, NULL);
    g_variant_dict_insert(&parameters, "1", "s", pattern);
    query_list_model_set_query(self->list, QUERY_LANGUAGE_SQL, SEARCH, g_variant_dict_end(&parameters));
}

static void
on_order(GtkDropDown *orders, GParamSpec *spec, MusicLibrary *self)
{
    query_list_model_set_order(self->list, ORDERS[gtk_drop_down_get_selected(orders) % G_N_ELEMENTS(ORDERS)], "id");
}

static void
on_state(GObject *list, GParamSpec *spec, MusicLibrary *self)
{
    const GError *error = query_list_model_get_error(self->list);
    g_autofree char *text = g_strdup_printf("%'u songs", g_list_model_get_n_items(G_LIST_MODEL(self->list)));

    gtk_label_set_text(GTK_LABEL(self->status), error != NULL ? error->message : text);
}

static GtkWidget *
create_header(MusicLibrary *self)
{
    const char *const orders[] = { "by artist", "by title", "newest first", NULL };
    GtkWidget *header = gtk_header_bar_new();
    GtkWidget *order = gtk_drop_down_new_from_strings(orders);

    self->search = gtk_search_entry_new();
    self->status = gtk_label_new(NULL);
    gtk_widget_set_size_request(self->search, 240, -1);
    g_signal_connect(self->search, "search-changed", G_CALLBACK(on_search), self);
    g_signal_connect(order, "notify::selected", G_CALLBACK(on_order), self);
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(header), self->search);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), order);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), self->status);
    return header;
}

void
music_library_open(MusicLibrary *self)
{
    query_list_model_set_order(self->list, ORDERS[0], "id");
    query_list_model_set_query(self->list, QUERY_LANGUAGE_SQL, QUERY, NULL);
}

static void
on_activate(GtkApplication *application, MusicLibrary *self)
{
    self->window = gtk_application_window_new(application);
    self->list = query_list_model_new(self->connection);
    self->scrolled = gtk_scrolled_window_new();
    gtk_window_set_default_size(GTK_WINDOW(self->window), 860, 560);
    gtk_window_set_titlebar(GTK_WINDOW(self->window), create_header(self));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scrolled), create_view(self));
    gtk_window_set_child(GTK_WINDOW(self->window), self->scrolled);
    g_signal_connect(self->list, "notify::n-items", G_CALLBACK(on_state), self);
    g_signal_connect(self->list, "notify::error", G_CALLBACK(on_state), self);
    gtk_window_present(GTK_WINDOW(self->window));
    if (self->picture != NULL)
        music_library_measure(self);
    else
        music_library_open(self);
}

/* The store --------------------------------------------------------------------------------------------------------------- */

static gboolean
update(MusicLibrary *self, const char *text, GVariant *parameters, GError **error)
{
    return query_connection_update(self->connection, QUERY_LANGUAGE_SQL, text, parameters, NULL, error) >= 0;
}

static gboolean
create_table(MusicLibrary *self, GError **error)
{
    return update(self,
                  "CREATE TABLE IF NOT EXISTS song (id INTEGER PRIMARY KEY, artist TEXT NOT NULL, title TEXT NOT NULL, "
                  "album TEXT NOT NULL, year INTEGER NOT NULL)",
                  NULL, error);
}

/* One for each order of the list. */
static gboolean
create_indexes(MusicLibrary *self, GError **error)
{
    return update(self, "CREATE INDEX IF NOT EXISTS song_artist ON song (artist, title)", NULL, error) &&
           update(self, "CREATE INDEX IF NOT EXISTS song_title ON song (title)", NULL, error) &&
           update(self, "CREATE INDEX IF NOT EXISTS song_year ON song (year)", NULL, error);
}

/* Invented ones, some thousands a commit. */
static gboolean
add_songs(MusicLibrary *self, gint64 n_songs, GError **error)
{
    static const char insert[] =
        "INSERT INTO song (artist, title, album, year) WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < "
        "?2), "
        "w(a, b) AS (SELECT 'Amber   Blue    Copper  Distant ElectricFalling Golden  Hidden  Ivory   Quiet   ', "
        "'Rivers  Engines Gardens Mirrors Voices  StationsLanternsHorses  Winters Islands ') "
        "SELECT rtrim(substr(a, 1 + 8 * (i % 10), 8)) || ' ' || rtrim(substr(b, 1 + 8 * (i / 10 % 10), 8)) || ' ' || (i * 7919 % "
        "100), "
        "rtrim(substr(a, 1 + 8 * (i / 100 % 10), 8)) || ' ' || rtrim(substr(b, 1 + 8 * (i / 7 % 10), 8)) || ', No. ' || i, "
        "rtrim(substr(a, 1 + 8 * (i / 7 % 10), 8)) || ' ' || rtrim(substr(b, 1 + 8 * (i / 3 % 10), 8)), 1950 + i * 31 % 75 FROM n, "
        "w";

    for (gint64 i = 0; i < n_songs; i += COMMIT_SONGS) {
        GVariantDict parameters;

        g_variant_dict_init(&parameters, NULL);
        g_variant_dict_insert(&parameters, "1", "x", i + 1);
        g_variant_dict_insert(&parameters, "2", "x", MIN(i + COMMIT_SONGS, n_songs));
        if (!update(self, insert, g_variant_dict_end(&parameters), error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
prepare_store(MusicLibrary *self, gint64 n_songs, GError **error)
{
    self->connection = query_connection_new(NULL, error);
    if (self->connection == NULL)
        return FALSE;

    return create_table(self, error) && (n_songs == 0 || add_songs(self, n_songs, error)) && create_indexes(self, error);
}

int
main(int argc, char **argv)
{
    gint64 n_songs = 0;
    MusicLibrary self = { .bound = g_hash_table_new(NULL, NULL) };
    const GOptionEntry entries[] = {
        { "add", 0, 0, G_OPTION_ARG_INT64, &n_songs, "Add songs and end", "NUMBER" },
        { "measure", 0, 0, G_OPTION_ARG_FILENAME, &self.picture, "Scroll and search by itself, keep a picture", "FILE.png" },
        { NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GtkApplication) application = NULL;
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || !prepare_store(&self, n_songs, &error)) {
        g_printerr("music-library: %s\n", error->message);
        return EXIT_FAILURE;
    }
    if (n_songs > 0)
        return EXIT_SUCCESS;

    application = gtk_application_new("org.queryd.MusicLibrary", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(on_activate), &self);
    return g_application_run(G_APPLICATION(application), 1, argv);
}
