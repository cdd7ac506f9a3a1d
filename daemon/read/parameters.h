/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Named or numbered parameter values of one statement, as they come over D-Bus.
 *
 * Place: room read. A set owns copies of its values, or keeps what they are views of. It is resolved against a statement's
 * parameters when it is bound.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-value.h"

typedef struct QdParameters QdParameters;

QdParameters *qd_parameters_new(void);
/* @owner: (transfer full): keeps what the values point to, until the set is freed */
QdParameters *qd_parameters_new_views(void *owner, GDestroyNotify destroy);
QdParameters *qd_parameters_free(QdParameters *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdParameters, qd_parameters_free)

/* Adds a value under @key: "1", ":name" or a bare name. Copies the key, and the value where the set has no owner of it. */
void qd_parameters_add(QdParameters *self, const char *key, const QwValue *value);

/* A boolean of SPARQL: xsd:boolean. Its texts are static. */
void qd_parameters_set_boolean(QwValue *ret_value, gboolean is_true);

/* Memory of keys and values. */
gsize qd_parameters_get_n_bytes(const QdParameters *self);
guint qd_parameters_get_n(const QdParameters *self);
const char *qd_parameters_get_key(const QdParameters *self, guint i);
const QwValue *qd_parameters_get_value(const QdParameters *self, guint i);
