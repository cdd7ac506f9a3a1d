/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One execution on a remote endpoint: a thread sends the request, reads the answer and makes pages; the application takes them.
 *
 * Place: internal to the module. The thread waits while PAGES_MAX pages are not taken, so a slow application slows the server
 * down, and memory stays bounded.
 * Invariant: the thread ends before its run is freed. The first failure is the one that is reported, after the rows before it.
 */
#include <string.h>

#include "client-lib/core/query-mutex.h"
#include "client-lib/core/query-parameters.h"
#include "client-lib/remote-module/remote-http.h"
#include "client-lib/remote-module/remote-input.h"
#include "client-lib/remote-module/remote-text.h"
#include "client-lib/text/text-utf8.h"

#define PAGES_MAX 4u
#define PAGES_BYTES (1024u * 1024u) /* a page beyond waits, unless it is the only one */

#define ACCEPT_RDF "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.5, application/ld+json;q=0.4"

struct QueryDirectRun {
    QueryDirectHead head;
    gint ref_count; /* atomic */
    QueryDirect *direct;
    QueryCommand *command;
    char *text; /* with the values of the parameters */
    RemoteForm form;
    gint64 start_usec;
    gint64 left_usec; /* that the application may wait still; G_MAXINT64: any time */
    GThread *thread;
    GCancellable *cancellable; /* of the thread */
    RemoteRows rows;           /* of the thread */
    gint is_wanted;            /* atomic: the application waits */

    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    QuerySchema *schema;
    GQueue pages; /* of QwPageWriter */
    gboolean is_stopped;
    gboolean is_done; /* the thread */
    QwEnd end;
    GError *failure;      /* (nullable): reported after the rows of the pages */
    QwPageWriter current; /* the page that was taken last */
};

/* The thread ------------------------------------------------------------------------------------------------------------ */

/* The columns, beside the parameters that are known. */
static void
begin_rows(gpointer data, const char *const *names, const char *const *types, guint n_columns)
{
    QueryDirectRun *self = data;
    QuerySchema *schema = query_schema_new(n_columns, self->schema->n_parameters);
    QuerySchema *old;

    schema->is_sparql = TRUE;
    for (guint i = 0; i < n_columns; i++)
        query_schema_set_column(schema, i, names[i], types != NULL ? types[i] : "");
    for (guint i = 0; i < schema->n_parameters; i++)
        query_schema_set_parameter(schema, i, self->schema->parameter_names[i]);

    (void) pthread_mutex_lock(&self->mutex);
    old = self->schema;
    self->schema = schema;
    (void) pthread_mutex_unlock(&self->mutex);
    query_schema_unref(old);
}

/* Whether a further page has to wait. A few large rows take as much memory as they need, not four times of that. */
static gboolean
is_filled(const QueryDirectRun *self)
{
    gsize n_bytes = 0;

    for (const GList *link = self->pages.head; link != NULL; link = link->next)
        n_bytes += ((const QwPageWriter *) link->data)->used;
    return self->pages.length >= PAGES_MAX || n_bytes >= PAGES_BYTES;
}

static gboolean
take_page(gpointer data, const QwPageWriter *page)
{
    QueryDirectRun *self = data;
    gboolean is_stopped;

    (void) pthread_mutex_lock(&self->mutex);
    while (is_filled(self) && !self->is_stopped)
        (void) pthread_cond_wait(&self->changed, &self->mutex);
    is_stopped = self->is_stopped;
    if (is_stopped)
        g_free(page->data);
    else
        g_queue_push_tail(&self->pages, g_memdup2(page, sizeof *page));
    (void) pthread_cond_broadcast(&self->changed);
    (void) pthread_mutex_unlock(&self->mutex);
    return !is_stopped;
}

static const char *
choose_types(const QueryDirectRun *self)
{
    static const char *const of_format[] = {
        [REMOTE_FORMAT_JSON] = "application/sparql-results+json",
        [REMOTE_FORMAT_TSV] = "text/tab-separated-values",
        [REMOTE_FORMAT_XML] = "application/sparql-results+xml",
    };
    RemoteFormat format = self->direct->format;

    if (self->command->writes)
        return "*/*";
    if (self->form == REMOTE_FORM_GRAPH)
        return ACCEPT_RDF;
    if (self->form == REMOTE_FORM_UNKNOWN)
        return "application/sparql-results+json, application/sparql-results+xml;q=0.9, " ACCEPT_RDF;
    if (format != REMOTE_FORMAT_ANY && (format != REMOTE_FORMAT_TSV || self->form == REMOTE_FORM_SELECT))
        return of_format[format];
    if (self->form == REMOTE_FORM_ASK || g_atomic_int_get(&self->direct->tsv_is_bad) != 0)
        return "application/sparql-results+json, application/sparql-results+xml;q=0.9";
    return "text/tab-separated-values, application/sparql-results+json;q=0.9, application/sparql-results+xml;q=0.8";
}

