/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part 0 is the head: its mark is the stamp. Its body has numbers of 8 bytes, the lowest byte first. They are the sum of the rest,
 * how many keys, pairs and parts there are, and the sum of each part. The mark of another part is its sum, so that a writer seldom
 * reads a body in vain.
 */
#include "daemon/tally/tally-file.h"

#include <string.h>

#include "daemon/base/interrupt.h"

enum { COLUMN_PART, COLUMN_MARK, COLUMN_BODY };
enum { HEAD_SUM, HEAD_KEYS, HEAD_PAIRS, HEAD_PARTS, HEAD_N_FIXED };

/* --- places ----------------------------------------------------------------------------------------------------------- */

/* The stamp belongs to the head only: parts stay as they are when it changes. */
static guint64
get_seed(gint64 predicate, QdTallyOrder order, guint64 part, gint64 stamp)
{
    return ((guint64) predicate * QD_TALLY_N_ORDERS + order) * G_GUINT64_CONSTANT(0x2545f4914f6cdd1d) + part + (guint64) stamp * 3;
}

static guint64
get_head_number(const guint8 *body, gsize i)
{
    guint64 number;

    memcpy(&number, body + i * sizeof number, sizeof number);
    return GUINT64_FROM_LE(number);
}

/* --- reading ---------------------------------------------------------------------------------------------------------- */

typedef struct Head {
    guint64 n_keys, n_pairs, n_parts;
    guint64 *sums; /* (owned) */
} Head;

static void
head_clear(Head *self)
{
    g_free(self->sums);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Head, head_clear)

/* FALSE: the row is not a head of @key, or it is more than there can be. */
static gboolean
read_head(sqlite3_stmt *stmt, const QdTallyFileKey *key, const QdTallyColumnRoom *room, Head *head)
{
    const guint8 *body = sqlite3_column_blob(stmt, COLUMN_BODY);
    const gsize n = (gsize) sqlite3_column_bytes(stmt, COLUMN_BODY);
    guint64 sum;

    if (sqlite3_column_int64(stmt, COLUMN_PART) != 0 || sqlite3_column_int64(stmt, COLUMN_MARK) != key->stamp || body == NULL ||
        n < HEAD_N_FIXED * sizeof sum || n % sizeof sum != 0)
        return FALSE;
    sum = qd_tally_pack_sum(body + sizeof sum, n - sizeof sum, get_seed(key->predicate, key->order, 0, key->stamp));
    head->n_keys = get_head_number(body, HEAD_KEYS);
    head->n_pairs = get_head_number(body, HEAD_PAIRS);
    head->n_parts = get_head_number(body, HEAD_PARTS);
    if (sum != get_head_number(body, HEAD_SUM) || head->n_parts != n / sizeof sum - HEAD_N_FIXED || head->n_keys > room->n_keys ||
        head->n_pairs > room->n_pairs)
        return FALSE;
    head->sums = g_new(guint64, head->n_parts + 1);
    for (gsize i = 0; i < head->n_parts; i++)
        head->sums[i] = get_head_number(body, HEAD_N_FIXED + i);
    return TRUE;
}

/* The row is that of part @i, the first being 0. */
static gboolean
read_part(sqlite3_stmt *stmt, const QdTallyFileKey *key, const Head *head, gsize i, QdTallyColumn *column)
{
    const QdTallyColumnRoom room = { head->n_keys, head->n_pairs, 0 };
    const guint8 *body = sqlite3_column_blob(stmt, COLUMN_BODY);
    const gsize n = (gsize) sqlite3_column_bytes(stmt, COLUMN_BODY);

    return sqlite3_column_int64(stmt, COLUMN_PART) == (gint64) i + 1 && body != NULL &&
           qd_tally_pack_sum(body, n, get_seed(key->predicate, key->order, i + 1, 0)) == head->sums[i] &&
           qd_tally_unpack(body, n, &room, column);
}

/* SQLITE_MISMATCH: it cannot be believed. */
static int
read_parts(sqlite3_stmt *stmt, const QdTallyFileKey *key, const Head *head, QdTallyColumn *column)
{
    for (gsize i = 0; i < head->n_parts; i++) {
        int r = qd_interrupt_poll() ? SQLITE_INTERRUPT : sqlite3_step(stmt);

        if (r != SQLITE_ROW)
            return r == SQLITE_DONE ? SQLITE_MISMATCH : r;
        if (!read_part(stmt, key, head, i, column))
            return SQLITE_MISMATCH;
    }
    return column->n_pairs == head->n_pairs && column->n_keys == head->n_keys ? SQLITE_OK : SQLITE_MISMATCH;
}

