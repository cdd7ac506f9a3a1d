/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each predicate's pairs are read from the index once, and compared with both orders.
 */
#include "daemon/tally/tally-check.h"

#include <string.h>

#define LIST                                                                                                               \
    "SELECT q.id, (SELECT lexical FROM queryd_term AS t WHERE t.id=q.id) FROM queryd_predicate AS q WHERE EXISTS(SELECT 1" \
    " FROM queryd_column AS c WHERE c.p=q.id AND c.part=0 AND c.mark=q.stamp)"
#define HAS_HEAD                                                                                 \
    "SELECT 1 FROM queryd_column AS c JOIN queryd_predicate AS q ON q.id=c.p AND q.stamp=c.mark" \
    " WHERE c.p=?1 AND c.ord=?2 AND c.part=0"

static gboolean
are_equal(const QdTallyColumn *a, const QdTallyColumn *b)
{
    return a->n_keys == b->n_keys && a->n_pairs == b->n_pairs && memcmp(a->keys, b->keys, a->n_keys * sizeof *a->keys) == 0 &&
           memcmp(a->values, b->values, a->n_pairs * sizeof *a->values) == 0 &&
           memcmp(a->begins, b->begins, (a->n_keys + 1) * sizeof *a->begins) == 0;
}

typedef struct Check {
    QdTallyReader *reader;
    sqlite3 *db;
    GPtrArray *messages;
    GArray *wrong;
    const char *name; /* (nullable): IRI of the predicate that is looked at */
} Check;

static void
note(const Check *self, gint64 predicate, QdTallyOrder order, const char *what)
{
    g_ptr_array_add(self->messages,
                    g_strdup_printf("queryd_column: the column of <%s> by %s %s", self->name != NULL ? self->name : "?",
                                    order == QD_TALLY_BY_SUBJECT ? "subject" : "object", what));
    if (self->wrong->len == 0 || g_array_index(self->wrong, gint64, self->wrong->len - 1) != predicate)
        g_array_append_val(self->wrong, predicate);
}

static int
compare(const Check *self, gint64 predicate, const QdTallyColumn *truth)
{
    g_autoptr(QdTallyColumn) stored = NULL;
    int r = qd_tally_reader_get_stored(self->reader, predicate, truth->order, &stored);

    if (r != SQLITE_OK)
        return r;
    if (stored == NULL)
        note(self, predicate, truth->order, "is damaged");
    else if (!are_equal(stored, truth))
        note(self, predicate, truth->order, "differs from its quads");
    return SQLITE_OK;
}

static int
has_head(sqlite3 *db, gint64 predicate, QdTallyOrder order, gboolean *ret_has)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, HAS_HEAD, -1, &stmt, NULL);

    if (r != SQLITE_OK)
        return r;
    (void) sqlite3_bind_int64(stmt, 1, predicate);
    (void) sqlite3_bind_int64(stmt, 2, (sqlite3_int64) order);
    *ret_has = sqlite3_step(stmt) == SQLITE_ROW;
    return sqlite3_finalize(stmt);
}

static int
check_order(const Check *self, gint64 predicate, const QdTallyColumn *truth)
{
    gboolean has = FALSE;
    int r = has_head(self->db, predicate, truth->order, &has);

    return r == SQLITE_OK && has ? compare(self, predicate, truth) : r;
}

/* One that is too large by now is not read either. */
static int
check_predicate(const Check *self, gint64 predicate)
{
    g_autoptr(QdTallyColumn) by_object = NULL;
    g_autoptr(QdTallyColumn) by_subject = NULL;
    int r = qd_tally_reader_get_indexed(self->reader, predicate, &by_object);

    if (r == SQLITE_OK)
        r = check_order(self, predicate, by_object);
    if (r == SQLITE_OK)
        r = qd_tally_reader_transpose(self->reader, by_object, &by_subject);
    if (r == SQLITE_OK)
        r = check_order(self, predicate, by_subject);
    return r == SQLITE_NOMEM ? SQLITE_OK : r;
}

int
qd_tally_check(QdTallyReader *reader, sqlite3 *db, GPtrArray *messages, GArray *wrong)
{
    Check check = { reader, db, messages, wrong, NULL };
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, LIST, -1, &stmt, NULL);
    int r_end;

    if (r == SQLITE_ERROR) /* a file of an older schema, which cannot be written */
        return SQLITE_OK;
    while (r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        check.name = (const char *) sqlite3_column_text(stmt, 1);
        r = check_predicate(&check, sqlite3_column_int64(stmt, 0));
    }
    r_end = sqlite3_finalize(stmt);
    return r != SQLITE_OK ? r : r_end;
}
