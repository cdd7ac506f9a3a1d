/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and media types of the text formats.
 */
#include "daemon/format/text-format.h"

typedef struct FormatInfo {
    const char *name;
    const char *content_type;
} FormatInfo;

static const FormatInfo format_table[QD_N_TEXT_FORMATS] = {
    [QD_TEXT_FORMAT_CSV] = { "csv", "text/csv; charset=utf-8" },
    [QD_TEXT_FORMAT_TSV] = { "tsv", "text/tab-separated-values; charset=utf-8" },
    [QD_TEXT_FORMAT_JSON] = { "json", "application/json" },
    [QD_TEXT_FORMAT_JSONL] = { "jsonl", "application/jsonl" },
};

bool
qd_text_format_from_name(const char *name, QdTextFormat *ret_format)
{
    for (guint i = 0; i < QD_N_TEXT_FORMATS; i++) {
        if (g_str_equal(format_table[i].name, name)) {
            *ret_format = (QdTextFormat) i;
            return true;
        }
    }

    return false;
}

const char *
qd_text_format_get_name(QdTextFormat format)
{
    g_assert(format < QD_N_TEXT_FORMATS);

    return format_table[format].name;
}

const char *
qd_text_format_get_content_type(QdTextFormat format)
{
    g_assert(format < QD_N_TEXT_FORMATS);

    return format_table[format].content_type;
}
