/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * WHOLE: golden bytes, each reason to refuse one, and the way through a file that is not as it should be.
 */
#include "client-lib/wire/wire-whole.h"

#include <errno.h>
#include <glib.h>

#include "client-lib/wire/wire-message.h"
#include "tests/unit/wire/golden.h"

#define PAGE_SIZE 4096u

static void
test_golden(void)
{
    const QwWhole whole = { .n_bytes = 130856, .n_rows = 160 };
    uint8_t body[QW_WHOLE_BODY_SIZE];
    uint8_t record[QW_HEADER_SIZE + QW_WHOLE_BODY_SIZE];
    QwHeader header;
    QwWhole read;

    qw_whole_encode(&whole, body);
    golden_assert_equal("whole", record, qw_record_encode(record, QW_KIND_WHOLE, 0, 14, body, sizeof body));
    g_assert_cmpint(qw_header_decode(record, QW_PAGE_SIZE_MAX, QW_TO_CLIENT, &header), ==, 0);
    g_assert_cmpint(qw_header_decode(record, QW_PAGE_SIZE_MAX, QW_TO_DAEMON, &header), ==, -EBADMSG);
    g_assert_cmpint(qw_whole_decode(&header, record + QW_HEADER_SIZE, &read), ==, 0);
    g_assert_cmpuint(read.n_bytes, ==, 130856);
    g_assert_cmpuint(read.n_rows, ==, 160);
}

static void
test_bad_records(void)
{
    static const struct {
        uint32_t size;
        uint32_t count;
        uint64_t n_bytes;
    } cases[] = {
        { 24, 0, 64 }, { 40, 0, 64 }, { 32, 1, 64 }, { 32, 0, 0 }, { 32, 0, 8 }, { 32, 0, 65 }, { 32, 0, G_MAXUINT64 - 7 }
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const QwWhole whole = { .n_bytes = cases[i].n_bytes };
        const QwHeader header = { .size = cases[i].size, .kind = QW_KIND_WHOLE, .count = cases[i].count };
        uint8_t body[QW_WHOLE_BODY_SIZE];
        QwWhole read;

        qw_whole_encode(&whole, body);
        g_assert_cmpint(qw_whole_decode(&header, body, &read), ==, -EBADMSG);
    }
}

static void
test_the_way(void)
{
    static const QwHeader good = { .size = 24, .kind = QW_KIND_ROWS, .count = 1 };
    static const QwHeader bad[] = {
        { .size = 32, .kind = QW_KIND_ROWS },  { .size = 8, .kind = QW_KIND_ROWS }, { .size = 24, .kind = QW_KIND_END },
        { .size = 24, .kind = QW_KIND_CHUNK }, { .size = 24, .kind = 0 },           { .size = 20, .kind = QW_KIND_ROWS },
    };
    const QwWhole whole = { .n_bytes = 48 };
    uint8_t file[48] = { 0 };
    QwHeader header;
    uint64_t offset = 0;

    qw_header_encode(&good, file);
    qw_header_encode(&good, file + 24);
    g_assert_cmpint(qw_whole_take(&whole, file, &offset, PAGE_SIZE, &header), ==, 0);
    g_assert_cmpint(qw_whole_take(&whole, file, &offset, PAGE_SIZE, &header), ==, 0);
    g_assert_cmpuint(offset, ==, 48);
    g_assert_cmpint(qw_whole_take(&whole, file, &offset, PAGE_SIZE, &header), ==, -EBADMSG);
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        offset = 24;
        qw_header_encode(&bad[i], file + 24);
        g_assert_cmpint(qw_whole_take(&whole, file, &offset, PAGE_SIZE, &header), ==, -EBADMSG);
        g_assert_cmpuint(offset, ==, 24);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/whole/golden", test_golden);
    g_test_add_func("/wire/whole/bad-records", test_bad_records);
    g_test_add_func("/wire/whole/the-way", test_the_way);
    return g_test_run();
}
