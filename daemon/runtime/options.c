/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of options: key, type, the methods that know it, the place of its value. data/org.queryd.Query1.xml says the same.
 */
#include "daemon/runtime/options.h"

#include "client-lib/wire/wire-record.h"
#include "daemon/base/error.h"

typedef gboolean (*SetFunc)(QdCallOptions *options, const QdOptionValue *value, GError **error);

struct QdOption {
    const char *key;
    char type;
    guint id;              /* QD_TAKES() of a request that takes it */
    gsize offset;          /* of its field: char *, guint64, gboolean or char ** */
    const char *choice[2]; /* a text that is one of two: the field is a gboolean, true for the second */
    SetFunc set;           /* (nullable) instead: more than one field, or less than all values */
};

static gboolean
refuse_text(const char *key, const char *text, const char *expected, GError **error)
{
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' cannot be '%.40s', expected %s", key, text, expected);
    return FALSE;
}

static gboolean
set_transport(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    /* "auto" is the fastest that is two-way: the reader says that it understands rings. */
    if (qd_transport_from_name(g_str_equal(value->text, "auto") ? "ring" : value->text, &options->channel.transport))
        return TRUE;

    return refuse_text("transport", value->text, "'socketpair', 'ring', 'pipe', 'vmsplice' or 'auto'", error);
}

static gboolean
set_page_size(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    uint64_t size = value->number;

    if (size < QW_PAGE_SIZE_MIN || size > QW_PAGE_SIZE_MAX || (size & (size - 1)) != 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "option 'page_size' cannot be %" G_GUINT64_FORMAT ", expected a power of two from %u to %u", size,
                     QW_PAGE_SIZE_MIN, QW_PAGE_SIZE_MAX);
        return FALSE;
    }

    options->channel.page_size = (uint32_t) size;
    return TRUE;
}

static gboolean
set_timeout(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    if (value->number > G_MAXUINT32) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'timeout_ms' cannot be %" G_GUINT64_FORMAT ", expected at most %u",
                     value->number, G_MAXUINT32);
        return FALSE;
    }
    options->execution.has_timeout = TRUE;
    options->execution.timeout_msec = (uint32_t) value->number;
    return TRUE;
}

static gboolean
set_text_transactions(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    options->channel.refuses_control = !value->is_on;
    return TRUE;
}

static gboolean
set_table(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    if (value->text[0] == '\0')
        return refuse_text("table", value->text, "the name of a table", error);

    g_free(options->transfer.table);
    options->transfer.table = g_strdup(value->text);
    return TRUE;
}

static gboolean
set_delimiter(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    char c = value->text[0];

    if ((!g_ascii_ispunct(c) && c != '\t' && c != ' ') || c == '"' || value->text[1] != '\0')
        return refuse_text("delimiter", value->text, "one ASCII character that is a blank, a tab or punctuation, but no quote",
                           error);

    options->transfer.delimiter = c;
    return TRUE;
}

static gboolean
set_all(QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    options->full_text.has_all = TRUE;
    options->full_text.all = value->is_on;
    return TRUE;
}

#define AT(field) .offset = G_STRUCT_OFFSET(QdCallOptions, field)

static const QdOption option_table[] = {
    { "transport", 's', QD_TAKES(TRANSPORT), .set = set_transport },
    { "page_size", 'u', QD_TAKES(PAGE_SIZE), .set = set_page_size },
    { "access", 's', QD_TAKES(ACCESS), AT(execution.access_write), .choice = { "read", "write" } },
    { "timeout_ms", 'u', QD_TAKES(TIMEOUT), .set = set_timeout },
    { "max_rows", 'u', QD_TAKES(MAX_ROWS), AT(execution.max_rows) },
    { "max_bytes", 'u', QD_TAKES(MAX_BYTES), AT(execution.max_bytes) },
    { "durability", 's', QD_TAKES(DURABILITY), AT(execution.relaxed_durability), .choice = { "full", "relaxed" } },
    { "results", 's', QD_TAKES(RESULTS), AT(execution.fresh), .choice = { "remembered", "fresh" } },
    { "error_details", 'b', QD_TAKES(ERROR_DETAILS), AT(error_details) },
    { "schema_details", 'b', QD_TAKES(SCHEMA_DETAILS), AT(channel.schema_details) },
    { "whole_results", 'b', QD_TAKES(WHOLE_RESULTS), AT(channel.whole_results) },
    { "text_transactions", 'b', QD_TAKES(TEXT_TRANSACTIONS), .set = set_text_transactions },
    { "fetch", 'b', QD_TAKES(FETCH), AT(channel.fetches) },
    { "requested_usec", 't', QD_TAKES(REQUESTED), AT(channel.requested_usec) },
    { "session", 't', QD_TAKES(SESSION), AT(channel.session) },
    { "media_type", 's', QD_TAKES(MEDIA_TYPE), AT(media_type) },
    { "analyze", 'b', QD_TAKES(ANALYZE), AT(analyze) },
    { "table", 's', QD_TAKES(TABLE), .set = set_table },
    { "create", 'b', QD_TAKES(CREATE), AT(transfer.create) },
    { "types", 'a', QD_TAKES(CREATE), AT(transfer.types) },
    { "detect_types", 'b', QD_TAKES(CREATE), AT(transfer.detect_types) },
    { "header", 'b', QD_TAKES(HEADER), AT(transfer.header) },
    { "delimiter", 's', QD_TAKES(DELIMITER), .set = set_delimiter },
    { "rdf_terms", 's', QD_TAKES(RDF_TERMS), AT(transfer.rdf_structs), .choice = { "text", "struct" } },
    { "graph", 's', QD_TAKES(GRAPH), AT(transfer.graph) },
    { "base", 's', QD_TAKES(BASE), AT(base) },
    { "dataset", 's', QD_TAKES(DATASET), AT(dataset) },
    { "replace", 'b', QD_TAKES(REPLACE), AT(transfer.replace) },
    { "check_only", 'b', QD_TAKES(CHECK_ONLY), AT(transfer.check_only) },
    { "one_graph", 'b', QD_TAKES(ONE_GRAPH), AT(transfer.one_graph) },
    { "quick", 'b', QD_TAKES(QUICK), AT(quick) },
    { "warm", 'b', QD_TAKES(WARM), AT(warm) },
    { "keys", 'b', QD_TAKES(KEYS), AT(keys) },
    { "tokenizer", 's', QD_TAKES(FULL_TEXT), AT(full_text.tokenizer) },
    { "add", 'a', QD_TAKES(FULL_TEXT), AT(full_text.add) },
    { "remove", 'a', QD_TAKES(FULL_TEXT), AT(full_text.remove) },
    { "all", 'b', QD_TAKES(FULL_TEXT), .set = set_all },
    { "rebuild", 'b', QD_TAKES(FULL_TEXT), AT(full_text.rebuild) },
    { "check", 'b', QD_TAKES(FULL_TEXT), AT(full_text.check) },
};

