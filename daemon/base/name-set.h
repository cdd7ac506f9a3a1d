/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of names that has a word for "all": what was too much to keep apart is said so, and nothing is lost.
 *
 * Place: room base. Invariant: a name that was added is always found, by itself or because the set is all.
 */
#pragma once

#include <glib.h>

typedef struct QdNameSet QdNameSet;

/* @n_max: with more names the set becomes all; 0: any number. */
QdNameSet *qd_name_set_new(guint n_max);
QdNameSet *qd_name_set_free(QdNameSet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdNameSet, qd_name_set_free)

void qd_name_set_add(QdNameSet *self, const char *name, gsize n_bytes);
void qd_name_set_add_all(QdNameSet *self, const QdNameSet *other);
void qd_name_set_make_all(QdNameSet *self);
/* Back to no name. */
void qd_name_set_clear(QdNameSet *self);

gboolean qd_name_set_is_all(const QdNameSet *self);
gboolean qd_name_set_is_empty(const QdNameSet *self);
gboolean qd_name_set_has(const QdNameSet *self, const char *name);
/* Whether some name is in both; all has every name but not that of an empty set. */
gboolean qd_name_set_meets(const QdNameSet *self, const QdNameSet *other);

/* (transfer container): the names in order; none when it is all. */
GPtrArray *qd_name_set_list(const QdNameSet *self);

/* Whether @name is one of @names, as SQL compares names: letters of ASCII have no case. */
gboolean qd_names_have(const char *const *names, gsize n_names, const char *name);
