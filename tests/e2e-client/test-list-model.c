/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryListModel with the real daemon on a private bus. What a view sees is the result of the query: at any position, in any order,
 * and after any change by others. The signals are the least ones.
 */
#include <string.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/list-view.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define N_SONGS 20000u
#define N_TRIES_MAX 50
#define SONGS "SELECT id, artist, title FROM song"

static PrivateBus *bus;

static guint64
read_generation(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, "SELECT COUNT(*) FROM song", NULL, NULL, &error);

    while (query_cursor_next(cursor, NULL, &error))
        continue;
    g_assert_no_error(error);
    return query_cursor_get_generation(cursor);
}

static void
execute(QueryConnection *connection, QueryLanguage language, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(connection, language, text, NULL, NULL, &error);
    g_assert_no_error(error);
}

static void
make_songs(QueryConnection *connection, guint n)
{
    g_autofree char *insert = g_strdup_printf("INSERT INTO song WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                              "WHERE i < %u) SELECT i * 10, 'artist ' || (i * 7919 %% 997), 'title ' || i FROM n",
                                              n);

    client_execute(connection, "DROP TABLE IF EXISTS song");
    client_execute(connection, "CREATE TABLE song (id INTEGER PRIMARY KEY, artist TEXT, title TEXT)");
    client_execute(connection, "CREATE INDEX song_artist ON song (artist, title, id)");
    client_execute(connection, insert);
}

static QueryListModel *
make_list(QueryConnection *connection, const char *text, const char *order, const char *key)
{
    QueryListModel *list = query_list_model_new(connection);
    g_auto(GStrv) columns = order != NULL ? g_strsplit(order, ", ", 0) : NULL;

    query_list_model_set_order(list, (const char *const *) columns, key);
    query_list_model_set_query(list, SQL, text, NULL);
    return list;
}

static void
test_windows(gconstpointer data)
{
    const char *order = data;
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    g_autofree char *by = g_strdup_printf(SONGS " ORDER BY %s, id%s", order, strstr(order, " DESC") != NULL ? " DESC" : "");
    const guint places[] = { 0, 300, 10000, N_SONGS - 30, N_SONGS - 700, 10200, 9800, 12000 };
    View view;

    make_songs(connection, N_SONGS);
    list = make_list(connection, SONGS, order, "id");
    view_init(&view, list);
    view_wait_loaded(&view);
    g_assert_cmpuint(view.n_items, ==, N_SONGS);
    g_assert_cmpuint(view.n_signals, ==, 3); /* the first rows, and the others when they were counted */
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        view_show(&view, places[i], 50);
        view_settle(&view, 1);
        view_check(&view, connection, SQL, by);
    }
    g_assert_cmpuint(view.n_signals, ==, 3);
    view_clear(&view);
}

/* Every row, forwards, then backwards; few are kept. */
static void
test_scroll(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    View view;

    make_songs(connection, N_SONGS);
    list = make_list(connection, SONGS, "artist, title", "id");
    view_init(&view, list);
    view_wait_loaded(&view);
    for (guint i = 0; i < N_SONGS; i += 500) {
        view_show(&view, i, 500);
        view_settle(&view, 1);
    }
    for (guint i = N_SONGS; i >= 500; i -= 500) {
        view_show(&view, i - 500, 500);
        view_settle(&view, 1);
    }
    view_check(&view, connection, SQL, SONGS " ORDER BY artist, title, id");
    view_clear(&view);
}

/* @sql ends before the id of the row, which the view holds as number @index. */
static void
change_held_row(View *view, QueryConnection *connection, const char *sql, guint index)
{
    g_autofree char *update = g_strdup_printf("%s%" G_GINT64_FORMAT, sql, query_row_get_int64(view->rows->pdata[index], 0));

    view_forget_counts(view);
    client_execute(connection, update);
    view_settle(view, read_generation(connection));
}

/* Rows that the view holds are changed, deleted and inserted. */
static void
check_held_rows(View *view, QueryConnection *connection, const char *by)
{
    change_held_row(view, connection, "UPDATE song SET title = title || ' ' WHERE id = ", 20);
    g_assert_cmpuint(view->n_signals, ==, 0); /* the row says so, the list does not */
    g_assert_cmpuint(view->n_filled, ==, 1);
    view_check(view, connection, SQL, by);

    change_held_row(view, connection, "DELETE FROM song WHERE id = ", 30);
    g_assert_cmpuint(view->n_signals, ==, 1);
    g_assert_cmpuint(view->n_removed, ==, 1);
    view_check(view, connection, SQL, by);

    change_held_row(view, connection, "INSERT INTO song SELECT 3, artist, title || 'a' FROM song WHERE id = ", 10);
    g_assert_cmpuint(view->n_signals, ==, 1);
    g_assert_cmpuint(view->n_added, ==, 1);
    view_check(view, connection, SQL, by);
}

