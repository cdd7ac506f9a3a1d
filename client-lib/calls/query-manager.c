/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of the D-Bus interfaces that answer by value: explain, export, properties and the Manager.
 *
 * Place: methods of QueryConnection that need no channel. Each is one call.
 * Explain has the deadline of the connection. The others have none of their own: the daemon's limits end them, or the caller's
 * GCancellable. Then they have ended in the daemon, too, before they return.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"

static GVariant *
call(QueryConnection *self, const char *interface, const char *method, GVariant *arguments, const char *reply_type, QueryBusEnd end,
     GCancellable *cancellable, GError **error)
{
    return query_bus_call(query_connection_get_bus(self),
                          &(QueryBusCall){ .interface = interface,
                                           .method = method,
                                           .arguments = arguments,
                                           .reply_type = reply_type,
                                           .timeout_msec = G_MAXINT,
                                           .fd = -1,
                                           .end = end },
                          NULL, cancellable, error);
}

static gboolean
call_without_answer(QueryConnection *self, const char *method, GVariant *arguments, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant)
        reply = call(self, QUERY_BUS_MANAGER_INTERFACE, method, arguments, "()", QUERY_BUS_END_CALL, cancellable, error);

    return reply != NULL;
}

/* The only value of a reply. */
static GVariant *
call_for_value(QueryConnection *self, const char *method, const char *reply_type, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant)
        reply = call(self, QUERY_BUS_MANAGER_INTERFACE, method, NULL, reply_type, QUERY_BUS_END_FORGET, cancellable, error);

    return reply != NULL ? g_variant_get_child_value(reply, 0) : NULL;
}

static GVariant *
new_vardict(void)
{
    return g_variant_new("a{sv}", NULL);
}

/* As a statement of the connection would have them. */
static GVariant *
make_explain_options(const QueryCommand *command, gboolean is_run)
{
    GVariantDict options = G_VARIANT_DICT_INIT(NULL);

    if (is_run)
        g_variant_dict_insert(&options, "analyze", "b", TRUE);
    if (command->timeout_msec >= 0)
        g_variant_dict_insert(&options, "timeout_ms", "u", (guint32) command->timeout_msec);
    if (command->base != NULL)
        g_variant_dict_insert(&options, "base", "s", command->base);
    if (command->dataset != NULL)
        g_variant_dict_insert(&options, "dataset", "s", command->dataset);
    return g_variant_dict_end(&options);
}

static gboolean
explain(QueryConnection *self, QueryLanguage language, const char *text, gboolean is_run, char **sql, char **plan,
        GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryCommand) command = NULL;
    g_autofree char *reply_sql = NULL;
    g_autofree char *reply_plan = NULL;
    g_autoptr(GVariant) reply = NULL;
    gint64 patience_msec;

    command = query_connection_create_command(self, language, text, FALSE, error);
    if (command == NULL)
        return FALSE;
    patience_msec = query_command_get_patience_msec(command);
    reply = query_bus_call(
        query_connection_get_bus(self),
        &(QueryBusCall){ .interface = QUERY_BUS_INTERFACE,
                         .method = "Explain",
                         .arguments = g_variant_new("(ss@a{sv})", command->language, text, make_explain_options(command, is_run)),
                         .reply_type = "(ss)",
                         .timeout_msec = patience_msec > 0 ? (int) MIN(patience_msec, G_MAXINT) : G_MAXINT,
                         .has_deadline = patience_msec > 0,
                         .fd = -1,
                         .end = QUERY_BUS_END_CALL },
        NULL, cancellable, error);
    if (reply == NULL)
        return FALSE;

    g_variant_get(reply, "(ss)", &reply_sql, &reply_plan);
    if (sql != NULL)
        *sql = g_steal_pointer(&reply_sql);
    if (plan != NULL)
        *plan = g_steal_pointer(&reply_plan);
    return TRUE;
}

gboolean
query_connection_explain(QueryConnection *self, QueryLanguage language, const char *text, char **sql, char **plan,
                         GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(text != NULL, FALSE);

    return explain(self, language, text, FALSE, sql, plan, cancellable, error);
}

