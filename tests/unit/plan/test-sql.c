/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fragments of SQL: how deep they nest, what they name, what they look up.
 */
#include "daemon/plan/sql.h"

#include <string.h>

typedef struct Fixture {
    QdArena *arena;
    QdTableName a, b;
    QdSql a_s, b_p, b_o;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->arena = qd_arena_new();
    self->a = qd_table_name_new(self->arena, 'q', 0);
    self->b = qd_table_name_new(self->arena, 'q', 1);
    self->a_s = qd_sql_column(self->arena, &self->a, "s", QD_SQL_NODE);
    self->b_p = qd_sql_column(self->arena, &self->b, "p", QD_SQL_PREDICATE);
    self->b_o = qd_sql_column(self->arena, &self->b, "o", QD_SQL_NODE);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    (void) qd_arena_free(self->arena);
}

static void
check(const QdSql *sql, const char *text, guint depth)
{
    g_assert_cmpstr(sql->text, ==, text);
    g_assert_cmpuint(sql->n_bytes, ==, strlen(text));
    g_assert_cmpuint(sql->depth, ==, depth);
}

static void
test_depth(Fixture *self, gconstpointer data)
{
    QdSql group = qd_sql_make(self->arena, "(@ AND @)", self->a_s, self->b_o);
    QdSql call = qd_sql_make(self->arena, "@(@,(1))", qd_sql_text("f"), group);
    QdSql exists = qd_sql_exists(self->arena, QD_SQL_NONE, qd_sql_text("SELECT 1"));
    QdSql with = qd_sql_exists(self->arena, call, exists);

    check(&self->a_s, "q0.s", 0);
    check(&group, "(q0.s AND q1.o)", QD_DEPTH_GROUP);
    check(&call, "f((q0.s AND q1.o),(1))", QD_DEPTH_CALL + QD_DEPTH_GROUP);
    check(&exists, "EXISTS(SELECT 1)", QD_DEPTH_EXISTS);
    check(&with, "EXISTS(WITH RECURSIVE f((q0.s AND q1.o),(1)) EXISTS(SELECT 1))", QD_DEPTH_EXISTS_WITH + QD_DEPTH_EXISTS);
}

static void
test_names(Fixture *self, gconstpointer data)
{
    QdSql both = qd_sql_make(self->arena, "f(@,@)", self->b_o, qd_sql_is_null(self->arena, self->a_s));
    QdSql again = qd_sql_make(self->arena, "@=@", both, self->b_p);
    const QdTableName other = { "n", NULL };

    g_assert_true(qd_sql_names(&both, &self->a) && qd_sql_names(&both, &self->b));
    g_assert_true(again.tables == both.tables); /* shared: the set is not made again */
    g_assert_false(qd_sql_names(&self->a_s, &self->b));
    g_assert_false(qd_sql_names(&both, &other));
    g_assert_true(qd_sql_is_column_of(&self->b_p, &self->b));
    g_assert_false(qd_sql_is_column_of(&self->b_p, &self->a));
    g_assert_false(qd_sql_is_column_of(&both, &self->b));
}

static void
test_lookups(Fixture *self, gconstpointer data)
{
    QdSql by_node = qd_sql_equate(self->arena, self->b_o, "=+", self->a_s);
    QdSql by_predicate = qd_sql_equate(self->arena, self->b_p, "=", qd_sql_text("?1"));
    QdSql inside = qd_sql_make(self->arena, "(NOT @)", by_node);
    QdSql compared = qd_sql_make(self->arena, "@<>@", self->b_o, self->a_s);

    check(&by_node, "q1.o=+q0.s", 0);
    g_assert_true(qd_sql_seeks(&by_node, &self->b) && !qd_sql_seeks(&by_node, &self->a));
    g_assert_true(qd_sql_seeks(&inside, &self->b));
    g_assert_false(qd_sql_seeks(&compared, &self->b));
    g_assert_true(qd_sql_looks_up_predicate(&by_predicate, &self->b));
    g_assert_false(qd_sql_looks_up_predicate(&by_predicate, &self->a) || qd_sql_looks_up_predicate(&inside, &self->b));
}

static void
test_coalesce(Fixture *self, gconstpointer data)
{
    QdSql two = qd_sql_coalesce(self->arena, self->a_s, self->b_o);
    QdSql three = qd_sql_coalesce(self->arena, two, qd_sql_make(self->arena, "f(@)", self->b_p));
    QdSql wrapped = qd_sql_make(self->arena, "(@)", two);
    QdSql apart = qd_sql_coalesce(self->arena, wrapped, self->b_p);

    check(&two, "coalesce(q0.s,q1.o)", QD_DEPTH_CALL);
    check(&three, "coalesce(q0.s,q1.o,f(q1.p))", 2 * QD_DEPTH_CALL);
    check(&apart, "coalesce((coalesce(q0.s,q1.o)),q1.p)", 2 * QD_DEPTH_CALL + QD_DEPTH_GROUP);
    g_assert_true(qd_sql_names(&three, &self->a) && qd_sql_names(&three, &self->b));
}

static void
test_list(Fixture *self, gconstpointer data)
{
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);
    QdSql empty = qd_sql_finish(&list);
    QdSql made;

    g_assert_null(empty.text);
    qd_sql_append_after(&list, ",", self->a_s);
    qd_sql_append_after(&list, ",", qd_sql_make(self->arena, "(@)", self->b_o));
    qd_sql_append_text(&list, " DESC");
    made = qd_sql_finish(&list);
    check(&made, "q0.s,(q1.o) DESC", QD_DEPTH_GROUP);
    g_assert_true(qd_sql_names(&made, &self->a) && qd_sql_names(&made, &self->b));
}

#define ADD(name, func) g_test_add("/plan/sql/" name, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("depth", test_depth);
    ADD("names", test_names);
    ADD("lookups", test_lookups);
    ADD("coalesce", test_coalesce);
    ADD("list", test_list);
    return g_test_run();
}