static void
test_changes(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    const char *by = SONGS " ORDER BY artist, title, id";
    View view;

    make_songs(connection, N_SONGS);
    list = make_list(connection, SONGS, "artist, title", "id");
    view_init(&view, list);
    view_wait_loaded(&view);
    view_show(&view, 5000, 50);
    view_settle(&view, 1);
    check_held_rows(&view, connection, by);

    /* rows far before, and far after */
    view_forget_counts(&view);
    client_execute(connection, "INSERT INTO song VALUES (1, '!', '!'), (2, 'zzz', 'zzz')");
    view_settle(&view, read_generation(connection));
    g_assert_cmpuint(view.first, ==, 5001);
    g_assert_cmpuint(view.n_signals, ==, 2);
    g_assert_cmpuint(view.n_added, ==, 2);
    g_assert_cmpuint(view.n_removed + view.n_filled, ==, 0);
    view_check(&view, connection, SQL, by);

    client_execute(connection, "DELETE FROM song");
    view_settle(&view, read_generation(connection));
    g_assert_cmpuint(view.n_items, ==, 0);
    client_execute(connection, "INSERT INTO song VALUES (1, 'a', 'b')");
    view_settle(&view, read_generation(connection));
    g_assert_cmpuint(view.n_items, ==, 1);
    view_clear(&view);
}

static guint64
count_rows_read(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) stats = query_connection_get_stats(connection, NULL, &error);
    guint64 n_rows = 0;

    g_assert_no_error(error);
    g_assert_true(g_variant_lookup(stats, "rows_total", "t", &n_rows));
    return n_rows;
}

/* A commit that changes rows in memory costs these rows; nothing is counted. */
static void
test_changed_keys(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    g_autofree char *update = NULL;
    g_autofree char *delete = NULL;
    guint64 n_before;
    guint n_tries = 0;
    gint64 id;
    View view;

    make_songs(connection, N_SONGS);
    list = make_list(connection, SONGS, "artist", "id");
    view_init(&view, list);
    view_wait_loaded(&view);
    view_show(&view, 5000, 50);
    view_settle(&view, 1);
    client_execute(connection, "DELETE FROM song WHERE artist = 'artist 1'"); /* the subscription is there when it has come */
    view_settle(&view, read_generation(connection));

    id = query_row_get_int64(view.rows->pdata[20], 0);
    update = g_strdup_printf("UPDATE song SET title = title || '.' WHERE id = %" G_GINT64_FORMAT, id);
    do { /* rows are still read ahead at first */
        view_forget_counts(&view);
        n_before = count_rows_read(connection);
        client_execute(connection, update);
        while (view.n_filled == 0)
            g_main_context_iteration(NULL, TRUE);
    } while (count_rows_read(connection) - n_before != 1 && ++n_tries < N_TRIES_MAX);
    g_assert_cmpuint(n_tries, <, N_TRIES_MAX);
    g_assert_cmpuint(view.n_signals, ==, 0);

    delete = g_strdup_printf("DELETE FROM song WHERE id = %" G_GINT64_FORMAT, id);
    client_execute(connection, delete);
    while (view.n_signals == 0)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpuint(count_rows_read(connection) - n_before, ==, 1);
    g_assert_cmpuint(view.n_removed, ==, 1);
    view_check(&view, connection, SQL, SONGS " ORDER BY artist, id");
    view_clear(&view);
}

