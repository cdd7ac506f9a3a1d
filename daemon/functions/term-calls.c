/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions on terms: SPARQL 1.1 §17.4.2.
 */
#include <string.h>

#include "daemon/functions/calls.h"
#include "daemon/rdf/iri.h"
#include "daemon/rdf/term-id.h"

QdValue
qd_call_is_kind(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdValueKind kind = args[0].kind;

    if (op == QD_EXPRESSION_IS_IRI)
        return qd_value_from_boolean(kind == QD_VALUE_IRI);
    if (op == QD_EXPRESSION_IS_BLANK)
        return qd_value_from_boolean(kind == QD_VALUE_BNODE);
    if (op == QD_EXPRESSION_IS_NUMERIC)
        return qd_value_from_boolean(kind == QD_VALUE_NUMBER);
    return qd_value_from_boolean(qd_value_is_literal(&args[0]));
}

QdValue
qd_call_str(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    if (args[0].kind == QD_VALUE_STRING)
        return args[0];
    if (args[0].kind == QD_VALUE_BNODE || !qd_value_get_term(ev, &args[0]))
        return qd_value_error();
    return qd_value_from_string(args[0].term.lexical, args[0].term.n_lexical);
}

/* In lower case: tags differ in nothing by their case, and terms that are equal must have equal languages. */
QdValue
qd_call_lang(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    char *tag;

    if (!qd_value_is_literal(&args[0]))
        return qd_value_error();
    if (args[0].kind != QD_VALUE_LANG_STRING)
        return qd_value_from_string("", 0);
    if (!qd_value_get_term(ev, &args[0]))
        return qd_value_error();
    tag = qd_evaluation_alloc(ev, args[0].term.n_qualifier);
    if (tag == NULL)
        return qd_value_error();
    for (gsize i = 0; i < args[0].term.n_qualifier; i++)
        tag[i] = g_ascii_tolower(args[0].term.qualifier[i]);
    return qd_value_from_string(tag, args[0].term.n_qualifier);
}

QdValue
qd_call_datatype(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    static const char lang_string[] = QD_RDF_NAMESPACE "langString";
    static const char string[] = QD_XSD_NAMESPACE "string";

    if (!qd_value_is_literal(&args[0]))
        return qd_value_error();
    if (args[0].kind == QD_VALUE_LANG_STRING)
        return qd_value_from_iri(lang_string, strlen(lang_string));
    if (args[0].kind == QD_VALUE_STRING)
        return qd_value_from_iri(string, strlen(string));
    if (!qd_value_get_term(ev, &args[0]))
        return qd_value_error();
    return qd_value_from_iri(args[0].term.qualifier, args[0].term.n_qualifier);
}

QdValue
qd_call_iri(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    g_autoptr(GString) resolved = NULL;
    gboolean has_base = n_args > 1 && args[1].kind == QD_VALUE_IRI && qd_value_get_term(ev, &args[1]);
    QdBytes out = { .ev = ev };
    const char *iri = NULL;
    gsize n_iri;

    if (args[0].kind == QD_VALUE_IRI)
        return args[0];
    if (args[0].kind != QD_VALUE_STRING || !qd_value_get_term(ev, &args[0]) ||
        !qd_iri_check(args[0].term.lexical, args[0].term.n_lexical))
        return qd_value_error();
    if (qd_iri_is_absolute(args[0].term.lexical, args[0].term.n_lexical))
        return qd_value_from_iri(args[0].term.lexical, args[0].term.n_lexical);

    /* which is no longer than both: the bound is asked, and as much counts, before there is another */
    if (!qd_bytes_reserve(&out, args[0].term.n_lexical + (has_base ? args[1].term.n_lexical : 0)))
        return qd_value_error();
    resolved = g_string_sized_new(args[0].term.n_lexical);
    if (qd_iri_resolve(has_base ? args[1].term.lexical : NULL, has_base ? args[1].term.n_lexical : 0, args[0].term.lexical,
                       args[0].term.n_lexical, resolved) &&
        qd_bytes_append(&out, resolved->str, resolved->len))
        iri = qd_bytes_keep(&out, &n_iri);
    qd_bytes_clear(&out);
    return iri != NULL ? qd_value_from_iri(iri, n_iri) : qd_value_error();
}

