/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Job objects. Found through a fallback vtable, so that a job is a hash table's entry and not a registration.
 *
 * Live figures come from the call's QdJobProgress, which its thread writes with atomics; the end copies them.
 */
#include "daemon/bus/bus-job.h"

#include <time.h>

#include "daemon/base/error.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-private.h"
#include "daemon/call/call.h"

#define JOB_PREFIX QD_BUS_PATH "/job"
#define KEEP_USEC (60 * UINT64_C(1000000))

typedef struct Job {
    QdBusJobs *jobs;
    char *path;
    char *owner;  /* (nullable) unique name; NULL on a connection without a bus */
    QdCall *call; /* (nullable) while it runs */
    char *kind;   /* (owned) */
    const char *state;
    const char *error_name;
    char *error_message;
    GPtrArray *messages; /* (nullable) of char* */
    guint64 n_rows;
    guint64 n_bytes;
    guint64 n_bytes_total;
    gint64 started_usec;
    guint n_revocations; /* of its client's grants, when it began */
    gboolean orphaned;   /* its owner left: goes away with its end */
    sd_event_source *timer;
} Job;

struct QdBusJobs {
    QdBusService *service;
    GHashTable *jobs; /* path → Job, owned */
    guint64 last_id;
    guint n_running;
    sd_bus_slot *vtable_slot;
    sd_bus_slot *enumerator_slot;
};

static void
job_free(gpointer data)
{
    Job *self = data;

    g_assert(self->call == NULL);
    sd_event_source_disable_unref(self->timer);
    g_free(self->path);
    g_free(self->owner);
    g_free(self->error_message);
    g_free(self->kind);
    g_clear_pointer(&self->messages, g_ptr_array_unref);
    g_free(self);
}

static void
job_forget(Job *self)
{
    QdBusService *service = self->jobs->service;

    g_hash_table_remove(self->jobs->jobs, self->path);
    if (service->hooks.activity != NULL)
        service->hooks.activity(service->hooks.user_data);
}

static int
on_kept_long_enough(sd_event_source *source, uint64_t usec, void *user_data)
{
    job_forget(user_data);
    return 0;
}

static void
job_update_figures(Job *self)
{
    const QdJobProgress *progress;

    if (self->call == NULL)
        return;

    progress = &self->call->progress;
    self->n_rows = __atomic_load_n(&progress->rows_done, __ATOMIC_RELAXED);
    self->n_bytes = __atomic_load_n(&progress->bytes_done, __ATOMIC_RELAXED);
    self->n_bytes_total = __atomic_load_n(&progress->bytes_total, __ATOMIC_RELAXED);
}

static void
job_send_finished(const Job *self)
{
    sd_bus_message *signal = NULL;
    int r;

    r = sd_bus_message_new_signal(self->jobs->service->bus, &signal, self->path, QD_BUS_JOB_INTERFACE, "Finished");
    if (r >= 0 && self->owner != NULL)
        r = sd_bus_message_set_destination(signal, self->owner);
    if (r >= 0)
        r = sd_bus_message_append(signal, "sttss", self->state, self->n_rows, self->n_bytes, self->error_name, self->error_message);
    /* Fails when the connection is gone, and the owner with it. */
    if (r >= 0)
        (void) sd_bus_send(self->jobs->service->bus, signal, NULL);
    sd_bus_message_unref(signal);
}

/* A job that was cancelled since a grant was taken back says so. */
static void
replace_error(const Job *self, QdCall *call)
{
    g_autoptr(GError) denial = NULL;

    if (call->result.error == NULL || qd_error_get_code(call->result.error) != QW_ERROR_CANCELLED ||
        qd_client_check_kept(call->client, self->n_revocations, &denial))
        return;
    g_clear_error(&call->result.error);
    call->result.error = g_steal_pointer(&denial);
}

