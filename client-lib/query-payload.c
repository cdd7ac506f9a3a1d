/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads on their way in, over the channel or by descriptors.
 *
 * Place: methods of QueryConnection. Small content is a BLOB in the row of a FETCH; larger goes over the bus as a file. Where
 * the store's folder can be seen, that is a file beside the store's, which the daemon makes its own. Else it is a memory file,
 * which the daemon copies.
 */
#include "client-lib/query-payload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/query-payload-private.h"

/* The daemon's default of payload_inline_bytes; for files a descriptor over the bus does better
 * (docs/decisions/payload-speed.md). */
#define CHANNEL_BYTES (64 * 1024)
#define SPOOL_BYTES (256 * 1024)

static const char store_text[] = "SELECT queryd_store_payload(?1, ?2)";
static const char replace_text[] = "SELECT queryd_replace_payload(?3, ?1, ?2)";

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
    QueryBusCall call = { .interface = QUERY_BUS_INTERFACE, .timeout_msec = G_MAXINT, .fd = fd, .end = QUERY_BUS_END_CALL };
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
    g_autoptr(QueryCommand) command = query_connection_create_command(self, QUERY_LANGUAGE_SQL,
                                                                      target->id == 0 ? store_text : replace_text, TRUE, error);
    g_autoptr(QueryRequest) request = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    gint64 id = -1;

    if (command == NULL)
        return -1;
    request = query_request_new(query_connection_get_endpoint(self), QUERY_REQUEST_ROWS, command, build_parameters(target, content),
                                NULL, NULL);
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

/* Returns: a file without a name beside those of the store, which the daemon then need not copy; -1 where that cannot be */
static int
make_file(QueryConnection *self)
{
    g_autofree char *path = NULL;
    int folder_fd = query_payload_open_folder(self, &path);
    int fd = -1;

    if (folder_fd < 0)
        return -1;
    fd = openat(folder_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    (void) close(folder_fd);
    return fd;
}

/* A file that could still be written to is copied. Replaces *@fd. */
static void
give_up_writing(int *fd)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", *fd);
    int read_fd = open(path, O_RDONLY | O_CLOEXEC);

    if (read_fd < 0)
        return;
    (void) close(*fd);
    *fd = read_fd;
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

    fd = make_file(self);
    if (fd < 0)
        fd = memfd_create("query-payload", MFD_CLOEXEC);
    if (fd < 0 || !write_all(fd, data, n_bytes)) {
        set_errno(error, "cannot put a payload into a temporary file");
    } else {
        give_up_writing(&fd);
        id = store_fd(self, target, fd, cancellable, error);
    }
    if (fd >= 0)
        (void) close(fd);
    return id;
}

/* (transfer full): a file without a name that holds the rest of the stream, after @start */
static int
spool(QueryConnection *self, GInputStream *stream, GByteArray *start, GCancellable *cancellable, GError **error)
{
    g_autofree char *buffer = g_malloc(SPOOL_BYTES);
    int fd = make_file(self);
    gboolean ok;
    gssize n = 1;

    if (fd < 0)
        fd = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ok = fd >= 0 && write_all(fd, start->data, start->len);

    while (ok && n > 0) {
        n = g_input_stream_read(stream, buffer, SPOOL_BYTES, cancellable, error);
        ok = n > 0 && write_all(fd, buffer, (gsize) n);
    }
    if (n == 0) {
        give_up_writing(&fd);
        return fd;
    }
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
    fd = spool(self, stream, start, cancellable, error);
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
                                            .fd = -1,
                                            .end = QUERY_BUS_END_CALL },
                           NULL, cancellable, error);
    return reply != NULL;
}
