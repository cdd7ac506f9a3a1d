/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two sets of names for each kind: tables, in small letters as SQLite compares them, and graphs.
 */
#include "daemon/base/access.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/error.h"

#define N_KINDS 2
#define TABLE_PREFIX "table:"
#define GRAPH_PREFIX "graph:"
#define DEFAULT_GRAPH "default"
#define APPLICATION_BYTES_MAX 200 /* "org.queryd.Query1.app." before it, and a bus name has at most 255 */

struct QdAccess {
    gint ref_count;
    guint64 id;
    char *application;
    gboolean all[N_KINDS];
    GHashTable *tables[N_KINDS];
    GHashTable *graphs[N_KINDS];
};

/* Tables of the daemon and of SQLite, and what they show: they hold the data of all. */
static const char *const reserved[] = { "queryd_", "sqlite_", "pragma_", "rdf_", "sparql_" };

QdAccess *
qd_access_new(const char *application)
{
    static guint64 last_id; /* atomic */
    QdAccess *self = g_new0(QdAccess, 1);

    self->ref_count = 1;
    self->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    self->application = g_strdup(application);
    for (guint i = 0; i < N_KINDS; i++) {
        self->tables[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        self->graphs[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    }
    return self;
}

QdAccess *
qd_access_ref(QdAccess *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

void
qd_access_unref(QdAccess *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    for (guint i = 0; i < N_KINDS; i++) {
        g_hash_table_unref(self->tables[i]);
        g_hash_table_unref(self->graphs[i]);
    }
    g_free(self->application);
    g_free(self);
}

/* Granting --------------------------------------------------------------------------------------------------------------- */

static gboolean
fail(GError **error, const char *word, const char *reason)
{
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "'%s' %s", word, reason);
    return FALSE;
}

static gboolean
grant_table(QdAccess *self, QdAccessKind kind, const char *word, GError **error)
{
    g_autofree char *table = g_ascii_strdown(word + strlen(TABLE_PREFIX), -1);

    if (table[0] == '\0')
        return fail(error, word, "names no table");
    for (guint i = 0; i < G_N_ELEMENTS(reserved); i++)
        if (g_str_has_prefix(table, reserved[i]))
            return fail(error, word, "is a table of the daemon, which holds the data of all: name a table of the store");
    (void) g_hash_table_add(self->tables[kind], g_steal_pointer(&table));
    return TRUE;
}

/* RFC 3987: a scheme first, and none of the characters that no IRI has. */
static gboolean
is_iri(const char *text)
{
    gsize n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.");

    if (!g_ascii_isalpha(text[0]) || text[n] != ':' || strpbrk(text, "<>\"{}|\\^` ") != NULL)
        return FALSE;
    for (const char *p = text; *p != '\0'; p++)
        if (g_ascii_iscntrl(*p))
            return FALSE;
    return g_utf8_validate(text, -1, NULL);
}

static gboolean
grant_graph(QdAccess *self, QdAccessKind kind, const char *word, GError **error)
{
    const char *graph = word + strlen(GRAPH_PREFIX);

    if (g_str_equal(graph, DEFAULT_GRAPH))
        graph = QD_ACCESS_DEFAULT_GRAPH;
    else if (!is_iri(graph))
        return fail(error, word, "names no graph: write graph:IRI with an absolute IRI, or graph:" DEFAULT_GRAPH);
    (void) g_hash_table_add(self->graphs[kind], g_strdup(graph));
    return TRUE;
}

static gboolean
grant_word(QdAccess *self, QdAccessKind kind, const char *word, GError **error)
{
    if (g_str_has_prefix(word, TABLE_PREFIX))
        return grant_table(self, kind, word, error);
    if (g_str_has_prefix(word, GRAPH_PREFIX))
        return grant_graph(self, kind, word, error);
    return fail(error, word, "is none of table:NAME, graph:IRI, graph:default; or '*' alone for the whole store");
}

/* At each ';' that has no backslash before it, which is how an IRI or a name has one. */
static GPtrArray *
split(const char *list)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) word = g_string_new(NULL);

    for (const char *p = list;; p++) {
        if (p[0] == '\\' && p[1] == ';') {
            g_string_append_c(word, *++p);
        } else if (*p != '\0' && *p != ';') {
            g_string_append_c(word, *p);
        } else {
            g_ptr_array_add(words, g_strstrip(g_strndup(word->str, word->len)));
            g_string_truncate(word, 0);
        }
        if (*p == '\0')
            break;
    }
    if (words->len > 1 && ((const char *) words->pdata[words->len - 1])[0] == '\0') /* "a;b;", as GKeyFile writes lists */
        g_ptr_array_set_size(words, (gint) words->len - 1);
    return words;
}

