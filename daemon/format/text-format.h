/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text formats: names and media types.
 *
 * Place: room format; docs/formats.md is the description for users.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum QdTextFormat {
    QD_TEXT_FORMAT_CSV,
    QD_TEXT_FORMAT_TSV,
    QD_TEXT_FORMAT_JSON,
    QD_TEXT_FORMAT_JSONL,
} QdTextFormat;

#define QD_N_TEXT_FORMATS (QD_TEXT_FORMAT_JSONL + 1)

/**
 * qd_text_format_from_name:
 * @name: "csv", "tsv", "json" or "jsonl"
 * @ret_format: (out): the format
 *
 * Returns: false when no format has this name
 */
bool qd_text_format_from_name(const char *name, QdTextFormat *ret_format);

/**
 * qd_text_format_get_name:
 *
 * Returns: (transfer none): the name, as in the property Formats
 */
const char *qd_text_format_get_name(QdTextFormat format);

/**
 * qd_text_format_get_content_type:
 *
 * Returns: (transfer none): the media type
 */
const char *qd_text_format_get_content_type(QdTextFormat format);
