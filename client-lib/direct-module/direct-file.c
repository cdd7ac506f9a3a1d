/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a database file in the application, and noticing when another file has taken its place.
 *
 * The application may use SQLite for databases of its own: nothing of SQLite that counts for the whole process is touched here.
 * So the limits on SQLite's memory, which the daemon's allocator keeps, do not hold.
 */
#include "client-lib/direct-module/direct-private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-mutex.h"
#include "client-lib/query-client.h"
#include "daemon/base/error.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/sqlite/file-check.h"

/* One stat() a second: in each execution it would be a tenth of a look-up by key. */
#define FILE_CHECK_USEC 1000000

void
direct_propagate(GError **error, GError *failure)
{
    g_autoptr(GError) owned = failure;
    QwErrorBody body = { .code = qd_error_get_code(owned),
                         .message = owned->message,
                         .n_message_bytes = (uint32_t) strlen(owned->message) };
    GError *told = NULL;
    QueryConstraint *constraint = NULL;

    query_error_set_from_wire(&told, &body);
    for (char **detail = qd_error_get_details(owned); detail != NULL && *detail != NULL; detail += 2)
        constraint = query_constraint_add(constraint, detail[0], detail[1]);
    query_error_take_constraint(told, constraint);
    g_propagate_error(error, told);
}

/* What keeps the file from being opened, or read at all, is not the statement's fault: the daemon may still serve it. */
static void
propagate_open_error(GError **error, const char *path, GError *failure)
{
    g_autoptr(GError) owned = failure;
    QwError code = qd_error_get_code(owned);

    if (code == QW_ERROR_INTERNAL)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE,
                    "cannot read database '%s' directly: %s; the daemon may serve it all the same", path, owned->message);
    else if (code == QW_ERROR_READ_ONLY || code == QW_ERROR_ACCESS_DENIED)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE,
                    "cannot read database '%s' directly: %s. Without rights to write its folder, its -wal and -shm files have to "
                    "be there; the daemon may serve it all the same",
                    path, owned->message);
    else
        direct_propagate(error, g_steal_pointer(&owned));
}

/* Opening --------------------------------------------------------------------------------------------------------------- */

static gboolean
look_at_file(const char *path, struct stat *ret_st, GError **error)
{
    if (stat(path, ret_st) < 0) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, "cannot open database '%s': %s", path, g_strerror(errno));
        return FALSE;
    }
    if (!S_ISREG(ret_st->st_mode)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, "cannot open database '%s': it is not a regular file", path);
        return FALSE;
    }
    return TRUE;
}

void
direct_file_unref(QueryDirectFile *file)
{
    if (file == NULL || !g_atomic_int_dec_and_test(&file->ref_count))
        return;

    qd_pool_free(file->pool);
    g_free(file);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirectFile, direct_file_unref)

/* Reads the file for the first time, too. */
static gboolean
check_content(QueryDirect *self, QueryDirectFile *file, GError **error)
{
    g_autofree char *directory = g_path_get_dirname(self->path);
    QdReader *reader;
    gboolean ok;

    if (!qd_file_check_system(directory, error))
        return FALSE;
    reader = qd_pool_lease(file->pool, self->client, NULL, error);
    if (reader == NULL)
        return FALSE;

    ok = qd_file_check_version(reader->connection, self->path, error);
    qd_pool_release(file->pool, reader);
    return ok;
}

static QueryDirectFile *
open_file(QueryDirect *self, const struct stat *st, GError **error)
{
    g_autoptr(QueryDirectFile) file = g_new0(QueryDirectFile, 1);
    QdConnectionInfo info = { .path = self->path, .in_application = TRUE };
    g_autoptr(GError) failure = NULL;

    file->ref_count = 1;
    file->device = st->st_dev;
    file->inode = st->st_ino;
    file->pool = qd_pool_new(&info, &self->limits);
    if (!check_content(self, file, &failure)) {
        propagate_open_error(error, self->path, g_steal_pointer(&failure));
        return NULL;
    }
    return g_steal_pointer(&file);
}

/* An open file's number is not used again: our connection to the old one keeps it. */
static gboolean
follow_file(QueryDirect *self, GError **error)
{
    QueryDirectFile *file;
    struct stat st;

    if (!look_at_file(self->path, &st, error))
        return FALSE;
    if (self->file != NULL && self->file->device == st.st_dev && self->file->inode == st.st_ino)
        return TRUE;

    file = open_file(self, &st, error);
    if (file == NULL)
        return FALSE;
    direct_file_unref(self->file);
    self->file = file;
    return TRUE;
}

