/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens a remote connection: its URLs, its options, its session of libsoup. Nothing is sent.
 *
 * Place: internal to the module.
 */

#include "client-lib/remote-module/remote-private.h"

static const struct {
    const char *name;
    const char *type;
} known_options[] = {
    { "update_url", "s" },   { "token", "s" },   { "token_file", "s" }, { "user", "s" },      { "password", "s" },
    { "netrc", "s" },        { "ca_file", "s" }, { "format", "s" },     { "row_bytes", "t" }, { "plain_credentials", "b" },
    { "answer_bytes", "t" },
};

static const char *
find_option_type(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(known_options); i++)
        if (g_str_equal(known_options[i].name, name))
            return known_options[i].type;
    return NULL;
}

static gboolean
check_options(GVariant *options, GError **error)
{
    GVariantIter iter;
    const char *name;
    GVariant *value;

    g_variant_iter_init(&iter, options);
    while (g_variant_iter_next(&iter, "{&sv}", &name, &value)) {
        g_autoptr(GVariant) owned = value;
        const char *type = find_option_type(name);

        if (type != NULL && g_variant_is_of_type(owned, G_VARIANT_TYPE(type)))
            continue;
        if (type != NULL)
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                        "the option '%s' of a remote connection has the type '%s', not '%s'", name, type,
                        g_variant_get_type_string(owned));
        else
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "there is no option '%s' of a remote connection", name);
        return FALSE;
    }
    return TRUE;
}

/* (transfer full) (nullable) */
static GUri *
parse_url(const char *url, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(GUri) uri = g_uri_parse(url, SOUP_HTTP_URI_FLAGS, &failure);
    const char *problem = NULL;

    if (uri == NULL)
        problem = failure->message;
    else if (g_strcmp0(g_uri_get_scheme(uri), "http") != 0 && g_strcmp0(g_uri_get_scheme(uri), "https") != 0)
        problem = "it begins with neither http:// nor https://";
    else if (g_uri_get_host(uri) == NULL || g_uri_get_host(uri)[0] == '\0')
        problem = "it names no host";
    else if (g_uri_get_userinfo(uri) != NULL)
        problem = "a URL is no place for user and password: they are options";
    else if (g_uri_get_fragment(uri) != NULL)
        problem = "it has a fragment";
    if (problem == NULL)
        return g_steal_pointer(&uri);

    /* what it says could be a password */
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the URL of the endpoint cannot be used: %s", problem);
    return NULL;
}

static gboolean
open_target(RemoteTarget *target, const char *url, GVariant *options, GError **error)
{
    target->uri = parse_url(url, error);
    return target->uri != NULL && remote_find_credentials(options, target->uri, &target->authorization, error);
}

static gboolean
read_format(QueryDirect *self, GVariant *options, GError **error)
{
    static const char *const names[] = { [REMOTE_FORMAT_JSON] = "json", [REMOTE_FORMAT_TSV] = "tsv", [REMOTE_FORMAT_XML] = "xml" };
    const char *name = NULL;

    if (!g_variant_lookup(options, "format", "&s", &name))
        return TRUE;
    for (guint i = REMOTE_FORMAT_JSON; i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(names[i], name))
            self->format = (RemoteFormat) i;
    if (self->format == REMOTE_FORMAT_ANY)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%.100s' is no format of remote results: json, tsv and xml are",
                    name);
    return self->format != REMOTE_FORMAT_ANY;
}

static gboolean
read_row_bytes(QueryDirect *self, GVariant *options, GError **error)
{
    guint64 n_bytes = REMOTE_ROW_BYTES;

    (void) g_variant_lookup(options, "row_bytes", "t", &n_bytes);
    (void) g_variant_lookup(options, "answer_bytes", "t", &self->answer_bytes);
    self->row_bytes = n_bytes;
    if (n_bytes >= REMOTE_ROW_BYTES_MIN && n_bytes <= REMOTE_ROW_BYTES_MAX)
        return TRUE;
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "row_bytes is from %u to %u", REMOTE_ROW_BYTES_MIN,
                REMOTE_ROW_BYTES_MAX);
    return FALSE;
}

/* Compressed answers would cost more than they save. */
static gboolean
open_session(QueryDirect *self, GVariant *options, GError **error)
{
    const char *ca_file = NULL;
    g_autoptr(GTlsDatabase) database = NULL;
    g_autoptr(GError) failure = NULL;

    (void) pthread_mutex_init(&self->sockets_mutex, NULL);
    self->sockets = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_object_unref);
    self->session = soup_session_new_with_options("max-conns", REMOTE_CONNECTIONS, "max-conns-per-host", REMOTE_CONNECTIONS,
                                                  "timeout", 0, "user-agent", "libquery-client/" QUERYD_VERSION, NULL);
    soup_session_remove_feature_by_type(self->session, SOUP_TYPE_CONTENT_DECODER);
    if (remote_is_this_machine(g_uri_get_host(self->query.uri)) && remote_is_this_machine(g_uri_get_host(self->update.uri)))
        soup_session_set_proxy_resolver(self->session, NULL); /* to find none takes longer than a small query */
    if (!g_variant_lookup(options, "ca_file", "&s", &ca_file))
        return TRUE;

    database = g_tls_file_database_new(ca_file, &failure);
    if (database == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "cannot use the certificates of '%s': %s", ca_file,
                    failure->message);
        return FALSE;
    }
    soup_session_set_tls_database(self->session, database);
    return TRUE;
}

QueryDirect *
remote_open(const char *url, GVariant *options, GError **error)
{
    static const RemoteNames names = { .answer_bytes = "answer_bytes" };
    g_autoptr(GVariant) given = g_variant_ref_sink(options != NULL ? options : g_variant_new("a{sv}", NULL));
    g_autoptr(QueryDirect) self = g_new0(QueryDirect, 1);
    const char *update_url = url;

    self->head.table = &query_remote_table;
    self->names = &names;
    self->ref_count = 1;
    if (!check_options(given, error))
        return NULL;
    (void) g_variant_lookup(given, "update_url", "&s", &update_url);
    if (!open_target(&self->query, url, given, error) || !open_target(&self->update, update_url, given, error) ||
        !read_format(self, given, error) || !read_row_bytes(self, given, error) || !open_session(self, given, error))
        return NULL;

    return g_steal_pointer(&self);
}

QueryDirect *
remote_ref(QueryDirect *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

static void
target_clear(RemoteTarget *self)
{
    g_clear_pointer(&self->uri, g_uri_unref);
    g_clear_pointer(&self->authorization, g_free);
}

void
remote_unref(QueryDirect *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    if (self->session != NULL) {
        soup_session_abort(self->session);
        g_hash_table_unref(self->sockets);
        (void) pthread_mutex_destroy(&self->sockets_mutex);
    }
    g_clear_object(&self->session);
    target_clear(&self->query);
    target_clear(&self->update);
    g_free(self);
}
