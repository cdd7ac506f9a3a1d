/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options that databases, connections and statements have alike, and cancelling.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

#define LANGUAGE "queryd.language"
#define RDF_TERMS "queryd.rdf_terms"
#define TIMEOUT "queryd.timeout_ms"

static gboolean
bad_value(const char *key, const char *value, const char *allowed, GError **error)
{
    return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "option '%s' is '%s', but has to be %s", key,
                         value != NULL ? value : "NULL", allowed);
}

/* Returns: 0 or 1; -1 with an error */
static int
parse_choice(const char *key, const char *value, const char *first, const char *second, GError **error)
{
    g_autofree char *allowed = g_strdup_printf("'%s' or '%s'", first, second);

    if (g_strcmp0(value, first) == 0)
        return 0;
    if (g_strcmp0(value, second) == 0)
        return 1;
    (void) bad_value(key, value, allowed, error);
    return -1;
}

gboolean
qad_parse_boolean(const char *key, const char *value, gboolean *ret, GError **error)
{
    int choice = parse_choice(key, value, "false", "true", error);

    if (choice >= 0)
        *ret = choice;
    return choice >= 0;
}

gboolean
qad_options_set(QadOptions *self, const char *key, const char *value, gboolean *ret_known, GError **error)
{
    guint64 number;
    int choice = 0;

    *ret_known = TRUE;
    if (strcmp(key, LANGUAGE) == 0) {
        choice = parse_choice(key, value, "sql", "sparql", error);
        if (choice >= 0)
            self->language = choice ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;
    } else if (strcmp(key, RDF_TERMS) == 0) {
        choice = parse_choice(key, value, "text", "struct", error);
        if (choice >= 0)
            self->form = choice ? QUERY_ARROW_TERMS : QUERY_ARROW_TEXT;
    } else if (strcmp(key, TIMEOUT) == 0) {
        if (value == NULL || !g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32, &number, NULL))
            return bad_value(key, value, "a number of milliseconds", error);
        self->timeout_msec = (guint) number;
    } else {
        *ret_known = FALSE;
    }
    return choice >= 0;
}

char *
qad_options_get(const QadOptions *self, const char *key)
{
    if (strcmp(key, LANGUAGE) == 0)
        return g_strdup(self->language == QUERY_LANGUAGE_SPARQL ? "sparql" : "sql");
    if (strcmp(key, RDF_TERMS) == 0)
        return g_strdup(self->form == QUERY_ARROW_TERMS ? "struct" : "text");
    if (strcmp(key, TIMEOUT) == 0)
        return g_strdup_printf("%u", self->timeout_msec);
    return NULL;
}

AdbcStatusCode
qad_give_option(const char *key, char *value, char *buffer, size_t *n_bytes, struct AdbcError *error)
{
    g_autofree char *owned = value;
    GError *failure = NULL;
    size_t needed;

    if (value == NULL) {
        (void) qad_set_error(&failure, ADBC_STATUS_NOT_FOUND, "there is no option '%s'", key);
        return qad_report(error, failure);
    }
    needed = strlen(value) + 1;
    if (needed <= *n_bytes)
        memcpy(buffer, value, needed);
    *n_bytes = needed;
    return ADBC_STATUS_OK;
}

/* Cancelling ----------------------------------------------------------------------------------------------------------- */

void
qad_cancel_init(QadCancel *self)
{
    (void) pthread_mutex_init(&self->mutex, NULL);
    self->current = g_cancellable_new();
}

void
qad_cancel_clear(QadCancel *self)
{
    g_clear_object(&self->current);
    (void) pthread_mutex_destroy(&self->mutex);
}

void
qad_cancel_now(QadCancel *self)
{
    g_autoptr(GCancellable) current = NULL;

    (void) pthread_mutex_lock(&self->mutex);
    current = g_steal_pointer(&self->current); /* it is for the calls until now */
    self->current = g_cancellable_new();
    (void) pthread_mutex_unlock(&self->mutex);
    g_cancellable_cancel(current);
}

GCancellable *
qad_cancel_get(QadCancel *self)
{
    GCancellable *current;

    (void) pthread_mutex_lock(&self->mutex);
    current = g_object_ref(self->current);
    (void) pthread_mutex_unlock(&self->mutex);
    return current;
}
