/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of a request's headers, and the secrets that they are compared with.
 */
#include "client-lib/http/http-access.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_BYTES 24
#define SECRET_LENGTH 32 /* of its text */
#define TOKEN_FILE_BYTES_MAX 256
#define SESSIONS_FILE_BYTES_MAX (64 * 1024)
#define TICKET_USEC (60 * G_USEC_PER_SEC)
#define N_TICKETS_MAX 16
#define COOKIE_NAME "queryd-session"

typedef struct Secret {
    char *text;
    gint64 until_usec; /* monotonic; G_MAXINT64: for ever */
} Secret;

struct QhttpAccess {
    QhttpAccessOptions options;
    char *token;         /* (nullable) */
    char *sessions_path; /* (nullable): of the file that keeps them */
    GQueue tickets;      /* of Secret, oldest first */
    GQueue sessions;
};

static void
secret_free(gpointer data)
{
    Secret *self = data;

    g_free(self->text);
    g_free(self);
}

/* (transfer full): in characters that a URL, a header and a cookie take as they are */
static char *
make_secret(void)
{
    guint8 bytes[SECRET_BYTES];
    char *text;

    while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        continue;
    text = g_base64_encode(bytes, sizeof bytes);
    return g_strdelimit(g_strdelimit(text, "+", '-'), "/", '_');
}

/* The oldest goes when there are too many. */
static void
push_secret(GQueue *queue, guint n_max, const char *text, gint64 until_usec)
{
    Secret *secret = g_new0(Secret, 1);

    while (queue->length >= n_max)
        secret_free(g_queue_pop_head(queue));
    *secret = (Secret){ g_strdup(text), until_usec };
    g_queue_push_tail(queue, secret);
}

/* In a time that does not depend on where they differ. */
static bool
is_same(const char *expected, const char *given)
{
    gsize n = strlen(expected);
    guint difference = 0;

    if (strlen(given) != n)
        return false;
    for (gsize i = 0; i < n; i++)
        difference |= (guint) (guchar) given[i] ^ (guint) (guchar) expected[i];
    return difference == 0;
}

static bool
set_file_error(GError **error, const char *path, int number)
{
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(number), "token file '%s': %s", path, g_strerror(number));
    return false;
}