int
qd_tally_file_read(sqlite3_stmt *stmt, const QdTallyFileKey *key, const QdTallyColumnRoom *room, QdTallyColumn **ret_column)
{
    g_autoptr(QdTallyColumn) column = NULL;
    g_auto(Head) head = { 0 };
    QdTallyColumnRoom own_room;
    int r = sqlite3_step(stmt);

    *ret_column = NULL;
    if (r != SQLITE_ROW || key->stamp == 0 || !read_head(stmt, key, room, &head))
        return r == SQLITE_NOMEM || r == SQLITE_INTERRUPT ? r : SQLITE_OK;
    own_room = (QdTallyColumnRoom){ head.n_keys, head.n_pairs, room->cache_bytes };
    column = qd_tally_column_new(&own_room, key->order, key->stamp);
    r = column != NULL ? read_parts(stmt, key, &head, column) : SQLITE_NOMEM;
    if (r == SQLITE_OK)
        *ret_column = g_steal_pointer(&column);
    return r == SQLITE_NOMEM || r == SQLITE_INTERRUPT ? r : SQLITE_OK;
}

/* --- writing ---------------------------------------------------------------------------------------------------------- */

struct QdTallyFileWriting {
    gint64 predicate;
    QdTallyColumn *column;
    guint64 n_bytes;
    GArray *head;             /* of guint64, as they stand in the file */
    GByteArray *body;         /* of one part */
    QdTallyPacker kept, next; /* where to go on */
    gsize n_kept, n_next;     /* parts before that */
};

QdTallyFileWriting *
qd_tally_file_writing_new(gint64 predicate, QdTallyColumn *column)
{
    QdTallyFileWriting *self = g_new0(QdTallyFileWriting, 1);
    QdTallyPacker packer = { column, 0, 0 };
    guint64 fixed[HEAD_N_FIXED] = { 0, GUINT64_TO_LE(column->n_keys), GUINT64_TO_LE(column->n_pairs), 0 };
    guint64 n_parts = 0;
    guint64 *numbers;

    self->predicate = predicate;
    self->column = qd_tally_column_ref(column);
    self->kept = self->next = packer;
    self->body = g_byte_array_new();
    self->head = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_array_append_vals(self->head, fixed, HEAD_N_FIXED);
    while (qd_tally_pack_next(&packer, self->body)) {
        guint64 sum = GUINT64_TO_LE(
            qd_tally_pack_sum(self->body->data, self->body->len, get_seed(predicate, column->order, ++n_parts, 0)));

        g_array_append_val(self->head, sum);
        self->n_bytes += self->body->len;
    }
    numbers = (guint64 *) (void *) self->head->data;
    numbers[HEAD_PARTS] = GUINT64_TO_LE(n_parts);
    numbers[HEAD_SUM] = GUINT64_TO_LE(qd_tally_pack_sum((const guint8 *) (numbers + HEAD_KEYS),
                                                        (self->head->len - HEAD_KEYS) * sizeof *numbers,
                                                        get_seed(predicate, column->order, 0, column->stamp)));
    self->n_bytes += self->head->len * sizeof *numbers;
    return self;
}

QdTallyFileWriting *
qd_tally_file_writing_free(QdTallyFileWriting *self)
{
    if (self == NULL)
        return NULL;
    (void) qd_tally_column_unref(self->column);
    g_array_unref(self->head);
    g_byte_array_unref(self->body);
    g_free(self);
    return NULL;
}

guint64
qd_tally_file_writing_get_n_bytes(const QdTallyFileWriting *self)
{
    return self->n_bytes;
}

typedef enum Statement {
    STATEMENT_GET_PART,
    STATEMENT_PUT,
    STATEMENT_DROP_REST,
    N_STATEMENTS,
} Statement;

