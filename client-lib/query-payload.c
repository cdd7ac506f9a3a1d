/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads in and out, over the channel or by descriptors.
 *
 * Place: methods of QueryConnection. Storing: small content is a BLOB in the row of a FETCH, larger goes as a memory file over the
 * bus, where the daemon reads it on threads of its own. Reading: one query gives what is in rows; files come as descriptors, or
 * are opened here on a direct connection.
 */
#include "client-lib/query-payload.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/query-direct.h"
#include "client-lib/query-error.h"

/* Above, a descriptor over the bus costs less than two copies through a socket (docs/decisions/payload-cut-off.md). */
#define CHANNEL_BYTES (32 * 1024)
/* Below, reading a file costs less than mapping it. */
#define MAP_BYTES (64 * 1024)
/* So much of a mapping is filled at once, which is cheaper than a fault for each few pages. */
#define POPULATE_BYTES (4 * 1024 * 1024)
#define SPOOL_BYTES (256 * 1024)
/* The daemon's default of payloads_per_call. */
#define FDS_PER_CALL 16

static const char store_text[] = "SELECT queryd_store_payload(?1, ?2)";
static const char replace_text[] = "SELECT queryd_replace_payload(?3, ?1, ?2)";
static const char load_text[] = "SELECT j.value, p.content, p.size, lower(hex(p.hash)) FROM json_each(?1) j"
                                " LEFT JOIN queryd_payload p ON p.id=j.value ORDER BY j.key";

static void
set_errno(GError **error, const char *what)
{
    int saved_errno = errno;

    g_set_error(error, QUERY_ERROR, saved_errno == ENOSPC ? QUERY_ERROR_DISK_FULL : QUERY_ERROR_INTERNAL, "%s: %s", what,
                g_strerror(saved_errno));
}

/* Storing --------------------------------------------------------------------------------------------------------------- */

/* What is stored where: of a new payload the id is 0. */
typedef struct Target {
    gint64 id;
    GVariant *options; /* (owned) */
} Target;

static Target *
target_new(gint64 id, GVariant *options)
{
    Target *self = g_new0(Target, 1);

    self->id = id;
    self->options = g_variant_ref_sink(options != NULL ? options : g_variant_new("a{sv}", NULL));
    return self;
}

static void
target_free(Target *self)
{
    g_variant_unref(self->options);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Target, target_free)

static const char *
get_durability_name(QueryConnection *self)
{
    return query_connection_get_durability(self) == QUERY_DURABILITY_RELAXED ? "relaxed" : "full";
}

/* What was not given, the connection says. (transfer floating) */
static GVariant *
build_options(QueryConnection *self, const Target *target)
{
    GVariantDict options;

    g_variant_dict_init(&options, target->options);
    if (!g_variant_dict_contains(&options, "durability"))
        g_variant_dict_insert(&options, "durability", "s", get_durability_name(self));
    return g_variant_dict_end(&options);
}

/* @fd: borrowed. Returns: the id, -1 on error */
static gint64
store_fd(QueryConnection *self, const Target *target, int fd, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) reply = NULL;
    QueryBusCall call = { .interface = QUERY_BUS_INTERFACE, .timeout_msec = G_MAXINT, .fd = fd };
    gint64 id = target->id;

    call.method = id == 0 ? "StorePayload" : "ReplacePayload";
    call.reply_type = id == 0 ? "(x)" : "()";
    call.arguments = id == 0 ? g_variant_new("(h@a{sv})", 0, build_options(self, target))
                             : g_variant_new("(xh@a{sv})", id, 0, build_options(self, target));
    reply = query_bus_call(query_connection_get_bus(self), &call, NULL, cancellable, error);
    if (reply == NULL)
        return -1;
    if (id == 0)
        g_variant_get(reply, "(x)", &id);
    return id;
}

/* Nothing is asked for that an update on a channel cannot have. */
static gboolean
fits_channel(QueryConnection *self, const Target *target, gsize n_bytes)
{
    gsize n_left = g_variant_n_children(target->options);
    const char *durability;

    if (g_variant_lookup(target->options, "media_type", "s", NULL))
        n_left--;
    if (g_variant_lookup(target->options, "durability", "&s", &durability) && g_str_equal(durability, get_durability_name(self)))
        n_left--;
    return n_bytes <= CHANNEL_BYTES && n_left == 0;
}