gboolean
query_connection_analyze(QueryConnection *self, QueryLanguage language, const char *text, char **sql, char **plan,
                         GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(text != NULL, FALSE);

    return explain(self, language, text, TRUE, sql, plan, cancellable, error);
}

gboolean
query_connection_export(QueryConnection *self, QueryLanguage language, const char *text, const char *format, int fd,
                        GVariant *options, guint64 *n_rows, guint64 *n_bytes, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) owned = g_variant_ref_sink(options != NULL ? options : new_vardict());
    g_autoptr(GVariant) reply = NULL;
    guint64 counts[2];

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(text != NULL, FALSE);
    g_return_val_if_fail(format != NULL, FALSE);
    g_return_val_if_fail(fd >= 0, FALSE);
    g_return_val_if_fail(g_variant_is_of_type(owned, G_VARIANT_TYPE_VARDICT), FALSE);

    if (!query_connection_check_text(text, error))
        return FALSE;
    reply = query_bus_call(
        query_connection_get_bus(self),
        &(QueryBusCall){ .interface = QUERY_BUS_INTERFACE,
                         .method = "Export",
                         .arguments = g_variant_new("(sssh@a{sv})", query_language_get_name(language), text, format, 0, owned),
                         .reply_type = "(tt)",
                         .timeout_msec = G_MAXINT,
                         .fd = fd,
                         .end = QUERY_BUS_END_CALL },
        NULL, cancellable, error);
    if (reply == NULL)
        return FALSE;

    g_variant_get(reply, "(tt)", &counts[0], &counts[1]);
    if (n_rows != NULL)
        *n_rows = counts[0];
    if (n_bytes != NULL)
        *n_bytes = counts[1];
    return TRUE;
}

gboolean
query_connection_check(QueryConnection *self, gboolean quick, char ***messages, GCancellable *cancellable, GError **error)
{
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    g_auto(GStrv) lines = NULL;
    g_autoptr(GVariant) reply = NULL;
    gboolean ok;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    g_variant_builder_add(&options, "{sv}", "quick", g_variant_new_boolean(quick));
    reply = call(self, QUERY_BUS_MANAGER_INTERFACE, "Check", g_variant_new("(a{sv})", &options), "(bas)", QUERY_BUS_END_CALL,
                 cancellable, error);
    if (reply == NULL)
        return FALSE;

    g_variant_get(reply, "(b^as)", &ok, &lines);
    if (!ok)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_CORRUPT, "the database is damaged: %s",
                    lines[0] != NULL ? lines[0] : "the daemon gave no details");
    if (messages != NULL)
        *messages = g_steal_pointer(&lines);
    return ok;
}

gboolean
query_connection_optimize(QueryConnection *self, gboolean warm, GCancellable *cancellable, GError **error)
{
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    if (warm)
        g_variant_builder_add(&options, "{sv}", "warm", g_variant_new_boolean(TRUE));
    return call_without_answer(self, "Optimize", g_variant_new("(a{sv})", &options), cancellable, error);
}

gboolean
query_connection_set_full_text(QueryConnection *self, GVariant *options, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) owned = g_variant_ref_sink(options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(g_variant_is_of_type(owned, G_VARIANT_TYPE_VARDICT), FALSE);

    return call_without_answer(self, "SetFullText", g_variant_new("(@a{sv})", owned), cancellable, error);
}

gboolean
query_connection_reload(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    return call_without_answer(self, "Reload", NULL, cancellable, error);
}

GVariant *
query_connection_get_stats(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);

    return call_for_value(self, "GetStats", "(a{sv})", cancellable, error);
}

GVariant *
query_connection_get_limits(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);

    return call_for_value(self, "GetLimits", "(a(sttsss))", cancellable, error);
}

GVariant *
query_connection_list_queries(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);

    return call_for_value(self, "ListQueries", "(aa{sv})", cancellable, error);
}

gboolean
query_connection_cancel_query(QueryConnection *self, guint64 id, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    return call_without_answer(self, "CancelQuery", g_variant_new("(t)", id), cancellable, error);
}
