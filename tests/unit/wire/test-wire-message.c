/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SCHEMA, END, ERROR, PREPARE and the records without a body: golden bytes both ways, and bodies that lie.
 */
#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-page-writer.h"

#include <errno.h>
#include <glib.h>

#include "tests/unit/wire/golden.h"

typedef struct Body {
    GByteArray *record;
    QwHeader header;
    QwBodyReader reader;
} Body;

static void
load(Body *self, const char *name, QwDirection direction)
{
    self->record = golden_load(name);
    g_assert_cmpint(qw_header_decode(self->record->data, QW_PAGE_SIZE_DEFAULT, direction, &self->header), ==, 0);
    g_assert_cmpuint(self->header.size, ==, self->record->len);
    self->reader = (QwBodyReader){ .data = self->record->data + QW_HEADER_SIZE, .n_bytes = self->record->len - QW_HEADER_SIZE };
}

static void
assert_encodes(const char *name, QwKind kind, uint32_t count, uint32_t serial, const QwBodyWriter *body)
{
    uint8_t record[1024];
    size_t size;

    g_assert_cmpuint(body->used, <=, body->capacity);
    size = qw_record_encode(record, kind, count, serial, body->data, body->used);
    golden_assert_equal(name, record, size);
}

static void
assert_string(QwBodyReader *reader, const char *expected)
{
    const char *data = NULL;
    uint32_t n_bytes = 0;

    g_assert_cmpint(qw_body_get_string(reader, &data, &n_bytes), ==, 0);
    g_assert_cmpuint(n_bytes, ==, strlen(expected));
    g_assert_cmpstr(data, ==, expected);
}

static void
test_schema_encode(void)
{
    uint8_t buffer[256];
    QwBodyWriter body = { .data = buffer, .capacity = sizeof buffer };

    qw_schema_put_head(&body, &(QwSchemaHead){ .version = 1, .page_size = 65536, .n_parameters = 2 });
    qw_body_put_string(&body, "id", 2);
    qw_body_put_string(&body, "INTEGER", 7);
    qw_body_put_string(&body, "größe", strlen("größe"));
    qw_body_put_string(&body, "", 0);
    qw_body_put_u32(&body, 1);
    qw_body_put_string(&body, ":id", 3);
    qw_body_put_u32(&body, 2);
    qw_body_put_string(&body, "", 0);
    assert_encodes("schema", QW_KIND_SCHEMA, 2, 0, &body);

    body.used = 0;
    qw_schema_put_head(&body, &(QwSchemaHead){ .version = 1, .page_size = 4096, .flags = QW_SCHEMA_WRITES });
    assert_encodes("schema-writes", QW_KIND_SCHEMA, 0, 7, &body);
}

static void
test_schema_decode(void)
{
    Body body;
    QwSchemaHead head;
    uint32_t index = 0;

    load(&body, "schema", QW_TO_CLIENT);
    g_assert_cmpuint(body.header.count, ==, 2);
    g_assert_cmpint(qw_schema_get_head(&body.reader, &head), ==, 0);
    g_assert_cmpuint(head.version, ==, 1);
    g_assert_cmpuint(head.page_size, ==, 65536);
    g_assert_cmpuint(head.flags, ==, 0);
    g_assert_cmpuint(head.n_parameters, ==, 2);
    assert_string(&body.reader, "id");
    assert_string(&body.reader, "INTEGER");
    assert_string(&body.reader, "größe");
    assert_string(&body.reader, "");
    g_assert_cmpint(qw_body_get_u32(&body.reader, &index), ==, 0);
    g_assert_cmpuint(index, ==, 1);
    assert_string(&body.reader, ":id");
    g_assert_cmpint(qw_body_get_u32(&body.reader, &index), ==, 0);
    assert_string(&body.reader, "");
    g_assert_cmpint(qw_body_finish(&body.reader), ==, 0);
    g_byte_array_unref(body.record);

    load(&body, "schema-rdf", QW_TO_CLIENT);
    g_assert_cmpint(qw_schema_get_head(&body.reader, &head), ==, 0);
    g_assert_cmpuint(head.flags, ==, QW_SCHEMA_RDF);
    g_byte_array_unref(body.record);
}

