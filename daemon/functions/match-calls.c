/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FTS5 knows matches by the number of their tokens; the literal is cut into tokens once more to find where those stand.
 */
#include "daemon/functions/match-calls.h"

#include "daemon/functions/sql-call.h"

/* A phrase without words: it is in no text. */
#define NO_MATCH "\"\""

static void
function_match_text(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue value;

    qd_evaluation_reset(ev);
    value = qd_value_from_sql(ev, args[0]);
    if (sqlite3_value_type(args[0]) == SQLITE_NULL)
        qd_evaluation_fail(ev, QW_ERROR_SYNTAX,
                           "fts:match: the query text has no value there: bind it in the same group, or give it as a parameter");
    else if (!qd_value_is_string(&value) || !qd_value_get_term(ev, &value))
        sqlite3_result_text(context, NO_MATCH, -1, SQLITE_STATIC);
    else if (value.term.n_lexical > qd_evaluation_get_limit(ev, QD_LIMIT_FULLTEXT_QUERY_BYTES))
        qd_evaluation_fail_limit(ev, QD_LIMIT_FULLTEXT_QUERY_BYTES, "full-text query is too long");
    else
        sqlite3_result_text64(context, value.term.lexical, value.term.n_lexical, SQLITE_TRANSIENT, SQLITE_UTF8);
    (void) qd_sql_fail(ev, context);
}

/* --- offsets ---------------------------------------------------------------------------------------------------------- */

/* Tokens [first, end) of the literal that a phrase has matched, and their bytes once they are known. */
typedef struct Instance {
    int first, end;
    int start_byte, end_byte;
} Instance;

typedef struct Offsets {
    GArray *instances; /* of Instance, by the first token */
    int n_tokens;      /* seen so far */
    guint n_open;      /* instances before it have ended */
} Offsets;

static int
on_token(void *data, int flags, const char *token, int n_token, int start, int end)
{
    Offsets *self = data;

    if ((flags & FTS5_TOKEN_COLOCATED) != 0)
        return SQLITE_OK;
    for (guint i = self->n_open; i < self->instances->len; i++) {
        Instance *instance = &g_array_index(self->instances, Instance, i);

        if (instance->first > self->n_tokens)
            break;
        if (instance->first == self->n_tokens)
            instance->start_byte = start;
        if (instance->end > self->n_tokens)
            instance->end_byte = end;
        else if (i == self->n_open)
            self->n_open++;
    }
    self->n_tokens++;
    return SQLITE_OK;
}

static gint
compare_instances(gconstpointer a, gconstpointer b)
{
    const Instance *left = a;
    const Instance *right = b;

    return left->first != right->first ? left->first - right->first : left->end - right->end;
}

static int
list_instances(const Fts5ExtensionApi *api, Fts5Context *fts, GArray *instances)
{
    int n = 0;
    int r = api->xInstCount(fts, &n);

    for (int i = 0; r == SQLITE_OK && i < n; i++) {
        Instance instance = { 0 };
        int phrase;
        int column;

        r = api->xInst(fts, i, &phrase, &column, &instance.first);
        instance.end = r == SQLITE_OK ? instance.first + api->xPhraseSize(fts, phrase) : 0;
        g_array_append_val(instances, instance);
    }
    g_array_sort(instances, compare_instances);
    return r;
}

static void
put_instances(const GArray *instances, const char *text, GString *out)
{
    const Instance *last = NULL;

    for (guint i = 0; i < instances->len; i++) {
        const Instance *instance = &g_array_index(instances, Instance, i);

        if (last != NULL && compare_instances(last, instance) == 0)
            continue;
        g_string_append_printf(out, "%s%ld,%ld", out->len > 0 ? " " : "", g_utf8_strlen(text, instance->start_byte) + 1,
                               g_utf8_strlen(text + instance->start_byte, instance->end_byte - instance->start_byte));
        last = instance;
    }
}

static void
function_offsets(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int n_args, sqlite3_value **args)
{
    g_autoptr(GArray) instances = g_array_new(FALSE, TRUE, sizeof(Instance));
    g_autoptr(GString) out = g_string_new(NULL);
    Offsets self = { .instances = instances };
    const char *text = NULL;
    int n_bytes = 0;
    int r = list_instances(api, fts, instances);

    if (r == SQLITE_OK)
        r = api->xColumnText(fts, 0, &text, &n_bytes);
    if (r == SQLITE_OK)
        r = api->xTokenize(fts, text, n_bytes, &self, on_token);
    if (r != SQLITE_OK) {
        sqlite3_result_error_code(context, r);
        return;
    }
    put_instances(instances, text, out);
    sqlite3_result_text(context, out->str, (int) out->len, SQLITE_TRANSIENT);
}

/* As FTS5 says how its interface is got. */
static fts5_api *
get_api(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    fts5_api *api = NULL;

    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL) == SQLITE_OK) {
        (void) sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
        (void) sqlite3_step(stmt);
    }
    (void) sqlite3_finalize(stmt);
    return api;
}

gboolean
qd_match_calls_register(sqlite3 *db, QdEvaluation *ev, GError **error)
{
    fts5_api *api = get_api(db);
    int r = sqlite3_create_function_v2(db, "queryd_match_text", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, ev,
                                       function_match_text, NULL, NULL, NULL);

    if (r == SQLITE_OK)
        r = api != NULL ? api->xCreateFunction(api, "queryd_match_offsets", NULL, function_offsets, NULL) : SQLITE_ERROR;
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_match_offsets", r);
    return r == SQLITE_OK;
}
