/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a statement asks for: language, text and options, with the body of its PREPARE record.
 *
 * Place: internal to libquery-client. The body is also the key by which channels and schemas are found again.
 */
#include <string.h>

#include "client-lib/core/query-command.h"

#include "client-lib/core/query-error.h"

/* What the daemon may take longer than a deadline: its thread may hang at the disk, or the machine be overloaded. */
#define GRACE_MSEC 10000

static void
put_option(QwBodyWriter *writer, const char *key, const char *value)
{
    qw_body_put_string(writer, key, strlen(key));
    qw_body_put_string(writer, value, strlen(value));
}

static void
put_number_option(QwBodyWriter *writer, const char *key, guint64 value)
{
    char digits[32];

    g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, value);
    put_option(writer, key, digits);
}

guint
query_command_put_options(const QueryCommand *self, QwBodyWriter *writer)
{
    guint n_options = 0;

    if (self->writes) {
        put_option(writer, "access", "write");
        n_options++;
    }
    if (self->relaxed) {
        put_option(writer, "durability", "relaxed");
        n_options++;
    }
    if (self->fresh) {
        put_option(writer, "results", "fresh");
        n_options++;
    }
    if (self->timeout_msec >= 0) {
        put_number_option(writer, "timeout_ms", (guint64) self->timeout_msec);
        n_options++;
    }
    if (self->max_rows > 0) {
        put_number_option(writer, "max_rows", self->max_rows);
        n_options++;
    }
    if (self->base != NULL) {
        put_option(writer, "base", self->base);
        n_options++;
    }
    if (self->dataset != NULL) {
        put_option(writer, "dataset", self->dataset);
        n_options++;
    }
    return n_options;
}

/* Returns the number of options. */
static guint
write_body(const QueryCommand *self, QwBodyWriter *writer)
{
    qw_prepare_put_head(writer, self->language, self->text, strlen(self->text));
    return query_command_put_options(self, writer);
}

QueryCommand *
query_command_new(const char *language, const char *text, QueryCommandAccess access, gint64 timeout_msec, guint64 max_rows,
                  const char *base, const char *dataset)
{
    QueryCommand *self = g_new0(QueryCommand, 1);
    QwBodyWriter writer = { 0 };
    guint8 *body;

    self->ref_count = 1;
    self->language = g_strdup(language);
    self->text = g_strdup(text);
    self->writes = access == QUERY_COMMAND_WRITES || access == QUERY_COMMAND_WRITES_RELAXED;
    self->fresh = access == QUERY_COMMAND_READS_FRESH;
    self->relaxed = access == QUERY_COMMAND_WRITES_RELAXED;
    self->timeout_msec = timeout_msec;
    self->max_rows = MIN(max_rows, G_MAXUINT32); /* u on the bus */
    self->base = g_strdup(base);
    self->dataset = g_strdup(dataset);

    (void) write_body(self, &writer);
    body = g_malloc(writer.used);
    writer = (QwBodyWriter){ .data = body, .capacity = writer.used };
    self->n_options = write_body(self, &writer);
    self->key = g_bytes_new_take(body, writer.used);
    return self;
}

QueryCommand *
query_command_ref(QueryCommand *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

void
query_command_unref(QueryCommand *self)
{
    if (!g_atomic_int_dec_and_test(&self->ref_count))
        return;

    g_bytes_unref(self->key);
    g_free(self->language);
    g_free(self->text);
    g_free(self->base);
    g_free(self->dataset);
    g_free(self);
}

gint64
query_command_get_timeout(guint timeout_msec)
{
    if (timeout_msec == 0)
        return -1;
    return timeout_msec == QUERY_TIMEOUT_NONE ? 0 : (gint64) timeout_msec;
}

gint64
query_command_get_patience_msec(const QueryCommand *self)
{
    return self->timeout_msec > 0 ? self->timeout_msec + GRACE_MSEC : 0;
}

/* Whether it can stand between '<' and '>' in SPARQL. */
static gboolean
is_iri_reference(const char *iri)
{
    for (const char *p = iri; *p != '\0'; p++)
        if ((guchar) *p <= ' ' || strchr("<>\"{}|^`\\", *p) != NULL)
            return FALSE;
    return g_utf8_validate(iri, -1, NULL);
}

static gboolean
put_graphs(GString *dataset, const char *keyword, const char *const *graphs, GError **error)
{
    for (; graphs != NULL && *graphs != NULL; graphs++) {
        if (!is_iri_reference(*graphs)) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%.200s' is no IRI of a graph", *graphs);
            return FALSE;
        }
        g_string_append_printf(dataset, "%s <%s>\n", keyword, *graphs);
    }
    return TRUE;
}

char *
query_command_make_dataset(const char *const *default_graphs, const char *const *named_graphs, GError **error)
{
    g_autoptr(GString) dataset = g_string_new(NULL);

    if (!put_graphs(dataset, "FROM", default_graphs, error) || !put_graphs(dataset, "FROM NAMED", named_graphs, error))
        return NULL;
    return g_string_free(g_steal_pointer(&dataset), FALSE);
}
