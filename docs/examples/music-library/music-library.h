/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The window of the music library, for the part that measures it.
 */
#pragma once

#include <gtk/gtk.h>

#include <query-client.h>

typedef struct MusicLibrary {
    QueryConnection *connection;
    QueryListModel *list;
    GtkWidget *window, *scrolled, *search, *status;
    GHashTable *bound; /* set of GtkListItem that show a row */
    char *picture;     /* (nullable): a file for --measure */
} MusicLibrary;

/* Shows all songs. */
void music_library_open(MusicLibrary *self);
/* Measures, writes the figures to standard output and the picture, and closes the window. */
void music_library_measure(MusicLibrary *self);