/* An answer in TSV that is not as the standard has it is asked for again in another format, unless rows were given already. */
static gboolean
may_ask_again(QueryDirectRun *self, gboolean was_tsv, const GError *failure)
{
    return was_tsv && self->direct->format == REMOTE_FORMAT_ANY && self->rows.n_rows_sent == 0 &&
           g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_PROTOCOL) &&
           g_atomic_int_compare_and_exchange(&self->direct->tsv_is_bad, 0, 1);
}

static gboolean
ask(QueryDirectRun *self, gboolean *ret_was_tsv, GError **error)
{
    const RemoteRequest request = { .text = self->text,
                                    .dataset = self->command->dataset,
                                    .accept = choose_types(self),
                                    .n_before = remote_text_get_n_before(self->command),
                                    .is_update = self->command->writes };
    RemoteAnswer answer = { 0 };
    gboolean ok;

    self->rows = (RemoteRows){ .funcs = { .begin = begin_rows, .take_page = take_page, .data = self },
                               .row_bytes = self->direct->row_bytes,
                               .n_rows_max = self->command->max_rows,
                               .is_ask = self->form == REMOTE_FORM_ASK };
    *ret_was_tsv = FALSE;
    if (!remote_http_send(self->direct, &request, self->cancellable, &answer, error))
        return FALSE;
    if (self->command->writes) {
        ok = TRUE; /* its status has said so */
        answer.was_read = g_input_stream_skip(answer.body, REMOTE_ERROR_BYTES, self->cancellable, NULL) == 0;
    } else {
        *ret_was_tsv = remote_input_is_tsv(&answer);
        ok = remote_input_read(&self->rows, &answer, &self->is_wanted, self->cancellable, error) || self->rows.is_full;
        ok = ok && (remote_rows_finish(&self->rows, error) || self->rows.is_full);
    }
    remote_answer_clear(&answer);
    return ok;
}

/* What the endpoint says may be in it: one line of UTF-8 of a bounded size. */
static GError *
tidy_failure(GError *failure)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if (failure == NULL)
        return NULL;
    (void) qw_text_append_lossy(text, failure->message, strnlen(failure->message, 2 * REMOTE_MESSAGE_BYTES));
    for (char *p = text->str; *p != '\0'; p++)
        if (g_ascii_iscntrl(*p))
            *p = ' ';
    g_free(failure->message);
    failure->message = g_string_free(g_steal_pointer(&text), FALSE);
    return failure;
}

