/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryConstraint, and how errors carry it.
 *
 * Place: public boxed type. An error of the domain QUERY_ERROR has a constraint beside its message (GLib's extended errors).
 * Invariant: `recent` has each message once; the newest is the last one. It is for errors that a binding has made again from
 * domain, code and message.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/core/query-mutex.h"

#define MAX_RECENT 64

struct _QueryConstraint {
    gatomicrefcount ref_count;
    QueryConstraintKind kind;
    char *table;        /* (nullable) */
    char *name;         /* (nullable) */
    GPtrArray *columns; /* of char *, NULL-terminated */
};

G_DEFINE_BOXED_TYPE(QueryConstraint, query_constraint, query_constraint_ref, query_constraint_unref)

typedef struct Extra {
    QueryConstraint *constraint; /* (nullable) */
} Extra;

typedef struct Recent {
    char *message;
    QueryConstraint *constraint;
} Recent;

static pthread_mutex_t recent_mutex = PTHREAD_MUTEX_INITIALIZER;
static GQueue recent = G_QUEUE_INIT; /* of Recent */

/* The type ----------------------------------------------------------------------------------------------------------------- */

QueryConstraint *
query_constraint_ref(QueryConstraint *self)
{
    g_return_val_if_fail(self != NULL, NULL);

    g_atomic_ref_count_inc(&self->ref_count);
    return self;
}

void
query_constraint_unref(QueryConstraint *self)
{
    if (self == NULL || !g_atomic_ref_count_dec(&self->ref_count))
        return;

    g_free(self->table);
    g_free(self->name);
    g_ptr_array_unref(self->columns);
    g_free(self);
}

QueryConstraintKind
query_constraint_get_kind(const QueryConstraint *self)
{
    g_return_val_if_fail(self != NULL, QUERY_CONSTRAINT_OTHER);

    return self->kind;
}

const char *
query_constraint_get_table(const QueryConstraint *self)
{
    g_return_val_if_fail(self != NULL, NULL);

    return self->table;
}

const char *const *
query_constraint_get_columns(const QueryConstraint *self)
{
    g_return_val_if_fail(self != NULL, NULL);

    return (const char *const *) self->columns->pdata;
}

const char *
query_constraint_get_name(const QueryConstraint *self)
{
    g_return_val_if_fail(self != NULL, NULL);

    return self->name;
}

/* From the daemon ---------------------------------------------------------------------------------------------------------- */

static QueryConstraintKind
kind_from_name(const char *name)
{
    static const char *const names[] = {
        [QUERY_CONSTRAINT_OTHER] = "other",
        [QUERY_CONSTRAINT_UNIQUE] = "unique",
        [QUERY_CONSTRAINT_PRIMARY_KEY] = "primary-key",
        [QUERY_CONSTRAINT_ROWID] = "rowid",
        [QUERY_CONSTRAINT_NOT_NULL] = "not-null",
        [QUERY_CONSTRAINT_CHECK] = "check",
        [QUERY_CONSTRAINT_FOREIGN_KEY] = "foreign-key",
        [QUERY_CONSTRAINT_DATATYPE] = "datatype",
        [QUERY_CONSTRAINT_TRIGGER] = "trigger",
        [QUERY_CONSTRAINT_VIRTUAL_TABLE] = "virtual-table",
        [QUERY_CONSTRAINT_GRAPH] = "graph",
    };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(names[i], name))
            return (QueryConstraintKind) i;
    return QUERY_CONSTRAINT_OTHER;
}

QueryConstraint *
query_constraint_add(QueryConstraint *self, const char *key, const char *value)
{
    if (self == NULL) {
        self = g_new0(QueryConstraint, 1);
        g_atomic_ref_count_init(&self->ref_count);
        self->columns = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(self->columns, NULL);
    }
    if (g_str_equal(key, "kind")) {
        self->kind = kind_from_name(value);
    } else if (g_str_equal(key, "table")) {
        g_free(self->table);
        self->table = g_utf8_make_valid(value, -1);
    } else if (g_str_equal(key, "name")) {
        g_free(self->name);
        self->name = g_utf8_make_valid(value, -1);
    } else if (g_str_equal(key, "column")) {
        g_ptr_array_insert(self->columns, (gint) self->columns->len - 1, g_utf8_make_valid(value, -1));
    }
    return self;
}

/* Errors ------------------------------------------------------------------------------------------------------------------- */

static Extra *
get_extra(const GError *error)
{
    const gsize unit = 2 * sizeof(gsize); /* as G_DEFINE_EXTENDED_ERROR has it */

    return (Extra *) (void *) ((guint8 *) error - ((sizeof(Extra) + unit - 1) & ~(unit - 1)));
}

static void
extra_init(GError *error)
{
    get_extra(error)->constraint = NULL;
}

static void
extra_copy(const GError *error, GError *copy)
{
    const Extra *extra = get_extra(error);

    get_extra(copy)->constraint = extra->constraint != NULL ? query_constraint_ref(extra->constraint) : NULL;
}

static void
extra_clear(GError *error)
{
    g_clear_pointer(&get_extra(error)->constraint, query_constraint_unref);
}

/* Not G_DEFINE_EXTENDED_ERROR: it would choose the domain's name. */
GQuark
query_error_quark(void)
{
    static gsize quark;

    if (g_once_init_enter(&quark))
        g_once_init_leave(&quark,
                          g_error_domain_register_static("query-error-quark", sizeof(Extra), extra_init, extra_copy, extra_clear));
    return (GQuark) quark;
}

/* Before a program, such as a binding, can make an error of the domain by its name: it would have no place for the
 * constraint. */
__attribute__((constructor)) static void
register_domain(void)
{
    (void) query_error_quark();
}

static void
recent_free(Recent *self)
{
    g_free(self->message);
    query_constraint_unref(self->constraint);
    g_free(self);
}

/* Under the mutex. */
static GList *
find_recent(const char *message)
{
    for (GList *link = recent.tail; link != NULL; link = link->prev)
        if (g_str_equal(((Recent *) link->data)->message, message))
            return link;
    return NULL;
}

static void
remember(const char *message, QueryConstraint *constraint)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&recent_mutex);
    GList *link = find_recent(message);
    Recent *entry = g_new(Recent, 1);

    *entry = (Recent){ .message = g_strdup(message), .constraint = query_constraint_ref(constraint) };
    if (link == NULL && recent.length == MAX_RECENT)
        link = recent.head;
    if (link != NULL) {
        recent_free(link->data);
        g_queue_delete_link(&recent, link);
    }
    g_queue_push_tail(&recent, entry);
}

void
query_error_take_constraint(GError *error, QueryConstraint *constraint)
{
    if (constraint == NULL || error == NULL) {
        query_constraint_unref(constraint);
        return;
    }
    remember(error->message, constraint);
    g_clear_pointer(&get_extra(error)->constraint, query_constraint_unref);
    get_extra(error)->constraint = constraint;
}

QueryConstraint *
query_error_get_constraint(const GError *error)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&recent_mutex);
    GList *link;

    g_return_val_if_fail(error != NULL, NULL);

    if (!g_error_matches(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT))
        return NULL;
    if (get_extra(error)->constraint != NULL)
        return query_constraint_ref(get_extra(error)->constraint);
    link = find_recent(error->message);
    return link != NULL ? query_constraint_ref(((Recent *) link->data)->constraint) : NULL;
}