static void
test_schema_bad(void)
{
    static const struct {
        unsigned offset;
        uint8_t value;
    } table[] = {
        { 0, 2 },    /* a later version */
        { 8, 8 },    /* an unknown flag */
        { 11, 128 }, /* another one */
        { 4, 1 },    /* page size: no power of two */
        { 6, 0 },    /* page size 0 */
        { 7, 1 },    /* page size above the maximum */
    };

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        Body body;
        QwSchemaHead head = { .version = 77 };

        load(&body, "schema", QW_TO_CLIENT);
        body.record->data[QW_HEADER_SIZE + table[i].offset] = table[i].value;
        g_assert_cmpint(qw_schema_get_head(&body.reader, &head), ==, -EBADMSG);
        g_assert_cmpuint(head.version, ==, 77);
        g_byte_array_unref(body.record);
    }

    for (size_t n = 0; n < 16; n++) {
        static const uint8_t bytes[16] = { 1 };
        QwBodyReader reader = { .data = bytes, .n_bytes = n };
        QwSchemaHead head;

        g_assert_cmpint(qw_schema_get_head(&reader, &head), ==, -EBADMSG);
    }
}

static void
test_end(void)
{
    static const QwEnd query = { .n_rows = 300000, .generation = (UINT64_C(3) << 40) + 17, .elapsed_usec = 218000 };
    static const QwEnd write = {
        .changes = 5, .last_insert_rowid = -2, .generation = (UINT64_C(3) << 40) + 18, .elapsed_usec = 900
    };
    uint8_t buffer[QW_END_BODY_SIZE];
    uint8_t record[QW_HEADER_SIZE + QW_END_BODY_SIZE];
    Body body;
    QwEnd end;

    qw_end_encode(&query, buffer);
    golden_assert_equal("end", record, qw_record_encode(record, QW_KIND_END, 0, 1, buffer, sizeof buffer));
    qw_end_encode(&write, buffer);
    golden_assert_equal("end-write", record, qw_record_encode(record, QW_KIND_END, 0, 2, buffer, sizeof buffer));

    load(&body, "end-write", QW_TO_CLIENT);
    g_assert_cmpint(qw_end_decode(body.reader.data, body.reader.n_bytes, &end), ==, 0);
    g_assert_cmpuint(end.n_rows, ==, 0);
    g_assert_cmpint(end.changes, ==, 5);
    g_assert_cmpint(end.last_insert_rowid, ==, -2);
    g_assert_cmpuint(end.generation, ==, write.generation);
    g_assert_cmpuint(end.elapsed_usec, ==, 900);
    g_assert_cmpint(qw_end_decode(body.reader.data, QW_END_BODY_SIZE - 8, &end), ==, -EBADMSG);
    g_assert_cmpint(qw_end_decode(body.reader.data, QW_END_BODY_SIZE + 8, &end), ==, -EBADMSG);
    g_assert_cmpint(qw_end_decode(body.reader.data, 0, &end), ==, -EBADMSG);
    g_byte_array_unref(body.record);
}

static void
test_error_golden(void)
{
    static const char message[] = "1:8: unexpected FORM, expected FROM";
    uint8_t buffer[256];
    QwBodyWriter writer = { .data = buffer, .capacity = sizeof buffer };
    Body body;
    QwErrorBody error;

    qw_error_put(&writer,
                 &(QwErrorBody){ .code = 1, .line = 1, .column = 8, .message = message, .n_message_bytes = strlen(message) });
    assert_encodes("error", QW_KIND_ERROR, 0, 4, &writer);

    load(&body, "error", QW_TO_CLIENT);
    g_assert_cmpint(qw_error_decode(body.reader.data, body.reader.n_bytes, &error), ==, 0);
    g_assert_cmpuint(error.code, ==, 1);
    g_assert_cmpuint(error.line, ==, 1);
    g_assert_cmpuint(error.column, ==, 8);
    g_assert_cmpstr(error.message, ==, message);
    g_assert_cmpuint(error.n_message_bytes, ==, strlen(message));
    g_byte_array_unref(body.record);

    load(&body, "error-no-place", QW_TO_CLIENT);
    g_assert_cmpint(qw_error_decode(body.reader.data, body.reader.n_bytes, &error), ==, 0);
    g_assert_cmpuint(error.code, ==, 9);
    g_assert_cmpuint(error.line, ==, 0);
    g_assert_cmpuint(error.column, ==, 0);
    g_byte_array_unref(body.record);
}