static bool
make_token(QhttpAccess *self, const char *path, GError **error)
{
    g_autofree char *token = make_secret();
    g_autofree char *line = g_strconcat(token, "\n", NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    int fd;
    ssize_t n;

    if (g_mkdir_with_parents(folder, 0700) < 0)
        return set_file_error(error, folder, errno);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return set_file_error(error, path, errno);
    n = write(fd, line, strlen(line));
    if (close(fd) < 0 || n != (ssize_t) strlen(line)) {
        (void) unlink(path);
        return set_file_error(error, path, errno != 0 ? errno : EIO);
    }

    self->token = g_steal_pointer(&token);
    return true;
}

/* (transfer full) (nullable): the text of a file that only this user may read; NULL with an error of G_FILE_ERROR */
static char *
read_private(const char *path, gsize n_bytes_max, GError **error)
{
    g_autofree char *text = g_malloc0(n_bytes_max + 1);
    struct stat st = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = -1;

    if (fd < 0) {
        (void) set_file_error(error, path, errno);
        return NULL;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        n = read(fd, text, n_bytes_max);
    (void) close(fd);
    if (n < 0) {
        (void) set_file_error(error, path, EINVAL);
        return NULL;
    }
    if (st.st_uid == getuid() && (st.st_mode & 077) == 0)
        return g_steal_pointer(&text);

    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "token file '%s' has to belong to this user, with mode 0600", path);
    return NULL;
}

static bool
read_token(QhttpAccess *self, const char *path, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autofree char *text = read_private(path, TOKEN_FILE_BYTES_MAX, &failure);

    if (g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        return make_token(self, path, error);
    if (text == NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }

    self->token = g_strdup(g_strstrip(text));
    if (strlen(self->token) >= 16)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "token file '%s' has a token of fewer than 16 characters", path);
    return false;
}

/* --- sessions outlive a process that systemd ends and starts ---------------------------------------------------------------- */

/* What is no session is left out: its browser asks for another one. */
static void
read_sessions(QhttpAccess *self)
{
    g_autofree char *text = read_private(self->sessions_path, SESSIONS_FILE_BYTES_MAX, NULL);
    g_auto(GStrv) lines = text != NULL ? g_strsplit(text, "\n", -1) : NULL;

    for (char **line = lines; line != NULL && *line != NULL; line++)
        if (strlen(*line) == SECRET_LENGTH)
            push_secret(&self->sessions, self->options.n_sessions_max, *line, G_MAXINT64);
}

/* Without the file a session lasts as long as the process. */
static void
write_sessions(const QhttpAccess *self)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if (self->sessions_path == NULL)
        return;
    for (const GList *link = self->sessions.head; link != NULL; link = link->next) {
        const Secret *secret = link->data;

        g_string_append_printf(text, "%s\n", secret->text);
    }
    (void) g_file_set_contents_full(self->sessions_path, text->str, (gssize) text->len, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
}

QhttpAccess *
qhttp_access_new(const QhttpAccessOptions *options, GError **error)
{
    g_autoptr(QhttpAccess) self = g_new0(QhttpAccess, 1);
    g_autofree char *path = NULL;

    self->options = *options;
    path = options->token_file != NULL ? g_strdup(options->token_file)
                                       : g_build_filename(g_get_user_runtime_dir(), "queryd-http", "token", NULL);
    if (options->no_token)
        return g_steal_pointer(&self);
    if (!read_token(self, path, error))
        return NULL;

    self->sessions_path = g_strconcat(path, "-sessions", NULL);
    read_sessions(self);
    return g_steal_pointer(&self);
}

QhttpAccess *
qhttp_access_free(QhttpAccess *self)
{
    if (self == NULL)
        return NULL;

    g_queue_clear_full(&self->tickets, secret_free);
    g_queue_clear_full(&self->sessions, secret_free);
    g_free(self->sessions_path);
    g_free(self->token);
    g_free(self);
    return NULL;
}

/* --- secrets -------------------------------------------------------------------------------------------------------------- */

static char *
add_secret(GQueue *queue, guint n_max, gint64 until_usec)
{
    char *text = make_secret();

    push_secret(queue, n_max, text, until_usec);
    return text;
}

static GList *
find_secret(GQueue *queue, const char *text)
{
    gint64 now = g_get_monotonic_time();

    for (GList *link = queue->head; link != NULL; link = link->next) {
        const Secret *secret = link->data;

        if (secret->until_usec > now && is_same(secret->text, text))
            return link;
    }
    return NULL;
}

char *
qhttp_access_create_ticket(QhttpAccess *self)
{
    return add_secret(&self->tickets, N_TICKETS_MAX, g_get_monotonic_time() + TICKET_USEC);
}

char *
qhttp_access_redeem_ticket(QhttpAccess *self, const char *ticket)
{
    GList *link = find_secret(&self->tickets, ticket);
    g_autofree char *session = NULL;

    if (link == NULL)
        return NULL;

    secret_free(link->data);
    g_queue_delete_link(&self->tickets, link);
    session = add_secret(&self->sessions, self->options.n_sessions_max, G_MAXINT64);
    write_sessions(self);
    return g_strconcat(COOKIE_NAME "=", session, "; Path=/; HttpOnly; SameSite=Strict", NULL);
}

/* --- requests ------------------------------------------------------------------------------------------------------------- */

static bool
has_session(QhttpAccess *self, SoupMessageHeaders *headers)
{
    const char *cookies = soup_message_headers_get_list(headers, "Cookie");
    g_auto(GStrv) parts = cookies != NULL ? g_strsplit(cookies, ";", 64) : NULL;

    for (guint i = 0; parts != NULL && parts[i] != NULL; i++) {
        const char *cookie = g_strstrip(parts[i]);

        if (g_str_has_prefix(cookie, COOKIE_NAME "=") && find_secret(&self->sessions, cookie + strlen(COOKIE_NAME "=")) != NULL)
            return true;
    }
    return false;
}

/* "Bearer TOKEN", or "Basic" with any name and the token as password. */
static bool
has_token(const QhttpAccess *self, SoupMessageHeaders *headers)
{
    const char *authorization = soup_message_headers_get_one(headers, "Authorization");
    g_autofree guchar *decoded = NULL;
    const char *password;
    gsize n = 0;

    if (authorization == NULL)
        return false;
    if (g_ascii_strncasecmp(authorization, "Bearer ", 7) == 0)
        return is_same(self->token, authorization + 7 + strspn(authorization + 7, " "));
    if (g_ascii_strncasecmp(authorization, "Basic ", 6) != 0)
        return false;

    decoded = g_base64_decode(authorization + 6, &n); /* NUL-terminated */
    password = strchr((const char *) decoded, ':');
    return password != NULL && is_same(self->token, password + 1);
}

/* A name with an optional port. */
static bool
is_own_name(const QhttpAccess *self, const char *authority)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
    const char *end = authority[0] == '[' ? strchr(authority, ']') : NULL;
    const char *colon = strchr(end != NULL ? end : authority, ':');
    g_autofree char *name = colon != NULL ? g_strndup(authority, (gsize) (colon - authority)) : g_strdup(authority);

    if (colon != NULL && strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    for (guint i = 0; i < G_N_ELEMENTS(local); i++)
        if (g_ascii_strcasecmp(name, local[i]) == 0)
            return true;
    for (guint i = 0; self->options.allowed_hosts != NULL && self->options.allowed_hosts[i] != NULL; i++)
        if (g_ascii_strcasecmp(name, self->options.allowed_hosts[i]) == 0)
            return true;
    return false;
}

/* Both names of a request: an absolute request target is one, too. */
static bool
has_own_name(const QhttpAccess *self, const QhttpCaller *caller)
{
    const char *host = soup_message_headers_get_list(caller->headers, "Host");
    const char *target = caller->target_host;
    g_autofree char *name = target != NULL && strchr(target, ':') != NULL ? g_strconcat("[", target, "]", NULL) : g_strdup(target);

    return host != NULL && is_own_name(self, host) && (name == NULL || is_own_name(self, name));
}

const char *
qhttp_access_get_allowed_origin(const QhttpAccess *self, SoupMessageHeaders *headers)
{
    const char *origin = soup_message_headers_get_list(headers, "Origin");

    for (guint i = 0; origin != NULL && self->options.allowed_origins != NULL && self->options.allowed_origins[i] != NULL; i++)
        if (g_str_equal(origin, self->options.allowed_origins[i]))
            return origin;
    return NULL;
}

/* The page is ours, or one that is allowed by name, or it is no page that asks. */
static bool
has_own_origin(const QhttpAccess *self, SoupMessageHeaders *headers)
{
    const char *origin = soup_message_headers_get_list(headers, "Origin");
    const char *site = soup_message_headers_get_list(headers, "Sec-Fetch-Site");
    const char *host = soup_message_headers_get_list(headers, "Host");

    if (qhttp_access_get_allowed_origin(self, headers) != NULL)
        return true;
    if (site != NULL && !g_str_equal(site, "same-origin") && !g_str_equal(site, "none"))
        return false;
    return origin == NULL ||
           (host != NULL && g_str_has_prefix(origin, "http://") && g_ascii_strcasecmp(origin + strlen("http://"), host) == 0);
}

QhttpVerdict
qhttp_access_check_caller(const QhttpAccess *self, const QhttpCaller *caller)
{
    if (!caller->is_unix && !has_own_name(self, caller))
        return QHTTP_VERDICT_FOREIGN_HOST;
    return has_own_origin(self, caller->headers) ? QHTTP_VERDICT_ALLOWED : QHTTP_VERDICT_FOREIGN_ORIGIN;
}

QhttpVerdict
qhttp_access_check(QhttpAccess *self, const QhttpCaller *caller)
{
    QhttpVerdict verdict = qhttp_access_check_caller(self, caller);

    if (verdict != QHTTP_VERDICT_ALLOWED || caller->is_unix || self->options.no_token)
        return verdict;
    return has_token(self, caller->headers) || has_session(self, caller->headers) ? QHTTP_VERDICT_ALLOWED : QHTTP_VERDICT_NO_TOKEN;
}