static QueryParameters *
build_parameters(const Target *target, GBytes *content)
{
    QueryParameters *parameters = query_parameters_new();
    QwValue value = { .type = QW_TYPE_BLOB };
    GVariant *media_type = g_variant_lookup_value(target->options, "media_type", G_VARIANT_TYPE_STRING);
    gsize n;

    value.data = g_bytes_get_data(content, &n);
    value.n_bytes = (uint32_t) n;
    query_parameters_set(parameters, 0, &value, g_bytes_ref(content), (GDestroyNotify) g_bytes_unref);
    value = (QwValue){ .type = QW_TYPE_NULL };
    if (media_type != NULL) {
        value = (QwValue){ .type = QW_TYPE_TEXT, .data = g_variant_get_string(media_type, &n) };
        value.n_bytes = (uint32_t) n;
    }
    query_parameters_set(parameters, 1, &value, media_type, media_type != NULL ? (GDestroyNotify) g_variant_unref : NULL);
    if (target->id != 0) {
        value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = target->id };
        query_parameters_set(parameters, 2, &value, NULL, NULL);
    }
    return parameters;
}

static gint64
store_by_channel(QueryConnection *self, const Target *target, GBytes *content, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryPlan)
        plan = query_connection_create_plan(self, QUERY_LANGUAGE_SQL, target->id == 0 ? store_text : replace_text, TRUE, error);
    g_autoptr(QueryRequest) request = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    gint64 id = -1;

    if (plan == NULL)
        return -1;
    request = query_request_new(self, QUERY_REQUEST_ROWS, plan, build_parameters(target, content), NULL, NULL);
    if (!query_request_run(request, cancellable, error))
        return -1;
    cursor = query_cursor_new(self, request, NULL);
    if (!query_cursor_next(cursor, cancellable, error))
        return -1;
    id = query_cursor_get_int64(cursor, 0);
    /* to its end, so that the channel can be used again */
    return !query_cursor_next(cursor, cancellable, error) && query_cursor_get_n_rows(cursor) == 1 ? id : -1;
}

static gboolean
write_all(int fd, const void *data, gsize n_bytes)
{
    const char *p = data;

    while (n_bytes > 0) {
        ssize_t n = write(fd, p, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FALSE;
        p += n;
        n_bytes -= (gsize) n;
    }
    return TRUE;
}

static gint64
store_bytes(QueryConnection *self, const Target *target, GBytes *content, GCancellable *cancellable, GError **error)
{
    gsize n_bytes;
    const void *data = g_bytes_get_data(content, &n_bytes);
    gint64 id = -1;
    int fd;

    if (fits_channel(self, target, n_bytes))
        return store_by_channel(self, target, content, cancellable, error);

    fd = memfd_create("query-payload", MFD_CLOEXEC);
    if (fd < 0 || !write_all(fd, data, n_bytes))
        set_errno(error, "cannot put a payload into shared memory");
    else
        id = store_fd(self, target, fd, cancellable, error);
    if (fd >= 0)
        (void) close(fd);
    return id;
}

/* (transfer full): a file without a name that holds the rest of the stream, after @start */
static int
spool(GInputStream *stream, GByteArray *start, GCancellable *cancellable, GError **error)
{
    g_autofree char *buffer = g_malloc(SPOOL_BYTES);
    int fd = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    gboolean ok = fd >= 0 && write_all(fd, start->data, start->len);
    gssize n = 1;

    while (ok && n > 0) {
        n = g_input_stream_read(stream, buffer, SPOOL_BYTES, cancellable, error);
        ok = n > 0 && write_all(fd, buffer, (gsize) n);
    }
    if (n == 0)
        return fd;
    if (n > 0)
        set_errno(error, "cannot write a temporary file");
    if (fd >= 0)
        (void) close(fd);
    return -1;
}

static gint64
store_stream(QueryConnection *self, const Target *target, GInputStream *stream, GCancellable *cancellable, GError **error)
{
    g_autoptr(GByteArray) start = g_byte_array_sized_new(CHANNEL_BYTES + 1);
    gsize n_read;
    gint64 id;
    int fd;

    g_byte_array_set_size(start, CHANNEL_BYTES + 1);
    if (!g_input_stream_read_all(stream, start->data, start->len, &n_read, cancellable, error))
        return -1;
    g_byte_array_set_size(start, (guint) n_read);
    if (n_read <= CHANNEL_BYTES) {
        g_autoptr(GBytes) content = g_byte_array_free_to_bytes(g_steal_pointer(&start));

        return store_bytes(self, target, content, cancellable, error);
    }
    fd = spool(stream, start, cancellable, error);
    if (fd < 0)
        return -1;
    id = store_fd(self, target, fd, cancellable, error);
    (void) close(fd);
    return id;
}

gint64
query_connection_store_payload(QueryConnection *self, GBytes *content, GVariant *options, GCancellable *cancellable, GError **error)
{
    g_autoptr(Target) target = target_new(0, options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), -1);
    g_return_val_if_fail(content != NULL, -1);
    g_return_val_if_fail(g_variant_is_of_type(target->options, G_VARIANT_TYPE_VARDICT), -1);

    return store_bytes(self, target, content, cancellable, error);
}

