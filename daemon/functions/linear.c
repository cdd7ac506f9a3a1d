/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * instr() and replace() on memmem(), which is linear; trim() and its kin on a table of the characters to remove.
 *
 * What is still long asks whether the statement shall end. Measured: instr(zeroblob(2M), zeroblob(1M) || x'01') runs 28 s in
 * SQLite's own version without one call of the progress handler.
 */
#include "daemon/functions/linear.h"

#include <string.h>

#include "daemon/functions/long-calls.h"
#include "daemon/functions/sql-call.h"

/* A look at the clock for so many characters or replacements. */
#define PIECE 65536
/* The fewest bytes that a search goes through at once. A sanitizer checks all of them at each match. */
#define WINDOW_BYTES 65536

/* https://www.sqlite.org/lang_corefunc.html#instr: positions in bytes for two BLOBs, else in characters, from 1. */
static void
function_instr(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    gboolean blobs = sqlite3_value_type(args[0]) == SQLITE_BLOB && sqlite3_value_type(args[1]) == SQLITE_BLOB;
    const char *haystack;
    const char *needle;
    const char *found = NULL;
    int n_haystack;
    int n_needle;
    sqlite3_int64 position = 1;

    if (sqlite3_value_type(args[0]) == SQLITE_NULL || sqlite3_value_type(args[1]) == SQLITE_NULL || qd_sql_is_interrupted(context))
        return;

    haystack = blobs ? sqlite3_value_blob(args[0]) : (const char *) sqlite3_value_text(args[0]);
    needle = blobs ? sqlite3_value_blob(args[1]) : (const char *) sqlite3_value_text(args[1]);
    n_haystack = sqlite3_value_bytes(args[0]);
    n_needle = sqlite3_value_bytes(args[1]);
    if ((haystack == NULL && n_haystack > 0) || (needle == NULL && n_needle > 0)) {
        sqlite3_result_error_nomem(context);
        return;
    }

    if (n_needle == 0)
        found = haystack;
    else if (haystack != NULL && needle != NULL)
        found = memmem(haystack, (size_t) n_haystack, needle, (size_t) n_needle);
    if (found == NULL && n_needle > 0) {
        sqlite3_result_int(context, 0);
        return;
    }
    for (const char *p = haystack; p != NULL && p < found; p++)
        if (blobs || ((unsigned char) *p & 0xc0) != 0x80)
            position++;
    sqlite3_result_int64(context, position);
}

/* The arguments of replace(). */
typedef struct Replacing {
    const char *text, *end; /* of the text that is left */
    const char *pattern, *replacement;
    size_t n_pattern, n_replacement;
} Replacing;

/* The first match from @p on. (nullable) */
static const char *
find_next(const Replacing *self, const char *p)
{
    size_t step = MAX(WINDOW_BYTES, 4 * self->n_pattern); /* each search prepares the pattern */
    const char *found = NULL;

    for (; found == NULL && (size_t) (self->end - p) >= self->n_pattern; p += MIN(step, (size_t) (self->end - p)))
        found = memmem(p, MIN((size_t) (self->end - p), step + self->n_pattern - 1), self->pattern, self->n_pattern);
    return found;
}

/* How often the pattern is in the text. FALSE: the statement shall end, and the function has failed. */
static gboolean
count_matches(sqlite3_context *context, const Replacing *self, sqlite3_uint64 *ret_n)
{
    const char *p = self->text;

    for (*ret_n = 0;; *ret_n += 1) {
        if (*ret_n % PIECE == 0 && qd_sql_is_interrupted(context))
            return FALSE;
        p = find_next(self, p);
        if (p == NULL)
            return TRUE;
        p += self->n_pattern;
    }
}

/* @out: as long as the result */
static gboolean
put_replaced(sqlite3_context *context, Replacing *self, char *out)
{
    for (guint i = 0;; i++) {
        const char *found = find_next(self, self->text);
        const char *stop = found != NULL ? found : self->end;

        if (i % PIECE == 0 && qd_sql_is_interrupted(context))
            return FALSE;
        memcpy(out, self->text, (size_t) (stop - self->text));
        out += stop - self->text;
        if (found == NULL)
            return TRUE;
        memcpy(out, self->replacement, self->n_replacement);
        out += self->n_replacement;
        self->text = found + self->n_pattern;
    }
}

