/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A column by object comes in order from the index posg. An aggregate function takes it: 75 ns a row, where steps took 120. One by
 * subject is the same pairs, sorted by their other number, which takes a third of that.
 */
#include "daemon/tally/tally-reader.h"

#include "daemon/base/interrupt.h"
#include "daemon/rdf/term-id.h"
#include "daemon/tally/tally-cache.h"
#include "daemon/tally/tally-changes.h"
#include "daemon/tally/tally-file.h"
#include "daemon/tally/tally-missed.h"
#include "daemon/tally/tally-transpose.h"

#define POLL_EVERY 8192 /* pairs */

typedef enum Statement {
    STATEMENT_GET_PREDICATE,
    STATEMENT_GET_UNSTAMPED,
    STATEMENT_READ,
    STATEMENT_READ_STORED,
    STATEMENT_LIST_SUBJECTS,
    STATEMENT_LIST_OBJECTS,
    STATEMENT_HAS_NAMED,
    STATEMENT_LIST_PREDICATES,
    STATEMENT_COUNT_LITERALS,
    STATEMENT_COUNT_IRIS,
    STATEMENT_COUNT_BLANKS,
    STATEMENT_COUNT_ALL,
    N_STATEMENTS,
} Statement;

#define COUNT "SELECT count(*) FROM queryd_quad INDEXED BY queryd_quad_posg WHERE p=?1 AND g=0 AND "

static const char *const texts[N_STATEMENTS] = {
    [STATEMENT_GET_PREDICATE] = "SELECT n_quads, n_subjects, n_objects, stamp FROM queryd_predicate WHERE id=?1",
    [STATEMENT_GET_UNSTAMPED] = "SELECT n_quads, n_subjects, n_objects, 0 FROM queryd_predicate WHERE id=?1",
    [STATEMENT_READ] = "SELECT queryd_tally_take(o, s) FROM queryd_quad INDEXED BY queryd_quad_posg WHERE p=?1 AND g=0",
    [STATEMENT_READ_STORED] = QD_TALLY_FILE_READ,
    [STATEMENT_LIST_SUBJECTS] = "SELECT s FROM queryd_quad INDEXED BY queryd_quad_posg WHERE p=?1 AND o=?2 AND g=0 ORDER BY s",
    [STATEMENT_LIST_OBJECTS] = "SELECT o FROM queryd_quad NOT INDEXED WHERE p=?1 AND s=?2 AND g=0 ORDER BY o",
    [STATEMENT_HAS_NAMED] = "SELECT EXISTS(SELECT 1 FROM queryd_graph WHERE id<>0 AND n_quads>0)",
    [STATEMENT_LIST_PREDICATES] = "SELECT id, n_quads, tags FROM queryd_predicate WHERE n_quads>0 ORDER BY id",
    [STATEMENT_COUNT_LITERALS] = COUNT "(o&3<>0 AND o>0 OR o<0 AND o>=?2)",
    [STATEMENT_COUNT_IRIS] = COUNT "o>0 AND o&3=0",
    [STATEMENT_COUNT_BLANKS] = COUNT "o<?2",
    [STATEMENT_COUNT_ALL] = COUNT "1",
};

/* A column that is being read. */
struct QdTallyTaking {
    QdTallyColumn *column;
    const QdTallyColumnRoom *room;
    gsize n_taken;
};

struct QdTallyReader {
    sqlite3 *db;
    QdTallyTaking **taking;
    guint64 cache_bytes;
    guint64 n_bytes_in_use;
    sqlite3_stmt *statements[N_STATEMENTS];
};

static guint64 n_indexed, n_stored; /* atomic */

guint64
qd_tally_reader_get_n_indexed(void)
{
    return __atomic_load_n(&n_indexed, __ATOMIC_RELAXED);
}

guint64
qd_tally_reader_get_n_stored(void)
{
    return __atomic_load_n(&n_stored, __ATOMIC_RELAXED);
}

/* --- life ------------------------------------------------------------------------------------------------------------- */

