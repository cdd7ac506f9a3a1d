/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three sets of names and two flags.
 */
#include "daemon/notify/changes.h"

#include <string.h>

#include "daemon/payload/payload.h"

/* More are reported as all: a signal stays small, and a listener for one of many would read anyway. */
#define GRAPHS_MAX 64
#define PREDICATES_MAX 64

QdChanges *
qd_changes_new(void)
{
    QdChanges *self = g_new0(QdChanges, 1);

    self->tables = qd_name_set_new(0);
    self->graphs = qd_name_set_new(GRAPHS_MAX);
    self->predicates = qd_name_set_new(PREDICATES_MAX);
    return self;
}

QdChanges *
qd_changes_free(QdChanges *self)
{
    if (self == NULL)
        return NULL;

    qd_name_set_free(self->tables);
    qd_name_set_free(self->graphs);
    qd_name_set_free(self->predicates);
    (void) qd_resource_events_free(self->resources);
    (void) qd_row_changes_free(self->rows);
    g_free(self);
    return NULL;
}

void
qd_changes_clear(QdChanges *self)
{
    qd_name_set_clear(self->tables);
    qd_name_set_clear(self->graphs);
    qd_name_set_clear(self->predicates);
    if (self->resources != NULL)
        qd_resource_events_clear(self->resources);
    self->rows = qd_row_changes_free(self->rows);
    self->schema = FALSE;
    self->prefixes = FALSE;
}

gboolean
qd_changes_is_empty(const QdChanges *self)
{
    return qd_name_set_is_empty(self->tables) && qd_name_set_is_empty(self->graphs) && !self->schema && !self->prefixes;
}

void
qd_changes_add_statement(QdChanges *self, const QdCompiled *compiled)
{
    for (char **table = compiled->write_tables; *table != NULL; table++)
        qd_changes_add_table(self, *table);
    self->schema = self->schema || compiled->effects.changes_schema;
}

void
qd_changes_add_payload_delete(QdChanges *self, QdConnection *connection, const QdLimits *limits)
{
    const QdGuard *guard = qd_connection_get_guard(connection);
    QdPolicy policy = guard->policy;
    sqlite3_stmt *stmt = qd_connection_prepare(connection, "DELETE FROM " QD_PAYLOAD_TABLE " WHERE id=?", QD_POLICY_WRITE, TRUE,
                                               limits);

    if (stmt == NULL)
        qd_changes_make_all(self);
    for (guint i = 0; i < guard->write_tables->len; i++)
        qd_changes_add_table(self, guard->write_tables->pdata[i]);
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
}

void
qd_changes_add_table(QdChanges *self, const char *table)
{
    qd_name_set_add(self->tables, table, strlen(table));
}

QdResourceEvents *
qd_changes_get_resources(QdChanges *self)
{
    if (self->resources == NULL)
        self->resources = qd_resource_events_new();
    return self->resources;
}

/* Any row of @tables, which have changed before a subscription asked for keys. */
static void
add_all_rows(QdRowChanges *rows, const QdNameSet *tables)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(tables);

    for (guint i = 0; i < names->len; i++)
        qd_row_changes_add_all_of(rows, names->pdata[i]);
}

static void
add_rows(QdChanges *self, const QdChanges *other)
{
    if (self->rows == NULL && other->rows == NULL)
        return;
    if (self->rows == NULL) {
        self->rows = qd_row_changes_new_like(other->rows);
        add_all_rows(self->rows, self->tables);
    }
    if (other->rows == NULL)
        add_all_rows(self->rows, other->tables);
    else
        qd_row_changes_merge(self->rows, other->rows);
}

void
qd_changes_add_all(QdChanges *self, const QdChanges *other)
{
    add_rows(self, other);
    qd_name_set_add_all(self->tables, other->tables);
    qd_name_set_add_all(self->graphs, other->graphs);
    qd_name_set_add_all(self->predicates, other->predicates);
    self->schema = self->schema || other->schema;
    self->prefixes = self->prefixes || other->prefixes;
    if (other->resources != NULL)
        qd_resource_events_add_all(qd_changes_get_resources(self), other->resources);
}

void
qd_changes_make_all(QdChanges *self)
{
    qd_name_set_make_all(self->tables);
    qd_name_set_make_all(self->graphs);
    qd_name_set_make_all(self->predicates);
    self->rows = qd_row_changes_free(self->rows);
    self->schema = TRUE;
    self->prefixes = TRUE;
}
