/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads on their way out: one query gives what is in rows. Files are opened here where the store's folder can be seen: a
 * file that has the name and the size has the content. What cannot be opened, by a sandboxed application or because it was
 * replaced meanwhile, comes as a descriptor from the daemon.
 *
 * Place: methods of QueryConnection.
 */
#include "client-lib/query-payload.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"
#include "client-lib/direct/query-direct.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-payload-private.h"

/* Below, reading a file costs less than mapping it. */
#define MAP_BYTES (64 * 1024)
/* So much of a mapping is filled at once, which is cheaper than a fault for each few pages. */
#define POPULATE_BYTES (4 * 1024 * 1024)
/* The daemon's default of payloads_per_call; when it allows fewer, half as many are asked for. */
#define FDS_PER_CALL 16u
/* Calls whose descriptors may wait for their turn. */
#define CALLS_AHEAD 3u

static const char load_text[] = "SELECT j.value, p.content, p.size, lower(hex(p.hash)) FROM json_each(?1) j"
                                " LEFT JOIN queryd_payload p ON p.id=j.value ORDER BY j.key";

static void
set_errno(GError **error, const char *what)
{
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_INTERNAL, "%s: %s", what, g_strerror(errno));
}

typedef struct Mapping {
    void *data;
    gsize n_bytes;
} Mapping;

static void
mapping_free(gpointer data)
{
    Mapping *self = data;

    (void) munmap(self->data, self->n_bytes);
    g_free(self);
}

static GBytes *
map_file(int fd, gsize n_bytes, GError **error)
{
    int flags = MAP_PRIVATE | (n_bytes <= POPULATE_BYTES ? MAP_POPULATE : 0);
    void *data = mmap(NULL, n_bytes, PROT_READ, flags, fd, 0);
    Mapping *mapping;

    if (data == MAP_FAILED) {
        set_errno(error, "cannot map a payload");
        return NULL;
    }
    mapping = g_new(Mapping, 1);
    *mapping = (Mapping){ data, n_bytes };
    return g_bytes_new_with_free_func(data, n_bytes, mapping_free, mapping);
}

/* (transfer full) (nullable): consumes @fd */
static GBytes *
load_file(int fd, GError **error)
{
    GBytes *content = NULL;
    struct stat st;

    if (fstat(fd, &st) < 0) {
        set_errno(error, "cannot read a payload");
    } else if (st.st_size < MAP_BYTES) {
        g_autofree char *data = g_malloc(MAX((gsize) st.st_size, 1));

        if (pread(fd, data, (size_t) st.st_size, 0) == st.st_size)
            content = g_bytes_new_take(g_steal_pointer(&data), (gsize) st.st_size);
        else
            set_errno(error, "cannot read a payload");
    } else {
        content = map_file(fd, (gsize) st.st_size, error);
    }
    (void) close(fd);
    return content;
}

static GUnixFDList *
open_by_bus(QueryConnection *self, const gint64 *ids, gsize n_ids, GCancellable *cancellable, GError **error)
{
    GVariant *array = g_variant_new_fixed_array(G_VARIANT_TYPE_INT64, ids, n_ids, sizeof *ids);
    g_autoptr(GUnixFDList) fds = NULL;
    g_autoptr(GVariant) reply = query_bus_call(query_connection_get_bus(self),
                                               &(QueryBusCall){ .interface = QUERY_BUS_INTERFACE,
                                                                .method = "OpenPayloads",
                                                                .arguments = g_variant_new("(@ax)", array),
                                                                .reply_type = "(ah)",
                                                                .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                                                                .fd = -1 },
                                               &fds, cancellable, error);

    if (reply == NULL)
        return NULL;
    return query_bus_check_descriptors(fds, (guint) n_ids, "OpenPayloads", error) ? g_steal_pointer(&fds) : NULL;
}

