/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of endpoints, compared by origin and path; and which addresses are private.
 */
#include "client-lib/service/service-allow.h"

#include <string.h>

#include "client-lib/core/query-error.h"
#include "daemon/base/config.h"

#define URL_FLAGS (G_URI_FLAGS_SCHEME_NORMALIZE | G_URI_FLAGS_ENCODED_PATH)

struct ServiceAllow {
    GPtrArray *urls; /* of GUri */
    char **private_hosts;
    gboolean takes_public; /* "*" */
};

static gboolean
is_http(GUri *uri)
{
    const char *host = g_uri_get_host(uri);

    return host != NULL && host[0] != '\0' &&
           (g_str_equal(g_uri_get_scheme(uri), "http") || g_str_equal(g_uri_get_scheme(uri), "https"));
}

/* (transfer full) (nullable): NULL for what is no URL of a place by HTTP. */
static GUri *
parse_entry(const char *text)
{
    g_autoptr(GUri) uri = g_uri_parse(text, URL_FLAGS, NULL);

    if (uri == NULL || !is_http(uri) || g_uri_get_userinfo(uri) != NULL || g_uri_get_query(uri) != NULL ||
        g_uri_get_fragment(uri) != NULL)
        return NULL;
    return g_steal_pointer(&uri);
}

static void
uri_free(gpointer data)
{
    g_uri_unref(data);
}

ServiceAllow *
service_allow_new(const char *const *entries, const char *const *private_hosts, char **ret_bad)
{
    ServiceAllow *self = g_new0(ServiceAllow, 1);

    *ret_bad = NULL;
    self->urls = g_ptr_array_new_with_free_func(uri_free);
    self->private_hosts = g_strdupv((char **) private_hosts);
    for (guint i = 0; entries != NULL && entries[i] != NULL; i++) {
        GUri *uri = parse_entry(entries[i]);

        if (uri != NULL)
            g_ptr_array_add(self->urls, uri);
        else if (g_str_equal(entries[i], "*"))
            self->takes_public = TRUE;
        else if (*ret_bad == NULL)
            *ret_bad = g_strdup(entries[i]);
    }
    return self;
}

ServiceAllow *
service_allow_load(const char *path)
{
    g_autoptr(QdConfig) config = qd_config_load(path);
    g_autofree char *bad = NULL;
    ServiceAllow *self = service_allow_new((const char *const *) config->service_allow,
                                           (const char *const *) config->service_private, &bad);

    if (bad != NULL)
        g_warning("queryd.conf: allow= of [Service]: '%s' is no URL such as https://dbpedia.org/sparql, ignoring", bad);
    return self;
}

void
service_allow_free(ServiceAllow *self)
{
    g_ptr_array_unref(self->urls);
    g_strfreev(self->private_hosts);
    g_free(self);
}

static int
get_port(GUri *uri)
{
    int port = g_uri_get_port(uri);

    return port >= 0 ? port : g_str_equal(g_uri_get_scheme(uri), "https") ? 443 : 80;
}

/* Whether a server may take @path for another one: by dot segments, by slashes that are escaped or turned. */
static gboolean
is_ambiguous(const char *path)
{
    static const char *const signs[] = { "/.", "%2e", "%2f", "%5c", "\\", "%25", "%00" };

    for (guint i = 0; i < G_N_ELEMENTS(signs); i++)
        if (strcasestr(path, signs[i]) != NULL)
            return TRUE;
    return FALSE;
}

/* Whether @path is @entry or below it. One that is ambiguous is below nothing but the origin. */
static gboolean
has_path(const char *path, const char *entry)
{
    gsize n = strlen(entry);

    if (n == 0 || g_str_equal(entry, "/") || g_str_equal(path, entry))
        return TRUE;
    if (is_ambiguous(path) || !g_str_has_prefix(path, entry))
        return FALSE;
    return entry[n - 1] == '/' || path[n] == '\0' || path[n] == '/';
}

static gboolean
is_listed(const ServiceAllow *self, GUri *uri)
{
    for (guint i = 0; i < self->urls->len; i++) {
        GUri *entry = self->urls->pdata[i];

        if (g_str_equal(g_uri_get_scheme(uri), g_uri_get_scheme(entry)) && get_port(uri) == get_port(entry) &&
            g_ascii_strcasecmp(g_uri_get_host(uri), g_uri_get_host(entry)) == 0 &&
            has_path(g_uri_get_path(uri), g_uri_get_path(entry)))
            return TRUE;
    }
    return FALSE;
}