QdTallyReader *
qd_tally_reader_new(sqlite3 *db, guint64 cache_bytes, QdTallyTaking **taking)
{
    QdTallyReader *self = g_new0(QdTallyReader, 1);

    self->db = db;
    self->cache_bytes = cache_bytes;
    self->taking = taking;
    qd_tally_cache_add_user();
    return self;
}

QdTallyReader *
qd_tally_reader_free(QdTallyReader *self)
{
    if (self == NULL)
        return NULL;
    for (guint i = 0; i < N_STATEMENTS; i++)
        (void) sqlite3_finalize(self->statements[i]);
    if (qd_tally_cache_remove_user())
        qd_tally_changes_clear();
    g_free(self);
    return NULL;
}

void
qd_tally_reader_reset(QdTallyReader *self)
{
    self->n_bytes_in_use = 0;
}

/* --- statements ------------------------------------------------------------------------------------------------------- */

/* @ret_stmt: with its arguments, to be stepped and reset */
static int
start(QdTallyReader *self, Statement which, gint64 first, gint64 second, sqlite3_stmt **ret_stmt)
{
    int r = SQLITE_OK;

    if (self->statements[which] == NULL)
        r = sqlite3_prepare_v3(self->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, &self->statements[which], NULL);
    if (r != SQLITE_OK)
        return r;
    *ret_stmt = self->statements[which];
    if (sqlite3_bind_parameter_count(*ret_stmt) > 0)
        (void) sqlite3_bind_int64(*ret_stmt, 1, first);
    if (sqlite3_bind_parameter_count(*ret_stmt) > 1)
        (void) sqlite3_bind_int64(*ret_stmt, 2, second);
    return SQLITE_OK;
}

/* The number that a statement gives; 0 where it gives no row. */
static int
get_number(QdTallyReader *self, Statement which, gint64 first, gint64 second, gint64 *ret_number)
{
    sqlite3_stmt *stmt;
    int r = start(self, which, first, second, &stmt);

    if (r != SQLITE_OK)
        return r;
    *ret_number = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    return sqlite3_reset(stmt);
}

typedef struct Predicate {
    QdTallyStatistics counts; /* in all graphs */
    gint64 stamp;
} Predicate;

static int
get_predicate(QdTallyReader *self, gint64 id, Predicate *ret_predicate)
{
    const QdTallyStatistics *counts;
    sqlite3_stmt *stmt;
    int r = start(self, STATEMENT_GET_PREDICATE, id, 0, &stmt);

    *ret_predicate = (Predicate){ 0 };
    if (r == SQLITE_ERROR) /* a file of an older schema, which cannot be written */
        r = start(self, STATEMENT_GET_UNSTAMPED, id, 0, &stmt);
    if (r != SQLITE_OK)
        return r;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        *ret_predicate = (Predicate){
            { sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2) },
            sqlite3_column_int64(stmt, 3),
        };
    r = sqlite3_reset(stmt);
    counts = &ret_predicate->counts;
    if (r == SQLITE_OK && (counts->n_subjects < 0 || counts->n_subjects > counts->n_quads || counts->n_objects < 0 ||
                           counts->n_objects > counts->n_quads))
        return SQLITE_CORRUPT;
    return r;
}

/* --- columns ---------------------------------------------------------------------------------------------------------- */

static QdTallyColumnRoom
get_room(const QdTallyReader *self, const Predicate *predicate, QdTallyOrder order)
{
    const QdTallyStatistics *counts = &predicate->counts;

    return (QdTallyColumnRoom){ (gsize) (order == QD_TALLY_BY_SUBJECT ? counts->n_subjects : counts->n_objects),
                                (gsize) counts->n_quads, self->cache_bytes };
}

static gboolean
must_end(gsize i)
{
    return i % POLL_EVERY == 0 && qd_interrupt_poll();
}

