/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RING and PAGE: golden bytes, where slots lie, and each reason to refuse one.
 */
#include "client-lib/wire/wire-ring.h"

#include <errno.h>
#include <glib.h>

#include "client-lib/wire/wire-message.h"
#include "tests/unit/wire/golden.h"

static const QwRing shape = { .n_slots = 2, .slot_size = 131072 };

static void
test_golden(void)
{
    uint8_t body[QW_RING_BODY_SIZE];
    uint8_t record[QW_HEADER_SIZE + QW_RING_BODY_SIZE];
    QwHeader header;
    QwRing ring;
    size_t size;

    qw_ring_encode(&shape, body);
    golden_assert_equal("ring", record, qw_record_encode(record, QW_KIND_RING, shape.n_slots, 14, body, sizeof body));
    g_assert_cmpint(qw_header_decode(record, QW_PAGE_SIZE_MAX, QW_TO_CLIENT, &header), ==, 0);
    g_assert_cmpint(qw_ring_decode(&header, record + QW_HEADER_SIZE, 131072, &ring), ==, 0);
    g_assert_cmpuint(ring.n_slots, ==, 2);
    g_assert_cmpuint(ring.slot_size, ==, 131072);

    golden_assert_equal("page", record, qw_record_encode(record, QW_KIND_PAGE, 130856, 14, NULL, 0));
    g_assert_cmpint(qw_header_decode(record, QW_PAGE_SIZE_MAX, QW_TO_CLIENT, &header), ==, 0);
    g_assert_cmpint(qw_ring_decode_page(&ring, &header, &size), ==, 0);
    g_assert_cmpuint(size, ==, 130856);
}

static void
test_offsets(void)
{
    const QwRing ring = { .n_slots = 3, .slot_size = 4096 };

    g_assert_cmpuint(qw_ring_get_size(&ring), ==, 12288);
    g_assert_cmpuint(qw_ring_get_offset(&ring, 0), ==, 0);
    g_assert_cmpuint(qw_ring_get_offset(&ring, 2), ==, 8192);
    g_assert_cmpuint(qw_ring_get_offset(&ring, 3), ==, 0);
    g_assert_cmpuint(qw_ring_get_offset(&ring, G_MAXUINT64), <=, 8192);
}

static void
test_bad_rings(void)
{
    static const struct {
        uint32_t size;
        uint32_t n_slots;
        uint32_t slot_size;
        uint32_t zero;
    } cases[] = {
        { 16, 2, 4096, 0 },   { 32, 2, 4096, 0 },           { 24, 0, 4096, 0 },        { 24, QW_RING_SLOTS_MAX + 1, 4096, 0 },
        { 24, 2, 0, 0 },      { 24, 2, 4096, 1 },           { 24, 2, 4095, 0 },        { 24, 2, 12288, 0 },
        { 24, 2, 131072, 0 }, { 24, G_MAXUINT32, 4096, 0 }, { 24, 2, G_MAXUINT32, 0 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        QwHeader header = { .size = cases[i].size, .kind = QW_KIND_RING, .count = cases[i].n_slots };
        uint8_t body[16] = { 0 };
        QwRing ring = { .n_slots = 99 };

        qw_store_u32(body, cases[i].slot_size);
        qw_store_u32(body + 4, cases[i].zero);
        g_assert_cmpint(qw_ring_decode(&header, body, 65536, &ring), ==, -EBADMSG);
        g_assert_cmpuint(ring.n_slots, ==, 99);
    }
}

static void
test_bad_pages(void)
{
    static const uint32_t sizes[] = { 0, 8, 15, 20, 131080, G_MAXUINT32 };
    QwHeader header = { .size = QW_HEADER_SIZE, .kind = QW_KIND_PAGE, .count = 40 };
    size_t size = 99;

    g_assert_cmpint(qw_ring_decode_page(NULL, &header, &size), ==, -EBADMSG);
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        header.count = sizes[i];
        g_assert_cmpint(qw_ring_decode_page(&shape, &header, &size), ==, -EBADMSG);
    }
    header = (QwHeader){ .size = QW_HEADER_SIZE + 8, .kind = QW_KIND_PAGE, .count = 40 };
    g_assert_cmpint(qw_ring_decode_page(&shape, &header, &size), ==, -EBADMSG);
    g_assert_cmpuint(size, ==, 99);
}

/* They carry descriptors, or stand for what is elsewhere: not in pieces, and not to the daemon. */
static void
test_not_in_chunks(void)
{
    static const uint8_t kinds[] = { QW_KIND_RING, QW_KIND_PAGE };

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        uint8_t record[64] = { 0 };
        QwHeader header = { .size = 40, .kind = QW_KIND_CHUNK, .flags = QW_CHUNK_FIRST | QW_CHUNK_LAST, .count = 8 };
        QwChunks chunks = { 0 };
        const uint8_t *data;
        size_t n_bytes;

        record[0] = kinds[i];
        qw_store_u64(record + 8, 8);
        g_assert_cmpint(qw_chunks_accept(&chunks, &header, record, QW_TO_CLIENT, 1000, &data, &n_bytes), ==, -EBADMSG);
        header = (QwHeader){ .size = 16, .kind = kinds[i], .count = 1 };
        qw_header_encode(&header, record);
        g_assert_cmpint(qw_header_decode(record, 4096, QW_TO_DAEMON, &header), ==, -EBADMSG);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/ring/golden", test_golden);
    g_test_add_func("/wire/ring/offsets", test_offsets);
    g_test_add_func("/wire/ring/bad-rings", test_bad_rings);
    g_test_add_func("/wire/ring/bad-pages", test_bad_pages);
    g_test_add_func("/wire/ring/not-in-chunks", test_not_in_chunks);
    return g_test_run();
}
