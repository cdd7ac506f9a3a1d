/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A column by object comes in order from the index posg. An aggregate function takes it: 75 ns a row, where steps took 120. One by
 * subject is the same pairs, sorted by their other number, which takes a third of that.
 */
#include "daemon/tally/tally-reader.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/rdf/term-id.h"
#include "daemon/tally/tally-cache.h"
#include "daemon/tally/tally-changes.h"

#define POLL_EVERY 8192 /* pairs */
#define DIGIT_BITS 8
#define N_DIGITS 256

typedef enum Statement {
    STATEMENT_GET_PREDICATE,
    STATEMENT_GET_UNSTAMPED,
    STATEMENT_READ,
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

typedef struct Pair {
    gint64 key;
    gint64 value;
} Pair;

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

/* One pass: stable, by the byte of the key at @shift, whose sign bit counts as in signed numbers. */
static int
sort_by_digit(const Pair *from, Pair *to, gsize n, guint shift)
{
    const guint8 flip = shift == 64 - DIGIT_BITS ? 0x80 : 0;
    gsize begins[N_DIGITS] = { 0 };
    gsize sum = 0;

    for (gsize i = 0; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        begins[(guint8) ((guint64) from[i].key >> shift) ^ flip]++;
    }
    for (guint digit = 0; digit < N_DIGITS; digit++) {
        gsize n_own = begins[digit];

        begins[digit] = sum;
        sum += n_own;
    }
    for (gsize i = 0; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        to[begins[(guint8) ((guint64) from[i].key >> shift) ^ flip]++] = from[i];
    }
    return SQLITE_OK;
}

/* @pairs has room for twice @n. @ret_sorted: its half that is sorted */
static int
sort(Pair *pairs, gsize n, const Pair **ret_sorted)
{
    Pair *from = pairs;
    Pair *to = pairs + n;
    guint64 varying = 0;

    for (gsize i = 1; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        varying |= (guint64) (pairs[i].key ^ pairs[0].key);
    }
    for (guint shift = 0; shift < 64; shift += DIGIT_BITS) {
        Pair *sorted = to;
        int r;

        if ((guint8) (varying >> shift) == 0)
            continue;
        r = sort_by_digit(from, to, n, shift);
        if (r != SQLITE_OK)
            return r;
        to = from;
        from = sorted;
    }
    *ret_sorted = from;
    return SQLITE_OK;
}

static int
count_keys(const Pair *pairs, gsize n, gsize *ret_n_keys)
{
    gsize n_keys = n > 0 ? 1 : 0;

    for (gsize i = 1; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        n_keys += pairs[i].key != pairs[i - 1].key ? 1 : 0;
    }
    *ret_n_keys = n_keys;
    return SQLITE_OK;
}

/* The pairs of @column the other way round. */
static int
swap_pairs(const QdTallyColumn *column, Pair *ret_pairs)
{
    for (gsize i = 0; i < column->n_keys; i++)
        for (gsize j = column->begins[i]; j < column->begins[i + 1]; j++) {
            if (must_end(j))
                return SQLITE_INTERRUPT;
            ret_pairs[j] = (Pair){ column->values[j], column->keys[i] };
        }
    return SQLITE_OK;
}

static int
add_pairs(QdTallyColumn *column, const Pair *pairs, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        if (must_end(i))
            return SQLITE_INTERRUPT;
        qd_tally_column_add(column, pairs[i].key, pairs[i].value);
    }
    return SQLITE_OK;
}

/* The same pairs by their values: those of one key keep the order of the keys before. */
static int
transpose(const QdTallyReader *self, const QdTallyColumn *column, QdTallyOrder order, QdTallyColumn **ret_column)
{
    const gsize n = column->n_pairs;
    Pair *pairs = sqlite3_malloc64(2 * (n + 1) * sizeof *pairs);
    g_autoptr(QdTallyColumn) other = NULL;
    const Pair *sorted;
    gsize n_keys = 0;
    int r;

    if (pairs == NULL)
        return SQLITE_NOMEM;
    r = swap_pairs(column, pairs);
    if (r == SQLITE_OK)
        r = sort(pairs, n, &sorted);
    if (r == SQLITE_OK)
        r = count_keys(sorted, n, &n_keys);
    if (r == SQLITE_OK) {
        const QdTallyColumnRoom room = { n_keys, n, self->cache_bytes };

        other = qd_tally_column_new(&room, order, column->stamp);
        r = other != NULL ? add_pairs(other, sorted, n) : SQLITE_NOMEM;
    }
    sqlite3_free(pairs);
    if (r == SQLITE_OK)
        *ret_column = g_steal_pointer(&other);
    return r;
}

/* The column from an earlier one and what has changed since, as far as that is known. */
static int
find_column(QdTallyReader *self, const Predicate *predicate, QdTallyOrder order, QdTallyColumn **ret_column)
{
    const QdTallyColumnRoom room = get_room(self, predicate, order);
    QdTallyColumn *column = qd_tally_cache_find(predicate->stamp, order);
    int r = SQLITE_OK;

    if (column == NULL) {
        r = qd_tally_changes_make_column(predicate->stamp, order, &room, &column);
        if (column != NULL)
            qd_tally_cache_add(column, self->cache_bytes);
    }
    *ret_column = column;
    return r;
}

/* From the file, or the other order: only one of them is read. */
static int
make_column(QdTallyReader *self, gint64 id, const Predicate *predicate, QdTallyOrder order, QdTallyColumn **ret_column)
{
    const QdTallyOrder other_order = order == QD_TALLY_BY_OBJECT ? QD_TALLY_BY_SUBJECT : QD_TALLY_BY_OBJECT;
    g_autoptr(QdTallyColumn) other = NULL;
    int r = find_column(self, predicate, order, ret_column);

    if (r != SQLITE_OK || *ret_column != NULL)
        return r;
    r = find_column(self, predicate, other_order, &other);
    if (r == SQLITE_OK && other == NULL && order == QD_TALLY_BY_SUBJECT)
        r = read_column(self, id, predicate, &other);
    if (r != SQLITE_OK)
        return r;
    r = other != NULL ? transpose(self, other, order, ret_column) : read_column(self, id, predicate, ret_column);
    if (r == SQLITE_OK)
        qd_tally_cache_add(*ret_column, self->cache_bytes);
    return r;
}

int
qd_tally_reader_get(QdTallyReader *self, gint64 id, QdTallyOrder order, QdTallyColumn **ret_column)
{
    Predicate predicate;
    QdTallyColumn *column;
    int r = get_predicate(self, id, &predicate);

    if (r != SQLITE_OK)
        return r;
    if (predicate.counts.n_quads >= G_MAXUINT32 || (guint64) predicate.counts.n_quads * sizeof(gint64) > self->cache_bytes)
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