/* To a few milliseconds, for a tenth of the price. */
static guint64
get_coarse_usec(void)
{
    struct timespec now = { 0 };

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (guint64) now.tv_sec * G_USEC_PER_SEC + (guint64) now.tv_nsec / 1000;
}

QueryDirectFile *
direct_get_file(QueryDirect *self, GError **error)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    guint64 now = get_coarse_usec();

    if (now >= self->next_check_usec) {
        if (!follow_file(self, error))
            return NULL;
        self->next_check_usec = now + self->file_check_usec;
    }
    g_atomic_int_inc(&self->file->ref_count);
    return self->file;
}

QueryDirect *
direct_open(const char *path, GVariant *options, GError **error)
{
    g_autoptr(QueryDirect) self = g_new0(QueryDirect, 1);
    g_autofree char *directory = path == NULL ? query_store_get_folder(NULL) : NULL;

    self->head.table = &query_direct_table;
    self->ref_count = 1;
    self->path = path != NULL ? g_strdup(path) : g_build_filename(directory, "queryd.db", NULL);
    qd_limits_init(&self->limits);
    self->client = qd_client_new("direct");
    self->snapshots = direct_snapshots_new();
    self->file_check_usec = FILE_CHECK_USEC;
    (void) pthread_mutex_init(&self->mutex, NULL);
    if (!follow_file(self, error))
        return NULL;

    return g_steal_pointer(&self);
}

QueryDirect *
direct_ref(QueryDirect *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

const char *
direct_get_path(const QueryDirect *self)
{
    return self->path;
}

void
direct_unref(QueryDirect *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    direct_snapshots_free(self->snapshots);
    direct_file_unref(self->file);
    qd_client_unref(self->client);
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self->spare_page);
    g_free(self->path);
    g_free(self);
}

void
direct_set_times(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec)
{
    self->limits.values[QD_LIMIT_SNAPSHOT_AGE_MSEC] = snapshot_age_msec;
    self->file_check_usec = 1000 * file_check_msec;
    self->next_check_usec = 0;
}

/* Statements ------------------------------------------------------------------------------------------------------------ */

QuerySchema *
direct_create_schema(const QdShape *shape)
{
    QuerySchema *schema = query_schema_new(shape->n_columns, shape->n_parameters);

    for (guint i = 0; i < shape->n_columns; i++)
        query_schema_set_column(schema, i, qd_shape_get_column_name(shape, i), qd_shape_get_column_type(shape, i));
    for (guint i = 0; i < shape->n_parameters; i++) {
        const char *name = qd_shape_get_parameter_name(shape, i);

        query_schema_set_parameter(schema, i, name[0] != '\0' ? name : NULL);
    }
    schema->is_sparql = shape->plan != NULL;
    schema->is_stable = shape->is_stable;
    schema->signature = shape->signature;
    return schema;
}

QdRun *
direct_compile(QueryDirect *self, QueryDirectFile *file, const QueryCommand *command, gboolean is_described, GError **error)
{
    QdRunText what = { .text = command->text,
                       .n_bytes = strlen(command->text),
                       .base = command->base,
                       .dataset = command->dataset,
                       .is_described = is_described,
                       .is_executed = !is_described };

    if (!qd_language_from_name(command->language, &what.language, error))
        return NULL;
    if (command->writes) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "a direct connection only reads: updates go through the daemon");
        return NULL;
    }
    return qd_run_new(file->pool, self->client, NULL, &what, QD_POLICY_READ, &self->limits, error);
}

QuerySchema *
direct_describe(QueryDirect *self, const QueryCommand *command, GError **error)
{
    g_autoptr(QueryDirectFile) file = direct_get_file(self, error);
    g_autoptr(GError) failure = NULL;
    g_autoptr(QdRun) run = NULL;
    QdShape shape;

    if (file == NULL)
        return NULL;
    run = direct_compile(self, file, command, TRUE, &failure);
    if (run == NULL) {
        direct_propagate(error, g_steal_pointer(&failure));
        return NULL;
    }
    shape = qd_run_get_shape(run);
    return direct_create_schema(&shape);
}