int
query_connection_open_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error)
{
    g_autoptr(GUnixFDList) fds = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), -1);

    fds = open_by_bus(self, &id, 1, cancellable, error);
    return fds != NULL ? query_bus_take_descriptor(fds, 0, "OpenPayloads", error) : -1;
}

GInputStream *
query_connection_read_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error)
{
    int fd = query_connection_open_payload(self, id, cancellable, error);

    return fd >= 0 ? g_unix_input_stream_new(fd, TRUE) : NULL;
}

/* What is not in a row: read from a file. */
typedef struct Absent {
    gint64 id;
    gsize index; /* in the result */
    gint64 size;
    char hash[65];
} Absent;

/* By the bus --------------------------------------------------------------------------------------------------------------- */

/* A thread asks for the next descriptors while the caller reads from the last ones. */
typedef struct Opener {
    QueryConnection *connection;
    const GArray *absent;
    GCancellable *cancellable;
    guint n_per_call; /* in each of its calls */
    guint n_opened;   /* of @absent, by those calls */
    pthread_t thread;
    gboolean has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    GQueue opened; /* of GUnixFDList, in the order of @absent */
    GError *error; /* of the call after those */
    gboolean stopping;
} Opener;

/* Of the next part of @absent. */
static GUnixFDList *
open_part(Opener *self, GError **error)
{
    for (;;) {
        guint n = MIN(self->n_per_call, self->absent->len - self->n_opened);
        g_autoptr(GError) failure = NULL;
        gint64 ids[FDS_PER_CALL];
        GUnixFDList *fds;

        for (guint i = 0; i < n; i++)
            ids[i] = g_array_index(self->absent, Absent, self->n_opened + i).id;
        fds = open_by_bus(self->connection, ids, n, self->cancellable, &failure);
        if (fds != NULL) {
            self->n_opened += n;
            return fds;
        }
        if (n == 1 || !g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_TOO_BIG)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return NULL;
        }
        self->n_per_call = n / 2;
    }
}

static void *
opener_main(void *data)
{
    Opener *self = data;
    gboolean goes_on = TRUE;

    while (self->n_opened < self->absent->len && goes_on) {
        g_autoptr(GError) error = NULL;
        GUnixFDList *fds = open_part(self, &error);

        (void) pthread_mutex_lock(&self->mutex);
        while (self->opened.length >= CALLS_AHEAD && !self->stopping)
            (void) pthread_cond_wait(&self->cond, &self->mutex);
        goes_on = fds != NULL && !self->stopping;
        if (fds != NULL)
            g_queue_push_tail(&self->opened, fds);
        else
            self->error = g_steal_pointer(&error);
        (void) pthread_cond_signal(&self->cond);
        (void) pthread_mutex_unlock(&self->mutex);
    }
    return NULL;
}

static void
opener_init(Opener *self)
{
    (void) pthread_mutex_init(&self->mutex, NULL);
    (void) pthread_cond_init(&self->cond, NULL);
    g_queue_init(&self->opened);
    if (self->absent->len > FDS_PER_CALL)
        self->has_thread = pthread_create(&self->thread, NULL, opener_main, self) == 0;
}

static void
opener_clear(Opener *self)
{
    (void) pthread_mutex_lock(&self->mutex);
    self->stopping = TRUE;
    (void) pthread_cond_signal(&self->cond);
    (void) pthread_mutex_unlock(&self->mutex);
    if (self->has_thread)
        (void) pthread_join(self->thread, NULL);
    g_queue_clear_full(&self->opened, g_object_unref);
    g_clear_error(&self->error);
    (void) pthread_cond_destroy(&self->cond);
    (void) pthread_mutex_destroy(&self->mutex);
}

/* (transfer full) (nullable) */
static GUnixFDList *
opener_next(Opener *self, GError **error)
{
    GUnixFDList *fds;

    if (!self->has_thread)
        return open_part(self, error);

    (void) pthread_mutex_lock(&self->mutex);
    while (self->opened.length == 0 && self->error == NULL)
        (void) pthread_cond_wait(&self->cond, &self->mutex);
    fds = g_queue_pop_head(&self->opened);
    if (fds == NULL)
        g_propagate_error(error, g_steal_pointer(&self->error));
    (void) pthread_cond_signal(&self->cond);
    (void) pthread_mutex_unlock(&self->mutex);
    return fds;
}

