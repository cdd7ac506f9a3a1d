/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values from ids, terms and SQL, and back.
 */
#include "daemon/functions/value.h"

#include <string.h>

#include "daemon/rdf/code-point.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

/* A result of so many bytes at most is copied by SQLite, into memory that it has from the row before. */
#define SMALL_BYTES 1024

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

/* The dictionary's texts, copied: they are borrowed only until the next look-up. Of a large one there is one copy. */
static gboolean
fetch_term(QdEvaluation *ev, gint64 id, QdTerm *ret_term)
{
    QdTerm term;
    char *copy;

    if (id == ev->fetched_id) {
        *ret_term = ev->fetched;
        return TRUE;
    }
    if (!ev->resolver.get_term(ev->resolver.data, id, &term, ev->error == NULL ? &ev->error : NULL))
        return FALSE;
    copy = qd_evaluation_alloc(ev, term.n_lexical + term.n_qualifier + 1);
    if (copy != NULL) {
        memcpy(copy, term.lexical, term.n_lexical);
        if (term.n_qualifier > 0)
            memcpy(copy + term.n_lexical, term.qualifier, term.n_qualifier);
    }
    if (term.n_lexical + term.n_qualifier >= QD_VALUE_LARGE_BYTES && ev->resolver.release != NULL)
        ev->resolver.release(ev->resolver.data);
    if (copy == NULL)
        return FALSE;

    term.lexical = copy;
    if (term.qualifier != NULL)
        term.qualifier = copy + term.n_lexical;
    if (term.n_lexical >= QD_VALUE_LARGE_BYTES) {
        ev->fetched_id = id;
        ev->fetched = term;
    }
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

/* Memory of the evaluation that begins with @data, which is not the evaluation's any more. (nullable) */
static guint8 *
disown(QdEvaluation *ev, gconstpointer data)
{
    for (guint i = ev->blocks->len; i-- > 0;)
        if (g_ptr_array_index(ev->blocks, i) == data) {
            ev->fetched_id = 0; /* its text may be there */
            return g_ptr_array_steal_index_fast(ev->blocks, i);
        }
    return NULL;
}

/* The blob where the text is, instead of a copy of it. (nullable) */
static guint8 *
make_blob_in_place(QdEvaluation *ev, const QdTerm *term)
{
    gsize n_bytes = qd_term_blob_get_size(term);
    guint8 qualifier[SMALL_BYTES]; /* which may be in the same memory */
    QdTerm moved = *term;
    guint8 *text;
    guint8 *blob;

    if (n_bytes < QD_VALUE_LARGE_BYTES || term->n_qualifier > sizeof qualifier)
        return NULL;
    text = disown(ev, term->lexical);
    if (text == NULL)
        return NULL;

    if (term->n_qualifier > 0)
        memcpy(qualifier, term->qualifier, term->n_qualifier);
    moved.qualifier = (const char *) qualifier;
    blob = sqlite3_realloc64(text, n_bytes);
    if (blob == NULL) {
        sqlite3_free(text);
        qd_evaluation_fail_memory(ev, n_bytes);
        return NULL;
    }
    moved.lexical = memmove(blob + n_bytes - term->n_lexical, blob, term->n_lexical);
    qd_term_blob_write(&moved, blob);
    return blob;
}

static void
set_blob(QdEvaluation *ev, const QdTerm *term, sqlite3_context *result)
{
    gsize n_bytes = qd_term_blob_get_size(term);
    guint8 small[SMALL_BYTES];
    guint8 *blob;

    if (n_bytes <= sizeof small) {
        qd_term_blob_write(term, small);
        sqlite3_result_blob64(result, small, n_bytes, SQLITE_TRANSIENT);
        return;
    }
    if (!qd_evaluation_allows(ev, 0, n_bytes))
        return;
    blob = make_blob_in_place(ev, term);
    if (blob == NULL && ev->error == NULL) {
        blob = sqlite3_malloc64(n_bytes);
        if (blob != NULL)
            qd_term_blob_write(term, blob);
        else
            qd_evaluation_fail_memory(ev, n_bytes);
    }
    if (blob != NULL)
        sqlite3_result_blob64(result, blob, n_bytes, sqlite3_free);
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
    gint64 id = self->id;

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
    if (id != 0 || qd_term_id_from_term(&self->term, &id))
        sqlite3_result_int64(result, id);
    else
        set_blob(ev, &self->term, result);
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