static void
test_error_details(void)
{
    static const char message[] = "UNIQUE constraint failed: t.a, t.b";
    static const char *const strings[] = { "kind", "unique", "table", "t", "column", "a", "column", "b" };
    uint8_t buffer[256];
    QwBodyWriter writer = { .data = buffer, .capacity = sizeof buffer };
    Body body;
    QwErrorBody error;
    const char *key;
    const char *value;

    qw_error_put(&writer, &(QwErrorBody){ .code = 4, .message = message, .n_message_bytes = strlen(message) });
    qw_body_put_u32(&writer, G_N_ELEMENTS(strings) / 2);
    for (size_t i = 0; i < G_N_ELEMENTS(strings); i++)
        qw_body_put_string(&writer, strings[i], strlen(strings[i]));
    assert_encodes("error-details", QW_KIND_ERROR, 0, 4, &writer);

    load(&body, "error-details", QW_TO_CLIENT);
    g_assert_cmpint(qw_error_decode(body.reader.data, body.reader.n_bytes, &error), ==, 0);
    g_assert_cmpstr(error.message, ==, message);
    g_assert_cmpuint(error.n_details, ==, G_N_ELEMENTS(strings) / 2);
    for (size_t i = 0; i < G_N_ELEMENTS(strings); i += 2) {
        g_assert_true(qw_error_next_detail(&error, &key, &value));
        g_assert_cmpstr(key, ==, strings[i]);
        g_assert_cmpstr(value, ==, strings[i + 1]);
    }
    g_assert_false(qw_error_next_detail(&error, &key, &value));

    for (size_t n = 0; n + 8 < body.reader.n_bytes; n++)
        if (n != 52) /* where the message ends */
            g_assert_cmpint(qw_error_decode(body.reader.data, n, &error), ==, -EBADMSG);
    body.record->data[QW_HEADER_SIZE + 52] = 0xff; /* more details than there are */
    g_assert_cmpint(qw_error_decode(body.reader.data, body.reader.n_bytes, &error), ==, -EBADMSG);
    g_byte_array_unref(body.record);
}

static void
test_error_bad(void)
{
    static const struct {
        unsigned offset;
        uint8_t value;
    } table[] = {
        { 12, 100 },  /* message longer than the body */
        { 15, 0xff }, /* much longer: no overflow of the sum */
        { 12, 34 },   /* shorter: no NUL after it */
        { 12, 20 },   /* more than padding left over */
    };
    Body body;
    QwErrorBody error = { .code = 77 };

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        load(&body, "error", QW_TO_CLIENT);
        body.record->data[QW_HEADER_SIZE + table[i].offset] = table[i].value;
        g_assert_cmpint(qw_error_decode(body.reader.data, body.reader.n_bytes, &error), ==, -EBADMSG);
        g_byte_array_unref(body.record);
    }

    load(&body, "error", QW_TO_CLIENT);
    for (size_t n = 0; n + 4 < body.reader.n_bytes; n++)
        g_assert_cmpint(qw_error_decode(body.reader.data, n, &error), ==, -EBADMSG);
    g_assert_cmpuint(error.code, ==, 77);
    g_byte_array_unref(body.record);
}

static void
test_prepare(void)
{
    static const char text[] = "SELECT name FROM person WHERE id = ?1";
    uint8_t buffer[256];
    QwBodyWriter writer = { .data = buffer, .capacity = sizeof buffer };
    const char *language;
    const char *got;
    uint32_t n_bytes;
    Body body;

    qw_prepare_put_head(&writer, "sql", text, strlen(text));
    qw_body_put_string(&writer, "access", 6);
    qw_body_put_string(&writer, "read", 4);
    qw_body_put_string(&writer, "timeout_ms", 10);
    qw_body_put_string(&writer, "500", 3);
    assert_encodes("prepare", QW_KIND_PREPARE, 2, 12, &writer);

    load(&body, "prepare", QW_TO_DAEMON);
    g_assert_cmpuint(body.header.count, ==, 2);
    g_assert_cmpint(qw_prepare_get_head(&body.reader, &language, &got, &n_bytes), ==, 0);
    g_assert_cmpstr(language, ==, "sql");
    g_assert_cmpmem(got, n_bytes, text, strlen(text));
    assert_string(&body.reader, "access");
    assert_string(&body.reader, "read");
    assert_string(&body.reader, "timeout_ms");
    assert_string(&body.reader, "500");
    g_assert_cmpint(qw_body_finish(&body.reader), ==, 0);
    g_byte_array_unref(body.record);

    load(&body, "prepare-no-options", QW_TO_DAEMON);
    g_assert_cmpint(qw_prepare_get_head(&body.reader, &language, &got, &n_bytes), ==, 0);
    g_assert_cmpint(qw_body_finish(&body.reader), ==, 0);
    body.reader.offset = 0;
    body.record->data[QW_HEADER_SIZE + 5] = 0; /* a NUL inside the language */
    g_assert_cmpint(qw_prepare_get_head(&body.reader, &language, &got, &n_bytes), ==, -EBADMSG);
    g_byte_array_unref(body.record);
}

