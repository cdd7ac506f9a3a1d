/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of keys become VALUES after the query.
 */
#include "daemon/service/service-ask.h"

#include "daemon/base/error.h"
#include "daemon/service/service-term.h"

#define BATCH_BYTES (1024u * 1024u) /* of VALUES */

/* --- keys ------------------------------------------------------------------------------------------------------------- */

/* The keys of the next row. FALSE: there is none. */
static gboolean
read_row(const QdServiceAsk *self, gsize *offset, QdServiceKey *row)
{
    if (self->keys == NULL || *offset >= self->n_key_bytes)
        return FALSE;
    for (guint i = 0; i < self->n_keys; i++) {
        if (!qd_service_keys_read(self->keys, self->n_key_bytes, offset, &row[i]))
            return FALSE;
    }
    return TRUE;
}

static gboolean
is_of_group(const QdServiceAsk *self, const QdServiceKey *row)
{
    return !self->names_endpoint || qd_service_key_equal(&row[0], &self->head.endpoint);
}

/* The term of @key. FALSE: it is unbound, or an error of ours. */
static gboolean
get_term(QdServiceAsk *self, const QdServiceKey *key, QdTermBuffer *buffer, QdTerm *ret_term, GError **error)
{
    GError *failure = NULL;
    gboolean has_term = qd_service_key_get_term(key, &self->access->resolver, buffer, ret_term, &failure);

    if (failure == NULL && has_term && key->type == SQLITE_INTEGER && key->id > 0 && self->access->resolver.note_id != NULL)
        self->access->resolver.note_id(self->access->resolver.data, ret_term, key->id); /* answers have it again */
    if (failure == NULL)
        return has_term;
    self->is_ours = TRUE;
    g_propagate_error(error, failure);
    return FALSE;
}

/* A row of VALUES. FALSE: the endpoint cannot have a value of it, as it cannot a blank node of ours; or an error. */
static gboolean
append_row(QdServiceAsk *self, GString *out, const QdServiceKey *row, guint first, GError **error)
{
    gsize before = out->len;

    g_string_append_c(out, '(');
    for (guint i = first; i < self->n_keys; i++) {
        QdTermBuffer buffer;
        QdTerm term;

        if (!get_term(self, &row[i], &buffer, &term, error) || !qd_service_append_term(out, &term)) {
            g_string_truncate(out, before);
            return FALSE;
        }
        g_string_append_c(out, ' ');
    }
    g_string_append(out, ")\n");
    return TRUE;
}

/* The next rows of the group, as rows of VALUES. FALSE: an error of ours. */
static gboolean
take_batch(QdServiceAsk *self, GString *out, guint64 *ret_n, GError **error)
{
    guint64 n_max = qd_limits_get(self->access->limits, QD_LIMIT_SERVICE_BINDINGS);
    guint first = self->names_endpoint ? 1 : 0;
    QdServiceKey row[QD_SERVICE_COLUMNS_MAX];
    gsize offset = self->offset;
    GError *failure = NULL;

    *ret_n = 0;
    while (*ret_n < n_max && out->len < BATCH_BYTES && read_row(self, &offset, row) && is_of_group(self, row)) {
        self->offset = offset;
        *ret_n += append_row(self, out, row, first, &failure) ? 1 : 0;
        if (failure != NULL) {
            g_propagate_error(error, failure);
            return FALSE;
        }
    }
    return TRUE;
}

/* --- requests --------------------------------------------------------------------------------------------------------- */

/* Whether the client may ask, and has not too many requests already. */
static gboolean
may_ask(QdServiceAsk *self, GError **error)
{
    QdServiceAccess *access = self->access;

    if (access->client == NULL)
        qd_error_set(error, QW_ERROR_UNSUPPORTED,
                     "SERVICE in a transaction, where others would wait for the endpoint: ask in a query by itself");
    else if (!self->is_taken)
        self->is_taken = access->take_func(access->client, access->limits, error);
    self->is_ours = !self->is_taken;
    return self->is_taken;
}

/* Sends @text and waits for the columns. */
static QdServiceNews
ask(QdServiceAsk *self, const GString *text, GError **error)
{
    static gint n_requests;
    QdServiceNews news;

    if (!may_ask(self, error))
        return QD_SERVICE_FAILED;
    self->access->has_asked = TRUE;
    if (!qd_service_link_ask(&self->link, self->endpoint, text->str, text->len, self->access->limits, &news, error))
        return news;
    self->head.serial = (guint) g_atomic_int_add(&n_requests, 1);
    return qd_service_link_begin(&self->link, (const char *const *) self->names, self->head.map, &self->n_columns, error);
}