/* Consumes what is in @fds. */
static gboolean
load_part(const Absent *part, GUnixFDList *fds, GPtrArray *contents, guint *ret_n, GError **error)
{
    int n;
    g_autofree int *stolen = g_unix_fd_list_steal_fds(fds, &n);
    gboolean ok = TRUE;

    *ret_n = (guint) n;
    for (int i = 0; i < n; i++) {
        if (!ok) {
            (void) close(stolen[i]);
            continue;
        }
        contents->pdata[part[i].index] = load_file(stolen[i], error);
        ok = contents->pdata[part[i].index] != NULL;
    }
    return ok;
}

static gboolean
load_by_bus(QueryConnection *self, const GArray *absent, GPtrArray *contents, GCancellable *cancellable, GError **error)
{
    Opener opener = { .connection = self, .absent = absent, .cancellable = cancellable, .n_per_call = FDS_PER_CALL };
    guint n_loaded = 0;
    gboolean ok = TRUE;

    opener_init(&opener);
    while (n_loaded < absent->len && ok) {
        g_autoptr(GUnixFDList) fds = opener_next(&opener, error);
        guint n = 0;

        ok = fds != NULL && load_part(&g_array_index(absent, Absent, n_loaded), fds, contents, &n, error);
        n_loaded += n;
    }
    opener_clear(&opener);
    return ok;
}

/* From the folder ---------------------------------------------------------------------------------------------------------- */

int
query_payload_open_folder(QueryConnection *self, char **ret_path)
{
    QueryDirect *direct = query_connection_get_direct(self);
    const char *file = direct != NULL ? query_direct_get_path(direct) : NULL;
    g_autofree char *directory = NULL;

    *ret_path = NULL;
    if (direct != NULL && file == NULL) /* a remote store */
        return -1;
    if (file != NULL) {
        directory = g_path_get_dirname(file);
    } else {
        const char *store = query_bus_get_name(query_connection_get_bus(self)) + strlen(QUERY_BUS_INTERFACE);

        directory = query_store_get_folder(store[0] == '.' ? store + 1 : NULL);
    }
    *ret_path = g_build_filename(directory, "payload", NULL);
    return open(*ret_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Returns: -1 when there is no such file */
static int
open_file(int folder_fd, const Absent *part)
{
    int fd = openat(folder_fd, part->hash, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == part->size))
        return fd;
    (void) close(fd);
    return -1;
}

/* What cannot be opened stays in @absent. */
static gboolean
load_from_folder(int folder_fd, GArray *absent, GPtrArray *contents, GError **error)
{
    guint n_left = 0;

    for (guint i = 0; i < absent->len; i++) {
        const Absent *part = &g_array_index(absent, Absent, i);
        int fd = open_file(folder_fd, part);

        if (fd < 0) {
            g_array_index(absent, Absent, n_left++) = *part;
            continue;
        }
        contents->pdata[part->index] = load_file(fd, error);
        if (contents->pdata[part->index] == NULL)
            return FALSE;
    }
    g_array_set_size(absent, n_left);
    return TRUE;
}

/* Of a direct connection. FALSE without an error: another client may have replaced it meanwhile. */
static gboolean
fail_absent(const Absent *first, const char *path, gboolean retry, GError **error)
{
    if (!retry)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_CORRUPT,
                    "payload %" G_GINT64_FORMAT ": the payload file '%s/%s' is missing or damaged", first->id, path, first->hash);
    return FALSE;
}