gboolean
qd_access_grant(QdAccess *self, QdAccessKind kind, const char *list, GError **error)
{
    g_autoptr(GPtrArray) words = NULL;

    if (kind == QD_ACCESS_WRITE && !qd_access_grant(self, QD_ACCESS_READ, list, error))
        return FALSE;
    if (g_str_equal(list, "*")) {
        self->all[kind] = TRUE;
        return TRUE;
    }
    words = split(list);
    for (guint i = 0; i < words->len; i++)
        if (!grant_word(self, kind, words->pdata[i], error))
            return FALSE;
    return TRUE;
}

/* Asking ----------------------------------------------------------------------------------------------------------------- */

guint64
qd_access_get_id(const QdAccess *self)
{
    return self->id;
}

const char *
qd_access_get_application(const QdAccess *self)
{
    return self->application;
}

static gboolean
holds_all(GHashTable *self, GHashTable *other)
{
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, other);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (!g_hash_table_contains(self, name))
            return FALSE;
    return TRUE;
}

gboolean
qd_access_covers(const QdAccess *self, const QdAccess *other)
{
    for (guint i = 0; i < N_KINDS; i++)
        if (!self->all[i] &&
            (other->all[i] || !holds_all(self->tables[i], other->tables[i]) || !holds_all(self->graphs[i], other->graphs[i])))
            return FALSE;
    return TRUE;
}

gboolean
qd_access_is_equal(const QdAccess *self, const QdAccess *other)
{
    return g_str_equal(self->application, other->application) && qd_access_covers(self, other) && qd_access_covers(other, self);
}

gboolean
qd_access_has_all(const QdAccess *self, QdAccessKind kind)
{
    return self->all[kind];
}

gboolean
qd_access_has_any(const QdAccess *self, QdAccessKind kind)
{
    return qd_access_has_tables(self, kind) || qd_access_has_graphs(self, kind);
}

gboolean
qd_access_has_tables(const QdAccess *self, QdAccessKind kind)
{
    return self->all[kind] || g_hash_table_size(self->tables[kind]) > 0;
}

gboolean
qd_access_has_graphs(const QdAccess *self, QdAccessKind kind)
{
    return self->all[kind] || g_hash_table_size(self->graphs[kind]) > 0;
}

gboolean
qd_access_has_table(const QdAccess *self, QdAccessKind kind, const char *table)
{
    g_autofree char *name = g_ascii_strdown(table, -1);

    return self->all[kind] || g_hash_table_contains(self->tables[kind], name);
}

gboolean
qd_access_has_graph(const QdAccess *self, QdAccessKind kind, const char *graph)
{
    return self->all[kind] || g_hash_table_contains(self->graphs[kind], graph);
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
qd_access_list_graphs(const QdAccess *self, QdAccessKind kind)
{
    GPtrArray *graphs = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, self->graphs[kind]);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (!g_str_equal(name, QD_ACCESS_DEFAULT_GRAPH))
            g_ptr_array_add(graphs, name);
    g_ptr_array_sort(graphs, compare_names);
    return graphs;
}

gboolean
qd_access_is_application(const char *name)
{
    guint n_elements = 1;

    if (strlen(name) > APPLICATION_BYTES_MAX)
        return FALSE;
    for (const char *p = name; *p != '\0'; p++) {
        gboolean is_first = p == name || p[-1] == '.';

        if (*p == '.' ? is_first || p[1] == '\0'
                      : !g_ascii_isalpha(*p) && *p != '_' && (is_first || (!g_ascii_isdigit(*p) && *p != '-')))
            return FALSE;
        n_elements += *p == '.';
    }
    return n_elements > 1;
}

gboolean
qd_access_deny(const QdAccess *self, GError **error, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(error, QW_ERROR_ACCESS_DENIED, "application '%s' may not %s", self->application, what);
    return FALSE;
}
