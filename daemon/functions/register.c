/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL functions on terms, and their registration.
 *
 * One evaluation serves all functions of a connection, which runs one call at a time; the first function's destructor frees it.
 */
#include "daemon/functions/register.h"

#include "daemon/functions/aggregate.h"
#include "daemon/functions/closure/closure.h"
#include "daemon/functions/json-patch.h"
#include "daemon/functions/many.h"
#include "daemon/functions/match-calls.h"
#include "daemon/functions/operators.h"
#include "daemon/functions/program.h"
#include "daemon/functions/sort-key.h"
#include "daemon/functions/sql-call.h"
#include "daemon/rdf/term-id.h"
#include "daemon/sqlite/sqlite-error.h"

typedef QdTruth (*CompareFunc)(QdEvaluation *ev, QdValue *a, QdValue *b);

static void
free_program(gpointer data)
{
    (void) qd_program_free(data);
}

/* Decoded once for a statement's execution. NULL: the result is an error, or NULL for a NULL program. */
static QdProgram *
get_program(sqlite3_context *context, int n_args, sqlite3_value **args, QdProgram **ret_owned)
{
    QdProgram *program = n_args > 0 ? sqlite3_get_auxdata(context, 0) : NULL;
    g_autoptr(GError) error = NULL;

    if (program == NULL) {
        if (n_args < 1 || sqlite3_value_type(args[0]) != SQLITE_BLOB) {
            qd_sql_fail_argument(context, "not an expression program");
            return NULL;
        }
        program = qd_program_new(sqlite3_value_blob(args[0]), (gsize) sqlite3_value_bytes(args[0]), &error);
        if (program == NULL) {
            sqlite3_result_error(context, error->message, -1);
            sqlite3_result_error_code(context, qd_sqlite_from_code(qd_error_get_code(error)));
            return NULL;
        }
        *ret_owned = program;
    }
    if (program->n_args > (guint) n_args - 1) {
        qd_sql_fail_argument(context, "not an expression program: it has more arguments than the call");
        return NULL;
    }
    return program;
}

/* The program is given to SQLite last: it may free it at once. */
static void
keep_program(sqlite3_context *context, QdProgram *owned)
{
    if (owned != NULL)
        sqlite3_set_auxdata(context, 0, owned, free_program);
}

static void
evaluate(sqlite3_context *context, int n_args, sqlite3_value **args, void (*set)(QdEvaluation *, QdValue *, sqlite3_context *))
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdProgram *owned = NULL;
    QdProgram *program = get_program(context, n_args, args, &owned);
    QdValue value;

    if (program != NULL) {
        qd_evaluation_reset(ev);
        value = qd_program_run(program, ev, args + 1, (guint) n_args - 1);
        if (ev->error == NULL)
            set(ev, &value, context);
        qd_sql_end(ev, context);
    }
    keep_program(context, owned);
}

static void
function_eval(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    evaluate(context, n_args, args, qd_value_set_result);
}

static void
function_number(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    evaluate(context, n_args, args, qd_value_set_summand);
}

static void
set_truth(QdEvaluation *ev, QdTruth truth, sqlite3_context *context)
{
    if (truth != QD_UNKNOWN)
        sqlite3_result_int(context, truth == QD_TRUE);
    qd_sql_end(ev, context);
}

static void
function_test(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdProgram *owned = NULL;
    QdProgram *program = get_program(context, n_args, args, &owned);
    QdValue value;

    if (program != NULL) {
        qd_evaluation_reset(ev);
        value = qd_program_run(program, ev, args + 1, (guint) n_args - 1);
        set_truth(ev, qd_value_get_truth(ev, &value), context);
    }
    keep_program(context, owned);
}

static void
function_ebv(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue value;

    qd_evaluation_reset(ev);
    value = qd_value_from_sql(ev, args[0]);
    set_truth(ev, qd_value_get_truth(ev, &value), context);
}

static void
compare(sqlite3_context *context, sqlite3_value **args, CompareFunc func)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue a;
    QdValue b;

    qd_evaluation_reset(ev);
    a = qd_value_from_sql(ev, args[0]);
    b = qd_value_from_sql(ev, args[1]);
    set_truth(ev, func(ev, &a, &b), context);
}

static QdTruth
is_unequal(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    QdTruth equal = qd_operator_equal(ev, a, b);

    return equal == QD_UNKNOWN ? QD_UNKNOWN : equal == QD_TRUE ? QD_FALSE : QD_TRUE;
}

static QdTruth
is_less(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    return qd_operator_order(ev, QD_ORDER_LESS, a, b);
}

static QdTruth
is_less_or_equal(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    return qd_operator_order(ev, QD_ORDER_LESS_OR_EQUAL, a, b);
}

static QdTruth
is_greater(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    return qd_operator_order(ev, QD_ORDER_GREATER, a, b);
}

static QdTruth
is_greater_or_equal(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    return qd_operator_order(ev, QD_ORDER_GREATER_OR_EQUAL, a, b);
}

static void
function_eq(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    compare(context, args, qd_operator_equal);
}

static void
function_ne(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    compare(context, args, is_unequal);
}

static void
function_lt(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    compare(context, args, is_less);
}

static void
function_le(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    compare(context, args, is_less_or_equal);
}

static void
function_gt(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    compare(context, args, is_greater);
}

static void
function_ge(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    compare(context, args, is_greater_or_equal);
}

