/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the handlers share, and imports one after the other.
 */
#include "client-lib/http/http-service.h"

/* For what is under way at the end. The library gives a daemon up that does not answer a cancelled update for 5 s. */
#define STOP_MSEC 8000

struct QhttpService {
    QhttpServiceOptions options;
    QhttpAccess *access;
    QueryConnection *connection; /* (nullable): before the first request */
    guint64 generation;
    GQueue imports; /* of Import: the first is under way */
    GQueue updates; /* of QhttpExchange, by their links */
    bool is_stopping;
    guint n_watches;
    char *url;    /* (nullable) */
    gpointer bin; /* (owned) (nullable) */
    GDestroyNotify bin_free;
};

typedef struct Import {
    QhttpExchange *exchange;
    QhttpHandler run;
} Import;

QhttpService *
qhttp_service_new(const QhttpServiceOptions *options, GError **error)
{
    g_autoptr(QhttpService) self = g_new0(QhttpService, 1);

    self->options = *options;
    self->access = qhttp_access_new(&options->access, error);
    return self->access != NULL ? g_steal_pointer(&self) : NULL;
}

QhttpService *
qhttp_service_free(QhttpService *self)
{
    if (self == NULL)
        return NULL;

    qhttp_service_empty_bin(self);
    (void) qhttp_access_free(self->access);
    g_clear_object(&self->connection);
    g_free(self->url);
    g_free(self);
    return NULL;
}

const QhttpServiceOptions *
qhttp_service_get_options(const QhttpService *self)
{
    return &self->options;
}

QhttpAccess *
qhttp_service_get_access(QhttpService *self)
{
    return self->access;
}

guint64
qhttp_service_get_limit(const QhttpService *self, QhttpLimit limit)
{
    return self->options.limits.values[limit];
}

void
qhttp_service_refuse(QhttpExchange *exchange, guint status, QhttpLimit limit, const char *what)
{
    qhttp_exchange_set_header(exchange, "Connection", "close");
    qhttp_exchange_fail(exchange, status, "%s: limit '%s' of %" G_GUINT64_FORMAT, what, qhttp_limit_get_name(limit),
                        qhttp_service_get_limit(exchange->service, limit));
}

QueryConnection *
qhttp_service_get_connection(QhttpService *self, GError **error)
{
    if (self->connection == NULL)
        self->connection = query_connection_new_for_store(self->options.store, NULL, error);
    return self->connection;
}

QueryConnection *
qhttp_service_connect(QhttpExchange *exchange)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qhttp_service_get_connection(exchange->service, &error);

    if (connection == NULL)
        qhttp_exchange_fail_with(exchange, error);
    return connection;
}

bool
qhttp_service_begin_update(QhttpExchange *exchange)
{
    QhttpService *self = exchange->service;

    if (self->is_stopping) {
        qhttp_exchange_fail(exchange, 503, "the server is stopping: nothing was changed");
        return false;
    }
    exchange->updates = &self->updates;
    exchange->update_link.data = exchange;
    g_queue_push_tail_link(&self->updates, &exchange->update_link);
    return true;
}

static gboolean
on_stop_is_late(gpointer user_data)
{
    *(bool *) user_data = true;
    return G_SOURCE_CONTINUE;
}

void
qhttp_service_stop(QhttpService *self)
{
    bool is_late = false;
    guint timer = g_timeout_add(STOP_MSEC, on_stop_is_late, &is_late);

    self->is_stopping = true;
    for (GList *link = self->updates.head, *next; link != NULL; link = next) {
        next = link->next;
        g_cancellable_cancel(((QhttpExchange *) link->data)->cancellable);
    }
    while (self->updates.length > 0 && !is_late)
        (void) g_main_context_iteration(NULL, TRUE);
    (void) g_source_remove(timer);
}

QueryConnection *
qhttp_service_connect_for_update(QhttpExchange *exchange)
{
    if (exchange->service->options.may_write)
        return qhttp_service_begin_update(exchange) ? qhttp_service_connect(exchange) : NULL;
    qhttp_exchange_fail(exchange, 403, "this server is read-only: it takes updates with the option --read-write");
    return NULL;
}

guint64
qhttp_service_get_generation(const QhttpService *self)
{
    return self->generation;
}

void
qhttp_service_note_generation(QhttpService *self, guint64 generation)
{
    self->generation = MAX(self->generation, generation);
}

bool
qhttp_service_begin_import(QhttpService *self, QhttpExchange *exchange, QhttpHandler run)
{
    Import *import;

    if (self->imports.length > qhttp_service_get_limit(self, QHTTP_LIMIT_IMPORTS)) {
        qhttp_service_refuse(exchange, 503, QHTTP_LIMIT_IMPORTS, "too many documents wait");
        return false;
    }

    import = g_new0(Import, 1);
    *import = (Import){ qhttp_exchange_ref(exchange), run };
    g_queue_push_tail(&self->imports, import);
    if (self->imports.length == 1)
        run(exchange);
    return true;
}

void
qhttp_service_end_import(QhttpService *self)
{
    Import *import = g_queue_pop_head(&self->imports);

    qhttp_exchange_unref(import->exchange);
    g_free(import);
    import = g_queue_peek_head(&self->imports);
    if (import != NULL)
        import->run(import->exchange);
}

void
qhttp_service_set_url(QhttpService *self, const char *url)
{
    g_free(self->url);
    self->url = g_strdup(url);
}

const char *
qhttp_service_get_url(const QhttpService *self)
{
    return self->url;
}

bool
qhttp_service_begin_watch(QhttpService *self)
{
    if (self->n_watches >= qhttp_service_get_limit(self, QHTTP_LIMIT_WATCHES))
        return false;

    self->n_watches++;
    return true;
}

void
qhttp_service_end_watch(QhttpService *self)
{
    self->n_watches--;
}

void
qhttp_service_discard(QhttpService *self, gpointer data, GDestroyNotify free_func)
{
    qhttp_service_empty_bin(self);
    self->bin = data;
    self->bin_free = free_func;
}

void
qhttp_service_empty_bin(QhttpService *self)
{
    gpointer data = g_steal_pointer(&self->bin);

    if (data != NULL)
        self->bin_free(data);
}
