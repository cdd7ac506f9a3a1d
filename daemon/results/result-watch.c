/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tables of cells, the number of the last change, and the position of the log to which they belong.
 */
#include "daemon/results/result-watch.h"

#include "daemon/results/log-view.h"

struct QdResultCell {
    char *name;
    GHashTable *table; /* (not owned) that it is in */
    guint n_users;
    guint64 changed; /* the number of its last change */
};

struct QdResultWatch {
    GHashTable *tables;     /* folded name → cell */
    GHashTable *predicates; /* IRI → cell; "": any */
    guint64 number;         /* atomic: of the last change */
    guint64 all_changed;    /* the number of the last change of everything */
    QdLogView *log;
    gboolean is_known;     /* the next */
    QdLogPosition told;    /* what the cells know of ends here */
    gboolean is_writing;   /* between begin and end of a write of ours */
    gboolean knows_before; /* the next */
    QdLogPosition before;  /* where it has begun */
};

static void
cell_free(gpointer data)
{
    QdResultCell *self = data;

    g_free(self->name);
    g_free(self);
}

QdResultWatch *
qd_result_watch_new(const char *database_path)
{
    QdResultWatch *self = g_new0(QdResultWatch, 1);

    self->tables = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, cell_free);
    self->predicates = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, cell_free);
    self->log = qd_log_view_new(database_path);
    return self;
}

QdResultWatch *
qd_result_watch_free(QdResultWatch *self)
{
    if (self == NULL)
        return NULL;

    g_hash_table_unref(self->tables);
    g_hash_table_unref(self->predicates);
    (void) qd_log_view_free(self->log);
    g_free(self);
    return NULL;
}

guint64
qd_result_watch_get_number(const QdResultWatch *self)
{
    return __atomic_load_n(&self->number, __ATOMIC_ACQUIRE);
}

/* Writes ------------------------------------------------------------------------------------------------------------------- */

static gboolean
has_cells(const QdResultWatch *self)
{
    return g_hash_table_size(self->tables) + g_hash_table_size(self->predicates) > 0;
}

/* While there is no cell a write costs nothing here, and nothing is known of the log. */
void
qd_result_watch_begin_write(QdResultWatch *self)
{
    self->is_writing = TRUE;
    self->knows_before = self->is_known && has_cells(self) && qd_log_view_read(self->log, &self->before);
    self->is_known = self->is_known && self->knows_before;
}

static void
touch(GHashTable *cells, const char *name, guint64 number)
{
    QdResultCell *cell = g_hash_table_lookup(cells, name);

    if (cell != NULL)
        cell->changed = number;
}

static void
touch_tables(QdResultWatch *self, const QdNameSet *tables, guint64 number)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(tables);

    for (guint i = 0; i < names->len; i++) {
        g_autofree char *name = qd_read_set_fold(names->pdata[i]);

        touch(self->tables, name, number);
    }
}

/* A graph that came or went has no predicate: it concerns queries that read all of them. */
static void
touch_rdf(QdResultWatch *self, const QdNameSet *predicates, guint64 number)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(predicates);

    touch(self->tables, QD_READ_SET_RDF, number);
    touch(self->predicates, "", number);
    for (guint i = 0; i < names->len; i++)
        touch(self->predicates, names->pdata[i], number);
}

static gboolean
concerns_all(const QdChanges *changes)
{
    return qd_changes_is_empty(changes) || changes->schema || changes->prefixes || qd_name_set_is_all(changes->tables) ||
           qd_name_set_is_all(changes->predicates);
}

static void
touch_all(QdResultWatch *self, const QdChanges *changes)
{
    guint64 number = self->number + 1;

    if (concerns_all(changes)) { /* one that does not say what it has changed, too */
        self->all_changed = number;
    } else {
        touch_tables(self, changes->tables, number);
        if (!qd_name_set_is_empty(changes->graphs))
            touch_rdf(self, changes->predicates, number);
    }
    __atomic_store_n(&self->number, number, __ATOMIC_RELEASE);
}

