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

/* The options of SetFullText: (transfer floating). */
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

static bool
check(const QctlArguments *arguments, GError **error)
{
    static const char *const plain[] = { "ls", "rebuild", "check", NULL };
    const char *action = arguments->words->pdata[0];
    bool chooses = g_str_equal(action, "add") || g_str_equal(action, "remove");

    if (chooses ? arguments->words->len > 1 || arguments->all
                : g_strv_contains(plain, action) && arguments->words->len == 1 && !arguments->all &&
                      (arguments->tokenizer == NULL || g_str_equal(action, "rebuild")))
        return true;
    return qctl_arguments_refuse(arguments, error);
}

static int
run_fulltext(QctlSession *session)
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

static const QctlOption option_all = { "all", 0, NULL, "the literals of every predicate",
                                       .offset = G_STRUCT_OFFSET(QctlArguments, all) };
static const QctlOption option_tokenizer = { "tokenizer",
                                             0,
                                             "NAME",
                                             "how texts are cut into words: unicode61, porter, trigram",
                                             .values = QCTL_VALUES_TOKENIZERS,
                                             .offset = G_STRUCT_OFFSET(QctlArguments, tokenizer) };
const QctlVerb qctl_fulltext_verb = {
    "fulltext",
    "add|remove PREDICATE…|--all, ls, rebuild, check",
    "what full-text search finds",
    QCTL_OPTIONS(&option_all, &option_tokenizer, QCTL_PRINT_OPTIONS, &qctl_option_store),
    .n_words_min = 1,
    .n_words_max = G_MAXUINT,
    .actions = QCTL_ACTIONS("add", "remove", "ls", "rebuild", "check"),
    .check = check,
    .run = run_fulltext,
};
