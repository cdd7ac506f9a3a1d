/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads by libquery-client with the real daemon: every size class, every way in and out.
 */
#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/query-connection-private.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

static PrivateBus *bus;

/* In a row, by the channel; in a file, by a descriptor; and mapped. */
static const gsize sizes[] = { 0, 1, 1000, 65535, 65536, 65537, 200000, 3000000 };

static QueryConnection *
open_connection(gboolean direct)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = direct ? query_connection_new_direct(NULL, NULL, &error) : query_connection_new(NULL, &error);

    g_assert_no_error(error);
    return connection;
}

static GBytes *
make_content(gsize n_bytes, guint seed)
{
    guint8 *data = g_malloc(n_bytes + 1);

    for (gsize i = 0; i < n_bytes; i++)
        data[i] = (guint8) (i * 31 + seed + i / 251);
    return g_bytes_new_take(data, n_bytes);
}

static void
assert_content(QueryConnection *connection, gint64 id, GBytes *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) content = query_connection_load_payload(connection, id, NULL, &error);

    g_assert_no_error(error);
    g_assert_true(g_bytes_equal(content, expected));
}

static gint64
store(QueryConnection *connection, GBytes *content)
{
    g_autoptr(GError) error = NULL;
    gint64 id = query_connection_store_payload(connection, content, NULL, NULL, &error);

    g_assert_no_error(error);
    g_assert_cmpint(id, >, 0);
    return id;
}