/*
 * BNODE(string) is one node within a solution and another in the next. The solution's serial and the string are hashed to the
 * node's serial, so that nothing has to be remembered; those of BNODE() are below them.
 */
QdValue
qd_call_bnode(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    const guint64 hashed = G_GUINT64_CONSTANT(1) << 56;
    QdValue value = { .kind = QD_VALUE_BNODE };
    guint64 serial;
    gint64 solution;

    if (n_args == 0) {
        serial = ev->context->next_bnode++;
    } else {
        if (args[0].kind != QD_VALUE_STRING || !qd_value_get_term(ev, &args[0]) || n_args < 2 || args[1].kind != QD_VALUE_NUMBER ||
            args[1].number.type != QD_XSD_INTEGER || !qd_decimal_to_int64(&args[1].number.decimal, &solution))
            return qd_value_error();
        serial = qd_term_hash(&args[0].term) * 31 + (guint64) solution;
        serial = serial * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
        serial = hashed | ((serial ^ serial >> 32) & (hashed - 1));
    }
    value.id = qd_term_id_make(QD_TAG_BNODE_FRESH, (gint64) serial);
    return value;
}

QdValue
qd_call_strdt(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    static const char lang_string[] = QD_RDF_NAMESPACE "langString";
    QdTerm term;

    if (args[0].kind != QD_VALUE_STRING || args[1].kind != QD_VALUE_IRI || !qd_value_get_term(ev, &args[0]) ||
        !qd_value_get_term(ev, &args[1]))
        return qd_value_error();
    if (args[1].term.n_lexical == strlen(lang_string) && memcmp(args[1].term.lexical, lang_string, strlen(lang_string)) == 0)
        return qd_value_error();

    qd_term_init_literal(&term, args[0].term.lexical, args[0].term.n_lexical, args[1].term.lexical, args[1].term.n_lexical);
    return qd_value_from_term(&term);
}

QdValue
qd_call_strlang(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdTerm term;

    if (args[0].kind != QD_VALUE_STRING || args[1].kind != QD_VALUE_STRING || !qd_value_get_term(ev, &args[0]) ||
        !qd_value_get_term(ev, &args[1]) || !qd_term_is_language_tag(args[1].term.lexical, args[1].term.n_lexical))
        return qd_value_error();

    term = args[0].term;
    term.kind = QD_TERM_LANG_STRING;
    term.qualifier = args[1].term.lexical;
    term.n_qualifier = args[1].term.n_lexical;
    return qd_value_from_term(&term);
}

QdValue
qd_call_uuid(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    static const char prefix[] = "urn:uuid:";
    g_autofree char *uuid = g_uuid_string_random();
    char *text = qd_evaluation_alloc(ev, strlen(prefix) + strlen(uuid) + 1);

    if (text == NULL)
        return qd_value_error();
    (void) stpcpy(stpcpy(text, prefix), uuid);
    if (op == QD_EXPRESSION_UUID)
        return qd_value_from_iri(text, strlen(text));
    return qd_value_from_string(text + strlen(prefix), strlen(uuid));
}

/* A number that the dictionary has not is an error of the expression only. */
QdValue
qd_call_resource(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    gint64 number;
    QdTerm term;

    if (args[0].kind != QD_VALUE_NUMBER || args[0].number.type != QD_XSD_INTEGER ||
        !qd_decimal_to_int64(&args[0].number.decimal, &number) || number <= 0 || number > G_MAXINT64 >> 2)
        return qd_value_error();
    if (!ev->resolver.get_term(ev->resolver.data, qd_term_id_from_sequence((guint64) number, QD_TERM_IRI), &term, NULL) ||
        term.kind != QD_TERM_IRI)
        return qd_value_error();
    return qd_value_from_id(ev, qd_term_id_from_sequence((guint64) number, QD_TERM_IRI));
}

QdValue
qd_call_resource_id(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    gint64 id = args[0].id;

    if (args[0].kind != QD_VALUE_IRI)
        return qd_value_error();
    if (id <= 0 && (!qd_value_get_term(ev, &args[0]) || !ev->resolver.find_id(ev->resolver.data, &args[0].term, &id, NULL)))
        return qd_value_error();
    return qd_value_from_int64((gint64) qd_term_id_get_sequence(id));
}
