/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool: which channel is taken, how many are kept, which schemas are remembered.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/channel/query-pool.h"
#include "client-lib/core/query-schema.h"

static QuerySchema *
make_schema(void)
{
    g_autoptr(GVariant) columns = g_variant_ref_sink(g_variant_new_parsed("@a(ss) [('a', 'TEXT')]"));
    g_autoptr(GVariant) info = g_variant_ref_sink(g_variant_new_parsed("@a{sv} {'parameters': <@a(us) [(1, ':x')]>}"));
    QuerySchema *schema = query_schema_new_from_dbus(columns, info, NULL);

    g_assert_nonnull(schema);
    return schema;
}

static void
test_channels(void)
{
    g_autoptr(QueryPool) pool = query_pool_new();
    g_autoptr(QuerySchema) schema = make_schema();
    g_autoptr(GBytes) key_b = g_bytes_new_static("b", 1);
    g_autoptr(GBytes) key_z = g_bytes_new_static("z", 1);
    QueryChannel *channels[5];
    int peers[5];

    for (guint i = 0; i < 5; i++) {
        g_autofree char *name = g_strdup_printf("%c", 'a' + (int) i);
        g_autoptr(GBytes) key = g_bytes_new(name, 1);
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
        channels[i] = query_channel_new(fds[0], QW_PAGE_SIZE_DEFAULT, 0);
        peers[i] = fds[1];
        query_channel_set_prepared(channels[i], key, schema);
        query_pool_give(pool, channels[i]); /* the fifth is closed */
    }
    {
        char byte;

        g_assert_cmpint(recv(peers[4], &byte, 1, MSG_DONTWAIT), ==, 0);
    }

    /* The one on which it is prepared; else the oldest; one that was hung up is passed over. */
    {
        g_autoptr(QueryChannel) prepared = query_pool_take(pool, key_b);
        g_autoptr(QueryChannel) oldest = query_pool_take(pool, key_z);

        g_assert_true(prepared == channels[1]);
        g_assert_true(oldest == channels[0]);
    }
    (void) close(peers[2]);
    {
        g_autoptr(QueryChannel) last = query_pool_take(pool, key_z);

        g_assert_true(last == channels[3]);
        g_assert_null(query_pool_take(pool, key_z));
    }
    for (guint i = 0; i < 5; i++)
        if (i != 2)
            (void) close(peers[i]);
}

static GBytes *
make_key(guint number)
{
    return g_bytes_new(&number, sizeof number);
}

static gboolean
is_remembered(QueryPool *pool, guint number)
{
    g_autoptr(GBytes) key = make_key(number);
    g_autoptr(QuerySchema) schema = query_pool_recall(pool, key);

    return schema != NULL;
}

static void
test_schemas(void)
{
    g_autoptr(QueryPool) pool = query_pool_new();
    g_autoptr(QuerySchema) schema = make_schema();
    g_autoptr(GBytes) large = g_bytes_new_take(g_malloc0(QUERY_POOL_MAX_KEY_BYTES + 1), QUERY_POOL_MAX_KEY_BYTES + 1);

    for (guint i = 0; i < QUERY_POOL_MAX_SCHEMAS + 10; i++) {
        g_autoptr(GBytes) key = make_key(i);

        query_pool_remember(pool, key, schema);
        query_pool_remember(pool, key, schema);
        g_assert_true(is_remembered(pool, 0)); /* used all the time, so never the oldest */
    }
    g_assert_false(is_remembered(pool, 1));
    g_assert_true(is_remembered(pool, QUERY_POOL_MAX_SCHEMAS + 9));
    query_pool_remember(pool, large, schema);
    g_assert_null(query_pool_recall(pool, large));
}

static void
test_find_parameter(void)
{
    static const struct {
        const char *key;
        int index; /* -1: refused */
    } cases[] = { { "1", 0 },  { "4", 3 }, { "0", -1 }, { "5", -1 }, { ":x", 0 },  { "x", -1 },
                  { "$x", 1 }, { "y", 2 }, { "", -1 },  { "@y", 2 }, { ":y", -1 }, { "1a", -1 } };
    g_autoptr(GVariant) columns = g_variant_ref_sink(g_variant_new_parsed("@a(ss) []"));
    g_autoptr(GVariant) info = g_variant_ref_sink(
        g_variant_new_parsed("@a{sv} {'parameters': <@a(us) [(1, ':x'), (2, '$x'), (3, '@y'), (4, '')]>, 'writes': <true>}"));
    g_autoptr(QuerySchema) schema = query_schema_new_from_dbus(columns, info, NULL);

    g_assert_true(schema->writes);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        guint index = G_MAXUINT;

        if (query_schema_find_parameter(schema, cases[i].key, &index, &error))
            g_assert_cmpint((int) index, ==, cases[i].index);
        else
            g_assert_cmpint(cases[i].index, ==, -1);
    }
}

static void
test_bad_schema(void)
{
    g_autoptr(GVariant) columns = g_variant_ref_sink(g_variant_new_parsed("@a(ss) []"));
    g_autoptr(GVariant) info = g_variant_ref_sink(g_variant_new_parsed("@a{sv} {'parameters': <@a(us) [(2, ':x')]>}"));
    g_autoptr(GError) error = NULL;
    const guint8 head[16] = { 1, 0, 0, 0, 0, 0, 1, 0 };

    g_assert_null(query_schema_new_from_dbus(columns, info, &error));
    g_assert_cmpint(error->code, ==, QUERY_ERROR_PROTOCOL);
    g_clear_error(&error);
    g_assert_null(query_schema_new_from_wire(head, sizeof head, 1000000, &error));
    g_assert_cmpint(error->code, ==, QUERY_ERROR_PROTOCOL);
    g_clear_error(&error);
    g_assert_null(query_schema_new_from_wire(head, 3, 0, &error));
    g_assert_cmpint(error->code, ==, QUERY_ERROR_PROTOCOL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/pool/channels", test_channels);
    g_test_add_func("/client/pool/schemas", test_schemas);
    g_test_add_func("/client/schema/find-parameter", test_find_parameter);
    g_test_add_func("/client/schema/bad", test_bad_schema);
    return g_test_run();
}
