/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fulltext: which literals the full-text index has.
 */
#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/verbs.h"

static int
list_predicates(QctlSession *session)
{
    g_autoptr(QctlSink) sink = qctl_session_create_sink(session);

    return qctl_run_statement(session, sink,
                              "SELECT iif(f.id=0, '*', t.lexical) AS predicate,"
                              " coalesce((SELECT value FROM queryd_meta WHERE key='fulltext_tokenizer'), 'unicode61') AS tokenizer"
                              " FROM queryd_fulltext AS f LEFT JOIN queryd_term AS t ON t.id=f.id ORDER BY 1",
                              QCTL_ACCESS_READ, NULL);
}

/* What SetFullText is told: (transfer floating). */
static GVariant *
make_options(const QctlArguments *arguments)
{
    const char *action = arguments->words->pdata[0];
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

    if (arguments->tokenizer != NULL)
        g_variant_builder_add(&options, "{sv}", "tokenizer", g_variant_new_string(arguments->tokenizer));
    if (g_str_equal(action, "rebuild") || g_str_equal(action, "check")) {
        g_variant_builder_add(&options, "{sv}", action, g_variant_new_boolean(TRUE));
        return g_variant_builder_end(&options);
    }
    if (arguments->words->len > 1)
        g_variant_builder_add(
            &options, "{sv}", action,
            g_variant_new_strv((const char *const *) arguments->words->pdata + 1, (gssize) arguments->words->len - 1));
    if (arguments->all)
        g_variant_builder_add(&options, "{sv}", "all", g_variant_new_boolean(g_str_equal(action, "add")));
    return g_variant_builder_end(&options);
}

int
qctl_verb_fulltext(QctlSession *session)
{
    const QctlArguments *arguments = qctl_session_get_arguments(session);
    g_autoptr(GError) error = NULL;
    QueryConnection *connection;

    if (g_str_equal(arguments->words->pdata[0], "ls"))
        return list_predicates(session);

    connection = qctl_session_connect(session, &error);
    if (connection == NULL ||
        !query_connection_set_full_text(connection, make_options(arguments), qctl_session_get_cancellable(session), &error))
        return qctl_session_report(session, g_steal_pointer(&error), NULL);
    return QCTL_EXIT_OK;
}