gboolean
service_allow_check_url(const ServiceAllow *self, GUri *uri, GError **error)
{
    g_autofree char *origin = NULL;

    if (is_http(uri) && g_uri_get_userinfo(uri) == NULL && (is_listed(self, uri) || self->takes_public))
        return TRUE;
    origin = g_uri_join(G_URI_FLAGS_NONE, g_uri_get_scheme(uri), NULL, g_uri_get_host(uri), g_uri_get_port(uri), "", NULL, NULL);
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED,
                "'%.200s%.200s' may not be asked: list it in queryd.conf, group [Service], key 'allow'", origin,
                g_uri_get_path(uri));
    return FALSE;
}

/* Prefixes of IPv6 addresses that hold one of IPv4. */
static const struct {
    guint n_bits;
    guint offset; /* of the inner address */
    guint8 prefix[12];
} carriers[] = {
    { 96, 12, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff } },    /* mapped */
    { 96, 12, { 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0 } },    /* translated (RFC 2765) */
    { 96, 12, { 0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0 } }, /* NAT64 */
    { 16, 2, { 0x20, 0x02 } },                                   /* 6to4 */
};

/* The address of IPv4 that @bytes, of one of IPv6, leads to. (nullable) (transfer full) */
static GInetAddress *
find_inner(const guint8 *bytes)
{
    for (guint i = 0; i < G_N_ELEMENTS(carriers); i++)
        if (memcmp(bytes, carriers[i].prefix, carriers[i].n_bits / 8) == 0)
            return g_inet_address_new_from_bytes(bytes + carriers[i].offset, G_SOCKET_FAMILY_IPV4);
    return NULL;
}

/* Unique local; the rest of the block that :: and ::1 are of; NAT64 of a local network (RFC 8215). */
static gboolean
is_local_block(const guint8 *bytes)
{
    static const guint8 local_nat64[6] = { 0, 0x64, 0xff, 0x9b, 0, 1 };

    return (bytes[0] & 0xfe) == 0xfc || memcmp(bytes, "\0\0\0\0\0\0\0\0\0\0\0\0", 12) == 0 ||
           memcmp(bytes, local_nat64, sizeof local_nat64) == 0;
}

/* Of this machine, of a local network, of none, or of many hosts. */
static gboolean
is_private(GInetAddress *address)
{
    const guint8 *bytes = g_inet_address_to_bytes(address);

    if (g_inet_address_get_is_loopback(address) || g_inet_address_get_is_link_local(address) ||
        g_inet_address_get_is_site_local(address) || g_inet_address_get_is_any(address) || g_inet_address_get_is_multicast(address))
        return TRUE;
    if (g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6) {
        g_autoptr(GInetAddress) inner = find_inner(bytes);

        return inner != NULL ? is_private(inner) : is_local_block(bytes);
    }
    return bytes[0] == 0 || bytes[0] == 127 || bytes[0] >= 240 || (bytes[0] == 100 && (bytes[1] & 0xc0) == 64) ||
           (bytes[0] == 192 && bytes[1] == 0 && bytes[2] == 0) || (bytes[0] == 198 && (bytes[1] & 0xfe) == 18);
}

/* Whether the list of hosts has that of @uri, or the list of URLs has it as an address or as localhost. */
static gboolean
may_be_private(const ServiceAllow *self, GUri *uri)
{
    const char *host = g_uri_get_host(uri);

    for (char **name = self->private_hosts; name != NULL && *name != NULL; name++)
        if (g_ascii_strcasecmp(*name, host) == 0)
            return TRUE;
    return (g_hostname_is_ip_address(host) || g_ascii_strcasecmp(host, "localhost") == 0) && is_listed(self, uri);
}

gboolean
service_allow_check_address(const ServiceAllow *self, GUri *uri, GInetAddress *address, GError **error)
{
    g_autofree char *text = NULL;

    if (!is_private(address) || may_be_private(self, uri))
        return TRUE;
    text = g_inet_address_to_string(address);
    g_set_error(
        error, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED,
        "'%.200s' may not be asked: its address %s is private; list the host in queryd.conf, group [Service], key 'private'",
        g_uri_get_host(uri), text);
    return FALSE;
}