static void
change_at_random(QueryConnection *connection, guint n_max)
{
    guint id = (guint) g_test_rand_int_range(1, (int) n_max);
    guint n = (guint) g_test_rand_int_range(1, 40);
    g_autofree char *text = NULL;

    switch (g_test_rand_int_range(0, 5)) {
    case 0:
        text = g_strdup_printf("INSERT OR IGNORE INTO song VALUES (%u, 'artist ' || (%u %% 997), 'new')", id, id * 31);
        break;
    case 1:
        text = g_strdup_printf("DELETE FROM song WHERE id BETWEEN %u AND %u", id, id + n);
        break;
    case 2:
        text = g_strdup_printf("UPDATE song SET artist = 'artist ' || (%u %% 997) WHERE id BETWEEN %u AND %u", id * 17, id, id + n);
        break;
    case 3:
        text = g_strdup_printf("UPDATE song SET title = 'title %u' WHERE id BETWEEN %u AND %u", id, id, id + 10 * n);
        break;
    default:
        text = g_strdup_printf("INSERT OR IGNORE INTO song SELECT id + 3, artist, title FROM song WHERE id BETWEEN %u AND %u", id,
                               id + 10 * n);
        break;
    }
    client_execute(connection, text);
}

/* However the table changes, the view has the result in the end, and the signals were true. */
static void
test_random_changes(gconstpointer data)
{
    const char *order = data;
    gboolean is_nullable = strstr(order, "rating") != NULL;
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    const char *text = is_nullable ? "SELECT id, artist, title, CASE WHEN id % 3 THEN id % 7 END AS rating FROM song" : SONGS;
    g_autofree char *by = g_strdup_printf("SELECT * FROM (%s) ORDER BY %s, id%s", text, order,
                                          strstr(order, " DESC") != NULL ? " DESC" : "");
    View view;

    make_songs(connection, 1000);
    list = make_list(connection, text, order, "id");
    view_init(&view, list);
    view_wait_loaded(&view);
    for (guint i = 0; i < 60; i++) {
        view_show(&view, (guint) g_test_rand_int_range(0, (int) view.n_items), (guint) g_test_rand_int_range(1, 400));
        for (int j = g_test_rand_int_range(1, 4); j > 0; j--) {
            change_at_random(connection, 10000);
            if (g_test_rand_bit())
                view_settle(&view, 1);
        }
        view_settle(&view, read_generation(connection));
        view_check(&view, connection, SQL, by);
    }
    view_clear(&view);
}

/* Rows go far after those that are read again. Held rows there are read next, beside those in memory. */
static void
test_rows_read_next(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    const char *text = "SELECT id, artist, CASE WHEN id % 3 THEN id % 7 END AS rating FROM song";
    g_autofree char *by = g_strdup_printf("SELECT * FROM (%s) ORDER BY rating, artist, id", text);
    g_autofree char *update = NULL;
    View view;

    make_songs(connection, N_SONGS);
    list = make_list(connection, text, "rating, artist", "id");
    view_init(&view, list);
    view_wait_loaded(&view);
    view_show(&view, 0, 600);
    view_settle(&view, 1);
    g_object_unref(g_list_model_get_item(G_LIST_MODEL(list), 100)); /* asked for last: 256 rows beside it are read again first */
    view_settle(&view, 1);

    update = g_strdup_printf("DELETE FROM song WHERE id IN (%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")",
                             query_row_get_int64(view.rows->pdata[400], 0), query_row_get_int64(view.rows->pdata[401], 0));
    client_execute(connection, update);
    view_settle(&view, read_generation(connection));
    view_check(&view, connection, SQL, by);
    view_clear(&view);
}

static void
test_parameters(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = query_list_model_new(connection);
    const char *search = SONGS " WHERE title LIKE ? || '%' -- by its beginning";
    View view;

    make_songs(connection, 2000);
    query_list_model_set_order(list, (const char *[]){ "title DESC", NULL }, "id");
    view_init(&view, list);
    query_list_model_set_query(list, SQL, search, g_variant_new_parsed("{'1': <'title 1'>}"));
    view_wait_loaded(&view);
    g_assert_cmpuint(view.n_items, ==, 1111);
    view_show(&view, 900, 100);
    view_settle(&view, 1);
    view_check(&view, connection, SQL, SONGS " WHERE title LIKE 'title 1%' ORDER BY title DESC, id DESC");

    /* the old rows stay until the new ones are here */
    query_list_model_set_query(list, SQL, search, g_variant_new_parsed("{'1': <'title 77'>}"));
    g_assert_cmpuint(view.n_items, ==, 1111);
    g_assert_true(query_list_model_is_loading(list));
    while (view.n_items == 1111)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpuint(view.n_items, ==, 11);

    query_list_model_set_query(list, SQL, NULL, NULL);
    g_assert_cmpuint(view.n_items, ==, 0);
    g_assert_false(query_list_model_is_loading(list));
    view_clear(&view);
}

