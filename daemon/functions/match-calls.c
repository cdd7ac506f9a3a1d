/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FTS5 knows matches by the number of their tokens; the literal is cut into tokens once more to find where those stand.
 */
#include "daemon/functions/match-calls.h"

#include <stdlib.h>

#include "daemon/base/interrupt.h"
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
    Instance *instances; /* by the first token */
    guint n;
    int n_tokens; /* seen so far */
    guint n_open; /* instances before it have ended */
} Offsets;

/* A look at the clock for so many instances or tokens. */
#define PIECE 1024

static int
on_token(void *data, int flags, const char *token, int n_token, int start, int end)
{
    Offsets *self = data;

    if ((flags & FTS5_TOKEN_COLOCATED) != 0)
        return SQLITE_OK;
    if (self->n_tokens % PIECE == 0 && qd_interrupt_poll())
        return SQLITE_INTERRUPT;
    for (guint i = self->n_open; i < self->n; i++) {
        Instance *instance = &self->instances[i];

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

static int
compare_instances(const void *a, const void *b)
{
    const Instance *left = a;
    const Instance *right = b;

    return left->first != right->first ? left->first - right->first : left->end - right->end;
}

/* @out: of Instance */
static int
list_instances(const Fts5ExtensionApi *api, Fts5Context *fts, QdBytes *out)
{
    int n = 0;
    int r = api->xInstCount(fts, &n);

    for (int i = 0; r == SQLITE_OK && i < n; i++) {
        Instance instance = { 0 };
        int phrase;
        int column;

        r = api->xInst(fts, i, &phrase, &column, &instance.first);
        instance.end = r == SQLITE_OK ? instance.first + api->xPhraseSize(fts, phrase) : 0;
        if (r == SQLITE_OK && !qd_bytes_append(out, &instance, sizeof instance))
            return SQLITE_NOMEM;
    }
    if (out->n > 0)
        qsort(out->data, out->n / sizeof(Instance), sizeof(Instance), compare_instances);
    return r;
}

/* A place in a text, in bytes and in characters. */
typedef struct Place {
    const char *text;
    int byte;
    long character;
} Place;

/* Instances follow each other: characters are counted on from the last one. */
static long
count_characters(Place *self, int byte)
{
    if (byte < self->byte)
        *self = (Place){ .text = self->text };
    self->character += g_utf8_strlen(self->text + self->byte, byte - self->byte);
    self->byte = byte;
    return self->character;
}

/* FALSE: the query has ended. */
static gboolean
put_instances(const Offsets *self, const char *text, QdBytes *out)
{
    const Instance *last = NULL;
    Place place = { .text = text };

    for (guint i = 0; i < self->n; i++) {
        const Instance *instance = &self->instances[i];
        char pair[64];
        int n;

        if (last != NULL && compare_instances(last, instance) == 0)
            continue;
        n = g_snprintf(pair, sizeof pair, "%s%ld,%ld", out->n > 0 ? " " : "", count_characters(&place, instance->start_byte) + 1,
                       g_utf8_strlen(text + instance->start_byte, instance->end_byte - instance->start_byte));
        if ((i % PIECE == 0 && qd_evaluation_is_interrupted(out->ev)) || !qd_bytes_append(out, pair, (gsize) n))
            return FALSE;
        last = instance;
    }
    return TRUE;
}

static void
function_offsets(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = api->xUserData(fts);
    g_auto(QdBytes) instances = { .ev = ev };
    g_auto(QdBytes) out = { .ev = ev };
    Offsets self = { 0 };
    const char *text = NULL;
    char *result;
    gsize n_result;
    int n_bytes = 0;
    int r;

    qd_evaluation_reset(ev);
    r = list_instances(api, fts, &instances);
    self.instances = (Instance *) (gpointer) instances.data;
    self.n = (guint) (instances.n / sizeof(Instance));
    if (r == SQLITE_OK)
        r = api->xColumnText(fts, 0, &text, &n_bytes);
    if (r == SQLITE_OK)
        r = api->xTokenize(fts, text, n_bytes, &self, on_token);
    if (r != SQLITE_OK) {
        sqlite3_result_error_code(context, r);
    } else if (put_instances(&self, text, &out)) {
        result = (char *) qd_bytes_take(&out, &n_result);
        if (result != NULL)
            sqlite3_result_text64(context, result, n_result, sqlite3_free, SQLITE_UTF8);
    }
    qd_sql_end(ev, context);
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
        r = api != NULL ? api->xCreateFunction(api, "queryd_match_offsets", ev, function_offsets, NULL) : SQLITE_ERROR;
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_match_offsets", r);
    return r == SQLITE_OK;
}
