/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The translation of SQLite's errors, in one place.
 */
#include "daemon/store/sqlite-error.h"

#include <string.h>

QwError
qd_sqlite_get_code(int result)
{
    switch (result & 0xff) {
    case SQLITE_ERROR:
        return QW_ERROR_SYNTAX;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return QW_ERROR_ACCESS_DENIED;
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
        return QW_ERROR_CANCELLED;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return QW_ERROR_BUSY;
    case SQLITE_NOMEM:
        return QW_ERROR_NO_MEMORY;
    case SQLITE_READONLY:
        return QW_ERROR_READ_ONLY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return QW_ERROR_CORRUPT;
    case SQLITE_FULL:
        return QW_ERROR_DISK_FULL;
    case SQLITE_TOOBIG:
        return QW_ERROR_TOO_BIG;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return QW_ERROR_CONSTRAINT;
    case SQLITE_RANGE:
        return QW_ERROR_BAD_PARAMETER;
    default: /* SQLite's numbers, not our enum */
        return QW_ERROR_INTERNAL;
    }
}

/* SQLite's generic error covers limits of its compiler too; those are known by their words only. */
static QwError
refine_error(const char *message)
{
    static const char *const complex_words[] = {
        "parser stack overflow",
        "Expression tree is too large",
        "too many terms in compound SELECT",
        "too many columns",
        "too many SQL variables",
        "too many FROM clause terms",
        "at most 64 tables",
        "too many arguments",
        "LIKE or GLOB pattern too complex",
        "too many levels of trigger recursion",
        "too many references to",
        "variable number must be",
    };

    for (guint i = 0; i < G_N_ELEMENTS(complex_words); i++)
        if (strstr(message, complex_words[i]) != NULL)
            return QW_ERROR_TOO_COMPLEX;

    return QW_ERROR_SYNTAX;
}

void
qd_sqlite_set_error(GError **error, sqlite3 *db, int result, const char *text, size_t n_bytes)
{
    QwError code = qd_sqlite_get_code(result);
    const char *message = db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(result);
    int offset = db != NULL && text != NULL ? sqlite3_error_offset(db) : -1;

    if ((result & 0xff) == SQLITE_ERROR)
        code = refine_error(message);

    if (offset >= 0 && (size_t) offset <= n_bytes)
        qd_error_set_at(error, code, text, n_bytes, (size_t) offset, "%s", message);
    else
        qd_error_set(error, code, "%s", message);
}