static void
test_sparql(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = query_list_model_new(connection);
    g_autoptr(GString) data = g_string_new("INSERT DATA {\n");
    const char *text = "PREFIX : <http://example.org/> # it has a prologue\nSELECT ?title ?song WHERE { ?song :title ?title }";
    g_autofree char *by = g_strdup_printf("%s ORDER BY DESC(?title) ASC(?song)", text);
    View view;

    for (guint i = 0; i < 1500; i++)
        g_string_append_printf(data, "<http://example.org/s%u> <http://example.org/title> \"title %u\" .\n", i, i * 7 % 100);
    g_string_append_c(data, '}');
    execute(connection, QUERY_LANGUAGE_SPARQL, data->str);
    query_list_model_set_order(list, (const char *[]){ "title DESC", NULL }, "song");
    query_list_model_set_query(list, QUERY_LANGUAGE_SPARQL, text, NULL);
    view_init(&view, list);
    view_wait_loaded(&view);
    g_assert_cmpuint(view.n_items, ==, 1500);
    g_free(by);
    by = g_strdup_printf("%s ORDER BY DESC(?title) DESC(?song)", text);
    view_show(&view, 700, 60);
    view_settle(&view, 1);
    view_check(&view, connection, QUERY_LANGUAGE_SPARQL, by);

    view_forget_counts(&view);
    execute(connection, QUERY_LANGUAGE_SPARQL, "INSERT DATA { <http://example.org/new> <http://example.org/title> \"title 0\" }");
    view_settle(&view, read_generation(connection));
    view_check(&view, connection, QUERY_LANGUAGE_SPARQL, by);
    g_assert_cmpuint(view.n_items, ==, 1501);
    view_clear(&view);
}

static void
on_sections_changed(QueryListModel *list, guint position, guint n_items, guint *n)
{
    (*n)++;
}

static void
test_sections(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    g_autofree char *title = NULL;
    guint n_told = 0;
    guint start;
    guint end;
    View view;

    make_songs(connection, 997 * 3);
    list = make_list(connection, SONGS, "artist DESC, title DESC", "id");
    query_list_model_set_section_column(list, "artist");
    g_signal_connect(list, "sections-changed", G_CALLBACK(on_sections_changed), &n_told);
    view_init(&view, list);
    view_wait_loaded(&view);
    query_list_model_get_section(list, 4, &start, &end);
    g_assert_cmpuint(end - start, ==, view.n_items); /* not known yet */
    while (n_told == 0)
        g_main_context_iteration(NULL, TRUE);
    query_list_model_get_section(list, 4, &start, &end);
    g_assert_cmpuint(start, ==, 3);
    g_assert_cmpuint(end, ==, 6);
    title = query_list_model_dup_section_title(list, 2);
    g_assert_cmpstr(title, ==, "artist 996");
    query_list_model_get_section(list, view.n_items, &start, &end);
    g_assert_cmpuint(start, ==, view.n_items);
    g_assert_cmpuint(end, ==, G_MAXUINT);

    n_told = 0;
    client_execute(connection, "INSERT INTO song VALUES (5, 'artist 996', 'x')");
    while (n_told == 0)
        g_main_context_iteration(NULL, TRUE);
    query_list_model_get_section(list, 4, &start, &end);
    g_assert_cmpuint(start, ==, 4);
    view_clear(&view);
}

static void
test_errors(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) nowhere = g_object_new(QUERY_TYPE_LIST_MODEL, NULL);
    g_autoptr(QueryListModel) list = make_list(connection, "SELECT nothing FROM nowhere", NULL, NULL);
    g_autoptr(QueryRow) alone = g_object_new(QUERY_TYPE_ROW, NULL);
    g_autofree char *text = query_row_dup_text(alone, "name");

    g_assert_cmpstr(text, ==, "");
    g_assert_cmpuint(query_row_get_position(alone), ==, G_MAXUINT);
    query_list_model_set_query(nowhere, SQL, "SELECT 1", NULL);
    g_assert_null(g_list_model_get_item(G_LIST_MODEL(nowhere), 0));
    while (query_list_model_is_loading(list))
        g_main_context_iteration(NULL, TRUE);
    g_assert_error(query_list_model_get_error(list), QUERY_ERROR, QUERY_ERROR_SYNTAX);
    query_list_model_set_query(list, SQL, "SELECT 1 AS one", NULL);
    while (g_list_model_get_n_items(G_LIST_MODEL(list)) == 0)
        g_main_context_iteration(NULL, TRUE);
    g_assert_null(query_list_model_get_error(list));
}