static void
test_bytes(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(QueryConnection) direct = NULL;
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GBytes) first = make_content(sizes[i], 1);
        g_autoptr(GBytes) second = make_content(sizes[G_N_ELEMENTS(sizes) - 1 - i], 2);
        gint64 id = store(connection, first);

        assert_content(connection, id, first);
        g_assert_true(query_connection_replace_payload(connection, id, second, NULL, NULL, &error));
        g_assert_no_error(error);
        assert_content(connection, id, second);
        if (direct == NULL)
            direct = open_connection(TRUE);
        assert_content(direct, id, second);
        g_assert_true(query_connection_delete_payload(connection, id, NULL, &error));
        g_assert_no_error(error);
        g_assert_null(query_connection_load_payload(direct, id, NULL, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_clear_error(&error);
        g_assert_false(query_connection_delete_payload(connection, id, NULL, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_clear_error(&error);
        g_assert_false(query_connection_replace_payload(connection, id, second, NULL, NULL, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_clear_error(&error);
    }
}

/* Small content needs no D-Bus, in or out. */
static void
test_channel(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(GBytes) content = make_content(1000, 3);
    guint n_calls;
    gint64 id;

    id = store(connection, content);
    assert_content(connection, id, content);
    n_calls = query_bus_get_n_calls(query_connection_get_bus(connection));
    for (guint i = 0; i < 10; i++)
        assert_content(connection, store(connection, content), content);
    g_assert_cmpuint(query_bus_get_n_calls(query_connection_get_bus(connection)), ==, n_calls);
}

static void
test_streams(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GBytes) content = make_content(sizes[i], 4);
        g_autoptr(GInputStream) in = g_memory_input_stream_new_from_bytes(content);
        g_autoptr(GInputStream) again = g_memory_input_stream_new_from_bytes(content);
        g_autoptr(GInputStream) out = NULL;
        g_autoptr(GBytes) read = NULL;
        gint64 id = query_connection_store_payload_from_stream(connection, in, NULL, NULL, &error);

        g_assert_no_error(error);
        g_assert_true(query_connection_replace_payload_from_stream(connection, id, again, NULL, NULL, &error));
        out = query_connection_read_payload(connection, id, NULL, &error);
        g_assert_no_error(error);
        read = g_input_stream_read_bytes(out, sizes[i] + 10, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(g_bytes_equal(read, content));
    }
}

static void
test_descriptors(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(GBytes) content = make_content(100000, 5);
    g_autoptr(GError) error = NULL;
    int fd = memfd_create("source", MFD_CLOEXEC);
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    char start[4];
    gint64 id;

    g_assert_cmpint(write(fd, g_bytes_get_data(content, NULL), 100000), ==, 100000);
    g_variant_builder_add(&options, "{sv}", "media_type", g_variant_new_string("a/b"));
    g_variant_builder_add(&options, "{sv}", "durability", g_variant_new_string("relaxed"));
    id = query_connection_store_payload_from_fd(connection, fd, g_variant_builder_end(&options), NULL, &error);
    g_assert_no_error(error);
    assert_content(connection, id, content);
    g_assert_true(query_connection_replace_payload_from_fd(connection, id, fd, NULL, NULL, &error));
    (void) close(fd);
    fd = query_connection_open_payload(connection, id, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, !=, 0);
    g_assert_cmpint(pread(fd, start, sizeof start, 0), ==, sizeof start);
    g_assert_cmpmem(start, sizeof start, g_bytes_get_data(content, NULL), sizeof start);
    (void) close(fd);
    g_assert_cmpint(query_connection_store_payload_from_fd(connection, 0, g_variant_new_parsed("{'no': <1>}"), NULL, &error), ==,
                    -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
}

static void
test_many(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(QueryConnection) direct = NULL;
    g_autoptr(GPtrArray) contents = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    g_autoptr(GError) error = NULL;
    gint64 ids[40];

    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_ptr_array_add(contents, make_content(i % 2 == 0 ? i : 40000 * (1 + i % 3) + i, i));
        ids[G_N_ELEMENTS(ids) - 1 - i] = store(connection, contents->pdata[i]);
    }
    direct = open_connection(TRUE);
    for (guint k = 0; k < 2; k++) {
        g_autoptr(GPtrArray)
            loaded = query_connection_load_payloads(k == 0 ? connection : direct, ids, G_N_ELEMENTS(ids), NULL, &error);

        g_assert_no_error(error);
        g_assert_cmpuint(loaded->len, ==, G_N_ELEMENTS(ids));
        for (guint i = 0; i < loaded->len; i++)
            g_assert_true(g_bytes_equal(loaded->pdata[i], contents->pdata[loaded->len - 1 - i]));
    }
    ids[7] = 12345678;
    g_assert_null(query_connection_load_payloads(connection, ids, G_N_ELEMENTS(ids), NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_assert_cmpstr(error->message, ==, "there is no payload 12345678");
    g_clear_error(&error);
    g_assert_cmpint(query_connection_store_payload(direct, contents->pdata[0], NULL, NULL, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_READ_ONLY);
}

static void
test_async(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(GBytes) content = make_content(300000, 6);
    g_autoptr(GBytes) loaded = NULL;
    g_autoptr(GAsyncResult) stored = NULL;
    g_autoptr(GAsyncResult) replaced = NULL;
    g_autoptr(GAsyncResult) got = NULL;
    g_autoptr(GAsyncResult) deleted = NULL;
    g_autoptr(GError) error = NULL;
    gint64 id;

    query_connection_store_payload_async(connection, content, NULL, NULL, client_keep_result, &stored);
    id = query_connection_store_payload_finish(connection, client_wait_for(&stored), &error);
    g_assert_no_error(error);
    query_connection_replace_payload_async(connection, id, content, NULL, NULL, client_keep_result, &replaced);
    g_assert_true(query_connection_replace_payload_finish(connection, client_wait_for(&replaced), &error));
    query_connection_load_payload_async(connection, id, NULL, client_keep_result, &got);
    loaded = query_connection_load_payload_finish(connection, client_wait_for(&got), &error);
    g_assert_no_error(error);
    g_assert_true(g_bytes_equal(loaded, content));
    query_connection_delete_payload_async(connection, id, NULL, client_keep_result, &deleted);
    g_assert_true(query_connection_delete_payload_finish(connection, client_wait_for(&deleted), &error));
    g_assert_true(g_bytes_equal(loaded, content)); /* mapped, though its file is gone */
}

/* Many, in the order of the ids that were given; and one that is not there. */
static void
assert_many_files(QueryConnection *connection)
{
    g_autoptr(GPtrArray) contents = NULL;
    g_autoptr(GError) error = NULL;
    gint64 ids[50];

    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_autoptr(GBytes) content = make_content(70000 + i, i);

        ids[G_N_ELEMENTS(ids) - 1 - i] = store(connection, content);
    }
    contents = query_connection_load_payloads(connection, ids, G_N_ELEMENTS(ids), NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(contents->len, ==, G_N_ELEMENTS(ids));
    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_autoptr(GBytes) content = make_content(70000 + i, i);

        g_assert_true(g_bytes_equal(contents->pdata[G_N_ELEMENTS(ids) - 1 - i], content));
    }
    ids[40] = 1000000;
    g_assert_null(query_connection_load_payloads(connection, ids, G_N_ELEMENTS(ids), NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
}

/* Opened here: the bus is not asked. */
static void
test_many_files(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(GBytes) content = make_content(70000, 1);
    gint64 id = store(connection, content);
    guint n_calls;

    assert_content(connection, id, content); /* the channel is there now */
    n_calls = query_bus_get_n_calls(query_connection_get_bus(connection));
    assert_content(connection, id, content);
    g_assert_cmpuint(query_bus_get_n_calls(query_connection_get_bus(connection)), ==, n_calls);
    assert_many_files(connection);
}

/* Where the library does not look for them: by descriptors, and no more of them in a call than that daemon allows. */
static void
test_many_files_elsewhere(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = query_connection_new_for_store(PRIVATE_BUS_STORE_ELSEWHERE, NULL, &error);

    g_assert_no_error(error);
    assert_many_files(connection);
}

/* Every way to write has it; what an option says comes first. That it spares syncs is the daemon's part. */
static void
test_relaxed(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_connection_get_durability(connection), ==, QUERY_DURABILITY_FULL);
    query_connection_set_durability(connection, QUERY_DURABILITY_RELAXED);
    g_assert_cmpint(query_connection_get_durability(connection), ==, QUERY_DURABILITY_RELAXED);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GBytes) content = make_content(sizes[i], 3);
        GVariantDict options;
        gint64 id = store(connection, content);

        assert_content(connection, id, content);
        g_variant_dict_init(&options, NULL);
        g_variant_dict_insert(&options, "durability", "s", i % 2 == 0 ? "full" : "relaxed");
        id = query_connection_store_payload(connection, content, g_variant_dict_end(&options), NULL, &error);
        g_assert_no_error(error);
        assert_content(connection, id, content);
    }
    (void) query_connection_update(connection, QUERY_LANGUAGE_SQL, "CREATE TABLE relaxed(a)", NULL, NULL, &error);
    g_assert_no_error(error);
    statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, "INSERT INTO relaxed VALUES(1)", NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, 1);
    query_batch_add(batch, QUERY_LANGUAGE_SQL, "DELETE FROM relaxed", NULL);
    g_assert_true(query_batch_execute(batch, NULL, &error));
    g_assert_no_error(error);
}

/* The file of the descriptor that the last call passed; set by the bus' thread before the call is sent. */
static struct stat passed_file;
static pthread_mutex_t passed_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct stat
take_passed(void)
{
    struct stat passed;

    pthread_mutex_lock(&passed_mutex);
    passed = passed_file;
    passed_file = (struct stat){ 0 };
    pthread_mutex_unlock(&passed_mutex);
    return passed;
}

static GDBusMessage *
note_descriptor(GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer user_data)
{
    GUnixFDList *list = incoming ? NULL : g_dbus_message_get_unix_fd_list(message);

    pthread_mutex_lock(&passed_mutex);
    if (list != NULL)
        g_assert_cmpint(fstat(g_unix_fd_list_peek_fds(list, NULL)[0], &passed_file), ==, 0);
    pthread_mutex_unlock(&passed_mutex);
    return message;
}

/* The daemon's file of @content, which the call before has stored. */
static struct stat
get_stored(GBytes *content, const char *folder)
{
    g_autofree char *name = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, content);
    g_autofree char *path = g_build_filename(private_bus_get_folder(bus), folder, "payload", name, NULL);
    struct stat st;

    g_assert_cmpint(stat(path, &st), ==, 0);
    return st;
}

static void
assert_handed_over(GBytes *content)
{
    struct stat stored = get_stored(content, "data/queryd");
    struct stat passed = take_passed();

    g_assert_cmpuint(passed.st_nlink, ==, 0); /* it had no name when it was passed */
    g_assert_cmpuint(stored.st_dev, ==, passed.st_dev);
    g_assert_cmpuint(stored.st_ino, ==, passed.st_ino);
    g_assert_cmpuint(stored.st_nlink, ==, 1);
}

/* Files without a name, and leases. */
static gboolean
can_hand_over(void)
{
    g_autofree char *folder = g_build_filename(private_bus_get_folder(bus), "data/queryd/payload", NULL);
    int writer = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", writer);
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    gboolean can;

    if (writer >= 0)
        (void) close(writer);
    can = writer >= 0 && reader >= 0 && fcntl(reader, F_SETLEASE, F_RDLCK) == 0;
    if (reader >= 0)
        (void) close(reader);
    return can;
}

static void
store_in_each_way(QueryConnection *connection, guint seed)
{
    g_autoptr(GPtrArray) contents = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    g_autoptr(GAsyncResult) stored = NULL;
    g_autoptr(GInputStream) stream = NULL;
    g_autoptr(GInputStream) again = NULL;
    g_autoptr(GError) error = NULL;
    gint64 id;

    for (guint i = 0; i < 5; i++)
        g_ptr_array_add(contents, make_content((gsize) 1024 * 1024 + i, seed + i));
    id = store(connection, contents->pdata[0]);
    assert_handed_over(contents->pdata[0]);
    g_assert_true(query_connection_replace_payload(connection, id, contents->pdata[1], NULL, NULL, &error));
    assert_handed_over(contents->pdata[1]);
    stream = g_memory_input_stream_new_from_bytes(contents->pdata[2]);
    g_assert_cmpint(query_connection_store_payload_from_stream(connection, stream, NULL, NULL, &error), >, 0);
    assert_handed_over(contents->pdata[2]);
    again = g_memory_input_stream_new_from_bytes(contents->pdata[3]);
    g_assert_true(query_connection_replace_payload_from_stream(connection, id, again, NULL, NULL, &error));
    assert_handed_over(contents->pdata[3]);
    assert_content(connection, id, contents->pdata[3]);
    query_connection_store_payload_async(connection, contents->pdata[4], NULL, NULL, client_keep_result, &stored);
    id = query_connection_store_payload_finish(connection, client_wait_for(&stored), &error);
    g_assert_no_error(error);
    assert_handed_over(contents->pdata[4]);
    assert_content(connection, id, contents->pdata[4]);
}

/* What the library writes for a large payload is the store's file afterwards: it is not copied. */
static void
test_hand_over(void)
{
    g_autoptr(QueryConnection) connection = open_connection(FALSE);
    g_autoptr(GBytes) content = make_content(70000, 7);
    g_autoptr(GError) error = NULL;
    GDBusConnection *own = query_bus_get_connection(query_connection_get_bus(connection), NULL, &error);
    guint filter = g_dbus_connection_add_filter(own, note_descriptor, NULL, NULL);

    (void) store(connection, content); /* the folder is there now */
    if (can_hand_over()) {
        store_in_each_way(connection, 20);
        query_connection_set_durability(connection, QUERY_DURABILITY_RELAXED);
        store_in_each_way(connection, 30);
    } else {
        g_test_skip("no nameless files or no leases here");
    }
    g_dbus_connection_remove_filter(own, filter);
}

/* A store whose folder the library does not see gets a memory file, which is copied. */
static void
test_no_hand_over(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = query_connection_new_for_store(PRIVATE_BUS_STORE_ELSEWHERE, NULL, &error);
    g_autoptr(GBytes) content = make_content((gsize) 1024 * 1024, 8);
    GDBusConnection *own = query_bus_get_connection(query_connection_get_bus(connection), NULL, &error);
    guint filter = g_dbus_connection_add_filter(own, note_descriptor, NULL, NULL);
    struct stat passed;
    struct stat stored;

    (void) store(connection, content);
    passed = take_passed();
    stored = get_stored(content, "elsewhere");
    g_assert_cmpint(passed.st_size, ==, 1024 * 1024);
    g_assert_true(stored.st_dev != passed.st_dev || stored.st_ino != passed.st_ino);
    g_dbus_connection_remove_filter(own, filter);
}

int
main(int argc, char *argv[])
{
    int r;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/payload/bytes", test_bytes);
    g_test_add_func("/payload/channel", test_channel);
    g_test_add_func("/payload/streams", test_streams);
    g_test_add_func("/payload/descriptors", test_descriptors);
    g_test_add_func("/payload/many", test_many);
    g_test_add_func("/payload/async", test_async);
    g_test_add_func("/payload/many-files", test_many_files);
    g_test_add_func("/payload/many-files-elsewhere", test_many_files_elsewhere);
    g_test_add_func("/payload/relaxed", test_relaxed);
    g_test_add_func("/payload/hand-over", test_hand_over);
    g_test_add_func("/payload/no-hand-over", test_no_hand_over);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
