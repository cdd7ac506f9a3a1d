/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Savepoints of a QueryTransaction.
 *
 * Place: public object. They are updates by their texts, which the daemon takes within a transaction.
 */
#include "client-lib/query-connection-private.h"

/* @before: what stands before the name. The name becomes an SQL identifier. (transfer full) */
static char *
create_text(const char *before, const char *name)
{
    g_autoptr(GString) quoted = g_string_new(name);

    (void) g_string_replace(quoted, "\"", "\"\"", 0);
    return g_strdup_printf("%s \"%s\"", before, quoted->str);
}

static gboolean
run(QueryTransaction *self, const char *before, const char *name, GCancellable *cancellable, GError **error)
{
    g_autofree char *text = create_text(before, name);

    return query_transaction_update(self, QUERY_LANGUAGE_SQL, text, NULL, cancellable, error) >= 0;
}

static void
run_async(QueryTransaction *self, const char *before, const char *name, GCancellable *cancellable, GAsyncReadyCallback callback,
          gpointer user_data)
{
    g_autofree char *text = create_text(before, name);

    query_transaction_update_async(self, QUERY_LANGUAGE_SQL, text, NULL, cancellable, callback, user_data);
}

gboolean
query_transaction_savepoint(QueryTransaction *self, const char *name, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return run(self, "SAVEPOINT", name, cancellable, error);
}

void
query_transaction_savepoint_async(QueryTransaction *self, const char *name, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data)
{
    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(name != NULL);

    run_async(self, "SAVEPOINT", name, cancellable, callback, user_data);
}

gboolean
query_transaction_savepoint_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);

    return query_transaction_update_finish(self, result, error) >= 0;
}

gboolean
query_transaction_release(QueryTransaction *self, const char *name, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return run(self, "RELEASE", name, cancellable, error);
}

void
query_transaction_release_async(QueryTransaction *self, const char *name, GCancellable *cancellable, GAsyncReadyCallback callback,
                                gpointer user_data)
{
    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(name != NULL);

    run_async(self, "RELEASE", name, cancellable, callback, user_data);
}

gboolean
query_transaction_release_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);

    return query_transaction_update_finish(self, result, error) >= 0;
}

gboolean
query_transaction_rollback_to(QueryTransaction *self, const char *name, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return run(self, "ROLLBACK TO", name, cancellable, error);
}

void
query_transaction_rollback_to_async(QueryTransaction *self, const char *name, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data)
{
    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(name != NULL);

    run_async(self, "ROLLBACK TO", name, cancellable, callback, user_data);
}

gboolean
query_transaction_rollback_to_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);

    return query_transaction_update_finish(self, result, error) >= 0;
}
