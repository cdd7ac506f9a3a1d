/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL's shape is the compiled statement's own; SPARQL's is the plan's, whose SQL has other names and parameters.
 */
#include "daemon/read/shape.h"

#include "daemon/base/error.h"
#include "daemon/plan/compile.h"
#include "daemon/sqlite/connection.h"

QdShape
qd_shape_from_stmt(sqlite3_stmt *stmt)
{
    return (QdShape){
        .stmt = stmt,
        .n_columns = (guint) sqlite3_column_count(stmt),
        .n_parameters = (guint) sqlite3_bind_parameter_count(stmt),
    };
}

QdShape
qd_shape_from_compiled(const QdCompiled *compiled)
{
    QdShape shape = qd_shape_from_stmt(compiled->stmt);

    shape.writes = compiled->writes;
    shape.is_stable = !compiled->effects.is_volatile;
    shape.control = compiled->control;
    shape.signature = compiled->schema_signature;
    return shape;
}

QdShape
qd_shape_from_plan(const QdSparqlPlan *plan)
{
    return (QdShape){ .plan = plan,
                      .n_columns = plan->n_columns,
                      .n_parameters = plan->n_parameters,
                      .writes = plan->is_update,
                      .is_stable = !plan->is_volatile };
}

static const char *
or_empty(const char *text)
{
    return text != NULL ? text : "";
}

gboolean
qd_shape_check_control(const QdShape *self, GError **error)
{
    if (self->control == QD_CONTROL_NONE || self->control == QD_CONTROL_SAVEPOINT)
        return TRUE;

    qd_error_set(error, QW_ERROR_ACCESS_DENIED,
                 "BEGIN, COMMIT and ROLLBACK are not allowed here: every update and every batch is a transaction of its own; use a "
                 "batch, BEGIN on a channel, or query_connection_begin()");
    return FALSE;
}

const char *
qd_shape_get_column_name(const QdShape *self, guint i)
{
    return or_empty(self->plan != NULL ? self->plan->columns[i] : sqlite3_column_name(self->stmt, (int) i));
}

const char *
qd_shape_get_column_type(const QdShape *self, guint i)
{
    static const char *const triple[] = { "rdf:subject", "rdf:predicate", "rdf:object" };

    if (self->plan == NULL)
        return or_empty(sqlite3_column_decltype(self->stmt, (int) i));

    switch (self->plan->form) {
    case QD_FORM_CONSTRUCT:
    case QD_FORM_DESCRIBE:
        return triple[i];
    case QD_FORM_ASK:
        return "xsd:boolean";
    case QD_FORM_SELECT:
        return "";
    }
    g_assert_not_reached();
}

const char *
qd_shape_get_parameter_name(const QdShape *self, guint i)
{
    return or_empty(self->plan != NULL ? self->plan->parameters[i] : sqlite3_bind_parameter_name(self->stmt, (int) i + 1));
}

guint
qd_shape_get_n_names(const QdShape *self)
{
    return self->plan != NULL ? self->plan->n_names : self->n_parameters;
}