/* Sets the result to the key that @append makes of @arg. */
static void
set_key(sqlite3_context *context, sqlite3_value *arg, gboolean (*append)(QdEvaluation *, QdValue *, QdBytes *))
{
    QdEvaluation *ev = sqlite3_user_data(context);
    gboolean has_key;
    QdValue value;
    guint8 *key;
    gsize n_key;

    qd_evaluation_reset(ev);
    value = qd_value_from_sql(ev, arg);
    has_key = append(ev, &value, &ev->key);
    if (has_key && ev->key.n <= QD_BYTES_KEPT) {
        sqlite3_result_blob64(context, ev->key.data, ev->key.n, SQLITE_TRANSIENT);
    } else if (has_key) {
        key = qd_bytes_take(&ev->key, &n_key);
        if (key != NULL)
            sqlite3_result_blob64(context, key, n_key, sqlite3_free);
    }
    qd_bytes_empty(&ev->key);
    qd_sql_end(ev, context);
}

static void
function_sort_key(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    set_key(context, args[0], qd_sort_key_append);
}

static void
function_equality_key(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    set_key(context, args[0], qd_equality_key_append);
}

static void
function_to_term(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue value;

    if (sqlite3_value_type(args[0]) == SQLITE_INTEGER) {
        sqlite3_result_value(context, args[0]);
        return;
    }
    qd_evaluation_reset(ev);
    value = qd_value_from_sql(ev, args[0]);
    if (value.kind != QD_VALUE_ERROR && qd_value_get_term(ev, &value) && !qd_term_id_from_term(&value.term, &value.id))
        (void) ev->resolver.find_id(ev->resolver.data, &value.term, &value.id, &ev->error);
    if (ev->error == NULL)
        qd_value_set_result(ev, &value, context);
    qd_sql_end(ev, context);
}

static void
function_boolean(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    if (sqlite3_value_type(args[0]) != SQLITE_NULL)
        sqlite3_result_int64(context, qd_term_id_from_boolean(sqlite3_value_int64(args[0]) != 0));
}

static void
function_integer(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue value;
    gint64 id;

    if (sqlite3_value_type(args[0]) == SQLITE_NULL)
        return;
    if (qd_term_id_from_integer(sqlite3_value_int64(args[0]), &id)) {
        sqlite3_result_int64(context, id);
        return;
    }
    qd_evaluation_reset(ev);
    value = qd_value_from_int64(sqlite3_value_int64(args[0]));
    qd_value_set_result(ev, &value, context);
    qd_sql_end(ev, context);
}

static void
function_str_text(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue value;

    qd_evaluation_reset(ev);
    value = qd_value_from_sql(ev, args[0]);
    if (qd_value_get_term(ev, &value)) {
        if (value.kind == QD_VALUE_BNODE) {
            char *label = sqlite3_mprintf("_:%.*s", (int) value.term.n_lexical, value.term.lexical);

            sqlite3_result_text(context, label, -1, sqlite3_free);
        } else {
            sqlite3_result_text64(context, value.term.lexical, value.term.n_lexical, SQLITE_TRANSIENT, SQLITE_UTF8);
        }
    }
    qd_sql_end(ev, context);
}

static void
free_evaluation(gpointer data)
{
    (void) qd_evaluation_free(data);
}

gboolean
qd_functions_register(sqlite3 *db, const QdResolver *resolver, QdEvaluationContext *context, GError **error)
{
    static const struct {
        const char *name;
        int n_args;
        gboolean volatile_;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        { "queryd_eval", -1, FALSE, function_eval }, /* the first: it owns the evaluation */
        { "queryd_eval_volatile", -1, TRUE, function_eval },
        { "queryd_number", -1, FALSE, function_number },
        { "queryd_test", -1, FALSE, function_test },
        { "queryd_ebv", 1, FALSE, function_ebv },
        { "queryd_eq", 2, FALSE, function_eq },
        { "queryd_ne", 2, FALSE, function_ne },
        { "queryd_lt", 2, FALSE, function_lt },
        { "queryd_le", 2, FALSE, function_le },
        { "queryd_gt", 2, FALSE, function_gt },
        { "queryd_ge", 2, FALSE, function_ge },
        { "queryd_sort_key", 1, FALSE, function_sort_key },
        { "queryd_equality_key", 1, FALSE, function_equality_key },
        { "queryd_to_term", 1, FALSE, function_to_term },
        { "queryd_boolean", 1, FALSE, function_boolean },
        { "queryd_integer", 1, FALSE, function_integer },
        { "queryd_str_text", 1, FALSE, function_str_text },
    };
    QdEvaluation *ev = qd_evaluation_new(resolver, context, (gsize) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1));

    for (gsize i = 0; i < G_N_ELEMENTS(functions); i++) {
        int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (functions[i].volatile_ ? 0 : SQLITE_DETERMINISTIC);
        int r = sqlite3_create_function_v2(db, functions[i].name, functions[i].n_args, flags, ev, functions[i].function, NULL, NULL,
                                           i == 0 ? free_evaluation : NULL);
        if (r != SQLITE_OK) {
            qd_sql_create_error(error, functions[i].name, r);
            return FALSE;
        }
    }
    return qd_aggregate_register(db, ev, error) && qd_closure_register(db, error) && qd_many_register(db, error) &&
           qd_memo_register(db, error) && qd_match_calls_register(db, ev, error) && qd_json_patch_register(db, ev, error);
}