/* https://www.sqlite.org/lang_corefunc.html#replace */
static void
function_replace(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    sqlite3_uint64 limit = (sqlite3_uint64) sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
    Replacing work = { .text = (const char *) sqlite3_value_text(args[0]), .pattern = (const char *) sqlite3_value_text(args[1]) };
    sqlite3_uint64 n_matches;
    sqlite3_uint64 n_out;
    char *out;

    if (work.text == NULL || work.pattern == NULL)
        return;
    work.end = work.text + sqlite3_value_bytes(args[0]);
    work.n_pattern = (size_t) sqlite3_value_bytes(args[1]);
    if (work.pattern[0] == '\0') {
        sqlite3_result_value(context, args[0]);
        return;
    }
    work.replacement = (const char *) sqlite3_value_text(args[2]);
    work.n_replacement = (size_t) sqlite3_value_bytes(args[2]);
    if (work.replacement == NULL || !count_matches(context, &work, &n_matches))
        return;

    n_out = (sqlite3_uint64) (work.end - work.text) + n_matches * work.n_replacement - n_matches * work.n_pattern;
    if (n_out > limit) {
        sqlite3_result_error_toobig(context);
        return;
    }
    out = sqlite3_malloc64(n_out + 1);
    if (out == NULL) {
        sqlite3_result_error_nomem(context);
    } else if (put_replaced(context, &work, out)) {
        out[n_out] = '\0';
        sqlite3_result_text64(context, out, n_out, sqlite3_free, SQLITE_UTF8);
    } else {
        sqlite3_free(out);
    }
}

/* SQLite's notion of a character here: a lead byte and the continuation bytes after it. */
static size_t
character_size(const char *p, const char *end)
{
    size_t n = 1;

    if ((unsigned char) *p >= 0xc0)
        while (p + n < end && ((unsigned char) p[n] & 0xc0) == 0x80)
            n++;
    return n;
}

static gboolean
set_has(GHashTable *set, const char *p, size_t n_bytes)
{
    g_autoptr(GBytes) key = g_bytes_new_static(p, n_bytes);

    return g_hash_table_contains(set, key);
}

/* NULL: the statement shall end, and the function has failed. */
static GHashTable *
collect_characters(sqlite3_context *context, const char *p, size_t n_bytes)
{
    GHashTable *set = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
    const char *end = p + n_bytes;

    for (guint i = 0; p < end; i++) {
        size_t n = character_size(p, end);

        if (i % PIECE == 0 && qd_sql_is_interrupted(context)) {
            g_hash_table_unref(set);
            return NULL;
        }
        if (!set_has(set, p, n))
            g_hash_table_add(set, g_bytes_new_static(p, n));
        p += n;
    }
    return set;
}

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

/* https://www.sqlite.org/lang_corefunc.html#trim */
static void
function_trim(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    int sides = GPOINTER_TO_INT(sqlite3_user_data(context));
    const char *start = (const char *) sqlite3_value_text(args[0]);
    const char *end;
    const char *characters = " ";
    size_t n_characters = 1;
    g_autoptr(GHashTable) set = NULL;

    if (start == NULL)
        return;
    if (n_args == 2) {
        characters = (const char *) sqlite3_value_text(args[1]);
        if (characters == NULL)
            return;
        n_characters = strlen(characters);
    }

    end = start + sqlite3_value_bytes(args[0]);
    set = collect_characters(context, characters, n_characters);
    if (set == NULL)
        return;
    for (guint i = 0; (sides & TRIM_LEFT) && start < end; i++) {
        size_t n = character_size(start, end);

        if (i % PIECE == 0 && qd_sql_is_interrupted(context))
            return;
        if (!set_has(set, start, n))
            break;
        start += n;
    }
    for (guint i = 0; (sides & TRIM_RIGHT) && start < end; i++) {
        const char *last = end - 1;

        if (i % PIECE == 0 && qd_sql_is_interrupted(context))
            return;
        while (last > start && ((unsigned char) *last & 0xc0) == 0x80)
            last--;
        if (!set_has(set, last, (size_t) (end - last)))
            break;
        end = last;
    }
    sqlite3_result_text64(context, start, (sqlite3_uint64) (end - start), SQLITE_TRANSIENT, SQLITE_UTF8);
}

gboolean
qd_functions_register_linear(sqlite3 *db, GError **error)
{
    static const struct {
        const char *name;
        int n_args;
        int data;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        { "instr", 2, 0, function_instr },         { "replace", 3, 0, function_replace },
        { "trim", 1, 3, function_trim },           { "trim", 2, 3, function_trim },
        { "ltrim", 1, TRIM_LEFT, function_trim },  { "ltrim", 2, TRIM_LEFT, function_trim },
        { "rtrim", 1, TRIM_RIGHT, function_trim }, { "rtrim", 2, TRIM_RIGHT, function_trim },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(functions); i++) {
        int r = sqlite3_create_function_v2(db, functions[i].name, functions[i].n_args,
                                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                           GINT_TO_POINTER(functions[i].data), functions[i].function, NULL, NULL, NULL);
        if (r != SQLITE_OK) {
            qd_sql_create_error(error, functions[i].name, r);
            return FALSE;
        }
    }
    return qd_long_calls_register(db, error) && qd_format_call_register(db, error);
}