static gboolean
load_files(QueryConnection *self, GArray *absent, GPtrArray *contents, gboolean retry, GCancellable *cancellable, GError **error)
{
    g_autofree char *path = NULL;
    gboolean ok = TRUE;
    int folder_fd;

    if (absent->len == 0)
        return TRUE;

    folder_fd = query_payload_open_folder(self, &path);
    if (folder_fd >= 0) {
        ok = load_from_folder(folder_fd, absent, contents, error);
        (void) close(folder_fd);
    }
    if (!ok || absent->len == 0)
        return ok;
    if (query_connection_get_direct(self) != NULL)
        return fail_absent(&g_array_index(absent, Absent, 0), path, retry, error);
    return load_by_bus(self, absent, contents, cancellable, error);
}

/* Contents of rows, and what is in files. */
static gboolean
read_rows(QueryCursor *cursor, GArray *absent, GPtrArray *contents, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gsize index = 0;

    while (query_cursor_next(cursor, cancellable, &failure)) {
        if (query_cursor_is_null(cursor, 2)) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "there is no payload %" G_GINT64_FORMAT,
                        query_cursor_get_int64(cursor, 0));
            return FALSE;
        }
        if (query_cursor_is_null(cursor, 1)) {
            Absent item = { .id = query_cursor_get_int64(cursor, 0), .index = index, .size = query_cursor_get_int64(cursor, 2) };

            g_strlcpy(item.hash, query_cursor_get_string(cursor, 3, NULL), sizeof item.hash);
            g_array_append_val(absent, item);
        } else if (index < contents->len) {
            contents->pdata[index] = query_cursor_get_bytes(cursor, 1);
        }
        index++;
    }
    if (failure != NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    return failure == NULL && index == contents->len;
}

static void
bytes_free(gpointer data)
{
    g_clear_pointer((GBytes **) &data, g_bytes_unref);
}

/* Returns: (transfer full): NULL on error; NULL without one when it should be tried again */
static GPtrArray *
load_once(QueryConnection *self, const char *json, gsize n_ids, gboolean retry, GCancellable *cancellable, GError **error)
{
    g_autoptr(GPtrArray) contents = g_ptr_array_new_with_free_func(bytes_free);
    g_autoptr(GArray) absent = g_array_new(FALSE, FALSE, sizeof(Absent));
    GVariantBuilder parameters = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    g_autoptr(QueryCursor) cursor = NULL;

    g_ptr_array_set_size(contents, (gint) n_ids);
    g_variant_builder_add(&parameters, "{sv}", "1", g_variant_new_string(json));
    cursor = query_connection_query(self, QUERY_LANGUAGE_SQL, load_text, g_variant_builder_end(&parameters), cancellable, error);
    if (cursor == NULL || !read_rows(cursor, absent, contents, cancellable, error))
        return NULL;
    return load_files(self, absent, contents, retry, cancellable, error) ? g_steal_pointer(&contents) : NULL;
}

GPtrArray *
query_connection_load_payloads(QueryConnection *self, const gint64 *ids, gsize n_ids, GCancellable *cancellable, GError **error)
{
    g_autoptr(GString) json = g_string_new("[");
    g_autoptr(GError) failure = NULL;
    GPtrArray *contents;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(ids != NULL || n_ids == 0, NULL);
    g_return_val_if_fail(n_ids <= G_MAXINT, NULL);

    if (n_ids == 0)
        return g_ptr_array_new_with_free_func(bytes_free);
    for (gsize i = 0; i < n_ids; i++)
        g_string_append_printf(json, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", ids[i]);
    g_string_append_c(json, ']');
    contents = load_once(self, json->str, n_ids, TRUE, cancellable, &failure);
    if (contents == NULL && failure == NULL)
        contents = load_once(self, json->str, n_ids, FALSE, cancellable, &failure);
    if (failure != NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    return contents;
}

GBytes *
query_connection_load_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error)
{
    g_autoptr(GPtrArray) contents = query_connection_load_payloads(self, &id, 1, cancellable, error);

    return contents != NULL ? g_steal_pointer((GBytes **) &contents->pdata[0]) : NULL;
}
