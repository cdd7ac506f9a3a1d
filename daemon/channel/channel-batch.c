/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BATCH: a record whose statements are one update.
 *
 * Place: beside channel-write.c, which runs and answers it. Everything in the record comes from the peer.
 */

#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/base/error.h"
#include "daemon/base/limits.h"
#include "daemon/channel/channel-private.h"
#include "daemon/read/parameters.h"
#include "daemon/write/writer.h"

static void
statement_clear(gpointer data)
{
    (void) qd_parameters_free((QdParameters *) ((QdWriteStatement *) data)->parameters);
}

static gboolean
fail_malformed(uint32_t number, GError **error)
{
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "BATCH record is malformed at statement %u", number);
    return FALSE;
}

/* The keys, and the values as one row. */
static gboolean
parse_parameters(QwBodyReader *body, uint32_t number, const QdLimits *limits, QdParameters *parameters, GError **error)
{
    g_autofree const char **keys = NULL;
    QwPageReader reader;
    const char *row;
    uint32_t n_bytes;
    uint32_t n;

    if (qw_body_get_u32(body, &n) < 0)
        return fail_malformed(number, error);
    if (n > qd_limits_get(limits, QD_LIMIT_VARIABLES)) {
        qd_limit_set_error(error, limits, QD_LIMIT_VARIABLES, "statement %u of the batch has %u parameters", number, n);
        return FALSE;
    }
    keys = g_new(const char *, n);
    for (uint32_t i = 0; i < n; i++)
        if (qw_body_get_string(body, &keys[i], &n_bytes) < 0)
            return fail_malformed(number, error);
    if (qw_body_get_string(body, &row, &n_bytes) < 0 ||
        qw_page_reader_init(&reader, (const uint8_t *) row, n_bytes, n > 0 ? 1 : 0, n) < 0)
        return fail_malformed(number, error);
    if (n == 0)
        return TRUE;

    (void) qw_page_reader_next(&reader);
    for (uint32_t i = 0; i < n; i++) {
        QwValue value;

        qw_page_reader_get(&reader, i, &value);
        qd_parameters_add(parameters, keys[i], &value);
    }
    return TRUE;
}

static gboolean
parse_statement(QwBodyReader *body, uint32_t number, const QdLimits *limits, QdWriteStatement *ret_statement, GError **error)
{
    g_autoptr(QdParameters) parameters = qd_parameters_new();
    QdWriteStatement statement = { 0 };
    const char *language;
    const char *text;
    uint32_t n_bytes;

    if (qw_body_get_string(body, &language, &n_bytes) < 0 || qw_body_get_string(body, &text, &n_bytes) < 0)
        return fail_malformed(number, error);
    if (!qd_language_from_name(language, &statement.language, error) || !parse_parameters(body, number, limits, parameters, error))
        return FALSE;

    statement.text = text;
    statement.n_text_bytes = n_bytes;
    statement.parameters = g_steal_pointer(&parameters);
    *ret_statement = statement;
    return TRUE;
}

static gboolean
parse_head(QwBodyReader *body, const QdRequest *request, const QdLimits *limits, QdCallOptions *ret_options, GError **error)
{
    uint32_t n_options;

    if (request->count > qd_limits_get(limits, QD_LIMIT_BATCH_STATEMENTS)) {
        qd_limit_set_error(error, limits, QD_LIMIT_BATCH_STATEMENTS, "batch of %u statements is too long", request->count);
        return FALSE;
    }
    if (request->n_bytes > qd_limits_get(limits, QD_LIMIT_BATCH_BYTES)) {
        qd_limit_set_error(error, limits, QD_LIMIT_BATCH_BYTES, "batch of %" G_GSIZE_FORMAT " bytes is too large",
                           request->n_bytes);
        return FALSE;
    }
    if (qw_body_get_u32(body, &n_options) < 0)
        return fail_malformed(0, error);
    return qd_channel_parse_options(body, n_options, ret_options, error);
}

GArray *
qd_channel_parse_batch(const QdRequest *request, const QdLimits *limits, QdCallOptions *ret_options, GError **error)
{
    QwBodyReader body = { .data = request->body, .n_bytes = request->n_bytes };
    g_autoptr(GArray) statements = g_array_new(FALSE, TRUE, sizeof(QdWriteStatement));

    g_array_set_clear_func(statements, statement_clear);
    if (!parse_head(&body, request, limits, ret_options, error))
        return NULL;
    for (uint32_t i = 0; i < request->count; i++) {
        QdWriteStatement statement;

        if (!parse_statement(&body, i + 1, limits, &statement, error))
            return NULL;
        statement.base = ret_options->base;
        statement.dataset = ret_options->dataset;
        g_array_append_val(statements, statement);
    }
    if (qw_body_finish(&body) < 0) {
        (void) fail_malformed(request->count, error);
        return NULL;
    }
    return g_steal_pointer(&statements);
}

/* Answers ----------------------------------------------------------------------------------------------------------------- */

static void
begin_page(QwPageWriter *writer, gsize page_size)
{
    qw_page_writer_init(writer, g_malloc(page_size), page_size, 1);
}

static void
end_page(QdWriteItem *item, const QwPageWriter *writer)
{
    const QdResultPage page = {
        .data = writer->data, .free_func = g_free, .size = writer->used, .n_rows = writer->n_rows, .n_columns = 1
    };

    if (page.n_rows > 0)
        g_array_append_val(item->outcome.pages, page);
    else
        g_free(page.data);
}

static gboolean
put_count(QwPageWriter *writer, uint64_t count)
{
    const QwValue value = { .type = QW_TYPE_INTEGER, .integer = (int64_t) count };

    return qw_row_begin(writer) == 0 && qw_row_put_value(writer, &value) == 0 && qw_row_end(writer) == 0;
}

void
qd_channel_encode_batch_counts(QdWriteItem *item)
{
    QwPageWriter writer;

    g_array_set_size(item->outcome.pages, 0);
    begin_page(&writer, item->page_size);
    for (guint i = 0; i < item->statements->len; i++) {
        uint64_t count = g_array_index(item->statements, QdWriteStatement, i).changes;

        if (put_count(&writer, count))
            continue;
        end_page(item, &writer);
        begin_page(&writer, item->page_size);
        (void) put_count(&writer, count); /* any page has room for one */
    }
    end_page(item, &writer);
    item->outcome.n_rows = item->statements->len;
}