static gpointer
run_in_thread(gpointer data)
{
    QueryDirectRun *self = data;
    g_autoptr(GError) failure = NULL;
    gboolean was_tsv = FALSE;

    if (!ask(self, &was_tsv, &failure) && may_ask_again(self, was_tsv, failure)) {
        remote_rows_clear(&self->rows);
        g_clear_error(&failure);
        (void) ask(self, &was_tsv, &failure);
    }
    if (failure != NULL)
        (void) remote_rows_flush(&self->rows);
    remote_rows_clear(&self->rows);

    (void) pthread_mutex_lock(&self->mutex);
    self->end.n_rows = self->rows.n_rows;
    self->end.elapsed_usec = (guint64) (g_get_monotonic_time() - self->start_usec);
    if (self->failure == NULL)
        self->failure = tidy_failure(g_steal_pointer(&failure));
    self->is_done = TRUE;
    (void) pthread_cond_broadcast(&self->changed);
    (void) pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* The application ------------------------------------------------------------------------------------------------------- */

QueryDirectRun *
remote_run_ref(QueryDirectRun *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

static void
stop(QueryDirectRun *self)
{
    (void) pthread_mutex_lock(&self->mutex);
    self->is_stopped = TRUE;
    (void) pthread_cond_broadcast(&self->changed);
    (void) pthread_mutex_unlock(&self->mutex);
    g_cancellable_cancel(self->cancellable);
}

static void
page_free(gpointer data)
{
    QwPageWriter *page = data;

    g_free(page->data);
    g_free(page);
}

void
remote_run_unref(QueryDirectRun *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    stop(self);
    if (self->thread != NULL)
        (void) g_thread_join(self->thread);
    g_queue_clear_full(&self->pages, page_free);
    g_free(self->current.data);
    g_clear_error(&self->failure);
    query_schema_unref(self->schema);
    g_object_unref(self->cancellable);
    g_free(self->text);
    query_command_unref(self->command);
    (void) pthread_mutex_destroy(&self->mutex);
    (void) pthread_cond_destroy(&self->changed);
    remote_unref(self->direct);
    g_free(self);
}

/* It does not change once there is something to take. */
QuerySchema *
remote_run_get_schema(const QueryDirectRun *self)
{
    g_auto(QueryMutexHold) hold = query_mutex_hold((pthread_mutex_t *) &self->mutex);

    return self->schema;
}

void
remote_run_cancel(QueryDirectRun *self)
{
    stop(self);
}

static void
on_cancelled(GCancellable *cancellable, gpointer data)
{
    QueryDirectRun *self = data;

    (void) pthread_mutex_lock(&self->mutex);
    (void) pthread_cond_broadcast(&self->changed);
    (void) pthread_mutex_unlock(&self->mutex);
}

static gboolean
has_news(const QueryDirectRun *self)
{
    return self->pages.length > 0 || self->is_done || self->failure != NULL;
}

static void
set_expired(QueryDirectRun *self)
{
    const char *name = self->direct->names->deadline;

    if (self->failure == NULL)
        g_set_error(&self->failure, QUERY_ERROR, QUERY_ERROR_TIMEOUT,
                    "the deadline of %" G_GINT64_FORMAT " ms%s%s%s expired before the endpoint had answered%s",
                    self->command->timeout_msec, name != NULL ? " ('" : "", name != NULL ? name : "", name != NULL ? "')" : "",
                    self->command->writes ? ": the update may be executed" : "");
}

/* Until there is something to take, within the time that is left. */
static void
wait_for_news(QueryDirectRun *self, GCancellable *cancellable)
{
    gulong handler = cancellable != NULL ? g_cancellable_connect(cancellable, G_CALLBACK(on_cancelled), self, NULL) : 0;
    gint64 begin_usec = g_get_monotonic_time();
    gint64 until_usec = self->left_usec < G_MAXINT64 - begin_usec ? begin_usec + self->left_usec : G_MAXINT64;
    gboolean in_time = TRUE;

    (void) pthread_mutex_lock(&self->mutex);
    g_atomic_int_set(&self->is_wanted, 1);
    while (in_time && !has_news(self) && !g_cancellable_is_cancelled(cancellable)) {
        if (until_usec == G_MAXINT64)
            (void) pthread_cond_wait(&self->changed, &self->mutex);
        else
            in_time = query_cond_wait_until(&self->changed, &self->mutex, until_usec);
    }
    g_atomic_int_set(&self->is_wanted, 0);
    if (!in_time && !has_news(self))
        set_expired(self);
    if (until_usec < G_MAXINT64)
        self->left_usec = MAX(until_usec - g_get_monotonic_time(), 0);
    (void) pthread_mutex_unlock(&self->mutex);

    g_cancellable_disconnect(cancellable, handler);
    if (!in_time)
        g_cancellable_cancel(self->cancellable);
}

void
remote_run_work(QueryDirectRun *self, GCancellable *cancellable)
{
    wait_for_news(self, cancellable);
}

gpointer
remote_run_detach_page(QueryDirectRun *self)
{
    return g_steal_pointer(&self->current.data);
}

/* It holds no snapshot that others could need. */
gboolean
remote_run_is_open(QueryDirectRun *self)
{
    return FALSE;
}

QueryDirectResult
remote_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error)
{
    QueryDirectResult result = QUERY_DIRECT_WORK;
    g_autofree QwPageWriter *page = NULL;

    (void) pthread_mutex_lock(&self->mutex);
    page = g_queue_pop_head(&self->pages);
    if (page != NULL) {
        (void) pthread_cond_broadcast(&self->changed);
        result = QUERY_DIRECT_ROWS;
    } else if (self->failure != NULL) {
        g_propagate_error(error, g_error_copy(self->failure));
        result = QUERY_DIRECT_FAILED;
    } else if (self->is_done) {
        *ret_end = self->end;
        result = QUERY_DIRECT_END;
    }
    (void) pthread_mutex_unlock(&self->mutex);

    if (page != NULL) {
        g_free(self->current.data);
        self->current = *page;
        /* not qw_page_reader_init(): there is no stranger whose page would have to be validated */
        *ret_reader = (QwPageReader){ .data = page->data + QW_HEADER_SIZE,
                                      .n_bytes = page->used - QW_HEADER_SIZE,
                                      .n_columns = page->n_columns,
                                      .n_rows_left = page->n_rows };
    }
    return result;
}

/* Start ----------------------------------------------------------------------------------------------------------------- */

static gboolean
check_language(const QueryCommand *command, GError **error)
{
    if (g_str_equal(command->language, "sparql"))
        return TRUE;
    g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED, "a remote connection takes SPARQL, not SQL");
    return FALSE;
}

