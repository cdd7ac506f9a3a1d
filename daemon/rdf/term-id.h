/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The 64 bits that stand for a term in tables, in SQL and in programs.
 *
 *     id > 0   dictionary: sequence << 2 | kind (IRI, STRING, LANG_STRING, TYPED)
 *     id = 0   the default graph, never a term
 *     id < 0   the value itself: bit 63, bits 62..58 tag, bits 57..0 payload + 2^57
 *
 * Place: room rdf, pure. Invariants: only a lexical form that can be made again from the id lives in line. So two ids are equal
 * exactly when the terms are. Within a tag ids are in the order of the values.
 */
#pragma once

#include "daemon/rdf/term.h"

/* Numbers are in files: never change one. */
typedef enum QdTermTag {
    QD_TAG_BNODE = 0,       /* a stored serial */
    QD_TAG_BNODE_FRESH = 1, /* of one execution, never stored as such */
    QD_TAG_BOOLEAN = 4,     /* 0, 1 */
    QD_TAG_INTEGER = 8,     /* the number, as are the next five */
    QD_TAG_INT = 9,
    QD_TAG_LONG = 10,
    QD_TAG_SHORT = 11,
    QD_TAG_NON_NEGATIVE_INTEGER = 12,
    QD_TAG_POSITIVE_INTEGER = 13,
    QD_TAG_DECIMAL = 16, /* (number · 10^6) << 3 | fraction digits: equal values are one run of eight */
    QD_TAG_DATE = 20,    /* (µs since 1970) << 3 | fraction digits, as are the next three */
    QD_TAG_DATE_Z = 21,
    QD_TAG_DATE_TIME = 22,
    QD_TAG_DATE_TIME_Z = 23,
    QD_TAG_DATE_TIME_ZONE = 24, /* UTC ms << 12 | has three fraction digits << 11 | (offset in minutes + 1024) */
} QdTermTag;

#define QD_TERM_ID_PAYLOAD_BITS 58
#define QD_TERM_ID_PAYLOAD_BIAS (G_GINT64_CONSTANT(1) << 57)
#define QD_TERM_ID_PAYLOAD_MAX (QD_TERM_ID_PAYLOAD_BIAS - 1)
#define QD_TERM_ID_PAYLOAD_MIN (-QD_TERM_ID_PAYLOAD_BIAS)
#define QD_TERM_ID_DECIMAL_UNIT 1000000
#define QD_TERM_ID_DECIMAL_DIGITS 6

typedef struct QdTermBuffer {
    char text[128];
} QdTermBuffer;

/* qd_term_id_make: the id of @payload, which lies within QD_TERM_ID_PAYLOAD_MIN…MAX. */
static inline gint64
qd_term_id_make(QdTermTag tag, gint64 payload)
{
    return (gint64) ((G_GUINT64_CONSTANT(1) << 63) | (guint64) tag << QD_TERM_ID_PAYLOAD_BITS |
                     (guint64) (payload + QD_TERM_ID_PAYLOAD_BIAS));
}

static inline gboolean
qd_term_id_is_inline(gint64 id)
{
    return id < 0;
}

/* Of an id in line only. May be a number that the enum has not. */
static inline guint
qd_term_id_get_tag(gint64 id)
{
    return (guint) ((guint64) id >> QD_TERM_ID_PAYLOAD_BITS) & 31;
}

static inline gint64
qd_term_id_get_payload(gint64 id)
{
    return (gint64) ((guint64) id & ((G_GUINT64_CONSTANT(1) << QD_TERM_ID_PAYLOAD_BITS) - 1)) - QD_TERM_ID_PAYLOAD_BIAS;
}

/* The least and the greatest id of a tag, for ranges in SQL. */
static inline gint64
qd_term_id_get_tag_min(QdTermTag tag)
{
    return qd_term_id_make(tag, QD_TERM_ID_PAYLOAD_MIN);
}

static inline gint64
qd_term_id_get_tag_max(QdTermTag tag)
{
    return qd_term_id_make(tag, QD_TERM_ID_PAYLOAD_MAX);
}

/* The kind of any id but 0. */
static inline QdTermKind
qd_term_id_get_kind(gint64 id)
{
    if (id > 0)
        return (QdTermKind) (id & 3);
    return qd_term_id_get_tag(id) <= QD_TAG_BNODE_FRESH ? QD_TERM_BNODE : QD_TERM_TYPED;
}

static inline gboolean
qd_term_id_is_literal(gint64 id)
{
    return id > 0 ? (id & 3) != QD_TERM_IRI : qd_term_id_get_tag(id) > QD_TAG_BNODE_FRESH;
}

/* @kind is not BNODE. */
static inline gint64
qd_term_id_from_sequence(guint64 sequence, QdTermKind kind)
{
    return (gint64) (sequence << 2 | (guint64) kind);
}

static inline guint64
qd_term_id_get_sequence(gint64 id)
{
    return (guint64) id >> 2;
}

static inline gint64
qd_term_id_from_bnode(guint64 serial)
{
    return qd_term_id_make(QD_TAG_BNODE, (gint64) serial);
}

static inline gint64
qd_term_id_from_boolean(gboolean value)
{
    return qd_term_id_make(QD_TAG_BOOLEAN, value ? 1 : 0);
}

/**
 * qd_term_id_from_integer:
 * @value: a number
 * @ret_id: (out): the id of the xsd:integer
 *
 * Returns: FALSE when it is too large to live in line
 */
gboolean qd_term_id_from_integer(gint64 value, gint64 *ret_id);

/**
 * qd_term_id_from_term:
 * @term: a term
 * @ret_id: (out): its id
 *
 * Returns: TRUE when the exact lexical form lives in line; never for an IRI, a string, a language string or a blank node
 */
gboolean qd_term_id_from_term(const QdTerm *term, gint64 *ret_id);

/**
 * qd_term_id_to_term:
 * @id: any number
 * @buffer: gets the texts; outlives @ret_term
 * @ret_term: (out): the term; a blank node has the label "b" and its serial, a fresh one "f" and its serial
 *
 * Returns: FALSE for an id of the dictionary, 0, and what no term has
 */
gboolean qd_term_id_to_term(gint64 id, QdTermBuffer *buffer, QdTerm *ret_term);
