/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and values of a query string or of application/x-www-form-urlencoded, in their order; a name may come more than once.
 *
 * Place: room http. Invariant: all texts are UTF-8 without NUL.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct QhttpForm QhttpForm;

QhttpForm *qhttp_form_new(void);
QhttpForm *qhttp_form_free(QhttpForm *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QhttpForm, qhttp_form_free)

/* Adds the pairs of @text. Returns: false when it is malformed: a percent sign without two digits, bytes that are not UTF-8, a NUL.
 * The pairs before that stay. */
bool qhttp_form_parse(QhttpForm *self, const char *text, gsize n_bytes);

/* How often the name comes. */
guint qhttp_form_count(const QhttpForm *self, const char *name);

/* (transfer none) (nullable): the first value */
const char *qhttp_form_get(const QhttpForm *self, const char *name);

/* (transfer container): all its values, NULL-terminated */
const char **qhttp_form_list(const QhttpForm *self, const char *name);
