/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * VACUUM makes each definition in a new file. Then it copies rows and keys in the order in which they are, and calls nothing.
 *
 * A definition cannot be made when a function is not there: so it is there, and refuses. Nor can it with an unknown collation. Any
 * other order in its place would be one that SQLite inserts by, unless it is BINARY for all columns of a key. So all are BINARY
 * meanwhile.
 */
#include "daemon/job/page-size.h"

#include <string.h>

#include "daemon/base/error.h"

#define MISSING_MAX 1000u /* of functions */
#define TABLES "rootpage > 0 AND sql IS NOT NULL"

static void
refuse_call(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    sqlite3_result_error(context, "it is a function of another program", -1);
}

/* @message: that a definition calls an unknown function. FALSE: it says something else. */
static gboolean
define_function(sqlite3 *db, const char *message)
{
    static const char *const words[] = { "no such function: ", "wrong number of arguments to function " };
    g_autofree char *name = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(words) && name == NULL; i++)
        if (g_str_has_prefix(message, words[i]))
            name = g_strndup(message + strlen(words[i]), strcspn(message + strlen(words[i]), "("));
    return name != NULL && sqlite3_create_function(db, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                                   refuse_call, NULL, NULL) == SQLITE_OK;
}

/* Collations ----------------------------------------------------------------------------------------------------------- */

static gboolean
is_of_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* A quote within is doubled. */
static gsize
measure_quoted(const char *text)
{
    const char quote = *text == '[' ? ']' : *text;
    const char *end = strchr(text + 1, quote);

    while (end != NULL && end[1] == quote && quote != ']')
        end = strchr(end + 2, quote);
    return end != NULL ? (gsize) (end + 1 - text) : strlen(text);
}

/* The length of a token of SQL, of blanks or of a comment; at least 1. */
static gsize
measure_token(const char *text)
{
    const char *end = text;

    if (g_str_has_prefix(text, "--"))
        return strcspn(text, "\n");
    if (g_str_has_prefix(text, "/*"))
        return (end = strstr(text + 2, "*/")) != NULL ? (gsize) (end + 2 - text) : strlen(text);
    if (strchr("'\"`[", *text) != NULL)
        return measure_quoted(text);
    while (is_of_word(*end))
        end++;
    return (gsize) MAX(end - text, 1);
}

/* queryd_plain(SQL): each COLLATE names BINARY. */
static void
function_plain(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const char *text = (const char *) sqlite3_value_text(args[0]);
    g_autoptr(GString) out = g_string_new(NULL);
    gboolean is_name = FALSE;

    for (gsize n; text != NULL && *text != '\0'; text += n) {
        gboolean is_between = g_ascii_isspace(*text) || g_str_has_prefix(text, "--") || g_str_has_prefix(text, "/*");

        n = measure_token(text);
        if (is_name && !is_between)
            g_string_append(out, "BINARY");
        else
            g_string_append_len(out, text, (gssize) n);
        if (!is_between)
            is_name = n == strlen("COLLATE") && g_ascii_strncasecmp(text, "COLLATE", n) == 0;
    }
    sqlite3_result_text(context, out->str, (int) out->len, SQLITE_TRANSIENT);
}

static gboolean
edit_definitions(QdConnection *connection, const char *sql, GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    g_autofree char *text = g_strconcat("PRAGMA writable_schema=ON; ", sql, "; PRAGMA writable_schema=RESET", NULL);
    gboolean ok;

    (void) sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    ok = qd_connection_execute(connection, text, error);
    (void) sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return ok;
}

static gboolean
forget_collations(QdConnection *connection, GError **error)
{
    (void) sqlite3_create_function(qd_connection_get_db(connection), "queryd_plain", 1, SQLITE_UTF8, NULL, function_plain, NULL,
                                   NULL);
    return edit_definitions(connection,
                            "CREATE TEMP TABLE kept AS SELECT type, name, sql FROM main.sqlite_schema WHERE " TABLES
                            "; UPDATE main.sqlite_schema SET sql = queryd_plain(sql) WHERE " TABLES,
                            error);
}

static gboolean
recall_collations(QdConnection *connection, GError **error)
{
    return edit_definitions(connection,
                            "UPDATE main.sqlite_schema AS m SET sql = kept.sql FROM temp.kept"
                            " WHERE kept.type = m.type AND kept.name = m.name; DROP TABLE temp.kept",
                            error);
}

gboolean
qd_page_size_change(QdConnection *connection, gint64 page_size, GError **error)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA page_size=%" G_GINT64_FORMAT "; VACUUM", page_size);
    gboolean is_plain = FALSE;

    for (guint i = 0; i < MISSING_MAX; i++) {
        g_autoptr(GError) failure = NULL;

        if (qd_connection_execute(connection, sql, &failure))
            return !is_plain || recall_collations(connection, error);
        if (!is_plain && g_str_has_prefix(failure->message, "no such collation sequence: ")) {
            if (!forget_collations(connection, error))
                return FALSE;
            is_plain = TRUE;
        } else if (!define_function(qd_connection_get_db(connection), failure->message)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return FALSE;
        }
    }
    qd_error_set(error, QW_ERROR_UNSUPPORTED, "its definitions call more than %u functions of another program", MISSING_MAX);
    return FALSE;
}
