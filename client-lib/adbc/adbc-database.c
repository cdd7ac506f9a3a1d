/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Databases: which store or file, by a URI; and the options that connections begin with.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

#define URI "uri"

static gboolean
check_database(struct AdbcDatabase *database, GError **error)
{
    return database->private_data != NULL ||
           qad_set_error(error, ADBC_STATUS_INVALID_STATE, "the database is not allocated: call AdbcDatabaseNew() first");
}

/* queryd:///STORE and queryd:///?path=FILE; without any: the default store. */
static gboolean
set_uri(QadDatabase *self, const char *text, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(GUri) uri = g_uri_parse(text != NULL ? text : "", G_URI_FLAGS_NONE, &failure);
    g_autoptr(GHashTable) query = NULL;
    const char *store, *path = NULL;

    if (uri == NULL || strcmp(g_uri_get_scheme(uri), "queryd") != 0 ||
        (g_uri_get_host(uri) != NULL && *g_uri_get_host(uri) != '\0'))
        return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT,
                             "'%s' is none of the URIs 'queryd:///', 'queryd:///STORE' and 'queryd:///?path=FILE'",
                             text != NULL ? text : "NULL");
    if (g_uri_get_query(uri) != NULL) {
        query = g_uri_parse_params(g_uri_get_query(uri), -1, "&", G_URI_PARAMS_NONE, NULL);
        path = query != NULL ? g_hash_table_lookup(query, "path") : NULL;
        if (path == NULL || g_hash_table_size(query) != 1)
            return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "the only parameter that '%s' may have is 'path'", text);
    }
    store = g_uri_get_path(uri);
    store += *store == '/';
    if (path != NULL && *store != '\0')
        return qad_set_error(error, ADBC_STATUS_INVALID_ARGUMENT, "'%s' names both a store and a file", text);

    g_free(self->uri);
    g_free(self->store);
    g_free(self->path);
    self->uri = g_strdup(text);
    self->store = *store != '\0' ? g_strdup(store) : NULL;
    self->path = g_strdup(path);
    return TRUE;
}

static AdbcStatusCode
database_new(struct AdbcDatabase *database, struct AdbcError *error)
{
    QadDatabase *self = g_new0(QadDatabase, 1);

    self->uri = g_strdup("queryd:///");
    database->private_data = self;
    return ADBC_STATUS_OK;
}

static AdbcStatusCode
database_set_option(struct AdbcDatabase *database, const char *key, const char *value, struct AdbcError *error)
{
    QadDatabase *self = database->private_data;
    GError *failure = NULL;
    gboolean known;

    if (!check_database(database, &failure))
        return qad_report(error, failure);
    if (strcmp(key, URI) == 0)
        (void) set_uri(self, value, &failure);
    else if (qad_options_set(&self->options, key, value, &known, &failure) && !known)
        (void) qad_set_error(&failure, ADBC_STATUS_NOT_IMPLEMENTED, "a database has no option '%s'", key);
    return qad_report(error, failure);
}

static AdbcStatusCode
database_get_option(struct AdbcDatabase *database, const char *key, char *value, size_t *n_bytes, struct AdbcError *error)
{
    QadDatabase *self = database->private_data;
    GError *failure = NULL;

    if (!check_database(database, &failure))
        return qad_report(error, failure);
    return qad_give_option(key, strcmp(key, URI) == 0 ? g_strdup(self->uri) : qad_options_get(&self->options, key), value, n_bytes,
                           error);
}

static AdbcStatusCode
database_init(struct AdbcDatabase *database, struct AdbcError *error)
{
    GError *failure = NULL;

    (void) check_database(database, &failure);
    return qad_report(error, failure);
}

static AdbcStatusCode
database_release(struct AdbcDatabase *database, struct AdbcError *error)
{
    QadDatabase *self = database->private_data;
    GError *failure = NULL;

    if (!check_database(database, &failure))
        return qad_report(error, failure);
    g_free(self->uri);
    g_free(self->store);
    g_free(self->path);
    g_free(self);
    database->private_data = NULL;
    return ADBC_STATUS_OK;
}

void
qad_database_fill(struct AdbcDriver *driver, gboolean is_newer)
{
    driver->DatabaseNew = database_new;
    driver->DatabaseInit = database_init;
    driver->DatabaseSetOption = database_set_option;
    driver->DatabaseRelease = database_release;
    if (is_newer)
        driver->DatabaseGetOption = database_get_option;
}
