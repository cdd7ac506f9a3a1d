/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values from terms, and the memory they live in.
 */
#include "daemon/functions/value.h"

#include <string.h>

#include "daemon/rdf/term-id.h"

static gboolean
no_term(gpointer data, gint64 id, QdTerm *ret_term, GError **error)
{
    g_set_error_literal(error, g_quark_from_string("test"), 1, "no dictionary");
    return FALSE;
}

static gboolean
no_id(gpointer data, const QdTerm *term, gint64 *ret_id, GError **error)
{
    return FALSE;
}

static const QdResolver resolver = { no_term, no_id, NULL };

static void
test_kinds(void)
{
    static const struct {
        const char *lexical;
        const char *type;
        QdValueKind kind;
    } cases[] = {
        { "1", "integer", QD_VALUE_NUMBER },        { "x", "integer", QD_VALUE_OTHER },
        { "1", "boolean", QD_VALUE_BOOLEAN },       { "TRUE", "boolean", QD_VALUE_OTHER },
        { "10:00:00", "time", QD_VALUE_DATE_TIME }, { "PT1S", "duration", QD_VALUE_DURATION },
        { "x", "token", QD_VALUE_OTHER },           { "x", "string", QD_VALUE_STRING },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *datatype = g_strconcat(QD_XSD_NAMESPACE, cases[i].type, NULL);
        QdTerm term;
        QdValue value;

        qd_term_init_literal(&term, cases[i].lexical, strlen(cases[i].lexical), datatype, strlen(datatype));
        value = qd_value_from_term(&term);
        g_assert_cmpint(value.kind, ==, cases[i].kind);
    }
}

static void
test_failed_look_up(void)
{
    QdEvaluationContext context = { 0 };
    g_autoptr(QdEvaluation) ev = qd_evaluation_new(&resolver, &context, 1000);
    QdValue iri = qd_value_from_id(ev, qd_term_id_from_sequence(5, QD_TERM_IRI));
    QdValue typed;

    g_assert_cmpint(iri.kind, ==, QD_VALUE_IRI);
    g_assert_no_error(ev->error); /* its text was not asked for */
    g_assert_false(qd_value_get_term(ev, &iri));
    g_assert_nonnull(ev->error);
    qd_evaluation_reset(ev);
    g_assert_no_error(ev->error);
    typed = qd_value_from_id(ev, qd_term_id_from_sequence(5, QD_TERM_TYPED));
    g_assert_cmpint(typed.kind, ==, QD_VALUE_ERROR);
    g_assert_nonnull(ev->error);
}

static void
test_memory(void)
{
    QdEvaluationContext context = { 0 };
    g_autoptr(QdEvaluation) ev = qd_evaluation_new(&resolver, &context, 100000);
    guint n = 0;

    for (guint i = 0; i < 100; i++) {
        char *p = qd_evaluation_alloc(ev, 1000);

        g_assert_nonnull(p);
        g_assert_cmpuint(GPOINTER_TO_SIZE(p) % 16, ==, 0);
        memset(p, 0xaa, 1000);
    }
    g_assert_null(qd_evaluation_alloc(ev, 100001));
    g_assert_nonnull(ev->error);
    qd_evaluation_reset(ev);
    while (qd_evaluation_alloc(ev, 99999) != NULL)
        n++;
    g_assert_cmpuint(n, >=, 4); /* several values, but not any number */
    g_assert_cmpuint(n, <, 10);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/value/kinds", test_kinds);
    g_test_add_func("/functions/value/failed-look-up", test_failed_look_up);
    g_test_add_func("/functions/value/memory", test_memory);
    return g_test_run();
}
