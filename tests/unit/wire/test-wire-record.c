/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Headers and CHUNK chains: golden bytes, and each reason to refuse one.
 */
#include "client-lib/wire/wire-record.h"

#include <errno.h>
#include <glib.h>

#include "tests/unit/wire/golden.h"

typedef struct HeaderCase {
    const char *name;
    uint8_t bytes[QW_HEADER_SIZE];
    QwDirection direction;
} HeaderCase;

#define HEADER(s0, s1, s2, s3, kind, flags, z0, z1)                 \
    {                                                               \
        s0, s1, s2, s3, kind, flags, z0, z1, 1, 0, 0, 0, 2, 0, 0, 0 \
    }

/* On a channel with pages of 4 KiB. */
static const HeaderCase bad_headers[] = {
    { "size-zero", HEADER(0, 0, 0, 0, 'R', 0, 0, 0), QW_TO_CLIENT },
    { "size-below-header", HEADER(8, 0, 0, 0, 'R', 0, 0, 0), QW_TO_CLIENT },
    { "size-not-multiple-of-8", HEADER(20, 0, 0, 0, 'R', 0, 0, 0), QW_TO_CLIENT },
    { "size-above-page", HEADER(8, 0x10, 0, 0, 'R', 0, 0, 0), QW_TO_CLIENT },
    { "size-huge", HEADER(0xf8, 0xff, 0xff, 0xff, 'R', 0, 0, 0), QW_TO_CLIENT },
    { "kind-zero", HEADER(16, 0, 0, 0, 0, 0, 0, 0), QW_TO_CLIENT },
    { "kind-unknown", HEADER(16, 0, 0, 0, 'Z', 0, 0, 0), QW_TO_CLIENT },
    { "kind-lower-case", HEADER(16, 0, 0, 0, 'r', 0, 0, 0), QW_TO_CLIENT },
    { "request-to-client", HEADER(16, 0, 0, 0, 'F', 0, 0, 0), QW_TO_CLIENT },
    { "begin-to-client", HEADER(16, 0, 0, 0, 'B', 0, 0, 0), QW_TO_CLIENT },
    { "answer-to-daemon", HEADER(16, 0, 0, 0, 'R', 0, 0, 0), QW_TO_DAEMON },
    { "schema-to-daemon", HEADER(16, 0, 0, 0, 'S', 0, 0, 0), QW_TO_DAEMON },
    { "error-to-daemon", HEADER(16, 0, 0, 0, 'X', 0, 0, 0), QW_TO_DAEMON },
    { "flag-on-rows", HEADER(16, 0, 0, 0, 'R', QW_CHUNK_LAST, 0, 0), QW_TO_CLIENT },
    { "flag-on-fetch", HEADER(16, 0, 0, 0, 'F', QW_CHUNK_FIRST, 0, 0), QW_TO_DAEMON },
    { "flag-unknown-on-chunk", HEADER(16, 0, 0, 0, 'K', 4, 0, 0), QW_TO_CLIENT },
    { "reserved-low", HEADER(16, 0, 0, 0, 'R', 0, 1, 0), QW_TO_CLIENT },
    { "reserved-high", HEADER(16, 0, 0, 0, 'R', 0, 0, 0x80), QW_TO_CLIENT },
};

static void
test_header_bad(gconstpointer data)
{
    const HeaderCase *c = data;
    QwHeader header = { .size = 77 };

    g_assert_cmpint(qw_header_decode(c->bytes, QW_PAGE_SIZE_MIN, c->direction, &header), ==, -EBADMSG);
    g_assert_cmpuint(header.size, ==, 77);
}

static void
test_header_round_trip(void)
{
    static const uint8_t kinds_to_client[] = { 'S', 'R', 'E', 'X', 'K' };
    static const uint8_t kinds_to_daemon[] = { 'P', 'F', 'C', 'B', 'M', 'L', 'K' };
    uint8_t bytes[QW_HEADER_SIZE];
    QwHeader got;

    for (size_t i = 0; i < sizeof kinds_to_client; i++) {
        QwHeader header = { .size = 4096, .kind = kinds_to_client[i], .count = 0x01020304, .serial = 0xfffefdfc };

        qw_header_encode(&header, bytes);
        g_assert_cmpint(qw_header_decode(bytes, 4096, QW_TO_CLIENT, &got), ==, 0);
        g_assert_cmpuint(got.size, ==, header.size);
        g_assert_cmpuint(got.kind, ==, header.kind);
        g_assert_cmpuint(got.count, ==, header.count);
        g_assert_cmpuint(got.serial, ==, header.serial);
    }
    for (size_t i = 0; i < sizeof kinds_to_daemon; i++) {
        qw_header_encode(&(QwHeader){ .size = 16, .kind = kinds_to_daemon[i] }, bytes);
        g_assert_cmpint(qw_header_decode(bytes, 4096, QW_TO_DAEMON, &got), ==, 0);
        g_assert_cmpuint(got.kind, ==, kinds_to_daemon[i]);
    }
}