static void
job_set_end(Job *self, QdCall *call)
{
    replace_error(self, call);
    job_update_figures(self);
    self->n_rows = MAX(self->n_rows, call->result.n_rows);
    self->n_bytes = MAX(self->n_bytes, call->result.n_bytes);
    self->messages = g_ptr_array_ref(call->result.messages);
    self->state = "finished";
    if (call->result.error != NULL) {
        QwError code = qd_error_get_code(call->result.error);

        self->state = code == QW_ERROR_CANCELLED ? "cancelled" : "failed";
        self->error_name = qw_error_get_dbus_name(code);
        g_free(self->error_message);
        self->error_message = qd_bus_make_text(call->result.error->message, strlen(call->result.error->message));
    }
}

static void
on_done(QdCall *call, void *user_data)
{
    Job *self = user_data;

    qd_bus_call_log(call, self->owner, self->started_usec);
    job_set_end(self, call);
    self->call = qd_call_free(self->call);
    self->jobs->n_running--;

    if (!self->orphaned)
        job_send_finished(self);
    if (self->orphaned || sd_event_add_time_relative(self->jobs->service->event, &self->timer, CLOCK_MONOTONIC, KEEP_USEC, 0,
                                                     on_kept_long_enough, self) < 0)
        job_forget(self);
}

void
qd_bus_jobs_start(QdBusJobs *self, sd_bus_message *message, QdClient *client, QdCall *call, gint64 started_usec)
{
    Job *job = g_new0(Job, 1);

    job->jobs = self;
    job->path = g_strdup_printf(JOB_PREFIX "/%" G_GUINT64_FORMAT, ++self->last_id);
    job->owner = g_strdup(sd_bus_message_get_sender(message));
    job->call = call;
    job->kind = g_ascii_strdown(call->class->name, -1);
    job->state = "running";
    job->error_name = "";
    job->error_message = g_strdup("");
    job->started_usec = started_usec;
    g_hash_table_insert(self->jobs, job->path, job);
    self->n_running++;

    call->client = qd_client_ref(client);
    job->n_revocations = qd_client_get_n_revocations(client);
    call->done = on_done;
    call->user_data = job;
    /* The path is known before the end can be reported. A caller that is gone will have its job cancelled. */
    (void) qd_bus_note_sent(message, sd_bus_reply_method_return(message, "o", job->path));
    qd_engine_submit(self->service->engine, call);
}

void
qd_bus_jobs_cancel(QdBusJobs *self, const char *owner)
{
    g_autoptr(GList) jobs = g_hash_table_get_values(self->jobs);

    for (GList *link = jobs; link != NULL; link = link->next) {
        Job *job = link->data;

        if (owner != NULL && g_strcmp0(job->owner, owner[0] != '\0' ? owner : NULL) != 0)
            continue;
        job->orphaned = job->orphaned || owner != NULL;
        if (job->call != NULL)
            qd_engine_cancel(self->service->engine, job->call);
        else if (job->orphaned)
            job_forget(job);
    }
}

void
qd_bus_jobs_check_access(QdBusJobs *self)
{
    g_autoptr(GList) jobs = g_hash_table_get_values(self->jobs);

    for (GList *link = jobs; link != NULL; link = link->next) {
        const Job *job = link->data;

        if (job->call != NULL && !qd_client_check_kept(job->call->client, job->n_revocations, NULL))
            qd_engine_cancel(self->service->engine, job->call);
    }
}

static int
handle_cancel(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    Job *self = userdata;

    if (self->call != NULL)
        qd_engine_cancel(self->jobs->service->engine, self->call);
    return qd_bus_note_sent(message, sd_bus_reply_method_return(message, NULL));
}

static int
get_text(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
         sd_bus_error *ret_error)
{
    const Job *self = userdata;

    if (g_str_equal(property, "Kind"))
        return sd_bus_message_append(reply, "s", self->kind);
    if (g_str_equal(property, "State"))
        return sd_bus_message_append(reply, "s", self->state);
    if (g_str_equal(property, "ErrorName"))
        return sd_bus_message_append(reply, "s", self->error_name);

    return qd_bus_append_text(reply, self->error_message);
}