gint64
query_connection_store_payload_from_fd(QueryConnection *self, int fd, GVariant *options, GCancellable *cancellable, GError **error)
{
    g_autoptr(Target) target = target_new(0, options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), -1);
    g_return_val_if_fail(fd >= 0, -1);
    g_return_val_if_fail(g_variant_is_of_type(target->options, G_VARIANT_TYPE_VARDICT), -1);

    return store_fd(self, target, fd, cancellable, error);
}

gint64
query_connection_store_payload_from_stream(QueryConnection *self, GInputStream *stream, GVariant *options,
                                           GCancellable *cancellable, GError **error)
{
    g_autoptr(Target) target = target_new(0, options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), -1);
    g_return_val_if_fail(G_IS_INPUT_STREAM(stream), -1);
    g_return_val_if_fail(g_variant_is_of_type(target->options, G_VARIANT_TYPE_VARDICT), -1);

    return store_stream(self, target, stream, cancellable, error);
}

gboolean
query_connection_replace_payload(QueryConnection *self, gint64 id, GBytes *content, GVariant *options, GCancellable *cancellable,
                                 GError **error)
{
    g_autoptr(Target) target = target_new(id, options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(id > 0, FALSE);
    g_return_val_if_fail(content != NULL, FALSE);
    g_return_val_if_fail(g_variant_is_of_type(target->options, G_VARIANT_TYPE_VARDICT), FALSE);

    return store_bytes(self, target, content, cancellable, error) > 0;
}

/**
 * query_connection_replace_payload_from_fd:
 * @self: a connection
 * @id: of a payload
 * @fd: see query_connection_store_payload_from_fd()
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
gboolean
query_connection_replace_payload_from_fd(QueryConnection *self, gint64 id, int fd, GVariant *options, GCancellable *cancellable,
                                         GError **error)
{
    g_autoptr(Target) target = target_new(id, options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(id > 0, FALSE);
    g_return_val_if_fail(fd >= 0, FALSE);
    g_return_val_if_fail(g_variant_is_of_type(target->options, G_VARIANT_TYPE_VARDICT), FALSE);

    return store_fd(self, target, fd, cancellable, error) > 0;
}

/**
 * query_connection_replace_payload_from_stream:
 * @self: a connection
 * @id: of a payload
 * @stream: read to its end, and left open
 * @options: (nullable): see query_connection_replace_payload()
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
gboolean
query_connection_replace_payload_from_stream(QueryConnection *self, gint64 id, GInputStream *stream, GVariant *options,
                                             GCancellable *cancellable, GError **error)
{
    g_autoptr(Target) target = target_new(id, options);

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(id > 0, FALSE);
    g_return_val_if_fail(G_IS_INPUT_STREAM(stream), FALSE);
    g_return_val_if_fail(g_variant_is_of_type(target->options, G_VARIANT_TYPE_VARDICT), FALSE);

    return store_stream(self, target, stream, cancellable, error) > 0;
}

gboolean
query_connection_delete_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) reply = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    reply = query_bus_call(query_connection_get_bus(self),
                           &(QueryBusCall){ .interface = QUERY_BUS_INTERFACE,
                                            .method = "DeletePayload",
                                            .arguments = g_variant_new("(xa{sv})", id, NULL),
                                            .reply_type = "()",
                                            .timeout_msec = G_MAXINT,
                                            .fd = -1 },
                           NULL, cancellable, error);
    return reply != NULL;
}

/* Reading --------------------------------------------------------------------------------------------------------------- */

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
    if (fds == NULL || (gsize) g_unix_fd_list_get_length(fds) != n_ids) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent no descriptor for a payload");
        return NULL;
    }
    return g_steal_pointer(&fds);
}

