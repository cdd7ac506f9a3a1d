/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values from ids, terms and SQL, and back; the memory they live in.
 *
 * Memory comes from SQLite's allocator, so that it counts for the query.
 */
#include "daemon/functions/value.h"

#include <stdarg.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/functions/regex.h"
#include "daemon/rdf/code-point.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

#define FIRST_BYTES 16384
#define ALIGNMENT 16 /* of __int128 */

struct QdArenaBlock {
    QdArenaBlock *next;
};

/* The memory of one call: several values of the greatest size. */
#define BLOCKS_PER_VALUE 4
/* Work on this much is worth a look at the clock. */
#define LARGE_BYTES 65536

/* --- evaluation --------------------------------------------------------------------------------------------------------- */

QdEvaluation *
qd_evaluation_new(const QdResolver *resolver, QdEvaluationContext *context, gsize max_bytes)
{
    QdEvaluation *self = g_new0(QdEvaluation, 1);

    self->resolver = *resolver;
    self->context = context;
    self->max_bytes = max_bytes;
    self->first = g_malloc(FIRST_BYTES);
    self->key = g_byte_array_new();
    return self;
}

QdEvaluation *
qd_evaluation_free(QdEvaluation *self)
{
    if (self == NULL)
        return NULL;

    qd_evaluation_reset(self);
    (void) qd_regex_cache_free(self->regexes);
    g_byte_array_unref(self->key);
    g_free(self->first);
    g_free(self);
    return NULL;
}

void
qd_evaluation_reset(QdEvaluation *self)
{
    while (self->blocks != NULL) {
        QdArenaBlock *block = self->blocks;

        self->blocks = block->next;
        sqlite3_free(block);
    }
    self->used = 0;
    self->n_block_bytes = 0;
    g_clear_error(&self->error);
}

