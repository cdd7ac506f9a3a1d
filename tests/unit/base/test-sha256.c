/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-256: the standard's examples, and GLib's implementation at every length and cut.
 */
#include <glib.h>
#include <string.h>

#include "daemon/base/sha256.h"

static void
get_hex(const void *data, gsize n, gsize n_piece, char ret_hex[2 * QD_SHA256_BYTES + 1])
{
    uint8_t hash[QD_SHA256_BYTES];
    QdSha256 sha;

    qd_sha256_init(&sha);
    for (gsize done = 0; done < n; done += n_piece)
        qd_sha256_update(&sha, (const char *) data + done, MIN(n_piece, n - done));
    qd_sha256_finish(&sha, hash);
    qd_sha256_to_hex(hash, ret_hex);
}

static void
test_examples(void)
{
    char hex[2 * QD_SHA256_BYTES + 1];

    get_hex("", 0, 1, hex);
    g_assert_cmpstr(hex, ==, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    get_hex("abc", 3, 3, hex);
    g_assert_cmpstr(hex, ==, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void
test_like_glib(void)
{
    guint8 data[1000];

    for (gsize i = 0; i < sizeof data; i++)
        data[i] = (guint8) (i * i + 7 * i);
    for (gsize n = 0; n < sizeof data; n += n < 300 ? 1 : 37) {
        g_autofree char *expected = g_compute_checksum_for_data(G_CHECKSUM_SHA256, data, n);

        for (gsize n_piece = 1; n_piece <= 200; n_piece += 33) {
            char hex[2 * QD_SHA256_BYTES + 1];

            get_hex(data, n, n_piece, hex);
            g_assert_cmpstr(hex, ==, expected);
        }
    }
}

int
main(int argc, char *argv[])
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/sha256/examples", test_examples);
    g_test_add_func("/base/sha256/like-glib", test_like_glib);
    return g_test_run();
}
