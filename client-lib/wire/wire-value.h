/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values: a view of one SQL value or RDF term. The same for results and parameters.
 *
 * Place: room wire. A QwValue owns nothing; its pointers live as long as the page or buffer it was read from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Four bits on the wire; 9–15 are refused. */
typedef enum QwType {
    QW_TYPE_NULL = 0,
    QW_TYPE_INTEGER = 1,
    QW_TYPE_FLOAT = 2,
    QW_TYPE_TEXT = 3,
    QW_TYPE_BLOB = 4,
    QW_TYPE_IRI = 5,
    QW_TYPE_BNODE = 6,
    QW_TYPE_LITERAL_LANG = 7,  /* second string: language tag */
    QW_TYPE_LITERAL_TYPED = 8, /* second string: datatype IRI */
} QwType;

#define QW_TYPE_LAST QW_TYPE_LITERAL_TYPED

typedef struct QwValue {
    QwType type;
    union {
        int64_t integer;
        double real;
        struct {
            const char *data;     /* TEXT, BLOB, IRI, BNODE, lexical form; all but BLOB are NUL-terminated */
            const char *tag;      /* LITERAL_LANG, LITERAL_TYPED: NUL-terminated, else NULL */
            uint32_t n_bytes;     /* of data, without the NUL; data may contain NULs */
            uint32_t n_tag_bytes; /* of tag, without the NUL */
        };
    };
} QwValue;

static inline bool
qw_type_has_nul(QwType type)
{
    return type == QW_TYPE_TEXT || type >= QW_TYPE_IRI;
}

static inline bool
qw_type_is_word(QwType type)
{
    return type == QW_TYPE_INTEGER || type == QW_TYPE_FLOAT;
}