/* A list that goes while rows are under way, and rows that outlive it. */
static void
test_ends(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryRow) row = NULL;
    QueryListModel *list;

    make_songs(connection, 3000);
    list = make_list(connection, SONGS, "artist", "id");
    while (g_list_model_get_n_items(G_LIST_MODEL(list)) < 3000)
        g_main_context_iteration(NULL, TRUE);
    row = g_list_model_get_item(G_LIST_MODEL(list), 2000);
    g_main_context_iteration(NULL, FALSE);
    g_clear_object(&list);
    g_assert_false(query_row_is_loaded(row));
    g_assert_cmpuint(query_row_get_position(row), ==, G_MAXUINT);
    for (guint i = 0; i < 20; i++)
        g_main_context_iteration(NULL, FALSE);
}

/* A view paints what fills a screen before it makes widgets for more. */
static void
test_opening(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = query_list_model_new(connection);
    static const guint expected[] = { 64, 256, 3000 };
    View view;

    make_songs(connection, 3000);
    view_init(&view, list);
    query_list_model_set_query(list, SQL, SONGS, NULL);
    while (view.n_items == 0)
        g_main_context_iteration(NULL, TRUE);
    query_list_model_set_query(list, SQL, SONGS " WHERE id <= 1000", NULL); /* what was set aside goes */
    while (view.n_items != 100)
        g_main_context_iteration(NULL, TRUE);
    while (query_list_model_is_loading(list))
        g_main_context_iteration(NULL, TRUE);

    query_list_model_set_query(list, SQL, SONGS, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autoptr(QueryRow) last = NULL;

        for (view_forget_counts(&view); view.n_signals == 0;)
            g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(view.n_items, ==, expected[i]);
        last = g_list_model_get_item(G_LIST_MODEL(list), view.n_items - 1);
        g_assert_true(query_row_is_loaded(last) == (i < 2));
        g_assert_true(query_list_model_is_loading(list));
    }
    view_clear(&view);
}

/* What SongRec shows: freezes of 23 s there. */
static void
test_speed(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryListModel) list = NULL;
    gint64 began;
    View view;

    make_songs(connection, N_SONGS);
    list = query_list_model_new(connection);
    view_init(&view, list);
    began = g_get_monotonic_time();
    query_list_model_set_order(list, (const char *[]){ "artist", "title", NULL }, "id");
    query_list_model_set_query(list, SQL, SONGS, NULL);
    while (view.n_items == 0)
        g_main_context_iteration(NULL, TRUE);
    g_test_message("first rows after %" G_GINT64_FORMAT " us", g_get_monotonic_time() - began);
    while (view.n_items < N_SONGS)
        g_main_context_iteration(NULL, TRUE);
    g_test_message("all rows after %" G_GINT64_FORMAT " us", g_get_monotonic_time() - began);
    g_assert_cmpint(g_get_monotonic_time() - began, <, 2 * G_USEC_PER_SEC); /* 20 times the bar: other programs run */
    view_clear(&view);
}

int
main(int argc, char **argv)
{
    int r;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/list-model/windows/by-index", "artist, title", test_windows);
    g_test_add_data_func("/list-model/windows/descending", "artist DESC, title DESC", test_windows);
    g_test_add_data_func("/list-model/windows/both-directions", "title DESC, artist", test_windows);
    g_test_add_func("/list-model/scroll", test_scroll);
    g_test_add_func("/list-model/changes", test_changes);
    g_test_add_func("/list-model/rows-read-next", test_rows_read_next);
    g_test_add_func("/list-model/changed-keys", test_changed_keys);
    g_test_add_data_func("/list-model/random-changes/ascending", "artist, title", test_random_changes);
    g_test_add_data_func("/list-model/random-changes/descending", "artist DESC", test_random_changes);
    g_test_add_data_func("/list-model/random-changes/both-directions", "title DESC, artist", test_random_changes);
    g_test_add_data_func("/list-model/random-changes/null", "rating, artist", test_random_changes);
    g_test_add_func("/list-model/parameters", test_parameters);
    g_test_add_func("/list-model/sparql", test_sparql);
    g_test_add_func("/list-model/sections", test_sections);
    g_test_add_func("/list-model/errors", test_errors);
    g_test_add_func("/list-model/ends", test_ends);
    g_test_add_func("/list-model/opening", test_opening);
    g_test_add_func("/list-model/speed", test_speed);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
