/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of QueryResource.
 *
 * Place: internal to libquery-client, room rdf. query-resource.c keeps the values, query-resource-text.c writes them,
 * query-resource-store.c stores and reads them.
 * Invariant: what is kept can be written in SPARQL; only the identifier is looked at when it is.
 */
#pragma once

#include "client-lib/query-client.h"

typedef struct QueryResourceValue {
    char *lexical;           /* of a literal, or an IRI, or the name of a blank node */
    char *datatype;          /* (nullable); "@id": an IRI, "@bnode": a blank node */
    char *language;          /* (nullable) */
    QueryResource *resource; /* (nullable): owned */
    gboolean is_stored;      /* it was read */
} QueryResourceValue;

typedef struct QueryResourceProperty {
    char *iri;
    GPtrArray *values;   /* of QueryResourceValue */
    gboolean is_cleared; /* those in the store go */
} QueryResourceProperty;

struct _QueryResource {
    GObject parent_instance;
    char *identifier;
    gboolean is_blank;
    gboolean is_read; /* from a store */
    QueryNamespaces *namespaces;
    GPtrArray *properties; /* of QueryResourceProperty, in the order in which they came */
};

/* @value: its strings are copied, its resource gets a reference. @property: an IRI */
void query_resource_keep(QueryResource *self, const char *property, const QueryResourceValue *value);
/* (transfer full): a blank node that was read */
QueryResource *query_resource_new_read(const char *identifier, gboolean is_blank, QueryNamespaces *namespaces);
/* BAD_PARAMETER when it can name no resource. */
gboolean query_resource_check_identifier(QueryResource *self, GError **error);