/* Feeds a golden chain; returns the bytes of the inner body. */
static GByteArray *
read_chain(const GByteArray *wire, QwDirection direction, QwChunks *ret_chunks)
{
    GByteArray *inner = g_byte_array_new();
    size_t offset = 0;

    *ret_chunks = (QwChunks){ 0 };
    do {
        QwHeader header;
        const uint8_t *piece = NULL;
        size_t n_bytes = 0;

        g_assert_cmpuint(wire->len - offset, >=, QW_HEADER_SIZE);
        g_assert_cmpint(qw_header_decode(wire->data + offset, 4096, direction, &header), ==, 0);
        g_assert_cmpint(
            qw_chunks_accept(ret_chunks, &header, wire->data + offset + QW_HEADER_SIZE, direction, 10000, &piece, &n_bytes), ==, 0);
        g_byte_array_append(inner, piece, (guint) n_bytes);
        offset += header.size;
    } while (ret_chunks->active);

    g_assert_cmpuint(offset, ==, wire->len);
    g_assert_cmpuint(inner->len, ==, ret_chunks->total_bytes);
    return inner;
}

static void
check_chain(const char *name, QwDirection direction, const QwHeader *expected)
{
    g_autoptr(GByteArray) wire = golden_load(name);
    g_autoptr(GByteArray) inner = NULL;
    g_autoptr(GByteArray) again = g_byte_array_new();
    g_autofree uint8_t *record = g_malloc(4096);
    QwChunks chunks;
    size_t offset = 0;

    inner = read_chain(wire, direction, &chunks);
    g_assert_cmpuint(chunks.inner_kind, ==, expected->kind);
    g_assert_cmpuint(chunks.inner_count, ==, expected->count);
    g_assert_cmpuint(chunks.serial, ==, expected->serial);

    while (offset < inner->len) {
        size_t size = qw_chunk_encode(record, 4096, expected, inner->data, inner->len, &offset);

        g_byte_array_append(again, record, (guint) size);
    }
    golden_assert_equal(name, again->data, again->len);
}

static void
test_chunks_golden(void)
{
    check_chain("chunks-rows", QW_TO_CLIENT, &(QwHeader){ .kind = 'R', .count = 1, .serial = 6 });
    check_chain("chunks-prepare", QW_TO_DAEMON, &(QwHeader){ .kind = 'P', .count = 0, .serial = 8 });
}

/* A change to one byte of the golden chain of three ROWS pieces, at the record with index `record`. */
typedef struct ChunkCase {
    const char *name;
    unsigned record;
    unsigned offset; /* in the record */
    uint8_t value;
    int expected;
} ChunkCase;

static const ChunkCase bad_chunks[] = {
    { "no-first", 0, 5, 0, -EBADMSG },
    { "first-twice", 1, 5, QW_CHUNK_FIRST, -EBADMSG },
    { "last-too-early", 0, 5, QW_CHUNK_FIRST | QW_CHUNK_LAST, -EBADMSG },
    { "last-missing", 2, 5, 0, -EBADMSG },
    { "serial-changes", 1, 12, 99, -EBADMSG },
    { "piece-empty", 1, 9, 0, -EBADMSG }, /* count 4080 → 240: more than 7 bytes are left over */
    { "piece-larger-than-record", 1, 9, 0x10, -EBADMSG },
    { "piece-above-total", 0, 25, 0x0f, -EBADMSG },
    { "total-above-limit", 0, 26, 0x01, -EMSGSIZE },
    { "total-huge", 0, 31, 0xff, -EMSGSIZE },
    { "inner-chunk", 0, 16, 'K', -EBADMSG },
    { "inner-unknown", 0, 16, 'Z', -EBADMSG },
    { "inner-wrong-direction", 0, 16, 'F', -EBADMSG },
    { "inner-reserved", 0, 18, 1, -EBADMSG },
};