QuerySchema *
remote_describe(QueryDirect *self, const QueryCommand *command, GError **error)
{
    return check_language(command, error) ? remote_text_describe(command->text, command->writes) : NULL;
}

/* The text with the values: without any, and without a word about the parameters, as it is. */
static gboolean
bind(QueryDirectRun *self, const QueryParameters *parameters, GBytes *row, GError **error)
{
    g_autoptr(GBytes) values = row != NULL ? g_bytes_ref(row) : NULL;
    QwPageReader reader = { .n_columns = self->schema->n_parameters, .n_rows_left = 1 };

    if (values == NULL && parameters != NULL && query_parameters_get_n(parameters) > 0) {
        values = query_parameters_encode(parameters, self->schema, error);
        if (values == NULL)
            return FALSE;
    }
    if (values == NULL || g_bytes_get_size(values) == 0) {
        self->text = remote_text_build(self->command, NULL, NULL, error);
        return self->text != NULL;
    }
    reader.data = g_bytes_get_data(values, &reader.n_bytes);
    (void) qw_page_reader_next(&reader);
    self->text = remote_text_build(self->command, self->schema, &reader, error);
    return self->text != NULL;
}

static QueryDirectRun *
run_new(QueryDirect *direct, const QueryCommand *command)
{
    QueryDirectRun *self = g_new0(QueryDirectRun, 1);

    self->head.table = &query_remote_table;
    self->ref_count = 1;
    self->direct = remote_ref(direct);
    self->command = query_command_ref((QueryCommand *) command);
    self->form = command->writes ? REMOTE_FORM_UNKNOWN : remote_text_get_form(command->text);
    self->start_usec = g_get_monotonic_time();
    self->left_usec = command->timeout_msec > 0 ? command->timeout_msec * 1000 : G_MAXINT64;
    self->cancellable = g_cancellable_new();
    self->schema = remote_text_describe(command->text, command->writes);
    (void) pthread_mutex_init(&self->mutex, NULL);
    query_cond_init(&self->changed);
    return self;
}

/* FALSE when it brought nothing but an error: then it is the statement's. */
static gboolean
await_first(QueryDirectRun *self, GCancellable *cancellable, GError **error)
{
    gboolean ok;

    wait_for_news(self, cancellable);
    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;
    (void) pthread_mutex_lock(&self->mutex);
    ok = self->failure == NULL || self->pages.length > 0;
    if (!ok)
        g_propagate_error(error, g_error_copy(self->failure));
    (void) pthread_mutex_unlock(&self->mutex);
    return ok;
}

QueryDirectRun *
remote_start(QueryDirect *direct, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters, GBytes *row,
             GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryDirectRun) self = NULL;

    if (!check_language(command, error))
        return NULL;
    self = run_new(direct, command);
    if (!bind(self, parameters, row, error))
        return NULL;
    self->thread = g_thread_try_new("remote-query", run_in_thread, self, NULL);
    if (self->thread == NULL) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_NO_MEMORY, "no thread can be started for the request");
        return NULL;
    }
    return await_first(self, cancellable, error) ? g_steal_pointer(&self) : NULL;
}

/* Its run ends with the answer. */
gboolean
remote_update(QueryDirect *direct, const QueryCommand *command, const QueryParameters *parameters, GBytes *row,
              GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryDirectRun) run = remote_start(direct, command, NULL, parameters, row, cancellable, error);

    return run != NULL;
}
