/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Aggregates. A group's state lives in SQLite's memory, zeroed at first and freed by the final call, which always comes.
 */
#include "daemon/functions/aggregate.h"

#include <string.h>

#include "daemon/functions/sort-key.h"
#include "daemon/functions/sql-call.h"
#include "daemon/rdf/term-id.h"

#define POLL_EVERY 1024

/* --- sums ----------------------------------------------------------------------------------------------------------------- */

/* SQLite aligns to 8 bytes, a QdNumber wants 16: it is copied in and out. */
typedef struct Sum {
    gint64 n_members;
    gboolean failed;
    guint8 sum[sizeof(QdNumber)];
} Sum;

static gboolean
is_exact(const QdNumber *number)
{
    return number->type == QD_XSD_INTEGER || number->type == QD_XSD_DECIMAL;
}

/* Adds @member @n times; as often as floating point rounds, which depends on each sum. */
static gboolean
add_members(sqlite3_context *context, QdNumber *sum, const QdNumber *member, gint64 n)
{
    QdNumber count = qd_number_from_int64(n);
    QdNumber product;

    if (n == 1)
        return qd_number_compute(QD_NUMBER_ADD, sum, member, sum);
    if (is_exact(member) && is_exact(sum))
        return qd_number_compute(QD_NUMBER_MULTIPLY, member, &count, &product) &&
               qd_number_compute(QD_NUMBER_ADD, sum, &product, sum);
    for (gint64 i = 0; i < n; i++) {
        if ((i % POLL_EVERY == 0 && qd_sql_is_interrupted(context)) || !qd_number_compute(QD_NUMBER_ADD, sum, member, sum))
            return FALSE;
    }
    return TRUE;
}

/* (value), or (value, how often it is a member) */
static void
step_sum(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const gint64 n = n_args > 1 ? MAX(0, sqlite3_value_int64(args[1])) : 1;
    QdEvaluation *ev = sqlite3_user_data(context);
    Sum *self = sqlite3_aggregate_context(context, sizeof *self);
    QdNumber sum = qd_number_from_int64(0);
    QdValue value;

    if (self == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (self->failed)
        return;
    qd_evaluation_reset(ev);
    value = qd_value_from_summand(ev, args[0]);
    if (qd_sql_fail(ev, context))
        return;
    if (self->n_members > 0)
        memcpy(&sum, self->sum, sizeof sum);
    self->failed = __builtin_add_overflow(self->n_members, n, &self->n_members) || value.kind != QD_VALUE_NUMBER ||
                   !add_members(context, &sum, &value.number, n);
    memcpy(self->sum, &sum, sizeof sum);
}

/* Of nothing: 0. FALSE when a member was no number. */
static gboolean
finish_sum(sqlite3_context *context, QdNumber *ret_sum, gint64 *ret_n_members)
{
    Sum *self = sqlite3_aggregate_context(context, 0);

    qd_evaluation_reset(sqlite3_user_data(context));
    *ret_sum = qd_number_from_int64(0);
    *ret_n_members = self != NULL ? self->n_members : 0;
    if (*ret_n_members > 0)
        memcpy(ret_sum, self->sum, sizeof *ret_sum);
    return *ret_n_members == 0 || !self->failed;
}

static void
set_number(sqlite3_context *context, const QdNumber *number)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdValue value = qd_value_from_number(number);

    qd_value_set_result(ev, &value, context);
    (void) qd_sql_fail(ev, context);
}

static void
final_sum(sqlite3_context *context)
{
    QdNumber sum;
    gint64 n_members;

    if (finish_sum(context, &sum, &n_members))
        set_number(context, &sum);
}

static void
final_avg(sqlite3_context *context)
{
    QdNumber sum;
    QdNumber count;
    gint64 n_members;

    if (!finish_sum(context, &sum, &n_members))
        return;
    count = qd_number_from_int64(n_members);
    if (n_members == 0 || qd_number_compute(QD_NUMBER_DIVIDE, &sum, &count, &sum))
        set_number(context, &sum);
}

/* --- one of the members ------------------------------------------------------------------------------------------------- */

typedef struct Choice {
    sqlite3_value *value; /* (nullable) */
    gint64 id;            /* in line, instead of a value; 0: none */
    guint8 *key;          /* (nullable): not made yet */
    gsize n_key;
} Choice;

static gint
compare_keys(const Choice *choice, const QdBytes *key)
{
    gint order = memcmp(choice->key, key->data, MIN(choice->n_key, key->n));

    return order != 0 ? order : (choice->n_key > key->n) - (choice->n_key < key->n);
}