static void
test_chunks_bad(gconstpointer data)
{
    const ChunkCase *c = data;
    g_autoptr(GByteArray) wire = golden_load("chunks-rows");
    QwChunks chunks = { 0 };
    size_t offset = 0;
    int r = 0;

    for (unsigned i = 0; i <= c->record; i++) {
        uint8_t *record = wire->data + offset;
        QwHeader header;
        const uint8_t *piece;
        size_t n_bytes;

        g_assert_cmpint(r, ==, 0);
        if (i == c->record) {
            g_assert_cmpint(record[c->offset], !=, c->value);
            record[c->offset] = c->value;
        }
        g_assert_cmpint(qw_header_decode(record, 4096, QW_TO_CLIENT, &header), ==, 0);
        r = qw_chunks_accept(&chunks, &header, record + QW_HEADER_SIZE, QW_TO_CLIENT, 10000, &piece, &n_bytes);
        offset += header.size;
    }

    g_assert_cmpint(r, ==, c->expected);
    if (r == -EMSGSIZE)
        g_assert_cmpuint(chunks.total_bytes, >, 10000);
}

static void
test_chunks_first_without_prefix(void)
{
    static const uint8_t body[8] = { 'R' };
    QwHeader header = { .size = 24, .kind = QW_KIND_CHUNK, .flags = QW_CHUNK_FIRST, .count = 1 };
    QwChunks chunks = { 0 };
    const uint8_t *piece;
    size_t n_bytes;

    g_assert_cmpint(qw_chunks_accept(&chunks, &header, body, QW_TO_CLIENT, 10000, &piece, &n_bytes), ==, -EBADMSG);
}

static void
test_chunks_total_zero(void)
{
    uint8_t body[QW_CHUNK_PREFIX_SIZE] = { 'R' };
    QwHeader header = { .size = 32, .kind = QW_KIND_CHUNK, .flags = QW_CHUNK_FIRST | QW_CHUNK_LAST, .count = 0 };
    QwChunks chunks = { 0 };
    const uint8_t *piece;
    size_t n_bytes;

    g_assert_cmpint(qw_chunks_accept(&chunks, &header, body, QW_TO_CLIENT, 10000, &piece, &n_bytes), ==, -EBADMSG);
}

/* Every body size around the borders of a page comes out as it went in. */
static void
test_chunks_borders(void)
{
    g_autofree uint8_t *data = g_malloc(3 * 4096);
    g_autofree uint8_t *record = g_malloc(4096);

    for (size_t i = 0; i < 3 * 4096; i++)
        data[i] = (uint8_t) (i * 7);

    for (size_t n = 4040; n < 3 * 4096; n += n % 64 == 0 ? 41 : 1) {
        QwHeader inner = { .kind = QW_KIND_ROWS, .count = 1, .serial = 5 };
        QwChunks chunks = { 0 };
        size_t sent = 0;
        size_t got = 0;

        while (sent < n) {
            size_t size = qw_chunk_encode(record, 4096, &inner, data, n, &sent);
            QwHeader header;
            const uint8_t *piece;
            size_t n_bytes;

            g_assert_cmpuint(size, <=, 4096);
            g_assert_cmpint(qw_header_decode(record, 4096, QW_TO_CLIENT, &header), ==, 0);
            g_assert_cmpint(qw_chunks_accept(&chunks, &header, record + QW_HEADER_SIZE, QW_TO_CLIENT, n, &piece, &n_bytes), ==, 0);
            g_assert_cmpmem(piece, n_bytes, data + got, n_bytes);
            got += n_bytes;
        }
        g_assert_cmpuint(got, ==, n);
        g_assert_false(chunks.active);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/record/header/round-trip", test_header_round_trip);
    for (size_t i = 0; i < G_N_ELEMENTS(bad_headers); i++) {
        g_autofree char *path = g_strconcat("/wire/record/header/bad/", bad_headers[i].name, NULL);

        g_test_add_data_func(path, &bad_headers[i], test_header_bad);
    }
    g_test_add_func("/wire/record/chunks/golden", test_chunks_golden);
    g_test_add_func("/wire/record/chunks/borders", test_chunks_borders);
    for (size_t i = 0; i < G_N_ELEMENTS(bad_chunks); i++) {
        g_autofree char *path = g_strconcat("/wire/record/chunks/bad/", bad_chunks[i].name, NULL);

        g_test_add_data_func(path, &bad_chunks[i], test_chunks_bad);
    }
    g_test_add_func("/wire/record/chunks/bad/first-without-prefix", test_chunks_first_without_prefix);
    g_test_add_func("/wire/record/chunks/bad/total-zero", test_chunks_total_zero);
    return g_test_run();
}
