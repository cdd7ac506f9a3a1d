/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A term as expressions see it: its value where it has one, its texts on request.
 *
 * Place: room functions, internal to functions. A value and its texts live until the next qd_evaluation_reset().
 * Invariant: an error of SPARQL is a value (QD_VALUE_ERROR, as is unbound); only what ends the whole query is a GError, which
 * the evaluation keeps.
 */
#pragma once

#include <sqlite3.h>

#include "client-lib/wire/wire-error.h"
#include "daemon/functions/resolver.h"
#include "daemon/rdf/xsd-date-time.h"
#include "daemon/rdf/xsd-number.h"

typedef enum QdValueKind {
    QD_VALUE_ERROR,
    QD_VALUE_IRI,
    QD_VALUE_BNODE,
    QD_VALUE_STRING,
    QD_VALUE_LANG_STRING,
    QD_VALUE_BOOLEAN,
    QD_VALUE_NUMBER,
    QD_VALUE_DATE_TIME,
    QD_VALUE_DURATION,
    QD_VALUE_OTHER, /* a literal whose datatype is not known here, or whose form is not in its lexical space */
} QdValueKind;

typedef struct QdValue {
    QdValueKind kind;
    gboolean has_term; /* @term is filled */
    gint64 id;         /* 0: none is known */
    QdTerm term;
    union {
        gboolean boolean;
        QdNumber number;
        QdDateTime date_time;
        QdDuration duration;
    };
} QdValue;

/* What is kept for the next call, at most. */
#define QD_BYTES_KEPT 65536
/* Work on this much is worth a look at the clock. */
#define QD_VALUE_LARGE_BYTES 65536

typedef struct QdRegexCache QdRegexCache;

typedef struct QdEvaluation QdEvaluation;

/*
 * A text or a key that grows in SQLite's memory, so that it counts for the query. It never has more bytes than the evaluation
 * allows for a value: the limit is asked before memory is taken. Zeroed at first, but for the evaluation.
 */
typedef struct QdBytes {
    QdEvaluation *ev;
    guint8 *data; /* (owned) (nullable) */
    gsize n;
    gsize capacity;
} QdBytes;

/* One of a connection. */
struct QdEvaluation {
    QdResolver resolver;
    QdEvaluationContext *context;
    QdRegexCache *regexes; /* (nullable): made when needed */
    gsize max_bytes;       /* of a computed text: the connection's limit on a value */
    GError *error;         /* ends the query */
    QdBytes key;           /* of sorting, for one call */
    guint8 *first;         /* memory that is kept between calls */
    gsize used;            /* of it */
    GPtrArray *blocks;     /* more of it, of SQLite, freed by the reset */
    gsize n_block_bytes;
    gint64 fetched_id; /* of a large term, until the reset; 0: none */
    QdTerm fetched;
};

/* qd_evaluation_new: @context outlives it. */
QdEvaluation *qd_evaluation_new(const QdResolver *resolver, QdEvaluationContext *context, gsize max_bytes);
QdEvaluation *qd_evaluation_free(QdEvaluation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdEvaluation, qd_evaluation_free)

/* qd_evaluation_reset: before each call from SQL: all values and the error are gone. */
void qd_evaluation_reset(QdEvaluation *self);

/* qd_evaluation_trim: after each call: what it has taken much memory for is gone, as by the reset. */
void qd_evaluation_trim(QdEvaluation *self);

/* qd_evaluation_alloc: memory until the reset; NULL, with the query ended, when there is none or @n_bytes is above the limit. */
gpointer qd_evaluation_alloc(QdEvaluation *self, gsize n_bytes);

/* qd_evaluation_own: @data: (transfer full): memory of SQLite, of @n_bytes, which the reset frees. */
void qd_evaluation_own(QdEvaluation *self, gpointer data, gsize n_bytes);

/* qd_evaluation_allows: @n_bytes more of a value of @n_before. FALSE, with the query ended: it is too big, or it shall stop. */
gboolean qd_evaluation_allows(QdEvaluation *self, gsize n_before, gsize n_bytes);

/* qd_evaluation_fail_memory: ends the query: SQLite had no @n_bytes for a value. */
void qd_evaluation_fail_memory(QdEvaluation *self, gsize n_bytes);