/* queryd_tally_take(o, s): an error where the pairs are not in order, or are more than the statistics say. */
static void
take_pair(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    QdTallyTaking *self = *(QdTallyTaking **) sqlite3_user_data(context);
    gint64 key = sqlite3_value_int64(args[0]);
    gint64 value = sqlite3_value_int64(args[1]);
    QdTallyColumn *column;
    gboolean is_new, is_in_order;

    if (self == NULL) /* in another's statement */
        return;
    if (must_end(self->n_taken++)) {
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
        return;
    }
    column = self->column;
    is_new = column->n_keys == 0 || column->keys[column->n_keys - 1] < key;
    is_in_order = is_new || (column->keys[column->n_keys - 1] == key && column->values[column->n_pairs - 1] < value);
    if (!is_in_order || column->n_pairs == self->room->n_pairs || (is_new && column->n_keys == self->room->n_keys))
        sqlite3_result_error_code(context, SQLITE_CORRUPT);
    else
        qd_tally_column_add(column, key, value);
}

static void
end_taking(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

int
qd_tally_reader_register(sqlite3 *db, QdTallyTaking **taking)
{
    return sqlite3_create_function_v2(db, "queryd_tally_take", 2, SQLITE_UTF8, (void *) taking, NULL, take_pair, end_taking, NULL);
}

/* Of its quads in the default graph, which are at most those that are counted. */
static int
read_column(QdTallyReader *self, gint64 id, const Predicate *predicate, QdTallyColumn **ret_column)
{
    const QdTallyColumnRoom room = get_room(self, predicate, QD_TALLY_BY_OBJECT);
    g_autoptr(QdTallyColumn) column = qd_tally_column_new(&room, QD_TALLY_BY_OBJECT, predicate->stamp);
    QdTallyTaking taking = { column, &room, 0 };
    sqlite3_stmt *stmt;
    int r = column != NULL ? start(self, STATEMENT_READ, id, 0, &stmt) : SQLITE_NOMEM;

    if (r != SQLITE_OK)
        return r;
    *self->taking = &taking;
    (void) sqlite3_step(stmt);
    *self->taking = NULL;
    r = sqlite3_reset(stmt);
    if (r == SQLITE_OK)
        *ret_column = g_steal_pointer(&column);
    return r;
}

/* NULL: the file has none that can be believed. */
static int
read_stored(QdTallyReader *self, gint64 id, const Predicate *predicate, QdTallyOrder order, QdTallyColumn **ret_column)
{
    const QdTallyFileKey key = { id, order, predicate->stamp };
    const QdTallyColumnRoom room = get_room(self, predicate, order);
    sqlite3_stmt *stmt;
    int r;

    *ret_column = NULL;
    r = start(self, STATEMENT_READ_STORED, id, (gint64) order, &stmt);
    if (r != SQLITE_OK) /* a file of an older schema, which cannot be written */
        return r == SQLITE_ERROR ? SQLITE_OK : r;
    r = qd_tally_file_read(stmt, &key, &room, ret_column);
    (void) sqlite3_reset(stmt);
    (void) __atomic_add_fetch(&n_stored, *ret_column != NULL ? 1 : 0, __ATOMIC_RELAXED);
    return r;
}

/* The column from an earlier one and what has changed since, as far as that is known; or stored in the file. */
static int
find_column(QdTallyReader *self, gint64 id, const Predicate *predicate, QdTallyOrder order, QdTallyColumn **ret_column)
{
    const QdTallyColumnRoom room = get_room(self, predicate, order);
    QdTallyColumn *column = qd_tally_cache_find(predicate->stamp, order);
    int r = SQLITE_OK;

    if (column == NULL)
        r = qd_tally_changes_make_column(predicate->stamp, order, &room, &column);
    if (column == NULL && r == SQLITE_OK)
        r = read_stored(self, id, predicate, order, &column);
    if (column != NULL)
        qd_tally_cache_add(column, self->cache_bytes);
    *ret_column = column;
    return r;
}

/* From the index, which the next one shall not have to do. */
static int
read_missed(QdTallyReader *self, gint64 id, const Predicate *predicate, QdTallyColumn **ret_column)
{
    int r = read_column(self, id, predicate, ret_column);

    (void) __atomic_add_fetch(&n_indexed, 1, __ATOMIC_RELAXED);
    if (r == SQLITE_OK)
        qd_tally_missed_note(id, predicate->counts.n_quads);
    return r;
}

/* From the file, or the other order: only one of them is read. */
static int
make_column(QdTallyReader *self, gint64 id, const Predicate *predicate, QdTallyOrder order, QdTallyColumn **ret_column)
{
    const QdTallyOrder other_order = order == QD_TALLY_BY_OBJECT ? QD_TALLY_BY_SUBJECT : QD_TALLY_BY_OBJECT;
    g_autoptr(QdTallyColumn) other = NULL;
    int r = find_column(self, id, predicate, order, ret_column);

    if (r != SQLITE_OK || *ret_column != NULL)
        return r;
    r = find_column(self, id, predicate, other_order, &other);
    if (r == SQLITE_OK && other == NULL && order == QD_TALLY_BY_SUBJECT)
        r = read_missed(self, id, predicate, &other);
    if (r != SQLITE_OK)
        return r;
    r = other != NULL ? qd_tally_transpose(other, order, self->cache_bytes, ret_column)
                      : read_missed(self, id, predicate, ret_column);
    if (r == SQLITE_OK)
        qd_tally_cache_add(*ret_column, self->cache_bytes);
    return r;
}

static gboolean
is_too_large(const QdTallyReader *self, const Predicate *predicate)
{
    return predicate->counts.n_quads >= G_MAXUINT32 || (guint64) predicate->counts.n_quads * sizeof(gint64) > self->cache_bytes;
}

int
qd_tally_reader_get(QdTallyReader *self, gint64 id, QdTallyOrder order, QdTallyColumn **ret_column)
{
    Predicate predicate;
    QdTallyColumn *column;
    int r = get_predicate(self, id, &predicate);

    if (r != SQLITE_OK)
        return r;
    if (is_too_large(self, &predicate))
        return SQLITE_NOMEM;
    r = make_column(self, id, &predicate, order, &column);
    if (r != SQLITE_OK)
        return r;
    self->n_bytes_in_use += column->n_bytes;
    if (self->n_bytes_in_use > QD_TALLY_LIVE_FACTOR * self->cache_bytes) {
        (void) qd_tally_column_unref(column);
        return SQLITE_NOMEM;
    }
    *ret_column = column;
    return SQLITE_OK;
}

int
qd_tally_reader_get_indexed(QdTallyReader *self, gint64 id, QdTallyColumn **ret_column)
{
    Predicate predicate;
    int r = get_predicate(self, id, &predicate);

    if (r == SQLITE_OK && is_too_large(self, &predicate))
        r = SQLITE_NOMEM;
    return r == SQLITE_OK ? read_column(self, id, &predicate, ret_column) : r;
}

int
qd_tally_reader_transpose(const QdTallyReader *self, const QdTallyColumn *by_object, QdTallyColumn **ret_by_subject)
{
    return qd_tally_transpose(by_object, QD_TALLY_BY_SUBJECT, self->cache_bytes, ret_by_subject);
}

int
qd_tally_reader_get_stored(QdTallyReader *self, gint64 id, QdTallyOrder order, QdTallyColumn **ret_column)
{
    Predicate predicate;
    int r = get_predicate(self, id, &predicate);

    *ret_column = NULL;
    return r == SQLITE_OK ? read_stored(self, id, &predicate, order, ret_column) : r;
}

/* --- lists and counts ------------------------------------------------------------------------------------------------- */

static gboolean
grow(gint64 **ids, gsize n, gsize *capacity)
{
    gint64 *larger;

    if (n < *capacity)
        return TRUE;
    *capacity = MAX(64, 2 * *capacity);
    larger = sqlite3_realloc64(*ids, *capacity * sizeof *larger);
    if (larger != NULL)
        *ids = larger;
    return larger != NULL;
}

int
qd_tally_reader_list(QdTallyReader *self, gint64 predicate, gint64 other, QdTallyOrder order, gint64 **ret_ids, gsize *ret_n)
{
    sqlite3_stmt *stmt;
    gint64 *ids = NULL;
    gsize n = 0;
    gsize capacity = 0;
    int r = start(self, order == QD_TALLY_BY_SUBJECT ? STATEMENT_LIST_SUBJECTS : STATEMENT_LIST_OBJECTS, predicate, other, &stmt);
    int r_end;

    if (r != SQLITE_OK)
        return r;
    while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        if (grow(&ids, n, &capacity))
            ids[n++] = sqlite3_column_int64(stmt, 0);
        else
            r = SQLITE_NOMEM;
    }
    r_end = sqlite3_reset(stmt);
    r = r != SQLITE_OK ? r : r_end;
    if (r != SQLITE_OK) {
        sqlite3_free(ids);
        return r;
    }
    *ret_ids = ids;
    *ret_n = n;
    return SQLITE_OK;
}