G_STATIC_ASSERT(G_N_ELEMENTS(option_table) <= 8 * sizeof(uint64_t)); /* qd_option_find() has a bit for each */

void
qd_options_init(QdCallOptions *self)
{
    *self = (QdCallOptions){ .quick = TRUE, .transfer = { .header = TRUE } };
}

void
qd_options_clear(QdCallOptions *self)
{
    g_free(self->transfer.table);
    g_free(self->transfer.graph);
    g_strfreev(self->transfer.types);
    g_free(self->base);
    g_free(self->dataset);
    g_free(self->media_type);
    g_free(self->full_text.tokenizer);
    g_strfreev(self->full_text.add);
    g_strfreev(self->full_text.remove);
    *self = (QdCallOptions){ 0 };
}

const QdOption *
qd_option_find(const char *key, guint taken, uint64_t *seen, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(option_table); i++) {
        if (!g_str_equal(option_table[i].key, key))
            continue;
        if ((option_table[i].id & taken) == 0) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "this method has no option '%s'", key);
            return NULL;
        }
        if ((*seen & (UINT64_C(1) << i)) != 0) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' is given twice", key);
            return NULL;
        }
        *seen |= UINT64_C(1) << i;
        return &option_table[i];
    }

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown option '%.40s'", key);
    return NULL;
}

const char *
qd_option_get_key(const QdOption *self)
{
    return self->key;
}

char
qd_option_get_type(const QdOption *self)
{
    return self->type;
}

static gboolean
set_choice(const QdOption *self, gboolean *place, const char *text, GError **error)
{
    g_autofree char *expected = NULL;

    *place = g_str_equal(text, self->choice[1]);
    if (*place || g_str_equal(text, self->choice[0]))
        return TRUE;

    expected = g_strdup_printf("'%s' or '%s'", self->choice[0], self->choice[1]);
    return refuse_text(self->key, text, expected, error);
}

gboolean
qd_option_set(const QdOption *self, QdCallOptions *options, const QdOptionValue *value, GError **error)
{
    gpointer place = G_STRUCT_MEMBER_P(options, self->offset);

    if (self->set != NULL)
        return self->set(options, value, error);
    if (self->choice[0] != NULL)
        return set_choice(self, place, value->text, error);

    switch (self->type) {
    case 's':
        g_free(*(char **) place);
        *(char **) place = g_strdup(value->text);
        break;
    case 'u':
    case 't':
        *(uint64_t *) place = value->number;
        break;
    case 'b':
        *(gboolean *) place = value->is_on;
        break;
    default: /* 'a' */
        g_strfreev(*(char ***) place);
        *(char ***) place = g_strdupv((char **) value->texts);
        break;
    }
    return TRUE;
}

gboolean
qd_option_parse(const QdOption *self, QdCallOptions *options, const char *text, GError **error)
{
    QdOptionValue value = { .text = text };

    if (self->type == 'u' || self->type == 't') {
        guint64 number = 0;

        if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &number, NULL))
            return refuse_text(self->key, text, "a number", error);
        value.number = number;
    } else if (self->type != 's') {
        return refuse_text(self->key, text, "a value that a text cannot have", error);
    }
    return qd_option_set(self, options, &value, error);
}