int
query_connection_open_payload(QueryConnection *self, gint64 id, GCancellable *cancellable, GError **error)
{
    g_autoptr(GUnixFDList) fds = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), -1);

    fds = open_by_bus(self, &id, 1, cancellable, error);
    return fds != NULL ? g_unix_fd_list_get(fds, 0, error) : -1;
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

static gboolean
load_by_bus(QueryConnection *self, GArray *absent, GPtrArray *contents, GCancellable *cancellable, GError **error)
{
    for (guint start = 0; start < absent->len; start += FDS_PER_CALL) {
        const Absent *part = &g_array_index(absent, Absent, start);
        guint n = MIN(FDS_PER_CALL, absent->len - start);
        g_autoptr(GUnixFDList) fds = NULL;
        g_autofree int *stolen = NULL;
        gint64 ids[FDS_PER_CALL];
        gboolean ok = TRUE;

        for (guint i = 0; i < n; i++)
            ids[i] = part[i].id;
        fds = open_by_bus(self, ids, n, cancellable, error);
        if (fds == NULL)
            return FALSE;
        stolen = g_unix_fd_list_steal_fds(fds, NULL);
        for (guint i = 0; i < n; i++) {
            if (!ok) {
                (void) close(stolen[i]);
                continue;
            }
            contents->pdata[part[i].index] = load_file(stolen[i], error);
            ok = contents->pdata[part[i].index] != NULL;
        }
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

/* FALSE without an error: somebody has replaced it meanwhile. */
static gboolean
load_directly(QueryConnection *self, GArray *absent, GPtrArray *contents, gboolean retry, GError **error)
{
    g_autofree char *directory = g_path_get_dirname(query_direct_get_path(query_connection_get_direct(self)));

    for (guint i = 0; i < absent->len; i++) {
        const Absent *part = &g_array_index(absent, Absent, i);
        g_autofree char *path = g_build_filename(directory, "payload", part->hash, NULL);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct stat st;

        if (fd < 0 && errno == ENOENT && retry)
            return FALSE;
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size != part->size || !S_ISREG(st.st_mode)) {
            if (fd >= 0)
                (void) close(fd);
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_CORRUPT,
                        "payload %" G_GINT64_FORMAT ": the payload file '%s' is missing or damaged", part->id, path);
            return FALSE;
        }
        contents->pdata[part->index] = load_file(fd, error);
        if (contents->pdata[part->index] == NULL)
            return FALSE;
    }
    return TRUE;
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
    gboolean ok;

    g_ptr_array_set_size(contents, (gint) n_ids);
    g_variant_builder_add(&parameters, "{sv}", "1", g_variant_new_string(json));
    cursor = query_connection_query(self, QUERY_LANGUAGE_SQL, load_text, g_variant_builder_end(&parameters), cancellable, error);
    if (cursor == NULL || !read_rows(cursor, absent, contents, cancellable, error))
        return NULL;
    if (query_connection_get_direct(self) != NULL)
        ok = load_directly(self, absent, contents, retry, error);
    else
        ok = load_by_bus(self, absent, contents, cancellable, error);
    return ok ? g_steal_pointer(&contents) : NULL;
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