/*
 * No other program could commit between the begin of the transaction and its commit, which is the next one. If it is the last one
 * still, the log stands where we have left it.
 */
void
qd_result_watch_end_write(QdResultWatch *self, const QdChanges *changes, gboolean is_logged)
{
    QdLogPosition now;

    if (!self->is_writing)
        return;
    self->is_writing = FALSE;
    if (changes == NULL || !is_logged)
        return;

    if (has_cells(self))
        touch_all(self, changes);
    self->is_known = self->is_known && self->knows_before && qd_log_position_equals(&self->told, &self->before) &&
                     qd_log_view_read(self->log, &now) && now.n_commits == self->before.n_commits + 1;
    if (self->is_known)
        self->told = now;
}

void
qd_result_watch_forget(QdResultWatch *self)
{
    self->all_changed = self->number + 1;
    __atomic_store_n(&self->number, self->all_changed, __ATOMIC_RELEASE);
    self->is_known = FALSE;
    qd_log_view_close(self->log);
}

/* Results ------------------------------------------------------------------------------------------------------------------ */

/* Our own commit, which has not said yet what it has changed, is no reason to forget everything. */
gboolean
qd_result_watch_catch_up(QdResultWatch *self)
{
    QdLogPosition now;

    if (!qd_log_view_read(self->log, &now)) {
        self->is_known = FALSE;
        return FALSE;
    }
    if (self->is_known && qd_log_position_equals(&now, &self->told))
        return TRUE;
    if (self->is_writing && self->knows_before && now.n_commits == self->before.n_commits + 1)
        return FALSE;

    self->all_changed = self->number + 1;
    __atomic_store_n(&self->number, self->all_changed, __ATOMIC_RELEASE);
    self->told = now;
    self->is_known = TRUE;
    return TRUE;
}

static void
take_cell(QdResultWatch *self, GHashTable *table, const char *name, GPtrArray *cells)
{
    QdResultCell *cell = g_hash_table_lookup(table, name);

    if (cell == NULL) {
        cell = g_new0(QdResultCell, 1);
        cell->name = g_strdup(name);
        cell->table = table;
        cell->changed = self->number; /* what was before is not known */
        g_hash_table_insert(table, cell->name, cell);
    }
    cell->n_users++;
    g_ptr_array_add(cells, cell);
}

GPtrArray *
qd_result_watch_take_cells(QdResultWatch *self, const QdReadSet *reads)
{
    const QdNameSet *set = reads->is_sparql ? reads->predicates : reads->tables;
    g_autoptr(GPtrArray) names = qd_name_set_list(set);
    GPtrArray *cells = g_ptr_array_new();

    if (reads->is_sparql && (qd_name_set_is_all(set) || names->len == 0)) /* without a predicate: graphs, perhaps */
        take_cell(self, self->predicates, "", cells);
    for (guint i = 0; i < names->len; i++)
        take_cell(self, reads->is_sparql ? self->predicates : self->tables, names->pdata[i], cells);
    return cells;
}

void
qd_result_watch_release(QdResultWatch *self, GPtrArray *cells)
{
    for (guint i = 0; i < cells->len; i++) {
        QdResultCell *cell = cells->pdata[i];

        if (--cell->n_users == 0)
            (void) g_hash_table_remove(cell->table, cell->name);
    }
    g_ptr_array_unref(cells);
}

gboolean
qd_result_watch_all_changed(const QdResultWatch *self, guint64 number)
{
    return self->all_changed > number;
}

gboolean
qd_result_watch_is_unchanged(const QdResultWatch *self, const GPtrArray *cells, guint64 number)
{
    if (qd_result_watch_all_changed(self, number))
        return FALSE;
    for (guint i = 0; i < cells->len; i++)
        if (((const QdResultCell *) cells->pdata[i])->changed > number)
            return FALSE;
    return TRUE;
}