static int
get_figure(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
           sd_bus_error *ret_error)
{
    Job *self = userdata;

    job_update_figures(self);
    if (g_str_equal(property, "RowsDone"))
        return sd_bus_message_append(reply, "t", self->n_rows);
    if (g_str_equal(property, "BytesDone"))
        return sd_bus_message_append(reply, "t", self->n_bytes);

    return sd_bus_message_append(reply, "t", self->n_bytes_total);
}

static int
get_messages(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
             sd_bus_error *ret_error)
{
    const Job *self = userdata;
    int r = sd_bus_message_open_container(reply, 'a', "s");

    for (guint i = 0; r >= 0 && self->messages != NULL && i < self->messages->len; i++)
        r = qd_bus_append_text(reply, self->messages->pdata[i]);
    return r < 0 ? r : sd_bus_message_close_container(reply);
}

static gboolean
is_owner(const Job *self, sd_bus *bus)
{
    sd_bus_message *message = sd_bus_get_current_message(bus);

    return message == NULL || g_strcmp0(sd_bus_message_get_sender(message), self->owner) == 0;
}

static int
find_job(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *ret_error)
{
    QdBusJobs *self = userdata;
    Job *job = g_hash_table_lookup(self->jobs, path);

    if (job == NULL || !is_owner(job, bus))
        return 0;

    *ret_found = job;
    return 1;
}

/* For introspection: a caller sees its own jobs. sd-bus frees the strings with free(). */
static int
enumerate_jobs(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *ret_error)
{
    QdBusJobs *self = userdata;
    char **nodes = calloc(g_hash_table_size(self->jobs) + 1, sizeof *nodes);
    GHashTableIter iter;
    gpointer value;
    guint n = 0;

    if (nodes == NULL)
        return -ENOMEM;

    g_hash_table_iter_init(&iter, self->jobs);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (is_owner(value, bus))
            nodes[n++] = strdup(((Job *) value)->path);

    *ret_nodes = nodes;
    return 0;
}

QdBusJobs *
qd_bus_jobs_new(QdBusService *service, GError **error)
{
    g_autoptr(QdBusJobs) self = g_new0(QdBusJobs, 1);
    int r;

    self->service = service;
    self->jobs = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, job_free);
    r = sd_bus_add_fallback_vtable(service->bus, &self->vtable_slot, JOB_PREFIX, QD_BUS_JOB_INTERFACE, qd_bus_job_vtable, find_job,
                                   self);
    if (r >= 0)
        r = sd_bus_add_node_enumerator(service->bus, &self->enumerator_slot, JOB_PREFIX, enumerate_jobs, self);
    if (r < 0) {
        qd_error_set_errno(error, -r, "cannot put jobs on the bus");
        return NULL;
    }

    return g_steal_pointer(&self);
}

QdBusJobs *
qd_bus_jobs_free(QdBusJobs *self)
{
    if (self == NULL)
        return NULL;

    sd_bus_slot_unref(self->vtable_slot);
    sd_bus_slot_unref(self->enumerator_slot);
    g_hash_table_unref(self->jobs);
    g_free(self);
    return NULL;
}

guint
qd_bus_jobs_get_n_running(const QdBusJobs *self)
{
    return self->n_running;
}

guint
qd_bus_jobs_get_n(const QdBusJobs *self)
{
    return g_hash_table_size(self->jobs);
}

const sd_bus_vtable qd_bus_job_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Cancel", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, handle_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_ARGS("Finished", SD_BUS_ARGS("s", state, "t", rows, "t", bytes, "s", error_name, "s", error_message), 0),
    SD_BUS_PROPERTY("Kind", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("State", "s", get_text, 0, 0),
    SD_BUS_PROPERTY("RowsDone", "t", get_figure, 0, 0),
    SD_BUS_PROPERTY("BytesDone", "t", get_figure, 0, 0),
    SD_BUS_PROPERTY("BytesTotal", "t", get_figure, 0, 0),
    SD_BUS_PROPERTY("ErrorName", "s", get_text, 0, 0),
    SD_BUS_PROPERTY("ErrorMessage", "s", get_text, 0, 0),
    SD_BUS_PROPERTY("Messages", "as", get_messages, 0, 0),
    SD_BUS_VTABLE_END,
};
