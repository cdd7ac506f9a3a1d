/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FTS5's snippet() looks at each match of a row again for each of its matches. With 500,000 matches, a document of 1 MB, it did
 * not end within a minute, and nothing ended it. It sees the row by a table of calls only. So SQLite's own functions are called
 * with a table of ours, whose calls fail once the statement shall end.
 *
 * SQLite has no call that gives its functions. They are read from its memory (docs/decisions/long-steps.md), of versions whose
 * source has been read, and only where the list has the three names.
 */
#include "daemon/sqlite/builtin/fts-calls.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/sqlite/builtin/builtin.h"
#include "daemon/sqlite/sqlite-error.h"

/* The version of the two tables of calls. A later one has more calls: 3 since SQLite 3.45 and 3.47. The comment in sqlite3.h says
 * 3 before, too. */
#define API_VERSION 2

/* SQLite's Fts5Auxiliary. */
typedef struct Auxiliary {
    void *global;
    char *name;
    void *user_data;
    fts5_extension_function call;
    void (*destroy)(void *data);
    struct Auxiliary *next;
} Auxiliary;

/* SQLite's Fts5Global, up to its functions. */
typedef struct Global {
    fts5_api api;
    sqlite3 *db;
    sqlite3_int64 last_id;
    Auxiliary *first;
} Global;

/* In the order of the list. */
static const char *const names[] = { "bm25", "highlight", "snippet" };

typedef struct Tokens {
    void *context;
    int (*func)(void *context, int flags, const char *token, int n_bytes, int start, int end);
} Tokens;

/* SQLite's table, a variable of the process. */
static const Fts5ExtensionApi *original; /* atomic */

static const Fts5ExtensionApi *
get_original(void)
{
    return g_atomic_pointer_get(&original);
}

static int
get_match(Fts5Context *context, int index, int *ret_phrase, int *ret_column, int *ret_offset)
{
    return qd_interrupt_poll() ? SQLITE_INTERRUPT : get_original()->xInst(context, index, ret_phrase, ret_column, ret_offset);
}

static int
on_token(void *data, int flags, const char *token, int n_bytes, int start, int end)
{
    Tokens *self = data;

    return qd_interrupt_poll() ? SQLITE_INTERRUPT : self->func(self->context, flags, token, n_bytes, start, end);
}

static int
tokenize(Fts5Context *context, const char *text, int n_bytes, void *token_context,
         int (*func)(void *context, int flags, const char *token, int n_bytes, int start, int end))
{
    Tokens tokens = { .context = token_context, .func = func };

    return get_original()->xTokenize(context, text, n_bytes, &tokens, on_token);
}

static void
call(const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *result, int n_args, sqlite3_value **args)
{
    const Auxiliary *function = api->xUserData(context);
    Fts5ExtensionApi ours;

    if (api->iVersion != API_VERSION) {
        function->call(api, context, result, n_args, args);
        return;
    }
    g_atomic_pointer_set(&original, api);
    ours = *api;
    ours.xInst = get_match;
    ours.xTokenize = tokenize;
    function->call(&ours, context, result, n_args, args);
}

fts5_api *
qd_fts_calls_get_api(sqlite3 *db)
{
    fts5_api *api = NULL;
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL) == SQLITE_OK) {
        (void) sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
        (void) sqlite3_step(stmt);
    }
    (void) sqlite3_finalize(stmt);
    return api;
}

/* Whether the list begins with the functions that FTS5 itself has. */
static gboolean
is_known(const Global *global, const sqlite3 *db)
{
    const Auxiliary *function;
    gsize n = 0;

    if (!qd_builtin_is_known() || global->api.iVersion != API_VERSION || global->db != db)
        return FALSE;
    for (function = global->first; function != NULL && n < G_N_ELEMENTS(names); function = function->next)
        if (function->global != global || strcmp(function->name, names[n++]) != 0)
            return FALSE;
    return n == G_N_ELEMENTS(names) && function == NULL;
}

gboolean
qd_fts_calls_register(sqlite3 *db, GError **error)
{
    fts5_api *api = qd_fts_calls_get_api(db);
    Auxiliary *function;
    int r = SQLITE_OK;

    if (api == NULL || !is_known((const Global *) api, db))
        return TRUE;

    function = ((Global *) api)->first;
    for (gsize i = 0; i < G_N_ELEMENTS(names) && r == SQLITE_OK; i++) {
        r = api->xCreateFunction(api, names[i], function, call, NULL);
        function = function->next;
    }
    if (r == SQLITE_OK)
        return TRUE;

    qd_sqlite_set_call_error(error, db, r, "cannot register the functions of FTS5");
    return FALSE;
}
