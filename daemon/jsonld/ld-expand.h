/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expansion (§5.1): values of JSON as nodes, values and lists, without contexts.
 *
 * Place: room jsonld. Invariant: an item is in one list; all of it is in the arena of the record.
 */
#pragma once

#include "daemon/jsonld/ld-context.h"

enum {
    QD_LD_HAS_ID = 1 << 0,
    QD_LD_HAS_TYPE = 1 << 1,
    QD_LD_HAS_VALUE = 1 << 2,
    QD_LD_HAS_LANGUAGE = 1 << 3,
    QD_LD_HAS_DIRECTION = 1 << 4,
    QD_LD_HAS_INDEX = 1 << 5,
    QD_LD_HAS_LIST = 1 << 6,
    QD_LD_HAS_SET = 1 << 7,
    QD_LD_HAS_GRAPH = 1 << 8,
    QD_LD_HAS_INCLUDED = 1 << 9,
    QD_LD_HAS_PROPERTY = 1 << 10,
    QD_LD_HAS_REVERSE = 1 << 11,
};

typedef struct QdLdItem QdLdItem;

/* What expansion gives: nothing, one item, or an array. */
typedef struct QdLdList {
    QdLdItem *first; /* (nullable) */
    QdLdItem *last;
    gboolean is_array;
} QdLdList;

typedef struct QdLdProperty QdLdProperty;
struct QdLdProperty {
    QdLdProperty *next;
    const char *iri;
    QdLdList values;
};

typedef struct QdLdType QdLdType;
struct QdLdType {
    QdLdType *next;
    const char *iri; /* (nullable) */
};

/* An object of expanded JSON-LD. */
struct QdLdItem {
    QdLdItem *next;
    guint has;       /* which entries it has */
    const char *id;  /* (nullable) */
    QdLdType *types; /* (nullable) */
    QdLdType *last_type;
    gboolean types_array; /* @type is no single text */
    const QdJson *value;
    const char *language; /* (nullable) */
    const char *direction;
    const char *index;
    QdLdList content; /* of @list or @set */
    QdLdList graph;
    QdLdList included;
    QdLdProperty *properties; /* (nullable); an IRI may be there twice */
    QdLdProperty *last_property;
    QdLdProperty *reverse; /* (nullable) */
    QdLdProperty *last_reverse;
    const QdJson *place;
};

/**
 * qd_ld_expand:
 * @property: (nullable): the term that @element is a value of
 * @ret_list: what it stands for
 *
 * Expands an element of the document. It recurses as deep as the element, which the parser has bounded.
 *
 * Errors: SYNTAX with one of the specification's codes, TOO_BIG, TOO_COMPLEX
 */
gboolean qd_ld_expand(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *element, QdLdList *ret_list,
                      GError **error);

void qd_ld_list_add(QdLdList *list, QdLdItem *item);

/* For the parts of the algorithm (ld-map.c, ld-keyword.c) ---------------------------------------------------------------- */

/* An object while it is expanded. */
typedef struct QdLdObject {
    QdLd *ld;
    const QdLdContext *context;
    const QdLdContext *type_context; /* before the contexts of its types */
    const char *property;            /* (nullable) */
    const char *input_type;          /* (nullable) */
    QdLdItem *item;
    GPtrArray *nests; /* (nullable) of QdJson, members that stand for @nest */
} QdLdObject;

#define QD_LD_FROM_MAP 1u /* the element is a value of a map by ids or types: the context stays as it is */

gboolean qd_ld_expand_in(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *element, guint flags,
                         QdLdList *ret_list, GError **error);
gboolean qd_ld_expand_keyword(QdLdObject *self, const QdJson *member, const char *keyword, GError **error);
/* The values of a term whose container is a map. */
gboolean qd_ld_expand_language_map(QdLdObject *self, const QdJson *map, const QdLdTerm *term, QdLdList *ret_list, GError **error);
gboolean qd_ld_expand_index_map(QdLdObject *self, const QdJson *map, const char *name, const QdLdTerm *term, QdLdList *ret_list,
                                GError **error);
/* Value Expansion (§5.3). */
gboolean qd_ld_expand_value(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *value, QdLdList *ret_list,
                            GError **error);

QdLdItem *qd_ld_item_new(QdLd *ld, const QdJson *place);
void qd_ld_item_add_property(QdLd *ld, QdLdItem *self, const char *iri, const QdLdList *values);
void qd_ld_item_add_reverse(QdLd *ld, QdLdItem *self, const char *iri, QdLdItem *value);
void qd_ld_item_add_type(QdLd *ld, QdLdItem *self, const char *iri);