static void
choose(sqlite3_context *context, Choice *self, sqlite3_value *value, QdBytes *key)
{
    Choice next = { .value = sqlite3_value_dup(value) };

    if (next.value != NULL && key != NULL)
        next.key = qd_bytes_take(key, &next.n_key);
    if (next.value == NULL || (key != NULL && next.key == NULL)) {
        sqlite3_value_free(next.value);
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_value_free(self->value);
    sqlite3_free(self->key);
    *self = next;
}

/* Numbers of one type that live in line are in the order of their ids. */
static gboolean
compare_ids(gint64 a, gint64 b, gint *ret_order)
{
    guint tag = qd_term_id_get_tag(a);
    guint n_bits = tag == QD_TAG_DECIMAL ? 3 : 0; /* of the number of digits, in which equal numbers may differ */

    if (!qd_term_id_is_inline(a) || !qd_term_id_is_inline(b) || tag != qd_term_id_get_tag(b) || tag < QD_TAG_INTEGER ||
        tag > QD_TAG_DECIMAL)
        return FALSE;
    a = qd_term_id_get_payload(a) >> n_bits;
    b = qd_term_id_get_payload(b) >> n_bits;
    *ret_order = (a > b) - (a < b);
    return TRUE;
}

/* The key of an id that was chosen without one. */
static gboolean
make_key(QdEvaluation *ev, Choice *self)
{
    QdValue value = qd_value_from_id(ev, self->id);

    qd_bytes_empty(&ev->key);
    if (!qd_sort_key_append(ev, &value, &ev->key))
        return FALSE;
    self->key = qd_bytes_take(&ev->key, &self->n_key);
    return self->key != NULL;
}

static void
choose_id(Choice *self, gint64 id)
{
    sqlite3_value_free(self->value);
    sqlite3_free(self->key);
    *self = (Choice){ .id = id };
}

/* By sort keys. */
static void
compare_values(sqlite3_context *context, Choice *self, sqlite3_value *arg, gint sign)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    gboolean has_other = self->value != NULL || self->id != 0;
    QdValue value;

    qd_evaluation_reset(ev);
    if (has_other && self->key == NULL && !make_key(ev, self)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    value = qd_value_from_sql(ev, arg);
    if (qd_sort_key_append(ev, &value, &ev->key) && (!has_other || sign * compare_keys(self, &ev->key) > 0)) {
        if (value.id < 0)
            choose_id(self, value.id);
        else
            choose(context, self, arg, &ev->key);
    }
    qd_bytes_empty(&ev->key);
    qd_sql_end(ev, context);
}

static void
step_extreme(sqlite3_context *context, sqlite3_value *arg, gint sign)
{
    Choice *self = sqlite3_aggregate_context(context, sizeof *self);
    gint order;

    if (self == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (self->id == 0 || sqlite3_value_type(arg) != SQLITE_INTEGER || !compare_ids(self->id, sqlite3_value_int64(arg), &order))
        compare_values(context, self, arg, sign);
    else if (sign * order > 0)
        choose_id(self, sqlite3_value_int64(arg));
}

static void
step_min(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    step_extreme(context, args[0], 1);
}

static void
step_max(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    step_extreme(context, args[0], -1);
}

static void
step_sample(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    Choice *self = sqlite3_aggregate_context(context, sizeof *self);

    if (self == NULL)
        sqlite3_result_error_nomem(context);
    else if (self->value == NULL && sqlite3_value_type(args[0]) != SQLITE_NULL)
        choose(context, self, args[0], NULL);
}

static void
final_choice(sqlite3_context *context)
{
    Choice *self = sqlite3_aggregate_context(context, 0);

    if (self == NULL)
        return;
    if (self->value != NULL)
        sqlite3_result_value(context, self->value);
    else if (self->id != 0)
        sqlite3_result_int64(context, self->id);
    sqlite3_value_free(self->value);
    sqlite3_free(self->key);
}

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

typedef struct Texts {
    sqlite3_str *out; /* counted and limited by SQLite */
    gboolean failed;
    gboolean has_members;
} Texts;

/* The member's STR(); FALSE when it has none. */
static gboolean
get_text(QdEvaluation *ev, sqlite3_value *arg, QdTerm *ret_text)
{
    QdValue value = qd_value_from_sql(ev, arg);

    if (value.kind == QD_VALUE_BNODE || !qd_value_get_term(ev, &value))
        return FALSE;

    *ret_text = value.term;
    return TRUE;
}

static Texts *
begin_member(sqlite3_context *context, sqlite3_value *arg, QdTerm *ret_text)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    Texts *self = sqlite3_aggregate_context(context, sizeof *self);

    if (self == NULL) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    if (self->failed)
        return NULL;
    if (self->out == NULL)
        self->out = sqlite3_str_new(sqlite3_context_db_handle(context));
    qd_evaluation_reset(ev);
    self->failed = !get_text(ev, arg, ret_text);
    return qd_sql_fail(ev, context) || self->failed ? NULL : self;
}

static void
step_group_concat(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    QdTerm separator = { .lexical = " ", .n_lexical = 1 };
    QdTerm text;
    Texts *self = begin_member(context, args[0], &text);

    if (self == NULL)
        return;
    if (self->has_members) {
        if (n_args > 1 && !get_text(ev, args[1], &separator)) {
            self->failed = TRUE;
            return;
        }
        sqlite3_str_append(self->out, separator.lexical, (int) separator.n_lexical);
    }
    sqlite3_str_append(self->out, text.lexical, (int) text.n_lexical);
    self->has_members = TRUE;
    qd_evaluation_trim(ev);
}

/* u32 size · text … */
static void
step_group_list(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdTerm text;
    Texts *self = begin_member(context, args[0], &text);
    guint32 size;

    if (self == NULL)
        return;
    size = (guint32) text.n_lexical;
    sqlite3_str_append(self->out, (const char *) &size, sizeof size);
    sqlite3_str_append(self->out, text.lexical, (int) text.n_lexical);
    qd_evaluation_trim(sqlite3_user_data(context));
}

/* What was collected; NULL when there is an error of SPARQL or of SQLite. The empty group has nothing. */
static char *
finish_texts(sqlite3_context *context, gsize *ret_n_bytes)
{
    Texts *self = sqlite3_aggregate_context(context, 0);
    int code = SQLITE_OK;
    gboolean failed = self != NULL && self->failed;
    char *text;

    *ret_n_bytes = 0;
    if (self == NULL || self->out == NULL)
        return failed ? NULL : sqlite3_mprintf("");

    code = sqlite3_str_errcode(self->out);
    *ret_n_bytes = (gsize) sqlite3_str_length(self->out);
    text = sqlite3_str_finish(self->out);
    if (code != SQLITE_OK)
        sqlite3_result_error_code(context, code);
    if (failed || code != SQLITE_OK) {
        sqlite3_free(text);
        return NULL;
    }
    return text != NULL ? text : sqlite3_mprintf("");
}

static void
final_group_concat(sqlite3_context *context)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    gsize n_bytes;
    char *text = finish_texts(context, &n_bytes);
    QdValue value;

    if (text == NULL)
        return;
    qd_evaluation_reset(ev);
    qd_evaluation_own(ev, text, n_bytes);
    value = qd_value_from_string(text, n_bytes);
    qd_value_set_result(ev, &value, context);
    qd_sql_end(ev, context);
}