static void
append_values(const QdServiceAsk *self, GString *text, const GString *rows)
{
    guint first = self->names_endpoint ? 1 : 0;

    if (self->n_keys == first)
        return;
    g_string_append(text, "\nVALUES (");
    for (guint i = first; i < self->n_keys; i++)
        g_string_append_printf(text, "?%s ", self->names[i]);
    g_string_append_printf(text, ") {\n%s}", rows->str);
}

QdServiceNews
qd_service_ask_next(QdServiceAsk *self, GError **error)
{
    g_autoptr(GString) text = g_string_new(self->text);
    g_autoptr(GString) rows = g_string_new(NULL);
    gsize before = self->offset;
    guint64 n = 0;

    if (self->endpoint == NULL || (self->keys == NULL && self->was_asked))
        return QD_SERVICE_END;
    self->was_asked = TRUE;
    if (self->keys == NULL)
        return ask(self, text, error);
    do { /* all of a batch may be blank nodes */
        before = self->offset;
        if (!take_batch(self, rows, &n, error))
            return QD_SERVICE_FAILED;
    } while (n == 0 && self->offset > before);
    if (n == 0)
        return QD_SERVICE_END;
    append_values(self, text, rows);
    return ask(self, text, error);
}

QdServiceNews
qd_service_ask_read(QdServiceAsk *self, QdServiceRows **ret_rows, GError **error)
{
    return qd_service_link_read(&self->link, self->n_columns, self->access->limits, ret_rows, error);
}

/* --- endpoints -------------------------------------------------------------------------------------------------------- */

/* Sets the endpoint that is asked. */
static gboolean
set_endpoint(QdServiceAsk *self, const QdServiceKey *key, GError **error)
{
    GError *failure = NULL;
    QdTermBuffer buffer;
    QdTerm term = { 0 };

    g_clear_pointer(&self->endpoint, g_free);
    if (!get_term(self, key, &buffer, &term, &failure)) {
        if (failure == NULL)
            qd_error_set(&failure, QW_ERROR_BAD_PARAMETER, "SERVICE: the endpoint is unbound");
        g_propagate_error(error, failure);
        return FALSE;
    }
    if (term.kind == QD_TERM_IRI)
        self->endpoint = g_strndup(term.lexical, term.n_lexical);
    else
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "SERVICE: the endpoint '%.*s' is no IRI", (int) MIN(term.n_lexical, 200),
                     term.lexical);
    return self->endpoint != NULL;
}

gboolean
qd_service_ask_begin_group(QdServiceAsk *self, GError **error)
{
    QdServiceKey row[QD_SERVICE_COLUMNS_MAX];
    gsize offset = self->offset;

    self->group_offset = self->offset;
    if (!self->names_endpoint) {
        if (self->has_begun || (self->keys != NULL && self->n_key_bytes == 0))
            return FALSE;
        self->has_begun = TRUE;
        return set_endpoint(self, &self->constant, error);
    }
    qd_service_link_close(&self->link);
    if (!read_row(self, &offset, row))
        return FALSE;
    self->head.endpoint = row[0];
    return set_endpoint(self, &row[0], error);
}

void
qd_service_ask_drop_group(QdServiceAsk *self)
{
    QdServiceKey row[QD_SERVICE_COLUMNS_MAX];
    gsize offset = self->offset;

    qd_service_link_close(&self->link);
    self->was_asked = TRUE;
    while (read_row(self, &offset, row) && is_of_group(self, row))
        self->offset = offset;
}

gboolean
qd_service_ask_take_keys(QdServiceAsk *self, QdServiceKey *row)
{
    return self->group_offset < self->offset && read_row(self, &self->group_offset, row);
}

void
qd_service_ask_release(QdServiceAsk *self)
{
    if (self->is_taken)
        self->access->give_func(self->access->client);
    self->is_taken = FALSE;
    qd_service_link_close(&self->link);
}

void
qd_service_ask_clear(QdServiceAsk *self)
{
    QdServiceAccess *access = self->access;

    qd_service_ask_release(self);
    qd_service_link_clear(&self->link);
    g_strfreev(self->names);
    g_free(self->endpoint);
    *self = (QdServiceAsk){ .access = access, .link = { .fd = -1 } };
}
