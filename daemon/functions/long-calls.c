/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * randomblob(), hex(), upper() and lower(): a value of 64 MiB took each of them 150 to 300 ms in one call.
 */
#include "daemon/functions/long-calls.h"

#include <errno.h>
#include <sys/random.h>

#include "daemon/functions/sql-call.h"

#define FEW_RANDOM_BYTES 64
#define PIECE_BYTES 1048576

/* NULL: the result is an error. */
static char *
alloc_result(sqlite3_context *context, sqlite3_int64 n_bytes)
{
    char *p;

    if (n_bytes > sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) {
        sqlite3_result_error_toobig(context);
        return NULL;
    }
    p = sqlite3_malloc64((sqlite3_uint64) n_bytes);
    if (p == NULL)
        sqlite3_result_error_nomem(context);
    return p;
}

/*
 * A mutex of the whole process guards SQLite's own generator. Of twelve threads that made megabytes, one lost the core with the
 * mutex held. It delayed all others for up to 2 s, also statements that had to end. Few bytes are made faster there.
 */
static void
fill_randomly(char *out, gsize n_bytes)
{
    gsize done = 0;

    while (n_bytes > FEW_RANDOM_BYTES && done < n_bytes) {
        ssize_t n = getrandom(out + done, n_bytes - done, 0);

        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (gsize) n : 0;
    }
    if (done < n_bytes)
        sqlite3_randomness((int) (n_bytes - done), out + done);
}

/* https://www.sqlite.org/lang_corefunc.html#randomblob */
static void
function_randomblob(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    sqlite3_int64 n = MAX(sqlite3_value_int64(args[0]), 1);
    char *out = alloc_result(context, n);

    if (out == NULL)
        return;
    for (sqlite3_int64 done = 0; done < n; done += PIECE_BYTES) {
        if (qd_sql_is_interrupted(context)) {
            sqlite3_free(out);
            return;
        }
        fill_randomly(out + done, (gsize) MIN(n - done, PIECE_BYTES));
    }
    sqlite3_result_blob64(context, out, (sqlite3_uint64) n, sqlite3_free);
}

static void
put_hex(char *out, const guchar *in, int n_bytes)
{
    static const char digits[] = "0123456789ABCDEF";

    for (int i = 0; i < n_bytes; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
}

static void
put_upper(char *out, const guchar *in, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        out[i] = g_ascii_toupper((char) in[i]);
}

static void
put_lower(char *out, const guchar *in, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        out[i] = g_ascii_tolower((char) in[i]);
}

/* @in is of @n_bytes, the result of @factor as many and a NUL. */
static void
convert(sqlite3_context *context, const guchar *in, int n_bytes, int factor, void (*put)(char *, const guchar *, int))
{
    char *out = alloc_result(context, (sqlite3_int64) n_bytes * factor + 1);

    if (out == NULL)
        return;
    for (int done = 0; done < n_bytes; done += MIN(PIECE_BYTES, n_bytes - done)) {
        if (qd_sql_is_interrupted(context)) {
            sqlite3_free(out);
            return;
        }
        put(out + (gsize) done * (gsize) factor, in + done, MIN(PIECE_BYTES, n_bytes - done));
    }
    out[(gsize) n_bytes * (gsize) factor] = '\0';
    sqlite3_result_text64(context, out, (sqlite3_uint64) n_bytes * (sqlite3_uint64) factor, sqlite3_free, SQLITE_UTF8);
}

/* https://www.sqlite.org/lang_corefunc.html#hex */
static void
function_hex(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const guchar *blob = sqlite3_value_blob(args[0]);

    convert(context, blob, sqlite3_value_bytes(args[0]), 2, put_hex);
}

/* https://www.sqlite.org/lang_corefunc.html#upper */
static void
function_upper(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const guchar *text = sqlite3_value_text(args[0]);

    if (text != NULL)
        convert(context, text, sqlite3_value_bytes(args[0]), 1, put_upper);
}

/* https://www.sqlite.org/lang_corefunc.html#lower */
static void
function_lower(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const guchar *text = sqlite3_value_text(args[0]);

    if (text != NULL)
        convert(context, text, sqlite3_value_bytes(args[0]), 1, put_lower);
}

gboolean
qd_long_calls_register(sqlite3 *db, GError **error)
{
    static const struct {
        const char *name;
        int flags;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        { "randomblob", 0, function_randomblob },
        { "hex", SQLITE_DETERMINISTIC, function_hex },
        { "upper", SQLITE_DETERMINISTIC, function_upper },
        { "lower", SQLITE_DETERMINISTIC, function_lower },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(functions); i++) {
        int r = sqlite3_create_function_v2(db, functions[i].name, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS | functions[i].flags, NULL,
                                           functions[i].function, NULL, NULL, NULL);

        if (r != SQLITE_OK) {
            qd_sql_create_error(error, functions[i].name, r);
            return FALSE;
        }
    }
    return TRUE;
}
