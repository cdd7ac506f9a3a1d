/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two query languages, by the names that D-Bus and the wire have for them.
 */
#pragma once

#include <glib.h>

typedef enum QdLanguage {
    QD_LANGUAGE_SQL,
    QD_LANGUAGE_SPARQL,
} QdLanguage;

/* "sql" or "sparql"; BAD_PARAMETER otherwise. */
gboolean qd_language_from_name(const char *name, QdLanguage *ret_language, GError **error);
const char *qd_language_get_name(QdLanguage language);