static void
final_group_list(sqlite3_context *context)
{
    gsize n_bytes;
    char *text = finish_texts(context, &n_bytes);

    if (text != NULL)
        sqlite3_result_blob64(context, text, n_bytes, sqlite3_free);
}

/* queryd_list_join(list, separator) */
static void
function_list_join(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdEvaluation *ev = sqlite3_user_data(context);
    const char *p = sqlite3_value_blob(args[0]);
    gsize rest = (gsize) sqlite3_value_bytes(args[0]);
    g_auto(QdBytes) out = { .ev = ev };
    const char *text;
    gsize n_text;
    QdTerm separator;
    guint32 size;
    QdValue value;

    qd_evaluation_reset(ev);
    if (sqlite3_value_type(args[0]) != SQLITE_BLOB || !get_text(ev, args[1], &separator)) {
        qd_sql_end(ev, context);
        return;
    }
    for (gboolean first = TRUE; rest >= sizeof size; first = FALSE) {
        memcpy(&size, p, sizeof size);
        if (size > rest - sizeof size)
            return;
        if ((!first && !qd_bytes_append(&out, separator.lexical, separator.n_lexical)) ||
            !qd_bytes_append(&out, p + sizeof size, size))
            break;
        p += sizeof size + size;
        rest -= sizeof size + size;
    }
    text = qd_bytes_keep(&out, &n_text);
    if (text != NULL) {
        value = qd_value_from_string(text, n_text);
        qd_value_set_result(ev, &value, context);
    }
    qd_sql_end(ev, context);
}

gboolean
qd_aggregate_register(sqlite3 *db, QdEvaluation *ev, GError **error)
{
    static const struct {
        const char *name;
        int n_args;
        void (*step)(sqlite3_context *, int, sqlite3_value **);
        void (*final)(sqlite3_context *);
    } aggregates[] = {
        { "queryd_sum", 1, step_sum, final_sum },
        { "queryd_sum", 2, step_sum, final_sum },
        { "queryd_avg", 1, step_sum, final_avg },
        { "queryd_avg", 2, step_sum, final_avg },
        { "queryd_min", 1, step_min, final_choice },
        { "queryd_max", 1, step_max, final_choice },
        { "queryd_sample", 1, step_sample, final_choice },
        { "queryd_group_concat", 1, step_group_concat, final_group_concat },
        { "queryd_group_concat", 2, step_group_concat, final_group_concat },
        { "queryd_group_list", 1, step_group_list, final_group_list },
    };
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int r;

    for (gsize i = 0; i < G_N_ELEMENTS(aggregates); i++) {
        r = sqlite3_create_function_v2(db, aggregates[i].name, aggregates[i].n_args, flags, ev, NULL, aggregates[i].step,
                                       aggregates[i].final, NULL);
        if (r != SQLITE_OK) {
            qd_sql_create_error(error, aggregates[i].name, r);
            return FALSE;
        }
    }
    r = sqlite3_create_function_v2(db, "queryd_list_join", 2, flags, ev, function_list_join, NULL, NULL, NULL);
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_list_join", r);
    return r == SQLITE_OK;
}