gpointer
qd_evaluation_alloc(QdEvaluation *self, gsize n_bytes)
{
    gsize aligned = (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    QdArenaBlock *block;

    if (n_bytes > self->max_bytes || self->n_block_bytes > BLOCKS_PER_VALUE * self->max_bytes) {
        qd_evaluation_fail(self, QW_ERROR_TOO_BIG, "computed value is too big");
        return NULL;
    }
    if (n_bytes >= LARGE_BYTES && qd_evaluation_is_interrupted(self))
        return NULL;
    if (aligned <= FIRST_BYTES - self->used) {
        self->used += aligned;
        return self->first + self->used - aligned;
    }
    block = sqlite3_malloc64(sizeof *block + n_bytes + ALIGNMENT); /* SQLite aligns to 8 */
    if (block == NULL) {
        qd_evaluation_fail(self, QW_ERROR_NO_MEMORY, "no memory for a computed value of %" G_GSIZE_FORMAT " bytes", n_bytes);
        return NULL;
    }
    self->n_block_bytes += n_bytes;
    block->next = self->blocks;
    self->blocks = block;
    return (gpointer) (((gsize) (block + 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void
qd_evaluation_context_start(QdEvaluationContext *self)
{
    self->now_usec = g_get_real_time();
    self->next_bnode = 0;
}

void
qd_evaluation_fail(QdEvaluation *self, QwError code, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    if (self->error != NULL)
        return;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(&self->error, code, "%s", message);
}

uint64_t
qd_evaluation_get_limit(const QdEvaluation *self, QdLimit limit)
{
    const QdLimits *limits = self->context->limits;

    return limits != NULL ? qd_limits_get(limits, limit) : qd_limit_get_info(limit)->value;
}

void
qd_evaluation_fail_limit(QdEvaluation *self, QdLimit limit, const char *what)
{
    const QdLimitInfo *info = qd_limit_get_info(limit);

    qd_evaluation_fail(self, info->error, "%s: the limit '%s' is %" G_GUINT64_FORMAT "%s%s", what, info->name,
                       qd_evaluation_get_limit(self, limit), info->unit[0] != '\0' ? " " : "", info->unit);
}

gboolean
qd_evaluation_is_interrupted(QdEvaluation *self)
{
    if (self->error != NULL)
        return TRUE;
    if (self->context->interrupted == NULL || !self->context->interrupted(self->context->data))
        return FALSE;

    qd_evaluation_fail(self, QW_ERROR_CANCELLED, "interrupted");
    return TRUE;
}

/* --- making values -------------------------------------------------------------------------------------------------------- */

QdValue
qd_value_parse_literal(QdXsdType type, const char *lexical, gsize n_bytes)
{
    QdValue value = { .kind = QD_VALUE_OTHER };

    if (qd_xsd_type_is_numeric(type)) {
        if (qd_number_parse(type, lexical, n_bytes, &value.number))
            value.kind = QD_VALUE_NUMBER;
    } else if (qd_xsd_type_is_date_time(type)) {
        if (qd_date_time_parse(type, lexical, n_bytes, &value.date_time))
            value.kind = QD_VALUE_DATE_TIME;
    } else if (qd_xsd_type_is_duration(type)) {
        if (qd_duration_parse(type, lexical, n_bytes, &value.duration))
            value.kind = QD_VALUE_DURATION;
    } else if (type == QD_XSD_BOOLEAN) {
        gboolean is_true = (n_bytes == 4 && memcmp(lexical, "true", 4) == 0) || (n_bytes == 1 && lexical[0] == '1');

        if (is_true || (n_bytes == 5 && memcmp(lexical, "false", 5) == 0) || (n_bytes == 1 && lexical[0] == '0')) {
            value.kind = QD_VALUE_BOOLEAN;
            value.boolean = is_true;
        }
    }
    return value;
}

/* Of a term that needs no look at its lexical form. */
static const QdValueKind kinds[] = {
    [QD_TERM_IRI] = QD_VALUE_IRI,
    [QD_TERM_STRING] = QD_VALUE_STRING,
    [QD_TERM_LANG_STRING] = QD_VALUE_LANG_STRING,
    [QD_TERM_BNODE] = QD_VALUE_BNODE,
};

QdValue
qd_value_from_term(const QdTerm *term)
{
    QdValue value = { .kind = QD_VALUE_ERROR };

    if (term->kind == QD_TERM_TYPED)
        value = qd_value_parse_literal(qd_xsd_type_from_iri(term->qualifier, term->n_qualifier), term->lexical, term->n_lexical);
    else
        value.kind = kinds[term->kind];
    value.term = *term;
    value.has_term = TRUE;
    return value;
}

/* The dictionary's texts, copied: they are borrowed only until the next look-up. */
static gboolean
fetch_term(QdEvaluation *ev, gint64 id, QdTerm *ret_term)
{
    QdTerm term;
    char *copy;

    if (!ev->resolver.get_term(ev->resolver.data, id, &term, ev->error == NULL ? &ev->error : NULL))
        return FALSE;
    copy = qd_evaluation_alloc(ev, term.n_lexical + term.n_qualifier + 1);
    if (copy == NULL)
        return FALSE;

    memcpy(copy, term.lexical, term.n_lexical);
    if (term.n_qualifier > 0)
        memcpy(copy + term.n_lexical, term.qualifier, term.n_qualifier);
    term.lexical = copy;
    if (term.qualifier != NULL)
        term.qualifier = copy + term.n_lexical;
    *ret_term = term;
    return TRUE;
}

static QdValue
value_from_inline_id(gint64 id)
{
    QdValue value = { .kind = QD_VALUE_ERROR, .id = id };
    QdTermBuffer buffer;
    QdTerm term;

    if (qd_number_from_id(id, &value.number))
        value.kind = QD_VALUE_NUMBER;
    else if (qd_date_time_from_id(id, &value.date_time))
        value.kind = QD_VALUE_DATE_TIME;
    else if (!qd_term_id_to_term(id, &buffer, &term))
        value.id = 0; /* no term */
    else if (term.kind == QD_TERM_BNODE)
        value.kind = QD_VALUE_BNODE;
    else if (qd_term_id_get_tag(id) == QD_TAG_BOOLEAN) {
        value.kind = QD_VALUE_BOOLEAN;
        value.boolean = qd_term_id_get_payload(id) != 0;
    }
    return value;
}

QdValue
qd_value_from_id(QdEvaluation *ev, gint64 id)
{
    QdValue value = { .kind = QD_VALUE_ERROR, .id = id };
    QdTerm term;

    if (id < 0)
        return value_from_inline_id(id);
    if (id == 0)
        return value;

    if (qd_term_id_get_kind(id) != QD_TERM_TYPED) {
        value.kind = kinds[qd_term_id_get_kind(id)];
        return value;
    }
    if (!fetch_term(ev, id, &term))
        return qd_value_error();
    value = qd_value_from_term(&term);
    value.id = id;
    return value;
}

QdValue
qd_value_from_sql(QdEvaluation *ev, sqlite3_value *value)
{
    QdTerm term;
    const void *blob;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return qd_value_from_id(ev, sqlite3_value_int64(value));
    case SQLITE_BLOB:
        blob = sqlite3_value_blob(value);
        if (!qd_term_blob_parse(blob, (gsize) sqlite3_value_bytes(value), &term))
            return qd_value_error();
        return qd_value_from_term(&term);
    case SQLITE_TEXT: /* from SQL users */
        blob = sqlite3_value_text(value);
        if (blob == NULL || !qd_code_point_check(blob, (gsize) sqlite3_value_bytes(value), NULL))
            return qd_value_error();
        return qd_value_from_string(blob, (gsize) sqlite3_value_bytes(value));
    case SQLITE_FLOAT: {
        QdNumber number = qd_number_from_double(sqlite3_value_double(value));

        return qd_value_from_number(&number);
    }
    default: /* SQLITE_NULL; SQLite's numbers, not our enum */
        return qd_value_error();
    }
}

QdValue
qd_value_from_int64(gint64 value)
{
    QdNumber number = qd_number_from_int64(value);

    return qd_value_from_number(&number);
}

QdValue
qd_value_from_string(const char *text, gsize n_bytes)
{
    return (QdValue){ .kind = QD_VALUE_STRING,
                      .has_term = TRUE,
                      .term = { .kind = QD_TERM_STRING, .lexical = text, .n_lexical = n_bytes } };
}

QdValue
qd_value_from_iri(const char *iri, gsize n_bytes)
{
    return (
        QdValue){ .kind = QD_VALUE_IRI, .has_term = TRUE, .term = { .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = n_bytes } };
}

QdValue
qd_value_from_string_like(const QdValue *like, const char *text, gsize n_bytes)
{
    QdValue value = qd_value_from_string(text, n_bytes);

    if (like->kind == QD_VALUE_LANG_STRING) {
        value.kind = QD_VALUE_LANG_STRING;
        value.term.kind = QD_TERM_LANG_STRING;
        value.term.qualifier = like->term.qualifier;
        value.term.n_qualifier = like->term.n_qualifier;
    }
    return value;
}

/* --- using them ----------------------------------------------------------------------------------------------------------- */

/* Of a literal; OTHER for those that are none of XML Schema's here, and for language strings. */
static QdXsdType
get_type(const QdValue *self)
{
    switch (self->kind) {
    case QD_VALUE_STRING:
        return QD_XSD_STRING;
    case QD_VALUE_BOOLEAN:
        return QD_XSD_BOOLEAN;
    case QD_VALUE_NUMBER:
        return self->number.type;
    case QD_VALUE_DATE_TIME:
        return self->date_time.type;
    case QD_VALUE_DURATION:
        return self->duration.type;
    case QD_VALUE_OTHER:
    case QD_VALUE_LANG_STRING:
    case QD_VALUE_IRI:
    case QD_VALUE_BNODE:
    case QD_VALUE_ERROR:
        return QD_XSD_OTHER;
    }
    g_assert_not_reached();
}

/* The canonical form of a computed value. */
static gsize
format_value(const QdValue *self, char *text)
{
    G_STATIC_ASSERT(QD_DATE_TIME_TEXT_BYTES >= QD_NUMBER_TEXT_BYTES);

    switch (self->kind) {
    case QD_VALUE_BOOLEAN:
        return (gsize) (stpcpy(text, self->boolean ? "true" : "false") - text);
    case QD_VALUE_NUMBER:
        return qd_number_format(&self->number, text);
    case QD_VALUE_DATE_TIME:
        return qd_date_time_format(&self->date_time, text);
    case QD_VALUE_DURATION:
        return qd_duration_format(&self->duration, text);
    case QD_VALUE_ERROR:
    case QD_VALUE_IRI:
    case QD_VALUE_BNODE:
    case QD_VALUE_STRING:
    case QD_VALUE_LANG_STRING:
    case QD_VALUE_OTHER: /* those come with their texts */
        break;
    }
    g_assert_not_reached();
}

gboolean
qd_value_get_term(QdEvaluation *ev, QdValue *self)
{
    const char *datatype;
    char *text;

    if (self->has_term)
        return TRUE;
    if (self->kind == QD_VALUE_ERROR)
        return FALSE;
    if (self->id > 0) {
        self->has_term = fetch_term(ev, self->id, &self->term);
        return self->has_term;
    }
    text = qd_evaluation_alloc(ev, sizeof(QdTermBuffer));
    if (text == NULL)
        return FALSE;

    if (self->id < 0) {
        self->has_term = qd_term_id_to_term(self->id, (QdTermBuffer *) text, &self->term);
        return self->has_term;
    }
    datatype = qd_xsd_type_get_iri(get_type(self));
    self->term = (QdTerm){ .kind = QD_TERM_TYPED,
                           .lexical = text,
                           .n_lexical = format_value(self, text),
                           .qualifier = datatype,
                           .n_qualifier = strlen(datatype) };
    self->has_term = TRUE;
    return TRUE;
}

static void
free_bytes(gpointer data)
{
    g_free(data);
}

/* 0: it is too large to live in line. */
static gint64
get_integer_id(const QdDecimal *value)
{
    gint64 id;

    if (value->scale > 0 || value->digits > G_MAXINT64 || value->digits < G_MININT64 ||
        !qd_term_id_from_integer((gint64) value->digits, &id))
        return 0;
    return id;
}

void
qd_value_set_result(QdEvaluation *ev, QdValue *self, sqlite3_context *result)
{
    g_autoptr(GByteArray) blob = NULL;
    gint64 id = self->id;
    gsize size;

    if (self->kind == QD_VALUE_ERROR) {
        sqlite3_result_null(result);
        return;
    }
    if (id == 0 && self->kind == QD_VALUE_BOOLEAN && !self->has_term)
        id = qd_term_id_from_boolean(self->boolean);
    if (id == 0 && self->kind == QD_VALUE_NUMBER && !self->has_term && self->number.type == QD_XSD_INTEGER)
        id = get_integer_id(&self->number.decimal);
    if (id == 0 && !qd_value_get_term(ev, self))
        return;
    if (id != 0 || qd_term_id_from_term(&self->term, &id)) {
        sqlite3_result_int64(result, id);
        return;
    }

    blob = g_byte_array_sized_new((guint) (self->term.n_lexical + self->term.n_qualifier + 8));
    qd_term_blob_append(blob, &self->term);
    size = blob->len;
    sqlite3_result_blob64(result, g_byte_array_free(g_steal_pointer(&blob), FALSE), size, free_bytes);
}

/* --- summands ------------------------------------------------------------------------------------------------------------ */

/* A blob that is no term's: those begin with their kind. */
typedef struct Summand {
    guint8 mark;
    guint8 type;
    guint8 real[sizeof(double)];
} Summand;

#define SUMMAND_MARK 0xf0

void
qd_value_set_summand(QdEvaluation *ev, QdValue *self, sqlite3_context *result)
{
    Summand summand = { .mark = SUMMAND_MARK };

    G_STATIC_ASSERT(QD_TERM_BNODE < SUMMAND_MARK);
    if (self->kind != QD_VALUE_NUMBER || (self->number.type != QD_XSD_FLOAT && self->number.type != QD_XSD_DOUBLE)) {
        qd_value_set_result(ev, self, result);
        return;
    }
    summand.type = (guint8) self->number.type;
    memcpy(summand.real, &self->number.real, sizeof summand.real);
    sqlite3_result_blob(result, &summand, sizeof summand, SQLITE_TRANSIENT);
}

QdValue
qd_value_from_summand(QdEvaluation *ev, sqlite3_value *value)
{
    QdNumber number = { .type = QD_XSD_DOUBLE };
    Summand summand;

    if (sqlite3_value_type(value) != SQLITE_BLOB || sqlite3_value_bytes(value) != (int) sizeof summand)
        return qd_value_from_sql(ev, value);
    memcpy(&summand, sqlite3_value_blob(value), sizeof summand);
    if (summand.mark != SUMMAND_MARK)
        return qd_value_from_sql(ev, value);
    number.type = summand.type == QD_XSD_FLOAT ? QD_XSD_FLOAT : QD_XSD_DOUBLE;
    memcpy(&number.real, summand.real, sizeof summand.real);
    return qd_value_from_number(&number);
}

QdTruth
qd_value_get_truth(QdEvaluation *ev, QdValue *self)
{
    QdXsdType type;

    switch (self->kind) {
    case QD_VALUE_BOOLEAN:
        return self->boolean ? QD_TRUE : QD_FALSE;
    case QD_VALUE_NUMBER:
        return qd_number_is_true(&self->number) ? QD_TRUE : QD_FALSE;
    case QD_VALUE_STRING:
    case QD_VALUE_LANG_STRING:
        if (!qd_value_get_term(ev, self))
            return QD_UNKNOWN;
        return self->term.n_lexical > 0 ? QD_TRUE : QD_FALSE;
    case QD_VALUE_OTHER:
        /* an ill-typed boolean or number is false */
        if (!qd_value_get_term(ev, self))
            return QD_UNKNOWN;
        type = qd_xsd_type_from_iri(self->term.qualifier, self->term.n_qualifier);
        return type == QD_XSD_BOOLEAN || qd_xsd_type_is_numeric(type) ? QD_FALSE : QD_UNKNOWN;
    case QD_VALUE_ERROR:
    case QD_VALUE_IRI:
    case QD_VALUE_BNODE:
    case QD_VALUE_DATE_TIME:
    case QD_VALUE_DURATION:
        return QD_UNKNOWN;
    }
    g_assert_not_reached();
}