int
qd_tally_reader_count(QdTallyReader *self, gint64 predicate, QdTallyStatistics *ret_statistics, gboolean *ret_known)
{
    Predicate found;
    gint64 has_named;
    int r = get_predicate(self, predicate, &found);

    if (r == SQLITE_OK)
        r = get_number(self, STATEMENT_HAS_NAMED, 0, 0, &has_named);
    if (r != SQLITE_OK)
        return r;
    *ret_statistics = found.counts;
    *ret_known = has_named == 0;
    return SQLITE_OK;
}

/* The bits that tell objects of a class among QdPredicateStatistics.tags, which may have bits too many, never too few. */
static guint64
get_tags(QdTallyObjects objects)
{
    const guint64 blank = 1u << QD_TAG_BNODE | 1u << QD_TAG_BNODE_FRESH;
    const guint64 iri = G_GUINT64_CONSTANT(1) << (32 + QD_TERM_IRI);

    switch (objects) {
    case QD_TALLY_OBJECTS_IRI:
        return iri;
    case QD_TALLY_OBJECTS_BLANK:
        return blank;
    case QD_TALLY_OBJECTS_LITERAL:
        return ~(iri | blank);
    default:
        return G_MAXUINT64;
    }
}

/* How many quads of a predicate in the default graph have such objects. */
static int
count_objects(QdTallyReader *self, gint64 id, QdTallyObjects objects, guint64 tags, gboolean has_named, gint64 *count)
{
    static const Statement statements[] = { STATEMENT_COUNT_ALL, STATEMENT_COUNT_LITERALS, STATEMENT_COUNT_IRIS,
                                            STATEMENT_COUNT_BLANKS };
    const guint64 own = get_tags(objects);

    if ((tags & own) == 0)
        *count = 0;
    if ((tags & own) == 0 || (!has_named && (tags & ~own) == 0))
        return SQLITE_OK;
    return get_number(self, statements[objects], id, qd_term_id_get_tag_min((QdTermTag) (QD_TAG_BNODE_FRESH + 1)), count);
}

