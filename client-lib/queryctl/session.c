/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The session of one run of queryctl.
 */
#include "client-lib/queryctl/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct QctlSession {
    const QctlArguments *arguments;
    QueryConnection *connection;   /* (nullable) */
    QueryTransaction *transaction; /* (nullable) */
    GPtrArray *settings;           /* of char* */
    pthread_mutex_t lock;          /* of the two below */
    GCancellable *cancellable;
    bool interrupted;
    QueryLanguage language;
    QctlFormat format;
    bool is_format_chosen;
    int output_fd;            /* -1: standard output */
    QctlFormat output_format; /* AUTO: @format */
    bool timing;
    bool colour;
};

/* Never ends: it sleeps in the kernel until the process is gone. */
static gpointer
wait_for_interrupts(gpointer user_data)
{
    QctlSession *self = user_data;
    sigset_t signals;
    int number = 0;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    for (;;) {
        g_autoptr(GCancellable) cancellable = NULL;

        if (sigwait(&signals, &number) != 0)
            continue;
        pthread_mutex_lock(&self->lock);
        if (self->interrupted) /* it did not help the first time */
            _exit(QCTL_EXIT_INTERRUPTED);
        self->interrupted = true;
        cancellable = g_object_ref(self->cancellable);
        pthread_mutex_unlock(&self->lock);
        g_cancellable_cancel(cancellable);
    }

    return NULL;
}

QctlSession *
qctl_session_new(const QctlArguments *arguments)
{
    QctlSession *self = g_new0(QctlSession, 1);
    bool terminal = isatty(STDOUT_FILENO) != 0;
    const char *no_colour = g_getenv("NO_COLOR");
    sigset_t signals;

    self->arguments = arguments;
    self->settings = g_ptr_array_new_with_free_func(g_free);
    (void) pthread_mutex_init(&self->lock, NULL);
    self->cancellable = g_cancellable_new();
    self->language = arguments->sparql ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;
    self->output_fd = -1;
    self->format = arguments->output.format;
    self->is_format_chosen = self->format != QCTL_FORMAT_AUTO;
    if (!self->is_format_chosen)
        self->format = terminal ? QCTL_FORMAT_TABLE : QCTL_FORMAT_TSV;
    self->timing = arguments->output.timing;
    self->colour = terminal && (no_colour == NULL || no_colour[0] == 0);

    (void) signal(SIGPIPE, SIG_IGN);
    (void) signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    (void) pthread_sigmask(SIG_BLOCK, &signals, NULL);
    g_thread_unref(g_thread_new("interrupts", wait_for_interrupts, self));
    return self;
}

/* The struct itself stays: the thread still looks at it. */
QctlSession *
qctl_session_free(QctlSession *self)
{
    if (self != NULL) {
        g_clear_object(&self->transaction);
        g_clear_object(&self->connection);
        g_clear_pointer(&self->settings, g_ptr_array_unref);
        qctl_session_set_output(self, -1, QCTL_FORMAT_AUTO);
    }
    return NULL;
}

const QctlArguments *
qctl_session_get_arguments(const QctlSession *self)
{
    return self->arguments;
}

const QctlArguments *
qctl_session_exchange_arguments(QctlSession *self, const QctlArguments *arguments)
{
    const QctlArguments *before = self->arguments;

    self->arguments = arguments;
    return before;
}

static void
insert_if_given(GVariantDict *options, const char *name, const char *value)
{
    if (value != NULL)
        g_variant_dict_insert(options, name, "s", value);
}

static QueryConnection *
connect_to(QctlSession *self, GError **error)
{
    const QctlPlace *place = &self->arguments->place;
    const char *store = self->arguments->store;
    g_auto(GVariantDict) options = G_VARIANT_DICT_INIT(NULL);

    if (place->direct != NULL)
        return query_connection_new_direct(place->direct, self->cancellable, error);
    if (place->remote == NULL)
        return query_connection_new_for_store(store, self->cancellable, error);

    insert_if_given(&options, "update_url", place->update_url);
    insert_if_given(&options, "token_file", place->token_file);
    insert_if_given(&options, "netrc", place->netrc);
    return query_connection_new_remote(place->remote, g_variant_dict_end(&options), self->cancellable, error);
}

QueryConnection *
qctl_session_connect(QctlSession *self, GError **error)
{
    const QctlArguments *arguments = self->arguments;

    if (self->connection != NULL)
        return self->connection;

    self->connection = connect_to(self, error);
    if (self->connection == NULL)
        return NULL;
    if (arguments->timeout_msec >= 0)
        query_connection_set_timeout_msec(self->connection,
                                          arguments->timeout_msec > 0 ? (guint) arguments->timeout_msec : QUERY_TIMEOUT_NONE);
    if (arguments->max_rows > 0)
        query_connection_set_max_rows(self->connection, arguments->max_rows);
    query_connection_set_fresh(self->connection, arguments->fresh);
    return self->connection;
}

QueryTransaction *
qctl_session_get_transaction(const QctlSession *self)
{
    return self->transaction;
}

void
qctl_session_take_transaction(QctlSession *self, QueryTransaction *transaction)
{
    g_clear_object(&self->transaction);
    self->transaction = transaction;
}

GPtrArray *
qctl_session_get_settings(const QctlSession *self)
{
    return self->settings;
}

GCancellable *
qctl_session_get_cancellable(QctlSession *self)
{
    return self->cancellable;
}

