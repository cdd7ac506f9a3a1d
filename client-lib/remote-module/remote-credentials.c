/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Credentials of a remote connection: from its options, or from files that only their owner may read.
 *
 * Place: internal to the module. Invariant: no secret is part of an error's text.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/remote-module/remote-private.h"

static gboolean
set_file_error(GError **error, QueryError code, const char *path, const char *problem)
{
    g_set_error(error, QUERY_ERROR, (int) code, "cannot use the file of credentials '%s': %s", path, problem);
    return FALSE;
}

static gboolean
check_file(int fd, const char *path, GError **error)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return set_file_error(error, QUERY_ERROR_BAD_PARAMETER, path, g_strerror(errno));
    if (!S_ISREG(st.st_mode))
        return set_file_error(error, QUERY_ERROR_BAD_PARAMETER, path, "it is no regular file");
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return set_file_error(error, QUERY_ERROR_ACCESS_DENIED, path, "it belongs to another user");
    if ((st.st_mode & 077) != 0)
        return set_file_error(error, QUERY_ERROR_ACCESS_DENIED, path, "others may read or write it; its mode should be 0600");
    if (st.st_size > REMOTE_SECRET_BYTES)
        return set_file_error(error, QUERY_ERROR_TOO_BIG, path, "it has more than 64 KiB");
    return TRUE;
}

/* (transfer full) (nullable): NUL-terminated */
static char *
read_file(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    g_autofree char *text = NULL;
    gsize used = 0;
    ssize_t n = 1;

    if (fd < 0) {
        (void) set_file_error(error, QUERY_ERROR_BAD_PARAMETER, path, g_strerror(errno));
        return NULL;
    }
    text = check_file(fd, path, error) ? g_malloc0(REMOTE_SECRET_BYTES + 1) : NULL;
    while (text != NULL && n > 0 && used < REMOTE_SECRET_BYTES) {
        n = read(fd, text + used, REMOTE_SECRET_BYTES - used);
        used += n > 0 ? (gsize) n : 0;
    }
    (void) close(fd);
    return g_steal_pointer(&text);
}

/* What can stand in a header: no line ends, no other control characters. */
static gboolean
is_header_value(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if ((guchar) *p < ' ' || *p == 0x7f)
            return FALSE;
    return TRUE;
}

static char *
create_basic(const char *user, const char *password)
{
    g_autofree char *pair = g_strconcat(user, ":", password, NULL);
    g_autofree char *encoded = g_base64_encode((const guchar *) pair, strlen(pair));

    return g_strconcat("Basic ", encoded, NULL);
}

/* The file netrc(5): words "machine HOST", "default", "login NAME", "password SECRET" and "account NAME". */
static gboolean
find_in_netrc(const char *path, const char *host, char **ret_authorization, GError **error)
{
    g_autofree char *text = read_file(path, error);
    g_auto(GStrv) words = text != NULL ? g_strsplit_set(text, " \t\r\n", -1) : NULL;
    const char *login = NULL;
    const char *password = NULL;
    const char *key = NULL;
    gboolean is_here = FALSE;

    for (guint i = 0; words != NULL && words[i] != NULL; i++) {
        const char *word = words[i];

        if (word[0] == '\0')
            continue;
        if (key == NULL && (g_str_equal(word, "machine") || g_str_equal(word, "default"))) {
            if (is_here && password != NULL)
                break;
            is_here = g_str_equal(word, "default");
            login = password = NULL;
            key = is_here ? NULL : word;
        } else if (key == NULL) {
            key = word;
        } else {
            if (g_str_equal(key, "machine"))
                is_here = g_ascii_strcasecmp(word, host) == 0;
            else if (is_here && g_str_equal(key, "login"))
                login = word;
            else if (is_here && g_str_equal(key, "password"))
                password = word;
            key = NULL;
        }
    }
    if (is_here && password != NULL)
        *ret_authorization = create_basic(login != NULL ? login : "", password);
    return text != NULL;
}

static gboolean
find_token(GVariant *options, char **ret_authorization, GError **error)
{
    const char *path = NULL;
    const char *token = NULL;
    g_autofree char *text = NULL;

    if (g_variant_lookup(options, "token_file", "&s", &path)) {
        text = read_file(path, error);
        if (text == NULL)
            return FALSE;
        token = g_strstrip(text);
    } else if (!g_variant_lookup(options, "token", "&s", &token)) {
        return TRUE;
    }
    *ret_authorization = g_strconcat("Bearer ", token, NULL);
    return TRUE;
}

gboolean
remote_is_this_machine(const char *host)
{
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);

    return address != NULL ? g_inet_address_get_is_loopback(address) : g_ascii_strcasecmp(host, "localhost") == 0;
}

static gboolean
check_credentials(GVariant *options, GUri *uri, const char *authorization, GError **error)
{
    gboolean may_be_plain = FALSE;

    (void) g_variant_lookup(options, "plain_credentials", "b", &may_be_plain);
    if (!is_header_value(authorization)) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the credentials have control characters");
        return FALSE;
    }
    if (may_be_plain || g_str_equal(g_uri_get_scheme(uri), "https") || remote_is_this_machine(g_uri_get_host(uri)))
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED,
                "credentials for '%s' would travel unencrypted: use https, or the option plain_credentials", g_uri_get_host(uri));
    return FALSE;
}

gboolean
remote_find_credentials(GVariant *options, GUri *uri, char **ret_authorization, GError **error)
{
    g_autofree char *authorization = NULL;
    const char *user = NULL;
    const char *password = "";
    const char *netrc = NULL;

    if (!find_token(options, &authorization, error))
        return FALSE;
    if (authorization == NULL && g_variant_lookup(options, "user", "&s", &user)) {
        (void) g_variant_lookup(options, "password", "&s", &password);
        authorization = create_basic(user, password);
    }
    if (authorization == NULL && g_variant_lookup(options, "netrc", "&s", &netrc) &&
        !find_in_netrc(netrc, g_uri_get_host(uri), &authorization, error))
        return FALSE;
    if (authorization != NULL && !check_credentials(options, uri, authorization, error))
        return FALSE;

    *ret_authorization = g_steal_pointer(&authorization);
    return TRUE;
}
