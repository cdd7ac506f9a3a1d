/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Named or numbered parameter values of one statement, as they come over D-Bus.
 *
 * Place: room read. A set owns copies of its values. It is resolved against a statement's parameters when it is bound.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-value.h"

typedef struct QdParameters QdParameters;

QdParameters *qd_parameters_new(void);
QdParameters *qd_parameters_free(QdParameters *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdParameters, qd_parameters_free)

/* Adds a value under @key: "1", ":name" or a bare name. Copies both. */
void qd_parameters_add(QdParameters *self, const char *key, const QwValue *value);

guint qd_parameters_get_n(const QdParameters *self);
const char *qd_parameters_get_key(const QdParameters *self, guint i);
const QwValue *qd_parameters_get_value(const QdParameters *self, guint i);