/* qd_evaluation_fail: ends the query. */
void qd_evaluation_fail(QdEvaluation *self, QwError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* qd_evaluation_get_limit: the value in force. */
uint64_t qd_evaluation_get_limit(const QdEvaluation *self, QdLimit limit);

/* qd_evaluation_fail_limit: ends the query with the limit's error, "WHAT: the limit 'NAME' is VALUE". */
void qd_evaluation_fail_limit(QdEvaluation *self, QdLimit limit, const char *what);

/* qd_evaluation_is_interrupted: TRUE, with the query ended, when the execution has to stop. */
gboolean qd_evaluation_is_interrupted(QdEvaluation *self);

/* --- growing texts ---------------------------------------------------------------------------------------------------------- */

void qd_bytes_clear(QdBytes *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdBytes, qd_bytes_clear)

/* qd_bytes_reserve: room for @n_bytes more. FALSE, with the query ended: that is too big, there is none, or it shall stop. */
gboolean qd_bytes_reserve(QdBytes *self, gsize n_bytes);

/* qd_bytes_append: FALSE as qd_bytes_reserve(); nothing is appended then. @bytes: not its own. */
gboolean qd_bytes_append(QdBytes *self, gconstpointer bytes, gsize n_bytes);

/* qd_bytes_take: (transfer full) (nullable): all of it, for sqlite3_free(); it is empty then. NULL: with the query ended. */
guint8 *qd_bytes_take(QdBytes *self, gsize *ret_n);

/* qd_bytes_keep: (nullable): the same, until the reset of the evaluation. */
const char *qd_bytes_keep(QdBytes *self, gsize *ret_n);

/* qd_bytes_empty: makes it empty; few bytes are kept for what is appended next. */
void qd_bytes_empty(QdBytes *self);

/* --- making values. Texts that are passed are borrowed: they live as long as the value. ------------------------------------- */

QdValue qd_value_from_id(QdEvaluation *ev, gint64 id);
QdValue qd_value_from_term(const QdTerm *term);
QdValue qd_value_from_sql(QdEvaluation *ev, sqlite3_value *value);

/* qd_value_from_summand: of what queryd_number() gives, or as qd_value_from_sql(). */
QdValue qd_value_from_summand(QdEvaluation *ev, sqlite3_value *value);

/* qd_value_parse_literal: the value of a lexical form of a datatype; kind OTHER when it has none. Fills no term. */
QdValue qd_value_parse_literal(QdXsdType type, const char *lexical, gsize n_bytes);

static inline QdValue
qd_value_error(void)
{
    return (QdValue){ .kind = QD_VALUE_ERROR };
}

static inline QdValue
qd_value_from_boolean(gboolean value)
{
    return (QdValue){ .kind = QD_VALUE_BOOLEAN, .boolean = value };
}

static inline QdValue
qd_value_from_number(const QdNumber *number)
{
    return (QdValue){ .kind = QD_VALUE_NUMBER, .number = *number };
}

QdValue qd_value_from_int64(gint64 value);
QdValue qd_value_from_string(const char *text, gsize n_bytes);
QdValue qd_value_from_iri(const char *iri, gsize n_bytes);

/* A string, with the language of @like when that has one. */
QdValue qd_value_from_string_like(const QdValue *like, const char *text, gsize n_bytes);

/* --- using them -------------------------------------------------------------------------------------------------------- */

/* qd_value_get_term: fills @self->term; FALSE for ERROR, and when the query has ended. */
gboolean qd_value_get_term(QdEvaluation *ev, QdValue *self);

/*
 * qd_value_set_result: the SQL value: NULL, an id in line or one that @self came with, or a blob. The last that is done with values
 * before the reset: the memory of a large text becomes the blob's.
 */
void qd_value_set_result(QdEvaluation *ev, QdValue *self, sqlite3_context *result);

/* qd_value_set_summand: the same for a sum alone: xsd:float and xsd:double as bytes, of which no text is made. */
void qd_value_set_summand(QdEvaluation *ev, QdValue *self, sqlite3_context *result);

static inline gboolean
qd_value_is_literal(const QdValue *self)
{
    return self->kind >= QD_VALUE_STRING;
}

static inline gboolean
qd_value_is_string(const QdValue *self)
{
    return self->kind == QD_VALUE_STRING || self->kind == QD_VALUE_LANG_STRING;
}

typedef enum QdTruth {
    QD_FALSE = 0,
    QD_TRUE = 1,
    QD_UNKNOWN = 2, /* an error */
} QdTruth;

/* qd_value_get_truth: the effective boolean value, SPARQL 1.1 §17.2.2. */
QdTruth qd_value_get_truth(QdEvaluation *ev, QdValue *self);

static inline QdValue
qd_value_from_truth(QdTruth truth)
{
    return truth == QD_UNKNOWN ? qd_value_error() : qd_value_from_boolean(truth == QD_TRUE);
}
