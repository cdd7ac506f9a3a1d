/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changed rows of several commits put together: one word for each row, and never too few of them.
 */
#include "daemon/notify/changes.h"

#include <string.h>

static QdLimits limits;

static const char *const by_id[] = { "id", NULL };
static const char *const by_name[] = { "name", NULL };

static void
add(QdRowChanges *self, const char *table, gint64 id, QdRowChange change)
{
    QwValue value = { .type = QW_TYPE_INTEGER, .integer = id };

    qd_row_changes_add(self, table, &value, 1, change);
}

/* Of a table with integers as keys, as "1+ 2~ 3-"; NULL: any row */
static char *
print(const QdRowChanges *self, const char *table, gint64 n_max)
{
    static const char words[] = { [QD_ROW_INSERTED] = '+', [QD_ROW_UPDATED] = '~', [QD_ROW_DELETED] = '-' };
    const QdTableRows *rows = qd_row_changes_get(self, table);
    g_autoptr(GString) text = g_string_new(NULL);

    if (rows == NULL || rows->keys == NULL)
        return NULL;
    for (gint64 i = 0; i <= n_max; i++) {
        g_autofree QdRowKey *key = g_malloc0(sizeof *key + sizeof key->values[0]);
        gpointer change;

        key->n_values = 1;
        key->values[0] = (QwValue){ .type = QW_TYPE_INTEGER, .integer = i };
        if (g_hash_table_lookup_extended(rows->keys, key, NULL, &change))
            g_string_append_printf(text, "%s%" G_GINT64_FORMAT "%c", text->len > 0 ? " " : "", i, words[GPOINTER_TO_INT(change)]);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_rows(const QdRowChanges *self, const char *table, const char *expected)
{
    g_autofree char *found = print(self, table, 20);

    g_assert_cmpstr(found, ==, expected);
}

static void
test_words(void)
{
    QdRowChanges *self = qd_row_changes_new(&limits);
    QdRowChanges *later = qd_row_changes_new(&limits);

    qd_row_changes_add_table(self, "t", by_id);
    for (gint64 i = 0; i < 9; i++)
        add(self, "t", i, (QdRowChange) (i / 3));
    for (gint64 i = 0; i < 9; i++)
        add(self, "t", i, (QdRowChange) (i % 3));
    assert_rows(self, "t", "0+ 1+ 2- 3+ 4~ 5- 6~ 7~ 8-");

    qd_row_changes_add_table(later, "t", by_id);
    add(later, "t", 2, QD_ROW_INSERTED);
    add(later, "t", 0, QD_ROW_DELETED);
    add(later, "t", 9, QD_ROW_INSERTED);
    qd_row_changes_merge(self, later);
    assert_rows(self, "t", "0- 1+ 2~ 3+ 4~ 5- 6~ 7~ 8- 9+");
    (void) qd_row_changes_free(later);
    (void) qd_row_changes_free(self);
}

static void
test_bounds(void)
{
    QdRowChanges *self = qd_row_changes_new(&limits);
    QdRowChanges *later = qd_row_changes_new(&limits);
    const gint64 n_max = (gint64) qd_limits_get(&limits, QD_LIMIT_CHANGED_ROWS);
    const gsize n_bytes = qd_limits_get(&limits, QD_LIMIT_ROW_KEY_BYTES);
    g_autofree char *text = g_strnfill(n_bytes, 'x');
    QwValue value = { .type = QW_TYPE_TEXT, .data = text, .n_bytes = (uint32_t) n_bytes };

    /* a table that was not looked at, keys of other columns, and a key that is too long */
    add(self, "other", 1, QD_ROW_UPDATED);
    assert_rows(self, "other", NULL);
    g_assert_null(qd_row_changes_get(self, "never"));
    qd_row_changes_add_table(self, "t", by_id);
    qd_row_changes_add_table(later, "t", by_name);
    qd_row_changes_merge(self, later);
    assert_rows(self, "t", NULL);
    qd_row_changes_add_table(later, "long", by_name);
    qd_row_changes_add(later, "long", &value, 1, QD_ROW_INSERTED);
    assert_rows(later, "long", NULL);

    /* as many as there may be; with the next one a table becomes all, and there is room again */
    qd_row_changes_add_table(self, "a", by_id);
    qd_row_changes_add_table(self, "b", by_id);
    for (gint64 i = 0; i < n_max; i++)
        add(self, i < 10 ? "b" : "a", i, QD_ROW_UPDATED);
    assert_rows(self, "b", "0~ 1~ 2~ 3~ 4~ 5~ 6~ 7~ 8~ 9~");
    add(self, "a", 1, QD_ROW_UPDATED);
    assert_rows(self, "a", NULL);
    add(self, "b", 10, QD_ROW_UPDATED);
    assert_rows(self, "b", "0~ 1~ 2~ 3~ 4~ 5~ 6~ 7~ 8~ 9~ 10~");
    (void) qd_row_changes_free(later);
    (void) qd_row_changes_free(self);
}

/* A merge keeps the limits of what is merged. */
static void
test_configured(void)
{
    QdLimits small = limits;
    g_autoptr(QdChanges) self = qd_changes_new();
    g_autoptr(QdChanges) other = qd_changes_new();
    QwValue value = { .type = QW_TYPE_TEXT, .data = "12345678901234567890", .n_bytes = 20 };

    small.values[QD_LIMIT_CHANGED_ROWS] = 2;
    small.values[QD_LIMIT_ROW_KEY_BYTES] = 16;
    other->rows = qd_row_changes_new(&small);
    qd_row_changes_add_table(other->rows, "t", by_id);
    add(other->rows, "t", 1, QD_ROW_UPDATED);
    add(other->rows, "t", 2, QD_ROW_UPDATED);
    qd_changes_add_all(self, other);
    assert_rows(self->rows, "t", "1~ 2~");
    add(self->rows, "t", 3, QD_ROW_UPDATED);
    assert_rows(self->rows, "t", NULL);
    qd_row_changes_add_table(self->rows, "long", by_name);
    qd_row_changes_add(self->rows, "long", &value, 1, QD_ROW_INSERTED);
    assert_rows(self->rows, "long", NULL);
}

static QdChanges *
make_changes(const char *table, gint64 id)
{
    QdChanges *self = qd_changes_new();

    qd_changes_add_table(self, table);
    if (id < 0)
        return self;
    self->rows = qd_row_changes_new(&limits);
    qd_row_changes_add_table(self->rows, table, by_id);
    add(self->rows, table, id, QD_ROW_UPDATED);
    return self;
}

/* Commits from before and after a subscription asked for keys. */
static void
test_unwatched(void)
{
    g_autoptr(QdChanges) self = qd_changes_new();
    g_autoptr(QdChanges) before = make_changes("t", -1);
    g_autoptr(QdChanges) watched = make_changes("t", 1);
    g_autoptr(QdChanges) other = make_changes("u", 2);
    g_autoptr(QdChanges) after = make_changes("u", -1);

    qd_changes_add_all(self, before);
    g_assert_null(self->rows);
    qd_changes_add_all(self, watched);
    qd_changes_add_all(self, other);
    assert_rows(self->rows, "t", NULL);
    assert_rows(self->rows, "u", "2~");
    qd_changes_add_all(self, after);
    assert_rows(self->rows, "u", NULL);
    qd_changes_clear(self);
    g_assert_null(self->rows);
    qd_changes_add_all(self, watched);
    assert_rows(self->rows, "t", "1~");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qd_limits_init(&limits);
    g_test_add_func("/notify/row-changes/words", test_words);
    g_test_add_func("/notify/row-changes/bounds", test_bounds);
    g_test_add_func("/notify/row-changes/configured", test_configured);
    g_test_add_func("/notify/row-changes/unwatched", test_unwatched);
    return g_test_run();
}
