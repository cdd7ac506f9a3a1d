/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of languages.
 */
#include "daemon/base/language.h"

#include "daemon/base/error.h"

static const char *const language_names[] = { "sql", "sparql" };

gboolean
qd_language_from_name(const char *name, QdLanguage *ret_language, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(language_names); i++) {
        if (g_str_equal(name, language_names[i])) {
            *ret_language = (QdLanguage) i;
            return TRUE;
        }
    }
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown language '%.40s': 'sql' and 'sparql' are known", name);
    return FALSE;
}

const char *
qd_language_get_name(QdLanguage language)
{
    return language_names[language];
}