int
qd_tally_reader_list_predicates(QdTallyReader *self, QdTallyObjects objects, gint64 **ret_ids, guint64 **ret_counts, gsize *ret_n)
{
    sqlite3_stmt *stmt;
    gint64 *ids = NULL;
    gint64 *counts = NULL;
    gsize capacities[2] = { 0, 0 };
    gsize n = 0;
    gint64 has_named = 0;
    int r = get_number(self, STATEMENT_HAS_NAMED, 0, 0, &has_named);
    int r_end;

    if (r == SQLITE_OK)
        r = start(self, STATEMENT_LIST_PREDICATES, 0, 0, &stmt);
    if (r != SQLITE_OK)
        return r;
    while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        gint64 id = sqlite3_column_int64(stmt, 0);
        gint64 count = sqlite3_column_int64(stmt, 1);

        if (!grow(&ids, n, &capacities[0]) || !grow(&counts, n, &capacities[1]))
            r = SQLITE_NOMEM;
        else
            r = count_objects(self, id, objects, (guint64) sqlite3_column_int64(stmt, 2), has_named != 0, &count);
        if (r == SQLITE_OK && count > 0) {
            ids[n] = id;
            counts[n++] = count;
        }
    }
    r_end = sqlite3_reset(stmt);
    r = r != SQLITE_OK ? r : r_end;
    if (r != SQLITE_OK) {
        sqlite3_free(ids);
        sqlite3_free(counts);
        return r;
    }
    *ret_ids = ids;
    *ret_counts = (guint64 *) counts;
    *ret_n = n;
    return SQLITE_OK;
}