static const char *const texts[N_STATEMENTS] = {
    [STATEMENT_GET_PART] = "SELECT mark, body FROM queryd_column WHERE p=?1 AND ord=?2 AND part=?3",
    [STATEMENT_PUT] = "INSERT OR REPLACE INTO queryd_column(p, ord, part, mark, body) VALUES(?1, ?2, ?3, ?4, ?5)",
    [STATEMENT_DROP_REST] = "DELETE FROM queryd_column WHERE p=?1 AND ord=?2 AND part>?3",
};

typedef struct Statements {
    sqlite3_stmt *list[N_STATEMENTS];
} Statements;

static void
statements_clear(Statements *self)
{
    for (guint i = 0; i < N_STATEMENTS; i++)
        (void) sqlite3_finalize(self->list[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Statements, statements_clear)

static int
prepare(sqlite3 *db, Statements *statements)
{
    int r = SQLITE_OK;

    for (guint i = 0; r == SQLITE_OK && i < N_STATEMENTS; i++)
        r = sqlite3_prepare_v2(db, texts[i], -1, &statements->list[i], NULL);
    return r;
}

static sqlite3_stmt *
start(const QdTallyFileWriting *self, sqlite3_stmt *stmt, gsize part)
{
    (void) sqlite3_reset(stmt);
    (void) sqlite3_bind_int64(stmt, 1, self->predicate);
    (void) sqlite3_bind_int64(stmt, 2, (sqlite3_int64) self->column->order);
    (void) sqlite3_bind_int64(stmt, 3, (sqlite3_int64) part);
    return stmt;
}

static int
put(const QdTallyFileWriting *self, const Statements *statements, gsize part, gint64 mark, gconstpointer body, gsize n_bytes)
{
    sqlite3_stmt *stmt = start(self, statements->list[STATEMENT_PUT], part);
    int r;

    (void) sqlite3_bind_int64(stmt, 4, mark);
    (void) sqlite3_bind_blob64(stmt, 5, body, n_bytes, SQLITE_STATIC);
    (void) sqlite3_step(stmt);
    r = sqlite3_reset(stmt);
    (void) sqlite3_clear_bindings(stmt);
    return r;
}

/* The part stands in the file as it is in @self->body. */
static gboolean
has_part(const QdTallyFileWriting *self, const Statements *statements, gsize part, gint64 sum)
{
    sqlite3_stmt *stmt = start(self, statements->list[STATEMENT_GET_PART], part);
    gboolean has = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int64(stmt, 0) == sum;

    has = has && sqlite3_column_blob(stmt, 1) != NULL && (guint) sqlite3_column_bytes(stmt, 1) == self->body->len &&
          memcmp(sqlite3_column_blob(stmt, 1), self->body->data, self->body->len) == 0;
    (void) sqlite3_reset(stmt);
    return has;
}

/* What is above the last part, and the head. */
static int
finish(const QdTallyFileWriting *self, const Statements *statements)
{
    sqlite3_stmt *stmt = start(self, statements->list[STATEMENT_DROP_REST], self->n_next);
    int r;

    (void) sqlite3_step(stmt);
    r = sqlite3_reset(stmt);
    if (r == SQLITE_OK)
        r = put(self, statements, 0, self->column->stamp, self->head->data, self->head->len * sizeof(guint64));
    return r == SQLITE_OK ? SQLITE_DONE : r;
}

int
qd_tally_file_writing_step(QdTallyFileWriting *self, sqlite3 *db, guint64 n_bytes)
{
    const guint64 *numbers = (const guint64 *) (const void *) self->head->data;
    g_auto(Statements) statements = { { NULL } };
    int r = prepare(db, &statements);

    self->next = self->kept;
    self->n_next = self->n_kept;
    for (guint64 n_looked = 0; r == SQLITE_OK && n_looked < n_bytes; n_looked += self->body->len) {
        gint64 sum;

        if (!qd_tally_pack_next(&self->next, self->body))
            return finish(self, &statements);
        sum = (gint64) GUINT64_FROM_LE(numbers[HEAD_N_FIXED + self->n_next++]);
        if (!has_part(self, &statements, self->n_next, sum))
            r = put(self, &statements, self->n_next, sum, self->body->data, self->body->len);
    }
    return r;
}

void
qd_tally_file_writing_keep(QdTallyFileWriting *self)
{
    self->kept = self->next;
    self->n_kept = self->n_next;
}