bool
qctl_session_is_interrupted(const QctlSession *self)
{
    return g_cancellable_is_cancelled(self->cancellable);
}

void
qctl_session_resume(QctlSession *self)
{
    pthread_mutex_lock(&self->lock);
    g_object_unref(self->cancellable);
    self->cancellable = g_cancellable_new();
    self->interrupted = false;
    pthread_mutex_unlock(&self->lock);
}

QctlSink *
qctl_session_create_sink(QctlSession *self)
{
    QctlFormat format = qctl_session_get_format(self);
    bool is_for_eyes = format == QCTL_FORMAT_TABLE || format == QCTL_FORMAT_LINE;
    bool use_pager = self->output_fd < 0 && is_for_eyes && !self->arguments->output.no_pager && isatty(STDOUT_FILENO) != 0;

    return qctl_sink_new(qctl_session_get_output(self), use_pager);
}

int
qctl_session_get_output(const QctlSession *self)
{
    return self->output_fd >= 0 ? self->output_fd : STDOUT_FILENO;
}

void
qctl_session_set_output(QctlSession *self, int fd, QctlFormat format)
{
    if (self->output_fd >= 0)
        (void) close(self->output_fd);
    self->output_fd = fd;
    self->output_format = format;
}

QueryLanguage
qctl_session_get_language(const QctlSession *self)
{
    return self->language;
}

void
qctl_session_set_language(QctlSession *self, QueryLanguage language)
{
    self->language = language;
}

QctlFormat
qctl_session_get_format(const QctlSession *self)
{
    return self->output_format != QCTL_FORMAT_AUTO ? self->output_format : self->format;
}

void
qctl_session_set_format(QctlSession *self, QctlFormat format)
{
    self->format = format;
    self->output_format = QCTL_FORMAT_AUTO;
    self->is_format_chosen = true;
}

bool
qctl_session_is_format_chosen(const QctlSession *self)
{
    return self->is_format_chosen || self->output_format != QCTL_FORMAT_AUTO;
}

bool
qctl_session_get_timing(const QctlSession *self)
{
    return self->timing;
}

void
qctl_session_set_timing(QctlSession *self, bool timing)
{
    self->timing = timing;
}

QctlOutput *
qctl_session_create_output(QctlSession *self, QctlSink *sink, const char *const *names, guint n_columns)
{
    QctlStyle style = { qctl_session_get_format(self), self->arguments->output.null_text, !self->arguments->output.no_header,
                        self->colour && self->output_fd < 0 };

    return qctl_output_new(sink, &style, names, n_columns);
}

/* GDBus calls a wrong address an invalid argument, which the library takes for one of a reply. */
static bool
has_wrong_address(const QctlSession *self)
{
    const char *address = self->arguments->place.remote == NULL ? g_getenv("DBUS_SESSION_BUS_ADDRESS") : NULL;

    return address != NULL && (address[0] == 0 || !g_dbus_is_supported_address(address, NULL));
}

static int
get_exit_code(const QctlSession *self, const GError *error)
{
    if (error->domain != QUERY_ERROR)
        return QCTL_EXIT_QUERY;

    switch ((QueryError) error->code) {
    case QUERY_ERROR_UNAVAILABLE:
    case QUERY_ERROR_DISCONNECTED:
        return QCTL_EXIT_NO_DAEMON;
    case QUERY_ERROR_TIMEOUT:
        return QCTL_EXIT_TIMEOUT;
    case QUERY_ERROR_READ_ONLY:
    case QUERY_ERROR_ACCESS_DENIED:
        return QCTL_EXIT_DENIED;
    case QUERY_ERROR_SYNTAX:
    case QUERY_ERROR_UNSUPPORTED:
    case QUERY_ERROR_BAD_PARAMETER:
    case QUERY_ERROR_CONSTRAINT:
    case QUERY_ERROR_BUSY:
    case QUERY_ERROR_TOO_BIG:
    case QUERY_ERROR_TOO_COMPLEX:
    case QUERY_ERROR_CANCELLED:
    case QUERY_ERROR_DISK_FULL:
    case QUERY_ERROR_NO_MEMORY:
    case QUERY_ERROR_CORRUPT:
    case QUERY_ERROR_RECOVERING:
    case QUERY_ERROR_LIMIT_EXCEEDED:
    case QUERY_ERROR_CLOSED:
    case QUERY_ERROR_INTERNAL:
        return QCTL_EXIT_QUERY;
    case QUERY_ERROR_PROTOCOL:
        return has_wrong_address(self) ? QCTL_EXIT_NO_DAEMON : QCTL_EXIT_QUERY;
    }

    return QCTL_EXIT_QUERY;
}

int
qctl_session_report(QctlSession *self, GError *error, const char *what)
{
    g_autoptr(GError) owned = error;

    if (qctl_session_is_interrupted(self) && !g_error_matches(owned, QUERY_ERROR, QUERY_ERROR_DISCONNECTED))
        return QCTL_EXIT_INTERRUPTED;
    if (qctl_error_is_broken_pipe(owned))
        return QCTL_EXIT_OK;

    (void) fprintf(stderr, "queryctl: %s%s%s\n", what != NULL ? what : "", what != NULL ? ": " : "", owned->message);
    return qctl_session_is_interrupted(self) ? QCTL_EXIT_INTERRUPTED : get_exit_code(self, owned);
}