static void
test_batch(void)
{
    static const char text[] = "DELETE FROM t WHERE id = ?1";
    const QwValue value = { .type = QW_TYPE_INTEGER, .integer = 7 };
    uint64_t row[8];
    uint8_t buffer[256];
    QwBodyWriter writer = { .data = buffer, .capacity = sizeof buffer };
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) row, sizeof row, 1);
    g_assert_cmpint(qw_row_begin(&page), ==, 0);
    g_assert_cmpint(qw_row_put_value(&page, &value), ==, 0);
    g_assert_cmpint(qw_row_end(&page), ==, 0);

    qw_body_put_u32(&writer, 1);
    qw_body_put_string(&writer, "durability", 10);
    qw_body_put_string(&writer, "relaxed", 7);
    qw_prepare_put_head(&writer, "sql", text, strlen(text));
    qw_body_put_u32(&writer, 1);
    qw_body_put_string(&writer, "1", 1);
    qw_body_put_string(&writer, (const char *) row + QW_HEADER_SIZE, page.used - QW_HEADER_SIZE);
    assert_encodes("batch", QW_KIND_BATCH, 1, 15, &writer);
}

static void
test_header_only(void)
{
    uint8_t record[QW_HEADER_SIZE];

    golden_assert_equal("cancel", record, qw_record_encode(record, QW_KIND_CANCEL, 12, 14, NULL, 0));
    golden_assert_equal("begin", record, qw_record_encode(record, QW_KIND_BEGIN, 0, 14, NULL, 0));
    golden_assert_equal("commit", record, qw_record_encode(record, QW_KIND_COMMIT, 0, 14, NULL, 0));
    golden_assert_equal("rollback", record, qw_record_encode(record, QW_KIND_ROLLBACK, 0, 14, NULL, 0));
}

static void
test_writer_measures(void)
{
    uint8_t buffer[8];
    QwBodyWriter writer = { .data = buffer, .capacity = sizeof buffer };
    QwBodyWriter measure = { 0 };

    qw_body_put_u32(&writer, 1);
    qw_body_put_string(&writer, "a long text", 11);
    qw_body_put_u64(&writer, 2);
    qw_body_put_u32(&measure, 1);
    qw_body_put_string(&measure, "a long text", 11);
    qw_body_put_u64(&measure, 2);
    g_assert_cmpuint(writer.used, ==, 4 + 4 + 12 + 8);
    g_assert_cmpuint(measure.used, ==, writer.used);
}

static void
test_body_words(void)
{
    static const uint8_t bytes[8] = { 1, 0, 0, 0, 2, 0, 0, 0x80 };
    QwBodyReader reader = { .data = bytes, .n_bytes = sizeof bytes };
    uint32_t small;

    g_assert_cmpint(qw_body_get_u32(&reader, &small), ==, 0);
    g_assert_cmpuint(small, ==, 1);
    g_assert_cmpint(qw_body_get_u32(&reader, &small), ==, 0);
    g_assert_cmpuint(small, ==, (UINT32_C(1) << 31) + 2);
    g_assert_cmpint(qw_body_get_u32(&reader, &small), ==, -EBADMSG);
    g_assert_cmpint(qw_body_finish(&reader), ==, 0);

    reader = (QwBodyReader){ .data = bytes, .n_bytes = 8 };
    g_assert_cmpint(qw_body_finish(&reader), ==, -EBADMSG); /* as much as 8 bytes left */
    reader.n_bytes = 3;
    g_assert_cmpint(qw_body_finish(&reader), ==, -EBADMSG); /* padding that is not zero */
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/message/schema/encode", test_schema_encode);
    g_test_add_func("/wire/message/schema/decode", test_schema_decode);
    g_test_add_func("/wire/message/schema/bad", test_schema_bad);
    g_test_add_func("/wire/message/end", test_end);
    g_test_add_func("/wire/message/error/golden", test_error_golden);
    g_test_add_func("/wire/message/error/error-details", test_error_details);
    g_test_add_func("/wire/message/error/bad", test_error_bad);
    g_test_add_func("/wire/message/prepare", test_prepare);
    g_test_add_func("/wire/message/batch", test_batch);
    g_test_add_func("/wire/message/header-only", test_header_only);
    g_test_add_func("/wire/message/writer-measures", test_writer_measures);
    g_test_add_func("/wire/message/body-words", test_body_words);
    return g_test_run();
}
