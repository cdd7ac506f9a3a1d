/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builds small nested arrays, as ADBC gives metadata in, value by value.
 *
 * Place: driver for ADBC. Invariant: what is given owns itself.
 */
#pragma once

#include "client-lib/query-client.h"

/* A column, or a part of one. Static. */
typedef struct QadField {
    const char *format; /* as in Arrow's C data interface */
    const char *name;
    gboolean required;
    const struct QadField *children; /* (nullable): the last one has no format */
} QadField;

typedef struct QadNode QadNode;

QadNode *qad_node_new(const QadField *field);
void qad_node_free(QadNode *self);
QadNode *qad_node_get_child(QadNode *self, guint index);

/* A value of a column; @text: (nullable): NULL is one */
void qad_node_add_text(QadNode *self, const char *text);
void qad_node_add_int(QadNode *self, gint64 value);
void qad_node_add_null(QadNode *self);
/* What was added to the children since the last call is a struct, or a list. */
void qad_node_end(QadNode *self);
/* The last value of the child @index is the next one of the union. */
void qad_node_add_member(QadNode *self, guint index);

/* The whole as a batch with its schema. @self: (transfer full): a struct */
void qad_node_give(QadNode *self, struct ArrowSchema *ret_schema, struct ArrowArray *ret_batch);

/* @format: copied; so many children, which are to be filled */
void qad_schema_init(struct ArrowSchema *schema, const char *format, const char *name, gsize n_children);
/* Without metadata. */
void qad_schema_copy(const struct ArrowSchema *schema, struct ArrowSchema *ret_copy);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QadNode, qad_node_free)
